/* SPDX-License-Identifier: BSD-3-Clause */
#include "hosts/group_senders.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/hash_table.h"

enum { HEX = 16, TELLERS = 2 };

struct mpiq_chosen_group {
    uint64_t hash;
    size_t hosts; /* that have it */
    uint64_t tellers[TELLERS];
};

/* ---- a collector's ------------------------------------------------------------------------------------- */

void mpiq_group_senders_add(struct mpiq_group_senders *groups, uint64_t hash)
{
    for (size_t i = 0; i < groups->count; i++) {
        if (groups->hashes[i] == hash)
            return;
    }
    if (groups->count < MPIQ_GROUP_SENDERS_MOST)
        groups->hashes[groups->count++] = hash;
}

void mpiq_group_senders_write(const struct mpiq_group_senders *groups, char ret[MPIQ_LOOKED_ROOM])
{
    char *at = ret + sprintf(ret, "1");
    for (size_t i = 0; i < groups->count; i++)
        at += sprintf(at, " %016" PRIx64, groups->hashes[i]);
}

/* Exactly sixteen digits. */
static bool read_hex(const char *text, uint64_t *ret)
{
    *ret = 0;
    for (int i = 0; i < HEX; i++) {
        const char *digits = "0123456789abcdef";
        const char *digit = text[i] ? strchr(digits, text[i]) : NULL;
        if (!digit)
            return false;
        *ret = *ret << 4 | (uint64_t)(digit - digits);
    }
    return true;
}

bool mpiq_group_senders_read(const char *text, size_t length, struct mpiq_group_senders *ret)
{
    size_t count = length / (HEX + 1);
    bool good = length % (HEX + 1) == 0 && count <= MPIQ_GROUP_SENDERS_MOST;
    *ret = (struct mpiq_group_senders){0};
    for (size_t i = 0; i < count && good; i++) {
        const char *at = text + i * (HEX + 1);
        uint64_t hash = 0;
        good = at[0] == ' ' && read_hex(at + 1, &hash);
        if (good)
            mpiq_group_senders_add(ret, hash);
    }
    return good;
}

/* ---- everybody's --------------------------------------------------------------------------------------- */

bool mpiq_group_choice_add(struct mpiq_group_choice *choice, uint64_t token,
                           const struct mpiq_group_senders *groups)
{
    for (size_t i = 0; i < groups->count; i++) {
        if (!mpiq_array_reserve(&choice->groups, &choice->capacity, choice->count + 1))
            return false;
        choice->groups[choice->count++] =
            (struct mpiq_chosen_group){.hash = groups->hashes[i], .hosts = 1, .tellers = {token}};
    }
    return true;
}

static int by_hash(const void *left, const void *right)
{
    const struct mpiq_chosen_group *a = left, *b = right;
    if (a->hash != b->hash)
        return a->hash < b->hash ? -1 : 1;
    return a->tellers[0] < b->tellers[0] ? -1 : a->tellers[0] > b->tellers[0];
}

static int by_hosts(const void *left, const void *right)
{
    const struct mpiq_chosen_group *a = left, *b = right;
    if (a->hosts != b->hosts)
        return a->hosts > b->hosts ? -1 : 1;
    return by_hash(left, right);
}

/* One of each, with how many hosts have it. */
static void join(struct mpiq_group_choice *choice)
{
    size_t kept = 0;
    if (choice->count > 0)
        qsort(choice->groups, choice->count, sizeof *choice->groups, by_hash);
    for (size_t i = 0; i < choice->count; i++) {
        struct mpiq_chosen_group *last = kept > 0 ? &choice->groups[kept - 1] : NULL;
        if (!last || last->hash != choice->groups[i].hash) {
            choice->groups[kept++] = choice->groups[i];
            continue;
        }
        if (last->hosts < TELLERS)
            last->tellers[last->hosts] = choice->groups[i].tellers[0];
        last->hosts++;
    }
    choice->count = kept;
}

char *mpiq_group_choice_word(struct mpiq_group_choice *choice)
{
    char *word = malloc(MPIQ_GO_LENGTH_MOST);
    if (!word)
        return NULL;
    join(choice);
    if (choice->count > 0)
        qsort(choice->groups, choice->count, sizeof *choice->groups, by_hosts);
    size_t length = (size_t)sprintf(word, "go");
    for (size_t i = 0; i < choice->count && choice->groups[i].hosts > TELLERS; i++) {
        if (length + TELLERS * 2 * (HEX + 1) + 2 > MPIQ_GO_LENGTH_MOST)
            break;
        for (size_t k = 0; k < TELLERS; k++)
            length += (size_t)sprintf(word + length, " %016" PRIx64 " %016" PRIx64, choice->groups[i].hash,
                                      choice->groups[i].tellers[k]);
    }
    sprintf(word + length, "\n");
    return word;
}

void mpiq_group_choice_deinit(struct mpiq_group_choice *choice)
{
    free(choice->groups);
    *choice = (struct mpiq_group_choice){0};
}

bool mpiq_others_tell_group(const char *word, uint64_t hash, uint64_t token)
{
    bool others = false;
    uint64_t named = 0;
    uint64_t teller = 0;
    const char *at = word + strcspn(word, " ");
    while (at[0] == ' ' && read_hex(at + 1, &named) && at[HEX + 1] == ' ' &&
           read_hex(at + HEX + 2, &teller)) {
        if (named == hash && teller == token)
            return false;
        others = others || named == hash;
        at += 2 * (HEX + 1);
    }
    return others;
}
