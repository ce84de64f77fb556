/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * call_body.h - collective calls that are rare.
 */
#ifndef OMPI_MQS_CALL_BODY_H
#define OMPI_MQS_CALL_BODY_H

#include "ompi/mqs/call.h"
#include "ompi/mqs/fortran.h"
#include "ompi/mqs/record_body.h"

__thread struct ompi_mqs_binding ompi_mqs_binding __attribute__((tls_model("initial-exec")));

/* Who made a call of a C function; where that was a Fortran binding, who called it. */
static ompi_mqs_addr_t ompi_mqs_user_caller(ompi_mqs_addr_t caller)
{
    return caller - ompi_mqs_binding.function < OMPI_MQS_BINDING ? ompi_mqs_address(ompi_mqs_binding.caller) : caller;
}

/* Under -flto the assembler's reference to this function is not seen. */
#if OMPI_MQS_ASSEMBLER && !defined(__clang__)
__attribute__((externally_visible))
#endif
struct ompi_mqs_thread *ompi_mqs_call_begin_slowly(struct ompi_mqs_collectives *record)
{
    struct ompi_mqs_thread *self = ompi_mqs_self;

    if (&ompi_mqs_nobody == self) {
        self = ompi_mqs_thread_join();
    } else if (0 != __atomic_load_n(&ompi_mqs_inside, __ATOMIC_RELAXED)) {
        return NULL; /* inside another call */
    }
    return NULL != self && ompi_mqs_ring_make(record) ? self : NULL;
}

#if OMPI_MQS_ASSEMBLER
/* ompi_mqs_call_begin_slowly for a caller that has not saved what a call may change: only rax does,
   which holds the argument and the result.  The stack is aligned here because the compiler does not see a call there. */
__asm__(".pushsection .text\n"
        ".hidden ompi_mqs_call_begin_keeping\n"
        ".globl ompi_mqs_call_begin_keeping\n"
        ".type ompi_mqs_call_begin_keeping, @function\n"
        "ompi_mqs_call_begin_keeping:\n"
        ".cfi_startproc\n"
        "push %rbp\n"
        ".cfi_def_cfa_offset 16\n"
        ".cfi_offset %rbp, -16\n"
        "mov %rsp, %rbp\n"
        ".cfi_def_cfa_register %rbp\n"
        "push %rcx\n"
        "push %rdx\n"
        "push %rsi\n"
        "push %rdi\n"
        "push %r8\n"
        "push %r9\n"
        "push %r10\n"
        "push %r11\n"
        "mov %rax, %rdi\n"
        "and $-16, %rsp\n"
        "call ompi_mqs_call_begin_slowly@PLT\n"
        "lea -64(%rbp), %rsp\n"
        "pop %r11\n"
        "pop %r10\n"
        "pop %r9\n"
        "pop %r8\n"
        "pop %rdi\n"
        "pop %rsi\n"
        "pop %rdx\n"
        "pop %rcx\n"
        "pop %rbp\n"
        ".cfi_restore %rbp\n"
        ".cfi_def_cfa %rsp, 8\n"
        "ret\n"
        ".cfi_endproc\n"
        ".size ompi_mqs_call_begin_keeping, . - ompi_mqs_call_begin_keeping\n"
        ".popsection\n");
#endif

/* The thread's record, or NULL if the call is not to be recorded.  Here so that the begin of a call is not as
   cold to the compiler as the first one of a thread. */
OMPI_MQS_INLINE struct ompi_mqs_thread *ompi_mqs_call_thread(struct ompi_mqs_collectives *record)
{
    if (OMPI_MQS_RARELY(0 != (__atomic_load_n(&ompi_mqs_inside, __ATOMIC_RELAXED) |
                              OMPI_MQS_LOAD(&record->no_ring)))) {
        return ompi_mqs_call_begin_slowly(record);
    }
    return ompi_mqs_self;
}

/* The cycle counter as a value, for a record that is written twice. */
OMPI_MQS_INLINE uint64_t ompi_mqs_cycles(void)
{
#if defined(__x86_64__)
    uint32_t low, high;

    __asm__ volatile("rdtsc" : "=a"(low), "=d"(high));
    return (uint64_t) high << 32 | low;
#else
    uint64_t cycles;

    ompi_mqs_stamp_cycles(&cycles);
    return cycles;
#endif
}

