/* SPDX-License-Identifier: BSD-3-Clause */
/* write_private - what write and write_definitions share. */
#ifndef MPIQ_TRACE_WRITE_PRIVATE_H
#define MPIQ_TRACE_WRITE_PRIVATE_H

#include <otf2/otf2.h>

#include "base/array.h"
#include "base/hash_table.h"
#include "state/job_state.h"
#include "trace/definitions.h"

struct mpiq_write_region {
    uint32_t name, file; /* strings; file MPIQ_NONE */
    int32_t line;
    bool mpi;
};

struct mpiq_write_location {
    uint64_t id, events;
    uint32_t process;
};

struct mpiq_writing {
    const struct mpiq_job_state *job;
    OTF2_Archive *archive;
    OTF2_EvtWriter *writer; /* of the location that is being written */
    OTF2_AttributeList *list;
    uint64_t last;       /* time of its last event */
    uint64_t events;     /* of it so far */
    uint64_t first, end; /* of all */
    int64_t start_ns;
    char **strings;
    uint32_t string_count, string_room;
    struct mpiq_hash_table string_table;
    struct mpiq_write_region *regions;
    uint32_t region_count, region_room;
    struct mpiq_write_location *locations;
    uint32_t location_count, location_room;
    bool failed;
};

/* write_definitions.c: the definitions that the events need, which have all been written. */
void mpiq_write_definitions(struct mpiq_writing *writing);

/* Id of a string. */
uint32_t mpiq_write_string(struct mpiq_writing *writing, const char *text);

#endif
