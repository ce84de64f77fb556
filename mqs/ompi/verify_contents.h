/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * verify_contents - the checks of known contents, one for each structure that has any.  Each returns what is
 * wrong, or NULL.  It requires its structure to be in the layout with all its members.
 */
#ifndef MQS_OMPI_VERIFY_CONTENTS_H
#define MQS_OMPI_VERIFY_CONTENTS_H

#include <stdbool.h>

#include "memory.h"

/* verify_communicators.c */
const char *check_array(struct memory *memory);
const char *check_comm(struct memory *memory);
const char *check_group(struct memory *memory);
const char *check_proc(struct memory *memory);
const char *check_coll(struct memory *memory);

/* verify_requests.c */
const char *check_component(struct memory *memory);
const char *check_request(struct memory *memory);
const char *check_free_list(struct memory *memory);
const char *check_list(struct memory *memory);
const char *check_pml(struct memory *memory);
const char *check_part(struct memory *memory);

/* Whether PML ob1 has made receives. */
bool ob1_has_receives(struct memory *memory);

/* verify_ob1.c */
const char *check_ob1_comm(struct memory *memory);
const char *check_ob1_proc(struct memory *memory);
const char *check_libnbc(struct memory *memory);

/* verify_datatypes.c */
const char *check_opal_type(struct memory *memory);
const char *check_type(struct memory *memory);
const char *check_description(struct memory *memory);
const char *check_op(struct memory *memory);

#endif
