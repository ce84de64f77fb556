/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * reading - one process that is read through a message-queue DLL, for a look or for a question about it.
 *
 * The DLL is not trusted: every list it returns is bounded, every number checked, and whatever it does
 * affects only this process.
 */
#ifndef MPIQ_HELPER_READING_H
#define MPIQ_HELPER_READING_H

#include <stdbool.h>

#include "mqs_extensions.h"
#include "rank/groups.h"
#include "state/rank_state.h"
#include "process/target.h"

/* Bounds on what a DLL may list for one process. */
enum {
    MPIQ_COMMUNICATORS_MAX = 1 << 16,
    MPIQ_OPERATIONS_MAX = 1 << 18, /* of all queues and waits together */
    MPIQ_MEMBERS_MAX = (int)MPIQ_GROUP_MAX,
    MPIQ_COUNTS_MAX = 1024,      /* classes of collectives */
    MPIQ_CALLS_MAX = 1 << 16,    /* of one list of calls */
    MPIQ_CHANNELS_MAX = 1 << 20, /* of one communicator */
    MPIQ_WAITS_MAX = 1 << 18,    /* of all threads */
    MPIQ_WINDOWS_MAX = 1 << 16,
    MPIQ_FACTS_MAX = 1 << 16,
    MPIQ_PROBLEMS_MAX = 32
};

/* A DLL's entry points; those that the interface requires are there, of the others NULL says it is not. */
struct mpiq_dll {
    char *path;
    void *handle;
    const char *version;
    mqs_extensions extensions; /* slots that the DLL does not have are NULL */
    bool has_extensions;
#define MPIQ_DLL_REQUIRED(X)                                                  \
    X(void, mqs_setup_basic_callbacks, (const mqs_basic_callbacks *))         \
    X(char *, mqs_version_string, (void))                                     \
    X(int, mqs_version_compatibility, (void))                                 \
    X(int, mqs_dll_taddr_width, (void))                                       \
    X(char *, mqs_dll_error_string, (int))                                    \
    X(int, mqs_setup_image, (mqs_image *, const mqs_image_callbacks *))       \
    X(int, mqs_image_has_queues, (mqs_image *, char **))                      \
    X(void, mqs_destroy_image_info, (mqs_image_info *))                       \
    X(int, mqs_setup_process, (mqs_process *, const mqs_process_callbacks *)) \
    X(void, mqs_destroy_process_info, (mqs_process_info *))                   \
    X(int, mqs_process_has_queues, (mqs_process *, char **))                  \
    X(int, mqs_update_communicator_list, (mqs_process *))                     \
    X(int, mqs_setup_communicator_iterator, (mqs_process *))                  \
    X(int, mqs_get_communicator, (mqs_process *, mqs_communicator *))         \
    X(int, mqs_next_communicator, (mqs_process *))                            \
    X(int, mqs_setup_operation_iterator, (mqs_process *, int))                \
    X(int, mqs_next_operation, (mqs_process *, mqs_pending_operation *))
#define MPIQ_DLL_OPTIONAL(X)                                            \
    X(int, mqs_get_comm_group, (mqs_process *, int *))                  \
    X(int, mqs_get_comm_coll_state, (mqs_process *, int, int *, int *)) \
    X(const mqs_extensions *, mqs_get_extensions, (void))
#define MPIQ_DLL_SLOT(type, name, arguments) type(*name) arguments;
    MPIQ_DLL_REQUIRED(MPIQ_DLL_SLOT)
    MPIQ_DLL_OPTIONAL(MPIQ_DLL_SLOT)
#undef MPIQ_DLL_SLOT
};

/* The debugger's side of the interface: one image and one process a reading. */
struct mqs_image_ {
    mqs_image_info *info;
    struct mpiq_reading *reading;
};

struct mqs_process_ {
    mqs_process_info *info;
    struct mqs_image_ *image;
};

struct mpiq_reading {
    struct mpiq_dll *dll;
    struct mpiq_target *target;
    struct mpiq_target_sizes sizes;
    struct mpiq_rank_state *state;
    struct mqs_image_ image;
    struct mqs_process_ process;
    struct mpiq_error *trouble;      /* the last thing a callback could not do, until somebody reports it */
    struct mpiq_group_table *groups; /* those that this helper has sent: their members are not sent again */
    size_t operations;               /* so far */
    bool internal;
};

/* What the DLL is doing, for the sentence if it crashes: static text after "while". */
extern const char *volatile mpiq_reading_phase;

/* dll.c: loads the DLL from an open descriptor, checks version and address width, finds its entry points.
   name is for messages. */
struct mpiq_error *mpiq_dll_open(int descriptor, const char *name, struct mpiq_dll *dll);
/* Our class of one of the DLL's collectives; -1. */
int16_t mpiq_dll_class(const struct mpiq_dll *dll, int collective);

/* Puts the name of the DLL's class of collectives into ret; leaves it as it is where there is none. */
void mpiq_dll_copy_class(const struct mpiq_dll *dll, int collective, char *ret, size_t size);

/* callbacks.c: the three tables, for mqs_ functions. */
extern const mqs_basic_callbacks mpiq_basic_callbacks;
extern const mqs_image_callbacks mpiq_image_callbacks;
extern const mqs_process_callbacks mpiq_process_callbacks;
/* The types given out since the last call are of no more use. */
void mpiq_callbacks_forget_types(void);

/* reading.c: all of the process, for a look.  The state has what could be read, and says what could not. */
struct mpiq_error *mpiq_read_state(struct mpiq_reading *reading);
/* problem.c: what went wrong, and the texts of a DLL. */
/* "PATH: DOING: what the DLL says to code, and what it stumbled over" as a problem of the state. */
void mpiq_reading_problem(struct mpiq_reading *reading, const char *what, int code, const char *doing);
/* A DLL's text in a field of ours: terminated. */
#define MPIQ_COPY(to, from) mpiq_copy_text(to, sizeof(to), from, sizeof(from))
void mpiq_copy_text(char *to, size_t to_size, const char *from, size_t from_size);
/* Interned; "" and what is not terminated within size give NULL and the part. */
const char *mpiq_reading_intern(struct mpiq_reading *reading, const char *text, size_t size);
/* The last read that failed is not what went wrong. */
void mpiq_reading_forget_trouble(struct mpiq_reading *reading);
/* Ends what the DLL keeps of the image, and what was remembered for it; the helper is at rest again. */
void mpiq_reading_forget_image(struct mpiq_reading *reading);

/* communicators.c */
void mpiq_read_communicators(struct mpiq_reading *reading);
void mpiq_read_process_calls(struct mpiq_reading *reading);

/* operations.c: the queues of the current communicator, which is the last of the state; what the threads
   wait for. */
void mpiq_read_queues(struct mpiq_reading *reading);
/* The kind of an operation in a rank's state, of the interface's (mqs_operation_kind). */
uint8_t mpiq_dll_operation_kind(int kind);
bool mpiq_dll_knows_kind(int kind);
/* Before the waits, which name them. */
void mpiq_read_windows(struct mpiq_reading *reading);
void mpiq_read_waits(struct mpiq_reading *reading);
/* How the job is checked; of a process that is paused at its end, what it was seen to do. */
void mpiq_read_facts(struct mpiq_reading *reading);
/* The threads' last calls, where the DLL keeps them, and when the last one ended.  After the communicators.
 */
void mpiq_read_history(struct mpiq_reading *reading);

#endif
