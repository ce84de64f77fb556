/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * builder - what a job state needs only while ranks are added.
 *
 * Until mpiq_job_state_finish the columns are provisional: `comm` of an operation or a wait is an index in
 * members (of the rank's own view), worlds and communicators are numbered in order of discovery, and groups
 * hold names.
 */
#ifndef MPIQ_MERGE_BUILDER_PRIVATE_H
#define MPIQ_MERGE_BUILDER_PRIVATE_H

#include <string.h>

#include "base/array.h"
#include "base/hash_table.h"
#include "state/budget.h"
#include "state/job_state.h"

/* Hashes of what a look saw of a rank, part by part: equal hashes are equal parts. */
struct mpiq_look_marks {
    uint64_t waits;
    uint64_t queues;
    uint64_t calls;
    uint64_t channels;
    uint64_t state;
    uint64_t stacks;
    uint64_t rest; /* what may change without meaning anything: stamps, names, problems */
};

/* What the next look at a thread is compared with. */
struct mpiq_thread_marks {
    uint64_t wait;  /* 0: it holds none */
    uint64_t stack; /* of its frames */
    uint8_t sleep;  /* enum mpiq_sleep, as this look saw it */
};

/* The rows of one rank state before they take the place of its first look's; the memory is kept for the next
   one. */
struct mpiq_new_rows {
    struct mpiq_job_thread *threads;
    struct mpiq_thread_marks *thread_marks;
    struct mpiq_job_member *members;
    uint32_t *member_groups;
    struct mpiq_job_channel *channels;
    uint32_t thread_capacity, thread_mark_capacity, member_capacity, member_group_capacity, channel_capacity;
};

/* A world and a rank in it, both provisional, as one number; MPIQ_NO_NAME: nobody. */
#define MPIQ_NO_NAME UINT64_MAX

/* A string of a rank state, and where the job keeps it.  Most rank states are like the one before, in memory
   too: what is from an earlier one is compared before it is believed. */
struct mpiq_string_cache {
    const char *string;
    mpiq_string_id id;
    uint32_t state; /* running number of the rank state */
};

enum { MPIQ_STRING_CACHE = 64 };

struct mpiq_job_builder {
    struct mpiq_hash_table strings;
    struct mpiq_hash_table sites;
    struct mpiq_hash_table paths;
    struct mpiq_hash_table shapes;
    struct mpiq_hash_table groups;
    struct mpiq_hash_table communicators;
    struct mpiq_hash_table ranks;
    struct mpiq_hash_table worlds;  /* by job */
    struct mpiq_hash_table handles; /* of one rank state: its communicators */
    struct mpiq_hash_table windows;
    struct mpiq_string_cache cache[MPIQ_STRING_CACHE];
    uint32_t state_number;     /* of the rank state that is being added */
    uint32_t recent_sites[32]; /* by function: the one asked for last, plus one */
    uint32_t recent_shape;     /* the one asked for last, plus one */
    uint32_t recent_rank;      /* the row found last, plus one */
    uint32_t ranks_indexed;    /* rows that are in the table `ranks` */

    uint64_t *names;                        /* of each rank: world and rank */
    struct mpiq_look_marks *marks;          /* of each rank: its last look's */
    struct mpiq_thread_marks *thread_marks; /* of each thread: its last look's */
    int64_t *rank_io;                       /* of each rank: bytes read and written so far; -1 */
    uint64_t *rank_children;                /* of each rank: its children's processor time */
    uint32_t *member_groups;                /* of each member: its own group */
    uint32_t *parents;                      /* of each communicator: the one it serves; MPIQ_NONE */
    uint64_t **group_names;                 /* of each group: count names; NULL not told */
    struct mpiq_new_rows new_rows;

    struct mpiq_budget budget; /* of all states added */

    struct mpiq_tag_count *tags; /* of the channels that are counted */
    uint32_t tag_count, tag_capacity;

    uint32_t world_capacity;
    uint32_t rank_capacity, name_capacity, marks_capacity;
    uint32_t thread_capacity, thread_mark_capacity;
    uint32_t rank_io_capacity, rank_children_capacity;
    uint32_t window_capacity, window_view_capacity, window_lock_capacity, window_rank_capacity;
    uint32_t wait_capacity;
    uint32_t given_capacity;
    uint32_t operation_capacity, operation_more_capacity;
    uint32_t group_capacity, group_name_capacity;
    uint32_t communicator_capacity, parent_capacity;
    uint32_t member_capacity, member_group_capacity;
    uint32_t count_capacity;
    uint32_t call_capacity, call_source_capacity, persistent_capacity;
    uint32_t shape_capacity;
    uint32_t channel_capacity;
    uint32_t site_capacity, path_capacity;
    uint32_t problem_capacity;
    uint32_t fact_capacity;
    uint32_t past_call_capacity;
    uint32_t string_capacity;
};

void mpiq_job_builder_destroy(struct mpiq_job_builder *builder, uint32_t group_count);

/* The error for a state of a rank, or of a process that is none, which is there already. */
struct mpiq_error *mpiq_job_refuse_double(const struct mpiq_job_state *job, const struct mpiq_job_rank *rank,
                                          const struct mpiq_rank_state *state);

/* Room for `more` elements after `count` in an array; false on allocation failure or where indexes end. */
#define MPIQ_RESERVE(array, count, capacity, more) \
    mpiq_array_reserve(&(array), &(capacity), (size_t)(count) + (more))

/* Interned: false without memory.  NULL and "" are 0. */
bool mpiq_job_intern(struct mpiq_job_state *job, const char *string, mpiq_string_id *ret);
/* As mpiq_job_intern, quicker where the string is `likely` (0: no guess): the one of another rank, say. */
static inline bool mpiq_job_intern_likely(struct mpiq_job_state *job, const char *string,
                                          mpiq_string_id likely, mpiq_string_id *ret)
{
    *ret = string && *string ? likely : 0;
    return !string || !*string || (likely && strcmp(job->strings[likely], string) == 0) ||
           mpiq_job_intern(job, string, ret);
}
/* As mpiq_job_intern for a pointer that stays the same for one rank state. */
static inline bool mpiq_job_intern_cached(struct mpiq_job_state *job, const char *string, mpiq_string_id *ret)
{
    struct mpiq_job_builder *builder = job->builder;
    /* Short strings that were allocated one after another are 32 bytes apart. */
    struct mpiq_string_cache *entry = &builder->cache[(uintptr_t)string / 16 % MPIQ_STRING_CACHE];
    if (!string || entry->string != string || entry->state != builder->state_number) {
        if (!mpiq_job_intern_likely(job, string, entry->id, ret))
            return false;
        *entry = (struct mpiq_string_cache){.string = string, .id = *ret, .state = builder->state_number};
    }
    *ret = entry->id;
    return true;
}
bool mpiq_job_intern_site(struct mpiq_job_state *job, const struct mpiq_frame *frame, uint32_t *ret);
/* The same of a frame of a thread, with the user's line that led there. */
bool mpiq_job_intern_call_site(struct mpiq_job_state *job, const struct mpiq_rank_state *state,
                               const struct mpiq_thread *thread, size_t index, uint32_t *ret);
/* The user's own lines of a thread's stack from that frame outwards; MPIQ_NONE if there is none. */
bool mpiq_job_intern_path(struct mpiq_job_state *job, const struct mpiq_rank_state *state,
                          const struct mpiq_thread *thread, size_t index, uint32_t *ret);
/* MPIQ_NONE for a place of which nothing is known. */
static inline bool mpiq_job_intern_place(struct mpiq_job_state *job, const struct mpiq_place *place,
                                         uint32_t *ret)
{
    *ret = MPIQ_NONE;
    if (!place->function && !place->file)
        return true;
    struct mpiq_frame frame = {.function = place->function, .file = place->file, .line = place->line};
    return mpiq_job_intern_site(job, &frame, ret);
}
bool mpiq_job_intern_shape(struct mpiq_job_state *job, const struct mpiq_call *call, uint32_t *ret);
/* World and rank of a name; MPIQ_NO_NAME where the name is nobody's. */
bool mpiq_job_intern_name(struct mpiq_job_state *job, struct mpiq_name name, uint64_t *ret);
bool mpiq_job_intern_group(struct mpiq_job_state *job, const struct mpiq_group *group, uint32_t *ret);
bool mpiq_job_intern_communicator(struct mpiq_job_state *job, const struct mpiq_communicator *comm,
                                  uint32_t local, uint32_t remote, uint32_t *ret);

/* job_window.c: the windows of one rank state; row: in ranks, first_member: of the state's communicators.
   And the final order of all.  False on allocation failure. */
bool mpiq_job_add_windows(struct mpiq_job_state *job, const struct mpiq_rank_state *state, uint32_t row,
                          uint32_t first_member, struct mpiq_job_rank *rank);
bool mpiq_job_finish_windows(struct mpiq_job_state *job, const uint32_t *comm_map,
                             const uint32_t *member_map);

/* job_fact.c: what a rank that is paused at its end was seen to do.  False on allocation failure. */
bool mpiq_job_add_facts(struct mpiq_job_state *job, const struct mpiq_rank_state *state, uint32_t row,
                        struct mpiq_job_rank *rank);

/* job_history.c: the past calls of one rank state, in place of those of its first look; first_member: of the
   state's communicators.  And their final indexes.  False on allocation failure. */
bool mpiq_job_add_history(struct mpiq_job_state *job, const struct mpiq_rank_state *state,
                          uint32_t first_member, struct mpiq_job_rank *rank);
void mpiq_job_finish_history(struct mpiq_job_state *job, const uint32_t *member_map);

/* job_counts.c: where libraries' queues are not read, the unexpected messages that the counts of both sides
   tell.  False on allocation failure. */
bool mpiq_job_add_unexpected(struct mpiq_job_state *job);

/* What a look saw of a rank, part by part. */
void mpiq_look_marks(const struct mpiq_rank_state *state, struct mpiq_look_marks *ret);
/* A hash of a thread's frames. */
uint64_t mpiq_stack_mark(const struct mpiq_thread *thread);
/* The mark of the wait a thread is in, 0 if it is in none: by its record, else by its stack. */
uint64_t mpiq_wait_mark(const struct mpiq_thread *thread);
/* Whether a wait seen on the stack alone can be told from the next one like it. */
bool mpiq_can_tell_waits(const struct mpiq_rank_state *state);

#endif
