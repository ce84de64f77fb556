/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Ranks 0 to 2 wait for each other in a circle and are honest.  Rank 3 lies: it changes what its MPI library
 * keeps, word by word, wherever pointers lead from the library's records and communicators.
 *
 * Rank 3 takes lines "SEED\n" from the fifo that MPIQ_LIAR_ORDERS names, undoes the last lie, tells that one,
 * and writes the byte '.' to MPIQ_LIAR_ANSWERS.  An odd seed goes on changing what it has changed while it is
 * looked at.
 *
 * While it lies, only two threads run in rank 3, and they use no memory that a lie can reach: the library's
 * own threads sleep in a signal handler, nothing is allocated or read by stdio, and lies stay out of the C
 * library, the dynamic linker, stacks, the thread's own block and this program's variables.  Link it with -z
 * now.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <mpi.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "../ready.h"

enum { CHUNK = 256, CHUNKS_MAX = 512, LIES_MAX = 24, MAPPINGS_MAX = 1024, THREAD_BLOCK = 4096 };

/* What the liar needs itself. */
static struct {
    uint64_t *chunks[CHUNKS_MAX];
    size_t chunk_count;
    struct {
        uint64_t *at;
        uint64_t was;
    } lies[LIES_MAX];
    size_t lie_count;
    uint64_t random;
    atomic_int restless; /* the other thread may go on lying */
    atomic_int resting;  /* it has seen that it may not */
} own;

static struct {
    uint64_t first, end;
} mappings[MAPPINGS_MAX];
static size_t mapping_count;
static char *stack;
static size_t stack_size;

static uint64_t next_random(void)
{
    own.random ^= own.random << 13;
    own.random ^= own.random >> 7;
    own.random ^= own.random << 17;
    return own.random;
}

static int overlaps(uint64_t address, const void *start, size_t size)
{
    return address < (uint64_t)start + size && address + CHUNK > (uint64_t)start;
}

/* Whether a mapping may be lied in: of the MPI library, the heap, or without a name. */
static int may_lie_in(const char *path)
{
    return path[0] == '\0' || strcmp(path, "[heap]") == 0 || strstr(path, "/libmpi") ||
           strstr(path, "/libopen-") || strstr(path, "/mca_");
}

static void find_mappings(void)
{
    char line[4096];
    FILE *maps = fopen("/proc/self/maps", "r");
    while (maps && fgets(line, sizeof line, maps) && mapping_count < MAPPINGS_MAX) {
        unsigned long first, end;
        char mode[5], path[3000] = "";
        if (sscanf(line, "%lx-%lx %4s %*s %*s %*s %2999s", &first, &end, mode, path) >= 3 && mode[1] == 'w' &&
            may_lie_in(path)) {
            mappings[mapping_count].first = first;
            mappings[mapping_count++].end = end;
        }
    }
    if (!maps || mapping_count == 0)
        abort();
    fclose(maps);
}

extern char __data_start[], _end[]; /* the linker's: this program's own variables lie between */

static int is_ours(uint64_t address)
{
    if (address % 8 != 0 || overlaps(address, stack, stack_size) ||
        overlaps(address, __data_start, (size_t)(_end - __data_start)) ||
        overlaps(address, (void *)pthread_self(), THREAD_BLOCK))
        return 0;
    for (size_t i = 0; i < mapping_count; i++) {
        if (address >= mappings[i].first && address < mappings[i].end && mappings[i].end - address >= CHUNK)
            return 1;
    }
    return 0;
}

static void add_chunk(uint64_t address)
{
    for (size_t i = 0; i < own.chunk_count; i++) {
        if (address >= (uint64_t)own.chunks[i] && address < (uint64_t)own.chunks[i] + CHUNK)
            return;
    }
    if (own.chunk_count < CHUNKS_MAX && is_ours(address))
        own.chunks[own.chunk_count++] = (uint64_t *)address;
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
    for (size_t i = 0; i < own.chunk_count; i++) {
        for (size_t k = 0; k < CHUNK / 8; k++)
            add_chunk(own.chunks[i][k]);
    }
}

static uint64_t falsehood(uint64_t was)
{
    switch (next_random() % 9) {
    case 0:
        return 0;
    case 1:
        return UINT64_MAX;
    case 2:
        return was + 1;
    case 3:
        return (uint64_t)own.chunks[next_random() % own.chunk_count];
    case 4:
        return was ^ UINT64_C(1) << next_random() % 64;
    case 5:
        return 0x7fffffff;
    case 6:
        return next_random();
    case 7:
        return was << 8;
    default:
        return next_random() % 8;
    }
}

