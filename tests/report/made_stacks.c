/* SPDX-License-Identifier: BSD-3-Clause */
#include "made_stacks.h"

#include <stdio.h>
#include <string.h>

#include "made_parts.h"
#include "merge/merge.h"

#define SOLVER "/home/user/bin/solver"
#define LIBMPI "/usr/lib/libmpi.so.40"
#define PYTHON "/usr/bin/python3.11"

/* A frame, innermost first in a list that ends with one of owner UNKNOWN. */
struct made_frame {
    const char *function, *file, *object;
    int line;
    uint8_t owner;
    bool mpi;     /* it is the MPI call */
    bool written; /* in a file that an interpreter runs: no address */
};

static const struct made_frame start[] = {
    {"__libc_start_main", NULL, "/usr/lib/libc.so.6", 0, MPIQ_OWNER_SYSTEM, 0, 0},
    {"_start", NULL, SOLVER, 0, MPIQ_OWNER_PROGRAM, 0, 0},
    {0}};
static const struct made_frame in_receive[] = {
    {"opal_progress", NULL, LIBMPI, 0, MPIQ_OWNER_MPI, 0, 0},
    {"MPI_Recv", NULL, LIBMPI, 0, MPIQ_OWNER_MPI, true, 0},
    {"exchange", "/home/user/solver.c", SOLVER, 12, MPIQ_OWNER_PROGRAM, 0, 0},
    {"main", "/home/user/solver.c", SOLVER, 40, MPIQ_OWNER_PROGRAM, 0, 0},
    {0}};
/* Ranks that wait poll now here, now there. */
static const struct made_frame in_barrier[][5] = {
    {{"poll", NULL, "/usr/lib/libc.so.6", 0, MPIQ_OWNER_SYSTEM, 0, 0},
     {"opal_progress", NULL, LIBMPI, 0, MPIQ_OWNER_MPI, 0, 0},
     {"MPI_Barrier", NULL, LIBMPI, 0, MPIQ_OWNER_MPI, true, 0},
     {"main", "/home/user/solver.c", SOLVER, 40, MPIQ_OWNER_PROGRAM, 0, 0},
     {0}},
    {{"opal_progress", NULL, LIBMPI, 0, MPIQ_OWNER_MPI, 0, 0},
     {"MPI_Barrier", NULL, LIBMPI, 0, MPIQ_OWNER_MPI, true, 0},
     {"main", "/home/user/solver.c", SOLVER, 40, MPIQ_OWNER_PROGRAM, 0, 0},
     {0}},
    {{"sched_yield", NULL, "/usr/lib/libc.so.6", 0, MPIQ_OWNER_SYSTEM, 0, 0},
     {"opal_progress", NULL, LIBMPI, 0, MPIQ_OWNER_MPI, 0, 0},
     {"MPI_Barrier", NULL, LIBMPI, 0, MPIQ_OWNER_MPI, true, 0},
     {"main", "/home/user/solver.c", SOLVER, 40, MPIQ_OWNER_PROGRAM, 0, 0},
     {0}}};
static const struct made_frame in_recursion[] = {
    {"write", NULL, "/usr/lib/libc.so.6", 0, MPIQ_OWNER_SYSTEM, 0, 0},
    {"tree<\033[31m>::save", "/home/user/tree.cpp", SOLVER, 7, MPIQ_OWNER_PROGRAM, 0, 0},
    {"tree<\033[31m>::save", "/home/user/tree.cpp", SOLVER, 7, MPIQ_OWNER_PROGRAM, 0, 0},
    {"tree<\033[31m>::save", "/home/user/tree.cpp", SOLVER, 7, MPIQ_OWNER_PROGRAM, 0, 0},
    {"main", "/home/user/solver.c", SOLVER, 40, MPIQ_OWNER_PROGRAM, 0, 0},
    {0}};
static const struct made_frame in_python[] = {
    {"MPI_Recv", NULL, LIBMPI, 0, MPIQ_OWNER_MPI, true, 0},
    {"receive", "/home/user/app.py", "/home/user/app.py", 6, MPIQ_OWNER_USER, 0, true},
    {"<module>", "/home/user/app.py", "/home/user/app.py", 9, MPIQ_OWNER_USER, 0, true},
    {NULL, NULL, "/usr/lib/python3/dist-packages/mpi4py/MPI.so", 0, MPIQ_OWNER_USER, 0, 0},
    {"_PyEval_EvalFrameDefault", NULL, PYTHON, 0, MPIQ_OWNER_PROGRAM, 0, 0},
    {"Py_BytesMain", NULL, PYTHON, 0, MPIQ_OWNER_PROGRAM, 0, 0},
    {0}};
static const struct made_frame in_worker[] = {
    {"pthread_mutex_lock", NULL, "/usr/lib/libc.so.6", 0, MPIQ_OWNER_SYSTEM, 0, 0},
    {"work", "/home/user/solver.c", SOLVER, 80, MPIQ_OWNER_PROGRAM, 0, 0},
    {"start_thread", NULL, "/usr/lib/libc.so.6", 0, MPIQ_OWNER_SYSTEM, 0, 0},
    {0}};

static void add_frames(struct mpiq_rank_state *state, struct mpiq_thread *thread,
                       const struct made_frame *frames)
{
    for (const struct made_frame *from = frames; from->owner != MPIQ_OWNER_UNKNOWN; from++) {
        struct mpiq_frame *frame = must(mpiq_thread_add_frame(thread));
        frame->pc = from->written ? 0 : 0x1000 + thread->frame_count;
        frame->function = mpiq_rank_state_intern(state, from->function);
        frame->file = mpiq_rank_state_intern(state, from->file);
        frame->object = mpiq_rank_state_intern(state, from->object);
        frame->line = from->line;
        frame->owner = from->owner;
        if (from->mpi)
            thread->mpi_frame = (int32_t)thread->frame_count - 1;
    }
}

static void add_stack(struct mpiq_rank_state *state, int tid, const struct made_frame *frames)
{
    struct mpiq_thread *thread = must(mpiq_rank_state_add_thread(state));
    thread->tid = tid;
    thread->state = 'R';
    add_frames(state, thread, frames);
    add_frames(state, thread, start);
}

struct made_job made_stacks(bool all_threads, struct mpiq_stack_tree **ret)
{
    enum { SIZE = 10 };
    struct mpiq_job_state *job = must(mpiq_job_state_create());
    struct mpiq_stack_tree *tree = must(mpiq_stack_tree_create());
    for (uint32_t rank = SIZE; rank-- > 0;) { /* in whatever order */
        struct mpiq_rank_state *state = new_rank(WORLD_JOB, rank, SIZE);
        if (rank == 1)
            add_stack(state, state->pid, in_receive);
        else if (rank == 2)
            add_stack(state, state->pid, in_recursion);
        else if (rank == 3)
            add_stack(state, state->pid, in_python);
        else if (rank == 4)
            state->gone = true;
        else if (rank != 5) /* of which nothing was read */
            add_stack(state, state->pid, in_barrier[rank % 3]);
        if (rank == 1 || rank == 2)
            add_stack(state, state->pid + 500, in_worker);
        must_be(mpiq_stack_tree_add(tree, 0, rank, state, all_threads));
        add_rank(job, state);
    }
    must_be(mpiq_stack_tree_finish(tree));
    *ret = tree;
    struct made_job made = finished(job, MPIQ_VERDICT_DEADLOCK);
    made.diagnosis->text = "none of the 10 ranks can continue";
    return made;
}
