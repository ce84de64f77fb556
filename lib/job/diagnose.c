/* SPDX-License-Identifier: BSD-3-Clause */
#include "job/diagnose.h"

#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "job/doing.h"
#include "job/find.h"
#include "job/order.h"

void mpiq_finder_add(struct mpiq_finder *finder, struct mpiq_rank_set *set, uint32_t process)
{
    if (process == MPIQ_NONE)
        return;
    struct mpiq_world_rank name = mpiq_job_world_rank(finder->job, process);
    if (!mpiq_rank_set_add(set, name.world, name.rank))
        finder->failed = true;
}

static bool same_text(const char *a, const char *b)
{
    return a == b || (a && b && strcmp(a, b) == 0);
}

void mpiq_finder_since(const struct mpiq_finder *finder, struct mpiq_finding *finding, uint32_t process,
                       uint32_t thread)
{
    const struct mpiq_rank_diagnosis *rank = &finder->diagnosis->ranks[process];
    double since = rank->since;
    if (thread != MPIQ_NONE && thread != rank->thread)
        since =
            mpiq_waited(finder->job, mpiq_job_rank_of(finder->job, process), &finder->job->threads[thread]);
    finding->since = since > finding->since ? since : finding->since;
}

void mpiq_finder_site(struct mpiq_finder *finder, struct mpiq_finding *finding, uint32_t process,
                      uint32_t thread)
{
    const struct mpiq_rank_diagnosis *rank = &finder->diagnosis->ranks[process];
    struct mpiq_finding_site wanted = {.call = rank->call};
    uint32_t place = rank->site;
    if (thread != MPIQ_NONE && thread != rank->thread) {
        const struct mpiq_job_thread *row = &finder->job->threads[thread];
        wanted.call = row->in_mpi ? mpiq_job_string(finder->job, row->call) : NULL;
        place = row->site != MPIQ_NONE ? row->site : row->innermost;
    }
    if (place != MPIQ_NONE) {
        const struct mpiq_site *site = &finder->job->sites[place];
        wanted.file = mpiq_job_string(finder->job, site->file);
        wanted.function = mpiq_job_string(finder->job, site->function);
        wanted.line = site->line;
    }
    if (!wanted.call && !wanted.file && !wanted.function)
        return;
    for (size_t i = 0; i < finding->site_count; i++) {
        struct mpiq_finding_site *site = &finding->sites[i];
        if (site->line == wanted.line && same_text(site->call, wanted.call) &&
            same_text(site->file, wanted.file) && same_text(site->function, wanted.function)) {
            mpiq_finder_add(finder, &site->ranks, process);
            return;
        }
    }
    if (finding->site_count >= MPIQ_MOST_SITES)
        return;
    struct mpiq_finding_site *site = mpiq_finding_add_site(finding);
    if (!site) {
        finder->failed = true;
        return;
    }
    *site = wanted;
    mpiq_finder_add(finder, &site->ranks, process);
}

bool mpiq_finder_stuck(const struct mpiq_finder *finder, uint32_t process)
{
    const struct mpiq_job_rank *rank = mpiq_job_rank_of(finder->job, process);
    for (uint32_t i = 0; rank && i < rank->thread_count; i++) {
        if (mpiq_is_stuck(finder->graph, rank->first_thread + i))
            return true;
    }
    return false;
}

static void describe_ranks(struct mpiq_finder *finder)
{
    const struct mpiq_wait_graph *graph = finder->graph;
    /* Few texts stand for many ranks: alike waits share theirs where they follow each other. */
    for (uint32_t process = 0; process < finder->job->process_count; process++) {
        struct mpiq_rank_diagnosis *rank = &finder->diagnosis->ranks[process];
        rank->stuck = mpiq_finder_stuck(finder, process);
        if (rank->stuck)
            mpiq_finder_add(finder, &finder->diagnosis->stuck, process);
        if (rank->thread != MPIQ_NONE && graph->thread_nodes[rank->thread] != MPIQ_NONE) {
            const char *what = mpiq_words_waits_for(finder->arena, graph, rank->thread);
            rank->what = what[0] ? what : NULL;
        }
    }
    for (size_t i = 0; i < finder->diagnosis->finding_count; i++) {
        const struct mpiq_finding *finding = &finder->diagnosis->findings[i];
        const struct mpiq_rank_set *sets[] = {&finding->ranks, &finding->missing};
        for (int j = 0; finding->proven && j < 2; j++) {
            for (uint32_t k = 0; k < sets[j]->count; k++) {
                const struct mpiq_rank_range *range = &sets[j]->ranges[k];
                for (uint32_t r = range->first; r <= range->last; r++)
                    finder->diagnosis->ranks[mpiq_job_process(finder->job, range->world, r)].cause = true;
            }
        }
    }
}

