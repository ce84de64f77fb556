/* SPDX-License-Identifier: BSD-3-Clause */
#include "rank/proctable.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/hash_table.h"
#include "base/json_parser.h"
#include "base/json_text.h"
#include "state/rank_set.h"

/* Ranks of the largest machines there are; hosts likewise.  A host's name is at most 255 bytes long. */
enum { RANKS_MOST = 1 << 24, HOSTS_MOST = 1 << 20, NAME_MOST = 255, PAGE = 4096, AT_ONCE = 4096 };

struct host {
    char *name;
    struct mpiq_rank_set ranks;
};

struct hosts {
    struct host *items;
    size_t count;
    size_t room;
    struct mpiq_hash_table by_name;
};

bool mpiq_proctable_is_asked(const char *question)
{
    struct mpiq_parser parser;
    bool is = false;
    mpiq_parser_init(&parser, question, strlen(question));
    bool object = !mpiq_parser_open(&parser, '{');
    while (object && mpiq_parser_more(&parser, '}')) {
        mpiq_parser_key(&parser);
        if (parser.fault || strcmp(parser.string, "ask") != 0) {
            mpiq_parser_skip(&parser);
            continue;
        }
        const char *asked = mpiq_parser_try_string(&parser);
        is = asked && strcmp(asked, "proctable") == 0;
    }
    mpiq_parser_deinit(&parser);
    return is;
}

static void hosts_deinit(struct hosts *hosts)
{
    for (size_t i = 0; i < hosts->count; i++) {
        free(hosts->items[i].name);
        mpiq_rank_set_deinit(&hosts->items[i].ranks);
    }
    free(hosts->items);
    mpiq_hash_table_deinit(&hosts->by_name);
}

static struct mpiq_error *find_host(struct hosts *hosts, const char *name, struct host **ret)
{
    uint64_t hash = mpiq_hash_bytes(MPIQ_HASH_START, name, strlen(name)), cursor = hash;
    for (uint32_t at; (at = mpiq_hash_table_next(&hosts->by_name, hash, &cursor)) != UINT32_MAX;) {
        assert(hosts->items);
        if (strcmp(hosts->items[at].name, name) == 0) {
            *ret = &hosts->items[at];
            return NULL;
        }
    }
    if (hosts->count == HOSTS_MOST)
        return mpiq_error_create(MPIQ_ERROR_CORRUPT, "it names more than %d hosts", (int)HOSTS_MOST);
    if (!mpiq_array_reserve(&hosts->items, &hosts->room, hosts->count + 1))
        return mpiq_error_no_memory();
    struct host *host = &hosts->items[hosts->count];
    *host = (struct host){.name = strdup(name)};
    if (!host->name || !mpiq_hash_table_add(&hosts->by_name, hash, (uint32_t)hosts->count)) {
        free(host->name);
        return mpiq_error_no_memory();
    }
    hosts->count++;
    *ret = host;
    return NULL;
}

/* A string of at most NAME_MOST bytes; what follows it may be unmapped. */
static struct mpiq_error *read_name(struct mpiq_target *target, uint64_t address, char name[NAME_MOST + 1])
{
    size_t done = 0;
    while (done < NAME_MOST) {
        size_t size = PAGE - (address + done) % PAGE;
        if (size > NAME_MOST - done)
            size = NAME_MOST - done;
        struct mpiq_error *error = mpiq_target_read(target, address + done, size, name + done);
        if (error)
            return error;
        done += size;
        name[done] = '\0';
        if (strlen(name) < done)
            return NULL;
    }
    return mpiq_error_create(MPIQ_ERROR_CORRUPT, "the name of a host has no end");
}

/* { char *host_name; char *executable_name; int pid; }, with 64-bit pointers. */
struct entry {
    uint64_t host;
    uint64_t executable;
    int32_t pid;
    int32_t padding;
};

static struct mpiq_error *add_entries(struct mpiq_target *target, const struct entry *entries, size_t count,
                                      uint32_t first_rank, struct hosts *hosts)
{
    char name[NAME_MOST + 1];
    uint64_t last_address = 0;
    struct host *host = NULL;
    for (size_t i = 0; i < count; i++) {
        struct mpiq_error *error = NULL;
        if (!entries[i].host)
            continue;
        if (!host || entries[i].host != last_address)
            error = read_name(target, entries[i].host, name);
        if (!error)
            error = find_host(hosts, name, &host);
        if (error)
            return error;
        last_address = entries[i].host;
        if (!mpiq_rank_set_add(&host->ranks, 0, first_rank + (uint32_t)i))
            return mpiq_error_no_memory();
    }
    return NULL;
}

