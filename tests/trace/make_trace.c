/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * make_trace DIR < SCRIPT - writes an OTF2 archive with known content, for tests.
 *
 * The script has one statement a line:
 *
 *     ranks N                         first
 *     comm ID NAME RANK,RANK,…        an intracommunicator ("self" for the ranks: MPI_COMM_SELF)
 *     inter ID NAME A,A,… B,B,…       an intercommunicator
 *     region NAME FILE LINE           one of the program's; others, of MPI, need no statement
 *     RANK TIME EVENT ARGUMENT…       an event; a rank's are in the order of time, in nanoseconds
 *
 * Events: enter NAME, leave NAME, send PEER COMM TAG BYTES, isend PEER COMM TAG BYTES REQUEST, isend-done
 * REQUEST, recv PEER COMM TAG BYTES, irecv-request REQUEST, irecv PEER COMM TAG BYTES REQUEST, cancelled
 * REQUEST, begin, end OPERATION COMM ROOT (ROOT - for none), nbc-request REQUEST, nbc-done OPERATION COMM
 * ROOT REQUEST, create COMM, destroy COMM, program-begin NAME, program-end.
 */
#include <otf2/otf2.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { STRINGS = 4096, REGIONS = 1024, COMMS = 256, RANKS = 4096, WORDS = 8 };

static OTF2_Archive *archive;
static char *strings[STRINGS];
static unsigned string_count;
static struct region {
    const char *name, *file;
    unsigned line;
    int mpi;
} regions[REGIONS];
static unsigned region_count;
/* A Cartesian topology of a communicator: "cart COMM 2p,3" is 2 x 3, periodic in the first dimension.
 */
enum { CARTS = 4, DIMENSIONS = 4 };
static struct cart {
    unsigned comm, count, sizes[DIMENSIONS], periodic[DIMENSIONS];
} carts[CARTS];
static unsigned cart_count;

static struct comm {
    unsigned id, name, group, remote;
    int inter;
} comms[COMMS];
static unsigned comm_count;
static struct group {
    uint64_t members[RANKS];
    unsigned count;
    int self;
} * groups[2 * COMMS];
static unsigned group_count;
static unsigned ranks;
static uint64_t events[RANKS];
static uint64_t first = UINT64_MAX, last;

static void fail(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    fputc('\n', stderr);
    exit(EXIT_FAILURE);
}

static unsigned string_of(const char *text)
{
    for (unsigned i = 0; i < string_count; i++) {
        if (strcmp(strings[i], text) == 0)
            return i;
    }
    if (string_count == STRINGS)
        fail("too many strings");
    strings[string_count] = strdup(text);
    return string_count++;
}

static unsigned region_of(const char *name, const char *file, unsigned line)
{
    for (unsigned i = 0; i < region_count; i++) {
        if (strcmp(regions[i].name, name) == 0)
            return i;
    }
    if (region_count == REGIONS)
        fail("too many regions");
    string_of(name);
    if (file)
        string_of(file);
    regions[region_count] =
        (struct region){strdup(name), file ? strdup(file) : NULL, line, strncmp(name, "MPI_", 4) == 0};
    return region_count++;
}

static unsigned group_of(char *list)
{
    struct group *group = calloc(1, sizeof *group);
    if (!group || group_count == 2 * COMMS)
        fail("too many groups");
    group->self = strcmp(list, "self") == 0;
    for (char *word = strtok(list, ","); word && !group->self; word = strtok(NULL, ","))
        group->members[group->count++] = strtoull(word, NULL, 10);
    groups[group_count] = group;
    return group_count++;
}

static uint32_t root_of(const char *word)
{
    return strcmp(word, "-") == 0      ? OTF2_COLLECTIVE_ROOT_NONE
           : strcmp(word, "self") == 0 ? OTF2_COLLECTIVE_ROOT_SELF
           : strcmp(word, "us") == 0   ? OTF2_COLLECTIVE_ROOT_THIS_GROUP
                                       : (uint32_t)strtoul(word, NULL, 10);
}

