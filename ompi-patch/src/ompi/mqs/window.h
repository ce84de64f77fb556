/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * window.h - one-sided communication: which epochs a window has, and what its calls wait for.
 *
 * One line in each synchronising MPI function, behind the parameter checks: the thread waits for the rest of
 * it, and at its end the epochs are what the call made of them, if it succeeded.
 */
#ifndef OMPI_MQS_WINDOW_H
#define OMPI_MQS_WINDOW_H

#include "ompi/mqs/wait.h"

#if OMPI_MQS

struct ompi_win_t;
struct ompi_communicator_t;
struct ompi_group_t;

enum ompi_mqs_epoch {
    OMPI_MQS_EPOCH_FENCE,       /* that opens the next one */
    OMPI_MQS_EPOCH_LAST_FENCE,  /* MPI_MODE_NOSUCCEED */
    OMPI_MQS_EPOCH_POST,
    OMPI_MQS_EPOCH_WAIT,
    OMPI_MQS_EPOCH_START,
    OMPI_MQS_EPOCH_COMPLETE,
    OMPI_MQS_EPOCH_LOCK,
    OMPI_MQS_EPOCH_LOCK_ALL,
    OMPI_MQS_EPOCH_UNLOCK,
    OMPI_MQS_EPOCH_UNLOCK_ALL
};

/* A call under way. */
struct ompi_mqs_epoch_guard {
    struct ompi_mqs_window *record;     /* NULL: nothing to do at the end */
    enum ompi_mqs_epoch epoch;
    int target;
    struct ompi_group_t *group;
    const int *result;                  /* what the call returns */
    const int *flag;                    /* of MPI_Win_test; else NULL */
};

/* The window is being made on comm, by the collective call that the thread is in; it has its group. */
OMPI_DECLSPEC void ompi_mqs_window_made(struct ompi_win_t *win, struct ompi_communicator_t *comm);
OMPI_DECLSPEC void ompi_mqs_window_gone(struct ompi_win_t *win);

OMPI_DECLSPEC struct ompi_mqs_epoch_guard
ompi_mqs_epoch_begin(struct ompi_mqs_window *record, enum ompi_mqs_epoch epoch, int target, int lock_type,
                     struct ompi_group_t *group, const int *result, const int *flag);
OMPI_DECLSPEC void ompi_mqs_epoch_end(struct ompi_mqs_epoch_guard *guard);

#define OMPI_MQS_EPOCH_(win, epoch, target, lock_type, group, result, flag)                             \
    struct ompi_mqs_epoch_guard mqs_epoch __attribute__((cleanup(ompi_mqs_epoch_end), unused)) =       \
        ompi_mqs_epoch_begin((win)->w_mqs, (epoch), (target), (lock_type), (group), &(result), (flag));

#define OMPI_MQS_LOCK_OF(lock_type) \
    (MPI_LOCK_EXCLUSIVE == (lock_type) ? OMPI_MQS_LOCK_EXCLUSIVE : OMPI_MQS_LOCK_SHARED)

#define OMPI_MQS_FENCE(win, assertion, result)                                                           \
    OMPI_MQS_EPOCH_(win, 0 != ((assertion) & MPI_MODE_NOSUCCEED) ? OMPI_MQS_EPOCH_LAST_FENCE           \
                                                                 : OMPI_MQS_EPOCH_FENCE,               \
                    -1, 0, NULL, result, NULL)                                                          \
    OMPI_MQS_WAITING_WINDOW(OMPI_MQS_WAIT_WIN_FENCE, win, -1, 0)
#define OMPI_MQS_POST(win, group, result) \
    OMPI_MQS_EPOCH_(win, OMPI_MQS_EPOCH_POST, -1, 0, group, result, NULL)
#define OMPI_MQS_WIN_WAIT(win, result)                                       \
    OMPI_MQS_EPOCH_(win, OMPI_MQS_EPOCH_WAIT, -1, 0, NULL, result, NULL)     \
    OMPI_MQS_WAITING_WINDOW(OMPI_MQS_WAIT_WIN_WAIT, win, -1, 0)
