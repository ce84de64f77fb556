/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Linked into examples/solver.c, compiled with -finstrument-functions: each rank writes what it does to
 * $TRACER_DIR/RANK as make_trace's statements, with functions as offsets into the program.
 */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

extern const char __executable_start[];

enum { MOST = 1 << 20 };
static struct event {
    uint64_t time;
    const void *function; /* NULL: MPI */
    const char *what, *call;
    int peer, tag;
} events[MOST];
static int count;

static void put(const char *what, const char *call, const void *function, int peer, int tag)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    if (count == MOST)
        abort();
    events[count++] = (struct event){
        (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec, function, what, call, peer, tag};
}

void __cyg_profile_func_enter(void *function, void *site);
void __cyg_profile_func_exit(void *function, void *site);

void __cyg_profile_func_enter(void *function, void *site)
{
    (void)site;
    put("enter", NULL, function, 0, 0);
}

void __cyg_profile_func_exit(void *function, void *site)
{
    (void)site;
    put("leave", NULL, function, 0, 0);
}

int MPI_Init(int *argc, char ***argv)
{
    put("enter", "MPI_Init", NULL, 0, 0);
    int result = PMPI_Init(argc, argv);
    put("leave", "MPI_Init", NULL, 0, 0);
    return result;
}

int MPI_Bcast(void *buffer, int n, MPI_Datatype type, int root, MPI_Comm comm)
{
    put("enter", "MPI_Bcast", NULL, 0, 0);
    put("begin", "", NULL, 0, 0);
    int result = PMPI_Bcast(buffer, n, type, root, comm);
    put("end bcast", "", NULL, root, 0);
    put("leave", "MPI_Bcast", NULL, 0, 0);
    return result;
}

int MPI_Reduce(const void *from, void *to, int n, MPI_Datatype type, MPI_Op op, int root, MPI_Comm comm)
{
    put("enter", "MPI_Reduce", NULL, 0, 0);
    put("begin", "", NULL, 0, 0);
    int result = PMPI_Reduce(from, to, n, type, op, root, comm);
    put("end reduce", "", NULL, root, 0);
    put("leave", "MPI_Reduce", NULL, 0, 0);
    return result;
}

int MPI_Sendrecv(const void *out, int out_count, MPI_Datatype out_type, int to, int out_tag, void *in,
                 int in_count, MPI_Datatype in_type, int from, int in_tag, MPI_Comm comm, MPI_Status *status)
{
    put("enter", "MPI_Sendrecv", NULL, 0, 0);
    if (to != MPI_PROC_NULL)
        put("send", "", NULL, to, out_tag);
    int result = PMPI_Sendrecv(out, out_count, out_type, to, out_tag, in, in_count, in_type, from, in_tag,
                               comm, status);
    if (from != MPI_PROC_NULL)
        put("recv", "", NULL, from, in_tag);
    put("leave", "MPI_Sendrecv", NULL, 0, 0);
    return result;
}

static void write_all(int rank)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%d", getenv("TRACER_DIR"), rank);
    FILE *file = fopen(path, "w");
    if (!file)
        abort();
    for (int i = 0; i < count; i++) {
        const struct event *event = &events[i];
        fprintf(file, "%d %llu %s ", rank, (unsigned long long)event->time, event->what);
        if (event->function)
            fprintf(file, "0x%lx\n", (unsigned long)((const char *)event->function - __executable_start));
        else if (*event->call)
            fprintf(file, "%s\n", event->call);
        else if (event->what[0] == 'e')
            fprintf(file, "0 %d\n", event->peer);
        else if (event->what[0] == 'b')
            fprintf(file, "\n");
        else
            fprintf(file, "%d 0 %d 8\n", event->peer, event->tag);
    }
    fclose(file);
}

int MPI_Finalize(void)
{
    int rank = 0;
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    put("enter", "MPI_Finalize", NULL, 0, 0);
    int result = PMPI_Finalize();
    put("leave", "MPI_Finalize", NULL, 0, 0);
    write_all(rank);
    return result;
}
