/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * history_state - what is known of registers and memory at one place of a function, on all ways to there
 * (call_history.h).
 *
 * Memory is a list of words at addresses whose base is known: the function's frame (addresses count from the
 * stack pointer at its entry), no base (fixed places), or a value that has a name.  What is not in the list
 * is not known.
 */
#ifndef MPIQ_HISTORY_STATE_H
#define MPIQ_HISTORY_STATE_H

#include "process/function_code.h"
#include "process/target.h"

enum mpiq_history_kind {
    MPIQ_HISTORY_UNKNOWN,
    MPIQ_HISTORY_NUMBER,
    MPIQ_HISTORY_FRAME, /* an address, from the stack pointer at the function's entry on */
    MPIQ_HISTORY_NAMED, /* what the instruction made that symbol names, and `value` more */
};

struct mpiq_history_word {
    uint8_t kind;
    bool frame;  /* it may be an address in the function's own frame */
    bool narrow; /* only the lower 32 bits are certain */
    uint64_t symbol;
    uint64_t value;
};

/* A name: the instruction that made a value, and as what of it: a register (by number), or one of these. */
enum { MPIQ_HISTORY_READ_BEFORE = 64, MPIQ_HISTORY_LOADED = 62, MPIQ_HISTORY_MADE = 63 };

static inline uint64_t mpiq_history_symbol(uint64_t address, int what)
{
    return address << 7 | (uint64_t)what;
}

/* What a register held at the function's entry. */
static inline uint64_t mpiq_history_entry_symbol(int number)
{
    return mpiq_history_symbol(0, number);
}

static inline bool mpiq_history_is_made(const struct mpiq_history_word *word)
{
    return word->kind == MPIQ_HISTORY_NAMED && (word->symbol & 127) == MPIQ_HISTORY_MADE;
}

enum { MPIQ_HISTORY_SLOTS = 96, MPIQ_HISTORY_CALLS = 24, MPIQ_HISTORY_REGISTERS = 32 };

/* Words of 4 bytes, the last ones of the frame. */
enum { MPIQ_HISTORY_FRAME_WORDS = 4096 };

struct mpiq_history_slot {
    struct mpiq_history_word base; /* its address */
    uint8_t size;                  /* 4 or 8 */
    bool doubted; /* a callee may have used it as its own, unless the function reads it again */
    struct mpiq_history_word value;
};

/* A call that made a word, and what it was given. */
struct mpiq_history_call {
    uint64_t address; /* 0: none */
    int made;         /* which of the words points to what it makes */
    struct mpiq_history_word words[MPIQ_CALL_WORDS];
};

struct mpiq_history_state {
    struct mpiq_history_word registers[MPIQ_HISTORY_REGISTERS];
    struct mpiq_history_slot slots[MPIQ_HISTORY_SLOTS];
    size_t slot_count;
    struct mpiq_history_call calls[MPIQ_HISTORY_CALLS];
    size_t call_count;
    bool spilled; /* an address of the frame is in the frame */
    bool escaped; /* others may know one */
    bool owed;    /* a call may write into the frame later */
    bool others;  /* anything but `calls` may have left a made word anywhere in the frame */
    uint32_t stored[MPIQ_HISTORY_FRAME_WORDS / 32]; /* where instructions did: a bit for each word */
};

/* The state at the function's entry; the one of which nothing is known. */
void mpiq_history_begin(struct mpiq_history_state *state, const struct mpiq_architecture *architecture);
void mpiq_history_anything(struct mpiq_history_state *state);

/* Leaves in state what both agree on; returns whether that is less than before. */
bool mpiq_history_join(struct mpiq_history_state *state, const struct mpiq_history_state *other);

/* Goes through an instruction that is no call. */
void mpiq_history_step(struct mpiq_history_state *state, const struct mpiq_architecture *architecture,
                       const struct mpiq_instruction *instruction);

/* What a call that comes next is given. */
void mpiq_history_arguments(const struct mpiq_history_state *state,
                            const struct mpiq_architecture *architecture,
                            struct mpiq_history_word words[MPIQ_CALL_WORDS]);

/* Whether an instruction may have stored a word that a call made, in so many bytes from that distance to the
   stack pointer at the function's entry on. */
bool mpiq_history_is_stored(const struct mpiq_history_state *state, uint64_t distance, uint64_t size);

/* Goes through a call; bit n of preserved: it leaves register n as it is. */
void mpiq_history_call(struct mpiq_history_state *state, const struct mpiq_architecture *architecture,
                       uint64_t address, const struct mpiq_call_effect *effect,
                       const struct mpiq_history_word words[MPIQ_CALL_WORDS], uint64_t preserved);

#endif
