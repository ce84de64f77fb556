/* SPDX-License-Identifier: BSD-3-Clause */
#include "process/call_values.h"

/* Whether an instruction that jumps may skip has run. */
enum state { NOT_ASKED, RAN, DID_NOT_RUN, NOBODY_KNOWS };

static struct mpiq_call_word address_before(struct mpiq_call_values *values, size_t index,
                                            const struct mpiq_operand *operand, int depth);
static struct mpiq_call_word condition_before(struct mpiq_call_values *values, size_t index, int depth);
static enum state has_run(struct mpiq_call_values *values, size_t index, int depth);

static bool writes(const struct mpiq_call_values *values, size_t index, int number)
{
    return values->line.instructions[index].writes >> number & 1;
}

/* What an instruction leaves in a register; NULL: not known. */
static const struct mpiq_effect *effect_on(const struct mpiq_call_values *values, size_t index, int number)
{
    const struct mpiq_instruction *instruction = &values->line.instructions[index];
    for (int i = 0; i < instruction->effect_count; i++) {
        if (instruction->effects[i].reg == number)
            return &instruction->effects[i];
    }
    return NULL;
}

bool mpiq_values_is_argument(const struct mpiq_call_values *values, int number)
{
    const struct mpiq_architecture *architecture = values->line.architecture;
    for (size_t i = 0; i < architecture->argument_count; i++) {
        if (architecture->arguments[i] == number)
            return true;
    }
    return false;
}

/* ---- memory ---- */

/* The stack pointer before an instruction, counted back from the call. */
static struct mpiq_call_word stack_before(const struct mpiq_call_values *values, size_t index)
{
    const int number = values->line.architecture->stack;
    if (!(values->registers->known >> number & 1))
        return mpiq_word_unknown;
    uint64_t value = values->registers->value[number];
    for (size_t i = values->line.count - 1; i-- > index;) {
        const struct mpiq_instruction *instruction = &values->line.instructions[i];
        if (instruction->loses_stack ||
            (instruction->stack_move && !mpiq_code_has_run(&values->line, i, index)))
            return mpiq_word_unknown;
        value -= (uint64_t)instruction->stack_move;
    }
    return mpiq_word_constant(value);
}

/* Of an index of an address what is added, unscaled. */
static struct mpiq_call_word index_part(struct mpiq_call_word word, int part)
{
    if (part == MPIQ_INDEX_WHOLE)
        return word;
    word.narrow = false;
    word.value = part == MPIQ_INDEX_LOW ? mpiq_word_cut(word.value, 4) : mpiq_word_extend(word.value, 4);
    return word;
}

static struct mpiq_call_word address_before(struct mpiq_call_values *values, size_t index,
                                            const struct mpiq_operand *operand, int depth)
{
    if (operand->kind != MPIQ_OPERAND_MEMORY || operand->unfollowed)
        return mpiq_word_unknown;
    struct mpiq_call_word sum = mpiq_word_constant(operand->value);
    const int registers[] = {operand->reg, operand->index};
    for (int i = 0; i < 2; i++) {
        if (registers[i] < 0)
            continue;
        struct mpiq_call_word part = mpiq_values_register(values, index, registers[i], depth);
        part = i ? index_part(part, operand->index_part) : part;
        bool narrow = sum.narrow || part.narrow;
        sum = mpiq_word_combined(&sum, &part, sum.value + part.value * (i ? operand->scale : 1U));
        sum.narrow = narrow;
    }
    return sum;
}

/* Where an instruction writes memory: 0 nowhere, 1 at *address (size bytes), -1 nobody knows where. */
static int stores(struct mpiq_call_values *values, size_t index, uint64_t *address, uint64_t *size, int depth)
{
    const struct mpiq_instruction *instruction = &values->line.instructions[index];
    struct mpiq_call_word to;
    switch (instruction->store) {
    case MPIQ_STORES_NOTHING:
        return 0;
    case MPIQ_STORES_PUSHED:
        to = stack_before(values, index);
        *address = to.value - 8;
        *size = 8;
        return to.known ? 1 : -1;
    case MPIQ_STORES_AT:
        to = address_before(values, index, &instruction->to, depth);
        *address = to.value;
        *size = instruction->to.width;
        return to.known && !to.narrow && *size ? 1 : -1;
    default:
        return -1;
    }
}

