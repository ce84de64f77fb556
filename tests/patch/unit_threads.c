/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * unit_threads.c - the recording code alone, driven by many threads at once; built with the thread sanitizer.
 * Every count must be exact at the end.
 */
#include "ompi/mqs/call_body.h"
#include "ompi/mqs/callback_body.h"
#include "ompi/mqs/request_body.h"
#include "ompi/mqs/wait_body.h"

#include <stdio.h>

#include "counts.h"

#define WORKERS 6
#define ROUNDS 4000
#define REQUESTS 64

struct communicator {
    struct ompi_mqs_collectives *c_mqs;
};

static int failures;
static struct communicator comms[WORKERS];

/* Requests on their way to the thread that completes them. */
static struct ompi_request_t *handed[WORKERS][REQUESTS];
static int stop;

static void check(int good, const char *what, unsigned long found)
{
    if (!good) {
        fprintf(stderr, "not so: %s: found %lu\n", what, found);
        failures++;
    }
}

static int own_callback(struct ompi_request_t *request)
{
    __atomic_add_fetch((int *)request->req_complete_cb_data, 1, __ATOMIC_RELAXED);
    return OMPI_SUCCESS;
}

/* As the library completes a request: the callback first, then the mark. */
static void complete(struct ompi_request_t *request)
{
    ompi_request_complete_fn_t callback = request->req_complete_cb;

    if (NULL != callback) {
        request->req_complete_cb = NULL;
        callback(request);
    }
    __atomic_store_n(&request->complete, 1, __ATOMIC_RELEASE);
}

static void *completer(void *argument)
{
    int i, k;

    (void)argument;
    while (!__atomic_load_n(&stop, __ATOMIC_ACQUIRE)) {
        for (i = 0; i < WORKERS; i++) {
            for (k = 0; k < REQUESTS; k++) {
                struct ompi_request_t *request = __atomic_exchange_n(&handed[i][k], NULL, __ATOMIC_ACQ_REL);

                if (NULL != request) {
                    complete(request);
                }
            }
        }
        ompi_mqs_sweep();
    }
    return NULL;
}

OMPI_MQS_REST(bcast, (struct communicator * comm, int count, int root))
{
    OMPI_MQS_WAITING(OMPI_MQS_WAIT_REQUEST, 1, comm, 0, comm, root, count)
    {
        OMPI_MQS_WAITING(OMPI_MQS_WAIT_ALL, 2, comm, 2, NULL, 0, 0)
        /* Inside: counts for nobody. */
        OMPI_MQS_ENTER_RARE(barrier, comm, 0, NULL, NULL, -1)
    }
    return 0;
}

static int hot_call(struct communicator *comm, int count, int root)
{
    OMPI_MQS_ENTER(bcast, comm, count, comm, NULL, root, (comm, count, root))
}

static void rare_call(struct communicator *comm)
{
    OMPI_MQS_ENTER_RARE(comm_dup, comm, 0, NULL, NULL, -1)
}

static void process_call(void)
{
    OMPI_MQS_ENTER_PROCESS(win_fence)
}

/* made: the component says so itself; else the guard takes the request over. */
static void request_call(struct communicator *comm, struct ompi_request_t *given,
                         struct ompi_request_t **request, int made)
{
    OMPI_MQS_ENTER_REQUEST(ibarrier, comm, request, 0, NULL, NULL, -1)

    if (made) {
        OMPI_MQS_REQUEST_MADE(given, comm)
    }
    *request = given;
}

static void failing_call(struct communicator *comm, struct ompi_request_t **request)
{
    OMPI_MQS_ENTER_REQUEST(iscan, comm, request, 0, NULL, NULL, -1)
}

static void hand_over(int mine, struct ompi_request_t *request)
{
    struct ompi_request_t *expected = NULL;
    int k = 0;

    while (!__atomic_compare_exchange_n(&handed[mine][k], &expected, request, 0, __ATOMIC_ACQ_REL,
                                        __ATOMIC_RELAXED)) {
        expected = NULL;
        k = (k + 1) % REQUESTS;
    }
    while (!REQUEST_COMPLETE(request)) {
        sched_yield();
    }
}

