/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * window - the program's windows, the communicators they were made on, their epochs and locks.
 *
 * Calls that let others continue (a post, the end of an access, an unlock) are recorded before the call,
 * calls that make others wait after it: a reader in between finds fewer reasons for a wait, never more.
 * MPI_Win_lock may return before the lock is granted, so a lock counts as granted once MPI_Win_flush has
 * completed an operation under it.  On the process's own memory and on shared memory (loads and stores), it
 * counts as granted when MPI_Win_lock returns.
 *
 * The table of peers is searched without the lock and changed under it.
 */
#include <stdlib.h>
#include <string.h>

#include "recorder.h"

enum { FIRST_ROOM = 8 };

static uint32_t count;

/* ---- peers ------------------------------------------------------------------------------------------- */

static struct mpiq_record_window_peer *find_in(struct mpiq_record_window_peers *peers, int32_t peer)
{
    uint32_t mask = peers->room - 1;
    uint32_t at = (uint32_t)mpiq_record_mix((uint32_t)peer) & mask;
    while (__atomic_load_n(&peers->list[at].used, __ATOMIC_ACQUIRE) && peers->list[at].peer != peer)
        at = (at + 1) & mask;
    return &peers->list[at];
}

/* NULL: the peer has no entry. */
static struct mpiq_record_window_peer *peer_find(const struct mpiq_record_window *window, int32_t peer)
{
    struct mpiq_record_window_peers *peers = arena_at(__atomic_load_n(&window->peers, __ATOMIC_ACQUIRE));
    struct mpiq_record_window_peer *found = peers ? find_in(peers, peer) : NULL;
    return found && found->used ? found : NULL;
}

static struct mpiq_record_window_peers *grow(struct mpiq_record_window *window,
                                             const struct mpiq_record_window_peers *old)
{
    uint32_t room = old ? 2 * old->room : FIRST_ROOM;
    struct mpiq_record_window_peers *made =
        room > MPIQ_RECORD_MAX_WINDOW_PEERS ? NULL
                                            : arena_allocate_locked(sizeof *made + room * sizeof *made->list);
    if (!made)
        return NULL;
    made->room = room;
    for (uint32_t i = 0; old && i < old->room; i++) {
        if (!old->list[i].used)
            continue;
        *find_in(made, old->list[i].peer) = old->list[i];
        made->count++;
    }
    __atomic_store_n(&window->peers, arena_offset(made), __ATOMIC_RELEASE);
    return made;
}

/* Finds or adds a peer's entry; NULL: no room, so nothing more is known about the window.  The caller holds
   the lock. */
static struct mpiq_record_window_peer *peer_of_window(struct mpiq_record_window *window, int32_t peer)
{
    struct mpiq_record_window_peers *peers = arena_at(window->peers);
    struct mpiq_record_window_peer *found = peers ? find_in(peers, peer) : NULL;
    if (found && found->used)
        return found;
    if (!peers || 2 * (peers->count + 1) > peers->room) {
        peers = grow(window, peers);
        found = peers ? find_in(peers, peer) : NULL;
    }
    if (!found) {
        __atomic_or_fetch(&window->flags, MPIQ_RECORD_WINDOW_UNCLEAR, __ATOMIC_RELAXED);
        return NULL;
    }
    peers->count++;
    found->peer = peer;
    __atomic_store_n(&found->used, 1, __ATOMIC_RELEASE);
    return found;
}

/* Clears and sets flags of all peers that have one of `which`.  The caller holds the lock. */
static void replace_flags(struct mpiq_record_window *window, unsigned which, unsigned clear, unsigned set)
{
    struct mpiq_record_window_peers *peers = arena_at(window->peers);
    for (uint32_t i = 0; peers && i < peers->room; i++) {
        struct mpiq_record_window_peer *peer = &peers->list[i];
        if (peer->used && peer->flags & which)
            peer->flags = (uint16_t)((peer->flags & ~clear) | set);
    }
}

/* ---- windows ----------------------------------------------------------------------------------------- */

