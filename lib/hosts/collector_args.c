/* SPDX-License-Identifier: BSD-3-Clause */
#include "hosts/collector_args.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "hosts/launcher.h"

/* ---- writing ------------------------------------------------------------------------------------------- */

struct words {
    char **items;
    size_t count;
    bool failed;
};

static char *encode(const char *key, const char *value)
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    if (!out)
        return NULL;
    fprintf(out, "%s=", key);
    for (const char *at = value; *at; at++) {
        const char one[2] = {*at, '\0'};
        if (*at != '%' && mpiq_hosts_is_plain(one))
            fputc(*at, out);
        else
            fprintf(out, "%%%02x", (unsigned char)*at);
    }
    if (fclose(out) == 0)
        return text;
    free(text);
    return NULL;
}

/* Takes word; NULL is the failure that it stands for. */
static void add(struct words *words, char *word)
{
    char **larger = word ? mpiq_array_grown(words->items, words->count, sizeof *larger) : NULL; /* NOLINT */
    if (!larger) {
        words->failed = true;
        free(word);
        return;
    }
    words->items = larger;
    words->items[words->count++] = word;
}

static void add_option(struct words *words, const char *key, const char *value)
{
    if (value)
        add(words, encode(key, value));
}

void mpiq_collector_args_free_words(char **words)
{
    for (size_t i = 0; words && words[i]; i++)
        free(words[i]);
    free(words);
}

struct mpiq_error *mpiq_collector_args_write(const struct mpiq_collector_args *order, const char *program,
                                             char ***ret)
{
    struct words words = {0};
    if (!mpiq_hosts_is_plain(program))
        return mpiq_error_create(MPIQ_ERROR_USAGE,
                                 "mpiq cannot be started on other hosts by the path %s, whose characters a "
                                 "shell may interpret: install it in a directory with another name",
                                 program);
    add(&words, strdup(program));
    add(&words, strdup("collect"));
    add_option(&words, "version", order->version);
    for (size_t i = 0; i < order->match_count; i++)
        add_option(&words, "match", order->match[i]);
    add_option(&words, "below", order->below);
    add_option(&words, "namespace", order->nspace);
    add_option(&words, "node", order->node_variable);
    add_option(&words, "dll", order->dll);
    add_option(&words, "skip", order->skip);
    add_option(&words, "stop", order->stop ? "1" : NULL);
    add_option(&words, "stacks", order->stacks ? NULL : "0");
    add_option(&words, "threads", order->all_threads ? "1" : NULL);
    char **larger = mpiq_array_grown(words.items, words.count, sizeof *larger); /* NOLINT */
    if (larger) {
        words.items = larger;
        words.items[words.count] = NULL;
    }
    if (larger && !words.failed) {
        *ret = words.items;
        return NULL;
    }
    for (size_t i = 0; i < words.count; i++)
        free(words.items[i]);
    free(words.items);
    return mpiq_error_no_memory();
}

/* ---- reading ------------------------------------------------------------------------------------------- */

/* In place; false for what no writer writes. */
static bool decode(char *text)
{
    char *to = text;
    for (const char *at = text; *at; at++) {
        const char digits[3] = {at[0] == '%' ? at[1] : '\0', at[0] == '%' && at[1] ? at[2] : '\0', '\0'};
        if (*at != '%') {
            *to++ = *at;
            continue;
        }
        if (!isxdigit((unsigned char)digits[0]) || !isxdigit((unsigned char)digits[1]))
            return false;
        *to++ = (char)strtoul(digits, NULL, 16);
        at += 2;
    }
    *to = '\0';
    return true;
}

/* false: nobody here knows that key. */
static bool take(struct mpiq_collector_args *order, const char *key, char *value)
{
    const struct {
        const char *key;
        const char **place;
    } options[] = {{"version", &order->version},    {"below", &order->below}, {"namespace", &order->nspace},
                   {"node", &order->node_variable}, {"dll", &order->dll},     {"skip", &order->skip}};
    for (size_t i = 0; i < sizeof options / sizeof *options; i++) {
        if (strcmp(key, options[i].key) == 0) {
            *options[i].place = value;
            return true;
        }
    }
    if (strcmp(key, "match") == 0)
        order->match[order->match_count++] = value;
    else if (strcmp(key, "stop") == 0)
        order->stop = value[0] == '1';
    else if (strcmp(key, "stacks") == 0)
        order->stacks = value[0] != '0';
    else if (strcmp(key, "threads") == 0)
        order->all_threads = value[0] == '1';
    else
        return false;
    return true;
}

struct mpiq_error *mpiq_collector_args_read(int count, char *const *words, struct mpiq_collector_args *ret)
{
    struct mpiq_collector_args order = {.stacks = true};
    struct mpiq_error *error = NULL;
    size_t length = 1;
    for (int i = 0; i < count; i++)
        length += strlen(words[i]) + 1;
    order.text = malloc(length);
    order.match = calloc((size_t)count + 1, sizeof *order.match);
    if (!order.text || !order.match)
        error = mpiq_error_no_memory();
    char *at = order.text;
    for (int i = 0; i < count && !error; i++) {
        size_t size = strlen(words[i]) + 1;
        char *word = memcpy(at, words[i], size);
        char *value = strchr(word, '=');
        at += size;
        if (value)
            *value++ = '\0';
        if (!value || !decode(value) || !take(&order, word, value))
            error = mpiq_error_create(MPIQ_ERROR_USAGE, "this mpiq does not know the instruction '%s'", word);
    }
    if (!error && !order.version)
        error =
            mpiq_error_create(MPIQ_ERROR_USAGE, "collect is internal: mpiq starts it on the hosts of a job");
    if (error)
        mpiq_collector_args_deinit(&order);
    else
        *ret = order;
    return error;
}

void mpiq_collector_args_deinit(struct mpiq_collector_args *order)
{
    free(order->text);
    free(order->match); /* NOLINT */
    *order = (struct mpiq_collector_args){0};
}
