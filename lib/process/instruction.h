/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * instruction - what one machine instruction does, in words that are the same for all architectures.
 *
 * An architecture (x86_64.h, aarch64.h) fills it in from what Capstone decoded; code.h follows where it goes,
 * call_values.h computes with it.  What an architecture cannot say exactly is left unknown.  Registers have
 * their DWARF numbers.
 */
#ifndef MPIQ_INSTRUCTION_H
#define MPIQ_INSTRUCTION_H

#include <capstone/capstone.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum mpiq_operand_kind {
    MPIQ_OPERAND_UNKNOWN,
    MPIQ_OPERAND_NUMBER,
    MPIQ_OPERAND_REGISTER,
    MPIQ_OPERAND_MEMORY
};

enum mpiq_index_part {
    MPIQ_INDEX_WHOLE,
    MPIQ_INDEX_LOW,
    MPIQ_INDEX_LOW_SIGNED
}; /* of its 8 bytes the low 4 */

enum mpiq_turn { MPIQ_TURN_NONE, MPIQ_TURN_INVERT, MPIQ_TURN_NEGATE, MPIQ_TURN_INCREMENT };

/* A register is extended, then shifted, then turned. */
struct mpiq_operand {
    uint8_t kind;
    uint8_t width;      /* bytes; of a register the lowest */
    uint8_t scale;      /* of the index */
    uint8_t index_part; /* that is added, extended */
    uint8_t shift;      /* of a register, MPIQ_SHIFT_…; 0: none */
    uint8_t shift_by;   /* bits */
    uint8_t turn;       /* of a register */
    bool is_signed;     /* a register: the rest as its sign says, not zero */
    bool unfollowed;    /* the address of memory is computed in some other way */
    int8_t reg, index;  /* a register; base and index of memory, -1: none */
    uint64_t value;     /* a number, its sign extended; what is added to the address of memory */
};

enum mpiq_operation {
    MPIQ_MOVE,      /* a, the rest zero */
    MPIQ_EXTEND,    /* a, the rest as its sign says */
    MPIQ_EXTENSION, /* as many bytes, which continue a as its sign says */
    MPIQ_ADDRESS,   /* the address of a */
    MPIQ_ADD,       /* a + b */
    MPIQ_SUBTRACT,
    MPIQ_AND,
    MPIQ_OR,
    MPIQ_XOR,
    MPIQ_SHIFT_LEFT, /* a by b, of which only so many bits count as a's width needs */
    MPIQ_SHIFT_RIGHT,
    MPIQ_SHIFT_SIGNED,
    MPIQ_MULTIPLY,
    MPIQ_DIVIDE, /* a by b; by 0 it is 0 */
    MPIQ_DIVIDE_SIGNED,
    MPIQ_NEGATE,   /* -a */
    MPIQ_INVERT,   /* ~a */
    MPIQ_QUOTIENT, /* of c:a (4 bytes each, signed) by b */
    MPIQ_REMAINDER,
    MPIQ_SET_BYTE,    /* the lowest byte: whether the condition holds; the rest stays */
    MPIQ_CHOOSE,      /* b if the condition holds, else a */
    MPIQ_INSERT,      /* a, but those bits of b that c has */
    MPIQ_ADD_PRODUCT, /* c + a * b */
    MPIQ_SUBTRACT_PRODUCT,
};

/* What an instruction leaves in a register: `width` bytes (4 or more), the rest zero. */
struct mpiq_effect {
    uint8_t operation;
    uint8_t width;
    int8_t reg;
    struct mpiq_operand a, b, c;
};

enum mpiq_condition {
    MPIQ_IF_EQUAL,
    MPIQ_IF_NOT_EQUAL,
    MPIQ_IF_LESS,
    MPIQ_IF_NOT_LESS,
    MPIQ_IF_LESS_OR_EQUAL,
    MPIQ_IF_GREATER,
    MPIQ_IF_BELOW, /* unsigned */
    MPIQ_IF_NOT_BELOW,
    MPIQ_IF_BELOW_OR_EQUAL,
    MPIQ_IF_ABOVE,
    MPIQ_IF_NEGATIVE,
    MPIQ_IF_NOT_NEGATIVE,
    MPIQ_CONDITIONS /* none, or another one */
};

enum mpiq_flow {
    MPIQ_FLOW_ON,
    MPIQ_FLOW_CALL,     /* goes on once that has returned */
    MPIQ_FLOW_MAY_JUMP, /* if the condition holds */
    MPIQ_FLOW_JUMP,
    MPIQ_FLOW_ENDS, /* returns, or never goes on */
};

enum mpiq_store {
    MPIQ_STORES_NOTHING,
    MPIQ_STORES_AT,     /* at `to` */
    MPIQ_STORES_PUSHED, /* 8 bytes below the stack pointer */
    MPIQ_STORES_ANYWHERE
};

enum mpiq_comparison { MPIQ_COMPARES_NOTHING, MPIQ_COMPARES, MPIQ_COMPARES_BITS /* left & right with 0 */ };

enum { MPIQ_EFFECTS_MOST = 3, MPIQ_STORED_MOST = 2 };

struct mpiq_instruction {
    uint64_t address;
    uint8_t size; /* bytes */
    uint8_t flow;
    uint8_t condition; /* what a jump, a byte or a choice depends on */
    uint8_t store;
    uint8_t comparison; /* what a jump that makes one itself depends on; of others, what flags are then of */
    uint8_t stored_count;
    bool writes_flags;
    bool opaque;                /* x86-64: it has to do with registers that have no number here (vectors) */
    uint32_t sources;           /* x86-64: bit n: register n is an operand that it reads */
    bool loses_stack;           /* the stack pointer is moved, nobody knows how far */
    int16_t effect_count;       /* of a register that is written without an effect the value is unknown */
    uint32_t writes;            /* bit n: some part of register n */
    int64_t stack_move;         /* by how much the stack pointer moves, unless it is lost */
    struct mpiq_operand target; /* of a jump or a call: a number, or what holds the address */
    struct mpiq_operand to;     /* where it stores */
    struct mpiq_operand stored[MPIQ_STORED_MOST]; /* what, in as many equal parts; may be unknown */
    struct mpiq_operand left, right;              /* what it compares */
    struct mpiq_effect effects[MPIQ_EFFECTS_MOST];
};

/* One architecture: how its instructions are read, and where its calling convention puts arguments. */
struct mpiq_architecture {
    cs_arch decoder;
    cs_mode mode;
    int instruction_size; /* bytes; 0: they differ.  Else what Capstone does not know is read, too */
    int stack;            /* the stack pointer */
    const int *arguments; /* registers of integer arguments, in their order; then the stack */
    size_t argument_count;
    uint32_t scratch; /* bit n: a register that code which only leads to a function may use (a PLT entry) */
    void (*read)(csh decoder, const cs_insn *from, struct mpiq_instruction *ret);
};

/* For what fills an instruction: a number, and a register of that width in bytes. */
static inline struct mpiq_operand mpiq_operand_number(uint64_t value)
{
    return (struct mpiq_operand){
        .kind = MPIQ_OPERAND_NUMBER, .width = 8, .reg = -1, .index = -1, .value = value};
}

static inline struct mpiq_operand mpiq_operand_register(int number, uint8_t width)
{
    return (struct mpiq_operand){
        .kind = MPIQ_OPERAND_REGISTER, .width = width, .reg = (int8_t)number, .index = -1};
}

#endif