/* What the verdict is made of. */
struct tally {
    uint64_t read;
    uint64_t held;       /* threads blocked in both looks */
    uint64_t blocked;    /* ranks */
    uint64_t finished;   /* ranks gone or finalized */
    uint64_t unreadable; /* of those read */
    uint64_t active;     /* ranks computing or polling */
    uint64_t known;      /* held threads that may go on by what is known */
    uint64_t blind;      /* ranks in MPI of which stacks are all there is, and those did not move */
    bool progress;
    bool awake; /* a held thread may go on though sleepers sleep */
};

static struct tally take_stock(const struct mpiq_finder *finder)
{
    const struct mpiq_job_state *job = finder->job;
    struct tally tally = {0};
    for (uint32_t process = 0; process < job->process_count; process++) {
        const struct mpiq_job_rank *rank = mpiq_job_rank_of(job, process);
        if (!rank)
            continue;
        const struct mpiq_rank_diagnosis *doing = &finder->diagnosis->ranks[process];
        tally.read++;
        bool ended = doing->doing == MPIQ_DOING_GONE || rank->phase == MPIQ_PHASE_FINALIZED;
        tally.finished += ended;
        tally.blocked += !ended && doing->doing == MPIQ_DOING_BLOCKED;
        tally.unreadable += !ended && doing->doing == MPIQ_DOING_UNREADABLE;
        tally.active +=
            !ended && (doing->doing == MPIQ_DOING_COMPUTING || doing->doing == MPIQ_DOING_POLLING);
        tally.blind += !ended && doing->doing == MPIQ_DOING_POLLING &&
                       !(rank->changed & MPIQ_CHANGED_STACKS) &&
                       (rank->source == MPIQ_SOURCE_STACKS || rank->source == MPIQ_SOURCE_NONE);
        tally.progress = tally.progress || rank->changed & MPIQ_CHANGED_PROGRESS;
    }
    for (uint32_t i = 0; i < finder->graph->node_count; i++) {
        const struct mpiq_node *node = &finder->graph->nodes[i];
        if (node->kind != MPIQ_KIND_THREAD)
            continue;
        tally.held++;
        tally.known += node->may_known;
        tally.awake = tally.awake || node->may_awake;
    }
    return tally;
}

/* Why nobody can tell whether the held ones may go on. */
static const char *what_is_unknown(struct mpiq_finder *finder, bool all_read)
{
    const struct mpiq_wait_graph *graph = finder->graph;
    struct mpiq_rank_set ranks _cleanup_(mpiq_rank_set_deinit) = {0};
    for (uint32_t i = 0; i < graph->node_count; i++) {
        const struct mpiq_node *node = &graph->nodes[i];
        bool unknown = false;
        for (uint32_t j = 0; node->kind == MPIQ_KIND_THREAD && j < node->edge_count; j++)
            unknown = unknown || graph->edges[node->first_edge + j].child == MPIQ_NODE_UNKNOWN;
        if (unknown)
            mpiq_finder_add(finder, &ranks, mpiq_thread_process(graph, node->subject));
    }
    if (ranks.size == 0)
        return all_read ? "what the ranks wait for could not all be read" : "not all ranks could be read";
    return WORDS(finder->arena, "who can end what %s %s for could not be read",
                 mpiq_words_ranks(finder->arena, &ranks), ranks.size > 1 ? "wait" : "waits");
}

