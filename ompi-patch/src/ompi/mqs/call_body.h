/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * call_body.h - collective calls that are rare, and making and ending a communicator's record.
 */
#ifndef OMPI_MQS_CALL_BODY_H
#define OMPI_MQS_CALL_BODY_H

#include "ompi/mqs/call.h"
#include "ompi/mqs/thread_body.h"

struct ompi_mqs_thread *ompi_mqs_call_begin_slowly(void)
{
    if (&ompi_mqs_nobody != ompi_mqs_self) {
        return NULL; /* inside another call */
    }
    return ompi_mqs_thread_join();
}

#if OMPI_MQS_ASSEMBLER
/* ompi_mqs_call_begin_slowly for a caller that has not saved what a call may change: only rax does.  The
   stack is aligned here because the compiler does not see a call there. */
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

/* The calling thread's record if it may begin a call now. */
static struct ompi_mqs_thread *ompi_mqs_call_self(void)
{
    return 0 != ompi_mqs_self->collectives ? ompi_mqs_call_begin_slowly() : ompi_mqs_self;
}

static void ompi_mqs_call_fill(struct ompi_mqs_call *call, uint32_t collective, uint32_t flags,
                               const struct ompi_mqs_arguments *arguments)
{
    memset(call, 0, sizeof(*call));
    call->collective = (uint16_t) collective;
    call->flags = (uint16_t) flags;
    call->root = arguments->root;
    call->count = arguments->count;
    call->datatype = ompi_mqs_address(arguments->datatype);
    call->op = ompi_mqs_address(arguments->op);
    call->caller = ompi_mqs_address(arguments->caller);
    call->tid = ompi_mqs_self->tid;
    ompi_mqs_stamp_cycles(&call->begin_cycles);
}

/* Puts a call into the ring where it belongs: an ordered one into its communicator's, which gives it a
   number; any other into the process's.  Returns the number or 0. */
static uint64_t ompi_mqs_ring_put(struct ompi_mqs_collectives *record, const struct ompi_mqs_call *call)
{
    struct ompi_mqs_collectives *home = call->flags & OMPI_MQS_CALL_ORDERED ? record : &ompi_mqs_process;
    struct ompi_mqs_call *slot;

    slot = ompi_mqs_ring_next(home);
    *slot = *call;
    home->position += OMPI_MQS_POSITION;
    return call->flags & OMPI_MQS_CALL_ORDERED ? ompi_mqs_ring_calls(home->position) : 0;
}

/* Counts that several threads may touch: read at any time, written under the lock. */
static void ompi_mqs_count_add(uint32_t *count, uint32_t change)
{
    __atomic_store_n(count, *count + change, __ATOMIC_RELAXED);
}

struct ompi_mqs_guard
ompi_mqs_call_begin_rare(struct ompi_mqs_collectives *record, uint32_t collective, int ordered,
                         struct ompi_mqs_arguments arguments)
{
    struct ompi_mqs_guard guard = {NULL, collective};
    struct ompi_mqs_collectives *home = NULL != record ? record : &ompi_mqs_process;
    struct ompi_mqs_thread *self;
    struct ompi_mqs_call call;

    if (0 == ompi_mqs_root.recording) {
        return guard;
    }
    self = ompi_mqs_call_self();
    if (NULL == self) {
        return guard;
    }
    ompi_mqs_call_fill(&call, collective, ordered && NULL != record ? OMPI_MQS_CALL_ORDERED : 0,
                       &arguments);
    ompi_mqs_lock();
    (void) ompi_mqs_ring_put(record, &call);
    ompi_mqs_count_add(&home->counts[collective].calls, 1);
    ompi_mqs_unlock();
    ompi_mqs_thread_inside(self, collective, home);
    guard.record = home;
    return guard;
}

void ompi_mqs_call_end_rare(struct ompi_mqs_guard *guard)
{
    /* The call may have ended its communicator, and the record with it. */
    if (NULL != guard->record && ompi_mqs_self->collectives == ompi_mqs_address(guard->record)) {
        ompi_mqs_lock();
        ompi_mqs_count_add(&guard->record->counts[guard->collective].ended, 1);
        ompi_mqs_unlock();
        ompi_mqs_thread_outside(ompi_mqs_self);
    }
}

/* A new record for communicator, NULL if recording is off or there is no memory. */
static struct ompi_mqs_collectives *ompi_mqs_collectives_create(const void *comm)
{
    struct ompi_mqs_collectives *record;

    if (0 == ompi_mqs_root.recording) {
        return NULL;
    }
    record = calloc(1, sizeof(*record));
    if (NULL != record) {
        record->size = sizeof(*record);
        record->classes = OMPI_MQS_COLLECTIVE_COUNT;
        record->comm = ompi_mqs_address(comm);
    }
    return record;
}

static void ompi_mqs_outstanding_orphan(struct ompi_mqs_collectives *record);

static void ompi_mqs_collectives_destroy(struct ompi_mqs_collectives *record)
{
    if (NULL == record) {
        return;
    }
    ompi_mqs_outstanding_orphan(record);
    if (ompi_mqs_self->collectives == ompi_mqs_address(record)) {
        ompi_mqs_thread_outside(ompi_mqs_self);
    }
    free(record);
}

/* One step of the hash of a group's members; start with OMPI_MQS_HASH_START. */
static uint64_t ompi_mqs_hash_member(uint64_t hash, uint32_t jobid, uint32_t vpid)
{
    uint64_t name = (uint64_t) jobid | (uint64_t) vpid << 32;
    int i;

    for (i = 0; i < 8; i++, name >>= 8) {
        hash = (hash ^ (name & 0xff)) * OMPI_MQS_HASH_PRIME;
    }
    return hash;
}

#endif
