/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ask - one question about one process: what a handle stands for, what is in a queue, what a message holds.
 *
 * Questions and answers are JSON objects (docs/WIRE.md, "Questions").  Unlike a look, an answer may hold
 * what messages contain: it goes to the person who asked and into no file.
 */
#ifndef MPIQ_HELPER_ASK_H
#define MPIQ_HELPER_ASK_H

#include <json-c/json.h>

#include "look.h"

/* Needs look->dll and look->target.  The caller puts *ret; an error says why there is no answer. */
struct mpiq_error *mpiq_ask_answer(struct mpiq_look *look, json_object *question, json_object **ret);

/* ask_contents.c: adds "datatype", and "data" of at most `elements` elements at a buffer, to an answer.  A
   packed buffer holds the datatype's elements side by side; bytes: how many it has.  What cannot be read is
   said in the answer's "problem". */
void mpiq_ask_add_datatype(struct mpiq_look *look, mqs_taddr_t handle, json_object *ret);
void mpiq_ask_add_data(struct mpiq_look *look, uint64_t buffer, bool packed, int64_t count, int64_t bytes,
                       int64_t elements, json_object *ret);

/* A DLL's text of at most size bytes, terminated or not; what is not UTF-8 becomes '?'. */
void mpiq_ask_add_text(json_object *to, const char *name, const char *text, size_t size);

/* "DOING: the DLL's sentence for code (what a callback stumbled over)". */
struct mpiq_error *mpiq_ask_error(struct mpiq_look *look, int code, const char *doing);

#endif