/* Whether these hints may let MPI_Win_free return before all members have called it. */
static bool may_say_no_locks(uint64_t info)
{
    char value[8] = "";
    int flag = 0;
    return info != recorder_abi.info_null &&
           (recorder_abi.info_null == 0 ||
            ASK(Info_get, info, (word) "no_locks", sizeof value - 1, (word)value, (word)&flag) != 0 ||
            (flag && strcmp(value, "false") != 0));
}

void window_created(const struct call *call, uint64_t handle)
{
    struct mpiq_record_comm *comm = call->comm;
    const struct mpiq_record_group *group = comm ? arena_at(comm->group) : NULL;
    if (handle == recorder_abi.win_null)
        return;
    bool has_memory = HAS(call, 'l') && (intptr_t)ARGUMENT(call, 'l') > 0; /* attached memory: not tracked */
    bool no_locks = may_say_no_locks(handle_of(ARGUMENT(call, 'i')));
    arena_lock();
    struct mpiq_record_window *window = arena_at(mpiq_record_root.windows);
    while (window && __atomic_load_n(&window->handle, __ATOMIC_ACQUIRE))
        window = arena_at(window->next);
    if (!window && count < MPIQ_RECORD_MAX_WINDOWS) {
        window = arena_allocate_locked(sizeof *window);
        if (window) {
            count++;
            window->next = mpiq_record_root.windows;
            __atomic_store_n(&mpiq_record_root.windows, arena_offset(window), __ATOMIC_RELEASE);
        }
    }
    if (window) {
        struct mpiq_record_window_peers *peers = arena_at(window->peers);
        for (uint32_t i = 0; peers && i < peers->room; i++)
            peers->list[i] = (struct mpiq_record_window_peer){0};
        if (peers)
            peers->count = 0;
        window->comm = arena_offset(comm);
        window->id[0] = comm ? comm->id[1] : 0;
        window->id[1] = comm ? counter_add(&comm->creations, 1) + 1 : 0;
        window->name[0] = '\0';
        window->caller = call->caller;
        window->group_hash = group ? group->hash : 0;
        window->local_rank = comm ? comm->local_rank : -1;
        window->exposure = OMPI_MQS_EXPOSURE_NONE;
        window->access = OMPI_MQS_ACCESS_NONE;
        window->made_by = call->function->collective;
        window->flags = (comm ? 0 : MPIQ_RECORD_WINDOW_UNCLEAR) |
                        (window->made_by == OMPI_MQS_win_allocate_shared ? MPIQ_RECORD_WINDOW_SHARED : 0) |
                        (has_memory ? MPIQ_RECORD_WINDOW_MEMORY : 0) |
                        (no_locks ? MPIQ_RECORD_WINDOW_NO_LOCKS : 0);
        window->fences = 0;
        window->freeing = 0;
        __atomic_store_n(&window->handle, handle, __ATOMIC_RELEASE);
    }
    arena_unlock();
}

struct mpiq_record_window *window_find(uint64_t handle)
{
    struct mpiq_record_window *window =
        arena_at(__atomic_load_n(&mpiq_record_root.windows, __ATOMIC_ACQUIRE));
    while (window && (__atomic_load_n(&window->handle, __ATOMIC_ACQUIRE) != handle ||
                      __atomic_load_n(&window->freeing, __ATOMIC_RELAXED)))
        window = arena_at(window->next);
    return window;
}

void window_removed(struct mpiq_record_window *window)
{
    if (window)
        __atomic_store_n(&window->handle, 0, __ATOMIC_RELEASE);
}

void window_freeing(struct mpiq_record_window *window, bool begun)
{
    if (window)
        __atomic_store_n(&window->freeing, begun, __ATOMIC_RELAXED);
}

void window_name(struct mpiq_record_window *window, const char *name)
{
    if (!window || !name)
        return;
    size_t length = strnlen(name, sizeof window->name - 1);
    memcpy(window->name, name, length);
    window->name[length] = '\0';
}

