/* SPDX-License-Identifier: BSD-3-Clause */
#include "process/unwind.h"

#include <dwarf.h>
#include <elf.h>
#include <elfutils/libdwfl.h>
#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/cleanup.h"
#include "process/lines.h"

/* A deeper stack is a recursion without end, or damaged. */
enum { DEPTH_LIMIT = 512 };

static const char no_memory[] = "out of memory";

struct mpiq_unwinder {
    struct mpiq_modules *modules;
    const struct mpiq_register_layout *layout;
    struct mpiq_words words;
    Dwfl *dwfl;
    /* Of the thread being unwound. */
    const struct mpiq_thread_copy *copy;
    int count;
    const char *stopped;       /* why take_frame went no further; NULL: it did not stop */
    struct mpiq_error *unread; /* memory that the frame after the last one needs could not be read */
    Dwarf_Frame *rules;        /* of the last frame, from its call frame information; NULL: it has none */
    /* Of the first `count` frames; the rest is large and never written. */
    bool exact[DEPTH_LIMIT]; /* the pc itself was executing; otherwise it is where a call returns to */
    struct mpiq_frame_registers registers[DEPTH_LIMIT];
};

/* libdwfl asks for a module's file when it first needs it: it is given the one that all processes share. */
static int find_elf(Dwfl_Module *module, void **userdata, const char *name, Dwarf_Addr base, char **file,
                    Elf **elf)
{
    (void)module;
    (void)name;
    (void)base;
    struct mpiq_object *object = *userdata;
    if (!object)
        return -1;
    *file = NULL;
    *elf = elf_begin(-1, ELF_C_READ, object->elf);
    return -1; /* no descriptor: it is the object's */
}

/* Unwinding needs .eh_frame, which is in the file itself; lines are found without libdwfl's modules. */
static int find_debuginfo(Dwfl_Module *module, void **userdata, const char *name, Dwarf_Addr base,
                          const char *file, const char *link, GElf_Word crc, char **ret)
{
    (void)module;
    (void)userdata;
    (void)name;
    (void)base;
    (void)file;
    (void)link;
    (void)crc;
    (void)ret;
    return -1;
}

static pid_t next_thread(Dwfl *dwfl, void *argument, void **thread_argument)
{
    (void)dwfl;
    struct mpiq_unwinder *unwinder = argument;
    if (*thread_argument)
        return 0;
    *thread_argument = unwinder;
    return unwinder->copy->tid;
}

static bool get_thread(Dwfl *dwfl, pid_t tid, void *argument, void **thread_argument)
{
    (void)dwfl;
    (void)tid;
    *thread_argument = argument;
    return true;
}

/* Whether a call returns there. */
static bool is_return_address(const struct mpiq_unwinder *unwinder, uint64_t address)
{
    unsigned char bytes[4];
    struct mpiq_module *module = mpiq_modules_at(unwinder->modules, address - 1);
    struct mpiq_error *error =
        module ? mpiq_target_read(unwinder->modules->target, address - 4, sizeof bytes, bytes) : NULL;
    uint32_t call = error ? 0 : (uint32_t)mpiq_word_sized(&unwinder->words, bytes, sizeof bytes);
    bool returns =
        module && !error &&
        (call >> 26 == 0x25 || (call & 0xfffffc1f) == 0xd63f0000 || (call & 0xfefff800) == 0xd63f0800);
    mpiq_error_destroy(error);
    return returns;
}

/* Where code signs return addresses (aarch64), a signature is above the address proper, however wide those
   are.  libdwfl knows of that since 0.192 only. */
static uint64_t without_signature(const struct mpiq_unwinder *unwinder, uint64_t value)
{
    static const uint8_t widths[] = {52, 48, 47, 42, 39};
    const uint64_t user = UINT64_C(1) << 55;
    for (size_t i = 0;
         unwinder->layout->machine == EM_AARCH64 && value >> 39 && !(value & user) && i < sizeof widths;
         i++) {
        uint64_t address = value & ((UINT64_C(1) << widths[i]) - 1);
        if (address != value && is_return_address(unwinder, address))
            return address;
    }
    return value;
}

