/* SPDX-License-Identifier: BSD-3-Clause */
#include "state/finding.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "state/arena.h"

/* Appends a zeroed element to an array whose room is the power of two at or above its count. */
static void *append(void **array, size_t *count, size_t size)
{
    void *element = mpiq_array_append(array, count, size);
    if (element)
        memset(element, 0, size);
    return element;
}

#define APPEND(owner, array, count) append((void **)&(owner)->array, &(owner)->count, sizeof *(owner)->array)

struct mpiq_diagnosis *mpiq_diagnosis_create(uint32_t process_count, uint32_t operation_count)
{
    struct mpiq_diagnosis *diagnosis = calloc(1, sizeof *diagnosis);
    if (!diagnosis)
        return NULL;
    diagnosis->verdict = MPIQ_VERDICT_UNKNOWN;
    diagnosis->because.said_by = MPIQ_NONE;
    diagnosis->text = "";
    diagnosis->arena = mpiq_arena_create();
    diagnosis->ranks = calloc(process_count ? process_count : 1, sizeof *diagnosis->ranks);
    diagnosis->rank_count = process_count;
    diagnosis->partner = malloc((operation_count ? operation_count : 1) * sizeof *diagnosis->partner);
    if (!diagnosis->arena || !diagnosis->ranks || !diagnosis->partner) {
        mpiq_diagnosis_destroy(diagnosis);
        return NULL;
    }
    memset(diagnosis->partner, 0xff, operation_count * sizeof *diagnosis->partner);
    for (uint32_t i = 0; i < process_count; i++) {
        diagnosis->ranks[i] = (struct mpiq_rank_diagnosis){
            .activity = MPIQ_ACTIVITY_UNREADABLE,
            .thread = MPIQ_NONE,
            .since = -1,
            .site = MPIQ_NONE,
            .comm = MPIQ_NONE,
        };
    }
    return diagnosis;
}

static void steps_deinit(struct mpiq_step *steps, size_t count)
{
    for (size_t i = 0; i < count; i++)
        mpiq_rank_set_deinit(&steps[i].waits_for);
    free(steps);
}

static void finding_deinit(struct mpiq_finding *finding)
{
    mpiq_rank_set_deinit(&finding->ranks);
    mpiq_rank_set_deinit(&finding->missing);
    mpiq_rank_set_deinit(&finding->others);
    mpiq_rank_set_deinit(&finding->suspects);
    mpiq_rank_set_deinit(&finding->beyond);
    mpiq_rank_set_deinit(&finding->unlisted);
    for (size_t i = 0; i < finding->site_count; i++)
        mpiq_rank_set_deinit(&finding->sites[i].ranks);
    free(finding->sites);
    for (size_t i = 0; i < finding->call_count; i++) {
        mpiq_rank_set_deinit(&finding->calls[i].ranks);
        mpiq_rank_set_deinit(&finding->calls[i].awaited);
    }
    free(finding->calls);
    for (size_t i = 0; i < finding->value_count; i++)
        mpiq_rank_set_deinit(&finding->values[i].ranks);
    free(finding->values);
    steps_deinit(finding->steps, finding->step_count);
    free(finding->near_misses);
    for (size_t i = 0; i < finding->evidence_count; i++)
        mpiq_rank_set_deinit(&finding->evidence[i].ranks);
    free(finding->evidence);
}

static void notes_deinit(struct mpiq_note *notes, size_t count)
{
    for (size_t i = 0; i < count; i++)
        mpiq_rank_set_deinit(&notes[i].ranks);
    free(notes);
}

void mpiq_diagnosis_destroy(struct mpiq_diagnosis *diagnosis)
{
    if (!diagnosis)
        return;
    for (size_t i = 0; i < diagnosis->finding_count; i++)
        finding_deinit(&diagnosis->findings[i]);
    free(diagnosis->findings);
    free(diagnosis->ranks);
    mpiq_rank_set_deinit(&diagnosis->stuck);
    mpiq_rank_set_deinit(&diagnosis->because.ranks);
    notes_deinit(diagnosis->assumptions, diagnosis->assumption_count);
    notes_deinit(diagnosis->notes, diagnosis->note_count);
    for (size_t i = 0; i < diagnosis->known_hang_count; i++)
        mpiq_rank_set_deinit(&diagnosis->known_hangs[i].ranks);
    free(diagnosis->known_hangs);
    free(diagnosis->partner);
    mpiq_arena_destroy(diagnosis->arena);
    free(diagnosis);
}

