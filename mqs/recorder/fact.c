/* SPDX-License-Identifier: BSD-3-Clause */
#include "fact.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "../callbacks.h"
#include "../error.h"
#include "group.h"
#include "process.h"

int fact_get_checking(mqs_process *process, mqs_checking *ret)
{
    mqs_process_info *info = entry_process(process);

    if (info == NULL || ret == NULL) {
        return ERROR_ARGUMENT;
    }
    if (!info->read) {
        return mqs_no_information;
    }
    memset(ret, 0, sizeof *ret);
    ret->strict = (info->copy.root.flags & MPIQ_RECORD_STRICT) != 0;
    ret->paused_at_end = (info->copy.root.flags & MPIQ_RECORD_PAUSED_AT_END) != 0;
    ret->lost = info->copy.root.lost_facts > INT_MAX ? INT_MAX : (int64_t)info->copy.root.lost_facts;
    ret->lost += info->copy.root.lost_comms > 0 || info->copy.root.lost_requests > 0;
    return mqs_ok;
}

int fact_setup_iterator(mqs_process *process)
{
    mqs_process_info *info = entry_process(process);

    if (info == NULL) {
        return ERROR_ARGUMENT;
    }
    if (!info->read || info->copy.root.facts == 0) {
        return mqs_no_information;
    }
    info->next_fact = 0;
    info->fact_comm = info->copy.root.comms;
    info->fact_comms_seen = 0;
    info->fact_comms_freed = false;
    return mqs_ok;
}

static void name_comm(const struct copy *copy, const struct mpiq_record_comm *comm, mqs_fact *ret)
{
    int64_t members = group_size(copy, comm->group);
    int64_t remote = comm->remote_group == 0 ? 0 : group_size(copy, comm->remote_group);

    ret->comm_id = (comm->flags & (MPIQ_RECORD_COMM_UNCLEAR | MPIQ_RECORD_COMM_UNCOUNTED)) != 0 ||
                           members < 0 || remote < 0
                       ? 0
                       : comm->id[1];
    text_copy(ret->comm_name, sizeof ret->comm_name, (const unsigned char *)comm->name, sizeof comm->name);
    ret->comm_size = members < 0 || remote < 0 || members + remote > INT_MAX ? 0 : (int)(members + remote);
    ret->comm_flags = ((comm->flags & MPIQ_RECORD_COMM_INTER) != 0 ? mqs_comm_flag_inter : 0) |
                      ((comm->flags & MPIQ_RECORD_COMM_SELF) != 0 ? mqs_comm_flag_self : 0) |
                      ((comm->flags & MPIQ_RECORD_COMM_WORLD) != 0 ? mqs_comm_flag_world : 0) |
                      ((comm->flags & MPIQ_RECORD_COMM_FREED) != 0 ? mqs_comm_flag_freed : 0);
}

/* The next communicator; `count` says how much of its traffic is not certain. */
static int next_comm(mqs_process_info *info, mqs_fact *ret)
{
    const struct mpiq_record_comm *comm;
    const struct mpiq_record_channel *channel;
    uint32_t at;
    size_t most;

    if (info->fact_comm == 0 && !info->fact_comms_freed) {
        info->fact_comms_freed = true;
        info->fact_comms_seen = 0;
        info->fact_comm = info->copy.root.freed;
    }
    if (info->fact_comm == 0) {
        return mqs_end_of_list;
    }
    comm = copy_listed_comm(&info->copy, info->fact_comm, &info->fact_comms_seen);
    if (comm == NULL) {
        return ERROR_COMMUNICATOR_LIST;
    }
    info->fact_comm = comm->next;
    name_comm(&info->copy, comm, ret);
    ret->count = (uint64_t)comm->unclear + comm->lost;
    most = info->copy.size / sizeof *channel;
    for (at = comm->channels; at != 0; at = channel->next) {
        channel = copy_at(&info->copy, at, sizeof *channel);
        if (channel == NULL || most-- == 0) {
            return ERROR_COMMUNICATOR;
        }
        ret->count += channel->unclear;
    }
    ret->sum = comm->ordered;
    return mqs_ok;
}

