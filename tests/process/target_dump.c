/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * target-dump - shows what lib/process/ sees of a process or core, for the tests and for a person who
 * wonders.
 *
 *   target-dump [-s] [-r REPEAT] PID|CORE COMMAND…
 *     read ADDRESS SIZE | symbol NAME | type NAME [MEMBER…] | sizes | status | threads | stack [TID] |
 *     environment NAME
 *
 * -s stops the process while it is open; -r repeats the command with a fresh target each time and prints the
 * milliseconds of each.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/cleanup.h"
#include "process/object.h"
#include "process/target.h"

static struct mpiq_error *do_read(struct mpiq_target *target, char **words)
{
    if (!words[0] || !words[1])
        return mpiq_error_create(MPIQ_ERROR_USAGE, "read ADDRESS SIZE");
    size_t size = strtoull(words[1], NULL, 0);
    _cleanup_free_ unsigned char *bytes = malloc(size ? size : 1);
    struct mpiq_error *error = mpiq_target_read(target, strtoull(words[0], NULL, 0), size, bytes);
    for (size_t i = 0; !error && i < size; i++)
        printf("%02x", bytes[i]);
    if (!error)
        putchar('\n');
    return error;
}

static struct mpiq_error *do_symbol(struct mpiq_target *target, char **words)
{
    for (; *words; words++) {
        uint64_t address;
        struct mpiq_error *error = mpiq_target_find_symbol(target, *words, &address);
        if (error)
            return error;
        printf("%s 0x%" PRIx64 "\n", *words, address);
    }
    return NULL;
}

static struct mpiq_error *do_type(struct mpiq_target *target, char **words)
{
    const struct mpiq_target_type *type;
    uint64_t number;
    if (!words[0])
        return mpiq_error_create(MPIQ_ERROR_USAGE, "type NAME [MEMBER…]");
    struct mpiq_error *error = mpiq_target_find_type(target, words[0], &type);
    if (!error)
        error = mpiq_target_type_size(target, type, &number);
    if (!error)
        printf("%s %" PRIu64 "\n", words[0], number);
    while (!error && *++words) {
        error = mpiq_target_field_offset(target, type, *words, &number);
        if (!error)
            printf("  %s %" PRIu64 "\n", *words, number);
    }
    return error;
}

static struct mpiq_error *do_types(struct mpiq_target *target, char **words)
{
    for (; *words; words++) {
        char *one[] = {*words, NULL};
        struct mpiq_error *error = do_type(target, one);
        if (error)
            printf("%s\n", error->message);
        mpiq_error_destroy(error);
    }
    return NULL;
}

static struct mpiq_error *do_sizes(struct mpiq_target *target, char **words)
{
    (void)words;
    struct mpiq_target_sizes sizes;
    struct mpiq_error *error = mpiq_target_sizes(target, &sizes);
    if (!error)
        printf("short %d int %d long %d long long %d pointer %d bool %d size_t %d %s\n", sizes.short_size,
               sizes.int_size, sizes.long_size, sizes.long_long_size, sizes.pointer_size, sizes.bool_size,
               sizes.size_t_size, sizes.big_endian ? "big" : "little");
    return error;
}

static struct mpiq_error *do_status(struct mpiq_target *target, char **words)
{
    (void)words;
    struct mpiq_target_status status;
    struct mpiq_error *error = mpiq_target_status(target, &status);
    if (!error)
        printf("pid %d state %c core %d traced %d uid %d cpu %.6f s host %s executable %s\n", (int)status.pid,
               status.state, status.core, status.traced, (int)status.uid, (double)status.cpu_ns / 1e9,
               status.host, status.executable);
    return error;
}

static struct mpiq_error *do_threads(struct mpiq_target *target, char **words)
{
    (void)words;
    struct mpiq_target_thread *threads;
    size_t count;
    struct mpiq_error *error = mpiq_target_threads(target, &threads, &count);
    if (error)
        return error;
    for (size_t i = 0; i < count; i++)
        printf("%d %c %.6f s %s\n", (int)threads[i].tid, threads[i].state, (double)threads[i].cpu_ns / 1e9,
               threads[i].name);
    free(threads);
    return NULL;
}

