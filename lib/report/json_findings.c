/* SPDX-License-Identifier: BSD-3-Clause */
/* The findings of a job, and the chain from a rank to its cause, as JSON. */
#include "report/json.h"

static void put_sites(struct mpiq_json *json, const struct mpiq_finding *finding)
{
    mpiq_json_key(json, "sites");
    mpiq_json_open(json, '[');
    for (size_t i = 0; i < finding->site_count; i++) {
        const struct mpiq_finding_site *site = &finding->sites[i];
        mpiq_json_open(json, '{');
        mpiq_json_put_ranks(json, "ranks", &site->ranks, true);
        mpiq_json_put_string(json, "call", site->call);
        mpiq_json_put_string(json, "file", site->file);
        if (site->line > 0)
            mpiq_json_put_number(json, "line", site->line);
        mpiq_json_put_string(json, "function", site->function);
        mpiq_json_put_callers(json, site->called_at);
        mpiq_json_close(json, '}');
    }
    mpiq_json_close(json, ']');
}

static void put_calls(struct mpiq_json *json, const struct mpiq_finding *finding)
{
    mpiq_json_key(json, "calls");
    mpiq_json_open(json, '[');
    for (size_t i = 0; i < finding->call_count; i++) {
        mpiq_json_open(json, '{');
        mpiq_json_put_string(json, "collective", finding->calls[i].collective);
        mpiq_json_put_ranks(json, "ranks", &finding->calls[i].ranks, true);
        mpiq_json_close(json, '}');
    }
    mpiq_json_close(json, ']');
}

static void put_values(struct mpiq_json *json, const struct mpiq_finding *finding)
{
    mpiq_json_put_string(json, "field", finding->field);
    mpiq_json_key(json, "values");
    mpiq_json_open(json, '[');
    for (size_t i = 0; i < finding->value_count; i++) {
        mpiq_json_open(json, '{');
        mpiq_json_put_string(json, "value", finding->values[i].value);
        mpiq_json_put_ranks(json, "ranks", &finding->values[i].ranks, true);
        mpiq_json_close(json, '}');
    }
    mpiq_json_close(json, ']');
}

static void put_steps(struct mpiq_json *json, const struct mpiq_step *steps, size_t count)
{
    mpiq_json_key(json, "steps");
    mpiq_json_open(json, '[');
    for (size_t i = 0; i < count; i++) {
        mpiq_json_open(json, '{');
        mpiq_json_put_process(json, "rank", steps[i].process);
        mpiq_json_put_ranks(json, "waits_for", &steps[i].waits_for, true);
        mpiq_json_put_string(json, "why", steps[i].why);
        mpiq_json_put_seconds(json, "since", steps[i].since);
        mpiq_json_put_site(json, steps[i].site);
        mpiq_json_close(json, '}');
    }
    mpiq_json_close(json, ']');
}

static const struct mpiq_job_rank *owner(const struct mpiq_job_state *job, uint32_t operation)
{
    for (uint32_t i = 0; i < job->rank_count; i++) {
        const struct mpiq_job_rank *rank = &job->ranks[i];
        if (operation >= rank->first_operation && operation - rank->first_operation < rank->operation_count)
            return rank;
    }
    return NULL;
}

static void put_operation(struct mpiq_json *json, const char *key, uint32_t operation)
{
    if (operation >= json->page->job->operation_count)
        return;
    mpiq_json_key(json, key);
    mpiq_json_operation(json, owner(json->page->job, operation), &json->page->job->operations[operation]);
}

static void put_near_misses(struct mpiq_json *json, const struct mpiq_finding *finding)
{
    mpiq_json_key(json, "near_misses");
    mpiq_json_open(json, '[');
    for (size_t i = 0; i < finding->near_miss_count; i++) {
        const struct mpiq_near_miss *miss = &finding->near_misses[i];
        mpiq_json_open(json, '{');
        mpiq_json_put_string(json, "differs", mpiq_miss_word(miss->differs));
        mpiq_json_put_process(json, "rank", miss->process);
        if (miss->operation < json->page->job->operation_count) {
            const struct mpiq_job_operation *operation = &json->page->job->operations[miss->operation];
            if (operation->tag_any)
                mpiq_json_put_string(json, "tag", "any");
            else
                mpiq_json_put_number(json, "tag", operation->tag);
            mpiq_json_put_communicator(json, operation->comm);
            mpiq_json_put_process(json, "at", miss->holder);
            put_operation(json, "operation", miss->operation);
        }
        mpiq_json_close(json, '}');
    }
    mpiq_json_close(json, ']');
}

