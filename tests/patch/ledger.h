/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ledger.h - what a program knows to have called, kept by itself; and its stops, at which somebody outside
 * compares that with what a DLL reads from the library's memory.
 *
 * Rank MPIQ_READER_RANK stops after each call that it enters here, if MPIQ_READER says in which directory two
 * named pipes are: it writes a line of JSON into "said" and waits for a byte from "go".
 */
#ifndef LEDGER_H
#define LEDGER_H

#include "records.h"

#include <fcntl.h>

#define LEDGERS 32

struct entry {
    int class;
    uint64_t number;
    int64_t count;
    const char *datatype; /* "" if it has none */
    const char *op;
    int root;
};

struct ledger {
    MPI_Comm comm;
    uint32_t counts[OMPI_MQS_COLLECTIVE_COUNT];
    uint64_t numbers;
    struct entry recent[OMPI_MQS_RING]; /* the n-th call at (n - 1) % OMPI_MQS_RING */
};

static struct ledger ledgers[LEDGERS];
static int process_calls[OMPI_MQS_RING]; /* classes of those without a communicator's number */
static uint64_t process_count;
static int stops;

static struct ledger *ledger_of(MPI_Comm comm)
{
    int i;

    for (i = 0; i < LEDGERS; i++) {
        if (ledgers[i].comm == comm || !ledgers[i].comm) {
            ledgers[i].comm = comm;
            return &ledgers[i];
        }
    }
    fprintf(stderr, "ledger: more than %d communicators\n", LEDGERS);
    exit(2);
}

/* A call that takes a number; counts says whether it counts by itself (an MPI_X_init does not). */
static inline void ledger_call(MPI_Comm comm, int class, int counts, int64_t count, const char *datatype,
                               const char *op, int root)
{
    struct ledger *ledger = ledger_of(comm);
    struct entry *entry = &ledger->recent[ledger->numbers % OMPI_MQS_RING];

    ledger->counts[class] += counts != 0;
    *entry = (struct entry){class, ++ledger->numbers, count, datatype, op, root};
}

/* One that counts on comm and takes no number. */
static inline void ledger_start(MPI_Comm comm, int class)
{
    ledger_of(comm)->counts[class]++;
}

/* One that lies in the process's ring. */
static inline void ledger_process(int class)
{
    process_calls[process_count++ % OMPI_MQS_RING] = class;
}

static void ledger_print(FILE *out, const struct ledger *ledger, int active)
{
    const char *separator = "";
    uint64_t back;
    int i;

    fprintf(out, "{\"handle\":\"0x%lx\",\"collectives\":{", (unsigned long)(uintptr_t)ledger->comm);
    for (i = 0; i < OMPI_MQS_COLLECTIVE_COUNT; i++) {
        if (0 != ledger->counts[i]) {
            fprintf(out, "%s\"%s\":[%u,%d]", separator, class_names[i], ledger->counts[i], i == active);
            separator = ",";
        }
    }
    fprintf(out, "},\"ordered\":%lu,\"recent\":[", (unsigned long)ledger->numbers);
    separator = "";
    for (back = 0; back < OMPI_MQS_RING && back < ledger->numbers; back++) {
        const struct entry *entry = &ledger->recent[(ledger->numbers - 1 - back) % OMPI_MQS_RING];

        fprintf(out,
                "%s{\"collective\":\"%s\",\"number\":%lu,\"count\":%ld,\"datatype\":\"%s\",\"op\":\"%s\","
                "\"root\":%d}",
                separator, class_names[entry->class], (unsigned long)entry->number, (long)entry->count,
                entry->datatype, entry->op, entry->root);
        separator = ",";
    }
    fprintf(out, "],\"process_calls\":[");
    separator = "";
    for (back = 0; back < OMPI_MQS_RING && back < process_count; back++) {
        fprintf(out, "%s\"%s\"", separator,
                class_names[process_calls[(process_count - 1 - back) % OMPI_MQS_RING]]);
        separator = ",";
    }
    fprintf(out, "]}\n");
    fflush(out);
}

/* Stops for a reader, if there is one; active is the class that is active on comm, -1 if none is. */
static inline void ledger_stop(MPI_Comm comm, int active)
{
    static FILE *said;
    static int go = -1;
    const char *directory = getenv("MPIQ_READER");
    const char *reader = getenv("MPIQ_READER_RANK");
    char path[4096], byte;
    int rank;

    stops++;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (NULL == directory || NULL == reader || atoi(reader) != rank) {
        return;
    }
    if (NULL == said) {
        snprintf(path, sizeof(path), "%s/said", directory);
        said = fopen(path, "w");
        snprintf(path, sizeof(path), "%s/go", directory);
        go = open(path, O_RDONLY);
        if (NULL == said || go < 0) {
            fprintf(stderr, "ledger: cannot open the pipes in %s\n", directory);
            exit(2);
        }
        fprintf(said, "%d\n", (int)getpid());
    }
    ledger_print(said, ledger_of(comm), active);
    if (1 != read(go, &byte, 1)) {
        fprintf(stderr, "ledger: the reader is gone\n");
        exit(2);
    }
}

#endif