void window_forget_comm(uint32_t comm)
{
    struct mpiq_record_window *window = arena_at(mpiq_record_root.windows);
    for (; window; window = arena_at(window->next)) {
        if (window->comm == comm)
            window->comm = 0;
    }
}

/* ---- groups ------------------------------------------------------------------------------------------ */

/* Ranks in the window of a group's members; NULL on failure.  The caller frees. */
static int *members_of(const struct mpiq_record_window *window, uint64_t group, int *size)
{
    uint64_t all = 0;
    if (ASK(Group_size, group, (word)size) != 0 || *size < 0 ||
        ASK(Win_get_group, window->handle, (word)&all) != 0)
        return NULL;
    int *own = malloc(((size_t)*size + 1) * sizeof *own);
    int *ranks = malloc(((size_t)*size + 1) * sizeof *ranks);
    for (int i = 0; own && i < *size; i++)
        own[i] = i;
    bool good =
        own && ranks &&
        ASK(Group_translate_ranks, group, (word)*size, (word)own, handle_at(&all, 0), (word)ranks) == 0;
    ASK(Group_free, (word)&all);
    free(own);
    if (good)
        return ranks;
    free(ranks);
    return NULL;
}

/* Notes the group of MPI_Win_start or MPI_Win_post. */
static void note_group(struct call *call, unsigned open, unsigned ever)
{
    struct mpiq_record_window *window = call->window;
    int size = 0;
    int *ranks = members_of(window, handle_of(call->arguments[0]), &size);
    arena_lock();
    for (int i = 0; ranks && i < size; i++) {
        struct mpiq_record_window_peer *peer = ranks[i] >= 0 ? peer_of_window(window, ranks[i]) : NULL;
        if (peer)
            peer->flags |= (uint16_t)(open | ever);
    }
    if (!ranks)
        __atomic_or_fetch(&window->flags, MPIQ_RECORD_WINDOW_UNCLEAR, __ATOMIC_RELAXED);
    arena_unlock();
    free(ranks);
}

static void end_group(struct mpiq_record_window *window, unsigned open)
{
    arena_lock();
    replace_flags(window, open, open, 0);
    arena_unlock();
}

/* ---- locks ------------------------------------------------------------------------------------------- */

static void begin_lock(struct call *call, struct mpiq_record_window *window)
{
    bool exclusive = (int32_t)call->arguments[0] == recorder_abi.lock_exclusive;
    if (exclusive)
        call->thread->window_wait |= MPIQ_RECORD_WINDOW_EXCLUSIVE;
    arena_lock();
    struct mpiq_record_window_peer *peer =
        call->entry->peer >= 0 ? peer_of_window(window, call->entry->peer) : NULL;
    if (peer) {
        peer->flags &= (uint16_t) ~(MPIQ_RECORD_PEER_ACCESSED | MPIQ_RECORD_PEER_GRANTED);
        peer->lock = exclusive ? OMPI_MQS_LOCK_EXCLUSIVE : OMPI_MQS_LOCK_SHARED;
        call->thread->window_wait |= MPIQ_RECORD_WINDOW_KNOWN;
    }
    arena_unlock();
}

static bool is_no_check(const struct call *call, unsigned at)
{
    return ((int32_t)call->arguments[at] & recorder_abi.no_check) != 0;
}

static void end_lock(const struct call *call, struct mpiq_record_window *window, bool good)
{
    arena_lock();
    struct mpiq_record_window_peer *peer = peer_find(window, call->entry->peer);
    if (peer && !good)
        peer->lock = OMPI_MQS_LOCK_NONE;
    else if (peer && (peer->peer == window->local_rank || window->flags & MPIQ_RECORD_WINDOW_SHARED))
        peer->flags |= MPIQ_RECORD_PEER_GRANTED;
    arena_unlock();
}

