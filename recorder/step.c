/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * step - under `mpiq run --step`: holds each thread before its calls until mpiq run lets it go on.
 *
 * A thread is held where its last call has ended and the next one is not recorded yet, so everybody who reads
 * the records sees it outside MPI, able to act.  What the call would do is written down first; orders come
 * through the memory file that mpiq run has as well (remains.c).  The thread naps, and looks after its
 * mpiq run: without one it goes on, for good.
 */
#include <errno.h>
#include <linux/futex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include "recorder.h"

bool recorder_step;
static struct mpiq_record_step *step;

bool step_wanted(void)
{
    return getenv("MPIQ_STEP") != NULL;
}

void step_begin(void)
{
    if (!step_wanted() || !remains_run_lives())
        return;
    step = arena_allocate(sizeof *step);
    mpiq_record_root.step = arena_offset(step);
    recorder_step = step != NULL;
}

/* The thread's record of holds, made on its first call; NULL: no room. */
static struct mpiq_record_hold *hold_of(struct self *self)
{
    if (self->hold)
        return self->hold;
    struct mpiq_record_hold *hold;
    arena_lock();
    for (hold = arena_at(step->holds); hold && hold->tid != 0; hold = arena_at(hold->next))
        ;
    if (!hold && (hold = arena_allocate_locked(sizeof *hold))) {
        hold->next = step->holds;
        __atomic_store_n(&step->holds, arena_offset(hold), __ATOMIC_RELEASE);
    }
    if (hold)
        __atomic_store_n(&hold->tid, self->record->tid, __ATOMIC_RELEASE);
    arena_unlock();
    return self->hold = hold;
}

static void set_state(struct mpiq_record_hold *hold, enum mpiq_record_hold_state state)
{
    __atomic_store_n(&hold->state, (uint32_t)state, __ATOMIC_RELEASE);
}

void step_thread_ended(struct self *self)
{
    struct mpiq_record_hold *hold = self->hold;
    if (!hold)
        return;
    set_state(hold, MPIQ_RECORD_HOLD_NONE);
    __atomic_store_n(&hold->tid, 0, __ATOMIC_RELEASE);
}

/* ---- what the call does ---------------------------------------------------------------------------------
 */

static struct mpiq_record_hold_peer *add_peer(struct mpiq_record_hold *hold,
                                              enum mpiq_record_request_kind kind,
                                              const struct mpiq_record_comm *comm, int32_t peer, int32_t tag)
{
    if (hold->peer_count == MPIQ_RECORD_HOLD_PEERS)
        return NULL;
    struct mpiq_record_hold_peer *ret = &hold->peers[hold->peer_count++];
    *ret = (struct mpiq_record_hold_peer){
        .rank = comm_world_rank(comm, peer), .tag = tag, .kind = (uint8_t)kind, .function = hold->function};
    return ret;
}

static bool is_receive(unsigned action)
{
    return action == ACTION_RECV || action == ACTION_IRECV || action == ACTION_RECV_INIT ||
           action == ACTION_PRECV_INIT || action == ACTION_PROBE || action == ACTION_IPROBE ||
           action == ACTION_MPROBE || action == ACTION_IMPROBE || action == ACTION_MRECV ||
           action == ACTION_IMRECV;
}

static void describe_peers(const struct call *call, struct mpiq_record_hold *hold)
{
    unsigned action = call->function->action;
    if (HAS(call, 'p')) {
        int32_t tag = HAS(call, 'g') ? tag_of((int32_t)ARGUMENT(call, 'g')) : MPIQ_RECORD_NO_PEER;
        enum mpiq_record_request_kind kind = action == ACTION_RMA ? MPIQ_RECORD_REQUEST_OTHER
                                             : is_receive(action) ? MPIQ_RECORD_REQUEST_RECEIVE
                                                                  : MPIQ_RECORD_REQUEST_SEND;
        add_peer(hold, kind, call->comm, peer_of((int32_t)ARGUMENT(call, 'p')), tag);
    }
    if (HAS(call, 'P'))
        add_peer(hold, MPIQ_RECORD_REQUEST_RECEIVE, call->comm, peer_of((int32_t)ARGUMENT(call, 'P')),
                 tag_of((int32_t)ARGUMENT(call, 'G')));
}

static void describe_request(struct mpiq_record_hold *hold, struct call *call, uint64_t handle)
{
    const struct mpiq_record_request *request = request_find(handle);
    if (!request || request->state == MPIQ_RECORD_REQUEST_FREE)
        return;
    struct mpiq_record_comm *comm = arena_at(request->comm);
    struct mpiq_record_hold_peer *peer =
        add_peer(hold, (enum mpiq_record_request_kind)request->kind, comm, request->peer, request->tag);
    if (peer)
        peer->function = request->function;
    call->comm = call->comm ? call->comm : comm;
}

