/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * unit_calls.c - the recording code alone: calls that end in unusual ways.  A communicator that goes away
 * under a call, callbacks that call MPI or never return, requests whose start fails, that are given back,
 * that complete before anybody could be told.  Built with the address sanitizer, and once more with
 * OMPI_MQS_TEMPLATES, as the lines have it whose MPI functions are templates.
 */
#include "ompi/mqs/call_body.h"
#include "ompi/mqs/callback_body.h"
#include "ompi/mqs/request_body.h"
#include "ompi/mqs/wait_body.h"

#include <setjmp.h>
#include <stdio.h>

#include "counts.h"

struct communicator {
    struct ompi_mqs_collectives *c_mqs;
};

static int failures;
static struct communicator comm;

#define CHECK(condition)                                                            \
    do {                                                                            \
        if (!(condition)) {                                                         \
            fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition); \
            failures++;                                                             \
        }                                                                           \
    } while (0)

static uint32_t calls_of(uint32_t collective)
{
    return counts_of(comm.c_mqs, collective).calls;
}

static uint32_t active_of(uint32_t collective)
{
    return ompi_mqs_active(counts_of(comm.c_mqs, collective));
}

static void begin(void)
{
    comm.c_mqs = ompi_mqs_collectives_create(&comm);
}

static void end(void)
{
    CHECK(0 == ompi_mqs_inside);
    CHECK(0 == ompi_mqs_self->depth);
    CHECK(0 == comm.c_mqs->outstanding);
    for (uint32_t i = 0; i < OMPI_MQS_COLLECTIVE_COUNT; i++) {
        CHECK(0 == active_of(i));
    }
    ompi_mqs_collectives_destroy(comm.c_mqs);
    comm.c_mqs = NULL;
}

#if OMPI_MQS_TEMPLATES
static int mpi_barrier(void)
{
    OMPI_MQS_ENTER(barrier, &comm, 0, NULL, NULL, -1)

    return 7;
}
#else
OMPI_MQS_REST(barrier, (void))
{
    return 7;
}

static int mpi_barrier(void)
{
    OMPI_MQS_ENTER(barrier, &comm, 0, NULL, NULL, -1, ())
}
#endif

static void barrier(void)
{
    CHECK(7 == mpi_barrier());
}

/* ---- when the last call ended, and who made it */

static const struct ompi_mqs_call *newest(void)
{
    const struct ompi_mqs_call *ring = ompi_mqs_pointer(comm.c_mqs->ring);

    return &ring[(ompi_mqs_ring_calls(comm.c_mqs->position) - 1) % OMPI_MQS_RING];
}

static void __attribute__((noinline)) duplicate(void)
{
    OMPI_MQS_ENTER_RARE(comm_dup, &comm, 0, NULL, NULL, -1)
}

static void test_end_time(void)
{
    uint64_t after_barrier;

    begin();
    CHECK(0 == comm.c_mqs->end_cycles);
    barrier();
    after_barrier = comm.c_mqs->end_cycles;
    CHECK(after_barrier >= newest()->begin_cycles);
    duplicate();
    CHECK(comm.c_mqs->end_cycles >= newest()->begin_cycles && newest()->begin_cycles >= after_barrier);
#if defined(__x86_64__)
    CHECK(0 != after_barrier);
#endif
    end();
}

#if OMPI_MQS_TEMPLATES
static void large_allreduce(int64_t count)
{
    OMPI_MQS_ENTER(allreduce, &comm, count, &comm, &comm, -1)
}

/* A count of MPI_Count's, and a communicator that is not recorded. */
static void test_templates(void)
{
    struct ompi_mqs_collectives *record;

    begin();
    large_allreduce((int64_t)5 << 40);
    CHECK((uint64_t)5 << 40 == newest()->count && OMPI_MQS_allreduce == newest()->collective);
    large_allreduce(3);
    CHECK(3 == newest()->count);
    CHECK(2 == calls_of(OMPI_MQS_allreduce) && 0 == active_of(OMPI_MQS_allreduce));
    record = comm.c_mqs;
    comm.c_mqs = NULL;
    large_allreduce(4);
    comm.c_mqs = record;
    CHECK(2 == calls_of(OMPI_MQS_allreduce));
    end();
}
#endif

