/* SPDX-License-Identifier: BSD-3-Clause */
/* Sentences about waits at windows. */
#include "words/say_private.h"

/* What a rank does, in short: "in MPI_Barrier". */
static const char *is_in(struct mpiq_speaker *s, const struct mpiq_rank_set *ranks)
{
    uint32_t process = mpiq_job_process(s->job, ranks->ranges[0].world, ranks->ranges[0].first);
    const char *call = s->diagnosis->ranks[process].call;
    return ranks->size == 1 && call ? WORDS(s->arena, " and is in %s", call) : "";
}

static const char *lock_text(struct mpiq_speaker *s, const struct mpiq_finding *finding,
                             const struct mpiq_job_wait *wait, const char *name)
{
    const struct mpiq_job_state *job = s->job;
    struct mpiq_arena *arena = s->arena;
    const struct mpiq_rank_set *holders = &finding->missing;
    const char *lock = finding->lock_type == MPIQ_LOCK_EXCLUSIVE ? "an exclusive lock" : "a shared lock";
    const char *target = wait->window_target == MPIQ_NONE
                             ? ""
                             : WORDS(arena, " of %s", mpiq_words_rank(arena, job, wait->window_target));
    const struct mpiq_job_window *window = &job->windows[wait->window];
    const char *made_by = window->named ? NULL : mpiq_job_string(job, window->made_by);
    if (made_by && *made_by && target[0]) { /* "made by ... of rank 0" would be misread */
        lock = WORDS(arena, "%s at %s", lock, mpiq_words_rank(arena, job, wait->window_target));
        target = "";
    }
    return WORDS(arena, "%s %s %s on %s%s%s; %s %s for that lock", mpiq_words_ranks(arena, holders),
                 holders->size > 1 ? "hold" : "holds", lock, name, target, is_in(s, holders),
                 mpiq_words_ranks(arena, &finding->ranks), finding->ranks.size > 1 ? "wait" : "waits");
}

const char *mpiq_say_window(struct mpiq_speaker *s, const struct mpiq_finding *finding)
{
    const struct mpiq_job_wait *wait = &s->job->waits[finding->wait];
    struct mpiq_arena *arena = s->arena;
    const char *name = mpiq_words_window(arena, s->job, wait->window);
    const char *ranks = mpiq_words_ranks(arena, &finding->ranks);
    const char *call = mpiq_job_string(s->job, wait->call);
    const char *verb = finding->ranks.size > 1 ? "wait" : "waits";
    if (finding->missing.size == 0 && wait->kind == MPIQ_WAIT_WAIT && finding->others.size > 0)
        return WORDS(arena,
                     "%s %s in %s on %s for MPI_Win_complete by %s; at least one of them has not "
                     "called it",
                     ranks, verb, call ? call : "MPI_Win_wait", name,
                     mpiq_words_ranks(arena, &finding->others));
    if (finding->missing.size == 0)
        return WORDS(arena, "%s %s for ever in %s on %s", ranks, verb, call ? call : "a one-sided call",
                     name);
    const char *missing = mpiq_words_ranks(arena, &finding->missing);
    const char *call_name = call ? call : "a one-sided call";
    if (finding->peer_finalizes) {
        bool many = finding->missing.size > 1;
        return WORDS(arena, "%s %s in MPI_Finalize and %s not freed %s, which %s %s for in %s", missing,
                     many ? "are" : "is", many ? "have" : "has", name, ranks, verb, call_name);
    }
    /* "each of ranks 0-22:2 waits in MPI_Win_start for rank r+1" */
    bool related = finding->ranks.size > 1 && finding->missing.size > 1 && finding->proven;
    const char *peer = related ? mpiq_say_peer(s, &finding->relation, false) : NULL;
    switch ((enum mpiq_wait_kind)wait->kind) {
    case MPIQ_WAIT_LOCK:
        return lock_text(s, finding, wait, name);
    case MPIQ_WAIT_WAIT:
        return peer ? WORDS(arena,
                            "each of %s waits in %s for %s, which never completed its access to %s "
                            "(MPI_Win_complete)",
                            ranks, call_name, peer, name)
                    : WORDS(arena, "%s never completed the access to %s (MPI_Win_complete) that %s %s for",
                            missing, name, ranks, verb);
    case MPIQ_WAIT_UNLOCK:
    case MPIQ_WAIT_FLUSH:
        return finding->proven
                   ? WORDS(arena, "%s %s in %s on %s for %s, which will not answer", ranks, verb, call_name,
                           name, missing)
                   : WORDS(arena, "%s %s in %s on %s, where %s %s a lock that excludes %s", ranks, verb,
                           call_name, name, missing, finding->missing.size > 1 ? "have" : "has",
                           finding->ranks.size > 1 ? "theirs" : "its own");
    default:
        return peer ? WORDS(arena, "each of %s waits in %s for %s, which never posted %s (MPI_Win_post)",
                            ranks, call_name, peer, name)
                    : WORDS(arena, "%s never posted %s (MPI_Win_post), which %s %s for in %s", missing, name,
                            ranks, verb, call ? call : "MPI_Win_start");
    }
}