static unsigned operation_of(const char *word)
{
    static const char *const names[] = {"barrier",
                                        "bcast",
                                        "gather",
                                        "gatherv",
                                        "scatter",
                                        "scatterv",
                                        "allgather",
                                        "allgatherv",
                                        "alltoall",
                                        "alltoallv",
                                        "alltoallw",
                                        "allreduce",
                                        "reduce",
                                        "reduce_scatter",
                                        "scan",
                                        "exscan",
                                        "reduce_scatter_block",
                                        "create",
                                        "destroy"};
    for (unsigned i = 0; i < sizeof names / sizeof *names; i++) {
        if (strcmp(names[i], word) == 0)
            return i;
    }
    fail("no operation %s", word);
    return 0;
}

/* ---- events ------------------------------------------------------------------------------------------- */

static void write_event(unsigned rank, uint64_t time, char **w, int count)
{
    OTF2_EvtWriter *writer = OTF2_Archive_GetEvtWriter(archive, rank);
    uint64_t n[WORDS] = {0};
    for (int i = 1; i < count; i++)
        n[i] = strtoull(w[i], NULL, 10);
#define IS(name) (strcmp(w[0], name) == 0)
    if (IS("enter"))
        OTF2_EvtWriter_Enter(writer, NULL, time, region_of(w[1], NULL, 0));
    else if (IS("leave"))
        OTF2_EvtWriter_Leave(writer, NULL, time, region_of(w[1], NULL, 0));
    else if (IS("send"))
        OTF2_EvtWriter_MpiSend(writer, NULL, time, (uint32_t)n[1], (uint32_t)n[2], (uint32_t)n[3], n[4]);
    else if (IS("isend"))
        OTF2_EvtWriter_MpiIsend(writer, NULL, time, (uint32_t)n[1], (uint32_t)n[2], (uint32_t)n[3], n[4],
                                n[5]);
    else if (IS("isend-done"))
        OTF2_EvtWriter_MpiIsendComplete(writer, NULL, time, n[1]);
    else if (IS("recv"))
        OTF2_EvtWriter_MpiRecv(writer, NULL, time, (uint32_t)n[1], (uint32_t)n[2], (uint32_t)n[3], n[4]);
    else if (IS("irecv-request"))
        OTF2_EvtWriter_MpiIrecvRequest(writer, NULL, time, n[1]);
    else if (IS("irecv"))
        OTF2_EvtWriter_MpiIrecv(writer, NULL, time, (uint32_t)n[1], (uint32_t)n[2], (uint32_t)n[3], n[4],
                                n[5]);
    else if (IS("cancelled"))
        OTF2_EvtWriter_MpiRequestCancelled(writer, NULL, time, n[1]);
    else if (IS("begin"))
        OTF2_EvtWriter_MpiCollectiveBegin(writer, NULL, time);
    else if (IS("end"))
        OTF2_EvtWriter_MpiCollectiveEnd(writer, NULL, time, (OTF2_CollectiveOp)operation_of(w[1]),
                                        (uint32_t)n[2], root_of(w[3]), 0, 0);
    else if (IS("nbc-request"))
        OTF2_EvtWriter_NonBlockingCollectiveRequest(writer, NULL, time, n[1]);
    else if (IS("nbc-done"))
        OTF2_EvtWriter_NonBlockingCollectiveComplete(writer, NULL, time,
                                                     (OTF2_CollectiveOp)operation_of(w[1]), (uint32_t)n[2],
                                                     root_of(w[3]), 0, 0, n[4]);
    else if (IS("create"))
        OTF2_EvtWriter_CommCreate(writer, NULL, time, (uint32_t)n[1]);
    else if (IS("destroy"))
        OTF2_EvtWriter_CommDestroy(writer, NULL, time, (uint32_t)n[1]);
    else if (IS("program-begin"))
        OTF2_EvtWriter_ProgramBegin(writer, NULL, time, string_of(w[1]), 0, NULL);
    else if (IS("program-end"))
        OTF2_EvtWriter_ProgramEnd(writer, NULL, time, 0);
    else
        fail("no event %s", w[0]);
#undef IS
    events[rank]++;
    first = time < first ? time : first;
    last = time > last ? time : last;
}

/* ---- definitions -------------------------------------------------------------------------------------- */