static struct mpiq_error *show_stack(struct mpiq_target *target, pid_t tid)
{
    struct mpiq_target_stack stack;
    struct mpiq_error *error = mpiq_target_stack(target, tid, &stack);
    if (error)
        return error;
    printf("thread %d\n", (int)tid);
    for (size_t i = 0; i < stack.count; i++) {
        const struct mpiq_target_frame *frame = &stack.frames[i];
        printf("#%-2zu 0x%" PRIx64 " %s%s", i, frame->pc, frame->function ? frame->function : "?",
               frame->inlined ? " (inlined)" : "");
        if (frame->file)
            printf(" %s:%d", frame->file, frame->line);
        else if (frame->object)
            printf(" in %s", frame->object);
        putchar('\n');
    }
    if (stack.truncated)
        printf("… %s\n", stack.why ? stack.why : "");
    mpiq_target_stack_deinit(&stack);
    return NULL;
}

static struct mpiq_error *do_stack(struct mpiq_target *target, char **words)
{
    if (words[0])
        return show_stack(target, (pid_t)strtol(words[0], NULL, 10));
    struct mpiq_target_thread *threads;
    size_t count;
    struct mpiq_error *error = mpiq_target_threads(target, &threads, &count);
    if (error)
        return error;
    for (size_t i = 0; i < count && !error; i++)
        error = show_stack(target, threads[i].tid);
    free(threads);
    return error;
}

static struct mpiq_error *do_environment(struct mpiq_target *target, char **words)
{
    _cleanup_free_ char *value = NULL;
    if (!words[0])
        return mpiq_error_create(MPIQ_ERROR_USAGE, "environment NAME");
    struct mpiq_error *error = mpiq_target_environment(target, words[0], &value);
    if (!error)
        printf("%s\n", value);
    return error;
}

static const struct {
    const char *name;
    struct mpiq_error *(*run)(struct mpiq_target *target, char **words);
} commands[] = {
    {"read", do_read},       {"symbol", do_symbol}, {"type", do_type},
    {"types", do_types},     {"sizes", do_sizes},   {"status", do_status},
    {"threads", do_threads}, {"stack", do_stack},   {"environment", do_environment},
};

static struct mpiq_error *open_target(const char *what, bool stop, struct mpiq_target **ret)
{
    char *end;
    long pid = strtol(what, &end, 10);
    if (*what && !*end)
        return mpiq_target_live_create((pid_t)pid, stop, ret);
    return mpiq_target_core_create(what, NULL, ret);
}

static struct mpiq_error *run(const char *what, bool stop, const char *command, char **words)
{
    struct mpiq_target *target = NULL;
    struct mpiq_error *error = open_target(what, stop, &target);
    if (error)
        return error;
    error = mpiq_error_create(MPIQ_ERROR_USAGE, "no command %s", command);
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
        if (strcmp(commands[i].name, command) == 0) {
            mpiq_error_destroy(error);
            error = commands[i].run(target, words);
            break;
        }
    }
    mpiq_target_destroy(target);
    return error;
}

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec * 1e3 + (double)time.tv_nsec / 1e6;
}

int main(int argc, char **argv)
{
    bool stop = false;
    long repeat = 0;
    int option;
    while ((option = getopt(argc, argv, "+sr:")) != -1) {
        if (option == 's')
            stop = true;
        else if (option == 'r')
            repeat = strtol(optarg, NULL, 10);
        else
            return 2;
    }
    if (argc - optind < 2) {
        fprintf(stderr, "usage: target-dump [-s] [-r REPEAT] PID|CORE COMMAND…\n");
        return 2;
    }
    struct mpiq_error *error = NULL;
    for (long i = 0; i < (repeat ? repeat : 1) && !error; i++) {
        double start = now();
        error = run(argv[optind], stop, argv[optind + 1], argv + optind + 2);
        if (repeat)
            fprintf(stderr, "%.3f ms\n", now() - start);
    }
    if (error)
        fprintf(stderr, "%s: %s\n", mpiq_error_word(error->code), error->message);
    int status = error ? 1 : 0;
    mpiq_error_destroy(error);
    mpiq_object_clear();
    return status;
}