static bool memory_read(Dwfl *dwfl, Dwarf_Addr address, Dwarf_Word *ret, void *argument)
{
    (void)dwfl;
    struct mpiq_unwinder *unwinder = argument;
    const struct mpiq_thread_copy *copy = unwinder->copy;
    size_t size = (size_t)unwinder->words.size;
    unsigned char word[8];
    if (address >= copy->stack_start && copy->stack_size >= size &&
        address - copy->stack_start <= copy->stack_size - size) {
        *ret = without_signature(unwinder,
                                 mpiq_word(&unwinder->words, copy->stack + (address - copy->stack_start)));
        return true;
    }
    struct mpiq_error *error = mpiq_target_read(unwinder->modules->target, address, size, word);
    if (error) {
        mpiq_error_destroy(unwinder->unread);
        unwinder->unread = error;
        return false;
    }
    *ret = without_signature(unwinder, mpiq_word(&unwinder->words, word));
    return true;
}

static bool set_registers(Dwfl_Thread *thread, void *argument)
{
    const struct mpiq_unwinder *unwinder = argument;
    const struct mpiq_register_layout *layout = unwinder->layout;
    for (int i = 0; i < layout->dwarf_count; i++) {
        if (unwinder->copy->unknown >> i & 1)
            continue;
        Dwarf_Word value = without_signature(
            unwinder, mpiq_register_at(&unwinder->copy->registers, &unwinder->words, layout->dwarf[i]));
        if (!dwfl_thread_state_registers(thread, i, 1, &value))
            return false;
    }
    dwfl_thread_state_register_pc(thread,
                                  mpiq_register_at(&unwinder->copy->registers, &unwinder->words, layout->pc));
    return true;
}

static const Dwfl_Callbacks callbacks = {
    .find_elf = find_elf,
    .find_debuginfo = find_debuginfo,
    .section_address = dwfl_offline_section_address,
};

static const Dwfl_Thread_Callbacks thread_callbacks = {
    .next_thread = next_thread,
    .get_thread = get_thread,
    .memory_read = memory_read,
    .set_initial_registers = set_registers,
};

/* Tells libdwfl where the modules lie.  Returns an ELF file of the process, which says what machine it is. */
static Elf *report_modules(struct mpiq_unwinder *unwinder)
{
    Elf *elf = NULL;
    dwfl_report_begin(unwinder->dwfl);
    for (size_t i = 0; i < unwinder->modules->count; i++) {
        struct mpiq_module *module = unwinder->modules->by_address[i];
        struct mpiq_object *object = mpiq_module_object(unwinder->modules, module);
        if (!object)
            continue;
        Dwfl_Module *reported = dwfl_report_module(unwinder->dwfl, module->mapping->path,
                                                   object->first + module->bias, object->end + module->bias);
        void **userdata = NULL;
        if (!reported || !dwfl_module_info(reported, &userdata, NULL, NULL, NULL, NULL, NULL, NULL))
            continue;
        *userdata = object;
        if (!elf)
            elf = object->elf;
    }
    dwfl_report_end(unwinder->dwfl, NULL, NULL);
    return elf;
}

struct mpiq_error *mpiq_unwinder_create(struct mpiq_modules *modules, struct mpiq_unwinder **ret)
{
    const struct mpiq_register_layout *layout = mpiq_register_layout(modules->machine);
    if (!layout)
        return mpiq_error_create(MPIQ_ERROR_UNSUPPORTED,
                                 "stacks of this architecture (ELF machine %u) cannot be unwound",
                                 modules->machine);
    struct mpiq_unwinder *unwinder = malloc(sizeof *unwinder);
    if (!unwinder)
        return mpiq_error_no_memory();
    memset(unwinder, 0, offsetof(struct mpiq_unwinder, exact));
    unwinder->modules = modules;
    unwinder->layout = layout;
    unwinder->words = (struct mpiq_words){.size = modules->word_size, .big_endian = modules->big_endian};
    mpiq_object_lock();
    unwinder->dwfl = dwfl_begin(&callbacks);
    Elf *elf = unwinder->dwfl ? report_modules(unwinder) : NULL;
    bool attached = elf && dwfl_attach_state(unwinder->dwfl, elf, 1, &thread_callbacks, unwinder);
    const char *reason = attached ? NULL : elf ? dwfl_errmsg(-1) : "none of its objects can be opened";
    mpiq_object_unlock();
    if (!attached) {
        struct mpiq_error *error =
            mpiq_error_create(MPIQ_ERROR_UNSUPPORTED, "stacks cannot be unwound: %s", reason);
        mpiq_unwinder_destroy(unwinder);
        return error;
    }
    *ret = unwinder;
    return NULL;
}

