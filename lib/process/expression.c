/* SPDX-License-Identifier: BSD-3-Clause */
#include "process/expression.h"

#include <string.h>

#include "process/die.h"

enum { STACK_MOST = 32, REGISTERS_MOST = 32, BASES_MOST = 2 /* a frame's base may use no other */ };

/* An integer: extended from its size by its sign.  Without a type it is an address's size, without a sign. */
struct value {
    struct mpiq_call_word word;
    int size;
    bool is_signed;
};

struct machine {
    const struct mpiq_expression_frame *frame;
    const unsigned char *at, *start, *end;
    struct value stack[STACK_MOST];
    int count;
    struct mpiq_call_word decided; /* a word from where what decided came from */
    int bases;
    bool bad;
};

static struct mpiq_call_word run(const struct mpiq_expression *expression,
                                 const struct mpiq_expression_frame *frame, int bases);

/* ---- operands ---- */

static uint64_t take(struct machine *machine, int size)
{
    uint64_t value = 0;
    if (machine->end - machine->at < size) {
        machine->bad = true;
        return 0;
    }
    for (int i = 0; i < size; i++) {
        int place = machine->frame->modules->big_endian ? size - 1 - i : i;
        value |= (uint64_t)machine->at[i] << (8 * place);
    }
    machine->at += size;
    return value;
}

static uint64_t take_leb(struct machine *machine, bool is_signed)
{
    uint64_t value = 0;
    for (unsigned shift = 0; machine->at < machine->end && shift < 64; shift += 7) {
        unsigned char byte = *machine->at++;
        value |= (uint64_t)(byte & 0x7f) << shift;
        if (byte & 0x80)
            continue;
        if (is_signed && byte & 0x40 && shift + 7 < 64)
            value |= ~UINT64_C(0) << (shift + 7);
        return value;
    }
    machine->bad = true;
    return 0;
}

/* ---- values ---- */

static uint64_t fitted(uint64_t value, int size, bool is_signed)
{
    return is_signed ? mpiq_word_extend(value, size) : mpiq_word_cut(value, size);
}

static void push(struct machine *machine, const struct mpiq_call_word *word, int size, bool is_signed)
{
    if (machine->count == STACK_MOST || !word->known || (word->narrow && size > 4 && is_signed)) {
        machine->bad = true;
        return;
    }
    struct value value = {*word, size, is_signed};
    value.word.value = fitted(word->value, size, is_signed);
    value.word.narrow = word->narrow && size > 4;
    machine->stack[machine->count++] = value;
}

static void push_word(struct machine *machine, struct mpiq_call_word word)
{
    push(machine, &word, machine->frame->modules->word_size, false);
}

static void push_number(struct machine *machine, uint64_t value)
{
    push_word(machine, mpiq_word_constant(value));
}

static struct value pop(struct machine *machine)
{
    if (machine->count == 0) {
        machine->bad = true;
        return (struct value){.word = mpiq_word_constant(0), .size = 8};
    }
    return machine->stack[--machine->count];
}

/* Size and sign of a base type of the unit; false for one that is no integer. */
static bool base_type(const struct machine *machine, uint64_t offset, int *size, bool *is_signed)
{
    const struct mpiq_debug_unit *own = machine->frame->unit;
    if (offset == 0) { /* none */
        *size = machine->frame->modules->word_size;
        *is_signed = false;
        return true;
    }
    if (offset >= own->end - own->start)
        return false;
    struct mpiq_entry entry = {own->info, own->start + offset, own->in_types};
    struct mpiq_debug_unit *unit;
    uint64_t bytes, encoding;
    _cleanup_die_ Dwarf_Die die = mpiq_die_at(&entry, &unit);
    if (!die || mpiq_die_tag(die) != DW_TAG_base_type || !mpiq_die_number(die, DW_AT_byte_size, &bytes) ||
        !mpiq_die_number(die, DW_AT_encoding, &encoding) ||
        (bytes != 1 && bytes != 2 && bytes != 4 && bytes != 8))
        return false;
    *size = (int)bytes;
    *is_signed = encoding == DW_ATE_signed || encoding == DW_ATE_signed_char;
    return *is_signed || encoding == DW_ATE_unsigned || encoding == DW_ATE_unsigned_char ||
           encoding == DW_ATE_boolean || encoding == DW_ATE_address;
}

static void push_typed(struct machine *machine, struct mpiq_call_word word, uint64_t type)
{
    int size = 0;
    bool is_signed = false;
    if (base_type(machine, type, &size, &is_signed))
        push(machine, &word, size, is_signed);
    else
        machine->bad = true;
}

