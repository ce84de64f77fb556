/* SPDX-License-Identifier: BSD-3-Clause */
#include "process/call_site.h"

#include <stdlib.h>
#include <string.h>

#include "process/call_parameters.h"
#include "process/call_values.h"
#include "process/function_bounds.h"

/* A chain of wrappers that pass on what they were given; steps for all words of one call. */
enum { LEVELS_MOST = 4, STEPS_MOST = 100000 };

/* Words of one call on the stack; bytes below the stack pointer that its callees have. */
enum { POSITIONS_MOST = 64, STACK_BELOW = 1 << 20 };

struct site {
    struct mpiq_call_values values;
    const struct mpiq_frame_registers *frames;
    size_t frame_count;
    const struct mpiq_call_parameters *parameters; /* NULL: the debug information says nothing */
    uint64_t bias;                                 /* of the file that has it */
    int64_t stack_words;                           /* that the call was given on the stack, at least */
    int level;
};

static struct mpiq_call_word given(const void *argument, int number, int depth);
static struct mpiq_call_word argument_in(struct site *site, int number, int depth);

/* ---- the frame ---- */

static void init_site(struct site *site, struct mpiq_modules *modules,
                      const struct mpiq_frame_registers *frames, size_t frame_count, int *steps)
{
    *site = (struct site){.values = {.modules = modules,
                                     .registers = frames,
                                     .control = mpiq_word_constant(0),
                                     .steps = steps,
                                     .given = given,
                                     .argument = site},
                          .frames = frames,
                          .frame_count = frame_count};
}

static void close_site(struct site *site)
{
    free(site->values.states);
    mpiq_code_line_deinit(&site->values.line);
}

/* Whether the call goes to the function that holds callee_pc. */
static bool goes_to(struct site *site, uint64_t callee_pc, int depth)
{
    struct mpiq_call_values *values = &site->values;
    const size_t call = values->line.count - 1;
    struct mpiq_call_word target =
        mpiq_values_operand(values, call, &values->line.instructions[call].target, depth);
    uint64_t start, end;
    if (!target.known)
        return false;
    uint64_t address = mpiq_code_destination(values->modules, &values->line, target.value);
    return mpiq_function_bounds(values->modules, address, &start, &end) && callee_pc > start &&
           callee_pc < end;
}

/* Reads what is known of the call of the first frame, for close_site; false: nothing, or it did not go to
   where callee_pc is. */
static bool open_site(struct site *site, uint64_t callee_pc, int depth)
{
    uint64_t pc = site->frames[0].pc;
    struct mpiq_module *module = mpiq_modules_at(site->values.modules, pc - 1);
    struct mpiq_object *object = module ? mpiq_module_object(site->values.modules, module) : NULL;
    struct mpiq_error *error = mpiq_code_line_read(site->values.modules, pc, &site->values.line);
    if (error) {
        mpiq_error_destroy(error);
        return false;
    }
    site->values.states = calloc(site->values.line.count, sizeof *site->values.states);
    if (!site->values.states || !goes_to(site, callee_pc, depth)) {
        close_site(site);
        return false;
    }
    mpiq_object_lock();
    site->parameters = object ? mpiq_call_parameters_find(object, pc - module->bias) : NULL;
    mpiq_object_unlock();
    site->bias = object ? module->bias : 0;
    return true;
}

/* What the frame's function was itself given in a register. */
static struct mpiq_call_word given(const void *argument, int number, int depth)
{
    const struct site *site = argument;
    if (site->level + 1 >= LEVELS_MOST || site->frame_count < 2 || depth <= 0)
        return mpiq_word_unknown;
    struct site outer;
    init_site(&outer, site->values.modules, site->frames + 1, site->frame_count - 1, site->values.steps);
    outer.level = site->level + 1;
    struct mpiq_call_word word = mpiq_word_unknown;
    if (open_site(&outer, site->frames[0].pc, depth)) {
        word = argument_in(&outer, number, depth);
        close_site(&outer);
    }
    return word;
}

/* ---- what the debug information says ---- */

static int stack_of(const struct site *site)
{
    return site->values.line.architecture->stack;
}

/* A register that an expression names. */
static struct mpiq_call_word at_call(void *argument, uint64_t number)
{
    const struct site *site = argument;
    bool known = site->parameters->as_at_call && number < MPIQ_FRAME_REGISTERS &&
                 (site->frames[0].known >> number & 1);
    return known ? mpiq_word_constant(site->frames[0].value[number]) : mpiq_word_unknown;
}

static struct mpiq_call_word at_entry(void *argument, uint64_t number)
{
    const struct site *site = argument;
    struct mpiq_call_word word = mpiq_word_unknown;
    if (number < MPIQ_FRAME_REGISTERS && mpiq_values_is_argument(&site->values, (int)number))
        word = given(site, (int)number, MPIQ_VALUES_DEPTH);
    /* The function may have written there since, at any place. */
    return word.origin_count ? mpiq_word_unknown : word;
}