struct mpiq_chain *mpiq_chain_create(void)
{
    struct mpiq_chain *chain = calloc(1, sizeof *chain);
    if (!chain)
        return NULL;
    chain->finding = MPIQ_NONE;
    chain->arena = mpiq_arena_create();
    if (!chain->arena) {
        free(chain);
        return NULL;
    }
    return chain;
}

void mpiq_chain_destroy(struct mpiq_chain *chain)
{
    if (!chain)
        return;
    steps_deinit(chain->steps, chain->step_count);
    mpiq_arena_destroy(chain->arena);
    free(chain);
}

static const char *const verdict_words[] = {
#define WORD(id, word, code) [MPIQ_VERDICT_##id] = (word),
    MPIQ_VERDICTS(WORD)
#undef WORD
};
static const int verdict_codes[] = {
#define CODE(id, word, code) [MPIQ_VERDICT_##id] = (code),
    MPIQ_VERDICTS(CODE)
#undef CODE
};
#define WORD(prefix, id, word) [prefix##id] = (word),
static const char *const finding_words[] = {
#define FINDING(id, word) WORD(MPIQ_FINDING_, id, word)
    MPIQ_FINDING_KINDS(FINDING)};
static const char *const activity_words[] = {
#define ACTIVITY(id, word, letter) WORD(MPIQ_ACTIVITY_, id, word)
    MPIQ_RANK_ACTIVITIES(ACTIVITY)};
static const char activity_letters[] = {
#define LETTER(id, word, letter) WORD(MPIQ_ACTIVITY_, id, letter)
    MPIQ_RANK_ACTIVITIES(LETTER)};

static const char *const part_words[] = {
#define PART(id, word) WORD(MPIQ_PART_, id, word)
    MPIQ_WAIT_PARTS(PART)};

const char *mpiq_wait_part_word(enum mpiq_wait_part_kind kind)
{
    return part_words[kind];
}

const char *mpiq_verdict_word(enum mpiq_verdict verdict)
{
    return verdict_words[verdict];
}

int mpiq_verdict_exit(enum mpiq_verdict verdict)
{
    return verdict_codes[verdict];
}

const char *mpiq_finding_word(enum mpiq_finding_kind kind)
{
    return finding_words[kind];
}

const char *mpiq_rank_activity_word(enum mpiq_rank_activity activity)
{
    return activity_words[activity];
}

char mpiq_rank_activity_letter(enum mpiq_rank_activity activity)
{
    return activity_letters[activity];
}

const char *mpiq_miss_word(uint32_t differs)
{
    switch (differs) {
    case MPIQ_MISS_TAG:
        return "tag";
    case MPIQ_MISS_SOURCE:
        return "source";
    case MPIQ_MISS_DESTINATION:
        return "destination";
    default:
        return "communicator";
    }
}

struct mpiq_finding *mpiq_diagnosis_add_finding(struct mpiq_diagnosis *diagnosis, enum mpiq_finding_kind kind)
{
    struct mpiq_finding *finding = APPEND(diagnosis, findings, finding_count);
    if (finding) {
        finding->kind = kind;
        finding->comm = MPIQ_NONE;
        finding->since = -1;
        finding->operation = MPIQ_NONE;
        finding->other = MPIQ_NONE;
        finding->never_started = MPIQ_NONE;
        finding->made = MPIQ_NONE;
        finding->window = MPIQ_NONE;
        finding->consequence_of = MPIQ_NONE;
        finding->failed = MPIQ_NONE;
        finding->received_before = MPIQ_NONE;
        finding->bytes = -1;
        finding->thread = MPIQ_NONE;
        finding->fact = MPIQ_NONE;
        finding->received_fact = MPIQ_NONE;
        finding->from = MPIQ_NONE;
        finding->to = MPIQ_NONE;
        finding->wait = MPIQ_NONE;
        finding->text = "";
    }
    return finding;
}