static void describe_requests(struct mpiq_record_hold *hold, struct call *call)
{
    unsigned action = call->function->action;
    if (HAS(call, 'r') || HAS(call, 'A')) {
        const void *requests = (const void *)(HAS(call, 'r') ? ARGUMENT(call, 'r') : ARGUMENT(call, 'A'));
        int count = HAS(call, 'r') ? 1 : (int)ARGUMENT(call, 'k');
        hold->request_count = count > 0 ? (uint64_t)count : 0;
        for (int i = 0; i < count && hold->peer_count < MPIQ_RECORD_HOLD_PEERS; i++)
            describe_request(hold, call, handle_at(requests, (size_t)i));
    } else if (HAS(call, 'h') && action >= ACTION_PREADY && action <= ACTION_PREADY_LIST) {
        describe_request(hold, call, handle_of(ARGUMENT(call, 'h')));
    }
}

static void describe_comm(const struct call *call, struct mpiq_record_hold *hold)
{
    const struct mpiq_record_comm *comm = call->comm;
    const struct mpiq_record_group *group =
        comm ? arena_at(comm->remote_group ? comm->remote_group : comm->group) : NULL;
    if (!comm)
        return;
    hold->comm = arena_offset(comm);
    memcpy(hold->comm_id, comm->id, sizeof hold->comm_id);
    memcpy(hold->comm_name, comm->name, sizeof hold->comm_name);
    hold->ordered = comm->ordered + 1;
    hold->comm_size = group ? (int32_t)group->count : 0;
    hold->local_rank = comm->local_rank;
}

static struct mpiq_record_comm *comm_of(const struct call *call)
{
    struct mpiq_record_window *window = NULL;
    if (HAS(call, 'c'))
        return comm_find(call->self, handle_of(ARGUMENT(call, 'c')));
    if (HAS(call, 'd'))
        return comm_find(call->self, handle_at((const void *)ARGUMENT(call, 'd'), 0));
    if (HAS(call, 'F'))
        return file_comm(call->function->action == ACTION_FILE_CLOSE ? *(const word *)ARGUMENT(call, 'F')
                                                                     : ARGUMENT(call, 'F'));
    if (HAS(call, 'w'))
        window = window_find(handle_of(ARGUMENT(call, 'w')));
    else if (HAS(call, 'v'))
        window = window_find(handle_at((const void *)ARGUMENT(call, 'v'), 0));
    return window ? arena_at(window->comm) : NULL;
}

static bool is_root(const struct call *call)
{
    int32_t root = peer_of((int32_t)ARGUMENT(call, 'z'));
    return root == MPIQ_RECORD_ROOT ||
           (call->comm && !call->comm->remote_group && root == call->comm->local_rank);
}

/* The buffer, count and type of what the call sends, as indexes of its arguments; false: it sends nothing, or
   it is not so simple. */
static bool find_data(const struct call *call, int ret[3])
{
    const struct function *function = call->function;
    const int8_t *at = function->at;
    unsigned action = function->action;
    ret[0] = at[ROLE('b')];
    ret[1] = at[ROLE('n')];
    ret[2] = at[ROLE('t')];
    if (action == ACTION_RMA) {
        if (strncmp(function->name, "MPI_Get", 7) == 0 || strncmp(function->name, "MPI_Rget", 8) == 0) {
            if (ret[0] != 3) /* MPI_Get, MPI_Rget */
                return false;
            for (int i = 0; i < 3; i++)
                ret[i] = i;
        }
        return true;
    }
    if (function->collective >= 0 && at[ROLE('z')] >= 0 && (ret[0] == 3 || strstr(function->name, "cast"))) {
        for (int i = 0; ret[0] == 3 && i < 3; i++) /* MPI_Scatter */
            ret[i] = i;
        return is_root(call) && ret[1] >= 0;
    }
    if (function->collective >= 0 && ret[0] != 0)
        return false;
    return ret[0] >= 0 && ret[1] >= 0 && ret[2] >= 0 && !is_receive(action);
}

/* By the system, which does not mind a wrong address. */
static uint32_t copy_data(word from, int64_t size, unsigned char *to)
{
    struct iovec here = {.iov_base = to, .iov_len = MPIQ_RECORD_HOLD_DATA};
    if (size < MPIQ_RECORD_HOLD_DATA)
        here.iov_len = (size_t)size;
    struct iovec there = {.iov_base = (void *)from, .iov_len = here.iov_len};
    long got = syscall(SYS_process_vm_readv, getpid(), &here, 1, &there, 1, 0);
    return got > 0 ? (uint32_t)got : 0;
}

