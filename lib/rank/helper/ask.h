/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ask - one question about one process: what a handle stands for, what is in a queue, what a message holds.
 *
 * Questions and answers are JSON objects (docs/WIRE.md, "Questions").  Unlike a look, an answer may hold the
 * contents of messages: it goes only to the person who asked, never into a file.
 */
#ifndef MPIQ_HELPER_ASK_H
#define MPIQ_HELPER_ASK_H

#include "base/json_text.h"
#include "reading.h"

/* What is not asked is 0 or "". */
struct mpiq_question {
    char ask[16];
    char kind[16];
    char queue[16];
    uint64_t address;
    int64_t index;
    int64_t elements;
    bool internal;
};

/* Takes a JSON object of that length. */
struct mpiq_error *mpiq_question_read(const char *json, size_t length, struct mpiq_question *ret);

/* Needs reading->dll and reading->target.  Writes an object; after an error, which says why there is no
   answer, what was written is of no use. */
struct mpiq_error *mpiq_ask_answer(struct mpiq_reading *reading, const struct mpiq_question *question,
                                   struct mpiq_text *ret);

/* ---- ask_parts.c: what the others share ------------------------------------------------------------ */

/* "DOING: the DLL's sentence for code (what a callback stumbled over)". */
struct mpiq_error *mpiq_ask_error(struct mpiq_reading *reading, int code, const char *doing);

/* A member of an object: a DLL's text of at most size bytes, terminated or not. */
void mpiq_ask_put_text(struct mpiq_text *text, const char *key, const char *string, size_t size);
#define MPIQ_PUT_TEXT(to, key, text) mpiq_ask_put_text(to, key, text, sizeof(text))

/* One as the DLL tells it. */
struct mpiq_ask_operation {
    mqs_pending_operation plain;
    mqs_operation_details details;
    bool detailed;
    const char *communicator; /* its name; NULL not known */
    size_t communicator_size;
};

/* With its details: of the operation that the DLL has just returned. */
struct mpiq_ask_operation mpiq_ask_complete(struct mpiq_reading *reading, const mqs_pending_operation *plain);
/* As a value. */
void mpiq_ask_put_operation(struct mpiq_reading *reading, const struct mpiq_ask_operation *operation,
                            struct mpiq_text *text);

/* Calls visit for each communicator until it returns another code than mqs_ok, which this returns. */
int mpiq_ask_each_communicator(struct mpiq_reading *reading,
                               int (*visit)(struct mpiq_reading *, const mqs_communicator *, void *),
                               void *argument);

/* ---- ask_handle.c ----------------------------------------------------------------------------------- */

struct mpiq_error *mpiq_ask_answer_handle(struct mpiq_reading *reading, const struct mpiq_question *question,
                                          struct mpiq_text *ret);

/* ---- ask_contents.c --------------------------------------------------------------------------------- */

struct mpiq_ask_datatype {
    mqs_datatype_details details;
    mqs_datatype_block *blocks;
    size_t count;
    bool complete; /* these are all of its blocks */
};

struct mpiq_error *mpiq_ask_read_datatype(struct mpiq_reading *reading, mqs_taddr_t handle,
                                          struct mpiq_ask_datatype *ret);
void mpiq_ask_datatype_deinit(struct mpiq_ask_datatype *datatype);
/* The member "datatype". */
void mpiq_ask_put_datatype(struct mpiq_text *text, const struct mpiq_ask_datatype *datatype);

struct mpiq_ask_buffer {
    uint64_t address;
    bool packed;      /* the elements stand side by side */
    int64_t count;    /* elements of the datatype */
    int64_t bytes;    /* of a packed one, or of one without a datatype */
    int64_t elements; /* at most so many are read; 0: all */
};

/* Adds "data" and what says how to read it.  datatype NULL: it has none, or it is not known.  An error if the
   bytes cannot be read. */
struct mpiq_error *mpiq_ask_put_data(struct mpiq_reading *reading, const struct mpiq_ask_buffer *buffer,
                                     const struct mpiq_ask_datatype *datatype, struct mpiq_text *text);

#endif
