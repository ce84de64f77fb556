/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * make_load DIR RANKS STEPS - writes an OTF2 archive of a made-up solver, for measurements: in each step
 * every rank computes, exchanges a message with both neighbours of a ring by MPI_Irecv, MPI_Isend and
 * MPI_Waitall, and every eighth step ends in an MPI_Allreduce.  Rank 1 computes twice as long.  22 events a
 * step and rank.
 */
#include <otf2/otf2.h>
#include <stdio.h>
#include <stdlib.h>

static OTF2_FlushType on_flush(void *data, OTF2_FileType type, OTF2_LocationRef location, void *caller,
                               bool final)
{
    (void)data, (void)type, (void)location, (void)caller, (void) final;
    return OTF2_FLUSH;
}

enum { MAIN, WORK, IRECV, ISEND, WAITALL, ALLREDUCE, INIT, FINALIZE, REGIONS };
static const char *const names[] = {"main",        "work",          "MPI_Irecv", "MPI_Isend",
                                    "MPI_Waitall", "MPI_Allreduce", "MPI_Init",  "MPI_Finalize"};

static uint64_t last;
static uint64_t count;

/* A rank's events; its times follow from the steps, so that all ranks' fit together. */
static void write_rank(OTF2_EvtWriter *writer, uint32_t rank, uint32_t ranks, uint64_t steps)
{
    uint64_t time = 1000, request = 0;
    count = 0;
#define DO(...) (OTF2_EvtWriter_##__VA_ARGS__, count++)
    DO(Enter(writer, NULL, time++, MAIN));
    DO(Enter(writer, NULL, time++, INIT));
    DO(Leave(writer, NULL, time++, INIT));
    for (uint64_t step = 0; step < steps; step++) {
        uint64_t begin = 2000 + step * 1000;
        uint64_t ready = begin + (rank == 1 ? 400 : 200);
        const uint32_t peers[] = {(rank + 1) % ranks, (rank + ranks - 1) % ranks};
        uint64_t requests[4];
        DO(Enter(writer, NULL, begin, WORK));
        DO(Leave(writer, NULL, ready, WORK));
        time = ready;
        for (int i = 0; i < 2; i++) {
            requests[i] = ++request;
            DO(Enter(writer, NULL, ++time, IRECV));
            DO(MpiIrecvRequest(writer, NULL, time, requests[i]));
            DO(Leave(writer, NULL, ++time, IRECV));
        }
        for (int i = 0; i < 2; i++) {
            requests[2 + i] = ++request;
            DO(Enter(writer, NULL, ++time, ISEND));
            DO(MpiIsend(writer, NULL, time, peers[i], 0, (uint32_t)i, 1024, requests[2 + i]));
            DO(Leave(writer, NULL, ++time, ISEND));
        }
        DO(Enter(writer, NULL, ++time, WAITALL));
        time = begin + 600;
        for (int i = 0; i < 2; i++)
            DO(MpiIrecv(writer, NULL, time, peers[1 - i], 0, (uint32_t)i, 1024, requests[i]));
        for (int i = 0; i < 2; i++)
            DO(MpiIsendComplete(writer, NULL, time, requests[2 + i]));
        DO(Leave(writer, NULL, ++time, WAITALL));
        if (step % 8 == 7) {
            DO(Enter(writer, NULL, ++time, ALLREDUCE));
            DO(MpiCollectiveBegin(writer, NULL, time));
            time = begin + 700;
            DO(MpiCollectiveEnd(writer, NULL, time, OTF2_COLLECTIVE_OP_ALLREDUCE, 0,
                                OTF2_COLLECTIVE_ROOT_NONE, 8, 8));
            DO(Leave(writer, NULL, ++time, ALLREDUCE));
        }
    }
    time = 2000 + steps * 1000;
    DO(Enter(writer, NULL, time, FINALIZE));
    DO(Leave(writer, NULL, ++time, FINALIZE));
    DO(Leave(writer, NULL, ++time, MAIN));
#undef DO
    last = time;
}