/* Whether nothing from an instruction on, up to the call, may have written those bytes. */
static bool is_kept(struct mpiq_call_values *values, size_t index, uint64_t address, uint64_t size, int depth)
{
    for (size_t i = index; i < values->line.count; i++) {
        uint64_t at = 0, bytes = 0;
        int stored = stores(values, i, &at, &bytes, depth);
        if (stored < 0 || (stored > 0 && at < address + size && address < at + bytes))
            return false;
    }
    return true;
}

static struct mpiq_call_word memory_before(struct mpiq_call_values *values, size_t index,
                                           const struct mpiq_operand *operand, int depth)
{
    struct mpiq_call_word address = address_before(values, index, operand, depth);
    bool kept =
        address.known && !address.narrow && is_kept(values, index, address.value, operand->width, depth);
    return kept ? mpiq_word_read(values->modules, &address, operand->width) : mpiq_word_unknown;
}

/* What an instruction that stores `size` bytes at `at` has put at an address, and how much; NULL: nobody
 * knows.
 */
static const struct mpiq_operand *stored_at(const struct mpiq_instruction *instruction, uint64_t at,
                                            uint64_t *size, uint64_t address)
{
    if (!instruction->stored_count)
        return NULL;
    *size /= instruction->stored_count;
    uint64_t part = (address - at) / *size;
    return part < instruction->stored_count && at + part * *size == address ? &instruction->stored[part]
                                                                            : NULL;
}

struct mpiq_call_word mpiq_values_pushed(struct mpiq_call_values *values, size_t position)
{
    const size_t call = values->line.count - 1;
    struct mpiq_call_word top = stack_before(values, call);
    if (!top.known)
        return mpiq_word_unknown;
    uint64_t address = top.value + position * 8;
    for (size_t i = call; i-- > 0;) {
        uint64_t at = 0, size = 0;
        int stored = stores(values, i, &at, &size, MPIQ_VALUES_DEPTH);
        if (stored < 0)
            return mpiq_word_unknown;
        if (stored == 0 || at >= address + 8 || at + size <= address)
            continue;
        const struct mpiq_operand *put = stored_at(&values->line.instructions[i], at, &size, address);
        if (!put || (size != 8 && size != 4) || !mpiq_code_has_run(&values->line, i, call))
            return mpiq_word_unknown;
        struct mpiq_call_word word = mpiq_values_operand(values, i, put, MPIQ_VALUES_DEPTH);
        word.narrow = word.narrow || size == 4;
        return word;
    }
    return mpiq_word_unknown;
}

/* ---- registers ---- */

/* The lowest byte of a register. */
static struct mpiq_call_word byte_before(struct mpiq_call_values *values, size_t index, int number, int depth)
{
    for (size_t i = index; depth > 0 && i-- > 0;) {
        if (--*values->steps < 0)
            break;
        if (!writes(values, i, number))
            continue;
        const struct mpiq_effect *effect = effect_on(values, i, number);
        if (!effect || effect->operation != MPIQ_SET_BYTE || !mpiq_code_has_run(&values->line, i, index))
            break;
        return condition_before(values, i, depth - 1);
    }
    struct mpiq_call_word word = mpiq_values_register(values, index, number, depth);
    return mpiq_word_changed(&word, mpiq_word_cut(word.value, 1));
}

static uint64_t shifted(int operation, uint64_t value, unsigned by, int width)
{
    by &= width == 8 ? 63 : 31;
    if (operation == MPIQ_SHIFT_RIGHT)
        return value >> by;
    return operation == MPIQ_SHIFT_SIGNED ? (uint64_t)((int64_t)mpiq_word_extend(value, width) >> by)
                                          : value << by;
}

