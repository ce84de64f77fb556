/* SPDX-License-Identifier: BSD-3-Clause */
/* dispatch - one recorded call: records it, makes it, records its outcome. */
#include <stdio.h>
#include <string.h>

#include "recorder.h"

#if defined __GNUC__ && !defined __clang__ && !defined __EXCEPTIONS
#error "compile the recorder with -fexceptions: a call that an exception leaves has to end"
#endif

enum {
    CLASS_none = -1,
#define CLASS(value, id, name, kind, order) CLASS_##id = (value),
    OMPI_MQS_COLLECTIVES(CLASS)
#undef CLASS
};

#include "functions.h"

#define ROW(id, what, argument_roles, class) \
    {.name = "MPI_" #id, .roles = argument_roles, .action = ACTION_##what, .collective = CLASS_##class},
#define LARGE_ROW(id, what, argument_roles, class) \
    {.name = "MPI_" #id "_c",                      \
     .roles = argument_roles,                      \
     .action = ACTION_##what,                      \
     .large = true,                                \
     .collective = CLASS_##class},
#define BOTH_ROWS(id, what, argument_roles, class) \
    ROW(id, what, argument_roles, class) LARGE_ROW(id, what, argument_roles, class)

struct function recorder_functions[] = {RECORDER_FUNCTIONS(ROW, BOTH_ROWS)};
const unsigned recorder_function_count = sizeof recorder_functions / sizeof *recorder_functions;

void dispatch_init(void);
void dispatch_describe(struct mpiq_record_function *list);

void dispatch_init(void)
{
    for (unsigned i = 0; i < recorder_function_count; i++) {
        struct function *function = &recorder_functions[i];
        memset(function->at, -1, sizeof function->at);
        for (int at = 0; function->roles[at]; at++) {
            if (function->roles[at] != '-')
                function->at[ROLE(function->roles[at])] = (int8_t)at;
        }
    }
}

/* What a thread in a call with this action waits for. */
static const uint8_t families[ACTION_COUNT] = {
    [ACTION_SEND] = MPIQ_RECORD_SEND,
    [ACTION_BSEND] = MPIQ_RECORD_BSEND,
    [ACTION_SSEND] = MPIQ_RECORD_SSEND,
    [ACTION_RSEND] = MPIQ_RECORD_RSEND,
    [ACTION_RECV] = MPIQ_RECORD_RECV,
    [ACTION_SENDRECV] = MPIQ_RECORD_SENDRECV,
    [ACTION_SENDRECV_REPLACE] = MPIQ_RECORD_SENDRECV,
    [ACTION_PROBE] = MPIQ_RECORD_PROBE,
    [ACTION_MPROBE] = MPIQ_RECORD_MPROBE,
    [ACTION_MRECV] = MPIQ_RECORD_MRECV,
    [ACTION_WAIT] = MPIQ_RECORD_WAIT,
    [ACTION_WAITALL] = MPIQ_RECORD_WAITALL,
    [ACTION_WAITANY] = MPIQ_RECORD_WAITANY,
    [ACTION_WAITSOME] = MPIQ_RECORD_WAITSOME,
    [ACTION_IPROBE] = MPIQ_RECORD_POLL,
    [ACTION_IMPROBE] = MPIQ_RECORD_POLL,
    [ACTION_TEST] = MPIQ_RECORD_POLL,
    [ACTION_TESTALL] = MPIQ_RECORD_POLL,
    [ACTION_TESTANY] = MPIQ_RECORD_POLL,
    [ACTION_TESTSOME] = MPIQ_RECORD_POLL,
    [ACTION_POLL] = MPIQ_RECORD_POLL,
    [ACTION_DETACH] = MPIQ_RECORD_DETACH,
    [ACTION_COLLECTIVE] = MPIQ_RECORD_COLLECTIVE,
    [ACTION_CREATE] = MPIQ_RECORD_COLLECTIVE,
    [ACTION_CREATE_GROUP] = MPIQ_RECORD_COLLECTIVE,
    [ACTION_CREATE_ALONE] = MPIQ_RECORD_COLLECTIVE,
    [ACTION_CREATE_WORLD] = MPIQ_RECORD_COLLECTIVE,
    [ACTION_INTERCOMM_CREATE] = MPIQ_RECORD_COLLECTIVE,
    [ACTION_COMM_FREE] = MPIQ_RECORD_COLLECTIVE,
    [ACTION_WIN_CREATE] = MPIQ_RECORD_COLLECTIVE,
    [ACTION_FILE] = MPIQ_RECORD_COLLECTIVE,
    [ACTION_FILE_OPEN] = MPIQ_RECORD_COLLECTIVE,
    [ACTION_FILE_CLOSE] = MPIQ_RECORD_COLLECTIVE,
    [ACTION_WIN_FREE] = MPIQ_RECORD_WIN_FREE,
    [ACTION_WIN_FENCE] = MPIQ_RECORD_WIN_FENCE,
    [ACTION_WIN_INFO] = MPIQ_RECORD_WINDOW,
    [ACTION_WIN_SYNC] = MPIQ_RECORD_WINDOW,
    [ACTION_WIN_START] = MPIQ_RECORD_WIN_START,
    [ACTION_WIN_COMPLETE] = MPIQ_RECORD_WIN_COMPLETE,
    [ACTION_WIN_WAIT] = MPIQ_RECORD_WIN_WAIT,
    [ACTION_WIN_TEST] = MPIQ_RECORD_POLL,
    [ACTION_WIN_LOCK] = MPIQ_RECORD_WIN_LOCK,
    [ACTION_WIN_LOCK_ALL] = MPIQ_RECORD_WIN_LOCK,
    [ACTION_WIN_UNLOCK] = MPIQ_RECORD_WIN_UNLOCK,
    [ACTION_WIN_UNLOCK_ALL] = MPIQ_RECORD_WIN_UNLOCK,
    [ACTION_WIN_FLUSH] = MPIQ_RECORD_WIN_FLUSH,
    [ACTION_WIN_FLUSH_ALL] = MPIQ_RECORD_WIN_FLUSH,
    [ACTION_INIT] = MPIQ_RECORD_INIT,
    [ACTION_FINALIZE] = MPIQ_RECORD_FINALIZE,
};

void dispatch_describe(struct mpiq_record_function *list)
{
    for (unsigned i = 0; i < recorder_function_count; i++) {
        snprintf(list[i].name, sizeof list[i].name, "%s", recorder_functions[i].name);
        list[i].family = families[recorder_functions[i].action];
        list[i].collective = recorder_functions[i].collective;
    }
}

/* Whether the call is recorded only for the check at the end. */
static bool is_for_check(unsigned action)
{
    return action >= ACTION_TYPE_NEW && action <= ACTION_OP_FREE;
}

/* ---- what a program's own functions free, or mark ready ---------------------------------------------- */

word dispatch_inside(unsigned index, mpi_function *next, const word *a, word caller)
{
    const struct function *function = &recorder_functions[index];
    struct self *self = &recorder_self;
    struct call *outside = self->call;
    struct mpiq_record_comm *comm = NULL;
    struct mpiq_record_request *request = NULL;
    struct mpiq_record_window *window = NULL;
    bool ready = function->at[ROLE('h')] >= 0;
    bool moves = message_is_moved(function->action);
    bool collective = function->collective >= 0 && function->at[ROLE('c')] >= 0;
    if (!ready && function->roles[0] == 't') /* MPI_Type_set_name: its argument is not a pointer */
        return go(next, a);
    self_set_call(self, NULL);
    if (ready)
        partition_ready(function, a);
    if ((moves || collective) && !is_of_library(caller, next)) {
        if (moves)
            message_hidden(function, a, outside);
        else if (!outside || outside->function != function)
            collective_doubt(comm_find(self, handle_of(a[function->at[ROLE('c')]])));
    }
    if (ready || moves || collective) {
        self_set_call(self, outside);
        return go(next, a);
    }
    uint64_t handle = handle_at((const void *)a[0], 0);
    struct freeing freeing = {.object = -1};
    if (recorder_check)
        check_freeing(function, a, &freeing);
    if (function->action == ACTION_COMM_FREE)
        comm = comm_find(self, handle);
    else if (function->action == ACTION_REQUEST_FREE)
        request = request_freeing(handle);
    else if (function->action == ACTION_WIN_FREE)
        window_freeing(window = window_find(handle), true);
    else if (function->action == ACTION_TYPE_FREE) {
        type_forget(handle);
        if (recorder_check)
            signature_forget(handle);
    }
    self_set_call(self, outside);
    word result = go(next, a);
    self_set_call(self, NULL);
    request_freed(request, (int)result);
    if ((int)result == 0 && comm && comm->handle == handle)
        comm_removed(comm);
    else if ((int)result == 0)
        window_removed(window);
    else
        window_freeing(window, false);
    if (recorder_check)
        check_freed(&freeing, (int)result);
    self_set_call(self, outside);
    return result;
}

/* ---- one call ---------------------------------------------------------------------------------------- */

/* A call that is not wanted, or by a thread that there was no room for.  Partitions that it marks ready are
   those of a request that other threads may have made. */
__attribute__((noinline)) static word pass_unrecorded(unsigned index, mpi_function *next, const word *a)
{
    const struct function *function = &recorder_functions[index];
    if (function->at[ROLE('h')] >= 0)
        partition_ready(function, a);
    return go(next, a);
}

/* Prepares the thread's record for its next call.  The call counts once thread->calls is incremented. */
static struct mpiq_record_call *begin_entry(struct mpiq_record_thread *thread, unsigned index, word caller)
{
    thread->number = 0;
    thread->request_count = 0;
    thread->requests = 0;
    thread->window_wait = 0;
    struct mpiq_record_call *entry = &thread->history[thread->calls % MPIQ_RECORD_HISTORY];
    *entry = (struct mpiq_record_call){
        .begin = clock_cycles(),
        .caller = caller,
        .bytes = -1,
        .peer = MPIQ_RECORD_NO_PEER,
        .tag = MPIQ_RECORD_NO_PEER,
        .function = (uint16_t)index,
    };
    return entry;
}

/* Field by field: gcc clears a structure of this size with an instruction that takes as long as all the rest.
 */
static inline __attribute__((always_inline)) void clear_call(struct call *call, struct self *self)
{
    call->comm = NULL;
    call->window = NULL;
    call->request_count = 0;
    call->handle = 0;
    call->status = NULL;
    call->collective = NULL;
    call->freeing.object = -1;
    call->serial = ++self->serial;
    call->result = RECORDER_FAILED;
    call->left = true;
}

/* The later of the two moments is updated only after this many cycles: some milliseconds. */
enum { MOMENT_CYCLES = 1 << 24 };

/* MPI_Finalize calls the program back, and that makes a call. */
static void suspend(struct call *finalize)
{
    struct self *self = finalize->self;
    finalize->fortran_caller = self->fortran_caller;
    if (self->fortran_caller == finalize->caller) /* it belongs to MPI_Finalize, not to this call */
        self->fortran_caller = 0;
    self->finalize = NULL;
    self_set_call(self, NULL);
    __atomic_store_n(&finalize->entry->end, clock_cycles(), __ATOMIC_RELEASE);
}

/* MPI_Finalize goes on after a call that it made back into the program. */
static void resume(struct call *finalize)
{
    struct self *self = finalize->self;
    finalize->entry = begin_entry(finalize->thread, finalize->entry->function, finalize->caller);
    __atomic_store_n(&finalize->thread->calls, finalize->thread->calls + 1, __ATOMIC_RELEASE);
    self->fortran_caller = finalize->fortran_caller;
    self->finalize = finalize;
    self->frame = finalize->frame;
    self->depth = 1;
    self_set_call(self, finalize);
}

/* Records the call's outcome, or that it was left. */
static void end_call(struct call *call)
{
    struct self *self = call->self;
    self_set_call(self, NULL);
    call->serial = 0;
    /* Before anything of its outcome is counted: else a thread that gets no processor here would seem to wait
       for a message that nobody owes it any more. */
    __atomic_store_n(&call->entry->end, clock_cycles(), __ATOMIC_RELEASE);
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    if (__builtin_expect(call->left, 0)) {
        call_left(call);
        self->fortran_caller = 0; /* the Fortran layer is left, too */
    } else {
        call_ended(call, (int)call->result);
    }
    if (recorder_check) {
        check_freed(&call->freeing, (int)call->result);
        if ((int)call->result == 0)
            check_object(call);
    }
    self->depth = 0;
    if (__builtin_expect(call->outer != NULL, 0))
        resume(call->outer);
}

/* In the frame of dispatch, so that an exception that leaves it ends the call, too. */
struct guard {
    struct call *call;
    uint64_t serial;
};

/* What looked like a jump may have been a switch to another stack and back: that call has ended already. */
static void end_guarded(struct guard *guard)
{
    if (__builtin_expect(guard->call->serial == guard->serial, 1))
        end_call(guard->call);
}

/* An exception that passes through needs these two functions.  Weak: only programs that throw load libgcc,
   and it must be their libgcc. */
__asm__(".weak __gcc_personality_v0\n.weak _Unwind_Resume");

void dispatch_leave(struct call *call)
{
    end_call(call);
}

void dispatch_lost(void)
{
    struct self *self = &recorder_self;
    counter_add(&mpiq_record_root.lost_threads, 1);
    __atomic_store_n(&self->call->entry->end, clock_cycles(), __ATOMIC_RELEASE);
    self_set_call(self, NULL);
    self->finalize = NULL;
    self->fortran_caller = 0;
    self->depth = 0;
}

static inline __attribute__((always_inline)) word record(unsigned index, mpi_function *next, word *a,
                                                         word caller, struct call *outer)
{
    struct self *self = &recorder_self;
    bool skip = is_for_check(recorder_functions[index].action) && !recorder_check;
    struct mpiq_record_thread *thread = skip ? NULL : thread_record(self);
    if (!thread)
        return pass_unrecorded(index, next, a);
    if (outer)
        suspend(outer);
    if (self->fortran_caller)
        caller = self->fortran_caller;
    if (__builtin_expect(recorder_step, 0))
        step_before(self, index, a, caller);
    struct call *call = &self->calls[outer != NULL];
    word frame = (word)__builtin_frame_address(0);
    self->frame = frame;
    self->depth = 1;
    struct mpiq_record_call *entry = begin_entry(thread, index, caller);
    clear_call(call, self);
    call->function = &recorder_functions[index];
    call->arguments = a;
    call->self = self;
    call->thread = thread;
    call->entry = entry;
    call->caller = caller;
    call->outer = outer;
    call->frame = frame;
    if (HAS(call, 'c')) {
        call->comm = comm_find(self, handle_of(ARGUMENT(call, 'c')));
        entry->comm = arena_offset(call->comm);
    }
    call_begins(call);
    entry->comm_id = call->comm ? call->comm->id[1] : 0;
    if (entry->begin - mpiq_record_root.last.cycles > MOMENT_CYCLES && !recorder_multiple)
        clock_note(&mpiq_record_root.last);
    __atomic_store_n(&thread->calls, thread->calls + 1, __ATOMIC_RELEASE);
    if (recorder_check) {
        check_freeing(call->function, a, &call->freeing);
        if (call->function->action == ACTION_FINALIZE)
            check_end();
    }
    struct guard guard __attribute__((cleanup(end_guarded))) = {call, call->serial};
    self_set_call(self, call);
    word result = __builtin_expect(recorder_strict, 0) ? strict_go(call, next) : go(next, a);
    if (__builtin_expect((int)result != 0, 0))
        call->entry->error = (int32_t)result;
    call->result = result;
    call->left = false;
    return result;
}

word dispatch(unsigned index, mpi_function *next, word *arguments, word caller)
{
    return record(index, next, arguments, caller, NULL);
}

word dispatch_in_finalize(unsigned index, mpi_function *next, word *arguments, word caller)
{
    return record(index, next, arguments, caller, recorder_self.finalize);
}