static void *fidget(void *argument)
{
    (void)argument;
    for (unsigned i = 0;; i++) {
        if (!atomic_load(&own.restless)) {
            atomic_store(&own.resting, 1);
            usleep(1000);
            continue;
        }
        for (size_t k = 0; k < own.lie_count; k++)
            *(volatile uint64_t *)own.lies[k].at = i % 2 ? own.lies[k].was : falsehood(own.lies[k].was);
    }
    return NULL;
}

static void rest(void)
{
    atomic_store(&own.restless, 0);
    atomic_store(&own.resting, 0);
    while (!atomic_load(&own.resting))
        usleep(100);
}

static void lie(unsigned seed)
{
    rest();
    for (size_t i = own.lie_count; i-- > 0;)
        *own.lies[i].at = own.lies[i].was;
    own.random = UINT64_C(0x9e3779b97f4a7c15) * (seed + 1);
    size_t count = 1 + (size_t)next_random() % LIES_MAX;
    for (size_t i = 0; i < count; i++) {
        uint64_t *at = &own.chunks[next_random() % own.chunk_count][next_random() % (CHUNK / 8)];
        own.lies[i].at = at;
        own.lies[i].was = *at;
        *at = falsehood(*at);
    }
    own.lie_count = count;
    atomic_store(&own.restless, (int)(seed % 2));
}

static atomic_int asleep;

static void sleep_for_ever(int signal_number)
{
    (void)signal_number;
    atomic_fetch_add(&asleep, 1);
    for (;;)
        pause();
}

/* Some of a library's threads block all signals. */
static bool takes(int tid, int signal_number)
{
    char text[8192];
    snprintf(text, sizeof text, "/proc/self/task/%d/status", tid);
    int file = open(text, O_RDONLY);
    ssize_t length = file < 0 ? 0 : read(file, text, sizeof text - 1);
    close(file);
    text[length > 0 ? length : 0] = '\0';
    const char *blocked = strstr(text, "SigBlk:");
    return blocked && (strtoul(blocked + strlen("SigBlk:"), NULL, 16) >> (signal_number - 1) & 1) == 0;
}

/* The library's threads would stumble over the lies; only MPI is to be lied about, not to be tried. */
static void put_others_to_sleep(void)
{
    struct sigaction action = {.sa_handler = sleep_for_ever};
    DIR *tasks = opendir("/proc/self/task");
    int others = 0;
    sigfillset(&action.sa_mask);
    if (!tasks || sigaction(SIGUSR2, &action, NULL) < 0)
        abort();
    for (struct dirent *entry; (entry = readdir(tasks));) {
        int tid = atoi(entry->d_name);
        if (tid > 0 && tid != getpid() && takes(tid, SIGUSR2) &&
            syscall(SYS_tgkill, getpid(), tid, SIGUSR2) == 0)
            others++;
    }
    closedir(tasks);
    while (atomic_load(&asleep) < others)
        usleep(1000);
}

static void find_stack(void)
{
    pthread_attr_t attributes;
    void *start;
    if (pthread_getattr_np(pthread_self(), &attributes) != 0 ||
        pthread_attr_getstack(&attributes, &start, &stack_size) != 0)
        abort();
    stack = start;
    pthread_attr_destroy(&attributes);
}

static void be_a_liar(void)
{
    pthread_t thread;
    char line[32];
    int orders = open(getenv("MPIQ_LIAR_ORDERS"), O_RDONLY);
    int answers = open(getenv("MPIQ_LIAR_ANSWERS"), O_WRONLY);
    find_stack();
    find_mappings();
    find_records();
    put_others_to_sleep();
    if (orders < 0 || answers < 0 || own.chunk_count < 10 || pthread_create(&thread, NULL, fidget, NULL) != 0)
        abort();
    /* The orders come one at a time, each answered before the next. */
    for (ssize_t length; (length = read(orders, line, sizeof line - 1)) > 0;) {
        line[length] = '\0';
        lie((unsigned)atoi(line));
        if (write(answers, ".", 1) != 1)
            abort();
    }
    sleep_for_ever(0);
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
