/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * records.h - a program's own look at the records that a patched Open MPI keeps, and checks that count.
 *
 * The programs of this folder read themselves: through dlsym and the layout tables, as a debugger's DLL
 * would from outside.  A failed check prints what it found and where, and the program ends with 1.
 */
#ifndef RECORDS_H
#define RECORDS_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <dlfcn.h>
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "counts.h"

static int failures, checks;

#define CHECK(condition, ...)                                                       \
    do {                                                                            \
        checks++;                                                                   \
        if (!(condition)) {                                                         \
            failures++;                                                             \
            fprintf(stderr, "%s:%d: not so: %s: ", __FILE__, __LINE__, #condition); \
            fprintf(stderr, __VA_ARGS__);                                           \
            fputc('\n', stderr);                                                    \
        }                                                                           \
    } while (0)

static const char *const class_names[] = {
#define NAME(value, id, name, kind, order) [value] = name,
    OMPI_MQS_COLLECTIVES(NAME)
#undef NAME
};

static const char class_orders[] = {
#define ORDER(value, id, name, kind, order) [value] = #order[0],
    OMPI_MQS_COLLECTIVES(ORDER)
#undef ORDER
};

static struct ompi_mqs_root *root(void)
{
    static struct ompi_mqs_root *found;

    if (NULL == found) {
        found = dlsym(RTLD_DEFAULT, "ompi_mqs_root");
        if (NULL == found) {
            fprintf(stderr, "this MPI library has no ompi_mqs_root: it is not patched\n");
            exit(2);
        }
    }
    return found;
}

static const struct ompi_mqs_row *row_of(const char *structure, const char *member)
{
    const struct ompi_mqs_table *table;
    uint64_t i;

    for (table = (void *)(uintptr_t)root()->tables; NULL != table; table = (void *)(uintptr_t)table->next) {
        const struct ompi_mqs_row *rows = (void *)(uintptr_t)table->rows;

        for (i = 0; i < table->row_count; i++) {
            if (0 == strcmp(rows[i].structure, structure) && 0 == strcmp(rows[i].member, member)) {
                return &rows[i];
            }
        }
    }
    return NULL;
}

/* What comm remembers; NULL with recording off. */
static inline struct ompi_mqs_collectives *record_of(MPI_Comm comm)
{
    const struct ompi_mqs_row *row = row_of("ompi_communicator_t", "c_mqs");

    if (NULL == row) {
        fprintf(stderr, "no layout row for c_mqs\n");
        exit(2);
    }
    return *(struct ompi_mqs_collectives **)((char *)comm + row->offset);
}

static inline struct ompi_mqs_collectives *process_record(void)
{
    return (void *)(uintptr_t)root()->process;
}

static inline uint64_t calls_so_far(const struct ompi_mqs_collectives *record)
{
    return ompi_mqs_ring_calls(record->position);
}

static inline uint32_t newest_slot(const struct ompi_mqs_collectives *record)
{
    return (uint32_t)((calls_so_far(record) - 1) % OMPI_MQS_RING);
}

/* The newest call of a record's ring, with what it does not have as 0 and -1. */
static inline struct ompi_mqs_call newest(const struct ompi_mqs_collectives *record)
{
    struct ompi_mqs_call call = ring_of(record)[newest_slot(record)];

    if (call.flags & OMPI_MQS_CALL_NO_COUNT) {
        call.count = 0;
        call.datatype = 0;
    }
    if (call.flags & OMPI_MQS_CALL_NO_OP) {
        call.op = 0;
    }
    if (call.flags & OMPI_MQS_CALL_NO_ROOT) {
        call.root = -1;
    }
    return call;
}

/* What a thread that is inside a collective call is in. */
static inline uint32_t class_of(const struct ompi_mqs_thread *thread)
{
    const struct ompi_mqs_collectives *record = (void *)(uintptr_t)inside_of(thread);

    return OMPI_MQS_COLLECTIVE_NEWEST == thread->collective ? newest(record).collective : thread->collective;
}

static inline struct ompi_mqs_thread *thread_of(uint32_t tid)
{
    struct ompi_mqs_thread *thread;

    for (thread = (void *)(uintptr_t)root()->threads; NULL != thread && thread->tid != tid;
         thread = (void *)(uintptr_t)thread->next) {
    }
    return thread;
}

static inline uint32_t my_tid(void)
{
    return (uint32_t)syscall(SYS_gettid);
}

static inline unsigned int outstanding_of(const struct ompi_mqs_collectives *record)
{
    ompi_mqs_addr_t at;
    unsigned int count = 0;

    for (at = record->outstanding; 0 != at && count < OMPI_MQS_MAX_OUTSTANDING;
         at = ((struct ompi_mqs_outstanding *)(uintptr_t)at)->next) {
        count++;
    }
    return count;
}

/* Ends the program: every rank's failures count. */
static inline int finish(const char *name)
{
    int all[2], mine[2] = {failures, checks}, rank;

    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Allreduce(mine, all, 2, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Finalize();
    if (0 == rank) {
        printf("%s: %d checks, %d failed\n", name, all[1], all[0]);
    }
    return 0 != all[0];
}

#endif
