/* SPDX-License-Identifier: BSD-3-Clause */
#include "looks.h"

#include <string.h>

/* Seconds. */
static const double interval_least = 1, interval_most = 120, share_most = 0.009;

/* Whether all targets are snapshots: then each is a look, where report would merge them. */
static bool plays_back(const struct command_line *line)
{
    for (size_t i = 0; i < line->options.target_count; i++) {
        if (!mpiq_is_snapshot_file(line->options.targets[i]))
            return false;
    }
    return line->options.target_count > 0;
}

struct mpiq_error *looks_init(struct looks *looks, struct command_line *line)
{
    *looks = (struct looks){.line = line};
    return plays_back(line) ? NULL : mpiq_session_create(&line->options, &looks->session);
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
