/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * fuzz_wire - what a reader that its rank has taken over may send to mpiq, and the JSON of the wire.
 *
 * The first byte says what the rest is: 0 all that a reader sends, 1 a status, 2 threads, 3 a stack, 4 a
 * string, 5 an object of strings.  What is taken is to be the same after it was written and read again.
 */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "limit.h"
#include "session/reader_process.h"
#include "process/wire_json.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void fail(const char *what, const char *first, const char *second)
{
    fprintf(stderr, "%s changes on its way:\n%s\n%s\n", what, first, second);
    abort();
}

static char *end(struct mpiq_text *text)
{
    char *json = NULL;
    if (mpiq_text_end(text, &json))
        abort();
    return json;
}

/* ---- answers ---------------------------------------------------------------------------------------- */

static void try_answers(const char *text)
{
    struct mpiq_reader_process process = {.socket = memfd_create("answers", MFD_CLOEXEC)};
    size_t size = strlen(text);
    if (process.socket < 0 || write(process.socket, text, size) != (ssize_t)size ||
        lseek(process.socket, 0, SEEK_SET) != 0) {
        perror("memfd");
        abort();
    }
    mpiq_pipe_init(&process.pipe, process.socket, process.socket);
    struct mpiq_error *error = NULL;
    for (bool more = true; !error && more;) {
        struct mpiq_reader_answer answer = {0};
        struct mpiq_rank_state *state = NULL;
        error = mpiq_reader_process_next(&process, &answer, &more);
        if (!error && more && answer.text)
            mpiq_error_destroy(mpiq_rank_state_from_json(answer.text, strlen(answer.text), &state));
        mpiq_rank_state_destroy(state);
        mpiq_error_destroy(answer.error);
    }
    mpiq_error_destroy(error);
    mpiq_pipe_deinit(&process.pipe);
    close(process.socket);
}

/* ---- JSON ------------------------------------------------------------------------------------------- */

static char *status_again(const char *json)
{
    struct mpiq_target_status status;
    struct mpiq_text text = {0};
    struct mpiq_error *error = mpiq_wire_read_status(json, &status);
    mpiq_error_destroy(error);
    if (error)
        return NULL;
    mpiq_wire_write_status(&text, &status);
    return end(&text);
}

static char *threads_again(const char *json)
{
    struct mpiq_target_thread *threads = NULL;
    size_t count = 0;
    struct mpiq_text text = {0};
    struct mpiq_error *error = mpiq_wire_read_threads(json, &threads, &count);
    mpiq_error_destroy(error);
    if (error)
        return NULL;
    mpiq_wire_write_threads(&text, threads, count);
    free(threads);
    return end(&text);
}

static char *stack_again(const char *json)
{
    struct mpiq_target_stack stack = {0};
    struct mpiq_text text = {0};
    struct mpiq_error *error = mpiq_wire_read_stack(json, &stack);
    mpiq_error_destroy(error);
    if (error)
        return NULL;
    mpiq_wire_write_stack(&text, &stack);
    mpiq_target_stack_deinit(&stack);
    return end(&text);
}

static char *string_again(const char *json)
{
    char *string = NULL;
    struct mpiq_text text = {0};
    struct mpiq_error *error = mpiq_wire_read_string(json, &string);
    mpiq_error_destroy(error);
    if (error)
        return NULL;
    mpiq_text_string(&text, string, SIZE_MAX);
    free(string);
    return end(&text);
}

static bool take(void *argument, const char *key, const char *value)
{
    struct mpiq_text *text = argument;
    mpiq_text_string(text, key, SIZE_MAX);
    mpiq_text_string(text, value, SIZE_MAX);
    return true;
}

/* Not what it was: nobody writes keys that need escapes. */
static char *strings_again(const char *json)
{
    struct mpiq_text text = {0};
    mpiq_error_destroy(mpiq_wire_read_strings(json, take, &text));
    mpiq_buffer_deinit(&text.own);
    return NULL;
}

static void try_json(const char *what, char *(*again)(const char *json), const char *json)
{
    char *first = again(json);
    char *second = first ? again(first) : NULL;
    if (first && (!second || strcmp(first, second) != 0))
        fail(what, first, second ? second : "nothing");
    free(first);
    free(second);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct {
        const char *what;
        char *(*again)(const char *json);
    } kinds[] = {{"a status", status_again},
                 {"a list of threads", threads_again},
                 {"a stack", stack_again},
                 {"a string", string_again},
                 {"an object", strings_again}};
    const size_t count = sizeof kinds / sizeof *kinds;
    char *text = size > 0 ? strndup((const char *)data + 1, size - 1) : NULL;
    if (!text)
        return 0;
    size_t kind = data[0] % (count + 1);
    limit_begin();
    if (kind == 0)
        try_answers(text);
    else
        try_json(kinds[kind - 1].what, kinds[kind - 1].again, text);
    limit_end();
    free(text);
    return 0;
}