static void describe_data(const struct call *call, struct mpiq_record_hold *hold)
{
    int at[3];
    uint64_t type = HAS(call, 't') ? handle_of(ARGUMENT(call, 't')) : 0;
    hold->count = HAS(call, 'n') ? count_of(call, ARGUMENT(call, 'n')) : -1;
    bool sends = find_data(call, at);
    if (sends) {
        type = handle_of(call->arguments[at[2]]);
        hold->count = at[1] < 0 ? 1 : count_of(call, call->arguments[at[1]]);
    }
    int64_t size = type ? type_size(type) : -1;
    if (type)
        type_name(type, hold->type, sizeof hold->type);
    if (!sends || size < 0 || hold->count < 0)
        return;
    hold->in_place = call->arguments[at[0]] == recorder_abi.in_place;
    if (hold->in_place)
        return;
    hold->data_bytes = size * hold->count;
    hold->data_kind = (uint8_t)signature_kind(hold->type);
    hold->element = size > UINT32_MAX ? 0 : (uint32_t)size;
    if (hold->data_kind)
        hold->data_size = copy_data(call->arguments[at[0]], hold->data_bytes, hold->data);
}

/* While this runs, calls that the library makes are its own. */
static void describe(struct self *self, struct mpiq_record_hold *hold, word *arguments)
{
    struct call call = {
        .function = &recorder_functions[hold->function], .arguments = arguments, .self = self};
    uint32_t depth = self->depth;
    self->depth = 1;
    memset(&hold->comm_id, 0, sizeof hold->comm_id);
    memset(hold->comm_name, 0,
           offsetof(struct mpiq_record_hold, peers) - offsetof(struct mpiq_record_hold, comm_name));
    hold->comm = hold->data_size = hold->element = hold->in_place = hold->peer_count = 0;
    hold->data_kind = 0;
    hold->comm_size = 0;
    hold->ordered = hold->request_count = 0;
    hold->data_bytes = -1;
    hold->root = MPIQ_RECORD_NO_PEER;
    call.comm = comm_of(&call);
    describe_peers(&call, hold);
    describe_requests(hold, &call);
    describe_comm(&call, hold);
    if (HAS(&call, 'z'))
        hold->root = peer_of((int32_t)ARGUMENT(&call, 'z'));
    if (HAS(&call, 'O')) {
        const struct mpiq_record_op *ops = arena_at(mpiq_record_root.ops);
        uint16_t op = fact_op(handle_of(ARGUMENT(&call, 'O')));
        bool known = ops && op > 0 && op <= MPIQ_RECORD_MAX_OPS;
        snprintf(hold->op, sizeof hold->op, "%s", known ? ops[op - 1].name : op ? "user-defined" : "");
    }
    describe_data(&call, hold);
    self->depth = depth;
}

/* Of the function, its place and its arguments: handles and addresses by their lower halves, since what is
   above an int that was passed is nobody's. */
static uint64_t key_of(const struct mpiq_record_hold *hold, const word *arguments)
{
    size_t count = strlen(recorder_functions[hold->function].roles);
    uint64_t key = mpiq_record_mix(hold->caller + hold->function);
    for (size_t i = 0; i < count; i++)
        key = mpiq_record_mix(key + (uint32_t)arguments[i] + i);
    return key;
}

/* ---- breakpoints -----------------------------------------------------------------------------------------
 */

static struct mpiq_record_site *site_of(uint64_t caller)
{
    struct mpiq_record_site *ret = NULL;
    arena_lock();
    for (uint32_t i = 0; i < step->site_count && !ret; i++) {
        if (step->sites[i].caller == caller)
            ret = &step->sites[i];
    }
    if (!ret && step->site_count < MPIQ_RECORD_MAX_SITES) {
        ret = &step->sites[step->site_count];
        ret->caller = caller;
        __atomic_store_n(&step->site_count, step->site_count + 1, __ATOMIC_RELEASE);
    }
    arena_unlock();
    return ret;
}

static bool names(const char *wanted, const char *name, size_t size, bool exactly)
{
    return !wanted[0] || (exactly ? strncmp(wanted, name, size) : strncasecmp(wanted, name, size)) == 0;
}

/* The first breakpoint that names this call, plus 1; 0: none does.  *asks: that depends on its line, which
   mpiq run has not told yet.  A call site for which there is no room is at every line. */
static uint32_t break_at(const struct mpiq_record_hold *hold, const struct mpiq_record_site *site, bool *asks)
{
    const char *name = recorder_functions[hold->function].name;
    bool known = site && __atomic_load_n(&site->known, __ATOMIC_ACQUIRE);
    bool told = __atomic_load_n(&hold->told, __ATOMIC_ACQUIRE) == hold->number;
    uint32_t here = known ? site->breaks : hold->breaks;
    *asks = false;
    for (uint32_t i = 0; i < MPIQ_RECORD_MAX_BREAKS; i++) {
        const struct mpiq_record_break *one = &step->breaks[i];
        if (!__atomic_load_n(&one->used, __ATOMIC_ACQUIRE) ||
            !names(one->call, name, sizeof one->call, false) ||
            !names(one->comm, hold->comm_name, sizeof one->comm, true))
            continue;
        if (!one->by_line || !site)
            return i + 1;
        if (!known && !told)
            *asks = true;
        else if (here >> i & 1)
            return i + 1;
    }
    return 0;
}

