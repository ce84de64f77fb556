/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * recorder_calls - nanoseconds and instructions a call of one or two ranks: bench/recorder runs it without
 * and with the recorder in turns and takes the difference.
 *
 * A turn of ping-pong is four calls: those of both ranks lie on its way.
 *
 * Prints one line for each case: name, calls of MPI in one turn, the best turn's nanoseconds a call, and the
 * instructions a call in user mode, 0 where the processor's counters may not be used.  Several ranks measure
 * rank 0.  At its end it prints the memory that a rank takes beside its program's own.
 */
#include <linux/perf_event.h>
#include <mpi.h>
#include <stdio.h>
#include <stdint.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { ROUNDS = 2000, TURNS = 500, MANY = 64 };

static int small[2 * MANY];
static int rank, size, other;
static MPI_Request pending = MPI_REQUEST_NULL;
static int counter = -1;
static MPI_Win window;

static void ping_pong(void)
{
    if (rank == 0) {
        MPI_Send(small, 1, MPI_INT, other, 1, MPI_COMM_WORLD);
        MPI_Recv(small + 1, 1, MPI_INT, other, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else {
        MPI_Recv(small + 1, 1, MPI_INT, other, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Send(small, 1, MPI_INT, other, 1, MPI_COMM_WORLD);
    }
}

static void many(void)
{
    MPI_Request requests[2 * MANY];
    for (int i = 0; i < MANY; i++) {
        MPI_Irecv(small + i, 1, MPI_INT, 0, 1, MPI_COMM_SELF, &requests[i]);
        MPI_Isend(small + MANY + i, 1, MPI_INT, 0, 1, MPI_COMM_SELF, &requests[MANY + i]);
    }
    MPI_Waitall(2 * MANY, requests, MPI_STATUSES_IGNORE);
}

static void barrier(void)
{
    MPI_Barrier(MPI_COMM_SELF);
}

static void bcast(void)
{
    MPI_Bcast(small, 1, MPI_INT, 0, MPI_COMM_SELF);
}

static void allreduce(void)
{
    MPI_Allreduce(small, small + 1, 1, MPI_INT, MPI_SUM, MPI_COMM_SELF);
}

static void iallreduce(void)
{
    MPI_Request request;
    MPI_Iallreduce(small, small + 1, 1, MPI_INT, MPI_SUM, MPI_COMM_SELF, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void test(void)
{
    int flag;
    if (pending == MPI_REQUEST_NULL)
        MPI_Irecv(small, 1, MPI_INT, 0, 9, MPI_COMM_SELF, &pending);
    MPI_Test(&pending, &flag, MPI_STATUS_IGNORE);
}

static void fence(void)
{
    MPI_Win_fence(0, window);
}

static const struct {
    const char *name;
    void (*run)(void);
    int calls;
    int ranks; /* it takes; one does it with itself */
} cases[] = {
    {"Barrier", barrier, 1, 1},
    {"Bcast", bcast, 1, 1},
    {"Allreduce", allreduce, 1, 1},
    {"Iallreduce, Wait", iallreduce, 2, 1},
    {"64 Irecv, 64 Isend, Waitall", many, 2 * MANY + 1, 1},
    {"Test", test, 1, 1},
    {"Win_fence", fence, 1, 1},
    {"Send, Recv: ping-pong", ping_pong, 4, 2},
};

static void open_counter(void)
{
    struct perf_event_attr what;
    memset(&what, 0, sizeof what);
    what.type = PERF_TYPE_HARDWARE;
    what.size = sizeof what;
    what.config = PERF_COUNT_HW_INSTRUCTIONS;
    what.exclude_kernel = 1;
    what.exclude_hv = 1;
    counter = (int)syscall(SYS_perf_event_open, &what, 0, -1, -1, 0);
}

static uint64_t instructions(void)
{
    uint64_t count = 0;
    return counter >= 0 && read(counter, &count, sizeof count) == sizeof count ? count : 0;
}

static void measure(unsigned index)
{
    double best = 1e18;
    uint64_t least = UINT64_MAX;
    int turns = TURNS / cases[index].calls + 1; /* short ones: between two switches to another program */
    double calls = (double)turns * cases[index].calls;
    for (int round = 0; round < ROUNDS; round++) {
        uint64_t before = instructions();
        double begin = MPI_Wtime();
        for (int turn = 0; turn < turns; turn++)
            cases[index].run();
        double ns = (MPI_Wtime() - begin) * 1e9;
        uint64_t count = instructions() - before;
        best = ns < best ? ns : best;
        least = count < least ? count : least;
    }
    if (rank == 0)
        printf("%s\t%d\t%.1f\t%.1f\n", cases[index].name, cases[index].calls, best / calls,
               (double)least / calls);
}

static long resident(void)
{
    long all = 0, pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (!file || fscanf(file, "%ld %ld", &all, &pages) != 2)
        pages = 0;
    if (file)
        fclose(file);
    return pages * sysconf(_SC_PAGESIZE) / 1024;
}

int main(int argc, char **argv)
{
    void *memory;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    other = 1 - rank;
    MPI_Win_allocate(64, 1, MPI_INFO_NULL, MPI_COMM_SELF, &memory, &window);
    open_counter();
    for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++) {
        if (cases[i].ranks == size)
            measure(i);
    }
    if (rank == 0)
        printf("memory\t%ld\n", resident());
    MPI_Win_free(&window);
    if (pending != MPI_REQUEST_NULL) {
        MPI_Cancel(&pending);
        MPI_Wait(&pending, MPI_STATUS_IGNORE);
    }
    MPI_Finalize();
    return 0;
}