void mpiq_unwinder_destroy(struct mpiq_unwinder *unwinder)
{
    if (!unwinder)
        return;
    mpiq_object_lock();
    dwfl_end(unwinder->dwfl);
    mpiq_object_unlock();
    free(unwinder);
}

/* elfutils' rules of x86-64 name rax where they mean rbx: it loses rbx unless a function saves it.  Where the
   other registers that a function preserves came through, its call frame information was there, and has no
   rule for rbx: it is as it was. */
static void carry_rbx(const struct mpiq_unwinder *unwinder, struct mpiq_frame_registers *registers)
{
    enum { RBX = 3 };
    const uint64_t others = unwinder->layout->by_rules_alone;
    const struct mpiq_frame_registers *inner = registers - 1;
    if (unwinder->layout->machine != EM_X86_64 || unwinder->count == 0 || registers->known >> RBX & 1 ||
        !(inner->known >> RBX & 1) || (registers->known & others) != others)
        return;
    registers->value[RBX] = inner->value[RBX];
    registers->known |= UINT32_C(1) << RBX;
}

/* Looks up the rules of the last frame before libdwfl does: when libdwfl runs out of memory here, it silently
   treats the frame as one without rules. */
static void find_rules(struct mpiq_unwinder *unwinder, uint64_t pc)
{
    bool interrupted = unwinder->count == 1;
    if (unwinder->rules)
        dwarf_frame_info(unwinder->rules, NULL, NULL, &interrupted);
    free(unwinder->rules);
    unwinder->rules = NULL;
    pc -= !interrupted;
    errno = 0;
    Dwfl_Module *module = dwfl_addrmodule(unwinder->dwfl, pc);
    static Dwarf_CFI *(*const kinds[])(Dwfl_Module *, Dwarf_Addr *) = {dwfl_module_eh_cfi,
                                                                       dwfl_module_dwarf_cfi};
    for (size_t i = 0; module && !unwinder->rules && i < 2; i++) {
        Dwarf_Addr bias = 0;
        Dwarf_CFI *cfi = kinds[i](module, &bias);
        if (!cfi || dwarf_cfi_addrframe(cfi, pc - bias, &unwinder->rules) != 0)
            unwinder->rules = NULL;
        if (!unwinder->rules && errno == ENOMEM)
            unwinder->stopped = no_memory;
    }
}

/* Whether libdwfl reached a frame by the frame pointer although the frame before has rules: it had no memory
   to follow them, and may have skipped frames. */
static bool left_rules(const struct mpiq_unwinder *unwinder, const struct mpiq_frame_registers *registers)
{
    const uint64_t alone = unwinder->layout->by_rules_alone;
    return unwinder->rules && registers[-1].known & alone && !(registers->known & alone);
}

