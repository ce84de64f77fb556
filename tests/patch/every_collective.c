/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * every_collective.c - calls each collective that moves data, blocking, non-blocking and persistent, on
 * MPI_COMM_WORLD, a dup, split halves, an intercommunicator where the standard allows it, MPI_COMM_SELF, and
 * each of them with count 0; after each the counts of all classes, the ring's newest entry and the running
 * number must be exact, as the program itself reads them and as a reader outside does (ledger.h).
 *
 * Run with 2, 4, 6 or 8 ranks.  Every rank gives every call the same, largest possible buffers.
 */
#include "ledger.h"

#if OMPI_MAJOR_VERSION < 5
#include <mpi-ext.h>
#define INIT(name) MPIX_##name##_init
#else
#define INIT(name) MPI_##name##_init
#endif

#define RANKS 8
#define COUNT 3

static int in[RANKS * COUNT * 2], out[RANKS * COUNT * 2];
static int counts[RANKS * 2], starts[RANKS * 2], wstarts[RANKS * 2];
static MPI_Aint astarts[RANKS * 2];
static MPI_Datatype types[RANKS * 2];

/* Where a call is made, and with what. */
struct place {
    const char *name;
    MPI_Comm comm;
    int inter;
    int ring; /* has neighbours */
    int count;
    int root; /* as this rank gives it */
};

struct expected {
    int64_t count;
    MPI_Datatype datatype;
    MPI_Op op;
    int root;
};

static const struct expected nothing = {0, MPI_DATATYPE_NULL, MPI_OP_NULL, -1};

static struct expected sized(const struct place *at)
{
    struct expected want = {at->count, MPI_INT, MPI_OP_NULL, -1};

    return want;
}

static struct expected rooted(const struct place *at)
{
    struct expected want = {at->count, MPI_INT, MPI_OP_NULL, at->root};

    return want;
}

static struct expected reduced(const struct place *at, int root)
{
    struct expected want = {at->count, MPI_INT, MPI_SUM, root};

    return want;
}

static struct expected typed(const struct place *at)
{
    struct expected want = {0, MPI_INT, MPI_OP_NULL, -1};

    (void)at;
    return want;
}

static ompi_mqs_addr_t handle(const void *object, const void *none)
{
    return object == none ? 0 : (uintptr_t)object;
}

/* What the last call left behind, compared with what there was before; counts: whether it counts by itself.
 */
static void compare(const struct place *at, int class, const struct snapshot *before, int counts,
                    struct expected want)
{
    const struct ompi_mqs_collectives *record = record_of(at->comm);
    const struct ompi_mqs_call call = newest(record);
    unsigned int i;
    Dl_info caller, here;

    for (i = 0; i < record->classes; i++) {
        uint32_t due = before->counts[i].calls + ((int)i == class ? (unsigned int)counts : 0);

        CHECK(counts_of(record, i).calls == due, "%s on %s: %s counts %u, not %u", class_names[class],
              at->name, class_names[i], counts_of(record, i).calls, due);
        CHECK(ompi_mqs_active(counts_of(record, i)) == 0, "%s on %s: %s is active", class_names[class],
              at->name, class_names[i]);
    }
    CHECK(calls_so_far(record) == calls_so_far(&before->record) + 1, "%s on %s: number %lu after %lu",
          class_names[class], at->name, calls_so_far(record), calls_so_far(&before->record));
    CHECK(ompi_mqs_ring_number(record->position, newest_slot(record)) == calls_so_far(record), "%s on %s",
          class_names[class], at->name);
    CHECK(call.collective == class, "%s on %s: the ring says %s", class_names[class], at->name,
          class_names[call.collective]);
    CHECK(call.flags & OMPI_MQS_CALL_ORDERED, "%s on %s", class_names[class], at->name);
    CHECK(call.count == want.count, "%s on %s: count %ld, not %ld", class_names[class], at->name,
          (long)call.count, (long)want.count);
    CHECK(call.root == want.root, "%s on %s: root %d, not %d", class_names[class], at->name, call.root,
          want.root);
    CHECK(call.datatype == handle(want.datatype, MPI_DATATYPE_NULL), "%s on %s: datatype", class_names[class],
          at->name);
    CHECK(call.op == handle(want.op, MPI_OP_NULL), "%s on %s: op", class_names[class], at->name);
    CHECK(dladdr((void *)(uintptr_t)call.caller, &caller) && dladdr((void *)compare, &here) &&
              caller.dli_fbase == here.dli_fbase,
          "%s on %s: the caller is not this program", class_names[class], at->name);
    CHECK(record->outstanding == 0, "%s on %s: still outstanding", class_names[class], at->name);
    ledger_call(at->comm, class, counts, want.count, want.datatype == MPI_INT ? "MPI_INT" : "",
                want.op == MPI_SUM ? "MPI_SUM" : "", want.root);
    ledger_stop(at->comm, -1);
}

