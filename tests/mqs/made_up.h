/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * made_up - a process that never ran: bytes, symbols and types, of any word size and byte order, served
 * through a debugger's callbacks to a message-queue DLL that is linked in.
 *
 * Made by hand with the functions below, or from the transcript of a real one (mqs_client --record).
 */
#ifndef MADE_UP_H
#define MADE_UP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "mpi_interface.h"

struct made_up;

/* Exits on lack of memory: it is a test's. */
struct made_up *made_up_create(int pointer_size, bool big_endian);

/* A transcript: lines of the wire, each request followed by its reply.  NULL if it is none. */
struct made_up *made_up_from_transcript(const char *text);
void made_up_destroy(struct made_up *made_up);

int made_up_pointer_size(const struct made_up *made_up);
bool made_up_is_big_endian(const struct made_up *made_up);

/* Zeroed memory in the made-up process; addresses grow, and blocks lie `gap` bytes apart. */
mqs_taddr_t made_up_allocate(struct made_up *made_up, size_t size);
void made_up_set_gap(struct made_up *made_up, size_t gap);

/* From now on it runs: before each fetch a few of its bytes change, as this number's random ones say. */
void made_up_run(struct made_up *made_up, uint64_t seed);

/* What it does after each fetch: `after` is told what was fetched.  NULL: nothing more. */
void made_up_after_fetch(struct made_up *made_up,
                         void (*after)(struct made_up *made_up, mqs_taddr_t address, size_t size));

void made_up_put(struct made_up *made_up, mqs_taddr_t address, int width, uint64_t value);
void made_up_put_bytes(struct made_up *made_up, mqs_taddr_t address, const void *bytes, size_t size);
void made_up_put_text(struct made_up *made_up, mqs_taddr_t address, const char *text);
uint64_t made_up_get(struct made_up *made_up, mqs_taddr_t address, int width);
void made_up_symbol(struct made_up *made_up, const char *name, mqs_taddr_t address);

/* 0 if there is none; NULL if not all bytes are there. */
mqs_taddr_t made_up_find_symbol(const struct made_up *made_up, const char *name);
const unsigned char *made_up_find(struct made_up *made_up, mqs_taddr_t address, size_t size);

/* A structure whose members follow; each has a size, or 'p' pointer, 'i' int, 'z' size_t, 'h' 2, 'b' 1, 'l' 8
   bytes, aligned as a compiler would; or is a structure declared before. */
void made_up_structure(struct made_up *made_up, const char *name);
void made_up_member(struct made_up *made_up, const char *name, const char *what);
void made_up_remove_type(struct made_up *made_up, const char *name);
int made_up_size(struct made_up *made_up, const char *structure);
int made_up_offset(struct made_up *made_up, const char *structure, const char *member);

/* Width of a member declared with a letter. */
void made_up_set(struct made_up *made_up, mqs_taddr_t address, const char *structure, const char *member,
                 uint64_t value);
mqs_taddr_t made_up_new(struct made_up *made_up, const char *structure);

/* All its bytes, one after another, for whoever wants to corrupt them. */
size_t made_up_bytes(const struct made_up *made_up);
unsigned char *made_up_byte(struct made_up *made_up, size_t index);
mqs_taddr_t made_up_address(const struct made_up *made_up, size_t index);

/* Type callbacks answer nothing: a stripped library. */
void made_up_strip(struct made_up *made_up);

mqs_process *made_up_process(struct made_up *made_up);
mqs_image *made_up_image(struct made_up *made_up);

struct made_up_counts {
    unsigned long fetches;
    unsigned long bytes;
    unsigned long allocated; /* bytes that the DLL holds now */
    unsigned long peak;
    unsigned long blocks; /* that it has not freed */
};
struct made_up_counts *made_up_counts(void);

/* The n-th allocation of the DLL from now on fails, and, if not once, all after it; 0: none. */
void made_up_fail_after(unsigned long n, bool once);

/* Sets the DLL up on it, up to mqs_process_has_queues; the code of the call that failed. */
int made_up_open(struct made_up *made_up);
void made_up_close(struct made_up *made_up);

extern const mqs_basic_callbacks made_up_basic_callbacks;

#endif
