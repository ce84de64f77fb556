/* SPDX-License-Identifier: BSD-3-Clause */
#include "process/sleeper.h"

#include <elf.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/proc.h"
#include "process/function_bounds.h"
#include "process/x86_64.h"

/* DWARF numbers of x86-64. */
enum { FRAME_POINTER = 6, STACK_POINTER = 7, PC = 16 };

enum { PROLOGUE_MOST = 64, LINE_SIZE = 256 }; /* bytes */

/* Whether the kernel begins that call again after a stop, as if nothing had been.  Of any other it may depend
   on a timeout, a file system or a driver. */
static bool is_begun_again(long number)
{
    static const long calls[] = {
        SYS_restart_syscall,
        SYS_futex,
        SYS_ppoll,
        SYS_pselect6,
        SYS_nanosleep,
        SYS_clock_nanosleep,
        SYS_rt_sigsuspend,
        SYS_wait4,
        SYS_waitid,
        SYS_msgrcv,
        SYS_msgsnd,
#ifdef SYS_poll
        SYS_poll,
#endif
#ifdef SYS_select
        SYS_select,
#endif
#ifdef SYS_pause
        SYS_pause,
#endif
    };
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        if (calls[i] == number)
            return true;
    }
    return false;
}

/* Whether a read or write of that descriptor is: one of a pipe or a terminal. */
static bool is_of_pipe(pid_t pid, long number, uint64_t descriptor)
{
    static const char *const kinds[] = {"pipe:[", "/dev/pts/"};
    if (number != SYS_read && number != SYS_readv && number != SYS_write && number != SYS_writev)
        return false;
    char path[64], file[LINE_SIZE] = "";
    snprintf(path, sizeof path, "/proc/%d/fd/%d", (int)pid, (int)descriptor);
    if (readlink(path, file, sizeof file - 1) < 0)
        return false;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        if (strncmp(file, kinds[i], strlen(kinds[i])) == 0)
            return true;
    }
    return false;
}

/* What changes if a thread does anything: the call, how often it went to sleep, how often it lost its
 * processor. */
struct moment {
    char call[LINE_SIZE];
    uint64_t sleeps, turns;
};

static bool read_moment(pid_t pid, pid_t tid, struct moment *ret)
{
    char path[80];
    *ret = (struct moment){.sleeps = 0};
    snprintf(path, sizeof path, "task/%d/status", (int)tid);
    size_t size = 0;
    char *status _cleanup_free_ = mpiq_proc_read_of(pid, path, &size);
    if (!status)
        return false;
    ret->sleeps = mpiq_proc_count(status, "voluntary_ctxt_switches");
    ret->turns = mpiq_proc_count(status, "nonvoluntary_ctxt_switches");
    snprintf(path, sizeof path, "/proc/%d/task/%d/syscall", (int)pid, (int)tid);
    struct mpiq_error *error = mpiq_proc_read_line(path, ret->call, sizeof ret->call);
    bool good = !error;
    mpiq_error_destroy(error);
    return good;
}

/* Whether the thread is in a call that a stop may end. */
static bool parse_call(pid_t pid, const char *line, struct mpiq_proc_call *ret)
{
    return mpiq_proc_parse_call(line, ret) && !is_begun_again(ret->number) &&
           !is_of_pipe(pid, ret->number, ret->arguments[0]);
}

static size_t read_stack(pid_t pid, uint64_t sp, unsigned char *stack)
{
    struct iovec local = {.iov_base = stack, .iov_len = MPIQ_STACK_COPY};
    struct iovec remote = {.iov_base = (void *)(uintptr_t)sp, .iov_len = MPIQ_STACK_COPY}; /* NOLINT */
    ssize_t got = process_vm_readv(pid, &local, 1, &remote, 1, 0);
    if (got < 0 && sp <= INT64_MAX) {
        char path[64];
        snprintf(path, sizeof path, "/proc/%d/mem", (int)pid);
        _cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC);
        got = fd < 0 ? -1 : pread(fd, stack, MPIQ_STACK_COPY, (off_t)sp);
    }
    return got > 0 ? (size_t)got : 0;
}

static void set_register(struct mpiq_thread_copy *copy, size_t offset, uint64_t value)
{
    memcpy(copy->registers.bytes + offset, &value, sizeof value);
}

/* One try; *again: the thread moved, but may sleep in such a call still. */
static bool copy_once(pid_t pid, pid_t tid, const struct mpiq_register_layout *layout, bool *again,
                      struct mpiq_thread_copy *ret)
{
    struct moment before, after;
    struct mpiq_proc_call call;
    *again = false;
    if (!read_moment(pid, tid, &before) || !parse_call(pid, before.call, &call))
        return false;
    struct mpiq_thread_copy copy = {
        .tid = tid, .stack_start = call.sp, .stack = malloc(MPIQ_STACK_COPY), .registers.size = layout->size};
    copy.stack_size = copy.stack ? read_stack(pid, call.sp, copy.stack) : 0;
    set_register(&copy, layout->sp, call.sp);
    set_register(&copy, layout->pc, call.pc);
    copy.unknown = ~(UINT32_C(1) << STACK_POINTER | UINT32_C(1) << PC);
    *again = copy.stack_size > 0 && read_moment(pid, tid, &after);
    bool slept = *again && before.sleeps == after.sleeps && before.turns == after.turns &&
                 strcmp(before.call, after.call) == 0;
    if (slept)
        *ret = copy;
    else
        mpiq_thread_copy_deinit(&copy);
    return slept;
}