static int take_frame(Dwfl_Frame *state, void *argument)
{
    struct mpiq_unwinder *unwinder = argument;
    Dwarf_Addr pc;
    bool all_read = !unwinder->unread;
    if (!dwfl_frame_pc(state, &pc, NULL))
        return -1;
    if (unwinder->count == DEPTH_LIMIT) {
        unwinder->stopped = "deeper than 512 frames";
        return DWARF_CB_ABORT;
    }
    mpiq_error_destroy(mpiq_steal(unwinder->unread)); /* of a register that nobody missed */
    struct mpiq_frame_registers *registers = &unwinder->registers[unwinder->count];
    *registers = (struct mpiq_frame_registers){.pc = pc};
    for (unsigned i = 0; i < MPIQ_FRAME_REGISTERS && (int)i < unwinder->layout->dwarf_count; i++) {
        Dwarf_Word value;
        /* libdwfl leaves others as they were further in. */
        bool preserved = unwinder->count == 0 || (unwinder->layout->preserved >> i & 1);
        if (!preserved || dwfl_frame_reg(state, i, &value) != 0)
            continue;
        registers->value[i] = value;
        registers->known |= UINT32_C(1) << i;
    }
    if (all_read && left_rules(unwinder, registers)) {
        unwinder->stopped = no_memory;
        return DWARF_CB_ABORT;
    }
    if (all_read)
        carry_rbx(unwinder, registers);
    bool *exact = &unwinder->exact[unwinder->count++];
    find_rules(unwinder, pc);
    *exact = unwinder->count == 1;
    /* To answer this, libdwfl steps to the next frame. */
    return unwinder->stopped || !dwfl_frame_pc(state, &pc, exact) ? DWARF_CB_ABORT : DWARF_CB_OK;
}

static char *copy_text(const char *text)
{
    return text ? mpiq_memory_checked(strdup(text)) : NULL;
}

static bool add_frame(struct mpiq_target_stack *stack, size_t *capacity, uint64_t pc,
                      const struct mpiq_source_place *line, const char *object)
{
    if (stack->count == *capacity) {
        *capacity = *capacity ? *capacity * 2 : 32;
        struct mpiq_target_frame *larger = realloc(stack->frames, *capacity * sizeof *larger);
        if (!larger)
            return false;
        stack->frames = larger;
    }
    stack->frames[stack->count++] = (struct mpiq_target_frame){
        .pc = pc,
        .function = copy_text(line->function),
        .file = copy_text(line->file),
        .line = line->line,
        .object = copy_text(object),
        .inlined = line->inlined,
    };
    return true;
}

/* Adds what is at a pc. */
static bool add_place(struct mpiq_modules *modules, uint64_t pc, bool exact, int32_t own, size_t *capacity,
                      struct mpiq_target_stack *ret)
{
    /* A call may be the last instruction of a function, and of a line. */
    uint64_t at = exact || !pc ? pc : pc - 1;
    struct mpiq_module *module = mpiq_modules_at(modules, at);
    struct mpiq_object *object = module ? mpiq_module_object(modules, module) : NULL;
    size_t count = 0;
    const struct mpiq_source_place *lines = object ? mpiq_lines_at(object, at - module->bias, &count) : NULL;
    static const struct mpiq_source_place unknown = {.function = NULL};
    if (!lines) {
        lines = &unknown;
        count = 1;
    }
    for (size_t i = 0; i < count; i++) {
        if (!add_frame(ret, capacity, pc, &lines[i], module ? module->mapping->path : NULL))
            return false;
        ret->frames[ret->count - 1].own = own;
    }
    return true;
}

/* What is at each pc. */
static struct mpiq_error *describe(struct mpiq_unwinder *unwinder, struct mpiq_target_stack *ret)
{
    size_t capacity = 0;
    for (int i = 0; i < unwinder->count; i++) {
        if (!add_place(unwinder->modules, unwinder->registers[i].pc, unwinder->exact[i], i, &capacity, ret)) {
            mpiq_target_stack_deinit(ret);
            return mpiq_error_no_memory();
        }
    }
    size_t size = (size_t)unwinder->count * sizeof *ret->registers;
    ret->registers = mpiq_memory_checked(malloc(size));
    if (ret->registers) {
        memcpy(ret->registers, unwinder->registers, size);
        ret->register_count = (size_t)unwinder->count;
    }
    return NULL;
}