/* Inline, as all that takes its result is: the members stay in registers, and go to each copy from there. */
OMPI_MQS_INLINE struct ompi_mqs_call ompi_mqs_call_of(uint32_t collective, uint32_t flags,
                                                      const struct ompi_mqs_arguments *arguments)
{
    return (struct ompi_mqs_call) {
        .collective = (uint16_t) collective,
        .flags = (uint16_t) flags,
        .root = arguments->root,
        .count = arguments->count,
        .datatype = ompi_mqs_address(arguments->datatype),
        .op = ompi_mqs_address(arguments->op),
        .caller = ompi_mqs_user_caller(ompi_mqs_address(arguments->caller)),
        .begin_cycles = ompi_mqs_cycles(),
        .tid = ompi_mqs_self->tid,
    };
}

/* Where a call is kept: an ordered one in its communicator's ring, any other in the process's, with its
   communicator in place of a number. */
OMPI_MQS_INLINE struct ompi_mqs_collectives *ompi_mqs_ring_of(struct ompi_mqs_collectives *record,
                                                     struct ompi_mqs_call *call, const void *comm)
{
    if (call->flags & OMPI_MQS_CALL_ORDERED) {
        return record;
    }
    call->number = ompi_mqs_address(comm);
    return &ompi_mqs_process.record;
}

/* Puts a call into its ring and counts it on home, which may be two records.  Returns the lives that home has
   had. */
OMPI_MQS_INLINE uint32_t ompi_mqs_call_put(struct ompi_mqs_collectives *ring, struct ompi_mqs_collectives *home,
                                  const struct ompi_mqs_call *call)
{
    struct ompi_mqs_own_collectives *own = ompi_mqs_home(home);
    struct ompi_mqs_count *count;
    uint32_t generation;

    if (ring != home) {
        ompi_mqs_lock_word(&ompi_mqs_home(ring)->lock);
        (void) ompi_mqs_ring_put(ring, call);
        ompi_mqs_unlock_word(&ompi_mqs_home(ring)->lock);
    }
    ompi_mqs_lock_word(&own->lock);
    if (ring == home) {
        (void) ompi_mqs_ring_put(ring, call);
    }
    generation = own->generation;
    count = ompi_mqs_count_of(home, call->collective);
    if (NULL != count) {
        ompi_mqs_count_add(&count->calls, 1);
    }
    ompi_mqs_unlock_word(&own->lock);
    return generation;
}

struct ompi_mqs_rare_guard
ompi_mqs_call_begin_rare(struct ompi_mqs_collectives *record, uint32_t collective, int ordered,
                         const void *comm, struct ompi_mqs_arguments arguments)
{
    struct ompi_mqs_rare_guard guard = {NULL, collective, 0};
    struct ompi_mqs_collectives *home = NULL != record ? record : &ompi_mqs_process.record;
    struct ompi_mqs_collectives *ring;
    struct ompi_mqs_thread *self;
    struct ompi_mqs_call call;

    if (0 == ompi_mqs_root.recording) {
        return guard;
    }
    self = ompi_mqs_call_thread(home);
    if (NULL == self) {
        return guard;
    }
    call = ompi_mqs_call_of(collective, ordered && NULL != record ? OMPI_MQS_CALL_ORDERED : 0, &arguments);
    ring = ompi_mqs_ring_of(record, &call, comm);
    guard.generation = ompi_mqs_call_put(ring, home, &call);
    ompi_mqs_thread_inside(self, collective, home, comm);
    guard.record = home;
    return guard;
}

/* Adds to the ended calls of a class if the record is still that of the same communicator.  Returns whether
   it is.  Under the record's lock. */
static int ompi_mqs_call_ended(struct ompi_mqs_collectives *record, uint32_t collective, uint32_t generation,
                               uint32_t change)
{
    struct ompi_mqs_count *count;

    if (ompi_mqs_home(record)->generation != generation) {
        return 0;
    }
    count = ompi_mqs_count_of(record, collective);
    if (NULL != count) {
        ompi_mqs_count_add(&count->ended, change);
    }
    return 1;
}

void ompi_mqs_call_end_rare(struct ompi_mqs_rare_guard *guard)
{
    struct ompi_mqs_thread *self = ompi_mqs_self;
    struct ompi_mqs_own_collectives *own = ompi_mqs_home(guard->record);

    if (NULL == guard->record || 0 == self->tid) {
        return;
    }
    ompi_mqs_lock_word(&own->lock);
    if (ompi_mqs_call_ended(guard->record, guard->collective, guard->generation, 1)) {
        ompi_mqs_stamp_cycles(&guard->record->end_cycles);
    }
    ompi_mqs_unlock_word(&own->lock);
    ompi_mqs_thread_outside(self);
/* series: waits */
    ompi_mqs_own(self)->new_window = NULL;
/* series: end */
}

#endif