/* Before MPI_Win_unlock or MPI_Win_flush on one target: pending operations need the lock to complete. */
static void begin_completion(struct call *call, struct mpiq_record_window *window, bool unlock)
{
    arena_lock();
    struct mpiq_record_window_peer *peer = peer_find(window, call->entry->peer);
    call->thread->window_wait |= MPIQ_RECORD_WINDOW_KNOWN;
    if (peer && peer->flags & MPIQ_RECORD_PEER_ACCESSED && !(peer->flags & MPIQ_RECORD_PEER_GRANTED))
        call->thread->window_wait |=
            MPIQ_RECORD_WINDOW_LOCK |
            (peer->lock == OMPI_MQS_LOCK_EXCLUSIVE ? MPIQ_RECORD_WINDOW_EXCLUSIVE : 0);
    if (peer && unlock)
        peer->flags &= (uint16_t)~MPIQ_RECORD_PEER_GRANTED;
    arena_unlock();
}

static void end_completion(const struct call *call, struct mpiq_record_window *window, bool unlock)
{
    arena_lock();
    struct mpiq_record_window_peer *peer = peer_find(window, call->entry->peer);
    if (peer && unlock) {
        peer->lock = OMPI_MQS_LOCK_NONE;
        peer->flags &= (uint16_t) ~(MPIQ_RECORD_PEER_ACCESSED | MPIQ_RECORD_PEER_GRANTED);
    } else if (peer && call->thread->window_wait & MPIQ_RECORD_WINDOW_LOCK) {
        peer->flags |= MPIQ_RECORD_PEER_GRANTED;
    }
    arena_unlock();
}

/* ---- collective calls -------------------------------------------------------------------------------- */

/* Sets flags for a collective call; most calls leave them unchanged. */
static void set_flags(struct mpiq_record_window *window, unsigned which, unsigned values)
{
    unsigned differ = (__atomic_load_n(&window->flags, __ATOMIC_RELAXED) ^ values) & which;
    if (differ)
        __atomic_xor_fetch(&window->flags, differ, __ATOMIC_RELAXED);
}

/* Fences on one window never overlap: nobody else writes their number. */
static void count_fence(struct mpiq_record_window *window, int by)
{
    __atomic_store_n(&window->fences, window->fences + (uint64_t)by, __ATOMIC_RELAXED);
}

/*
 * A fence that may end an exposure epoch cannot return before all other members have entered it, because
 * until then they may access this process's memory.  If this process has done nothing since its last fence, a
 * fence can only wait for members that have not entered it, if it waits at all.  What any other fence waits
 * for is unknown.
 */
void window_fence_begins(struct call *call)
{
    struct mpiq_record_window *window = call->window;
    if (!window)
        return;
    int32_t assertion = (int32_t)call->arguments[0];
    unsigned flags = __atomic_load_n(&window->flags, __ATOMIC_RELAXED);
    bool first = window->fences == 0;
    bool no_precede = (assertion & recorder_abi.no_precede) != 0;
    bool ends =
        !first && !no_precede && flags & MPIQ_RECORD_WINDOW_MEMORY && flags & MPIQ_RECORD_WINDOW_EXPOSED;
    bool is_idle = first || no_precede || flags & MPIQ_RECORD_WINDOW_CLOSED;
    set_flags(window, MPIQ_RECORD_WINDOW_SYNCHRONISES, ends ? MPIQ_RECORD_WINDOW_SYNCHRONISES : 0);
    if (ends || is_idle)
        call->thread->window_wait = MPIQ_RECORD_WINDOW_KNOWN;
    count_fence(window, 1);
}

void window_fence_ended(const struct call *call, int result)
{
    struct mpiq_record_window *window = call->window;
    int32_t assertion = (int32_t)call->arguments[0];
    if (!window)
        return;
    if (result != 0) {
        count_fence(window, -1);
        return;
    }
    set_flags(window, MPIQ_RECORD_WINDOW_CLOSED | MPIQ_RECORD_WINDOW_EXPOSED,
              assertion & recorder_abi.no_succeed ? MPIQ_RECORD_WINDOW_CLOSED
              : assertion & recorder_abi.no_put   ? 0
                                                  : MPIQ_RECORD_WINDOW_EXPOSED);
}

