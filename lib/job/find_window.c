/* SPDX-License-Identifier: BSD-3-Clause */
/* One-sided waits that nobody will end: the window, the call, and who has not posted, completed or unlocked.
 */
#include <string.h>

#include "job/collective.h"
#include "job/evidence.h"
#include "job/find.h"

/* Alike waits of several ranks. */
struct alike {
    uint32_t window;
    uint32_t site;
    uint8_t kind;
    size_t finding;
};

static const struct mpiq_job_wait *window_wait(const struct mpiq_job_state *job, uint32_t thread)
{
    const struct mpiq_job_wait *wait = mpiq_innermost_wait(job, &job->threads[thread]);
    return wait && wait->window != MPIQ_NONE ? wait : NULL;
}

static void add(struct mpiq_finder *finder, struct mpiq_finding *finding, uint32_t process, uint32_t thread)
{
    const struct mpiq_wait_graph *graph = finder->graph;
    const struct mpiq_node *node = &graph->nodes[graph->thread_nodes[thread]];
    mpiq_finder_add(finder, &finding->ranks, process);
    mpiq_finder_site(finder, finding, process, thread);
    mpiq_finder_since(finder, finding, process, thread);
    mpiq_add_evidence(finder, finding, process, thread, MPIQ_NONE);
    for (uint32_t i = 0; i < node->edge_count; i++) {
        const struct mpiq_node *child = &graph->nodes[graph->edges[node->first_edge + i].child];
        if (child->kind == MPIQ_KIND_RANK && !child->may) {
            mpiq_finder_add(finder, &finding->others, child->subject);
            mpiq_finder_add(finder, &finding->missing, child->subject);
        }
    }
}

/* What a rank does, in short: "in MPI_Barrier". */
static const char *is_in(struct mpiq_finder *finder, const struct mpiq_rank_set *ranks)
{
    uint32_t process = mpiq_job_process(finder->job, ranks->ranges[0].world, ranks->ranges[0].first);
    const char *call = finder->diagnosis->ranks[process].call;
    return ranks->size == 1 && call ? WORDS(finder->arena, " and is in %s", call) : "";
}

static const char *lock_text(struct mpiq_finder *finder, const struct mpiq_finding *finding,
                             const struct mpiq_job_wait *wait, const char *name)
{
    const struct mpiq_job_state *job = finder->job;
    struct mpiq_arena *arena = finder->arena;
    const struct mpiq_rank_set *holders = &finding->missing;
    uint32_t holder = mpiq_job_process(job, holders->ranges[0].world, holders->ranges[0].first);
    const struct mpiq_job_window_view *view = mpiq_job_window_view_of(job, holder, wait->window);
    uint8_t type = MPIQ_LOCK_NONE;
    if (view)
        mpiq_holds_lock(job, view, wait->window_target, wait->lock_type, &type);
    const char *lock = type == MPIQ_LOCK_EXCLUSIVE ? "an exclusive lock" : "a shared lock";
    const char *target = wait->window_target == MPIQ_NONE
                             ? ""
                             : WORDS(arena, " of %s", mpiq_words_rank(arena, job, wait->window_target));
    return WORDS(arena, "%s %s %s on window \"%s\"%s%s; %s %s for that lock",
                 mpiq_words_ranks(arena, holders), holders->size > 1 ? "hold" : "holds", lock, name, target,
                 is_in(finder, holders), mpiq_words_ranks(arena, &finding->ranks),
                 finding->ranks.size > 1 ? "wait" : "waits");
}

static void describe(struct mpiq_finder *finder, struct mpiq_finding *finding,
                     const struct mpiq_job_wait *wait)
{
    struct mpiq_arena *arena = finder->arena;
    const char *name = mpiq_job_string(finder->job, finder->job->windows[wait->window].name);
    const char *ranks = mpiq_words_ranks(arena, &finding->ranks);
    const char *call = mpiq_job_string(finder->job, wait->call);
    const char *verb = finding->ranks.size > 1 ? "wait" : "waits";
    if (finding->missing.size == 0) {
        finding->text = WORDS(arena, "%s %s for ever in %s on window \"%s\"", ranks, verb,
                              call ? call : "a one-sided call", name);
        return;
    }
    const char *missing = mpiq_words_ranks(arena, &finding->missing);
    switch ((enum mpiq_wait_kind)wait->kind) {
    case MPIQ_WAIT_LOCK:
        finding->text = lock_text(finder, finding, wait, name);
        break;
    case MPIQ_WAIT_WAIT:
        finding->text =
            WORDS(arena, "%s never completed the access to window \"%s\" (MPI_Win_complete) that %s %s for",
                  missing, name, ranks, verb);
        break;
    default:
        finding->text = WORDS(arena, "%s never posted window \"%s\" (MPI_Win_post), which %s %s for in %s",
                              missing, name, ranks, verb, call ? call : "MPI_Win_start");
        break;
    }
}

void mpiq_find_windows(struct mpiq_finder *finder)
{
    const struct mpiq_job_state *job = finder->job;
    struct alike kinds[MPIQ_MOST_FINDINGS];
    const struct mpiq_job_wait *first[MPIQ_MOST_FINDINGS];
    uint32_t count = 0;
    for (uint32_t thread = 0; job->window_count > 0 && thread < job->thread_count && !finder->failed;
         thread++) {
        const struct mpiq_job_wait *wait =
            mpiq_is_stuck(finder->graph, thread) ? window_wait(job, thread) : NULL;
        if (!wait)
            continue;
        uint32_t site = job->threads[thread].site;
        uint32_t at = 0;
        while (at < count && (kinds[at].site != site || kinds[at].kind != wait->kind ||
                              job->windows[kinds[at].window].name != job->windows[wait->window].name))
            at++;
        if (at == MPIQ_MOST_FINDINGS)
            continue;
        if (at == count) {
            struct mpiq_finding *made =
                mpiq_diagnosis_add_finding(finder->diagnosis, MPIQ_FINDING_WINDOW_WAIT);
            if (!made) {
                finder->failed = true;
                return;
            }
            made->proven = true;
            made->window = wait->window;
            made->comm = job->windows[wait->window].comm;
            first[count] = wait;
            kinds[count++] = (struct alike){.window = wait->window,
                                            .site = site,
                                            .kind = wait->kind,
                                            .finding = finder->diagnosis->finding_count - 1};
        }
        add(finder, &finder->diagnosis->findings[kinds[at].finding],
            mpiq_thread_process(finder->graph, thread), thread);
    }
    for (uint32_t i = 0; i < count; i++) {
        struct mpiq_finding *finding = &finder->diagnosis->findings[kinds[i].finding];
        if (!mpiq_rank_set_add_set(&finding->suspects, &finding->missing))
            finder->failed = true;
        mpiq_add_evidence_of(finder, finding, &finding->others);
        describe(finder, finding, first[i]);
    }
}
