/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * wire_json - what goes over the wire as JSON (docs/WIRE.md), written by its server and read by its client.
 *
 * The reader trusts nothing: anything missing or senseless in an object counts as unknown.  It leaves to
 * others: lines, requests and what is not JSON (wire.c, serve.c).
 */
#ifndef MPIQ_WIRE_JSON_H
#define MPIQ_WIRE_JSON_H

#include "base/json_text.h"
#include "process/target.h"

void mpiq_wire_write_status(struct mpiq_text *text, const struct mpiq_target_status *status);
void mpiq_wire_write_threads(struct mpiq_text *text, const struct mpiq_target_thread *threads, size_t count);
void mpiq_wire_write_stack(struct mpiq_text *text, const struct mpiq_target_stack *stack);

/* Take terminated text.  CORRUPT if it is no JSON, or of another type; NO_MEMORY. */
struct mpiq_error *mpiq_wire_read_status(const char *json, struct mpiq_target_status *ret);
struct mpiq_error *mpiq_wire_read_threads(const char *json, struct mpiq_target_thread **ret, size_t *count);
struct mpiq_error *mpiq_wire_read_stack(const char *json, struct mpiq_target_stack *ret);
/* A string, which the caller frees. */
struct mpiq_error *mpiq_wire_read_string(const char *json, char **ret);

/* Calls visit for each member of an object that is a string, and passes over others.  visit gives false
   without memory. */
struct mpiq_error *mpiq_wire_read_strings(const char *json,
                                          bool (*visit)(void *argument, const char *key, const char *value),
                                          void *argument);

#endif