/* Another kind of epoch begins.  A library may treat that as the end of the fence epoch, and let its next
   fence wait for nobody. */
static void leave_fences(struct mpiq_record_window *window)
{
    set_flags(window, MPIQ_RECORD_WINDOW_CLOSED | MPIQ_RECORD_WINDOW_EXPOSED, 0);
}

/* MPI_Win_free waits for all members unless "no_locks" is set.  The attribute callbacks that it runs may do
   anything. */
static void begin_free(struct call *call, struct mpiq_record_window *window)
{
    bool no_locks = (window->flags & MPIQ_RECORD_WINDOW_NO_LOCKS) != 0;
    set_flags(window, MPIQ_RECORD_WINDOW_SYNCHRONISES, no_locks ? 0 : MPIQ_RECORD_WINDOW_SYNCHRONISES);
    if (!(window->flags & MPIQ_RECORD_WINDOW_ATTRIBUTES))
        call->thread->window_wait = MPIQ_RECORD_WINDOW_KNOWN;
    window_freeing(window, true);
}

/* ---- calls ------------------------------------------------------------------------------------------- */

void window_before(struct call *call)
{
    struct mpiq_record_window *window = call->window;
    struct mpiq_record_thread *thread = call->thread;
    if (!window)
        return;
    switch ((enum action)call->function->action) {
    case ACTION_WIN_START:
        leave_fences(window);
        note_group(call, MPIQ_RECORD_PEER_STARTED, MPIQ_RECORD_PEER_EVER_STARTED);
        window->access = OMPI_MQS_ACCESS_START;
        if (is_no_check(call, 1))
            __atomic_or_fetch(&window->flags, MPIQ_RECORD_WINDOW_NO_CHECK, __ATOMIC_RELAXED);
        else
            __atomic_and_fetch(&window->flags, ~MPIQ_RECORD_WINDOW_NO_CHECK, __ATOMIC_RELAXED);
        if (!(window->flags & MPIQ_RECORD_WINDOW_NO_CHECK))
            thread->window_wait = MPIQ_RECORD_WINDOW_KNOWN;
        break;
    case ACTION_WIN_POST:
        leave_fences(window);
        note_group(call, MPIQ_RECORD_PEER_POSTED, MPIQ_RECORD_PEER_EVER_POSTED);
        window->exposure = OMPI_MQS_EXPOSURE_POST;
        break;
    case ACTION_WIN_COMPLETE:
        if (!(window->flags & MPIQ_RECORD_WINDOW_NO_CHECK))
            thread->window_wait = MPIQ_RECORD_WINDOW_KNOWN;
        break;
    case ACTION_WIN_WAIT:
        if (window->exposure == OMPI_MQS_EXPOSURE_POST)
            thread->window_wait = MPIQ_RECORD_WINDOW_KNOWN;
        break;
    case ACTION_WIN_LOCK:
        leave_fences(window);
        if (!is_no_check(call, 2))
            begin_lock(call, window);
        break;
    case ACTION_WIN_LOCK_ALL:
        leave_fences(window);
        if (is_no_check(call, 0))
            break;
        __atomic_or_fetch(&window->flags, MPIQ_RECORD_WINDOW_LOCK_ALL, __ATOMIC_RELAXED);
        thread->window_wait = MPIQ_RECORD_WINDOW_KNOWN;
        break;
    case ACTION_WIN_UNLOCK:
    case ACTION_WIN_FLUSH:
        begin_completion(call, window, call->function->action == ACTION_WIN_UNLOCK);
        break;
    case ACTION_WIN_UNLOCK_ALL:
        thread->window_wait = MPIQ_RECORD_WINDOW_KNOWN;
        arena_lock();
        replace_flags(window, MPIQ_RECORD_PEER_GRANTED, MPIQ_RECORD_PEER_GRANTED, 0);
        arena_unlock();
        break;
    case ACTION_WIN_FLUSH_ALL:
        thread->window_wait = MPIQ_RECORD_WINDOW_KNOWN;
        if (recorder_multiple) /* another thread may start operations in between */
            break;
        replace_flags(window, MPIQ_RECORD_PEER_ACCESSED, 0, MPIQ_RECORD_PEER_FLUSHING);
        break;
    case ACTION_WIN_FREE:
        begin_free(call, window);
        break;
    case ACTION_WIN_INFO:
        if (may_say_no_locks(handle_of(ARGUMENT(call, '*'))))
            __atomic_or_fetch(&window->flags, MPIQ_RECORD_WINDOW_NO_LOCKS, __ATOMIC_RELAXED);
        break;
    case ACTION_WIN_ATTRIBUTE:
        __atomic_or_fetch(&window->flags, MPIQ_RECORD_WINDOW_ATTRIBUTES, __ATOMIC_RELAXED);
        break;
    default:
        break;
    }
}

