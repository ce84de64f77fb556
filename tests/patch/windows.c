/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * windows.c - what a window remembers: epochs, groups, locks; the same id on all members; what a thread that
 * is held in a one-sided call waits for.  With 2 ranks; the argument is a file to agree in.
 */
#include "records.h"

#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>

static int rank;

static const struct ompi_mqs_window *window_of(MPI_Win win)
{
    const struct ompi_mqs_window *window;

    for (window = (void *)(uintptr_t)root()->windows; NULL != window && window->window != (uintptr_t)win;
         window = (void *)(uintptr_t)window->next) {
    }
    return window;
}

static const struct ompi_mqs_lock *lock_of(const struct ompi_mqs_window *window, int target)
{
    const struct ompi_mqs_lock *locks = (void *)(uintptr_t)window->locks;

    for (uint32_t i = 0; i < window->lock_count; i++) {
        if (OMPI_MQS_LOCK_NONE != locks[i].type && target == locks[i].target) {
            return &locks[i];
        }
    }
    return NULL;
}

/* Bytes that both ranks see. */
static void *shared_file(const char *path)
{
    int file = open(path, O_RDWR);
    void *bytes = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);

    if (MAP_FAILED == bytes) {
        perror(path);
        exit(2);
    }
    close(file);
    return bytes;
}

static MPI_Win made(MPI_Comm comm, void *base)
{
    uint64_t mine[2], least[2], most[2];
    const struct ompi_mqs_window *window;
    MPI_Win win;

    MPI_Win_allocate(64, 1, MPI_INFO_NULL, comm, base, &win);
    window = window_of(win);
    CHECK(NULL != window, "a window has no record");
    if (NULL == window) {
        exit(1);
    }
    CHECK(OMPI_MQS_win_allocate == window->made_by, "%u", window->made_by);
    CHECK(window->comm == (uintptr_t)comm && window->local_rank == rank, "rank %d", window->local_rank);
    CHECK(0 != window->made_caller && 0 != window->group && 0 != window->group_hash, "is told whole");
    CHECK(OMPI_MQS_ACCESS_NONE == window->access && OMPI_MQS_EXPOSURE_NONE == window->exposure, "epochs");
    memcpy(mine, window->id, sizeof(mine));
    PMPI_Allreduce(mine, least, 2, MPI_UINT64_T, MPI_MIN, comm);
    PMPI_Allreduce(mine, most, 2, MPI_UINT64_T, MPI_MAX, comm);
    CHECK(0 == memcmp(least, most, sizeof(least)), "members have different ids");
    CHECK(0 != mine[0] || 0 != mine[1], "no id");
    return win;
}

static void fences(MPI_Win win)
{
    const struct ompi_mqs_window *window = window_of(win);

    MPI_Win_fence(0, win);
    CHECK(OMPI_MQS_ACCESS_FENCE == window->access && OMPI_MQS_EXPOSURE_FENCE == window->exposure,
          "after a fence");
    MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
    CHECK(OMPI_MQS_ACCESS_NONE == window->access && OMPI_MQS_EXPOSURE_NONE == window->exposure,
          "after the last fence");
}

static void active_target(MPI_Win win)
{
    const struct ompi_mqs_window *window = window_of(win);
    MPI_Group world, other;
    int peer = 1 - rank, flag = 0;

    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_incl(world, 1, &peer, &other);
    MPI_Win_post(other, 0, win);
    CHECK(OMPI_MQS_EXPOSURE_POST == window->exposure && window->exposure_group == (uintptr_t)other, "posted");
    MPI_Win_start(other, 0, win);
    CHECK(OMPI_MQS_ACCESS_START == window->access && window->access_group == (uintptr_t)other, "started");
    MPI_Group_free(&other);
    MPI_Win_complete(win);
    CHECK(OMPI_MQS_ACCESS_NONE == window->access && 0 == window->access_group, "completed");
    if (0 == rank) {
        MPI_Win_wait(win);
    } else {
        while (!flag) {
            CHECK(OMPI_MQS_EXPOSURE_POST == window->exposure, "over before MPI_Win_test says so");
            MPI_Win_test(win, &flag);
        }
    }
    CHECK(OMPI_MQS_EXPOSURE_NONE == window->exposure && 0 == window->exposure_group, "waited for");
    MPI_Group_free(&world);
}