static void *worker(void *argument)
{
    int mine = (int)(intptr_t)argument, i, callbacks = 0;
    struct communicator *comm = &comms[mine];
    struct ompi_request_t own, *request;

    for (i = 0; i < ROUNDS; i++) {
        hot_call(comm, i, mine);
        if (0 == i % 4) {
            rare_call(comm);
            process_call();
        }
        if (0 == i % 2) {
            memset(&own, 0, sizeof(own));
            own.req_complete_cb = own_callback;
            own.req_complete_cb_data = &callbacks;
            request_call(comm, &own, &request, i % 4);
            hand_over(mine, request);
        }
        if (0 == i % 16) {
            request = &own;
            failing_call(comm, &request);
            if (request != &own) {
                failures++;
            }
        }
    }
    check(callbacks == ROUNDS / 2, "callbacks", (unsigned long)callbacks);
    return NULL;
}

static void check_communicator(const struct ompi_mqs_collectives *record)
{
    unsigned int i;

    check(ROUNDS == counts_of(record, OMPI_MQS_bcast).calls, "bcasts",
          counts_of(record, OMPI_MQS_bcast).calls);
    check(0 == counts_of(record, OMPI_MQS_barrier).calls, "inner calls",
          counts_of(record, OMPI_MQS_barrier).calls);
    check(ROUNDS / 4 == counts_of(record, OMPI_MQS_comm_dup).calls, "dups",
          counts_of(record, OMPI_MQS_comm_dup).calls);
    check(ROUNDS / 2 == counts_of(record, OMPI_MQS_ibarrier).calls, "ibarriers",
          counts_of(record, OMPI_MQS_ibarrier).calls);
    for (i = 0; i < OMPI_MQS_COLLECTIVE_COUNT; i++) {
        check(0 == ompi_mqs_active(counts_of(record, i)), "active", ompi_mqs_active(counts_of(record, i)));
    }
    check(0 == record->outstanding, "outstanding", record->outstanding);
    check(ROUNDS + ROUNDS / 4 + ROUNDS / 2 + ROUNDS / 16 == ompi_mqs_ring_calls(record->position), "ordered",
          ompi_mqs_ring_calls(record->position));
}

static void check_end(void)
{
    const struct ompi_mqs_thread *thread;
    unsigned long live = 0;
    int i;

    for (i = 0; i < WORKERS; i++) {
        check_communicator(comms[i].c_mqs);
        ompi_mqs_collectives_destroy(comms[i].c_mqs);
    }
    check(WORKERS * ROUNDS / 4 == counts_of(&ompi_mqs_process.record, OMPI_MQS_win_fence).calls, "fences",
          counts_of(&ompi_mqs_process.record, OMPI_MQS_win_fence).calls);
    check(0 == ompi_mqs_active(counts_of(&ompi_mqs_process.record, OMPI_MQS_win_fence)), "active fences",
          ompi_mqs_active(counts_of(&ompi_mqs_process.record, OMPI_MQS_win_fence)));
    for (thread = (void *)(uintptr_t)ompi_mqs_root.threads; NULL != thread;
         thread = (void *)(uintptr_t)thread->next) {
        live += 0 != thread->tid;
        check(0 == thread->depth, "depth", thread->depth);
    }
    check(0 == live, "threads with records", live);
}

/* What a reader computes from the members (7, 0) and (7, 1). */
static void check_hash(void)
{
    uint64_t hash = ompi_mqs_hash_member(ompi_mqs_hash_member(OMPI_MQS_HASH_START, 7, 0), 7, 1);

    check(UINT64_C(0x581b8773f2583d74) == hash, "hash", hash);
}

int main(void)
{
    pthread_t workers[WORKERS], other;
    int i;

    check_hash();

    for (i = 0; i < WORKERS; i++) {
        comms[i].c_mqs = ompi_mqs_collectives_create(&comms[i]);
    }
    pthread_create(&other, NULL, completer, NULL);
    for (i = 0; i < WORKERS; i++) {
        pthread_create(&workers[i], NULL, worker, (void *)(intptr_t)i);
    }
    for (i = 0; i < WORKERS; i++) {
        pthread_join(workers[i], NULL);
    }
    __atomic_store_n(&stop, 1, __ATOMIC_RELEASE);
    pthread_join(other, NULL);
    check_end();
    printf("unit_threads: %s\n", failures ? "failed" : "every count exact");
    return 0 != failures;
}
