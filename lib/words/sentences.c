/* SPDX-License-Identifier: BSD-3-Clause */
#include "words/sentences.h"

#include <ctype.h>

#include "base/memory.h"
#include "words/say_private.h"
#include "words/wait_text.h"

/* "ranks 1-2 wait in MPI_Barrier at exchange.c:12 for rank 0": those whom the cause does not name. */
static const char *consequence(struct mpiq_speaker *s, const struct mpiq_finding *finding)
{
    struct mpiq_arena *arena = s->arena;
    const struct mpiq_rank_set *ranks = finding->beyond.size > 0 ? &finding->beyond : &finding->ranks;
    const struct mpiq_evidence *evidence = finding->evidence_count > 0 ? &finding->evidence[0] : NULL;
    for (size_t i = 0; i < finding->evidence_count; i++) {
        if (mpiq_rank_set_overlaps(&finding->evidence[i].ranks, ranks)) {
            evidence = &finding->evidence[i];
            break;
        }
    }
    bool one_place = evidence && mpiq_rank_set_includes(&evidence->ranks, ranks);
    const char *place = one_place ? mpiq_words_place(arena, s->job, evidence->site) : "";
    const char *call = evidence && evidence->call ? evidence->call : finding->collective;
    const char *what = "";
    uint32_t process = mpiq_job_process(s->job, ranks->ranges[0].world, ranks->ranges[0].first);
    if (finding->missing.size > 0)
        what = mpiq_words_ranks(arena, &finding->missing);
    else if (evidence && evidence->wait)
        what = mpiq_say_wait(s, ranks->size > 1 ? evidence->wait : s->diagnosis->ranks[process].waits_for,
                             call, process);
    return WORDS(arena, "%s %s%s%s%s%s%s%s", mpiq_words_ranks(arena, ranks),
                 mpiq_is_plural(ranks) ? "wait" : "waits", call ? " in " : "", call ? call : "",
                 place[0] ? " at " : "", place, what[0] ? " for " : "", what);
}

static const char *sentence(struct mpiq_speaker *s, const struct mpiq_finding *finding)
{
    if (finding->side_count > 0)
        return mpiq_say_sides(s, finding);
    if (finding->failed != MPIQ_NONE)
        return mpiq_say_failed(s, finding);
    switch (finding->kind) {
    case MPIQ_FINDING_COLLECTIVE_INCOMPLETE:
        return mpiq_say_incomplete(s, finding);
    case MPIQ_FINDING_COLLECTIVE_LEFT:
        return mpiq_say_left(s, finding);
    case MPIQ_FINDING_COLLECTIVE_MISMATCH:
        return mpiq_say_differing(s, finding);
    case MPIQ_FINDING_COLLECTIVE_ARGUMENT_MISMATCH:
        return mpiq_say_arguments(s, finding);
    case MPIQ_FINDING_COLLECTIVE_OVERLAP:
        return mpiq_say_overlap(s, finding);
    case MPIQ_FINDING_RECEIVE_UNMATCHED:
    case MPIQ_FINDING_SEND_UNMATCHED:
        return mpiq_say_message(s, finding);
    case MPIQ_FINDING_WAIT_CYCLE:
        return mpiq_say_circle(s, finding);
    case MPIQ_FINDING_TRUNCATION:
        return mpiq_say_truncation(s, finding);
    case MPIQ_FINDING_RANK_GONE:
        return s->diagnosis->ended ? mpiq_say_end(s, finding) : mpiq_say_behaviour(s, finding);
    case MPIQ_FINDING_RANK_STOPPED:
    case MPIQ_FINDING_RANK_ELSEWHERE:
        return mpiq_say_behaviour(s, finding);
    case MPIQ_FINDING_REQUEST_LEAK:
        return finding->fact != MPIQ_NONE ? mpiq_say_not_freed(s, finding) : mpiq_say_leak(s, finding);
    case MPIQ_FINDING_UNEXPECTED_BACKLOG:
        return mpiq_say_backlog(s, finding);
    case MPIQ_FINDING_WINDOW_WAIT:
        return mpiq_say_window(s, finding);
    case MPIQ_FINDING_FILE_LOCK:
        return mpiq_say_lock(s, finding);
    case MPIQ_FINDING_POLLING_UNMATCHED:
        return mpiq_say_polling(s, finding);
    case MPIQ_FINDING_STACKS_DIFFER:
        return mpiq_say_stacks(s, finding);
    case MPIQ_FINDING_MESSAGE_LOST:
        return mpiq_say_lost(s, finding);
    case MPIQ_FINDING_TYPE_MISMATCH:
        return mpiq_say_types(s, finding);
    case MPIQ_FINDING_NOT_FREED:
        return mpiq_say_not_freed(s, finding);
    }
    return "";
}

/* Whether of a consequence it is enough to say who waits where. */
static bool is_told_as_wait(const struct mpiq_finding *finding)
{
    switch (finding->kind) {
    case MPIQ_FINDING_COLLECTIVE_INCOMPLETE:
    case MPIQ_FINDING_COLLECTIVE_LEFT:
    case MPIQ_FINDING_RECEIVE_UNMATCHED:
    case MPIQ_FINDING_SEND_UNMATCHED:
    case MPIQ_FINDING_WAIT_CYCLE:
    case MPIQ_FINDING_WINDOW_WAIT:
    case MPIQ_FINDING_FILE_LOCK:
        return true;
    default:
        return false;
    }
}

