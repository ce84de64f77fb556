/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * activity NAME SECONDS - programs that keep the others waiting, for tests of mpiq run.
 *
 * Rank 1 does what NAME says for SECONDS while rank 0 waits for it in MPI; then both print "done" and end
 * with status 7.  The names under "hung" never end.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static int rank;
static double seconds;

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static void nap(double length)
{
    usleep((unsigned)(length * 1e6));
}

static void run_program(const char *program)
{
    char command[200];
    snprintf(command, sizeof command, "timeout %.0f %s", seconds, program);
    if (system(command) < 0)
        exit(1);
}

/* So many times in a row, then a nap; 0: never one.  A nap after every single poll would hide the polling
   from most looks. */
static void poll_for(int tag, int times, double pause)
{
    MPI_Request request;
    int value, done = 0;
    MPI_Irecv(&value, 1, MPI_INT, 1, tag, MPI_COMM_WORLD, &request);
    for (int i = 1; !done; i++) {
        MPI_Test(&request, &done, MPI_STATUS_IGNORE);
        if (times > 0 && i % times == 0)
            nap(pause);
    }
}

/* What rank 1 does. */
static void act(const char *name)
{
    double end = now() + seconds;
    volatile double sum = 0;
    if (strcmp(name, "tool") == 0)
        run_program("sh -c 'while :; do :; done'");
    else if (strcmp(name, "writer") == 0)
        run_program("sh -c 'while :; do echo line; sleep 0.3; done' >/dev/null");
    for (int i = 0; now() < end; i++) {
        if (strcmp(name, "naps") == 0 || strcmp(name, "polled") == 0 ||
            strcmp(name, "polled_with_naps") == 0) {
            nap(0.4);
        } else if (strcmp(name, "computes") == 0) {
            sum += i;
        } else if (strcmp(name, "writes") == 0) {
            FILE *file = tmpfile();
            if (file) {
                fprintf(file, "step %d\n", i);
                fclose(file);
            }
            nap(0.1);
        } else {
            break;
        }
    }
    if (strncmp(name, "polled", 6) == 0)
        MPI_Send(&rank, 1, MPI_INT, 0, 1, MPI_COMM_WORLD);
}

/* Both ranks together, until rank 0's time is up; MPI's progress is all there is to see. */
static void exchange(double pause)
{
    double end = now() + seconds;
    for (int more = 1; more;) {
        more = now() < end;
        if (rank == 0)
            nap(pause);
        MPI_Bcast(&more, 1, MPI_INT, 0, MPI_COMM_WORLD);
    }
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    const char *name = argv[1];
    seconds = atof(argv[2]);
    if (strcmp(name, "exchanges") == 0)
        exchange(0);
    else if (strcmp(name, "exchanges_with_naps") == 0)
        exchange(0.4);
    else if (rank == 1)
        act(name);
    else if (strcmp(name, "polled") == 0)
        poll_for(1, 0, 0);
    else if (strcmp(name, "polled_with_naps") == 0)
        poll_for(1, 1, 0.001);
    /* hung */
    else if (strcmp(name, "polls_for_ever") == 0)
        poll_for(2, 0, 0);
    else if (strcmp(name, "polls_and_naps_for_ever") == 0)
        poll_for(2, 200, 0.001);
    if (strcmp(name, "sleeps_for_ever") == 0 && rank == 1)
        pause();
    MPI_Barrier(MPI_COMM_WORLD);
    printf("done\n");
    fflush(stdout); /* the launcher ends the other when one has ended with that status */
    MPI_Finalize();
    return 7;
}
