/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * group - the members of a group, by name.
 *
 * A dense group holds pointers to processes, any of which may be a sentinel: a number that spells the
 * peer's name.  A sparse one (sporadic, strided, bitmap) selects from its parent.  World ranks come from
 * names, never from comparing pointers.
 */
#ifndef MQS_OMPI_GROUP_H
#define MQS_OMPI_GROUP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "memory.h"
#include "mqs_extensions.h"

#define GROUP_MAX_SIZE (1 << 22)

/* Reads groups.  With memory set and the rest zero it knows no name of the process's own. */
struct groups {
    struct memory *memory;
    mqs_process_name self; /* this process */
    bool self_known;
    struct {
        bool valid;
        mqs_taddr_t group;
        int rank;
        mqs_process_name name;
    } last; /* member that was asked for; operations come by communicator and peer */
};

int group_size(struct memory *memory, mqs_taddr_t group, int *ret);

/* A size is to be believed, and memory to be taken for it, once the last member can be read. */
int group_check(struct groups *groups, mqs_taddr_t group, int count);

/* `count` names in rank order; count is the group's size. */
int group_members(struct groups *groups, mqs_taddr_t group, int count, mqs_process_name *names);

/* One member; ERROR_GROUP if there is no such rank. */
int group_member(struct groups *groups, mqs_taddr_t group, int rank, mqs_process_name *ret);

/* Name of the process that a pointer in a group, or a request, stands for. */
int group_name_of(struct groups *groups, mqs_taddr_t proc, mqs_process_name *ret);

/* Rank in this process's MPI_COMM_WORLD, or MQS_INVALID_PROCESS. */
int group_world_rank(const struct groups *groups, mqs_process_name name);

/* As ompi_mqs.h defines it. */
uint64_t group_hash(const mqs_process_name *names, int count);

#endif
