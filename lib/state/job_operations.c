/* SPDX-License-Identifier: BSD-3-Clause */
#include "state/job_adding.h"

static int32_t limited(int64_t count)
{
    return count > INT32_MAX ? INT32_MAX : count < 0 ? -1 : (int32_t)count;
}

static bool add_operation(struct mpiq_adding *adding, const struct mpiq_operation *op, enum mpiq_queue queue,
                          struct mpiq_job_operation *ret)
{
    bool own_world = op->peer.rank >= 0 && op->peer.job == adding->state->name.job;
    *ret = (struct mpiq_job_operation){
        .request = op->request,
        .buffer = op->buffer,
        .bytes = op->bytes,
        .actual_bytes = op->actual_bytes,
        .sequence = op->sequence,
        .comm = op->comm == MPIQ_NONE ? MPIQ_NONE : adding->first_member + op->comm,
        .peer = own_world ? (uint32_t)op->peer.rank : MPIQ_NONE,
        .peer_local = op->peer_local,
        .tag = op->tag,
        .actual = op->actual.rank >= 0 && op->actual.job == adding->state->name.job
                      ? (uint32_t)op->actual.rank
                      : MPIQ_NONE,
        .actual_local = op->actual_local,
        .actual_tag = op->actual_tag,
        .collective = op->collective,
        .kind = op->kind,
        .status = op->status,
        .queue = queue,
        .any = op->peer_local == MPIQ_ANY &&
               (op->kind == MPIQ_OPERATION_RECEIVE || op->kind == MPIQ_OPERATION_PROBE),
        .tag_any = op->tag_any,
        .persistent = op->persistent,
        .inactive = op->inactive,
        .internal = op->internal,
        .eager = op->eager,
        .system_buffer = op->system_buffer,
        .freed = op->freed,
        .out_of_order = op->out_of_order,
        .cancelled = op->cancelled,
        .partitions = limited(op->partitions),
        .missing = limited(op->missing),
        .inner = op->inner,
        .moves = op->moves,
    };
    return mpiq_job_intern_cached(adding->job, op->datatype, &ret->datatype) &&
           (!op->which || mpiq_job_intern_cached(adding->job, op->which, &ret->which)) &&
           mpiq_job_intern_place(adding->job, &op->started, &ret->started);
}

bool mpiq_add_operations(struct mpiq_adding *adding, const struct mpiq_operation *ops, size_t count,
                         bool waits, uint32_t first)
{
    for (size_t i = 0; i < count; i++) {
        enum mpiq_queue queue = waits ? MPIQ_QUEUE_WAIT : (enum mpiq_queue)ops[i].queue;
        if (!add_operation(adding, &ops[i], queue, &adding->job->operations[first + i]))
            return false;
    }
    return true;
}