/* A persistent call made: it has its number, and each of its starts counts. */
static void starts_count(const struct place *at, int class, MPI_Request *request)
{
    const struct ompi_mqs_collectives *record = record_of(at->comm);
    uint32_t before = counts_of(record, class).calls;
    uint64_t numbers = calls_so_far(record);
    uint32_t round;

    for (round = 1; round <= 2; round++) {
        MPI_Start(request);
        CHECK(counts_of(record, class).calls == before + round, "%s on %s: counts %u after start %u",
              class_names[class], at->name, counts_of(record, class).calls - before, round);
        CHECK(ompi_mqs_active(counts_of(record, class)) == outstanding_of(record),
              "%s on %s: active %u, outstanding %u", class_names[class], at->name,
              ompi_mqs_active(counts_of(record, class)), outstanding_of(record));
        MPI_Wait(request, MPI_STATUS_IGNORE);
        CHECK(ompi_mqs_active(counts_of(record, class)) == 0 && record->outstanding == 0,
              "%s on %s: active after a wait", class_names[class], at->name);
        ledger_start(at->comm, class);
    }
    CHECK(calls_so_far(record) == numbers, "%s on %s: starts take numbers", class_names[class], at->name);
    ledger_stop(at->comm, -1);
    MPI_Request_free(request);
}

