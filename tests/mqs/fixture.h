/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * fixture - what the tests on made-up processes share: the process under test, in each variant.
 */
#ifndef FIXTURE_H
#define FIXTURE_H

#include <CUnit/Basic.h>
#include <string.h>

#include "error.h"
#include "made_up_mpi.h"
#include "mqs_extensions.h"
#include "ompi_mqs.h"

static struct made_up_mpi *mpi;
static const mqs_extensions *more;

struct variant {
    int pointer_size;
    bool big_endian;
    bool line5;
};

static const struct variant variants[] = {
    {8, false, false}, {8, false, true}, {4, false, false},
    {4, true, true},   {8, true, false}, {8, true, true},
};

static void open_process(const struct variant *variant, int size, int rank)
{
    mpi = made_up_mpi_create(variant->pointer_size, variant->big_endian, variant->line5, size, rank, 96);
    more = mqs_get_extensions();
}

static void set_up(void)
{
    CU_ASSERT_EQUAL_FATAL(made_up_open(mpi->memory), mqs_ok);
    CU_ASSERT_EQUAL_FATAL(mqs_setup_communicator_iterator(made_up_process(mpi->memory)), mqs_ok);
}

static void close_process(void)
{
    made_up_close(mpi->memory);
    CU_ASSERT_EQUAL(made_up_counts()->blocks, 0);
    made_up_mpi_destroy(mpi);
}

/* The n-th operation of a class on the current communicator. */
static inline int operation(int class_, int n, mqs_pending_operation *op, mqs_operation_details *details)
{
    mqs_process *process = made_up_process(mpi->memory);
    int code = mqs_setup_operation_iterator(process, class_);

    for (int i = 0; code == mqs_ok && i <= n; i++) {
        code = mqs_next_operation(process, op);
    }
    if (code == mqs_ok && details != NULL) {
        code = more->get_operation_details(process, details);
    }
    return code;
}

#define PUT(address, type, member, value)                               \
    made_up_put(mpi->memory, (address) + offsetof(struct type, member), \
                (int)sizeof(((struct type *)0)->member), value)

/* The root that a patched library has, with nothing in it yet. */
static inline mqs_taddr_t patched_root(void)
{
    mqs_taddr_t root = made_up_allocate(mpi->memory, sizeof(struct ompi_mqs_root));

    made_up_put_bytes(mpi->memory, root, OMPI_MQS_MAGIC, 8);
    PUT(root, ompi_mqs_root, byte_order, OMPI_MQS_BYTE_ORDER);
    PUT(root, ompi_mqs_root, version_major, OMPI_MQS_VERSION_MAJOR);
    PUT(root, ompi_mqs_root, size, sizeof(struct ompi_mqs_root));
    PUT(root, ompi_mqs_root, pointer_size, (uint64_t)made_up_size(mpi->memory, "pointer"));
    PUT(root, ompi_mqs_root, jobid, MADE_UP_JOBID);
    PUT(root, ompi_mqs_root, world_size, 4);
    made_up_symbol(mpi->memory, "ompi_mqs_root", root);
    return root;
}

#define ALL_VARIANTS for (const struct variant *v = variants; v < variants + sizeof variants / sizeof *v; v++)

#endif
