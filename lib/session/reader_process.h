/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * reader_process - our side of one mpiq-reader, the process that opens and parses whatever the ranks of one
 * owner control (docs/WIRE.md, "The reader's side").
 *
 * It leaves to others: which rank is read when, and what to do about a reader that fails (reader_tasks.c).
 */
#ifndef MPIQ_SESSION_READER_PROCESS_H
#define MPIQ_SESSION_READER_PROCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"
#include "rank/rank.h"
#include "session/source.h"
#include "state/rank_state.h"
#include "process/pipe.h"

/* As whom a source's reader runs.  become false: as we do. */
struct mpiq_owner {
    bool become;
    bool keep_trace; /* the system would not let the owner look (Yama, a user namespace): as root we keep that
                        right */
    uid_t user;
    gid_t group;
};

/* Whose process or core file it is: never root for somebody else's. */
struct mpiq_owner mpiq_owner_of(const struct mpiq_look_source *source);
bool mpiq_owner_equal(const struct mpiq_owner *a, const struct mpiq_owner *b);

struct mpiq_reader_process {
    pid_t pid; /* 0: none runs */
    int socket;
    struct mpiq_pipe pipe;
};

struct mpiq_reader_start {
    struct mpiq_owner owner;
    const char *dll; /* as the user asked; NULL: ours */
    size_t threads;  /* requests that it takes at a time */
    size_t sources;  /* numbers that it takes */
    bool trace;      /* one that reads OTF2 archives */
};

/* The thread that calls this is the one whose end ends the reader. */
struct mpiq_error *mpiq_reader_process_start(const struct mpiq_reader_start *start,
                                             struct mpiq_reader_process *ret);
/* Asks it to end, waits a moment, and kills it if it has not: what it held runs on. */
void mpiq_reader_process_end(struct mpiq_reader_process *process);
/* Kills it at once; its helpers end with it, and what it held runs on. */
void mpiq_reader_process_kill(struct mpiq_reader_process *process);

/* Asks for a look at a source; question, one line of JSON, is asked instead if not NULL.  GONE if the reader
   has ended. */
struct mpiq_error *mpiq_reader_process_request(struct mpiq_reader_process *process, uint64_t number,
                                               const struct mpiq_look_source *source, size_t index, int look,
                                               bool stop, enum mpiq_stacks stacks, const char *question);

/* Asks for all lines of the snapshot at path: each line is a separate answer, and a final answer without a
   line follows. */
struct mpiq_error *mpiq_reader_process_request_snapshot(struct mpiq_reader_process *process, uint64_t number,
                                                        const char *path);
/* Asks a reader of traces about the archive whose anchor file is path: `what` is "report", of the time at_ns
   after its start (-1: its end), or "late". */
struct mpiq_error *mpiq_reader_process_request_trace(struct mpiq_reader_process *process, uint64_t number,
                                                     const char *what, int64_t at_ns, const char *path);
/* The same of a snapshot in memory. */
struct mpiq_error *mpiq_reader_process_request_bytes(struct mpiq_reader_process *process, uint64_t number,
                                                     const char *bytes, size_t size);

/* What a reader says of one request. */
struct mpiq_reader_answer {
    uint64_t number;
    bool line;                /* text is one of a snapshot's: for mpiq_state_lines_take */
    int crash;                /* the signal; 0: none */
    struct mpiq_error *error; /* of that rank alone */
    const char *text;         /* JSON, or that line; valid until the next call; NULL with an error */
};

/* The next answer that has come already, without waiting; *ret says whether there is one.  An error: the
   reader has ended or says what it must not, and is of no more use. */
struct mpiq_error *mpiq_reader_process_next(struct mpiq_reader_process *process,
                                            struct mpiq_reader_answer *answer, bool *ret);

#endif
