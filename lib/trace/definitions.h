/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * definitions - what an OTF2 archive defines: regions, locations and their ranks, groups, communicators.
 *
 * Filled from libotf2's callbacks and checked once, when all are there: every index is in range, every
 * communicator's members are ranks of the trace.  It leaves to others: the events (stream.h).
 */
#ifndef MPIQ_TRACE_DEFINITIONS_H
#define MPIQ_TRACE_DEFINITIONS_H

#include <otf2/otf2.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/hash_table.h"
#include "trace/call.h"

#define MPIQ_TRACE_NONE UINT32_MAX /* of an index */

struct mpiq_trace_region {
    uint64_t id;
    const char *name;
    const char *file;   /* NULL not known */
    int32_t line;       /* 0 not known */
    int16_t collective; /* class of ompi_mqs.h; -1 */
    uint8_t call;       /* enum mpiq_trace_call */
    bool graph;         /* makes a communicator with neighbours that no definition names */
};

struct mpiq_trace_location {
    uint64_t id;
    uint64_t events; /* as defined */
    const char *name;
    uint64_t process; /* id of the location group */
    uint32_t rank;    /* world rank; MPIQ_TRACE_NONE: of no MPI process */
};

struct mpiq_trace_process {
    uint64_t id;
    uint64_t node; /* of the system tree */
};

struct mpiq_trace_node {
    uint64_t id;
    uint64_t parent;
    const char *name;
    bool host;
};

struct mpiq_trace_group {
    uint64_t id;
    uint32_t *members; /* world ranks, once checked */
    uint64_t *given;
    uint32_t count;
    bool self;
    bool locations; /* the ranks themselves: the group of all locations of MPI processes */
    bool good;      /* of MPI */
};

/* Of a Cartesian communicator. */
enum { MPIQ_TRACE_DIMENSIONS = 8 };
struct mpiq_trace_dimension {
    uint64_t id;
    uint32_t size;
    bool periodic;
};

struct mpiq_trace_comm {
    uint64_t id;
    const char *name;
    uint64_t group_id, remote_id, parent;
    uint32_t group;  /* MPIQ_TRACE_NONE: not MPI's, or broken */
    uint32_t remote; /* of an intercommunicator; MPIQ_TRACE_NONE */
    bool self;
    bool inter;
    bool world;
    bool announced; /* events say when it is made and freed */
    bool topology;
    bool many_topologies; /* more than one, or one of more dimensions than fit here */
    uint64_t dimension_ids[MPIQ_TRACE_DIMENSIONS];
    uint32_t dimension_count;
};

struct mpiq_trace_window {
    uint64_t id;
    const char *name;
    uint64_t comm_id;
    uint32_t comm;
};

/* What a user-defined attribute of ours says of an operation (write.h). */
enum mpiq_trace_attribute {
    MPIQ_TRACE_PEER,
    MPIQ_TRACE_TAG,
    MPIQ_TRACE_COMM,
    MPIQ_TRACE_ROOT,
    MPIQ_TRACE_NUMBER,
    MPIQ_TRACE_OPEN,
    MPIQ_TRACE_ATTRIBUTES
};
extern const char *const mpiq_trace_attribute_names[MPIQ_TRACE_ATTRIBUTES];

struct mpiq_trace_string {
    uint64_t id;
    char *text;
};

/* Elements by id. */
struct mpiq_trace_index {
    struct mpiq_hash_table table;
};

struct mpiq_trace_definitions {
    struct mpiq_trace_string *strings;
    uint32_t string_count, string_room;
    struct mpiq_trace_region *regions;
    uint32_t region_count, region_room;
    struct mpiq_trace_location *locations;
    uint32_t location_count, location_room;
    struct mpiq_trace_process *location_groups;
    uint32_t location_group_count, location_group_room;
    struct mpiq_trace_node *nodes;
    uint32_t node_count, node_room;
    struct mpiq_trace_group *groups;
    uint32_t group_count, group_room;
    struct mpiq_trace_comm *comms;
    uint32_t comm_count, comm_room;
    struct mpiq_trace_window *windows;
    uint32_t window_count, window_room;
    struct mpiq_trace_dimension *dimensions;
    uint32_t dimension_count, dimension_room;
    uint32_t cart; /* the only Cartesian communicator (cart.h); MPIQ_TRACE_NONE */
    struct mpiq_trace_dimension cart_dimensions[MPIQ_TRACE_DIMENSIONS];
    struct mpiq_trace_index string_index, region_index, location_index, location_group_index, node_index,
        group_index, comm_index, window_index, dimension_index;
    uint64_t resolution; /* ticks a second */
    uint64_t offset;     /* when the trace begins, in ticks */
    uint64_t length;
    uint32_t rank_count;
    uint32_t *masters;                          /* location of each rank */
    uint32_t attributes[MPIQ_TRACE_ATTRIBUTES]; /* their ids; MPIQ_TRACE_NONE */
    bool failed;                                /* no memory */
    bool broken;                                /* a definition contradicts others */
};

/* The callbacks that fill one (it is their user data); the caller deletes what is returned.  NULL without
   memory. */
OTF2_GlobalDefReaderCallbacks *mpiq_trace_definition_callbacks(void);

/* Resolves references.  CORRUPT if the trace is of no MPI program. */
struct mpiq_error *mpiq_trace_definitions_finish(struct mpiq_trace_definitions *definitions);
void mpiq_trace_definitions_deinit(struct mpiq_trace_definitions *definitions);

/* Indexes by id; MPIQ_TRACE_NONE if it is not defined. */
uint32_t mpiq_trace_find_region(const struct mpiq_trace_definitions *definitions, uint64_t id);
uint32_t mpiq_trace_find_comm(const struct mpiq_trace_definitions *definitions, uint64_t id);
uint32_t mpiq_trace_find_window(const struct mpiq_trace_definitions *definitions, uint64_t id);
uint32_t mpiq_trace_find_dimension(const struct mpiq_trace_definitions *definitions, uint64_t id);
const char *mpiq_trace_string(const struct mpiq_trace_definitions *definitions, uint64_t id);

/* World rank of local rank `local` that `rank` sends to or receives from; MPIQ_TRACE_NONE: there is none. */
uint32_t mpiq_trace_peer(const struct mpiq_trace_definitions *definitions, uint32_t comm, uint32_t rank,
                         uint32_t local);
/* Number of members, of both groups; and whether a rank is one.  *local is its local rank, *remote whether
   its group is the remote one. */
uint32_t mpiq_trace_comm_size(const struct mpiq_trace_definitions *definitions, uint32_t comm);
bool mpiq_trace_is_member(const struct mpiq_trace_definitions *definitions, uint32_t comm, uint32_t rank,
                          uint32_t *local, bool *remote);
/* The host of a rank; NULL not known. */
const char *mpiq_trace_host(const struct mpiq_trace_definitions *definitions, uint32_t rank);

#endif