/* A register's value as an operand makes use of it. */
static uint64_t adapted(const struct mpiq_operand *operand, uint64_t value)
{
    value =
        operand->is_signed ? mpiq_word_extend(value, operand->width) : mpiq_word_cut(value, operand->width);
    value = operand->shift ? shifted(operand->shift, value, operand->shift_by, operand->width) : value;
    switch (operand->turn) {
    case MPIQ_TURN_INVERT:
        return ~value;
    case MPIQ_TURN_NEGATE:
        return 0 - value;
    case MPIQ_TURN_INCREMENT:
        return value + 1;
    default:
        return value;
    }
}

struct mpiq_call_word mpiq_values_operand(struct mpiq_call_values *values, size_t index,
                                          const struct mpiq_operand *operand, int depth)
{
    struct mpiq_call_word word;
    switch (operand->kind) {
    case MPIQ_OPERAND_NUMBER:
        return mpiq_word_constant(operand->value);
    case MPIQ_OPERAND_MEMORY:
        return memory_before(values, index, operand, depth);
    case MPIQ_OPERAND_REGISTER:
        word = operand->width == 1 ? byte_before(values, index, operand->reg, depth)
                                   : mpiq_values_register(values, index, operand->reg, depth);
        if (word.narrow && operand->width > 4)
            return mpiq_word_unknown;
        word.narrow = false;
        return mpiq_word_changed(&word, adapted(operand, word.value));
    default:
        return mpiq_word_unknown;
    }
}

static uint64_t quotient(uint64_t a, uint64_t b)
{
    if (b == 0 || b == UINT64_MAX)
        return b ? 0 - a : 0;
    return (uint64_t)((int64_t)a / (int64_t)b);
}

/* Of two known values; operations that have one or none are not asked for. */
static uint64_t result_of(int operation, uint64_t a, uint64_t b, int width)
{
    switch (operation) {
    case MPIQ_ADD:
        return a + b;
    case MPIQ_SUBTRACT:
        return a - b;
    case MPIQ_AND:
        return a & b;
    case MPIQ_OR:
        return a | b;
    case MPIQ_XOR:
        return a ^ b;
    case MPIQ_MULTIPLY:
        return a * b;
    case MPIQ_DIVIDE:
        return b ? a / b : 0;
    case MPIQ_DIVIDE_SIGNED:
        return quotient(mpiq_word_extend(a, width), mpiq_word_extend(b, width));
    default:
        return shifted(operation, a, (unsigned)b, width);
    }
}

/* The same of three. */
static uint64_t result_of_three(int operation, uint64_t a, uint64_t b, uint64_t c)
{
    if (operation == MPIQ_INSERT)
        return (a & ~c) | (b & c);
    return operation == MPIQ_ADD_PRODUCT ? c + a * b : c - a * b;
}

static struct mpiq_call_word divided(struct mpiq_call_values *values, size_t index,
                                     const struct mpiq_effect *effect, int depth)
{
    struct mpiq_call_word low = mpiq_values_operand(values, index, &effect->a, depth);
    struct mpiq_call_word high = mpiq_values_operand(values, index, &effect->c, depth);
    struct mpiq_call_word by = mpiq_values_operand(values, index, &effect->b, depth);
    struct mpiq_call_word both = mpiq_word_combined(&low, &high, 0);
    int64_t divisor = (int32_t)by.value;
    int64_t dividend = (int64_t)(mpiq_word_cut(high.value, 4) << 32 | mpiq_word_cut(low.value, 4));
    /* A quotient that does not fit would have been a fault. */
    if (!both.known || !by.known || divisor == 0 || dividend < INT32_MIN || dividend > INT32_MAX)
        return mpiq_word_unknown;
    int64_t value = effect->operation == MPIQ_QUOTIENT ? dividend / divisor : dividend % divisor;
    return mpiq_word_combined(&both, &by, (uint64_t)value);
}

/* The lowest byte says whether the condition holds. */
static struct mpiq_call_word with_byte(struct mpiq_call_values *values, size_t index, int number, int depth)
{
    struct mpiq_call_word byte = condition_before(values, index, depth);
    struct mpiq_call_word word = mpiq_values_register(values, index, number, depth);
    return mpiq_word_combined(&word, &byte, (word.value & ~UINT64_C(0xff)) | byte.value);
}

