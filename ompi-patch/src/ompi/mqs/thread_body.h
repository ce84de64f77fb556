/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * thread_body.h - the root, the threads' records, and the lock of what is rare.
 */
#ifndef OMPI_MQS_THREAD_BODY_H
#define OMPI_MQS_THREAD_BODY_H

#include "ompi/mqs/callback.h"
#include "ompi/mqs/thread.h"

#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* series: calls */
/*
 * A communicator's record and what only the library needs of it.  Never unmapped, so that whoever still holds
 * its address may take its lock, and sees by the generation whether it is the record that he knew.
 */
struct ompi_mqs_own_collectives {
    struct ompi_mqs_collectives record;
    char lock;
    uint32_t generation;                        /* lives that the record has had; under the lock */
    struct ompi_mqs_own_collectives *next_free;
};

/* Calls without a communicator of their own: init, finalize, windows, files. */
static struct ompi_mqs_call ompi_mqs_process_ring[OMPI_MQS_RING];
static struct ompi_mqs_own_collectives ompi_mqs_process = {
    .record = {
        .size = sizeof(struct ompi_mqs_collectives),
        .classes = OMPI_MQS_HOT,
    },
};

/* series: end */
struct ompi_mqs_root ompi_mqs_root = {
    .magic = {'O', 'M', 'P', 'I', '-', 'M', 'Q', 'S'},
    .byte_order = OMPI_MQS_BYTE_ORDER,
    .version_major = OMPI_MQS_VERSION_MAJOR,
    .version_minor = OMPI_MQS_VERSION_MINOR,
    .size = sizeof(struct ompi_mqs_root),
    .pointer_size = sizeof(void *),
/* series: calls */
    .recording = 1,
/* series: end */
    .phase = OMPI_MQS_PHASE_LOADED,
};

/* series: calls */
/* See ompi_mqs_self in thread.h.  Never written. */
static struct ompi_mqs_thread ompi_mqs_nobody;

__thread uint64_t ompi_mqs_inside __attribute__((tls_model("initial-exec"))) = 1;

__thread struct ompi_mqs_thread *ompi_mqs_self
    __attribute__((tls_model("initial-exec"))) = &ompi_mqs_nobody;

/* A thread's record and what only the library needs of it. */
struct ompi_mqs_own_thread {
    struct ompi_mqs_thread record;
    struct ompi_mqs_making making;              /* the non-blocking call whose request is being made */
    struct ompi_mqs_pending *free;              /* the thread's own */
    struct ompi_mqs_pending *returned;          /* by other threads; a stack that its owner takes whole */
/* series: waits */
    struct ompi_mqs_window *new_window;         /* that has no id yet */
/* series: end */
    uintptr_t outer_frames[OMPI_MQS_OUTER_DEPTH]; /* of record.outer: a call below the stack pointer is dead */
/* series: waits */
    uint64_t seen[OMPI_MQS_WAIT_DEPTH];         /* episodes that the last sweep found */
/* series: end */
};

static struct ompi_mqs_own_thread *ompi_mqs_own(struct ompi_mqs_thread *self)
{
    return (struct ompi_mqs_own_thread *) self;
}

/* series: end */
/* Spin locks: held for a few stores, never around a call into the library. */
static void ompi_mqs_lock_word(char *word)
{
    while (__atomic_test_and_set(word, __ATOMIC_ACQUIRE)) {
        sched_yield();
    }
}

static void ompi_mqs_unlock_word(char *word)
{
    __atomic_clear(word, __ATOMIC_RELEASE);
}

/* The lists: threads, windows, tables, free records. */
static char ompi_mqs_lists_lock;

static void ompi_mqs_lock(void)
{
    ompi_mqs_lock_word(&ompi_mqs_lists_lock);
}

static void ompi_mqs_unlock(void)
{
    ompi_mqs_unlock_word(&ompi_mqs_lists_lock);
}

/* series: calls */
static struct ompi_mqs_own_collectives *ompi_mqs_home(struct ompi_mqs_collectives *record)
{
    return (struct ompi_mqs_own_collectives *) record;
}

/* series: end */
static uint64_t ompi_mqs_clock(void)
{
    struct timespec now;

    clock_gettime(CLOCK_REALTIME, &now);
    return (uint64_t) now.tv_sec * 1000000000u + (uint64_t) now.tv_nsec;
}

static void ompi_mqs_take_moment(struct ompi_mqs_moment *moment)
{
    ompi_mqs_stamp_cycles(&moment->cycles);
    moment->ns = ompi_mqs_clock();
}

/* series: waits */
uint64_t ompi_mqs_now(void)
{
    struct ompi_mqs_moment moment;

    ompi_mqs_take_moment(&moment);
    ompi_mqs_lock();
    ompi_mqs_root.last = moment;
    ompi_mqs_unlock();
    return moment.ns;
}

/* series: end */
/* series: calls */
static pthread_once_t ompi_mqs_threads_once = PTHREAD_ONCE_INIT;
static pthread_key_t ompi_mqs_threads_key;
static int ompi_mqs_threads_have_key;

