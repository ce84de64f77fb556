/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Ranks 0 to 2 wait for each other in a circle and are honest.  Rank 3 lies: it changes what its MPI library
 * keeps, word by word, wherever pointers lead from the library's records and communicators.
 *
 * Rank 3 takes lines "SEED\n" from the fifo that MPIQ_LIAR_ORDERS names, undoes the last lie, tells that one,
 * and writes the byte '.' to MPIQ_LIAR_ANSWERS.  An odd seed goes on changing what it has changed while it is
 * looked at.
 */
#include <dlfcn.h>
#include <mpi.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "../ready.h"

enum { CHUNK = 256, CHUNKS_MAX = 512, LIES_MAX = 24 };

static uint64_t *chunks[CHUNKS_MAX];
static size_t chunk_count;
static struct {
    uint64_t *at;
    uint64_t was;
} lies[LIES_MAX];
static volatile size_t lie_count;
static volatile int restless;

/* Memory that can be read and, by its contents, written: it is written as it is. */
static int is_ours(uint64_t address)
{
    uint64_t bytes[CHUNK / 8];
    struct iovec here = {bytes, sizeof bytes}, there = {(void *)address, sizeof bytes};
    return address % 8 == 0 && address > 65536 &&
           process_vm_readv(getpid(), &here, 1, &there, 1, 0) == CHUNK &&
           process_vm_writev(getpid(), &here, 1, &there, 1, 0) == CHUNK;
}

static void add_chunk(uint64_t address)
{
    for (size_t i = 0; i < chunk_count; i++) {
        if (address >= (uint64_t)chunks[i] && address < (uint64_t)chunks[i] + CHUNK)
            return;
    }
    if (chunk_count < CHUNKS_MAX && is_ours(address))
        chunks[chunk_count++] = (uint64_t *)address;
}

static void find_records(void)
{
    static const char *const names[] = {"ompi_mqs_root", "ompi_mpi_communicators", "ompi_mpi_comm_world",
                                        "mca_pml_base_recv_requests", "mca_pml_base_send_requests"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        void *symbol = dlsym(RTLD_DEFAULT, names[i]);
        if (symbol)
            add_chunk((uint64_t)symbol);
    }
    for (size_t i = 0; i < chunk_count; i++) {
        for (size_t k = 0; k < CHUNK / 8; k++)
            add_chunk(chunks[i][k]);
    }
}

static uint64_t falsehood(uint64_t was)
{
    switch (rand() % 9) {
    case 0:
        return 0;
    case 1:
        return UINT64_MAX;
    case 2:
        return was + 1;
    case 3:
        return (uint64_t)chunks[rand() % chunk_count];
    case 4:
        return was ^ UINT64_C(1) << rand() % 64;
    case 5:
        return 0x7fffffff;
    case 6:
        return (uint64_t)rand() << 32 | (uint64_t)rand();
    case 7:
        return was << 8;
    default:
        return (uint64_t)rand() % 8;
    }
}

static void *fidget(void *argument)
{
    (void)argument;
    for (unsigned i = 0;; i++) {
        if (!restless) {
            usleep(1000);
            continue;
        }
        for (size_t k = 0; k < lie_count; k++)
            *(volatile uint64_t *)lies[k].at = i % 2 ? lies[k].was : falsehood(lies[k].was);
    }
    return NULL;
}

static void lie(unsigned seed)
{
    restless = 0;
    usleep(2000);
    for (size_t i = lie_count; i-- > 0;)
        *lies[i].at = lies[i].was;
    srand(seed);
    size_t count = 1 + (size_t)rand() % LIES_MAX;
    lie_count = 0;
    for (size_t i = 0; i < count; i++) {
        uint64_t *at = &chunks[rand() % chunk_count][rand() % (CHUNK / 8)];
        lies[i].at = at;
        lies[i].was = *at;
        *at = falsehood(*at);
        lie_count = i + 1;
    }
    restless = seed % 2;
}

static void be_a_liar(void)
{
    pthread_t thread;
    char line[32];
    FILE *orders = fopen(getenv("MPIQ_LIAR_ORDERS"), "r");
    FILE *answers = fopen(getenv("MPIQ_LIAR_ANSWERS"), "w");
    find_records();
    if (!orders || !answers || chunk_count < 10 || pthread_create(&thread, NULL, fidget, NULL) != 0)
        abort();
    while (fgets(line, sizeof line, orders)) {
        lie((unsigned)atoi(line));
        fputc('.', answers);
        fflush(answers);
    }
    pause();
}

int main(int argc, char **argv)
{
    int rank, value = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Barrier(MPI_COMM_WORLD);
    say_ready(rank);
    if (rank == 3)
        be_a_liar();
    MPI_Recv(&value, 1, MPI_INT, (rank + 1) % 3, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return 0;
}