/* ---- operations ---- */

/* Those for which the upper half of an operand decides nothing in the lower half of the result. */
static bool is_low(unsigned operation)
{
    return operation == DW_OP_plus || operation == DW_OP_minus || operation == DW_OP_mul ||
           operation == DW_OP_and || operation == DW_OP_or || operation == DW_OP_xor;
}

static bool compared(unsigned operation, int64_t a, int64_t b, bool is_signed)
{
    bool less = is_signed ? a < b : (uint64_t)a < (uint64_t)b;
    switch (operation) {
    case DW_OP_eq:
        return a == b;
    case DW_OP_ne:
        return a != b;
    case DW_OP_lt:
        return less;
    case DW_OP_le:
        return less || a == b;
    case DW_OP_gt:
        return !less && a != b;
    default:
        return !less;
    }
}

static uint64_t shifted(struct machine *machine, unsigned operation, uint64_t a, uint64_t by, int size)
{
    if (by >= (uint64_t)size * 8)
        machine->bad = true; /* compilers do not agree on what that is */
    else if (operation == DW_OP_shl)
        return a << by;
    else if (operation == DW_OP_shr)
        return mpiq_word_cut(a, size) >> by;
    else
        return (uint64_t)((int64_t)mpiq_word_extend(a, size) >> by);
    return 0;
}

static uint64_t divided(struct machine *machine, unsigned operation, uint64_t a, uint64_t b, bool is_signed)
{
    if (b == 0 || (is_signed && b == UINT64_MAX && a == (uint64_t)INT64_MIN)) {
        machine->bad = true;
        return 0;
    }
    if (operation == DW_OP_div)
        return is_signed ? (uint64_t)((int64_t)a / (int64_t)b) : a / b;
    return is_signed ? (uint64_t)((int64_t)a % (int64_t)b) : a % b;
}

static void do_binary(struct machine *machine, unsigned operation)
{
    struct value b = pop(machine), a = pop(machine);
    uint64_t value = 0;
    bool is_shift = operation == DW_OP_shl || operation == DW_OP_shr || operation == DW_OP_shra;
    bool is_comparison = operation >= DW_OP_eq && operation <= DW_OP_ne;
    bool narrow = a.word.narrow || b.word.narrow;
    /* Addresses' arithmetic has no sign, but the standard wants one for comparisons and quotients. */
    bool is_generic = !a.is_signed && a.size == machine->frame->modules->word_size;
    bool as_signed = a.is_signed || (is_generic && operation != DW_OP_mod);
    if ((!is_shift && (a.size != b.size || a.is_signed != b.is_signed)) || (narrow && !is_low(operation))) {
        machine->bad = true;
        return;
    }
    uint64_t left = a.word.value, right = b.word.value;
    switch (operation) {
    case DW_OP_plus:
        value = left + right;
        break;
    case DW_OP_minus:
        value = left - right;
        break;
    case DW_OP_mul:
        value = left * right;
        break;
    case DW_OP_and:
        value = left & right;
        break;
    case DW_OP_or:
        value = left | right;
        break;
    case DW_OP_xor:
        value = left ^ right;
        break;
    case DW_OP_div:
    case DW_OP_mod:
        value = divided(machine, operation, fitted(left, a.size, as_signed), fitted(right, a.size, as_signed),
                        as_signed);
        break;
    case DW_OP_shl:
    case DW_OP_shr:
    case DW_OP_shra:
        value = shifted(machine, operation, left, right, a.size);
        break;
    default:
        value = compared(operation, (int64_t)fitted(left, a.size, as_signed),
                         (int64_t)fitted(right, a.size, as_signed), as_signed);
        break;
    }
    struct mpiq_call_word word = mpiq_word_combined(&a.word, &b.word, value);
    word.narrow = narrow;
    if (is_comparison)
        push_word(machine, word);
    else
        push(machine, &word, a.size, a.is_signed);
}

static void do_unary(struct machine *machine, unsigned operation)
{
    struct value a = pop(machine);
    uint64_t value = a.word.value;
    if (operation == DW_OP_plus_uconst) {
        value += take_leb(machine, false);
    } else if (operation == DW_OP_neg) {
        value = 0 - value;
    } else if (operation == DW_OP_not) {
        value = ~value;
    } else { /* DW_OP_abs */
        machine->bad = machine->bad || a.word.narrow;
        value = (int64_t)mpiq_word_extend(value, a.size) < 0 ? 0 - value : value;
    }
    struct mpiq_call_word word = mpiq_word_changed(&a.word, value);
    push(machine, &word, a.size, a.is_signed);
}

