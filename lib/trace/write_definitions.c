/* SPDX-License-Identifier: BSD-3-Clause */
/* The definitions of an archive that mpiq writes: strings first, so all names are looked up before. */
#include <stdio.h>
#include <stdlib.h>

#include "trace/write_private.h"

enum { GROUP_WORLD, GROUP_SELF, GROUP_FIRST };

static const char *name_of(const struct mpiq_job_state *job, uint32_t comm)
{
    const struct mpiq_job_communicator *row = &job->communicators[comm];
    const char *name = row->flags & MPIQ_COMM_SELF ? "MPI_COMM_SELF" : mpiq_job_string(job, row->name);
    return name ? name : "";
}

static uint32_t host_of(struct mpiq_writing *writing, uint32_t process)
{
    const struct mpiq_job_rank *rank = mpiq_job_rank_of(writing->job, process);
    const char *host = rank ? mpiq_job_string(writing->job, rank->host) : NULL;
    return mpiq_write_string(writing, host ? host : "?");
}

/* All names, before the first of them is written. */
static void collect_strings(struct mpiq_writing *writing)
{
    const struct mpiq_job_state *job = writing->job;
    static const char *const fixed[] = {"", "MPI", "node", "thread"};
    for (size_t i = 0; i < sizeof fixed / sizeof *fixed; i++)
        mpiq_write_string(writing, fixed[i]);
    for (int i = 0; i < MPIQ_TRACE_ATTRIBUTES; i++)
        mpiq_write_string(writing, mpiq_trace_attribute_names[i]);
    for (uint32_t i = 0; i < job->communicator_count; i++)
        mpiq_write_string(writing, name_of(job, i));
    for (uint32_t i = 0; i < job->process_count; i++) {
        char name[32];
        snprintf(name, sizeof name, "MPI Rank %u", i);
        mpiq_write_string(writing, name);
        host_of(writing, i);
    }
}

/* A node for each host, numbered in order. */
static void write_processes(struct mpiq_writing *writing, OTF2_GlobalDefWriter *writer)
{
    const struct mpiq_job_state *job = writing->job;
    uint32_t node = mpiq_write_string(writing, "node");
    uint32_t *hosts = calloc((size_t)writing->string_count + 1, sizeof *hosts); /* by name, plus one */
    uint32_t count = 0;
    if (!hosts) {
        writing->failed = true;
        return;
    }
    for (uint32_t i = 0; i < job->process_count; i++) {
        uint32_t host = host_of(writing, i);
        if (hosts[host] > 0)
            continue;
        hosts[host] = ++count;
        OTF2_GlobalDefWriter_WriteSystemTreeNode(writer, count - 1, host, node,
                                                 OTF2_UNDEFINED_SYSTEM_TREE_NODE);
    }
    for (uint32_t i = 0; i < job->process_count; i++) {
        char name[32];
        snprintf(name, sizeof name, "MPI Rank %u", i);
        OTF2_GlobalDefWriter_WriteLocationGroup(
            writer, i, mpiq_write_string(writing, name), OTF2_LOCATION_GROUP_TYPE_PROCESS,
            hosts[host_of(writing, i)] - 1, OTF2_UNDEFINED_LOCATION_GROUP);
    }
    free(hosts);
    for (uint32_t i = 0; i < writing->location_count; i++) {
        const struct mpiq_write_location *location = &writing->locations[i];
        OTF2_GlobalDefWriter_WriteLocation(writer, location->id, mpiq_write_string(writing, "thread"),
                                           OTF2_LOCATION_TYPE_CPU_THREAD, location->events,
                                           location->process);
    }
}

static void write_group(struct mpiq_writing *writing, OTF2_GlobalDefWriter *writer, uint32_t id,
                        OTF2_GroupType type, uint32_t count, const uint32_t *members)
{
    uint64_t *list = calloc((size_t)count + 1, sizeof *list);
    if (!list) {
        writing->failed = true;
        return;
    }
    for (uint32_t i = 0; i < count; i++)
        list[i] = members ? members[i] : i;
    OTF2_GlobalDefWriter_WriteGroup(writer, id, mpiq_write_string(writing, ""), type, OTF2_PARADIGM_MPI,
                                    OTF2_GROUP_FLAG_NONE, count, list);
    free(list);
}