static struct mpiq_error *read_hosts(struct mpiq_target *target, uint64_t address, uint32_t size,
                                     struct hosts *hosts)
{
    _cleanup_free_ struct entry *entries = malloc(AT_ONCE * sizeof *entries);
    struct mpiq_error *error = entries ? NULL : mpiq_error_no_memory();
    for (uint32_t rank = 0; rank < size && !error; rank += AT_ONCE) {
        size_t count = size - rank < AT_ONCE ? size - rank : AT_ONCE;
        error = mpiq_target_read(target, address + rank * sizeof *entries, count * sizeof *entries, entries);
        if (!error)
            error = add_entries(target, entries, count, rank, hosts);
    }
    return error;
}

static struct mpiq_error *write_hosts(const struct hosts *hosts, uint32_t size, char **ret)
{
    struct mpiq_text text = {0};
    mpiq_text_open(&text, '{');
    mpiq_text_key(&text, "size");
    mpiq_text_unsigned(&text, size);
    mpiq_text_key(&text, "hosts");
    mpiq_text_open(&text, '[');
    for (size_t i = 0; i < hosts->count; i++) {
        _cleanup_free_ char *ranks = mpiq_rank_set_text(&hosts->items[i].ranks, 0);
        if (!ranks)
            mpiq_buffer_fail(&text.own);
        mpiq_text_open(&text, '{');
        mpiq_text_key(&text, "host");
        mpiq_text_string(&text, hosts->items[i].name, strlen(hosts->items[i].name));
        mpiq_text_key(&text, "ranks");
        mpiq_text_string(&text, ranks ? ranks : "", ranks ? strlen(ranks) : 0);
        mpiq_text_close(&text, '}');
    }
    mpiq_text_close(&text, ']');
    mpiq_text_close(&text, '}');
    return mpiq_text_end(&text, ret);
}

/* Whether the process's dynamic linker has not yet loaded all that the program needs. */
static bool is_being_loaded(struct mpiq_target *target)
{
    struct {
        int32_t version; /* 0: it has not begun */
        uint64_t map, entry;
        int32_t state; /* RT_CONSISTENT is 0 */
    } linker = {.version = 0};
    uint64_t address = 0;
    struct mpiq_error *error = mpiq_target_find_symbol(target, "_r_debug", &address);
    if (!error)
        error = mpiq_target_read(target, address, sizeof linker, &linker);
    bool loading = !error && (linker.version == 0 || linker.state != 0);
    mpiq_error_destroy(error);
    return loading;
}

/* The address of one of the launcher's variables.  One that has only just been started may lack the library
   that defines it. */
static struct mpiq_error *find_variable(struct mpiq_target *target, const char *name, uint64_t *ret)
{
    struct mpiq_error *error = mpiq_target_find_symbol(target, name, ret);
    if (!error || error->code != MPIQ_ERROR_NOT_FOUND)
        return error;
    bool loading = is_being_loaded(target);
    mpiq_error_destroy(error);
    if (loading)
        return mpiq_error_create(MPIQ_ERROR_STARTING, "its libraries are not loaded yet");
    mpiq_target_forget(target); /* what was loaded since is there now */
    return mpiq_target_find_symbol(target, name, ret);
}

/* Where the table is, and how many entries it has. */
static struct mpiq_error *find_table(struct mpiq_target *target, uint64_t *address, uint32_t *size)
{
    struct mpiq_target_sizes sizes;
    uint64_t table = 0, number = 0;
    int32_t count = 0;
    struct mpiq_error *error = mpiq_target_sizes(target, &sizes);
    if (!error && (sizes.pointer_size != 8 || sizes.big_endian))
        error = mpiq_error_create(MPIQ_ERROR_UNSUPPORTED,
                                  "it is not a 64-bit process of this machine's architecture");
    if (!error)
        error = find_variable(target, "MPIR_proctable", &table);
    if (!error)
        error = find_variable(target, "MPIR_proctable_size", &number);
    if (!error)
        error = mpiq_target_read(target, table, sizeof *address, address);
    if (!error)
        error = mpiq_target_read(target, number, sizeof count, &count);
    if (error)
        return error;
    if (*address == 0 || count == 0)
        return mpiq_error_create(MPIQ_ERROR_STARTING,
                                 "it has started no ranks yet (MPIR_proctable is empty)");
    if (count < 0 || count > RANKS_MOST)
        return mpiq_error_create(MPIQ_ERROR_CORRUPT, "MPIR_proctable_size is %d", (int)count);
    *size = (uint32_t)count;
    return NULL;
}

struct mpiq_error *mpiq_proctable_read(struct mpiq_target *target, char **ret)
{
    uint64_t address = 0;
    uint32_t size = 0;
    struct hosts hosts = {0};
    struct mpiq_error *error = find_table(target, &address, &size);
    if (!error)
        error = mpiq_error_prefix(read_hosts(target, address, size, &hosts), "MPIR_proctable");
    if (!error)
        error = write_hosts(&hosts, size, ret);
    hosts_deinit(&hosts);
    return error;
}