static void do_stack(struct machine *machine, unsigned operation)
{
    int from = operation == DW_OP_over ? 1 : operation == DW_OP_pick ? (int)take(machine, 1) : 0;
    int least = operation == DW_OP_rot ? 3 : operation == DW_OP_swap ? 2 : from + 1;
    if (machine->count < least || machine->count == STACK_MOST) {
        machine->bad = true;
        return;
    }
    struct value *top = &machine->stack[machine->count - 1], old = *top;
    switch (operation) {
    case DW_OP_drop:
        machine->count--;
        break;
    case DW_OP_swap:
        *top = top[-1];
        top[-1] = old;
        break;
    case DW_OP_rot:
        *top = top[-1];
        top[-1] = top[-2];
        top[-2] = old;
        break;
    default: /* dup, over, pick */
        machine->stack[machine->count++] = top[-from];
        break;
    }
}

static void do_read(struct machine *machine, int size, bool typed, uint64_t type)
{
    struct value address = pop(machine);
    if (machine->bad)
        return;
    struct mpiq_call_word word =
        mpiq_word_read(machine->frame->modules, &address.word, (uint64_t)(unsigned)size);
    int type_size = size;
    bool is_signed;
    if (typed && (!base_type(machine, type, &type_size, &is_signed) || type_size != size))
        machine->bad = true;
    else if (typed)
        push_typed(machine, word, type);
    else
        push_word(machine, word);
}

static void do_convert(struct machine *machine, bool reinterpret)
{
    uint64_t type = take_leb(machine, false);
    struct value a = pop(machine);
    int size;
    bool is_signed;
    if (reinterpret && (!base_type(machine, type, &size, &is_signed) || size != a.size))
        machine->bad = true;
    else
        push_typed(machine, a.word, type);
}

static struct mpiq_call_word base_of(struct machine *machine)
{
    const struct mpiq_expression *base = &machine->frame->frame_base;
    if (machine->bases >= BASES_MOST || base->size == 0)
        return mpiq_word_unknown;
    int number = mpiq_expression_register(base);
    return number >= 0 ? machine->frame->reg(machine->frame->argument, (uint64_t)number)
                       : run(base, machine->frame, machine->bases + 1);
}

/* A register and what is added to it. */
static void push_sum(struct machine *machine, struct mpiq_call_word word)
{
    word.value += take_leb(machine, true);
    push_word(machine, word);
}

static struct mpiq_call_word in_register(const struct machine *machine, uint64_t number)
{
    return machine->frame->reg(machine->frame->argument, number);
}

/* What the function was given in a register: other expressions of its entry nobody writes. */
static void do_entry(struct machine *machine)
{
    uint64_t size = take_leb(machine, false);
    if (machine->bad || size > (uint64_t)(machine->end - machine->at)) {
        machine->bad = true;
        return;
    }
    const struct mpiq_expression inner = {machine->at, (size_t)size};
    int number = mpiq_expression_register(&inner);
    machine->at += size;
    if (number < 0)
        machine->bad = true;
    else
        push_word(machine, machine->frame->entry(machine->frame->argument, (uint64_t)number));
}

static void do_jump(struct machine *machine, bool conditional)
{
    int64_t by = (int16_t)take(machine, 2);
    bool jumps = true;
    if (conditional) {
        struct value a = pop(machine);
        machine->decided = mpiq_word_combined(&machine->decided, &a.word, 0);
        machine->bad = machine->bad || a.word.narrow || !machine->decided.known;
        jumps = a.word.value != 0;
    }
    if (!jumps)
        return;
    if (by < machine->start - machine->at || by > machine->end - machine->at)
        machine->bad = true;
    else
        machine->at += by;
}

static void push_indexed(struct machine *machine)
{
    uint64_t address = 0;
    if (mpiq_debug_address(machine->frame->unit, take_leb(machine, false), &address))
        push_number(machine, address + machine->frame->bias);
    else
        machine->bad = true;
}