static struct mpiq_call_word chosen(struct mpiq_call_values *values, size_t index,
                                    const struct mpiq_effect *effect, int depth)
{
    struct mpiq_call_word condition = condition_before(values, index, depth);
    if (!condition.known)
        return mpiq_word_unknown;
    struct mpiq_call_word word =
        mpiq_values_operand(values, index, condition.value ? &effect->b : &effect->a, depth);
    return mpiq_word_combined(&word, &condition, word.value);
}

/* What an instruction that writes a register leaves in it. */
static struct mpiq_call_word written(struct mpiq_call_values *values, size_t index, int number, int depth)
{
    const struct mpiq_effect *effect = effect_on(values, index, number);
    struct mpiq_call_word a, b, c;
    if (!effect)
        return mpiq_word_unknown;
    switch (effect->operation) {
    case MPIQ_SET_BYTE:
        return with_byte(values, index, number, depth);
    case MPIQ_CHOOSE:
        return chosen(values, index, effect, depth);
    case MPIQ_ADDRESS:
        a = address_before(values, index, &effect->a, depth);
        a.narrow = a.narrow && effect->width > 4;
        break;
    case MPIQ_QUOTIENT:
    case MPIQ_REMAINDER:
        a = divided(values, index, effect, depth);
        break;
    default:
        a = mpiq_values_operand(values, index, &effect->a, depth);
        break;
    }
    if (!a.known)
        return mpiq_word_unknown;
    switch (effect->operation) {
    case MPIQ_MOVE:
    case MPIQ_ADDRESS:
    case MPIQ_QUOTIENT:
    case MPIQ_REMAINDER:
        break;
    case MPIQ_EXTEND:
        a.value = mpiq_word_extend(a.value, effect->a.width);
        break;
    case MPIQ_EXTENSION:
        a.value = (int64_t)mpiq_word_extend(a.value, effect->a.width) < 0 ? UINT64_MAX : 0;
        break;
    case MPIQ_NEGATE:
        a.value = 0 - a.value;
        break;
    case MPIQ_INVERT:
        a.value = ~a.value;
        break;
    case MPIQ_INSERT:
    case MPIQ_ADD_PRODUCT:
    case MPIQ_SUBTRACT_PRODUCT:
        b = mpiq_values_operand(values, index, &effect->b, depth);
        c = mpiq_values_operand(values, index, &effect->c, depth);
        b = mpiq_word_combined(&b, &c, result_of_three(effect->operation, a.value, b.value, c.value));
        a = mpiq_word_combined(&a, &b, b.value);
        break;
    default:
        b = mpiq_values_operand(values, index, &effect->b, depth);
        a = mpiq_word_combined(&a, &b, result_of(effect->operation, a.value, b.value, effect->width));
        break;
    }
    return mpiq_word_changed(&a, mpiq_word_cut(a.value, effect->width));
}

/* What the line's function was given in a register, unless it may have written since where that came from:
   the word is what that memory holds now. */
static struct mpiq_call_word given_and_kept(struct mpiq_call_values *values, int number, int depth)
{
    struct mpiq_call_word word = values->given(values->argument, number, depth);
    for (size_t i = 0; i < word.origin_count; i++) {
        if (!is_kept(values, 0, word.origins[i].address, word.origins[i].size, depth))
            return mpiq_word_unknown;
    }
    return word;
}

/* What an instruction adds to a register, as a counter is moved on; false: it does something else. */
static bool adds(const struct mpiq_effect *effect, uint64_t *added)
{
    const struct mpiq_operand *a = &effect->a, *b = &effect->b;
    switch (effect->operation) {
    case MPIQ_ADD:
    case MPIQ_SUBTRACT:
        *added = effect->operation == MPIQ_ADD ? b->value : 0 - b->value;
        return a->kind == MPIQ_OPERAND_REGISTER && a->reg == effect->reg && a->width == effect->width &&
               b->kind == MPIQ_OPERAND_NUMBER;
    case MPIQ_ADDRESS:
        *added = a->value;
        return !a->unfollowed && a->index < 0 && a->reg == effect->reg;
    default:
        return false;
    }
}

/* A register that the callee preserves, from what it is at the call: what has been added since is taken away.
 */