static void set_base(const struct copy *copy, unsigned base, mqs_fact *ret)
{
    const size_t count = MPIQ_RECORD_MAX_BASES;
    const struct mpiq_record_base *bases = copy_at(copy, copy->root.bases, count * sizeof *bases);

    if (base <= MPIQ_RECORD_BASE_ANY || bases == NULL || base >= count || bases[base].code > INT_MAX) {
        ret->base_code = base == MPIQ_RECORD_BASE_NONE ? MPIQ_RECORD_BASE_NONE : MPIQ_RECORD_BASE_ANY;
        return;
    }
    ret->base_code = (int)bases[base].code;
    text_copy(ret->base_name, sizeof ret->base_name, (const unsigned char *)bases[base].name,
              sizeof bases[base].name);
}

static void set_op(const struct copy *copy, unsigned op, mqs_fact *ret)
{
    const size_t count = MPIQ_RECORD_MAX_OPS;
    const struct mpiq_record_op *ops = copy_at(copy, copy->root.ops, count * sizeof *ops);

    if (op >= 1 && op <= count && ops != NULL) {
        text_copy(ret->op_name, sizeof ret->op_name, (const unsigned char *)ops[op - 1].name,
                  sizeof ops[op - 1].name);
    } else if (op == UINT16_MAX) {
        snprintf(ret->op_name, sizeof ret->op_name, "%s", MQS_USER_OP);
    }
}

static void convert(const struct copy *copy, const struct mpiq_record_fact *from, mqs_fact *ret)
{
    const struct mpiq_record_function *function = copy_function(copy, from->function);
    const struct mpiq_record_comm *comm = copy_comm(copy, from->comm);

    ret->kind = from->kind;
    ret->function_class = from->collective;
    snprintf(ret->call, sizeof ret->call, "%s", function == NULL ? "" : function->name);
    if (comm != NULL) {
        name_comm(copy, comm, ret);
    }
    ret->peer = from->peer;
    if (from->kind == MPIQ_RECORD_FACT_OBJECT) {
        ret->peer = comm == NULL || from->peer < 0 ? -1 : operation_world_rank(copy, comm, from->peer);
    }
    if (from->kind == MPIQ_RECORD_FACT_SENT || from->kind == MPIQ_RECORD_FACT_RECEIVED) {
        ret->peer = comm == NULL ? -1 : operation_world_rank(copy, comm, from->peer);
    }
    ret->tag = from->tag;
    if (from->kind == MPIQ_RECORD_FACT_OBJECT) {
        ret->base_code = from->base;
    } else {
        set_base(copy, from->base, ret);
    }
    set_op(copy, from->op, ret);
    ret->bytes = from->bytes;
    ret->count = from->count;
    ret->sum = from->sum;
    ret->first = from->kind == MPIQ_RECORD_FACT_OBJECT ? 0 : from->first;
    ret->signature = from->signature;
    ret->caller = (mqs_taddr_t)from->caller;
}

int fact_next(mqs_process *process, mqs_fact *ret)
{
    mqs_process_info *info = entry_process(process);
    const size_t count = MPIQ_RECORD_MAX_FACTS;
    const struct mpiq_record_fact *facts;
    int code;

    if (info == NULL || ret == NULL) {
        return ERROR_ARGUMENT;
    }
    memset(ret, 0, sizeof *ret);
    ret->function_class = -1;
    ret->peer = -1;
    ret->tag = -1;
    ret->bytes = -1;
    code = next_comm(info, ret);
    if (code != mqs_end_of_list) {
        return code;
    }
    facts = copy_at(&info->copy, info->copy.root.facts, count * sizeof *facts);
    if (facts == NULL) {
        return mqs_no_information;
    }
    while (info->next_fact < count) {
        const struct mpiq_record_fact *fact = &facts[info->next_fact++];

        if (fact->key != 0 && fact->count > 0) {
            convert(&info->copy, fact, ret);
            return mqs_ok;
        }
    }
    return mqs_end_of_list;
}
