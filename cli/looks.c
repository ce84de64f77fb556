/* SPDX-License-Identifier: BSD-3-Clause */
#include "looks.h"

#include <string.h>

/* Seconds. */
static const double interval_least = 1, interval_most = 120, share_most = 0.009;

/* Looks at a trace, from its start to its end, where the user says no interval. */
enum { TRACE_LOOKS = 60 };

/* Whether all targets are snapshots: then each is a look, where report would merge them. */
static bool plays_back(const struct command_line *line)
{
    for (size_t i = 0; i < line->options.target_count; i++) {
        if (!mpiq_is_snapshot_file(line->options.targets[i]))
            return false;
    }
    return line->options.target_count > 0;
}

/* The time of a look at the trace, so long after its start. */
static struct mpiq_error *time_of_trace(const struct command_line *line, double at, double *ret)
{
    struct mpiq_options options = line->options;
    struct mpiq_job *job = NULL;
    options.at = at;
    struct mpiq_error *error = mpiq_job_look(&options, &job);
    *ret = error ? 0 : mpiq_job_time(job);
    mpiq_job_destroy(job);
    return error;
}

static struct mpiq_error *measure_trace(struct looks *looks)
{
    double begin, end;
    struct mpiq_error *error = time_of_trace(looks->line, 0, &begin);
    if (!error)
        error = time_of_trace(looks->line, -1, &end);
    if (error)
        return error;
    looks->length = end > begin ? end - begin : 1e-9;
    looks->step = looks->line->interval > 0 ? looks->line->interval : looks->length / TRACE_LOOKS;
    return NULL;
}

struct mpiq_error *looks_init(struct looks *looks, struct command_line *line)
{
    *looks = (struct looks){.line = line};
    if (plays_back(line))
        return NULL;
    if (line->options.target_count == 1 && line->options.at < 0 &&
        mpiq_is_trace_file(line->options.targets[0]))
        return measure_trace(looks);
    return mpiq_session_create(&line->options, &looks->session);
}

void looks_deinit(struct looks *looks)
{
    for (size_t i = 0; i < looks->count; i++)
        mpiq_job_destroy(looks->kept[i]);
    mpiq_session_destroy(looks->session);
}

static struct mpiq_error *play(struct looks *looks, struct mpiq_job **ret)
{
    struct mpiq_options options = looks->line->options;
    if (looks->length > 0) {
        options.at = looks->at < looks->length ? looks->at : -1;
        looks->next = options.at < 0; /* that was the last one */
        looks->at += looks->step;
        return mpiq_job_look(&options, ret);
    }
    options.targets += looks->next++;
    options.target_count = 1;
    return mpiq_job_look(&options, ret);
}

bool looks_at_end(const struct looks *looks)
{
    return !looks->session && looks->next >= looks->line->options.target_count;
}

struct mpiq_error *looks_take(struct looks *looks, struct mpiq_job **ret)
{
    struct mpiq_error *error = looks->session ? mpiq_session_look(looks->session, ret) : play(looks, ret);
    looks->taking_cost = looks->session ? mpiq_session_cost(looks->session) : 0;
    return error;
}

void looks_keep(struct looks *looks, struct mpiq_job *job)
{
    size_t ranks = mpiq_job_ranks(job), most = LOOKS_KEPT;
    if (ranks > RANKS_KEPT / LOOKS_KEPT)
        most = ranks < RANKS_KEPT / LOOKS_KEPT_LEAST ? RANKS_KEPT / ranks : LOOKS_KEPT_LEAST;
    while (looks->count >= most) {
        mpiq_job_destroy(looks->kept[0]);
        memmove(looks->kept, looks->kept + 1, --looks->count * sizeof *looks->kept);
    }
    looks->kept[looks->count++] = job;
    looks->taken++;
    looks->cost = looks->taking_cost;
}

double looks_interval(const struct looks *looks)
{
    if (looks->line->interval > 0)
        return looks->line->interval;
    /* The first look parses what all others find parsed. */
    double fair = looks->taken > 1 ? looks->cost / share_most : 0;
    return fair < interval_least ? interval_least : fair > interval_most ? interval_most : fair;
}
