/* SPDX-License-Identifier: BSD-3-Clause */
#include "hosts/rank_table.h"

#include <string.h>

#include "base/json_parser.h"

enum { RANKS_MOST = 1 << 24 };

/* {"host":…,"ranks":…}: what is not plain is refused by those who take it. */
static const char *read_host(struct mpiq_parser *parser, struct mpiq_launch *launch,
                             struct mpiq_error **error)
{
    struct mpiq_rank_set ranks = {0};
    size_t before = launch->host_count;
    const char *complaint = mpiq_parser_open(parser, '{');
    while (!complaint && !*error && mpiq_parser_more(parser, '}')) {
        mpiq_parser_key(parser);
        bool is_host = parser->string && strcmp(parser->string, "host") == 0;
        complaint = mpiq_parser_string(parser);
        if (!complaint && is_host)
            *error = mpiq_launch_add_host(launch, parser->string, strlen(parser->string));
        else if (!complaint)
            *error = mpiq_rank_set_parse(parser->string, &ranks);
    }
    if (!complaint && !*error && launch->host_count != before + 1)
        complaint = "ranks without a host";
    if (complaint || *error)
        mpiq_rank_set_deinit(&ranks);
    else
        launch->hosts[before].ranks = ranks;
    return complaint;
}

static const char *read_member(struct mpiq_parser *parser, struct mpiq_launch *launch,
                               struct mpiq_error **error)
{
    const char *complaint = NULL;
    uint64_t size = 0;
    mpiq_parser_key(parser);
    if (parser->string && strcmp(parser->string, "size") == 0) {
        complaint = mpiq_parser_unsigned(parser, RANKS_MOST, &size);
        launch->world_size = (int)size;
    } else if (parser->string && strcmp(parser->string, "nspace") == 0) {
        complaint = mpiq_parser_string(parser);
        if (!complaint)
            *error = mpiq_launch_add_match(launch, "PMIX_NAMESPACE", parser->string);
    } else {
        complaint = mpiq_parser_open(parser, '[');
        while (!complaint && !*error && mpiq_parser_more(parser, ']'))
            complaint = read_host(parser, launch, error);
    }
    return complaint;
}

struct mpiq_error *mpiq_rank_table_read(const char *text, struct mpiq_launch *launch)
{
    struct mpiq_parser parser;
    struct mpiq_error *error = NULL;
    mpiq_parser_init(&parser, text, strlen(text));
    const char *complaint = mpiq_parser_open(&parser, '{');
    while (!complaint && !error && mpiq_parser_more(&parser, '}'))
        complaint = read_member(&parser, launch, &error);
    if (!error && !complaint)
        mpiq_parser_end(&parser);
    if (!error && (complaint || parser.fault))
        error = mpiq_error_create(MPIQ_ERROR_CORRUPT, "its list of ranks is malformed: %s",
                                  complaint ? complaint : parser.fault);
    if (!error && launch->host_count == 0)
        error = mpiq_error_create(MPIQ_ERROR_STARTING, "it has started no ranks yet");
    mpiq_parser_deinit(&parser);
    return error;
}
