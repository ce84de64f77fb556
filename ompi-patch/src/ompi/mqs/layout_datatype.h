/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * layout_datatype.h - the rows of how a derived datatype was made, which only ompi_datatype_args.c knows.
 * Included there, behind the type's definition.
 */
#ifndef OMPI_MQS_LAYOUT_DATATYPE_H
#define OMPI_MQS_LAYOUT_DATATYPE_H

#include <stddef.h>

#include "ompi/mqs/layout.h"

#if OMPI_MQS

static const struct ompi_mqs_row ompi_mqs_rows_datatype[] = {
    OMPI_MQS_TYPE_SIZE(ompi_datatype_args_t, ompi_datatype_args_t)
    OMPI_MQS_TYPE_MEMBER(ompi_datatype_args_t, ompi_datatype_args_t, create_type)
    OMPI_MQS_TYPE_MEMBER(ompi_datatype_args_t, ompi_datatype_args_t, ci)
    OMPI_MQS_TYPE_MEMBER(ompi_datatype_args_t, ompi_datatype_args_t, ca)
    OMPI_MQS_TYPE_MEMBER(ompi_datatype_args_t, ompi_datatype_args_t, cd)
    OMPI_MQS_TYPE_MEMBER(ompi_datatype_args_t, ompi_datatype_args_t, i)
    OMPI_MQS_TYPE_MEMBER(ompi_datatype_args_t, ompi_datatype_args_t, a)
    OMPI_MQS_TYPE_MEMBER(ompi_datatype_args_t, ompi_datatype_args_t, d)
};

OMPI_MQS_TABLE(ompi_mqs_layout_datatype, "datatype", ompi_mqs_rows_datatype)

static void __attribute__((constructor)) ompi_mqs_layout_datatype_loaded(void)
{
    ompi_mqs_layout_datatype_add();
}

#endif /* OMPI_MQS */
#endif
