/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * json - writes JSON into a report's buffer, fast enough for a million ranks.
 *
 * As with mpiq_text the caller must open, name and close in the right order.  Unknown values are left out:
 * the functions with a key add nothing for NULL, an empty set or a negative duration.
 */
#ifndef MPIQ_REPORT_JSON_H
#define MPIQ_REPORT_JSON_H

#include "report/page.h"
#include "base/json_text.h"

struct mpiq_json {
    const struct mpiq_page *page;
    struct mpiq_text text; /* into the page's buffer */
};

void mpiq_json_open(struct mpiq_json *json, char open);
void mpiq_json_close(struct mpiq_json *json, char close);
/* A line break, where it does no harm: between the elements of the long lists. */
void mpiq_json_break(struct mpiq_json *json);
/* key is plain ASCII. */
void mpiq_json_key(struct mpiq_json *json, const char *key);

/* Values, in an array or after a key.  Seconds to the microsecond: not negative, below 1e9. */
void mpiq_json_micros(struct mpiq_json *json, double seconds);
void mpiq_json_words(struct mpiq_json *json, const char *string);

/* Members of an object. */
void mpiq_json_put_number(struct mpiq_json *json, const char *key, int64_t value);
void mpiq_json_put_bool(struct mpiq_json *json, const char *key, bool value);
void mpiq_json_put_string(struct mpiq_json *json, const char *key, const char *value);
void mpiq_json_put_hex(struct mpiq_json *json, const char *key, uint64_t value);
void mpiq_json_put_seconds(struct mpiq_json *json, const char *key, double seconds);
void mpiq_json_put_process(struct mpiq_json *json, const char *key, uint32_t process);
/* "0-3,7"; an empty set as "" if `always`. */
void mpiq_json_put_ranks(struct mpiq_json *json, const char *key, const struct mpiq_rank_set *set,
                         bool always);
/* "site": {call, file, line, function, object}, what is known of it. */
void mpiq_json_put_site(struct mpiq_json *json, uint32_t site);

/* The same under another key; nothing for MPIQ_NONE. */
void mpiq_json_put_place(struct mpiq_json *json, const char *key, uint32_t site);
/* "callers": the user's own line that led to a place that has none: struct mpiq_site.called_at.  Nothing for
 * 0. */
void mpiq_json_put_callers(struct mpiq_json *json, uint32_t called_at);

/* "waits_for": what `process` waits for, in `call`; nothing for NULL. */
void mpiq_json_put_waits_for(struct mpiq_json *json, const struct mpiq_waits_for *wait, const char *call,
                             uint32_t process);
/* "last_mpi_call" of ranks outside MPI; nothing where it is not known. */
void mpiq_json_put_last_call(struct mpiq_json *json, const struct mpiq_last_call *last);
/* "failed", of a call in past_calls that returned an error; nothing for MPIQ_NONE. */
void mpiq_json_put_failed(struct mpiq_json *json, uint32_t past_call);
/* "evidence" of a finding that has some. */
void mpiq_json_put_evidence(struct mpiq_json *json, const struct mpiq_finding *finding);

/* "comm" and "communicator": index and name. */
void mpiq_json_put_communicator(struct mpiq_json *json, uint32_t comm);

/* An operation of that rank (NULL: not known whose), as a value. */
void mpiq_json_operation(struct mpiq_json *json, const struct mpiq_job_rank *rank,
                         const struct mpiq_job_operation *operation);

/* Sections of a report: json_findings.c, json_communicators.c, json_windows.c, json_ranks.c. */
void mpiq_json_findings(struct mpiq_json *json);
void mpiq_json_chain(struct mpiq_json *json);
void mpiq_json_communicators(struct mpiq_json *json, bool collectives);
void mpiq_json_windows(struct mpiq_json *json);
void mpiq_json_ranks(struct mpiq_json *json, bool whole);
/* json_stacks.c: "stacks": the tree that the options have. */
void mpiq_json_stacks(struct mpiq_json *json);
/* json_history.c: of the rank that the page is about; and "last_calls" of one, where the recorder noted them.
 */
void mpiq_json_history(struct mpiq_json *json);
void mpiq_json_last_calls(struct mpiq_json *json, uint32_t process);

#endif
