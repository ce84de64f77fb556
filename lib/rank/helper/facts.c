/* SPDX-License-Identifier: BSD-3-Clause */
/* facts - the facts recorded in a process that is paused in MPI_Finalize. */
#include <string.h>

#include "reading.h"

/* The flags that a check asks for, as the rank state has them. */
static uint32_t flags_of(int flags)
{
    return (flags & mqs_comm_flag_inter ? MPIQ_COMM_INTER : 0u) |
           (flags & mqs_comm_flag_self ? MPIQ_COMM_SELF : 0u) |
           (flags & mqs_comm_flag_world ? MPIQ_COMM_WORLD : 0u) |
           (flags & mqs_comm_flag_freed ? MPIQ_COMM_FREED : 0u);
}

static bool add_fact(struct mpiq_reading *reading, const mqs_fact *from)
{
    int16_t collective =
        from->kind == MPIQ_FACT_COLLECTIVE ? mpiq_dll_class(reading->dll, from->function_class) : (int16_t)-1;
    if (from->kind < MPIQ_FACT_COMMUNICATOR || from->kind > MPIQ_FACT_OBJECT || from->base_code < 0 ||
        (from->kind == MPIQ_FACT_COLLECTIVE && collective < 0))
        return true;
    struct mpiq_fact *fact = mpiq_rank_state_add_fact(reading->state);
    if (!fact)
        return false;
    fact->kind = (uint8_t)from->kind;
    fact->collective = collective;
    fact->peer = from->peer;
    fact->tag = from->tag;
    fact->comm_size = from->comm_size > 0 ? from->comm_size : 0;
    fact->comm_flags = flags_of(from->comm_flags);
    fact->base = (uint32_t)from->base_code;
    fact->bytes = from->bytes >= 0 ? from->bytes : -1;
    fact->comm = from->comm_id;
    fact->count = from->count;
    fact->sum = from->sum;
    fact->first = from->first;
    fact->signature = from->signature;
    fact->caller = from->caller;
    fact->call = mpiq_reading_intern(reading, from->call, sizeof from->call);
    fact->comm_name = mpiq_reading_intern(reading, from->comm_name, sizeof from->comm_name);
    fact->base_name = mpiq_reading_intern(reading, from->base_name, sizeof from->base_name);
    fact->op = mpiq_reading_intern(reading, from->op_name, sizeof from->op_name);
    return true;
}

void mpiq_read_facts(struct mpiq_reading *reading)
{
    const mqs_extensions *extensions = &reading->dll->extensions;
    mqs_checking checking;

    mpiq_reading_phase = "reading what the check needs";
    memset(&checking, 0, sizeof checking);
    if (!extensions->get_checking || extensions->get_checking(&reading->process, &checking) != mqs_ok)
        return;
    reading->state->strict = checking.strict != 0;
    if (!checking.paused_at_end || !extensions->setup_fact_iterator || !extensions->next_fact)
        return;
    int code = extensions->setup_fact_iterator(&reading->process);
    for (int i = 0; code == mqs_ok; i++) {
        mqs_fact fact;
        memset(&fact, 0, sizeof fact);
        code = extensions->next_fact(&reading->process, &fact);
        if (code == mqs_ok && (i == MPIQ_FACTS_MAX || !add_fact(reading, &fact)))
            code = mqs_no_information; /* an incomplete list proves nothing */
    }
    if (code != mqs_end_of_list) {
        mpiq_reading_problem(reading, "check", code, "what the check needs cannot be read");
        return;
    }
    reading->state->lost_facts = checking.lost > 0 ? checking.lost : 0;
    reading->state->paused_at_end = true;
}