/* The thread is in no collective call; the next one may be one that does not say its class here. */
static void ompi_mqs_thread_outside(struct ompi_mqs_thread *self)
{
    ompi_mqs_store(&ompi_mqs_inside, 0);
    OMPI_MQS_ORDER();
    self->collective = OMPI_MQS_COLLECTIVE_NEWEST;
    self->comm = 0;
}

/* comm is kept where the record does not say it. */
static void ompi_mqs_thread_inside(struct ompi_mqs_thread *self, uint32_t collective,
                                   struct ompi_mqs_collectives *home, const void *comm)
{
    self->collective = collective;
    self->comm = ompi_mqs_address(comm);
    OMPI_MQS_ORDER();
    ompi_mqs_store(&ompi_mqs_inside, ompi_mqs_address(home));
    OMPI_MQS_ORDER();
}

/* At a thread's end its record becomes free; the thread may still call MPI out of a later destructor. */
static void ompi_mqs_thread_leave(void *record)
{
    struct ompi_mqs_thread *self = record;

    ompi_mqs_self = &ompi_mqs_nobody;
    ompi_mqs_lock();
    __atomic_store_n(&self->depth, 0, __ATOMIC_RELAXED);
    ompi_mqs_thread_outside(self);
    ompi_mqs_store(&ompi_mqs_inside, 1);
    self->inside = 0;
    self->outer_depth = 0;
    memset(&ompi_mqs_own(self)->making, 0, sizeof(struct ompi_mqs_making));
    self->tid = 0;
    ompi_mqs_unlock();
}

static void ompi_mqs_threads_start(void)
{
    ompi_mqs_threads_have_key = 0 == pthread_key_create(&ompi_mqs_threads_key, ompi_mqs_thread_leave);
}

/* series: end */
/* Before fork: the child inherits no lock that another thread held, but those of communicators, which it may
   not use. */
static void ompi_mqs_before_fork(void)
{
    ompi_mqs_lock();
}

/* A child of fork has one thread, with an id of its own, and nobody else's records are alive in it. */
static void ompi_mqs_after_fork(void)
{
/* series: calls */
    struct ompi_mqs_thread *self;

/* series: end */
    ompi_mqs_unlock();
    ompi_mqs_root.pid = (uint32_t) getpid();
/* series: calls */
    for (self = (struct ompi_mqs_thread *) (uintptr_t) ompi_mqs_root.threads; NULL != self;
         self = (struct ompi_mqs_thread *) (uintptr_t) self->next) {
        self->tid = self == ompi_mqs_self ? (uint32_t) syscall(SYS_gettid) : 0;
        self->inside = self == ompi_mqs_self ? self->inside : 0;
    }
/* series: end */
}

/* series: calls */
struct ompi_mqs_thread *ompi_mqs_thread_join(void)
{
    uint32_t tid;
    struct ompi_mqs_thread *self;
    struct ompi_mqs_own_thread *made = NULL;

    if (0 == ompi_mqs_root.recording) {
        return NULL;
    }
    tid = (uint32_t) syscall(SYS_gettid);
    pthread_once(&ompi_mqs_threads_once, ompi_mqs_threads_start);
    ompi_mqs_lock();
    for (self = (struct ompi_mqs_thread *) (uintptr_t) ompi_mqs_root.threads; NULL != self && 0 != self->tid;
         self = (struct ompi_mqs_thread *) (uintptr_t) self->next) {
    }
    if (NULL != self) {
        self->inside = ompi_mqs_address(&ompi_mqs_inside);
        self->tid = tid;
    }
    ompi_mqs_unlock();
    if (NULL == self) {
        made = calloc(1, sizeof(*made));
        if (NULL == made) {
            return NULL;
        }
        self = &made->record;
        self->size = sizeof(made->record);
        self->collective = OMPI_MQS_COLLECTIVE_NEWEST;
        self->inside = ompi_mqs_address(&ompi_mqs_inside);
        self->tid = tid;
        ompi_mqs_lock();
        self->next = ompi_mqs_root.threads;
        __atomic_store_n(&ompi_mqs_root.threads, ompi_mqs_address(self), __ATOMIC_RELEASE);
        ompi_mqs_unlock();
    }
    if (ompi_mqs_threads_have_key) {
        pthread_setspecific(ompi_mqs_threads_key, self);
    }
    ompi_mqs_store(&ompi_mqs_inside, 0);
    ompi_mqs_self = self;
    return self;
}

/* series: end */
/* As early as anything can be: a core of a process that died on its way into MPI_Init is readable. */
static void __attribute__((constructor)) ompi_mqs_loaded(void)
{
/* series: calls */
    ompi_mqs_process.record.ring = ompi_mqs_address(ompi_mqs_process_ring);
    ompi_mqs_root.process = ompi_mqs_address(&ompi_mqs_process.record);
/* series: end */
    ompi_mqs_root.pid = (uint32_t) getpid();
    ompi_mqs_take_moment(&ompi_mqs_root.first);
    ompi_mqs_root.last = ompi_mqs_root.first;
    pthread_atfork(ompi_mqs_before_fork, ompi_mqs_unlock, ompi_mqs_after_fork);
}

#endif