static void verdict(struct mpiq_finder *finder)
{
    struct mpiq_diagnosis *diagnosis = finder->diagnosis;
    struct mpiq_arena *arena = finder->arena;
    struct tally tally = take_stock(finder);
    unsigned long long stuck = diagnosis->stuck.size;
    unsigned long long all = finder->job->process_count;
    if (stuck > 0) {
        diagnosis->verdict = MPIQ_VERDICT_DEADLOCK;
        diagnosis->text = all == 1       ? "the only rank can never go on"
                          : stuck == all ? WORDS(arena, "none of the %llu ranks can ever go on", all)
                                         : WORDS(arena, "%llu of %llu ranks can never go on", stuck, all);
    } else if (tally.read == 0 || tally.unreadable == tally.read) {
        diagnosis->verdict = MPIQ_VERDICT_UNKNOWN;
        diagnosis->text =
            tally.read == 0 ? "no rank could be read" : "nothing could be read of what the ranks do";
    } else if (tally.finished == tally.read && tally.read == all) {
        diagnosis->verdict = MPIQ_VERDICT_FINISHED;
        diagnosis->text = "no rank is in MPI any more";
    } else if (tally.held > 0 && !tally.progress && !tally.awake) {
        diagnosis->verdict = MPIQ_VERDICT_STALLED;
        diagnosis->text =
            "nothing moved between the two looks, and all who wait, wait in the end for ranks that are "
            "stopped or asleep outside MPI";
    } else if (tally.blocked > 0 && tally.held == 0 && tally.active == 0) {
        diagnosis->verdict = MPIQ_VERDICT_UNKNOWN;
        diagnosis->text =
            "the ranks wait, but they were not seen twice in the same wait: one look proves nothing";
    } else if (!tally.progress && tally.blind > 0 && tally.blind + tally.finished == tally.read) {
        diagnosis->verdict = MPIQ_VERDICT_UNKNOWN;
        diagnosis->text =
            "the ranks are in the same calls in both looks, but of MPI's own state nothing could be "
            "read that tells whether they go on";
    } else if (tally.held > 0 && !tally.progress && tally.active == 0 && tally.known == 0) {
        diagnosis->verdict = MPIQ_VERDICT_UNKNOWN;
        diagnosis->text =
            WORDS(arena, "%s, but %s: it may come at any moment",
                  finder->job->two_looks ? "nothing moved between the two looks" : "nothing is seen to go on",
                  what_is_unknown(finder, tally.read == all));
    } else {
        diagnosis->verdict = MPIQ_VERDICT_RUNNING;
        diagnosis->text = tally.progress ? "the job makes progress" : "no rank is proven to be stuck";
    }
}

static void assume(struct mpiq_finder *finder, const struct mpiq_rank_set *ranks, const char *text)
{
    if (ranks->size == 0)
        return;
    struct mpiq_note *note = mpiq_diagnosis_add_assumption(finder->diagnosis);
    if (!note || !mpiq_rank_set_add_set(&note->ranks, ranks)) {
        finder->failed = true;
        return;
    }
    note->text = text;
}

static void assumptions(struct mpiq_finder *finder)
{
    const struct mpiq_job_state *job = finder->job;
    struct mpiq_rank_set unread _cleanup_(mpiq_rank_set_deinit) = {0};
    struct mpiq_rank_set once _cleanup_(mpiq_rank_set_deinit) = {0};
    struct mpiq_rank_set cores _cleanup_(mpiq_rank_set_deinit) = {0};
    struct mpiq_rank_set silent _cleanup_(mpiq_rank_set_deinit) = {0};
    for (uint32_t process = 0; process < job->process_count; process++) {
        const struct mpiq_job_rank *rank = mpiq_job_rank_of(job, process);
        const struct mpiq_rank_diagnosis *doing = &finder->diagnosis->ranks[process];
        if (!rank) {
            mpiq_finder_add(finder, &unread, process);
            continue;
        }
        if (doing->doing == MPIQ_DOING_GONE)
            continue;
        if (rank->core)
            mpiq_finder_add(finder, &cores, process);
        else if (rank->looks != 3)
            mpiq_finder_add(finder, &once, process);
        const struct mpiq_job_thread *thread =
            doing->thread == MPIQ_NONE ? NULL : &job->threads[doing->thread];
        if (thread && doing->doing == MPIQ_DOING_BLOCKED && !thread->record)
            mpiq_finder_add(finder, &silent, process);
    }
    assume(finder, &unread, "not read: they are taken to be able to act at any moment");
    assume(finder, &once, "looked at once: nothing is proven of them");
    assume(finder, &cores,
           "core files hold one moment of each rank: they are taken as one moment of a job that hangs");
    assume(finder, &silent,
           "their library keeps no record of what a thread waits for: it is taken to be one of all the "
           "operations that its call may be waiting for");
}

struct note_key {
    mpiq_string_id what;
    mpiq_string_id text;
};