/* Where no other function is near behind it. */
#define ELSEWHERE __attribute__((noinline, section("elsewhere")))

static ELSEWHERE void duplicate_f(void)
{
    OMPI_MQS_BINDING_OF(duplicate_f)
    duplicate();
    __asm__ volatile(""); /* no tail call */
}

static ELSEWHERE void duplicate_twice_f(void)
{
    OMPI_MQS_BINDING_OF(duplicate_twice_f)
    duplicate_f();
    __asm__ volatile("");
}

static int is_in(ompi_mqs_addr_t address, void (*function)(void))
{
    return address - (uintptr_t)function < 4096;
}

static void test_caller_of_a_binding(void)
{
    begin();
    duplicate_f();
    CHECK(is_in(newest()->caller, test_caller_of_a_binding) && !is_in(newest()->caller, duplicate_f));
    duplicate_twice_f();
    CHECK(is_in(newest()->caller, test_caller_of_a_binding) && !is_in(newest()->caller, duplicate_twice_f));
    duplicate();
    CHECK(is_in(newest()->caller, test_caller_of_a_binding));
    end();
}

/* ---- a communicator goes away while another thread is at the end of its call */

static int stage;

static void *in_comm_free(void *argument)
{
    struct communicator *mine = argument;
    OMPI_MQS_ENTER_RARE(comm_free, mine, 0, NULL, NULL, -1)

    __atomic_store_n(&stage, 1, __ATOMIC_RELEASE);
    while (2 != __atomic_load_n(&stage, __ATOMIC_ACQUIRE)) {
        sched_yield();
    }
    return NULL;
}

static void test_gone_under_a_call(void)
{
    struct communicator first, second;
    pthread_t thread;

    first.c_mqs = ompi_mqs_collectives_create(&first);
    pthread_create(&thread, NULL, in_comm_free, &first);
    while (1 != __atomic_load_n(&stage, __ATOMIC_ACQUIRE)) {
        sched_yield();
    }
    CHECK(1 == ompi_mqs_active(counts_of(first.c_mqs, OMPI_MQS_comm_free)));
    ompi_mqs_collectives_destroy(first.c_mqs);
    second.c_mqs = ompi_mqs_collectives_create(&second);
    CHECK(first.c_mqs == second.c_mqs); /* the memory serves again, and must not be counted in */
    __atomic_store_n(&stage, 2, __ATOMIC_RELEASE);
    pthread_join(thread, NULL);
    for (uint32_t i = 0; i < OMPI_MQS_COLLECTIVE_COUNT; i++) {
        CHECK(0 == counts_of(second.c_mqs, i).calls && 0 == counts_of(second.c_mqs, i).ended);
    }
    CHECK(0 == second.c_mqs->ring && 0 == second.c_mqs->more_counts);
    ompi_mqs_collectives_destroy(second.c_mqs);
}

/* ---- callbacks */

static jmp_buf out;

static void __attribute__((noinline)) error_handler(int leaves)
{
    OMPI_MQS_ERROR_HANDLER

    CHECK(0 == ompi_mqs_inside);
    CHECK(0 == active_of(OMPI_MQS_bcast) && 0 == active_of(OMPI_MQS_comm_dup) &&
          0 == active_of(OMPI_MQS_ibarrier));
    barrier();
    if (leaves) {
        longjmp(out, 1);
    }
}

static int while_in_bcast(int leaves)
{
    OMPI_MQS_WAITING_IN(OMPI_MQS_WAIT_RMA, NULL, NULL)

    error_handler(leaves);
    CHECK(comm.c_mqs == ompi_mqs_pointer(ompi_mqs_inside));
    CHECK(1 == active_of(OMPI_MQS_bcast));
    return 0;
}