/* Of a bug that is proven, the sentence begins with a capital. */
static const char *capital(struct mpiq_arena *arena, const char *text)
{
    return islower((unsigned char)text[0]) ? WORDS(arena, "%c%s", toupper((unsigned char)text[0]), text + 1)
                                           : text;
}

/* "MPI_Bcast (collective 6)", "MPI_Recv for tag 99 from rank 63", "fcntl for the lock on run.log that rank 0
   has". */
static const char *step_words(struct mpiq_speaker *s, const struct mpiq_step *step)
{
    const struct mpiq_wait_part *part = step->wait && step->wait->part_count > 0 ? step->wait->parts : NULL;
    const char *call = step->call ? step->call : "MPI";
    if (part && part->kind == MPIQ_PART_COLLECTIVE && part->operation == MPIQ_NONE)
        return mpiq_words_call(s->arena, s->job, part->collective, part->number, part->comm);
    if (part && part->internal) /* whose message of the call it is */
        return part->ranks.size > 0
                   ? WORDS(s->arena, "%s for %s", call, mpiq_words_rank(s->arena, s->job, part->peer))
                   : call;
    if (part && part->kind == MPIQ_PART_WINDOW && part->ranks.size == 0)
        return call;
    struct mpiq_buffer text = {0};
    mpiq_put_wait(s->job, &text, step->wait, step->call, step->process, MPIQ_WAIT_NUMBERED);
    const char *what = mpiq_words_taken(s->arena, &text);
    return what[0] ? WORDS(s->arena, "%s for %s", call, what) : call;
}

static void write_steps(struct mpiq_speaker *s, struct mpiq_step *steps, size_t count)
{
    for (size_t i = 0; i < count; i++)
        steps[i].why = step_words(s, &steps[i]);
}

static void write_notes(struct mpiq_speaker *s, struct mpiq_note *notes, size_t count)
{
    for (size_t i = 0; i < count; i++)
        notes[i].text = mpiq_say_note(s, &notes[i]);
}

static struct mpiq_error *result(const struct mpiq_speaker *s, unsigned missed)
{
    /* Without memory a sentence may be shorter than it is. */
    return s->failed || mpiq_memory_missed() != missed ? mpiq_error_no_memory() : NULL;
}

struct mpiq_error *mpiq_write_sentences(const struct mpiq_job_state *job, struct mpiq_diagnosis *diagnosis)
{
    unsigned missed = mpiq_memory_missed();
    struct mpiq_speaker s = {.job = job, .diagnosis = diagnosis, .arena = diagnosis->arena};
    for (size_t i = 0; i < diagnosis->finding_count; i++) {
        struct mpiq_finding *finding = &diagnosis->findings[i];
        bool cause = finding->consequence_of == MPIQ_NONE;
        write_steps(&s, finding->steps, finding->step_count);
        for (size_t j = 0; j < finding->value_count; j++)
            finding->values[j].value = mpiq_say_value(&s, finding->values[j].name, finding->values[j].number,
                                                      finding->values[j].type);
        for (size_t j = 0; j < finding->evidence_count; j++) {
            struct mpiq_evidence *evidence = &finding->evidence[j];
            evidence->note = mpiq_say_remark(&s, finding, evidence);
            bool unsaid = finding->kind == MPIQ_FINDING_STACKS_DIFFER && !evidence->note;
            if (unsaid &&
                evidence->activity == MPIQ_ACTIVITY_ASLEEP) /* a hint has no sentence that says it */
                evidence->note = mpiq_say_sleep(&s, evidence->process);
        }
        const char *text =
            !cause && is_told_as_wait(finding) ? consequence(&s, finding) : sentence(&s, finding);
        finding->text = cause && finding->proven ? capital(s.arena, text) : text;
    }
    diagnosis->text = mpiq_say_verdict(&s);
    write_notes(&s, diagnosis->assumptions, diagnosis->assumption_count);
    write_notes(&s, diagnosis->notes, diagnosis->note_count);
    for (size_t i = 0; i < diagnosis->known_hang_count; i++)
        diagnosis->known_hangs[i].text = mpiq_say_known_hang(&s, &diagnosis->known_hangs[i]);
    return result(&s, missed);
}

static const char *ending(struct mpiq_speaker *s, const struct mpiq_chain *chain)
{
    if (!chain->cycle)
        return WORDS(s->arena, "%s %s", mpiq_words_rank(s->arena, s->job, chain->end),
                     mpiq_say_does(s, chain->end, false));
    const char *rank = mpiq_words_rank(s->arena, s->job, chain->steps[chain->cycle_step].process);
    if (chain->cycle_step + 1 == chain->step_count)
        return WORDS(s->arena, "%s waits for itself: it can never continue", rank);
    return WORDS(s->arena,
                 "here the circle closes: %s is already in it, and none of these ranks can ever continue",
                 rank);
}

struct mpiq_error *mpiq_write_chain(const struct mpiq_job_state *job, const struct mpiq_diagnosis *diagnosis,
                                    struct mpiq_chain *chain)
{
    unsigned missed = mpiq_memory_missed();
    struct mpiq_speaker s = {.job = job, .diagnosis = diagnosis, .arena = chain->arena};
    write_steps(&s, chain->steps, chain->step_count);
    chain->text = ending(&s, chain);
    return result(&s, missed);
}