static void write_definitions(OTF2_GlobalDefWriter *writer, uint32_t ranks)
{
    uint64_t *all = calloc(ranks, sizeof *all);
    OTF2_GlobalDefWriter_WriteClockProperties(writer, 1000000000, 1000, last, OTF2_UNDEFINED_TIMESTAMP);
    for (unsigned i = 0; i < REGIONS; i++)
        OTF2_GlobalDefWriter_WriteString(writer, i, names[i]);
    OTF2_GlobalDefWriter_WriteString(writer, REGIONS, "");
    OTF2_GlobalDefWriter_WriteString(writer, REGIONS + 1, "load.c");
    OTF2_GlobalDefWriter_WriteString(writer, REGIONS + 2, "MPI_COMM_WORLD");
    OTF2_GlobalDefWriter_WriteParadigm(writer, OTF2_PARADIGM_MPI, REGIONS, OTF2_PARADIGM_CLASS_PROCESS);
    OTF2_GlobalDefWriter_WriteSystemTreeNode(writer, 0, REGIONS, REGIONS, OTF2_UNDEFINED_SYSTEM_TREE_NODE);
    for (uint32_t i = 0; i < ranks; i++) {
        all[i] = i;
        OTF2_GlobalDefWriter_WriteLocationGroup(writer, i, REGIONS, OTF2_LOCATION_GROUP_TYPE_PROCESS, 0,
                                                OTF2_UNDEFINED_LOCATION_GROUP);
        OTF2_GlobalDefWriter_WriteLocation(writer, i, REGIONS, OTF2_LOCATION_TYPE_CPU_THREAD, count, i);
    }
    for (unsigned i = 0; i < REGIONS; i++)
        OTF2_GlobalDefWriter_WriteRegion(writer, i, i, i, REGIONS, OTF2_REGION_ROLE_FUNCTION,
                                         i <= WORK ? OTF2_PARADIGM_COMPILER : OTF2_PARADIGM_MPI,
                                         OTF2_REGION_FLAG_NONE,
                                         i <= WORK ? REGIONS + 1 : OTF2_UNDEFINED_STRING, 10 * (i + 1), 0);
    OTF2_GlobalDefWriter_WriteGroup(writer, 0, REGIONS, OTF2_GROUP_TYPE_COMM_LOCATIONS, OTF2_PARADIGM_MPI,
                                    OTF2_GROUP_FLAG_NONE, ranks, all);
    OTF2_GlobalDefWriter_WriteGroup(writer, 1, REGIONS, OTF2_GROUP_TYPE_COMM_GROUP, OTF2_PARADIGM_MPI,
                                    OTF2_GROUP_FLAG_NONE, ranks, all);
    OTF2_GlobalDefWriter_WriteComm(writer, 0, REGIONS + 2, 1, OTF2_UNDEFINED_COMM, OTF2_COMM_FLAG_NONE);
    free(all);
}

int main(int argc, char **argv)
{
    static const OTF2_FlushCallbacks flush = {on_flush, NULL};
    uint32_t ranks = argc == 4 ? (uint32_t)strtoul(argv[2], NULL, 10) : 0;
    uint64_t steps = argc == 4 ? strtoull(argv[3], NULL, 10) : 0;
    if (ranks < 2 || steps == 0) {
        fprintf(stderr, "usage: make_load DIR RANKS STEPS\n");
        return EXIT_FAILURE;
    }
    OTF2_Archive *archive = OTF2_Archive_Open(argv[1], "traces", OTF2_FILEMODE_WRITE, 1024 * 1024,
                                              4 * 1024 * 1024, OTF2_SUBSTRATE_POSIX, OTF2_COMPRESSION_NONE);
    if (!archive)
        return EXIT_FAILURE;
    OTF2_Archive_SetFlushCallbacks(archive, &flush, NULL);
    OTF2_Archive_SetSerialCollectiveCallbacks(archive);
    OTF2_Archive_OpenEvtFiles(archive);
    for (uint32_t i = 0; i < ranks; i++) {
        OTF2_EvtWriter *writer = OTF2_Archive_GetEvtWriter(archive, i);
        write_rank(writer, i, ranks, steps);
        OTF2_Archive_CloseEvtWriter(archive, writer);
    }
    OTF2_Archive_CloseEvtFiles(archive);
    OTF2_Archive_OpenDefFiles(archive);
    for (uint32_t i = 0; i < ranks; i++)
        OTF2_Archive_CloseDefWriter(archive, OTF2_Archive_GetDefWriter(archive, i));
    OTF2_Archive_CloseDefFiles(archive);
    write_definitions(OTF2_Archive_GetGlobalDefWriter(archive), ranks);
    OTF2_Archive_Close(archive);
    return EXIT_SUCCESS;
}