void mpiq_diagnosis_drop_finding(struct mpiq_diagnosis *diagnosis)
{
    /* The array's room stays the power of two at or above its count: a later append only needs as much. */
    finding_deinit(&diagnosis->findings[--diagnosis->finding_count]);
}

struct mpiq_finding_site *mpiq_finding_add_site(struct mpiq_finding *finding)
{
    return APPEND(finding, sites, site_count);
}

struct mpiq_finding_call *mpiq_finding_add_call(struct mpiq_finding *finding)
{
    struct mpiq_finding_call *call = APPEND(finding, calls, call_count);
    if (call)
        call->made = call->awaited_in = MPIQ_NONE;
    return call;
}

struct mpiq_finding_value *mpiq_finding_add_value(struct mpiq_finding *finding)
{
    struct mpiq_finding_value *value = APPEND(finding, values, value_count);
    if (value) {
        value->made = MPIQ_NONE;
        value->value = "";
    }
    return value;
}

static struct mpiq_step *step_init(struct mpiq_step *step)
{
    if (step) {
        step->process = MPIQ_NONE;
        step->site = MPIQ_NONE;
        step->since = -1;
    }
    return step;
}

struct mpiq_step *mpiq_finding_add_step(struct mpiq_finding *finding)
{
    return step_init(APPEND(finding, steps, step_count));
}

struct mpiq_step *mpiq_chain_add_step(struct mpiq_chain *chain)
{
    return step_init(APPEND(chain, steps, step_count));
}

struct mpiq_near_miss *mpiq_finding_add_near_miss(struct mpiq_finding *finding)
{
    struct mpiq_near_miss *miss = APPEND(finding, near_misses, near_miss_count);
    if (miss)
        *miss = (struct mpiq_near_miss){.process = MPIQ_NONE, .holder = MPIQ_NONE, .operation = MPIQ_NONE};
    return miss;
}

struct mpiq_evidence *mpiq_finding_add_evidence(struct mpiq_finding *finding)
{
    struct mpiq_evidence *evidence = APPEND(finding, evidence, evidence_count);
    if (evidence) {
        evidence->site = MPIQ_NONE;
        evidence->started = MPIQ_NONE;
        evidence->since = -1;
        evidence->owner = MPIQ_NONE;
        evidence->last_site = MPIQ_NONE;
        evidence->failed = MPIQ_NONE;
        evidence->inside = MPIQ_NONE;
    }
    return evidence;
}

static struct mpiq_note *note_init(struct mpiq_note *note, enum mpiq_note_kind kind)
{
    if (note)
        *note = (struct mpiq_note){.kind = kind, .problem = MPIQ_NONE, .rank = MPIQ_NONE, .text = ""};
    return note;
}

struct mpiq_note *mpiq_diagnosis_add_assumption(struct mpiq_diagnosis *diagnosis, enum mpiq_note_kind kind)
{
    return note_init(APPEND(diagnosis, assumptions, assumption_count), kind);
}

struct mpiq_note *mpiq_diagnosis_add_note(struct mpiq_diagnosis *diagnosis, enum mpiq_note_kind kind)
{
    return note_init(APPEND(diagnosis, notes, note_count), kind);
}

struct mpiq_hang_match *mpiq_diagnosis_add_known_hang(struct mpiq_diagnosis *diagnosis)
{
    return APPEND(diagnosis, known_hangs, known_hang_count);
}

void mpiq_last_call_add(struct mpiq_last_call *all, const struct mpiq_last_call *one)
{
    if (!one->known)
        return;
    if (!all->known) {
        *all = *one;
        return;
    }
    if (!all->call || !one->call || strcmp(all->call, one->call) != 0)
        all->call = NULL;
    all->collective |= one->collective;
    all->ago = one->ago > all->ago ? one->ago : all->ago;
}