static void locks(MPI_Win win)
{
    const struct ompi_mqs_window *window = window_of(win);
    int i;

    for (i = 0; i < 2; i++) {
        MPI_Win_lock(MPI_LOCK_SHARED, i, 0, win);
    }
    for (i = 0; i < 2; i++) {
        CHECK(NULL != lock_of(window, i) && lock_of(window, i)->held &&
                  OMPI_MQS_LOCK_SHARED == lock_of(window, i)->type,
              "lock on %d", i);
        CHECK(OMPI_MQS_ACCESS_LOCK == window->access, "%u", window->access);
        MPI_Win_unlock(i, win);
        CHECK(NULL == lock_of(window, i), "lock on %d after its end", i);
    }
    MPI_Win_lock_all(0, win);
    CHECK(OMPI_MQS_ACCESS_LOCK_ALL == window->access && NULL != lock_of(window, -1), "lock_all");
    MPI_Win_flush_all(win);
    MPI_Win_unlock_all(win);
    CHECK(OMPI_MQS_ACCESS_NONE == window->access && NULL == lock_of(window, -1), "unlock_all");
}

/* In a thread beside the held call: waits until the main thread is seen in it. */
struct sight {
    uint32_t tid, kind;
    int target, type;
    const struct ompi_mqs_window *window;
    volatile int *held;
};

static void *watch(void *argument)
{
    const struct sight *sight = argument;
    const struct ompi_mqs_thread *thread = thread_of(sight->tid);
    const struct ompi_mqs_wait *wait = &thread->stack[0];
    int i;

    for (i = 0; i < 5000 && !(0 < *(volatile const uint32_t *)&thread->depth && wait->kind == sight->kind &&
                              0 != *(volatile const uint64_t *)&wait->begin_ns);
         i++) {
        usleep(1000);
    }
    CHECK(0 < thread->depth && wait->kind == sight->kind, "kind %u at depth %u, not %u", wait->kind,
          thread->depth, sight->kind);
    CHECK(wait->object == (uintptr_t)sight->window, "another window");
    CHECK(wait->peer == sight->target && wait->tag == sight->type, "target %d, lock %d", wait->peer,
          wait->tag);
    if (OMPI_MQS_WAIT_WIN_LOCK == sight->kind) {
        CHECK(NULL != lock_of(sight->window, sight->target) && !lock_of(sight->window, sight->target)->held,
              "the lock is not wanted");
    }
    *sight->held = 1;
    return NULL;
}

/* Rank 1 is held in a lock that rank 0 holds, then rank 0 in a fence that rank 1 has not entered. */
static void held(MPI_Win win, volatile int *flags)
{
    const struct ompi_mqs_window *window = window_of(win);
    pthread_t thread;

    if (0 == rank) {
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win);
        flags[0] = 1;
        while (!flags[1]) {
            MPI_Win_flush_local_all(win);
            usleep(1000);
        }
        MPI_Win_unlock(0, win);
    } else {
        struct sight sight = {my_tid(), OMPI_MQS_WAIT_WIN_LOCK, 0, OMPI_MQS_LOCK_EXCLUSIVE, window,
                              &flags[1]};

        while (!flags[0]) {
            usleep(1000);
        }
        pthread_create(&thread, NULL, watch, &sight);
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win);
        MPI_Win_unlock(0, win);
        flags[1] = 1; /* a component that does not hold the call */
        pthread_join(thread, NULL);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (0 == rank) {
        struct sight sight = {my_tid(), OMPI_MQS_WAIT_WIN_FENCE, -1, 0, window, &flags[2]};

        pthread_create(&thread, NULL, watch, &sight);
        MPI_Win_fence(0, win);
        pthread_join(thread, NULL);
    } else {
        while (!flags[2]) {
            usleep(1000);
        }
        MPI_Win_fence(0, win);
    }
}

int main(int argc, char **argv)
{
    const struct ompi_mqs_window *window;
    MPI_Comm comm;
    MPI_Win win, again;
    void *base;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    win = made(comm, &base);
    fences(win);
    active_target(win);
    locks(win);
    MPI_Barrier(MPI_COMM_WORLD); /* the other one may still want its lock */
    held(win, (volatile int *)shared_file(argv[1]));
    MPI_Comm_free(&comm);
    window = window_of(win);
    CHECK(0 == window->comm && 0 != window->group, "a window outlives its communicator");
    fences(win);
    MPI_Win_free(&win);
    CHECK(0 == window->window && 0 == window->access_group, "the record of a freed window");
    again = made(MPI_COMM_WORLD, &base);
    CHECK(window == window_of(again), "a free record is used again");
    MPI_Win_free(&again);
    return finish("windows");
}