/* What could not be read: one note for all ranks that say the same. */
static void notes(struct mpiq_finder *finder)
{
    const struct mpiq_job_state *job = finder->job;
    struct mpiq_diagnosis *diagnosis = finder->diagnosis;
    enum { MOST_NOTES = 32 };
    struct note_key keys[MOST_NOTES];
    const size_t first = diagnosis->note_count;
    size_t kept = 0;
    for (uint32_t process = 0; process < job->process_count; process++) {
        const struct mpiq_job_rank *rank = mpiq_job_rank_of(job, process);
        for (uint32_t i = 0; rank && i < rank->problem_count; i++) {
            const struct mpiq_job_problem *problem = &job->problems[rank->first_problem + i];
            size_t at = 0;
            while (at < kept && (keys[at].what != problem->what || keys[at].text != problem->text))
                at++;
            if (at == MOST_NOTES)
                continue;
            if (at == kept) {
                struct mpiq_note *note = mpiq_diagnosis_add_note(diagnosis);
                if (!note) {
                    finder->failed = true;
                    return;
                }
                keys[kept++] = (struct note_key){.what = problem->what, .text = problem->text};
                const char *what = mpiq_job_string(job, problem->what);
                const char *text = mpiq_job_string(job, problem->text);
                note->text = WORDS(finder->arena, "%s%s%s", what ? what : "", what ? ": " : "",
                                   text ? text : "could not be read");
            }
            mpiq_finder_add(finder, &diagnosis->notes[first + at].ranks, process);
        }
    }
}

/* What was asked for and is no rank: a file that is cut off, a program without MPI.  Each says it for itself,
   since no rank's number can. */
static void strangers(struct mpiq_finder *finder)
{
    const struct mpiq_job_state *job = finder->job;
    enum { MOST_STRANGERS = 32 };
    for (uint32_t i = 0, told = 0; i < job->rank_count && told < MOST_STRANGERS; i++) {
        const struct mpiq_job_rank *rank = &job->ranks[i];
        if (rank->process != MPIQ_NONE)
            continue;
        const char *text =
            rank->problem_count > 0 ? mpiq_job_string(job, job->problems[rank->first_problem].text) : NULL;
        const char *program = mpiq_job_string(job, rank->executable);
        struct mpiq_note *note = mpiq_diagnosis_add_note(finder->diagnosis);
        if (!note) {
            finder->failed = true;
            return;
        }
        text = text ? text : "its rank is not known";
        note->text = rank->pid == 0 ? WORDS(finder->arena, "no rank, and left out: %s", text)
                                    : WORDS(finder->arena, "process %d (%s) is no rank, and left out: %s",
                                            rank->pid, program ? mpiq_words_base_name(program) : "?", text);
        told++;
    }
}

static struct mpiq_error *no_memory(void)
{
    return mpiq_error_create(MPIQ_ERROR_NO_MEMORY, "out of memory: the job cannot be diagnosed");
}

struct mpiq_error *mpiq_diagnose(const struct mpiq_job_state *job,
                                 const struct mpiq_diagnose_options *options, struct mpiq_diagnosis **ret)
{
    (void)options;
    if (!job->finished)
        return mpiq_error_create(MPIQ_ERROR_INTERNAL, "a job state is diagnosed before its end");
    struct mpiq_diagnosis *diagnosis = mpiq_diagnosis_create(job->process_count, job->operation_count);
    if (!diagnosis)
        return no_memory();
    mpiq_doing(job, diagnosis);
    struct mpiq_explanation explanation = {0};
    struct mpiq_finder finder = {.job = job, .diagnosis = diagnosis, .arena = diagnosis->arena};
    diagnosis->graph = mpiq_wait_graph_create(job, diagnosis);
    diagnosis->graph_destroy = mpiq_wait_graph_destroy;
    finder.graph = diagnosis->graph;
    finder.explanation = &explanation;
    finder.failed = !diagnosis->graph || !mpiq_explain(diagnosis->graph, &explanation);
    void (*const finders[])(struct mpiq_finder *) = {
        mpiq_find_collectives,
        mpiq_find_messages,
        mpiq_find_cycles,
        mpiq_find_truncations,
        mpiq_find_ranks,
        mpiq_find_leftovers,
        describe_ranks,
        verdict,
        assumptions,
        notes,
        strangers,
    };
    for (size_t i = 0; i < sizeof finders / sizeof *finders && !finder.failed; i++)
        finders[i](&finder);
    mpiq_explanation_deinit(&explanation);
    if (finder.failed) {
        mpiq_diagnosis_destroy(diagnosis);
        return no_memory();
    }
    mpiq_order_findings(job, diagnosis);
    *ret = diagnosis;
    return NULL;
}
