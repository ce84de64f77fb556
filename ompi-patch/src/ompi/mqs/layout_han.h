/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * layout_han.h - the rows of coll/han: the hidden communicators in which it does a communicator's collectives,
 * within a node and between nodes.  See layout_ob1.h.
 */
#ifndef OMPI_MQS_LAYOUT_HAN_H
#define OMPI_MQS_LAYOUT_HAN_H

#include <stddef.h>

#include "ompi/mqs/layout.h"

#if OMPI_MQS

#include "ompi/mca/coll/han/coll_han.h"

static const struct ompi_mqs_row ompi_mqs_rows_han[] = {
    OMPI_MQS_SIZE(mca_coll_han_module_t)
    OMPI_MQS_MEMBER(mca_coll_han_module_t, sub_comm)
    OMPI_MQS_MEMBER(mca_coll_han_module_t, cached_low_comms)
    OMPI_MQS_MEMBER(mca_coll_han_module_t, cached_up_comms)
};

OMPI_MQS_TABLE(ompi_mqs_layout_han, "coll/han", ompi_mqs_rows_han)

static void __attribute__((constructor)) ompi_mqs_layout_han_loaded(void)
{
    ompi_mqs_layout_han_add();
}

static void __attribute__((destructor)) ompi_mqs_layout_han_unloaded(void)
{
    ompi_mqs_table_remove(&ompi_mqs_layout_han);
}

#endif /* OMPI_MQS */
#endif