static struct mpiq_call_word undone(const struct mpiq_call_values *values, size_t index, int number)
{
    if (!(values->registers->known >> number & 1))
        return mpiq_word_unknown;
    struct mpiq_call_word word = mpiq_word_constant(values->registers->value[number]);
    for (size_t i = values->line.count - 1; i-- > index;) {
        uint64_t added = 0;
        if (!writes(values, i, number))
            continue;
        const struct mpiq_effect *effect = effect_on(values, i, number);
        if (!effect || !mpiq_code_has_run(&values->line, i, index) || !adds(effect, &added))
            return mpiq_word_unknown;
        word.value -= added;
        word.narrow = word.narrow || effect->width == 4;
    }
    word.value = word.narrow ? mpiq_word_cut(word.value, 4) : word.value;
    return word;
}

struct mpiq_call_word mpiq_values_register(struct mpiq_call_values *values, size_t index, int number,
                                           int depth)
{
    if (depth == 0 || --*values->steps < 0)
        return mpiq_word_unknown;
    if (number == values->line.architecture->stack)
        return stack_before(values, index);
    /* The callee preserves it, and nothing has written it since. */
    bool preserved = values->registers->known >> number & 1;
    for (size_t i = index; preserved && i + 1 < values->line.count; i++)
        preserved = !writes(values, i, number);
    if (preserved)
        return mpiq_word_constant(values->registers->value[number]);
    bool decided = false;
    struct mpiq_call_word word = mpiq_word_unknown;
    size_t i = index;
    while (i-- > 0) {
        --*values->steps;
        if (!writes(values, i, number))
            continue;
        bool certain = mpiq_code_has_run(&values->line, i, index);
        enum state state = certain ? RAN : has_run(values, i, depth - 1);
        decided = decided || !certain;
        if (state == RAN)
            word = written(values, i, number, depth - 1);
        if (state != DID_NOT_RUN)
            break;
    }
    /* Not written before: what it was at the line's beginning. */
    if (i == SIZE_MAX && values->line.from_entry && mpiq_values_is_argument(values, number))
        word = given_and_kept(values, number, depth - 1);
    if (!word.known)
        return undone(values, index, number);
    /* What decided is as much as what was computed from. */
    return decided ? mpiq_word_combined(&word, &values->control, word.value) : word;
}

/* ---- conditions ---- */

static bool holds(int condition, uint64_t a, uint64_t b, int width)
{
    int64_t left = (int64_t)mpiq_word_extend(a, width), right = (int64_t)mpiq_word_extend(b, width);
    switch (condition) {
    case MPIQ_IF_EQUAL:
        return a == b;
    case MPIQ_IF_NOT_EQUAL:
        return a != b;
    case MPIQ_IF_LESS:
        return left < right;
    case MPIQ_IF_NOT_LESS:
        return left >= right;
    case MPIQ_IF_LESS_OR_EQUAL:
        return left <= right;
    case MPIQ_IF_GREATER:
        return left > right;
    case MPIQ_IF_BELOW:
        return a < b;
    case MPIQ_IF_NOT_BELOW:
        return a >= b;
    case MPIQ_IF_BELOW_OR_EQUAL:
        return a <= b;
    case MPIQ_IF_ABOVE:
        return a > b;
    default:
        return ((int64_t)mpiq_word_extend(a - b, width) < 0) == (condition == MPIQ_IF_NEGATIVE);
    }
}

/* What the comparison at index says of a condition: a word that is 0 or 1. */
static struct mpiq_call_word compared(struct mpiq_call_values *values, size_t index, int condition, int depth)
{
    const struct mpiq_instruction *instruction = &values->line.instructions[index];
    if (condition == MPIQ_CONDITIONS || instruction->comparison == MPIQ_COMPARES_NOTHING)
        return mpiq_word_unknown;
    int width = instruction->left.width;
    struct mpiq_call_word a = mpiq_values_operand(values, index, &instruction->left, depth);
    struct mpiq_call_word b = mpiq_values_operand(values, index, &instruction->right, depth);
    if (!a.known || !b.known)
        return mpiq_word_unknown;
    uint64_t left = mpiq_word_cut(a.value, width), right = mpiq_word_cut(b.value, width);
    /* Architectures do not agree on what that leaves as a carry. */
    if (instruction->comparison == MPIQ_COMPARES_BITS && condition >= MPIQ_IF_BELOW &&
        condition <= MPIQ_IF_ABOVE)
        return mpiq_word_unknown;
    if (instruction->comparison == MPIQ_COMPARES_BITS) {
        left &= right;
        right = 0;
    }
    return mpiq_word_combined(&a, &b, holds(condition, left, right, width));
}