bool mpiq_sleeper_copy(pid_t pid, pid_t tid, const struct mpiq_register_layout *layout,
                       struct mpiq_thread_copy *ret)
{
    enum { TRIES = 3 };
#ifdef __x86_64__ /* the numbers of its system calls are ours */
    bool again = layout && layout->machine == EM_X86_64;
#else
    bool again = false;
#endif
    bool copied = false;
    for (int i = 0; i < TRIES && again && !copied; i++)
        copied = copy_once(pid, tid, layout, &again, ret);
    return copied;
}

/* ---- the frame pointer --------------------------------------------------------------------------------- */

/* By how much the stack pointer lies below the frame pointer from a function's beginning on: "push %rbp; mov
   %rsp,%rbp; push %rbx; sub $40,%rsp", up to the first call or jump.  -1: it does not begin so. */
static int64_t depth_of(csh decoder, const uint8_t *code, size_t size, uint64_t address)
{
    int64_t depth = -1;
    cs_insn *decoded = cs_malloc(decoder);
    while (decoded && cs_disasm_iter(decoder, &code, &size, &address, decoded)) {
        struct mpiq_instruction instruction;
        mpiq_x86_64.read(decoder, decoded, &instruction);
        const struct mpiq_effect *effect = &instruction.effects[0];
        bool sets = instruction.writes >> FRAME_POINTER & 1;
        bool from_stack = instruction.effect_count == 1 && effect->operation == MPIQ_MOVE &&
                          effect->a.kind == MPIQ_OPERAND_REGISTER && effect->a.reg == STACK_POINTER;
        if (instruction.flow != MPIQ_FLOW_ON || (sets && (depth >= 0 || !from_stack)))
            break;
        if (instruction.loses_stack) {
            depth = -1;
            break;
        }
        depth = sets ? 0 : depth >= 0 ? depth - instruction.stack_move : depth;
    }
    if (decoded)
        cs_free(decoded, 1);
    return depth;
}

/* Whether a call ends there: by its bytes, "e8 …" or "ff /2". */
static bool is_behind_call(struct mpiq_modules *modules, uint64_t address)
{
    enum { LONGEST = 7 };
    unsigned char code[LONGEST];
    if (!mpiq_modules_at(modules, address - 1))
        return false;
    struct mpiq_error *error = mpiq_target_read(modules->target, address - LONGEST, LONGEST, code);
    bool good = !error;
    mpiq_error_destroy(error);
    for (size_t length = 2; good && length <= LONGEST; length++) {
        const unsigned char *at = code + LONGEST - length;
        if ((length == 5 && at[0] == 0xe8) || (at[0] == 0xff && (at[1] & 0x38) == 0x10))
            return true;
    }
    return false;
}

bool mpiq_sleeper_add_frame_pointer(struct mpiq_modules *modules, const struct mpiq_target_stack *stack,
                                    struct mpiq_thread_copy *copy)
{
    if (!(copy->unknown >> FRAME_POINTER & 1) || stack->register_count == 0)
        return false;
    const struct mpiq_frame_registers *frame = &stack->registers[stack->register_count - 1];
    uint64_t start, end;
    if (!(frame->known >> STACK_POINTER & 1) || !mpiq_function_bounds(modules, frame->pc - 1, &start, &end) ||
        frame->pc <= start)
        return false;
    uint8_t code[PROLOGUE_MOST];
    size_t size = frame->pc - start < sizeof code ? (size_t)(frame->pc - start) : sizeof code;
    struct mpiq_error *error = mpiq_target_read(modules->target, start, size, code);
    csh decoder = 0;
    int64_t depth = -1;
    if (!error && cs_open(mpiq_x86_64.decoder, mpiq_x86_64.mode, &decoder) == CS_ERR_OK) {
        cs_option(decoder, CS_OPT_DETAIL, CS_OPT_ON);
        depth = depth_of(decoder, code, size, start);
        cs_close(&decoder);
    }
    mpiq_error_destroy(error);
    if (depth < 0)
        return false;
    uint64_t pointer = frame->value[STACK_POINTER] + (uint64_t)depth, back;
    error = mpiq_target_read(modules->target, pointer + 8, sizeof back, &back);
    bool good = !error && is_behind_call(modules, back);
    mpiq_error_destroy(error);
    if (good) {
        set_register(copy, mpiq_register_layout(EM_X86_64)->dwarf[FRAME_POINTER], pointer);
        copy->unknown &= ~(UINT32_C(1) << FRAME_POINTER);
    }
    return good;
}