static void put_ending(struct mpiq_json *json, const struct mpiq_ending *ending)
{
#define WORD(id, word) word,
    static const char *const words[] = {MPIQ_ENDS(WORD)};
#undef WORD
    mpiq_json_key(json, "ending");
    mpiq_json_open(json, '{');
    mpiq_json_put_string(json, "by", words[ending->end.kind]);
    if (ending->end.kind >= MPIQ_END_ABORT)
        mpiq_json_put_number(json, "code", ending->end.code);
    mpiq_json_put_string(json, "signal", ending->signal);
    mpiq_json_put_string(json, "error_class", ending->error_class);
    mpiq_json_close(json, '}');
}

static void put_finding(struct mpiq_json *json, const struct mpiq_finding *finding)
{
    mpiq_json_open(json, '{');
    mpiq_json_put_string(json, "kind", mpiq_finding_word(finding->kind));
    mpiq_json_put_bool(json, "proven", finding->proven);
    if (finding->consequence_of < json->page->diagnosis->finding_count)
        mpiq_json_put_number(json, "consequence_of", finding->consequence_of);
    if (finding->comm < json->page->job->communicator_count) {
        mpiq_json_put_string(json, "communicator",
                             mpiq_job_communicator_name(json->page->job, finding->comm));
        mpiq_json_put_number(json, "comm", finding->comm);
    }
    mpiq_json_put_string(json, "collective", finding->collective);
    if (finding->number > 0)
        mpiq_json_put_number(json, "number", finding->number);
    mpiq_json_put_ranks(json, "ranks", &finding->ranks, true);
    mpiq_json_put_ranks(json, "missing", &finding->missing,
                        finding->kind == MPIQ_FINDING_COLLECTIVE_INCOMPLETE);
    mpiq_json_put_ranks(json, "suspects", &finding->suspects,
                        finding->kind == MPIQ_FINDING_COLLECTIVE_INCOMPLETE ||
                            finding->kind == MPIQ_FINDING_COLLECTIVE_MISMATCH ||
                            finding->kind == MPIQ_FINDING_COLLECTIVE_ARGUMENT_MISMATCH);
    mpiq_json_put_seconds(json, "since", finding->since);
    put_sites(json, finding);
    mpiq_json_put_evidence(json, finding);
    if (finding->kind == MPIQ_FINDING_COLLECTIVE_MISMATCH || finding->call_count > 0)
        put_calls(json, finding);
    if (finding->kind == MPIQ_FINDING_COLLECTIVE_ARGUMENT_MISMATCH || finding->value_count > 0)
        put_values(json, finding);
    if (finding->kind == MPIQ_FINDING_WAIT_CYCLE || finding->step_count > 0)
        put_steps(json, finding->steps, finding->step_count);
    put_operation(json, "operation", finding->operation);
    put_operation(json, "message", finding->other);
    put_operation(json, "never_started", finding->never_started);
    mpiq_json_put_place(json, "made", finding->made);
    if (finding->window < json->page->job->window_count)
        mpiq_json_put_number(json, "window", finding->window);
    if (finding->kind == MPIQ_FINDING_RECEIVE_UNMATCHED || finding->kind == MPIQ_FINDING_SEND_UNMATCHED ||
        finding->near_miss_count > 0)
        put_near_misses(json, finding);
    mpiq_json_put_failed(json, finding->failed);
    if (finding->ending)
        put_ending(json, finding->ending);
    mpiq_json_put_string(json, "text", finding->text);
    mpiq_json_close(json, '}');
}

void mpiq_json_findings(struct mpiq_json *json)
{
    const struct mpiq_diagnosis *diagnosis = json->page->diagnosis;
    mpiq_json_key(json, "findings");
    mpiq_json_open(json, '[');
    for (size_t i = 0; i < diagnosis->finding_count; i++) {
        mpiq_json_break(json);
        put_finding(json, &diagnosis->findings[i]);
    }
    mpiq_json_close(json, ']');
}

void mpiq_json_chain(struct mpiq_json *json)
{
    const struct mpiq_chain *chain = json->page->chain;
    mpiq_json_key(json, "chain");
    mpiq_json_open(json, '{');
    if (chain->step_count > 0)
        mpiq_json_put_process(json, "rank", chain->steps[0].process);
    put_steps(json, chain->steps, chain->step_count);
    mpiq_json_put_bool(json, "cycle", chain->cycle);
    if (chain->cycle)
        mpiq_json_put_number(json, "cycle_step", (int64_t)chain->cycle_step);
    if (chain->finding < json->page->diagnosis->finding_count) {
        mpiq_json_put_number(json, "finding", chain->finding);
    }
    mpiq_json_put_string(json, "text", chain->text);
    mpiq_json_close(json, '}');
}