#if OMPI_MQS_TEMPLATES
static int __attribute__((noinline)) failing_bcast(int leaves)
{
    OMPI_MQS_ENTER(bcast, &comm, 1, NULL, NULL, 0)

    return while_in_bcast(leaves);
}
#else
OMPI_MQS_REST(bcast, (int leaves))
{
    return while_in_bcast(leaves);
}

static int __attribute__((noinline)) failing_bcast(int leaves)
{
    OMPI_MQS_ENTER(bcast, &comm, 1, NULL, NULL, 0, (leaves))
}
#endif

static void __attribute__((noinline)) failing_dup(int leaves)
{
    OMPI_MQS_ENTER_RARE(comm_dup, &comm, 0, NULL, NULL, -1)

    error_handler(leaves);
}

static void __attribute__((noinline))
failing_ibarrier(struct ompi_request_t **request, struct ompi_request_t *made, int leaves)
{
    OMPI_MQS_ENTER_REQUEST(ibarrier, &comm, request, 0, NULL, NULL, -1)

    if (NULL != made) {
        OMPI_MQS_REQUEST_MADE(made, &comm)
    }
    error_handler(leaves);
}

static void test_error_handlers(void)
{
    struct ompi_request_t made = {0}, before = {0}, *request = &before;

    begin();
    for (int leaves = 0; leaves < 2; leaves++) {
        /* More often than records nest: what is left behind does not pile up. */
        for (int i = 0; i < 20; i++) {
            if (0 == setjmp(out)) {
                failing_bcast(leaves);
            }
            if (0 == setjmp(out)) {
                failing_dup(leaves);
            }
            if (0 == setjmp(out)) {
                failing_ibarrier(&request, i % 2 ? &made : NULL, leaves);
            }
            CHECK(request == &before);
            CHECK(NULL == made.req_mqs && NULL == made.req_complete_cb);
            barrier();
            {
                /* The next wait throws away those of the calls that never ended. */
                OMPI_MQS_WAITING(OMPI_MQS_WAIT_REQUEST, 1, NULL, 0, NULL, 0, 0)
                CHECK(1 == ompi_mqs_self->depth && 0 == ompi_mqs_self->outer_depth);
            }
        }
    }
    CHECK(160 == calls_of(OMPI_MQS_barrier));
    CHECK(40 == calls_of(OMPI_MQS_bcast) && 40 == calls_of(OMPI_MQS_comm_dup) &&
          40 == calls_of(OMPI_MQS_ibarrier));
    end();
}

static void __attribute__((noinline)) attribute_callback(int nested)
{
    OMPI_MQS_CALLBACK
    OMPI_MQS_ENTER_RARE(comm_split, &comm, 0, NULL, NULL, -1)

    CHECK(OMPI_MQS_comm_split == ompi_mqs_self->collective);
    if (0 < nested) {
        attribute_callback(nested - 1);
    }
}

static void test_callbacks_nest(void)
{
    begin();
    {
        OMPI_MQS_ENTER_RARE(comm_free, &comm, 0, NULL, NULL, -1)
        OMPI_MQS_WAITING_IN(OMPI_MQS_WAIT_RMA, NULL, NULL)

        attribute_callback(7); /* deeper than what is kept */
        CHECK(8 == calls_of(OMPI_MQS_comm_split) && 0 == active_of(OMPI_MQS_comm_split));
        CHECK(1 == active_of(OMPI_MQS_comm_free));
        CHECK(OMPI_MQS_comm_free == ompi_mqs_self->collective && 1 == ompi_mqs_self->depth);
        barrier(); /* the library's own: not counted */
    }
    CHECK(0 == calls_of(OMPI_MQS_barrier));
    end();
}

/* ---- requests */

static void complete(struct ompi_request_t *request)
{
    ompi_request_complete_fn_t callback = request->req_complete_cb;

    if (NULL != callback) {
        request->req_complete_cb = NULL;
        callback(request);
    }
    request->complete = 1;
}