#define TRY_(at, id, counts, want, ...)                              \
    do {                                                             \
        struct snapshot before = snapshot_of(record_of((at)->comm)); \
        __VA_ARGS__;                                                 \
        compare((at), OMPI_MQS_##id, &before, (counts), (want));     \
    } while (0)

#define TRY(at, id, want, ...) TRY_(at, id, 1, want, __VA_ARGS__)

#define TRY_PERSISTENT(at, id, want, ...)                   \
    do {                                                    \
        TRY_(at, id##_init, 0, want, __VA_ARGS__);          \
        starts_count((at), OMPI_MQS_##id##_init, &request); \
    } while (0)

/* The blocking one, then the non-blocking one: the same arguments, and a request that is waited for; then the
   persistent one. */
#define EACH(at, id, Name, iName, want, ...)                                                        \
    do {                                                                                            \
        MPI_Request request;                                                                        \
        TRY(at, id, want, MPI_##Name(__VA_ARGS__, (at)->comm));                                     \
        TRY(at, i##id, want, MPI_##iName(__VA_ARGS__, (at)->comm, &request);                        \
            MPI_Wait(&request, MPI_STATUS_IGNORE));                                                 \
        TRY_PERSISTENT(at, id, want, INIT(Name)(__VA_ARGS__, (at)->comm, MPI_INFO_NULL, &request)); \
    } while (0)

static void everywhere(const struct place *at)
{
    MPI_Request request;
    int c = at->count;

    TRY(at, barrier, nothing, MPI_Barrier(at->comm));
    TRY(at, ibarrier, nothing, MPI_Ibarrier(at->comm, &request); MPI_Wait(&request, MPI_STATUS_IGNORE));
    TRY_PERSISTENT(at, barrier, nothing, INIT(Barrier)(at->comm, MPI_INFO_NULL, &request));
    EACH(at, bcast, Bcast, Ibcast, rooted(at), in, c, MPI_INT, at->root);
    EACH(at, allgather, Allgather, Iallgather, sized(at), in, c, MPI_INT, out, c, MPI_INT);
    EACH(at, allgatherv, Allgatherv, Iallgatherv, sized(at), in, c, MPI_INT, out, counts, starts, MPI_INT);
    EACH(at, allreduce, Allreduce, Iallreduce, reduced(at, -1), in, out, c, MPI_INT, MPI_SUM);
    EACH(at, alltoall, Alltoall, Ialltoall, sized(at), in, c, MPI_INT, out, c, MPI_INT);
    EACH(at, alltoallv, Alltoallv, Ialltoallv, typed(at), in, counts, starts, MPI_INT, out, counts, starts,
         MPI_INT);
    EACH(at, alltoallw, Alltoallw, Ialltoallw, nothing, in, counts, wstarts, types, out, counts, wstarts,
         types);
    EACH(at, reduce, Reduce, Ireduce, reduced(at, at->root), in, out, c, MPI_INT, MPI_SUM, at->root);
    EACH(at, gather, Gather, Igather, rooted(at), in, c, MPI_INT, out, c, MPI_INT, at->root);
    EACH(at, scatter, Scatter, Iscatter, rooted(at), in, c, MPI_INT, out, c, MPI_INT, at->root);
    EACH(at, reduce_scatter_block, Reduce_scatter_block, Ireduce_scatter_block, reduced(at, -1), in, out, c,
         MPI_INT, MPI_SUM);
}

/* Those where the two sides of an intercommunicator differ in what they give. */
static void with_arrays_at_root(const struct place *at)
{
    struct expected want = rooted(at);
    struct expected scattered = reduced(at, -1);

    if (at->inter && MPI_ROOT == at->root) {
        want.count = 0; /* an array's place */
    }
    scattered.count = 0;
    EACH(at, gatherv, Gatherv, Igatherv, want, in, at->count, MPI_INT, out, counts, starts, MPI_INT,
         at->root);
    EACH(at, scatterv, Scatterv, Iscatterv, want, in, counts, starts, MPI_INT, out, at->count, MPI_INT,
         at->root);
    EACH(at, reduce_scatter, Reduce_scatter, Ireduce_scatter, scattered, in, out, counts, MPI_INT, MPI_SUM);
}

static void only_intra(const struct place *at)
{
    EACH(at, scan, Scan, Iscan, reduced(at, -1), in, out, at->count, MPI_INT, MPI_SUM);
    EACH(at, exscan, Exscan, Iexscan, reduced(at, -1), in, out, at->count, MPI_INT, MPI_SUM);
}

static void neighbours(const struct place *at)
{
    int c = at->count;

    EACH(at, neighbor_allgather, Neighbor_allgather, Ineighbor_allgather, sized(at), in, c, MPI_INT, out, c,
         MPI_INT);
    EACH(at, neighbor_allgatherv, Neighbor_allgatherv, Ineighbor_allgatherv, sized(at), in, c, MPI_INT, out,
         counts, starts, MPI_INT);
    EACH(at, neighbor_alltoall, Neighbor_alltoall, Ineighbor_alltoall, sized(at), in, c, MPI_INT, out, c,
         MPI_INT);
    EACH(at, neighbor_alltoallv, Neighbor_alltoallv, Ineighbor_alltoallv, typed(at), in, counts, starts,
         MPI_INT, out, counts, starts, MPI_INT);
    EACH(at, neighbor_alltoallw, Neighbor_alltoallw, Ineighbor_alltoallw, nothing, in, counts, astarts, types,
         out, counts, astarts, types);
}

static void visit_with(struct place at, int count)
{
    int i;

    at.count = count;
    for (i = 0; i < RANKS * 2; i++) {
        counts[i] = count;
        starts[i] = i * count;
        wstarts[i] = i * count * (int)sizeof(int);
        astarts[i] = wstarts[i];
        types[i] = MPI_INT;
    }
    everywhere(&at);
    with_arrays_at_root(&at);
    if (!at.inter) {
        only_intra(&at);
    }
    if (at.ring) {
        neighbours(&at);
    }
}

static void visit(struct place at)
{
    visit_with(at, COUNT);
    visit_with(at, 0);
}

/* The communicators, and the calls that make them. */
int main(int argc, char **argv)
{
    MPI_Comm dup, half, inter, cart, alone;
    int rank, size, mine, one = 1, periodic = 1, root;

    MPI_Init(&argc, &argv);
    ledger_process(OMPI_MQS_init);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    CHECK(size % 2 == 0 && size <= RANKS, "%d ranks", size);
    MPI_Comm_dup(MPI_COMM_WORLD, &dup);
    ledger_call(MPI_COMM_WORLD, OMPI_MQS_comm_dup, 1, 0, "", "", -1);
    mine = rank < size / 2;
    MPI_Comm_split(MPI_COMM_WORLD, mine, rank, &half);
    ledger_call(MPI_COMM_WORLD, OMPI_MQS_comm_split, 1, 0, "", "", -1);
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, mine ? size / 2 : 0, 11, &inter);
    ledger_call(half, OMPI_MQS_intercomm_create, 1, 0, "", "", -1);
    MPI_Cart_create(MPI_COMM_WORLD, 1, &size, &periodic, 0, &cart);
    ledger_call(MPI_COMM_WORLD, OMPI_MQS_cart_create, 1, 0, "", "", -1);
    MPI_Cart_create(MPI_COMM_SELF, 1, &one, &periodic, 0, &alone);
    ledger_call(MPI_COMM_SELF, OMPI_MQS_cart_create, 1, 0, "", "", -1);
    root = !mine ? 0 : rank == 0 ? MPI_ROOT : MPI_PROC_NULL;

    visit((struct place){.name = "world", .comm = MPI_COMM_WORLD});
    visit((struct place){.name = "dup", .comm = dup, .root = size - 1});
    visit((struct place){.name = "half", .comm = half});
    visit((struct place){.name = "self", .comm = MPI_COMM_SELF});
    visit((struct place){.name = "inter", .comm = inter, .inter = 1, .root = root});
    visit((struct place){.name = "cart", .comm = cart, .ring = 1});
    visit((struct place){.name = "cart of one", .comm = alone, .ring = 1});
    if (0 == rank) {
        printf("stops: %d\n", stops);
        fflush(stdout);
    }
    return finish("every_collective");
}