static void write_definitions(void)
{
    OTF2_GlobalDefWriter *writer = OTF2_Archive_GetGlobalDefWriter(archive);
    unsigned empty = string_of(""), node = string_of("node"), host = string_of("node0");
    unsigned thread = string_of("Master thread"), mpi = string_of("MPI");
    unsigned process[RANKS];
    for (unsigned i = 0; i < ranks; i++) {
        char name[32];
        snprintf(name, sizeof name, "MPI Rank %u", i);
        process[i] = string_of(name);
    }
    OTF2_GlobalDefWriter_WriteClockProperties(writer, 1000000000, first, last - first + 1,
                                              OTF2_UNDEFINED_TIMESTAMP);
    for (unsigned i = 0; i < string_count; i++)
        OTF2_GlobalDefWriter_WriteString(writer, i, strings[i]);
    OTF2_GlobalDefWriter_WriteParadigm(writer, OTF2_PARADIGM_MPI, mpi, OTF2_PARADIGM_CLASS_PROCESS);
    OTF2_GlobalDefWriter_WriteSystemTreeNode(writer, 0, host, node, OTF2_UNDEFINED_SYSTEM_TREE_NODE);
    for (unsigned i = 0; i < ranks; i++) {
        OTF2_GlobalDefWriter_WriteLocationGroup(writer, i, process[i], OTF2_LOCATION_GROUP_TYPE_PROCESS, 0,
                                                OTF2_UNDEFINED_LOCATION_GROUP);
        OTF2_GlobalDefWriter_WriteLocation(writer, i, thread, OTF2_LOCATION_TYPE_CPU_THREAD, events[i], i);
    }
    for (unsigned i = 0; i < region_count; i++) {
        unsigned name = string_of(regions[i].name);
        OTF2_GlobalDefWriter_WriteRegion(
            writer, i, name, name, empty, OTF2_REGION_ROLE_FUNCTION,
            regions[i].mpi ? OTF2_PARADIGM_MPI : OTF2_PARADIGM_COMPILER, OTF2_REGION_FLAG_NONE,
            regions[i].file ? string_of(regions[i].file) : OTF2_UNDEFINED_STRING, regions[i].line, 0);
    }
    uint64_t all[RANKS];
    for (unsigned i = 0; i < ranks; i++)
        all[i] = i;
    OTF2_GlobalDefWriter_WriteGroup(writer, 0, empty, OTF2_GROUP_TYPE_COMM_LOCATIONS, OTF2_PARADIGM_MPI,
                                    OTF2_GROUP_FLAG_NONE, ranks, all);
    for (unsigned i = 0; i < group_count; i++)
        OTF2_GlobalDefWriter_WriteGroup(
            writer, i + 1, empty, groups[i]->self ? OTF2_GROUP_TYPE_COMM_SELF : OTF2_GROUP_TYPE_COMM_GROUP,
            OTF2_PARADIGM_MPI, OTF2_GROUP_FLAG_NONE, groups[i]->count, groups[i]->members);
    for (unsigned i = 0; i < comm_count; i++) {
        if (comms[i].inter)
            OTF2_GlobalDefWriter_WriteInterComm(writer, comms[i].id, comms[i].name, comms[i].group + 1,
                                                comms[i].remote + 1, OTF2_UNDEFINED_COMM,
                                                OTF2_COMM_FLAG_NONE);
        else
            OTF2_GlobalDefWriter_WriteComm(writer, comms[i].id, comms[i].name, comms[i].group + 1,
                                           OTF2_UNDEFINED_COMM, OTF2_COMM_FLAG_NONE);
    }
}

static void write_carts(void)
{
    OTF2_GlobalDefWriter *writer = OTF2_Archive_GetGlobalDefWriter(archive);
    unsigned name = string_of("");
    for (unsigned i = 0; i < cart_count; i++) {
        OTF2_CartDimensionRef dimensions[DIMENSIONS];
        unsigned size = 1;
        for (unsigned j = 0; j < carts[i].count; j++) {
            dimensions[j] = i * DIMENSIONS + j;
            OTF2_GlobalDefWriter_WriteCartDimension(writer, dimensions[j], name, carts[i].sizes[j],
                                                    (OTF2_CartPeriodicity)carts[i].periodic[j]);
            size *= carts[i].sizes[j];
        }
        OTF2_GlobalDefWriter_WriteCartTopology(writer, i, name, carts[i].comm, (uint8_t)carts[i].count,
                                               dimensions);
        for (unsigned rank = 0; rank < size; rank++) {
            uint32_t at[DIMENSIONS];
            unsigned rest = rank;
            for (unsigned j = carts[i].count; j-- > 0; rest /= carts[i].sizes[j])
                at[j] = rest % carts[i].sizes[j];
            OTF2_GlobalDefWriter_WriteCartCoordinate(writer, i, rank, (uint8_t)carts[i].count, at);
        }
    }
}