static struct ompi_request_t null_request = {.complete = 1};

static int plain_free(struct ompi_request_t **request)
{
    *request = &null_request;
    return OMPI_SUCCESS;
}

static void ibarrier(struct ompi_request_t **request, struct ompi_request_t *made,
                     struct ompi_request_t *given)
{
    OMPI_MQS_ENTER_REQUEST(ibarrier, &comm, request, 0, NULL, NULL, -1)

    if (NULL != made) {
        OMPI_MQS_REQUEST_MADE(made, &comm)
    }
    *request = given;
}

static void test_given_back(void)
{
    struct ompi_request_t made = {0}, *request = NULL;

    begin();
    ibarrier(&request, &made, &null_request); /* as libnbc does when its start fails */
    CHECK(NULL == made.req_mqs && NULL == made.req_complete_cb);
    CHECK(0 == comm.c_mqs->outstanding && 0 == active_of(OMPI_MQS_ibarrier));
    /* The object serves again: the call that has it now is the one that ends. */
    ibarrier(&request, &made, &made);
    CHECK(1 == active_of(OMPI_MQS_ibarrier));
    complete(&made);
    end();
}

static void test_part_of_another(void)
{
    struct ompi_request_t part = {0}, whole = {.req_free = plain_free}, *request = NULL;

    begin();
    ibarrier(&request, &part, &whole);
    CHECK(NULL == part.req_mqs && NULL != whole.req_mqs);
    complete(&part);
    CHECK(1 == active_of(OMPI_MQS_ibarrier));
    complete(&whole);
    CHECK(plain_free == whole.req_free);
    end();
}

/* Another thread completes the request between the component's return and the guard's end: it has read the
   request's callback, none, before the guard set its own, and marks the request after the guard looked. */
static void test_late(void)
{
    struct ompi_request_t late = {.req_free = plain_free}, *request = NULL;

    begin();
    ibarrier(&request, NULL, &late);
    late.complete = 1;
    CHECK(1 == active_of(OMPI_MQS_ibarrier));
    CHECK(OMPI_SUCCESS == request->req_free(&request)); /* what MPI_Wait does in the end */
    CHECK(&null_request == request && plain_free == late.req_free && NULL == late.req_mqs);
    end();
}

static void persistent(struct ompi_request_t **request, struct ompi_request_t *given)
{
    OMPI_MQS_ENTER_INIT(barrier_init, &comm, request, 0, NULL, NULL, -1)

    *request = given;
}

static int fail_at;

static int start(size_t count, struct ompi_request_t **requests)
{
    for (size_t i = 0; i < count; i++) {
        requests[i]->req_state = OMPI_REQUEST_ACTIVE;
        requests[i]->complete = 0;
        if ((int)i == fail_at) {
            return OMPI_ERROR;
        }
    }
    return OMPI_SUCCESS;
}

static void start_all(size_t count, struct ompi_request_t **requests)
{
    for (size_t i = 0; i < count; i++) {
        OMPI_MQS_REQUEST_STARTING(requests[i])
    }
    OMPI_MQS_REQUESTS_START(start, count, requests)
}