struct mpiq_error *mpiq_modules_place(struct mpiq_modules *modules, uint64_t address,
                                      struct mpiq_target_stack *ret)
{
    struct mpiq_target_stack place = {0};
    size_t capacity = 0;
    mpiq_object_lock();
    bool good = mpiq_modules_at(modules, address ? address - 1 : 0) == NULL ||
                add_place(modules, address, false, -1, &capacity, &place);
    mpiq_object_unlock();
    if (!good) {
        mpiq_target_stack_deinit(&place);
        return mpiq_error_no_memory();
    }
    *ret = place;
    return NULL;
}

/* The last frame's return address, if its rules say which word of the frame holds it. */
static bool find_return_address(struct mpiq_unwinder *unwinder, const Dwarf_Op *at, size_t count,
                                Dwarf_Word *ret)
{
    const struct mpiq_frame_registers *registers = &unwinder->registers[unwinder->count - 1];
    Dwarf_Op *frame;
    size_t frame_count = 0;
    if (count < 1 || count > 2 || at[0].atom != DW_OP_call_frame_cfa ||
        (count == 2 && at[1].atom != DW_OP_plus_uconst) ||
        dwarf_frame_cfa(unwinder->rules, &frame, &frame_count) != 0 || frame_count != 1 ||
        frame->atom != DW_OP_bregx || frame->number >= MPIQ_FRAME_REGISTERS ||
        !(registers->known >> frame->number & 1))
        return false;
    uint64_t address = registers->value[frame->number] + frame->number2 + (count == 2 ? at[1].number : 0);
    return memory_read(NULL, address, ret, unwinder);
}

/* Whether nobody called the function of the last frame: its rules say so, or it returns to 0. */
static bool is_outermost(struct mpiq_unwinder *unwinder)
{
    Dwarf_Op memory[3], *at = NULL;
    size_t count = 0;
    Dwarf_Word address = 0;
    int back = unwinder->rules ? dwarf_frame_info(unwinder->rules, NULL, NULL, NULL) : -1;
    if (back < 0 || dwarf_frame_register(unwinder->rules, back, memory, &at, &count) != 0)
        return false;
    return count == 0 ? at == memory : find_return_address(unwinder, at, count, &address) && address == 0;
}

/* Why the stack ends early; NULL: it does not.  The text is libdwfl's, the unwinder's or a constant. */
static const char *why_it_ends(struct mpiq_unwinder *unwinder, int result)
{
    if (unwinder->stopped)
        return unwinder->stopped;
    /* libdwfl takes a caller that it cannot read or find for the end. */
    if (unwinder->unread)
        return unwinder->unread->message;
    if (result != 0) {
        const char *reason = dwfl_errmsg(-1);
        return reason ? reason : "not known";
    }
    if (is_outermost(unwinder))
        return NULL;
    return unwinder->copy->unknown ? "not all registers are known" : "its caller cannot be found";
}

struct mpiq_error *mpiq_unwind(struct mpiq_unwinder *unwinder, const struct mpiq_thread_copy *copy,
                               struct mpiq_target_stack *ret)
{
    if (copy->registers.size < unwinder->layout->size)
        return mpiq_error_create(MPIQ_ERROR_SHORT, "the registers of thread %d are incomplete",
                                 (int)copy->tid);
    mpiq_object_lock();
    unwinder->copy = copy;
    unwinder->count = 0;
    unwinder->stopped = NULL;
    int result = dwfl_getthread_frames(unwinder->dwfl, copy->tid, take_frame, unwinder);
    const char *why = why_it_ends(unwinder, result);
    struct mpiq_target_stack stack = {.truncated = why != NULL};
    stack.why = copy_text(why);
    free(mpiq_steal(unwinder->rules));
    if (!unwinder->count) {
        /* Not even the first frame: its pc is in the registers. */
        unwinder->registers[0] = (struct mpiq_frame_registers){
            .pc = mpiq_register_at(&copy->registers, &unwinder->words, unwinder->layout->pc)};
        unwinder->exact[0] = true;
        unwinder->count = 1;
    }
    mpiq_error_destroy(mpiq_steal(unwinder->unread));
    struct mpiq_error *error = describe(unwinder, &stack);
    mpiq_object_unlock();
    if (!error)
        *ret = stack;
    return error;
}