static void write_communicators(struct mpiq_writing *writing, OTF2_GlobalDefWriter *writer)
{
    const struct mpiq_job_state *job = writing->job;
    write_group(writing, writer, GROUP_WORLD, OTF2_GROUP_TYPE_COMM_LOCATIONS, job->process_count, NULL);
    write_group(writing, writer, GROUP_SELF, OTF2_GROUP_TYPE_COMM_SELF, 0, NULL);
    for (uint32_t i = 0; i < job->group_count; i++) {
        if (job->groups[i].members)
            write_group(writing, writer, GROUP_FIRST + i, OTF2_GROUP_TYPE_COMM_GROUP, job->groups[i].count,
                        job->groups[i].members);
    }
    for (uint32_t i = 0; i < job->communicator_count; i++) {
        const struct mpiq_job_communicator *comm = &job->communicators[i];
        uint32_t name = mpiq_write_string(writing, name_of(job, i));
        bool self = comm->flags & MPIQ_COMM_SELF;
        if (comm->user != i || (!self && comm->group == MPIQ_NONE))
            continue;
        if (comm->remote != MPIQ_NONE)
            OTF2_GlobalDefWriter_WriteInterComm(writer, i, name, GROUP_FIRST + comm->group,
                                                GROUP_FIRST + comm->remote, OTF2_UNDEFINED_COMM,
                                                OTF2_COMM_FLAG_CREATE_DESTROY_EVENTS);
        else
            OTF2_GlobalDefWriter_WriteComm(writer, i, name, self ? GROUP_SELF : GROUP_FIRST + comm->group,
                                           OTF2_UNDEFINED_COMM, OTF2_COMM_FLAG_CREATE_DESTROY_EVENTS);
    }
}

void mpiq_write_definitions(struct mpiq_writing *writing)
{
    OTF2_GlobalDefWriter *writer = OTF2_Archive_GetGlobalDefWriter(writing->archive);
    if (!writer) {
        writing->failed = true;
        return;
    }
    collect_strings(writing);
    uint64_t first = writing->first == UINT64_MAX ? 0 : writing->first;
    OTF2_GlobalDefWriter_WriteClockProperties(writer, UINT64_C(1000000000), first,
                                              writing->end > first ? writing->end - first + 1 : 1,
                                              OTF2_UNDEFINED_TIMESTAMP);
    for (uint32_t i = 0; i < writing->string_count; i++)
        OTF2_GlobalDefWriter_WriteString(writer, i, writing->strings[i]);
    OTF2_GlobalDefWriter_WriteParadigm(writer, OTF2_PARADIGM_MPI, mpiq_write_string(writing, "MPI"),
                                       OTF2_PARADIGM_CLASS_PROCESS);
    for (uint32_t i = 0; i < MPIQ_TRACE_ATTRIBUTES; i++)
        OTF2_GlobalDefWriter_WriteAttribute(writer, i,
                                            mpiq_write_string(writing, mpiq_trace_attribute_names[i]),
                                            mpiq_write_string(writing, ""), OTF2_TYPE_UINT64);
    write_processes(writing, writer);
    for (uint32_t i = 0; i < writing->region_count; i++) {
        const struct mpiq_write_region *region = &writing->regions[i];
        OTF2_GlobalDefWriter_WriteRegion(
            writer, i, region->name, region->name, mpiq_write_string(writing, ""), OTF2_REGION_ROLE_FUNCTION,
            region->mpi ? OTF2_PARADIGM_MPI : OTF2_PARADIGM_SAMPLING, OTF2_REGION_FLAG_NONE,
            region->file == MPIQ_NONE ? OTF2_UNDEFINED_STRING : region->file, (uint32_t)region->line, 0);
    }
    write_communicators(writing, writer);
}