static void test_starts(void)
{
    struct ompi_request_t object[4], *request[4];

    begin();
    for (int i = 0; i < 4; i++) {
        object[i] =
            (struct ompi_request_t){.complete = 1, .req_type = OMPI_REQUEST_COLL, .req_persistent = true};
        persistent(&request[i], &object[i]);
    }
    CHECK(0 == active_of(OMPI_MQS_barrier_init) && 0 == calls_of(OMPI_MQS_barrier_init));
    for (fail_at = 0; fail_at <= 4; fail_at++) {
        start_all(4, request);
        CHECK((uint32_t)fail_at == active_of(OMPI_MQS_barrier_init));
        for (int i = 0; i < 4; i++) {
            CHECK((i < fail_at) == (NULL != object[i].req_complete_cb));
            if (i < fail_at) {
                complete(&object[i]);
            }
            object[i].complete = 1;
            object[i].req_state = OMPI_REQUEST_INACTIVE;
        }
        CHECK(0 == active_of(OMPI_MQS_barrier_init));
    }
    OMPI_MQS_REQUEST_STARTING(request[0])
    OMPI_MQS_REQUEST_STARTED(request[0], OMPI_ERROR)
    CHECK(0 == active_of(OMPI_MQS_barrier_init) && NULL == object[0].req_complete_cb);
    /* Those that MPI_Startall has looked at, and did not start because of the next one. */
    OMPI_MQS_REQUEST_STARTING(request[0])
    OMPI_MQS_REQUEST_STARTING(request[1])
    OMPI_MQS_REQUESTS_REFUSED(2, request)
    CHECK(0 == active_of(OMPI_MQS_barrier_init));
    for (int i = 0; i < 4; i++) {
        OMPI_MQS_REQUEST_FORGET(request[i])
        CHECK(NULL == object[i].req_mqs);
    }
    end();
}

/* A request that outlives its communicator ends nobody else's call. */
static void test_outlives(void)
{
    struct ompi_request_t orphan = {0}, *request = NULL;

    begin();
    ibarrier(&request, &orphan, &orphan);
    ompi_mqs_collectives_destroy(comm.c_mqs);
    begin();
    ibarrier(&request, NULL, &null_request);
    complete(&orphan);
    CHECK(1 == calls_of(OMPI_MQS_ibarrier) && 1 == counts_of(comm.c_mqs, OMPI_MQS_ibarrier).ended);
    end();
}

/* As many as there are, in any order: nothing is searched. */
static void test_many_outstanding(void)
{
    enum { MANY = 200000 };
    struct ompi_request_t *objects = calloc(MANY, sizeof(*objects)), *request;
    uint64_t walked = 0;

    begin();
    for (int i = 0; i < MANY; i++) {
        ibarrier(&request, &objects[i], &objects[i]);
    }
    for (ompi_mqs_addr_t at = comm.c_mqs->outstanding; 0 != at;
         at = ((struct ompi_mqs_outstanding *)(uintptr_t)at)->next) {
        walked++;
    }
    CHECK(MANY == walked && MANY == active_of(OMPI_MQS_ibarrier));
    for (int i = 0; i < MANY; i++) {
        complete(&objects[(int)((int64_t)i * 7919 % MANY)]);
    }
    end();
    free(objects);
}

/* More classes than a block of counts has: each keeps its one entry. */
static void test_many_classes(void)
{
    begin();
    for (int round = 1; round <= 3; round++) {
        for (uint32_t class = OMPI_MQS_HOT; class < OMPI_MQS_COLLECTIVE_COUNT; class ++) {
            struct ompi_mqs_rare_guard guard = ompi_mqs_call_begin_rare(
                comm.c_mqs, class, 0, &comm, (struct ompi_mqs_arguments){0, NULL, NULL, -1, NULL});

            ompi_mqs_call_end_rare(&guard);
            CHECK((uint32_t)round == calls_of(class) && 0 == active_of(class));
        }
    }
    end();
}

static void test_memory(void)
{
    struct communicator never = {ompi_mqs_collectives_create(&never)};

    CHECK(sizeof(struct ompi_mqs_own_collectives) <= 400 - 16);
    CHECK(0 == never.c_mqs->ring && 0 == never.c_mqs->more_counts);
    ompi_mqs_collectives_destroy(never.c_mqs);
}

int main(void)
{
    test_end_time();
#if OMPI_MQS_TEMPLATES
    test_templates();
#endif
    test_caller_of_a_binding();
    test_gone_under_a_call();
    test_error_handlers();
    test_callbacks_nest();
    test_given_back();
    test_part_of_another();
    test_late();
    test_starts();
    test_outlives();
    test_many_outstanding();
    test_many_classes();
    test_memory();
    printf("unit_calls: %s\n", failures ? "failed" : "all as it should be");
    return 0 != failures;
}
