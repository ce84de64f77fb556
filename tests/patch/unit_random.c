/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * unit_random.c - the recording code alone: CALLS random collectives (default 200000) from four threads, each
 * on communicators of its own that it makes and frees all the while, with requests that any thread completes.
 * Every count is exact whenever a communicator goes.  Built with the address sanitizer; the run that counts
 * is `unit_random 10000000`.
 */
#include "ompi/mqs/call_body.h"
#include "ompi/mqs/callback_body.h"
#include "ompi/mqs/request_body.h"
#include "ompi/mqs/wait_body.h"

#include <stdio.h>

#include "counts.h"

#define THREADS 4
#define COMMUNICATORS 8
#define REQUESTS 32

struct communicator {
    struct ompi_mqs_collectives *c_mqs;
    uint32_t due[OMPI_MQS_COLLECTIVE_COUNT];
    uint64_t ordered;
    int under_way; /* requests; written by their completers */
};

struct own_request {
    struct ompi_request_t request;
    struct communicator *comm;
    int state; /* 0 free, 1 under way, 2 being completed */
};

static int failures;
static long calls = 200000;
static struct own_request requests[THREADS][REQUESTS];
static struct communicator comms[THREADS][COMMUNICATORS];

static void check(int good, const char *what, unsigned long found)
{
    if (!good) {
        fprintf(stderr, "not so: %s: found %lu\n", what, found);
        __atomic_add_fetch(&failures, 1, __ATOMIC_RELAXED);
    }
}

static unsigned int next_random(uint64_t *state)
{
    *state = *state * UINT64_C(6364136223846793005) + 1442695040888963407u;
    return (unsigned int)(*state >> 33);
}

static void complete(struct own_request *own)
{
    ompi_request_complete_fn_t callback = own->request.req_complete_cb;

    own->request.req_complete_cb = NULL;
    callback(&own->request);
    check(NULL == own->request.req_mqs, "a record stays with its request", 1);
    __atomic_store_n(&own->request.complete, 1, __ATOMIC_RELEASE);
    __atomic_sub_fetch(&own->comm->under_way, 1, __ATOMIC_ACQ_REL);
    __atomic_store_n(&own->state, 0, __ATOMIC_RELEASE);
}

/* Completes what some thread has under way. */
static void complete_some(uint64_t *state)
{
    struct own_request *own = &requests[next_random(state) % THREADS][next_random(state) % REQUESTS];
    int expected = 1;

    if (__atomic_compare_exchange_n(&own->state, &expected, 2, 0, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED)) {
        complete(own);
    }
}

static void nonblocking(struct communicator *comm, struct own_request *own, int made)
{
    struct ompi_request_t *request;
    {
        OMPI_MQS_ENTER_REQUEST(iallreduce, comm, &request, 1, comm, comm, -1)

        if (made) {
            OMPI_MQS_REQUEST_MADE(&own->request, comm)
        }
        request = &own->request;
    }
    comm->due[OMPI_MQS_iallreduce]++;
    comm->ordered++;
    __atomic_add_fetch(&comm->under_way, 1, __ATOMIC_ACQ_REL);
    __atomic_store_n(&own->state, 1, __ATOMIC_RELEASE);
}

OMPI_MQS_REST(barrier, (struct communicator * comm))
{
    comm->due[OMPI_MQS_barrier]++;
    return 0;
}

static int barrier(struct communicator *comm){OMPI_MQS_ENTER(barrier, comm, 0, NULL, NULL, -1, (comm))}

OMPI_MQS_REST(bcast, (struct communicator * comm))
{
    comm->due[OMPI_MQS_bcast]++;
    return 0;
}

static int bcast(struct communicator *comm){OMPI_MQS_ENTER(bcast, comm, 1, comm, NULL, 0, (comm))}

OMPI_MQS_REST(allreduce, (struct communicator * comm))
{
    comm->due[OMPI_MQS_allreduce]++;
    return 0;
}

static int allreduce(struct communicator *comm)
{
    OMPI_MQS_ENTER(allreduce, comm, 1, comm, comm, -1, (comm))
}

static void blocking(struct communicator *comm, unsigned int which)
{
    switch (which % 4) {
    case 0:
        (void)barrier(comm);
        break;
    case 1:
        (void)bcast(comm);
        break;
    case 2: {
        OMPI_MQS_ENTER_RARE(comm_split, comm, 0, NULL, NULL, -1)
        comm->due[OMPI_MQS_comm_split]++;
        break;
    }
    default: {
        OMPI_MQS_ENTER_RARE(comm_dup, comm, 0, NULL, NULL, -1)
        OMPI_MQS_CALLBACK(void) allreduce(comm);
        comm->due[OMPI_MQS_comm_dup]++;
        comm->ordered++;
        break;
    }
    }
    comm->ordered++;
}

static void end_communicator(struct communicator *comm, uint64_t *state)
{
    while (0 != __atomic_load_n(&comm->under_way, __ATOMIC_ACQUIRE)) {
        complete_some(state);
    }
    for (uint32_t i = 0; i < OMPI_MQS_COLLECTIVE_COUNT; i++) {
        struct ompi_mqs_count count = counts_of(comm->c_mqs, i);

        check(count.calls == comm->due[i], "calls", count.calls);
        check(0 == ompi_mqs_active(count), "active", ompi_mqs_active(count));
    }
    check(comm->ordered == ompi_mqs_ring_calls(comm->c_mqs->position), "ordered",
          ompi_mqs_ring_calls(comm->c_mqs->position));
    check(0 == comm->c_mqs->outstanding, "outstanding", 1);
    ompi_mqs_collectives_destroy(comm->c_mqs);
    memset(comm, 0, sizeof(*comm));
}

static void *work(void *argument)
{
    int mine = (int)(intptr_t)argument;
    uint64_t state = (uint64_t)mine * 7919 + 1;

    for (long i = 0; i < calls / THREADS; i++) {
        struct communicator *comm = &comms[mine][next_random(&state) % COMMUNICATORS];
        struct own_request *own = &requests[mine][next_random(&state) % REQUESTS];
        unsigned int what = next_random(&state) % 64;

        if (NULL == comm->c_mqs) {
            comm->c_mqs = ompi_mqs_collectives_create(comm);
        }
        if (what < 24 && 0 == __atomic_load_n(&own->state, __ATOMIC_ACQUIRE)) {
            memset(own, 0, sizeof(*own));
            own->comm = comm;
            nonblocking(comm, own, (int)(what & 1));
        } else {
            blocking(comm, what);
        }
        complete_some(&state);
        if (0 == what % 32) {
            end_communicator(comm, &state);
        }
        if (0 == i % 1000) {
            (void)ompi_mqs_sweep();
        }
    }
    for (int i = 0; i < COMMUNICATORS; i++) {
        if (NULL != comms[mine][i].c_mqs) {
            end_communicator(&comms[mine][i], &state);
        }
    }
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t threads[THREADS];

    calls = argc > 1 ? atol(argv[1]) : calls;
    for (int i = 0; i < THREADS; i++) {
        pthread_create(&threads[i], NULL, work, (void *)(intptr_t)i);
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
    }
    printf("unit_random: %ld calls, %s\n", calls, failures ? "failed" : "every count exact");
    return 0 != failures;
}
