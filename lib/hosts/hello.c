/* SPDX-License-Identifier: BSD-3-Clause */
#include "hosts/hello.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/json_parser.h"
#include "base/json_text.h"

enum { WORD_MOST = 255, RANKS_MOST = 1 << 16 };

struct mpiq_hello_world *mpiq_hello_add_world(struct mpiq_hello *hello, const char *nspace)
{
    char *name = strdup(nspace);
    struct mpiq_hello_world *larger =
        name ? mpiq_array_grown(hello->worlds, hello->world_count, sizeof *larger) : NULL;
    if (!larger) {
        free(name);
        return NULL;
    }
    hello->worlds = larger;
    hello->worlds[hello->world_count] = (struct mpiq_hello_world){.nspace = name};
    return &hello->worlds[hello->world_count++];
}

const struct mpiq_hello_world *mpiq_hello_find(const struct mpiq_hello *hello, const char *nspace)
{
    for (size_t i = 0; i < hello->world_count; i++) {
        if (strcmp(hello->worlds[i].nspace, nspace) == 0)
            return &hello->worlds[i];
    }
    return NULL;
}

void mpiq_hello_deinit(struct mpiq_hello *hello)
{
    for (size_t i = 0; i < hello->world_count; i++) {
        free(hello->worlds[i].nspace);
        mpiq_rank_set_deinit(&hello->worlds[i].ranks);
    }
    free(hello->worlds);
    free(hello->version);
    free(hello->host);
    *hello = (struct mpiq_hello){0};
}

/* ---- writing ------------------------------------------------------------------------------------------- */

static void write_string(struct mpiq_text *text, const char *key, const char *string)
{
    mpiq_text_key(text, key);
    mpiq_text_string(text, string, SIZE_MAX);
}

struct mpiq_error *mpiq_hello_write(const struct mpiq_hello *hello, char **ret)
{
    struct mpiq_text text = {0};
    mpiq_text_open(&text, '{');
    write_string(&text, "version", hello->version);
    write_string(&text, "host", hello->host);
    mpiq_text_key(&text, "worlds");
    mpiq_text_open(&text, '[');
    for (size_t i = 0; i < hello->world_count; i++) {
        char *ranks _cleanup_free_ = mpiq_rank_set_text(&hello->worlds[i].ranks, 0);
        if (!ranks)
            mpiq_buffer_fail(&text.own);
        mpiq_text_open(&text, '{');
        write_string(&text, "namespace", hello->worlds[i].nspace);
        write_string(&text, "ranks", ranks ? ranks : "");
        mpiq_text_close(&text, '}');
    }
    mpiq_text_close(&text, ']');
    mpiq_text_close(&text, '}');
    return mpiq_text_end(&text, ret);
}

/* ---- reading ------------------------------------------------------------------------------------------- */

static const char *read_string(struct mpiq_parser *parser, char **ret)
{
    const char *complaint = mpiq_parser_string(parser);
    if (complaint || parser->fault)
        return complaint;
    if (*ret || parser->string_length > WORD_MOST)
        return "occurs twice, or is too long";
    *ret = strdup(parser->string);
    return *ret ? NULL : "needs more memory than there is";
}

/* Whether the items with a stride, each of which stands for as many ranges as ranks, name few enough. */
static bool has_few_strided(const char *text)
{
    uint64_t count = 0;
    for (const char *item = text; item; item = strchr(item, ',')) {
        unsigned long long first = 0, last = 0, stride = 0;
        item += *item == ',';
        if (sscanf(item, "%20llu-%20llu:%20llu", &first, &last, &stride) == 3 && stride > 0 && last > first)
            count += (last - first) / stride;
    }
    return count <= RANKS_MOST;
}

static const char *read_ranks(struct mpiq_parser *parser, struct mpiq_rank_set *ret)
{
    const char *complaint = mpiq_parser_string(parser);
    if (complaint || parser->fault)
        return complaint;
    if (!has_few_strided(parser->string))
        return "names more ranks than a host has";
    struct mpiq_error *error = mpiq_rank_set_parse(parser->string, ret);
    bool other_world = ret->count > 0 && ret->ranges[ret->count - 1].world != 0;
    if (!error && !other_world && ret->size <= RANKS_MOST) /* of one host; each is looked at */
        return NULL;
    mpiq_error_destroy(error);
    return "is not a list of ranks";
}

static const char *read_world(struct mpiq_parser *parser, struct mpiq_hello *hello)
{
    char *nspace _cleanup_free_ = NULL;
    struct mpiq_rank_set ranks = {0};
    const char *complaint = mpiq_parser_open(parser, '{');
    while (!complaint && mpiq_parser_more(parser, '}')) {
        mpiq_parser_key(parser);
        if (parser->fault)
            break;
        if (strcmp(parser->string, "namespace") == 0)
            complaint = read_string(parser, &nspace);
        else if (strcmp(parser->string, "ranks") == 0)
            complaint = read_ranks(parser, &ranks);
        else
            mpiq_parser_skip(parser);
    }
    bool good = !complaint && !parser->fault && nspace && !mpiq_hello_find(hello, nspace) &&
                hello->world_count < MPIQ_HELLO_WORLDS_MOST;
    uint64_t total = ranks.size;
    for (size_t i = 0; i < hello->world_count; i++)
        total += hello->worlds[i].ranks.size;
    struct mpiq_hello_world *world = good && total <= RANKS_MOST ? mpiq_hello_add_world(hello, nspace) : NULL;
    if (!world) {
        mpiq_rank_set_deinit(&ranks);
        return complaint ? complaint : parser->fault ? NULL : "has an impossible world";
    }
    world->ranks = ranks;
    return NULL;
}

static const char *read_all(struct mpiq_parser *parser, struct mpiq_hello *hello)
{
    const char *complaint = mpiq_parser_open(parser, '{');
    while (!complaint && mpiq_parser_more(parser, '}')) {
        mpiq_parser_key(parser);
        if (parser->fault)
            break;
        if (strcmp(parser->string, "version") == 0) {
            complaint = read_string(parser, &hello->version);
        } else if (strcmp(parser->string, "host") == 0) {
            complaint = read_string(parser, &hello->host);
        } else if (strcmp(parser->string, "worlds") == 0) {
            complaint = mpiq_parser_open(parser, '[');
            while (!complaint && mpiq_parser_more(parser, ']'))
                complaint = read_world(parser, hello);
        } else {
            mpiq_parser_skip(parser);
        }
    }
    return complaint;
}

struct mpiq_error *mpiq_hello_read(const char *text, size_t length, struct mpiq_hello *ret)
{
    struct mpiq_hello hello = {0};
    struct mpiq_parser parser;
    mpiq_parser_init(&parser, text, length);
    const char *complaint = read_all(&parser, &hello);
    if (!complaint)
        mpiq_parser_end(&parser);
    bool good = !complaint && !parser.fault && hello.version && hello.host;
    mpiq_parser_deinit(&parser);
    if (!good) {
        mpiq_hello_deinit(&hello);
        return mpiq_error_create(MPIQ_ERROR_CORRUPT, "its first line is malformed");
    }
    *ret = hello;
    return NULL;
}