static bool any_by_line(void)
{
    for (uint32_t i = 0; i < MPIQ_RECORD_MAX_BREAKS; i++) {
        if (step->breaks[i].used && step->breaks[i].by_line)
            return true;
    }
    return false;
}

/* ---- the wait --------------------------------------------------------------------------------------------
 */

static uint32_t mode(void)
{
    return __atomic_load_n(&step->mode, __ATOMIC_ACQUIRE);
}

/* mpiq run cannot wake who naps: the value is looked at again soon enough for a person.  No point at which a
   thread can be cancelled, which the call itself may not be. */
static void nap(const uint32_t *value, uint32_t seen, unsigned round)
{
    enum { QUICK = 64, QUICK_NS = 1000000, NS = 10000000 };
    struct timespec time = {.tv_nsec = round < QUICK ? QUICK_NS : NS};
    syscall(SYS_futex, value, FUTEX_WAIT, seen, &time, NULL, 0);
}

/* Whether the job is still stepped; looks every few rounds whether mpiq run lives. */
static bool goes_on(unsigned round)
{
    enum { EVERY = 16 };
    if (mode() == MPIQ_RECORD_STEP_NEVER || (round % EVERY == 0 && !remains_run_lives()))
        recorder_step = false;
    return recorder_step;
}

/* Until what the site's line is has been told. */
static void ask(const struct self *self, struct mpiq_record_hold *hold, const struct mpiq_record_site *site)
{
    bool asks;
    for (unsigned round = 0; self->holding && goes_on(round); round++) {
        uint32_t known = __atomic_load_n(&site->known, __ATOMIC_ACQUIRE);
        hold->broke = break_at(hold, site, &asks);
        if (hold->broke || !asks || __atomic_load_n(&hold->go, __ATOMIC_ACQUIRE) == hold->number)
            break;
        set_state(hold, MPIQ_RECORD_HOLD_ASKS);
        nap(&site->known, known, round);
    }
}

static void hold_here(const struct self *self, struct mpiq_record_hold *hold)
{
    for (unsigned round = 0; self->holding && goes_on(round); round++) {
        uint32_t go_on = __atomic_load_n(&hold->go, __ATOMIC_ACQUIRE);
        if (go_on == hold->number)
            break;
        set_state(hold, MPIQ_RECORD_HOLD_HELD);
        nap(&hold->go, go_on, round);
    }
}

/* However it is left. */
static void end_hold(struct self **self)
{
    (*self)->holding = 0;
    set_state((*self)->hold, MPIQ_RECORD_HOLD_WENT);
}

/* See dispatch.c. */
__asm__(".weak __gcc_personality_v0\n.weak _Unwind_Resume");

static void hold_call(struct self *self, struct mpiq_record_hold *hold, word *arguments, bool skips)
{
    struct self *guard __attribute__((cleanup(end_hold))) = self;
    bool asks = false;
    self->holding = (word)__builtin_frame_address(0);
    set_state(hold, MPIQ_RECORD_HOLD_BUSY);
    describe(self, hold, arguments);
    const struct mpiq_record_site *site = any_by_line() ? site_of(hold->caller) : NULL;
    __atomic_store_n(&hold->number, hold->number + 1, __ATOMIC_RELEASE);
    hold->broke = break_at(hold, site, &asks);
    if (skips || !goes_on(0))
        return;
    if (asks && mode() == MPIQ_RECORD_STEP_BREAKS)
        ask(self, hold, site);
    if (hold->broke || mode() == MPIQ_RECORD_STEP_EACH)
        hold_here(self, hold);
}

void step_before(struct self *self, unsigned function, word *arguments, word caller)
{
    int before = errno;
    struct mpiq_record_hold *hold = hold_of(self);
    if (!hold || self->holding) /* a signal handler's call: the thread is held already */
        return;
    uint64_t last = self->hold_key;
    hold->caller = caller;
    hold->function = (uint16_t)function;
    self->hold_key = key_of(hold, arguments);
    hold->repeats = self->hold_key == last ? hold->repeats + 1 : 0;
    bool skips = hold->repeats > 0 && self->hold_skips;
    skips = skips || (hold->repeats > 0 && hold->number > 0 &&
                      __atomic_load_n(&hold->skip, __ATOMIC_ACQUIRE) == hold->number);
    self->hold_skips = skips;
    hold_call(self, hold, arguments, skips);
    errno = before;
}

void step_left(struct self *self)
{
    end_hold(&self);
}
