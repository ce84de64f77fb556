/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * rank - reads one process: its MPI library's state through a message-queue DLL, and its stacks.
 *
 * The DLL is untrusted.  It runs in a helper process (mpiq-dll-host) that sees the target over the wire; one
 * helper serves many ranks, one after another.  If the DLL crashes, loops, exhausts memory or lies, that
 * rank gets a sentence that says so, and a new helper is started for the next.  Several threads may each use
 * their own host in parallel.  Only one thread at a time may use a host, and its helper ends with the thread
 * that made it read.
 *
 * It leaves to others: what the states of several ranks mean together (lib/job), which ranks there are
 * (lib/session).
 */
#ifndef MPIQ_RANK_H
#define MPIQ_RANK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "state/rank_state.h"
#include "process/target.h"

struct mpiq_dll_host;

/* A DLL that somebody has opened for us. */
struct mpiq_opened_dll {
    const char *path; /* for messages; NULL: there is none */
    int descriptor;
    bool asked; /* the user asked for it: it is used for every rank; else it is ours, for Open MPI */
};

struct mpiq_dll_host_options {
    struct mpiq_opened_dll opened;   /* stays the caller's, and outlives the host */
    struct mpiq_opened_dll recorder; /* likewise, for processes under the recorder */
    bool no_recorder;                /* read what the MPI library itself says, recorder or not */
    bool no_search;                  /* do not look for our DLL: what is opened is all there is */
    const char *dll;                 /* path of the DLL for every rank; NULL: chosen for each (choose.h) */
    /* Seconds of processor time the DLL may spend on one rank (0 means 10).  After a rank for which it took
       too long, the next ones get less. */
    double seconds;
    /* The same by the clock on the wall, which goes on while it waits for a processor or for our answers; 0:
       ten times as many. */
    double wall_seconds;
    uint64_t memory;  /* bytes of address space the helper may have; 0: 2 GiB */
    bool all_members; /* every group of every state has its members; false: as struct mpiq_group says */
    bool no_internal; /* leave out the traffic of collectives */
};

/* options may be NULL.  Nothing is started before the first read. */
struct mpiq_error *mpiq_dll_host_create(const struct mpiq_dll_host_options *options,
                                        struct mpiq_dll_host **ret);
/* Ends the helper.  NULL is fine. */
void mpiq_dll_host_destroy(struct mpiq_dll_host *host);

/* A new look begins: members of groups are given again with the first state that has them. */
void mpiq_dll_host_begin_look(struct mpiq_dll_host *host);

/*
 * What the MPI library of target says about itself, through the DLL, and what the system says about the
 * process; no stacks.  A thread 0 holds the waits whose thread the library does not name; the stacks show
 * it.  What could not be read is among the state's problems.  An error means that there is no state at all:
 * no DLL for this process (NOT_FOUND), the DLL crashed, took too long, was refused.  The host is as good as
 * before in all cases.
 */
struct mpiq_error *mpiq_dll_host_read(struct mpiq_dll_host *host, struct mpiq_target *target,
                                      struct mpiq_rank_state **ret);

/*
 * A question about one process whose answer is in no rank state, either because it is not needed for all
 * ranks (what a handle stands for) or because it is payload: docs/WIRE.md, "Questions".  Question and answer
 * are JSON; the caller frees *ret.
 */
struct mpiq_error *mpiq_dll_host_ask(struct mpiq_dll_host *host, struct mpiq_target *target,
                                     const char *question, char **ret);

/* What is known without a DLL: who it is, from its environment (PMIX_RANK, PMIX_NAMESPACE,
   OMPI_COMM_WORLD_RANK, OMPI_COMM_WORLD_SIZE; MPICH's PMI_RANK, PMI_SIZE), and how it is doing. */
struct mpiq_error *mpiq_rank_read_bare(struct mpiq_target *target, struct mpiq_rank_state **ret);

/* The number that the library gives a job of that namespace (struct mpiq_name): for processes that cannot be
   asked any more.  The same as for those that can. */
uint32_t mpiq_rank_job_of(const char *nspace);

/* Which stacks of a rank are read, as a request says it. */
enum mpiq_stacks { MPIQ_STACKS_NONE, MPIQ_STACKS_NEEDED, MPIQ_STACKS_ALL };

struct mpiq_stack_options {
    bool all_threads; /* false: where the library keeps records of threads, those alone and the first */
    /* An earlier look at the same process, or NULL: a thread that is in the same wait (the same episode)
       stands where it stood, and is not stopped again. */
    const struct mpiq_rank_state *before;
};

/* All of it: the DLL's view, or the bare one with the reason among the problems; then, with these options if
   not NULL, the threads and their stacks (frames, the MPI call among them, the user's frame), merged by tid
   with the waits, and the places of calls.  What fails becomes a problem of the state; an error only without
   memory. */
struct mpiq_error *mpiq_rank_read(struct mpiq_dll_host *host, struct mpiq_target *target,
                                  const struct mpiq_stack_options *stacks, struct mpiq_rank_state **ret);

/* The MPI function that a symbol is called after, as the standard spells it: "MPI_Recv" of PMPI_Recv,
   mpi_recv_, MPI_RECV, ompi_recv_f, mpi_recv_f08_.  False if there is no such function: a user's own
   mpi_exchange(). */
bool mpiq_mpi_function(const char *symbol, char *ret, size_t size);
/* Whether it is one of C's: MPI_Recv, PMPI_Recv.  mpi_recv_ and MPI_RECV are Fortran's, and take references.
 */
bool mpiq_is_c_call(const char *function);

/* Whether frame number index of a stack, innermost first, is an MPI function: its name is one of MPI's and
   its object an MPI library, or the name is C's, whatever the object (a tool that wraps MPI, the program,
   into which a library was linked).  Its name goes to ret. */
bool mpiq_mpi_frame(const struct mpiq_rank_state *state, const struct mpiq_frame *frames, size_t index,
                    char *ret, size_t size);

/* The name of a user's function as its source spells it: without the mangling of gfortran
   and C++.  buffer may be used for
   it; NULL stays NULL. */
const char *mpiq_user_name(const char *function, char *buffer, size_t size);

#endif