/* Whether the condition of an instruction holds there. */
static struct mpiq_call_word condition_before(struct mpiq_call_values *values, size_t index, int depth)
{
    const struct mpiq_instruction *own = &values->line.instructions[index];
    const int condition = own->condition;
    if (own->flow == MPIQ_FLOW_MAY_JUMP && own->comparison)
        return depth > 0 ? compared(values, index, condition, depth - 1) : mpiq_word_unknown;
    for (size_t i = index; depth > 0 && i-- > 0;) {
        if (--*values->steps < 0)
            break;
        if (values->line.instructions[i].writes_flags)
            return mpiq_code_has_run(&values->line, i, index) ? compared(values, i, condition, depth - 1)
                                                              : mpiq_word_unknown;
    }
    return mpiq_word_unknown;
}

/* Notes where a decision came from; false: from too many places. */
static bool note_control(struct mpiq_call_values *values, const struct mpiq_call_word *word)
{
    values->control = mpiq_word_combined(&values->control, word, 0);
    return values->control.known;
}

/* Whether code has gone from the instruction at index to the next (or, taken, to where it jumps). */
static enum state has_gone(struct mpiq_call_values *values, size_t index, bool taken, int depth)
{
    const struct mpiq_instruction *instruction = &values->line.instructions[index];
    enum state state = has_run(values, index, depth);
    if (instruction->flow == MPIQ_FLOW_JUMP || instruction->flow == MPIQ_FLOW_ENDS)
        return taken ? state : DID_NOT_RUN;
    if (state == DID_NOT_RUN || instruction->flow != MPIQ_FLOW_MAY_JUMP)
        return state;
    struct mpiq_call_word condition = condition_before(values, index, depth);
    if (!condition.known || !note_control(values, &condition))
        return NOBODY_KNOWS;
    return (condition.value != 0) == taken ? state : DID_NOT_RUN;
}

/* Of two ways to a place. */
static enum state either(enum state a, enum state b)
{
    if (a == RAN || b == RAN)
        return RAN;
    return a == DID_NOT_RUN && b == DID_NOT_RUN ? DID_NOT_RUN : NOBODY_KNOWS;
}

static enum state decide(struct mpiq_call_values *values, size_t first, int depth)
{
    const struct mpiq_instruction *instructions = values->line.instructions;
    enum state state = first ? has_gone(values, first - 1, false, depth) : NOBODY_KNOWS;
    for (size_t i = 0; i < first && state != RAN; i++) {
        const struct mpiq_operand *to = &instructions[i].target;
        bool jumps = instructions[i].flow == MPIQ_FLOW_MAY_JUMP || instructions[i].flow == MPIQ_FLOW_JUMP;
        if (jumps && to->kind == MPIQ_OPERAND_NUMBER && to->value == instructions[first].address)
            state = either(state, has_gone(values, i, true, depth));
    }
    return state;
}

/* Whether an instruction has run, which is decided by the conditions of the jumps before it. */
static enum state has_run(struct mpiq_call_values *values, size_t index, int depth)
{
    const struct mpiq_code_place *places = values->line.places;
    size_t first = index;
    if (!places[index].skipped)
        return RAN;
    if (depth <= 0 || --*values->steps < 0)
        return NOBODY_KNOWS;
    while (first > 0 && places[first - 1].block == places[index].block)
        first--;
    if (values->states[first] == NOT_ASKED)
        values->states[first] = (uint8_t)decide(values, first, depth - 1);
    return values->control.known ? (enum state)values->states[first] : NOBODY_KNOWS;
}