#define OMPI_MQS_WIN_TEST(win, result, flag) \
    OMPI_MQS_EPOCH_(win, OMPI_MQS_EPOCH_WAIT, -1, 0, NULL, result, flag)
#define OMPI_MQS_WIN_START(win, group, result)                               \
    OMPI_MQS_EPOCH_(win, OMPI_MQS_EPOCH_START, -1, 0, group, result, NULL)   \
    OMPI_MQS_WAITING_WINDOW(OMPI_MQS_WAIT_WIN_START, win, -1, 0)
#define OMPI_MQS_WIN_COMPLETE(win, result)                                   \
    OMPI_MQS_EPOCH_(win, OMPI_MQS_EPOCH_COMPLETE, -1, 0, NULL, result, NULL) \
    OMPI_MQS_WAITING_WINDOW(OMPI_MQS_WAIT_WIN_COMPLETE, win, -1, 0)
#define OMPI_MQS_WIN_LOCK(win, target, lock_type, result)                                               \
    OMPI_MQS_EPOCH_(win, OMPI_MQS_EPOCH_LOCK, target, OMPI_MQS_LOCK_OF(lock_type), NULL, result, NULL) \
    OMPI_MQS_WAITING_WINDOW(OMPI_MQS_WAIT_WIN_LOCK, win, target, OMPI_MQS_LOCK_OF(lock_type))
#define OMPI_MQS_WIN_LOCK_ALL(win, result)                                                              \
    OMPI_MQS_EPOCH_(win, OMPI_MQS_EPOCH_LOCK_ALL, -1, OMPI_MQS_LOCK_SHARED, NULL, result, NULL)         \
    OMPI_MQS_WAITING_WINDOW(OMPI_MQS_WAIT_WIN_LOCK, win, -1, OMPI_MQS_LOCK_SHARED)
#define OMPI_MQS_WIN_UNLOCK(win, target, result)                                \
    OMPI_MQS_EPOCH_(win, OMPI_MQS_EPOCH_UNLOCK, target, 0, NULL, result, NULL)  \
    OMPI_MQS_WAITING_WINDOW(OMPI_MQS_WAIT_WIN_UNLOCK, win, target, 0)
#define OMPI_MQS_WIN_UNLOCK_ALL(win, result)                                    \
    OMPI_MQS_EPOCH_(win, OMPI_MQS_EPOCH_UNLOCK_ALL, -1, 0, NULL, result, NULL)  \
    OMPI_MQS_WAITING_WINDOW(OMPI_MQS_WAIT_WIN_UNLOCK, win, -1, 0)
#define OMPI_MQS_WIN_FLUSH(win, target) OMPI_MQS_WAITING_WINDOW(OMPI_MQS_WAIT_WIN_FLUSH, win, target, 0)
#define OMPI_MQS_WIN_FREE(win) OMPI_MQS_WAITING_WINDOW(OMPI_MQS_WAIT_WIN_FREE, win, -1, 0)

/* The communicator a window was made on, NULL once that is gone. */
#define OMPI_MQS_COMM_OF_WINDOW(win) \
    ((void *) (uintptr_t) (NULL != (win)->w_mqs ? (win)->w_mqs->comm : 0))

#else

#define OMPI_MQS_FENCE(win, assertion, result)
#define OMPI_MQS_POST(win, group, result)
#define OMPI_MQS_WIN_WAIT(win, result)
#define OMPI_MQS_WIN_TEST(win, result, flag)
#define OMPI_MQS_WIN_START(win, group, result)
#define OMPI_MQS_WIN_COMPLETE(win, result)
#define OMPI_MQS_WIN_LOCK(win, target, lock_type, result)
#define OMPI_MQS_WIN_LOCK_ALL(win, result)
#define OMPI_MQS_WIN_UNLOCK(win, target, result)
#define OMPI_MQS_WIN_UNLOCK_ALL(win, result)
#define OMPI_MQS_WIN_FLUSH(win, target)
#define OMPI_MQS_WIN_FREE(win)

#endif /* OMPI_MQS */
#endif
