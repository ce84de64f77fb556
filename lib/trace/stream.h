/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * stream - the events of an OTF2 archive, of all locations, merged by time.
 *
 * Each location is read by itself, a batch at a time, and its reader closed in between: memory is bounded by
 * the number of locations, not by events (libotf2's global reader holds megabytes for each).  A location
 * whose file is missing or damaged ends there; the others are read as far as they go.
 */
#ifndef MPIQ_TRACE_STREAM_H
#define MPIQ_TRACE_STREAM_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "trace/definitions.h"

enum mpiq_trace_event_kind {
    MPIQ_TRACE_ENTER,
    MPIQ_TRACE_LEAVE,
    MPIQ_TRACE_MPI_SEND,
    MPIQ_TRACE_MPI_ISEND,
    MPIQ_TRACE_MPI_ISEND_COMPLETE,
    MPIQ_TRACE_MPI_RECV,
    MPIQ_TRACE_MPI_IRECV_REQUEST,
    MPIQ_TRACE_MPI_IRECV,
    MPIQ_TRACE_MPI_REQUEST_TEST,
    MPIQ_TRACE_MPI_REQUEST_CANCELLED,
    MPIQ_TRACE_MPI_COLLECTIVE_BEGIN,
    MPIQ_TRACE_MPI_COLLECTIVE_END,
    MPIQ_TRACE_MPI_NBC_REQUEST,
    MPIQ_TRACE_MPI_NBC_COMPLETE,
    MPIQ_TRACE_RMA_COLLECTIVE_BEGIN,
    MPIQ_TRACE_RMA_COLLECTIVE_END,
    MPIQ_TRACE_COMM_CREATE,
    MPIQ_TRACE_COMM_DESTROY,
    MPIQ_TRACE_PROGRAM_BEGIN,
    MPIQ_TRACE_PROGRAM_END
};

/* What our own attributes say of an operation that never completed. */
struct mpiq_trace_extra {
    uint32_t set; /* bits of enum mpiq_trace_attribute */
    uint64_t values[MPIQ_TRACE_ATTRIBUTES];
};

struct mpiq_trace_event {
    uint64_t time; /* ticks */
    uint64_t request;
    uint64_t bytes;
    uint32_t location; /* index */
    uint32_t subject;  /* region, communicator, window or string: index; MPIQ_TRACE_NONE: not defined */
    uint32_t peer;     /* local rank; root */
    uint32_t tag;
    uint32_t extra; /* in the stream's list, plus one; 0 none */
    uint8_t kind;
    uint8_t operation; /* OTF2_CollectiveOp */
};

/* How a location's events ended. */
enum mpiq_trace_end {
    MPIQ_TRACE_READING,
    MPIQ_TRACE_WHOLE,
    MPIQ_TRACE_MISSING,
    MPIQ_TRACE_CUT,
    MPIQ_TRACE_UNDEFINED /* the location's own definitions are missing: none was read */
};

struct mpiq_trace_stream;

/* Opens the archive whose anchor file is `path` and reads its definitions. */
struct mpiq_error *mpiq_trace_stream_create(const char *path, struct mpiq_trace_stream **ret);
/* NULL is fine. */
void mpiq_trace_stream_destroy(struct mpiq_trace_stream *stream);

const struct mpiq_trace_definitions *mpiq_trace_stream_definitions(const struct mpiq_trace_stream *stream);
/* "Score-P 8.4"; valid as long as the stream. */
const char *mpiq_trace_stream_creator(const struct mpiq_trace_stream *stream);

/* The next event; false at the end, and on allocation failure (then *failed is set).  It is valid until the
   next call. */
bool mpiq_trace_stream_next(struct mpiq_trace_stream *stream, const struct mpiq_trace_event **ret,
                            bool *failed);
/* What the event's attributes say; NULL: nothing. */
const struct mpiq_trace_extra *mpiq_trace_stream_extra(const struct mpiq_trace_stream *stream,
                                                       const struct mpiq_trace_event *event);
/* How the events of a location ended, and how many there were. */
enum mpiq_trace_end mpiq_trace_stream_end(const struct mpiq_trace_stream *stream, uint32_t location,
                                          uint64_t *events);
/* How often a location's clock ran backwards. */
uint64_t mpiq_trace_stream_backwards(const struct mpiq_trace_stream *stream);

#endif