/* The stack pointer of the frame's caller. */
static struct mpiq_call_word frame_address(void *argument)
{
    const struct site *site = argument;
    const int stack = stack_of(site);
    bool known = site->frame_count > 1 && (site->frames[1].known >> stack & 1);
    return known ? mpiq_word_constant(site->frames[1].value[stack]) : mpiq_word_unknown;
}

static struct mpiq_call_word evaluate(struct site *site, const struct mpiq_expression *expression)
{
    const struct mpiq_expression_frame frame = {.modules = site->values.modules,
                                                .unit = site->parameters->unit,
                                                .bias = site->bias,
                                                .frame_base = site->parameters->frame_base,
                                                .argument = site,
                                                .reg = at_call,
                                                .entry = at_entry,
                                                .cfa = frame_address,
                                                .steps = site->values.steps};
    return mpiq_expression_evaluate(expression, &frame);
}

/* The position of an argument on the stack; -1: it is in a register, or nobody knows where. */
static int64_t position_of(struct site *site, const struct mpiq_expression *place)
{
    struct mpiq_call_word top = at_call(site, stack_of(site));
    if (mpiq_expression_register(place) >= 0)
        return -1;
    struct mpiq_call_word address = evaluate(site, place);
    uint64_t offset = address.value - top.value;
    bool good = address.known && !address.narrow && !address.origin_count && top.known && offset % 8 == 0;
    return good && offset < POSITIONS_MOST * 8 ? (int64_t)(offset / 8) : -1;
}

/* Whether a word came from memory that the callee may use as it likes: its own, and that of arguments. */
static bool is_of_callee(struct site *site, const struct mpiq_call_word *word)
{
    struct mpiq_call_word top = at_call(site, stack_of(site));
    int64_t words = site->stack_words;
    for (size_t i = 0; word->origin_count && i < site->parameters->count; i++) {
        int64_t position = position_of(site, &site->parameters->items[i].place);
        words = position >= words ? position + 1 : words;
    }
    for (size_t i = 0; i < word->origin_count; i++) {
        uint64_t offset = word->origins[i].address - (top.value - STACK_BELOW);
        if (!top.known || offset < STACK_BELOW + (uint64_t)words * 8)
            return true;
    }
    return false;
}

/* What the debug information says of the argument in a register, or at a position on the stack (number -1).
 */
static struct mpiq_call_word described(struct site *site, int number, int64_t position)
{
    struct mpiq_call_word word = mpiq_word_unknown;
    bool found = false;
    mpiq_object_lock();
    for (size_t i = 0; site->parameters && !found && i < site->parameters->count; i++) {
        const struct mpiq_call_parameter *parameter = &site->parameters->items[i];
        found = number >= 0 ? mpiq_expression_register(&parameter->place) == number
                            : position_of(site, &parameter->place) == position;
        if (found)
            word = evaluate(site, &parameter->value);
    }
    if (word.known && is_of_callee(site, &word))
        word = mpiq_word_unknown;
    mpiq_object_unlock();
    return word;
}

/* Of what the code and the debug information say. */
static struct mpiq_call_word agreed(const struct mpiq_call_word *code, const struct mpiq_call_word *info)
{
    if (!code->known || !info->known)
        return code->known ? *code : *info;
    /* Of what is an int the debug information leaves the upper half open. */
    if ((uint32_t)code->value != (uint32_t)info->value)
        return mpiq_word_unknown;
    return code->narrow && !info->narrow ? *info : *code;
}

static struct mpiq_call_word argument_in(struct site *site, int number, int depth)
{
    struct mpiq_call_word code =
        mpiq_values_register(&site->values, site->values.line.count - 1, number, depth);
    struct mpiq_call_word info = described(site, number, -1);
    return agreed(&code, &info);
}

void mpiq_call_site_read(struct mpiq_modules *modules, const struct mpiq_frame_registers *frames,
                         size_t frame_count, uint64_t callee_pc, size_t count,
                         struct mpiq_call_word words[MPIQ_CALL_WORDS])
{
    memset(words, 0, MPIQ_CALL_WORDS * sizeof *words);
    int steps = STEPS_MOST;
    struct site site;
    init_site(&site, modules, frames, frame_count, &steps);
    if (!frame_count || !open_site(&site, callee_pc, MPIQ_VALUES_DEPTH))
        return;
    const struct mpiq_architecture *architecture = site.values.line.architecture;
    const size_t in_registers = architecture->argument_count;
    site.stack_words = count > in_registers ? (int64_t)(count - in_registers) : 0;
    for (size_t i = 0; i < count && i < MPIQ_CALL_WORDS; i++) {
        if (i < in_registers) {
            words[i] = argument_in(&site, architecture->arguments[i], MPIQ_VALUES_DEPTH);
            continue;
        }
        size_t position = i - in_registers;
        struct mpiq_call_word code = mpiq_values_pushed(&site.values, position);
        struct mpiq_call_word info = described(&site, -1, (int64_t)position);
        words[i] = agreed(&code, &info);
    }
    close_site(&site);
}