void window_after(struct call *call, int result)
{
    struct mpiq_record_window *window = call->window;
    bool good = result == 0;
    if (!window)
        return;
    switch ((enum action)call->function->action) {
    case ACTION_RMA: {
        struct mpiq_record_window_peer *peer =
            good && call->entry->bytes > 0 ? peer_find(window, call->entry->peer) : NULL;
        bool all = (window->flags & MPIQ_RECORD_WINDOW_LOCK_ALL) != 0;
        if ((peer && (peer->flags & MPIQ_RECORD_PEER_ACCESSED || (peer->lock == 0 && !all))) ||
            (!peer && !(good && all && call->entry->bytes > 0 && call->entry->peer >= 0)))
            break;
        arena_lock();
        peer = peer_of_window(window, call->entry->peer);
        if (peer)
            peer->flags |= MPIQ_RECORD_PEER_ACCESSED;
        arena_unlock();
        break;
    }
    case ACTION_WIN_START:
        if (!good) {
            end_group(window, MPIQ_RECORD_PEER_STARTED);
            window->access = OMPI_MQS_ACCESS_NONE;
        }
        break;
    case ACTION_WIN_COMPLETE:
        if (good) {
            end_group(window, MPIQ_RECORD_PEER_STARTED);
            window->access = OMPI_MQS_ACCESS_NONE;
        }
        break;
    case ACTION_WIN_POST:
        good = !good; /* a post that failed exposes nothing */
        /* fall through */
    case ACTION_WIN_WAIT:
    case ACTION_WIN_TEST:
        if (!good || (call->function->action == ACTION_WIN_TEST && *(const int *)call->arguments[1] == 0))
            break;
        window->exposure = OMPI_MQS_EXPOSURE_NONE;
        end_group(window, MPIQ_RECORD_PEER_POSTED);
        break;
    case ACTION_WIN_LOCK:
        if (call->thread->window_wait & MPIQ_RECORD_WINDOW_KNOWN)
            end_lock(call, window, good);
        break;
    case ACTION_WIN_LOCK_ALL:
        if (!good)
            __atomic_and_fetch(&window->flags, ~MPIQ_RECORD_WINDOW_LOCK_ALL, __ATOMIC_RELAXED);
        break;
    case ACTION_WIN_UNLOCK:
    case ACTION_WIN_FLUSH:
        if (good)
            end_completion(call, window, call->function->action == ACTION_WIN_UNLOCK);
        break;
    case ACTION_WIN_UNLOCK_ALL:
        if (!good)
            break;
        __atomic_and_fetch(&window->flags, ~MPIQ_RECORD_WINDOW_LOCK_ALL, __ATOMIC_RELAXED);
        arena_lock();
        replace_flags(window, MPIQ_RECORD_PEER_ACCESSED, MPIQ_RECORD_PEER_ACCESSED, 0);
        arena_unlock();
        break;
    case ACTION_WIN_FLUSH_ALL:
        replace_flags(window, MPIQ_RECORD_PEER_FLUSHING, MPIQ_RECORD_PEER_FLUSHING,
                      good ? MPIQ_RECORD_PEER_GRANTED : 0);
        break;
    case ACTION_WIN_FREE:
        window_freeing(window, good);
        break;
    default:
        break;
    }
}