/* ---- the script --------------------------------------------------------------------------------------- */

static OTF2_FlushType on_flush(void *data, OTF2_FileType type, OTF2_LocationRef location, void *caller,
                               bool final)
{
    (void)data, (void)type, (void)location, (void)caller, (void) final;
    return OTF2_FLUSH;
}

static OTF2_TimeStamp after_flush(void *data, OTF2_FileType type, OTF2_LocationRef location)
{
    (void)data, (void)type, (void)location;
    return last;
}

static void open_archive(const char *directory)
{
    static const OTF2_FlushCallbacks flush = {on_flush, after_flush};
    archive = OTF2_Archive_Open(directory, "traces", OTF2_FILEMODE_WRITE, 1024 * 1024, 4 * 1024 * 1024,
                                OTF2_SUBSTRATE_POSIX, OTF2_COMPRESSION_NONE);
    if (!archive)
        fail("cannot write to %s", directory);
    OTF2_Archive_SetFlushCallbacks(archive, &flush, NULL);
    OTF2_Archive_SetSerialCollectiveCallbacks(archive);
    OTF2_Archive_SetCreator(archive, "make_trace");
    OTF2_Archive_OpenEvtFiles(archive);
}

static void statement(char **w, int count)
{
    if (strcmp(w[0], "ranks") == 0) {
        ranks = (unsigned)strtoul(w[1], NULL, 10);
        if (ranks == 0 || ranks > RANKS)
            fail("so many ranks there cannot be");
        return;
    }
    if (strcmp(w[0], "region") == 0) {
        region_of(w[1], w[2], (unsigned)strtoul(w[3], NULL, 10));
        return;
    }
    if (strcmp(w[0], "cart") == 0) {
        if (cart_count == CARTS)
            fail("too many topologies");
        struct cart *cart = &carts[cart_count++];
        cart->comm = (unsigned)strtoul(w[1], NULL, 10);
        for (char *rest = NULL, *size = strtok_r(w[2], ",", &rest); size && cart->count < DIMENSIONS;
             size = strtok_r(NULL, ",", &rest)) {
            cart->periodic[cart->count] = strchr(size, 'p') != NULL;
            cart->sizes[cart->count++] = (unsigned)strtoul(size, NULL, 10);
        }
        return;
    }
    if (strcmp(w[0], "comm") == 0 || strcmp(w[0], "inter") == 0) {
        int inter = w[0][0] == 'i';
        struct comm comm = {.id = (unsigned)strtoul(w[1], NULL, 10), .name = string_of(w[2]), .inter = inter};
        comm.group = group_of(w[3]);
        comm.remote = inter ? group_of(w[4]) : 0;
        if (comm_count == COMMS)
            fail("too many communicators");
        comms[comm_count++] = comm;
        return;
    }
    unsigned rank = (unsigned)strtoul(w[0], NULL, 10);
    if (count < 3 || rank >= ranks)
        fail("no statement: %s", w[0]);
    write_event(rank, strtoull(w[1], NULL, 10), w + 2, count - 2);
}

int main(int argc, char **argv)
{
    char *line = NULL;
    size_t room = 0;
    if (argc != 2)
        fail("usage: make_trace DIR < SCRIPT");
    open_archive(argv[1]);
    string_of("");
    while (getline(&line, &room, stdin) > 0) {
        char *words[WORDS + 2] = {NULL}, *rest = NULL;
        int count = 0;
        for (char *word = strtok_r(line, " \n", &rest); word && count < WORDS + 2;
             word = strtok_r(NULL, " \n", &rest))
            words[count++] = word;
        if (count > 0)
            statement(words, count);
    }
    for (unsigned i = 0; i < ranks; i++)
        OTF2_Archive_CloseEvtWriter(archive, OTF2_Archive_GetEvtWriter(archive, i));
    OTF2_Archive_CloseEvtFiles(archive);
    OTF2_Archive_OpenDefFiles(archive);
    for (unsigned i = 0; i < ranks; i++)
        OTF2_Archive_CloseDefWriter(archive, OTF2_Archive_GetDefWriter(archive, i));
    OTF2_Archive_CloseDefFiles(archive);
    write_definitions();
    write_carts();
    OTF2_Archive_Close(archive);
    return EXIT_SUCCESS;
}
