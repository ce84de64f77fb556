/* SPDX-License-Identifier: BSD-3-Clause */
/* ask - a question about one process, instead of a look at a job. */
#include <json-c/json.h>
#include <stdlib.h>
#include <string.h>

#include "mpiq.h"
#include "rank/rank.h"
#include "target/target.h"

static struct mpiq_error *open_target(const struct mpiq_options *options, struct mpiq_target **ret)
{
    if (options->wire_count > 0)
        return mpiq_target_wire_create(options->wires[0].in, options->wires[0].out, ret);
    if (options->target_count == 0)
        return mpiq_error_create(MPIQ_ERROR_USAGE, "a question is about one process: a pid or a core file");
    const char *word = options->targets[0];
    if (word[strspn(word, "0123456789")] == '\0' && *word)
        return mpiq_target_live_create((pid_t)strtol(word, NULL, 10), options->stop, ret);
    return mpiq_target_core_create(word, NULL, ret);
}

struct mpiq_error *mpiq_ask(const struct mpiq_options *given, const char *question, char **ret)
{
    struct mpiq_options options = MPIQ_OPTIONS_DEFAULT;
    struct mpiq_target *target = NULL;
    struct mpiq_dll_host *host = NULL;

    memcpy(&options, given, given->size < sizeof options ? given->size : sizeof options);
    json_object *parsed = json_tokener_parse(question);
    bool object = json_object_is_type(parsed, json_type_object);
    json_object_put(parsed);
    if (!object)
        return mpiq_error_create(MPIQ_ERROR_USAGE, "the question is no JSON object");
    const struct mpiq_dll_host_options how = {.dll = options.dll};
    struct mpiq_error *error = open_target(&options, &target);
    if (!error)
        error = mpiq_dll_host_create(&how, &host);
    if (!error)
        error = mpiq_dll_host_ask(host, target, question, ret);
    mpiq_dll_host_destroy(host);
    mpiq_target_destroy(target);
    return error;
}
