/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * jump - longjmp out of a recorded call, as error handlers and signal handlers do: the call ends here.  A
 * callback that jumps within its own frames does not leave the call, so the target has to be known.  The C
 * library scrambles the stack pointer in a jmp_buf with a key of the process, which a setjmp of our own
 * reveals (glibc: sysdeps/x86_64/setjmp.S, sysdeps/aarch64/setjmp.S).
 */
#include <dlfcn.h>
#include <signal.h>
#include <string.h>

#include "recorder.h"

/* Declared here: setjmp.h may redirect longjmp to a variant that checks. */
int _setjmp(word *environment) __attribute__((returns_twice));
typedef void jump_function(word *environment, int value);

enum { ENVIRONMENT_WORDS = 64 }; /* more than any jmp_buf has */

#if defined __x86_64__
enum { STACK_AT = 6, ROTATION = 17 };
#define READ_STACK "mov %%rsp, %0"
#elif defined __aarch64__
enum { STACK_AT = 13, ROTATION = 0 };
#define READ_STACK "mov %0, sp"
#endif

#ifdef READ_STACK

static word key;
static bool key_known;

static word stack_in(const word *environment)
{
    word stored = environment[STACK_AT];
    return ROTATION ? stored >> ROTATION | stored << (sizeof stored * 8 - ROTATION) : stored;
}

/* What setjmp stores for the stack pointer, and what that is. */
__attribute__((noinline)) static word stored_stack(word *stack)
{
    word environment[ENVIRONMENT_WORDS];
    _setjmp(environment);
    __asm__ volatile(READ_STACK : "=r"(*stack));
    return stack_in(environment);
}

__attribute__((noinline)) static word stored_stack_further_in(word *stack)
{
    volatile char room[1024];
    room[0] = 0;
    word stored = stored_stack(stack);
    return room[0] ? 0 : stored;
}

static void learn_key(void)
{
    word one, other;
    key = stored_stack(&one) ^ one;
    key_known = (stored_stack_further_in(&other) ^ other) == key && one != other;
}

/* Whether a jump to that environment leaves the frame of a call: stacks grow downwards.  A handler on a stack
   of its own may also jump within that. */
static bool leaves(const word *environment, word frame)
{
    word target = stack_in(environment) ^ key;
    stack_t own;
    if (target <= frame)
        return false;
    return sigaltstack(NULL, &own) != 0 || !(own.ss_flags & SS_ONSTACK) ||
           target - (word)own.ss_sp > own.ss_size;
}

#else

static const bool key_known = false;

static void learn_key(void)
{
}

static bool leaves(const word *environment, word frame)
{
    (void)environment, (void)frame;
    return true;
}

#endif

static void jumping(const word *environment)
{
    struct self *self = &recorder_self;
    if (self->holding && key_known && leaves(environment, self->holding))
        step_left(self);
    if (!self->depth || !self->record || !leaves(environment, self->frame))
        return;
    /* The recorder itself is interrupted, or nobody knows where the jump goes: what the thread waits for can
       no longer be told. */
    if (!self->call || !key_known)
        counter_add(&mpiq_record_root.lost_threads, 1);
    while (key_known && self->call && leaves(environment, self->call->frame))
        dispatch_leave(self->call);
}

enum jump { LONGJMP, LONGJMP_PLAIN, SIGLONGJMP, LONGJMP_CHECKED, JUMPS };
static const char names[JUMPS][16] = {"longjmp", "_longjmp", "siglongjmp", "__longjmp_chk"};
static jump_function *nexts[JUMPS];

static void find(enum jump jump)
{
    void *found = dlsym(RTLD_NEXT, names[jump]);
    memcpy(&nexts[jump], &found, sizeof found);
}

/* Early, as a signal handler may be the first to jump. */
__attribute__((constructor)) static void prepare(void)
{
    for (enum jump jump = 0; jump < JUMPS; jump++)
        find(jump);
    learn_key();
}

#define DEFINE(name, jump)                                                              \
    __attribute__((visibility("default"), noreturn)) void name(word *, int);            \
    void name(word *environment, int value)                                             \
    {                                                                                   \
        jumping(environment);                                                           \
        if (!nexts[jump]) /* another library's constructor jumps before ours has run */ \
            find(jump);                                                                 \
        nexts[jump](environment, value);                                                \
        __builtin_unreachable();                                                        \
    }

DEFINE(longjmp, LONGJMP)
DEFINE(_longjmp, LONGJMP_PLAIN)
DEFINE(siglongjmp, SIGLONGJMP)
DEFINE(__longjmp_chk, LONGJMP_CHECKED)
