/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * rank-dump - the rank state of a process, a core file, or whatever is at the other end of the wire, as JSON.
 *
 * rank-dump [--dll PATH] [--no-stacks] [--all-threads] [--stop] [--times N] [--seconds S]
 *           PID | CORE | IN,OUT...
 *
 * --times: reads all of them that often, prints the first, and how long each round took on standard error.
 * --seconds: how long a DLL may take to answer; a loop is longer.
 *
 * Exit: 0 a state was printed, 1 none could be read, 2 usage.
 */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "rank/rank.h"

static int fail(struct mpiq_error *error)
{
    fprintf(stderr, "rank-dump: %s\n", error->message);
    mpiq_error_destroy(error);
    return EXIT_FAILURE;
}

static struct mpiq_error *open_target(const char *name, bool stop, struct mpiq_target **ret)
{
    int in = 0;
    int out = 0;
    char *end = NULL;
    if (sscanf(name, "%d,%d", &in, &out) == 2)
        return mpiq_target_wire_create(in, out, ret);
    long pid = strtol(name, &end, 10);
    return *end ? mpiq_target_core_create(name, NULL, ret) : mpiq_target_live_create((pid_t)pid, stop, ret);
}

static struct mpiq_error *dump(struct mpiq_dll_host *host, struct mpiq_target *target, bool stacks, bool all,
                               bool print)
{
    struct mpiq_rank_state *state = NULL;
    char *json = NULL;
    const struct mpiq_stack_options options = {.all_threads = all};
    struct mpiq_error *error = mpiq_rank_read(host, target, stacks || all ? &options : NULL, &state);
    if (error)
        return error;
    error = mpiq_rank_state_to_json(state, &json);
    if (!error && print)
        puts(json);
    free(json);
    mpiq_rank_state_destroy(state);
    return error;
}

int main(int count, char **arguments)
{
    static const struct option options[] = {{"dll", required_argument, NULL, 'd'},
                                            {"no-stacks", no_argument, NULL, 'n'},
                                            {"all-threads", no_argument, NULL, 'a'},
                                            {"stop", no_argument, NULL, 's'},
                                            {"times", required_argument, NULL, 't'},
                                            {"seconds", required_argument, NULL, 'x'},
                                            {0}};
    struct mpiq_dll_host_options host_options = {0};
    bool stacks = true;
    bool all = false;
    bool stop = false;
    int times = 1;
    int option = 0;

    while ((option = getopt_long(count, arguments, "", options, NULL)) != -1) {
        switch (option) {
        case 'd':
            host_options.dll = optarg;
            break;
        case 'n':
            stacks = false;
            break;
        case 'a':
            all = true;
            break;
        case 's':
            stop = true;
            break;
        case 't':
            times = atoi(optarg);
            break;
        case 'x':
            host_options.seconds = atof(optarg);
            break;
        default:
            return 2;
        }
    }
    if (optind >= count) {
        fprintf(
            stderr,
            "usage: rank-dump [--dll PATH] [--no-stacks] [--all-threads] [--stop] [--times N] [--seconds S] "
            "PID|CORE|IN,OUT...\n");
        return 2;
    }
    struct mpiq_dll_host *host = NULL;
    struct mpiq_error *error = mpiq_dll_host_create(&host_options, &host);
    for (int round = 0; !error && round < times; round++) {
        struct timespec begin;
        struct timespec end;
        clock_gettime(CLOCK_MONOTONIC, &begin);
        for (int i = optind; !error && i < count; i++) {
            struct mpiq_target *target = NULL;
            error = open_target(arguments[i], stop, &target);
            if (!error)
                error = dump(host, target, stacks, all, round == 0);
            mpiq_target_destroy(target);
        }
        mpiq_dll_host_begin_look(host);
        clock_gettime(CLOCK_MONOTONIC, &end);
        if (times > 1)
            fprintf(stderr, "round %d: %.3f ms\n", round,
                    (double)(end.tv_sec - begin.tv_sec) * 1e3 + (double)(end.tv_nsec - begin.tv_nsec) / 1e6);
    }
    mpiq_dll_host_destroy(host);
    return error ? fail(error) : EXIT_SUCCESS;
}