/* Operations that take operands of their own. */
static void do_other(struct machine *machine, unsigned operation)
{
    uint64_t number, type;
    switch (operation) {
    case DW_OP_addr:
        push_number(machine, take(machine, machine->frame->unit->address_size) + machine->frame->bias);
        break;
    case DW_OP_addrx:
    case DW_OP_GNU_addr_index:
        push_indexed(machine);
        break;
    case DW_OP_bregx:
        number = take_leb(machine, false);
        push_sum(machine, in_register(machine, number));
        break;
    case DW_OP_fbreg:
        push_sum(machine, base_of(machine));
        break;
    case DW_OP_call_frame_cfa:
        push_word(machine, machine->frame->cfa(machine->frame->argument));
        break;
    case DW_OP_entry_value:
    case DW_OP_GNU_entry_value:
        do_entry(machine);
        break;
    case DW_OP_convert:
    case DW_OP_GNU_convert:
        do_convert(machine, false);
        break;
    case DW_OP_reinterpret:
    case DW_OP_GNU_reinterpret:
        do_convert(machine, true);
        break;
    case DW_OP_regval_type:
    case DW_OP_GNU_regval_type:
        number = take_leb(machine, false);
        type = take_leb(machine, false);
        push_typed(machine, in_register(machine, number), type);
        break;
    case DW_OP_const_type:
    case DW_OP_GNU_const_type:
        type = take_leb(machine, false);
        number = take(machine, 1);
        push_typed(machine, mpiq_word_constant(number <= 8 ? take(machine, (int)number) : 0), type);
        machine->bad = machine->bad || number > 8;
        break;
    case DW_OP_deref_type:
    case DW_OP_GNU_deref_type:
        number = take(machine, 1);
        type = take_leb(machine, false);
        do_read(machine, (int)number, true, type);
        break;
    default:
        machine->bad = true;
        break;
    }
}

static void do_constant(struct machine *machine, unsigned operation)
{
    static const int sizes[] = {1, 1, 2, 2, 4, 4, 8, 8};
    if (operation == DW_OP_constu || operation == DW_OP_consts) {
        push_number(machine, take_leb(machine, operation == DW_OP_consts));
        return;
    }
    int size = sizes[operation - DW_OP_const1u];
    uint64_t value = take(machine, size);
    bool is_signed = (operation - DW_OP_const1u) & 1;
    push_number(machine, fitted(value, size, is_signed));
}

static void step(struct machine *machine)
{
    unsigned operation = *machine->at++;
    if (operation >= DW_OP_lit0 && operation <= DW_OP_lit31)
        push_number(machine, operation - DW_OP_lit0);
    else if (operation >= DW_OP_breg0 && operation <= DW_OP_breg31)
        push_sum(machine, in_register(machine, operation - DW_OP_breg0));
    else if (operation >= DW_OP_const1u && operation <= DW_OP_consts)
        do_constant(machine, operation);
    else if (operation >= DW_OP_dup && operation <= DW_OP_rot)
        do_stack(machine, operation);
    else if (operation == DW_OP_abs || operation == DW_OP_neg || operation == DW_OP_not ||
             operation == DW_OP_plus_uconst)
        do_unary(machine, operation);
    else if ((operation >= DW_OP_and && operation <= DW_OP_xor) ||
             (operation >= DW_OP_eq && operation <= DW_OP_ne))
        do_binary(machine, operation);
    else if (operation == DW_OP_bra || operation == DW_OP_skip)
        do_jump(machine, operation == DW_OP_bra);
    else if (operation == DW_OP_deref)
        do_read(machine, machine->frame->modules->word_size, false, 0);
    else if (operation == DW_OP_deref_size)
        do_read(machine, (int)take(machine, 1), false, 0);
    else if (operation == DW_OP_stack_value)
        machine->bad = machine->bad || machine->at != machine->end;
    else if (operation != DW_OP_nop)
        do_other(machine, operation);
}

static struct mpiq_call_word run(const struct mpiq_expression *expression,
                                 const struct mpiq_expression_frame *frame, int bases)
{
    struct machine machine = {.frame = frame,
                              .at = expression->bytes,
                              .start = expression->bytes,
                              .end = expression->bytes + expression->size,
                              .decided = mpiq_word_constant(0),
                              .bases = bases};
    while (machine.at < machine.end && !machine.bad) {
        if (--*frame->steps < 0)
            return mpiq_word_unknown;
        step(&machine);
    }
    if (machine.bad || machine.count == 0)
        return mpiq_word_unknown;
    const struct mpiq_call_word *word = &machine.stack[machine.count - 1].word;
    return mpiq_word_combined(word, &machine.decided, word->value);
}

struct mpiq_call_word mpiq_expression_evaluate(const struct mpiq_expression *expression,
                                               const struct mpiq_expression_frame *frame)
{
    return run(expression, frame, 0);
}

int mpiq_expression_register(const struct mpiq_expression *expression)
{
    const unsigned char *bytes = expression->bytes;
    if (expression->size == 1 && bytes[0] >= DW_OP_reg0 && bytes[0] <= DW_OP_reg31)
        return bytes[0] - DW_OP_reg0;
    if (expression->size == 2 && bytes[0] == DW_OP_regx && bytes[1] < REGISTERS_MOST)
        return bytes[1];
    return -1;
}
