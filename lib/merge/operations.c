/* SPDX-License-Identifier: BSD-3-Clause */
#include "merge/adding_private.h"

static int32_t limited(int64_t count)
{
    return count > INT32_MAX ? INT32_MAX : count < 0 ? -1 : (int32_t)count;
}

/* Whether it has anything for mpiq_job_operation_more: nobody asks what a pending one has matched. */
static bool has_more(const struct mpiq_operation *op)
{
    return op->status != MPIQ_STATUS_PENDING || (op->tag_any && op->actual_tag != 0) || op->partitions > 0 ||
           op->missing > 0 || op->which || op->inner;
}

static bool add_more(struct mpiq_adding *adding, const struct mpiq_operation *op, uint32_t *ret)
{
    struct mpiq_job_state *job = adding->job;
    if (!MPIQ_RESERVE(job->operations_more, job->operation_more_count, job->builder->operation_more_capacity,
                      1))
        return false;
    struct mpiq_job_operation_more *more = &job->operations_more[job->operation_more_count];
    bool own_world = op->actual.rank >= 0 && op->actual.job == adding->state->name.job;
    *more = (struct mpiq_job_operation_more){
        .actual_bytes = op->actual_bytes,
        .actual = own_world ? (uint32_t)op->actual.rank : MPIQ_NONE,
        .actual_local = op->actual_local,
        .actual_tag = op->actual_tag,
        .partitions = limited(op->partitions),
        .missing = limited(op->missing),
        .inner = op->inner,
    };
    *ret = job->operation_more_count++;
    return !op->which || mpiq_job_intern_cached(job, op->which, &more->which);
}

static bool add_operation(struct mpiq_adding *adding, const struct mpiq_operation *op, enum mpiq_queue queue,
                          struct mpiq_job_operation *ret)
{
    bool own_world = op->peer.rank >= 0 && op->peer.job == adding->state->name.job;
    *ret = (struct mpiq_job_operation){
        .request = op->request,
        .buffer = op->buffer,
        .bytes = op->bytes,
        .comm = op->comm == MPIQ_NONE ? MPIQ_NONE : adding->first_member + op->comm,
        .peer = own_world ? (uint32_t)op->peer.rank : MPIQ_NONE,
        .peer_local = op->peer_local,
        .tag = op->tag,
        .more = MPIQ_NONE,
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
        .moves = op->moves,
    };
    return mpiq_job_intern_cached(adding->job, op->datatype, &ret->datatype) &&
           (!has_more(op) || add_more(adding, op, &ret->more)) &&
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
