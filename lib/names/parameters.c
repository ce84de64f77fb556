/* SPDX-License-Identifier: BSD-3-Clause */
#include "names/parameters.h"

#include <stdlib.h>
#include <string.h>

struct row {
    const char *name; /* without "MPI_" and "_c" */
    const char *parameters;
};

/* By name. */
static const struct row rows[] = {
    {"Allgather", "bCTBRUm"},
    {"Allgatherv", "bCTBaaUm"},
    {"Allreduce", "bBctom"},
    {"Alltoall", "bCTBRUm"},
    {"Alltoallv", "baaTBaaUm"},
    {"Alltoallw", "baaaBaaam"},
    {"Barrier", "m"},
    {"Bcast", "Bctrm"},
    {"Bsend", "bctdgm"},
    {"Cart_create", "mxaaxp"},
    {"Cart_sub", "map"},
    {"Comm_accept", "axrmp"},
    {"Comm_agree", "mp"},
    {"Comm_connect", "axrmp"},
    {"Comm_create", "mxp"},
    {"Comm_create_group", "mxgp"},
    {"Comm_disconnect", "p"},
    {"Comm_dup", "mp"},
    {"Comm_dup_with_info", "mxp"},
    {"Comm_free", "p"},
    {"Comm_shrink", "mp"},
    {"Comm_spawn", "aaxxrmpp"},
    {"Comm_spawn_multiple", "xaaaarmpp"},
    {"Comm_split", "mxxp"},
    {"Comm_split_type", "mxxxp"},
    {"Dist_graph_create", "mxaaaaxxp"},
    {"Dist_graph_create_adjacent", "mxaaxaaxxp"},
    {"Exscan", "bBctom"},
    {"File_close", "p"},
    {"File_open", "maxxp"},
    {"Gather", "bCTBRUrm"},
    {"Gatherv", "bCTBaaUrm"},
    {"Graph_create", "mxaaxp"},
    {"Intercomm_create", "mxxxgp"},
    {"Intercomm_merge", "mxp"},
    {"Iprobe", "sgmpS"},
    {"Mprobe", "sgmpS"},
    {"Neighbor_allgather", "bCTBRUm"},
    {"Neighbor_allgatherv", "bCTBaaUm"},
    {"Neighbor_alltoall", "bCTBRUm"},
    {"Neighbor_alltoallv", "baaTBaaUm"},
    {"Neighbor_alltoallw", "baaaBaaam"},
    {"Probe", "sgmS"},
    {"Recv", "BctsgmS"},
    {"Reduce", "bBctorm"},
    {"Reduce_scatter", "bBatom"},
    {"Reduce_scatter_block", "bBRtom"},
    {"Rsend", "bctdgm"},
    {"Scan", "bBctom"},
    {"Scatter", "bCTBRUrm"},
    {"Scatterv", "baaTBRUrm"},
    {"Send", "bctdgm"},
    {"Sendrecv", "bCTdhBRUsimS"},
    {"Sendrecv_replace", "BctdhsimS"},
    {"Ssend", "bctdgm"},
    {"Wait", "qS"},
    {"Waitall", "nqS"},
    {"Waitany", "nqpS"},
    {"Waitsome", "nqppS"},
    {"Win_allocate", "xxxmpp"},
    {"Win_allocate_shared", "xxxmpp"},
    {"Win_create", "bxxxmp"},
    {"Win_create_dynamic", "xmp"},
    {"Win_fence", "xw"},
    {"Win_flush", "kw"},
    {"Win_flush_local", "kw"},
    {"Win_free", "p"},
    {"Win_lock", "xkxw"},
    {"Win_unlock", "kw"},
};

static int compare(const void *key, const void *item)
{
    return strcmp(key, ((const struct row *)item)->name);
}

const char *mpiq_names_parameters(const char *call)
{
    char name[48];
    size_t length = strlen(call);
    const char *rest = strncmp(call, "MPI_", 4) == 0    ? call + 4
                       : strncmp(call, "MPIX_", 5) == 0 ? call + 5
                                                        : NULL;
    if (!rest || length >= sizeof name)
        return NULL;
    length -= (size_t)(rest - call);
    memcpy(name, rest, length + 1);
    if (length > 2 && strcmp(name + length - 2, "_c") == 0)
        name[length - 2] = '\0';
    const struct row *row = bsearch(name, rows, sizeof rows / sizeof *rows, sizeof *rows, compare);
    return row ? row->parameters : NULL;
}
