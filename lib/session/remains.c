/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * remains - what is left of ranks that have ended: mpiq_remains_ of mpiq.h.
 *
 * The recorder of each rank sends a memory file with its records, and a descriptor of its process, through an
 * abstract socket (recorder/remains.c).  An epoll instance keeps the order in which processes end, however
 * late it is asked.  How one ended the kernel says: to all who have such a descriptor since Linux 6.15,
 * before only as long as nobody has taken its status.
 */
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/proc.h"
#include "mpiq.h"
#include "rank/identity.h"
#include "session/job.h"
#include "session/remains_core.h"
#include "session/remains_item.h"

/* What an event of the epoll instance is about: an item, or one of these. */
#define LISTENER UINT64_MAX
#define GREETING (UINT64_C(1) << 32) /* with the descriptor of a connection */
#define CLOSED (UINT64_C(1) << 33)   /* with an item */

struct remain {
    int file;          /* the records; -1: given back */
    int process;       /* -1: given back */
    int connection;    /* closes when the process begins to end; -1: it has */
    int64_t closed_ns; /* when; 0 */
    pid_t pid;
    bool ended;
    int status;    /* as of waitpid; -1 not known */
    int64_t at_ns; /* when it was seen to end */
};

struct mpiq_remains {
    int listener;
    int epoll;
    char address[64]; /* as MPIQ_REMAINS has it */
    struct remain *items;
    size_t count;
    size_t capacity;
};

struct mpiq_error *mpiq_remains_create(struct mpiq_remains **ret)
{
    struct mpiq_remains *remains = calloc(1, sizeof *remains);
    if (!remains)
        return mpiq_error_no_memory();
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    uint64_t chance[2] = {0};
    char name[40];
    (void)!getrandom(chance, sizeof chance, 0);
    int length = snprintf(name, sizeof name, "mpiq-%016" PRIx64 "%016" PRIx64, chance[0], chance[1]);
    memcpy(address.sun_path + 1, name, (size_t)length);
    snprintf(remains->address, sizeof remains->address, "%d/%s", (int)getpid(), name);
    struct epoll_event event = {.events = EPOLLIN, .data.u64 = LISTENER};
    remains->epoll = epoll_create1(EPOLL_CLOEXEC);
    remains->listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (remains->epoll < 0 || remains->listener < 0 ||
        bind(remains->listener, (struct sockaddr *)&address,
             (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)length)) < 0 ||
        listen(remains->listener, 4096) < 0 ||
        epoll_ctl(remains->epoll, EPOLL_CTL_ADD, remains->listener, &event) < 0) {
        struct mpiq_error *error = mpiq_error_create_os(errno, "cannot wait for ranks");
        mpiq_remains_destroy(remains);
        return error;
    }
    *ret = remains;
    return NULL;
}

const char *mpiq_remains_address(const struct mpiq_remains *remains)
{
    return remains->address;
}

int mpiq_remains_descriptor(const struct mpiq_remains *remains)
{
    return remains->epoll;
}

static void give_back(struct remain *remain)
{
    if (remain->file >= 0)
        close(remain->file);
    if (remain->process >= 0)
        close(remain->process);
    if (remain->connection >= 0)
        close(remain->connection);
    remain->file = remain->process = remain->connection = -1;
}

void mpiq_remains_destroy(struct mpiq_remains *remains)
{
    if (!remains)
        return;
    for (size_t i = 0; i < remains->count; i++)
        give_back(&remains->items[i]);
    if (remains->listener >= 0)
        close(remains->listener);
    if (remains->epoll >= 0)
        close(remains->epoll);
    free(remains->items);
    free(remains);
}

bool mpiq_remains_item(const struct mpiq_remains *remains, size_t index, struct mpiq_remains_item *ret)
{
    if (index >= remains->count)
        return false;
    const struct remain *remain = &remains->items[index];
    *ret = (struct mpiq_remains_item){.file = remain->file, .pid = remain->pid, .ended = remain->ended};
    return true;
}

/* ---- those who come --------------------------------------------------------------------------------------
 */

/* The two descriptors, of a process of ours. */
static bool receive(int connection, struct remain *ret)
{
    struct ucred peer;
    socklen_t size = sizeof peer;
    char byte;
    struct iovec data = {.iov_base = &byte, .iov_len = 1};
    union {
        struct cmsghdr align;
        char bytes[CMSG_SPACE(2 * sizeof(int))];
    } control;
    struct msghdr message = {
        .msg_iov = &data, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control};
    if (getsockopt(connection, SOL_SOCKET, SO_PEERCRED, &peer, &size) < 0 || peer.uid != geteuid() ||
        recvmsg(connection, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC) <= 0)
        return false;
    struct cmsghdr *header = CMSG_FIRSTHDR(&message);
    if (!header || header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_RIGHTS)
        return false;
    int descriptors[2] = {-1, -1};
    size_t bytes = header->cmsg_len - CMSG_LEN(0);
    memcpy(descriptors, CMSG_DATA(header), bytes < sizeof descriptors ? bytes : sizeof descriptors);
    *ret = (struct remain){.file = descriptors[0],
                           .process = descriptors[1],
                           .connection = connection,
                           .pid = peer.pid,
                           .status = -1};
    if (descriptors[1] >= 0)
        return true;
    give_back(ret);
    return false;
}

static void keep(struct mpiq_remains *remains, int connection)
{
    struct remain remain;
    struct epoll_event ended = {.events = EPOLLIN, .data.u64 = remains->count};
    struct epoll_event closed = {.events = EPOLLRDHUP, .data.u64 = CLOSED | remains->count};
    if (!receive(connection, &remain)) {
        close(connection);
        return;
    }
    if (mpiq_array_reserve(&remains->items, &remains->capacity, remains->count + 1) &&
        epoll_ctl(remains->epoll, EPOLL_CTL_MOD, connection, &closed) == 0 &&
        epoll_ctl(remains->epoll, EPOLL_CTL_ADD, remain.process, &ended) == 0)
        remains->items[remains->count++] = remain;
    else
        give_back(&remain);
}

static void take_in(struct mpiq_remains *remains)
{
    int connection;
    while ((connection = accept4(remains->listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK)) >= 0) {
        struct epoll_event event = {.events = EPOLLIN, .data.u64 = GREETING | (unsigned)connection};
        if (epoll_ctl(remains->epoll, EPOLL_CTL_ADD, connection, &event) < 0)
            close(connection);
    }
    if (errno == EAGAIN || errno == EINTR || errno == ECONNABORTED)
        return;
    close(remains->listener); /* no descriptors are left: later ranks keep their records to themselves */
    remains->listener = -1;
}

/* ---- those who go ----------------------------------------------------------------------------------------
 */

/* struct pidfd_info of Linux 6.13 and later. */
struct process_information {
    uint64_t mask;
    uint64_t cgroup;
    uint32_t ids[11];
    int32_t status;
};
#define WITH_STATUS 8u
#define GET_INFORMATION _IOWR(0xff, 11, struct process_information)

static void ask_status(struct remain *remain)
{
    struct process_information information = {.mask = WITH_STATUS};
    if (remain->status < 0 && remain->ended && remain->process >= 0 &&
        ioctl(remain->process, GET_INFORMATION, &information) == 0 && information.mask & WITH_STATUS)
        remain->status = information.status;
}

/* What a world has left that came to a good end is of no use. */
static void tidy(struct mpiq_remains *remains)
{
    for (size_t i = 0; i < remains->count; i++) {
        struct mpiq_record_root root;
        struct remain *remain = &remains->items[i];
        if (remain->file < 0)
            continue;
        ask_status(remain);
        if (!remain->ended || !mpiq_remains_root(remain->file, &root) ||
            root.phase != OMPI_MQS_PHASE_FINALIZED || remain->status > 0)
            return;
    }
    for (size_t i = 0; i < remains->count; i++)
        give_back(&remains->items[i]);
}

static void note_closed(struct mpiq_remains *remains, struct remain *remain)
{
    epoll_ctl(remains->epoll, EPOLL_CTL_DEL, remain->connection, NULL);
    remain->closed_ns = mpiq_now_ns();
    close(remain->connection);
    remain->connection = -1;
}

/* A launcher may know of an end, and end others, before the kernel says that the process is no more: what
   counts is when its connection closed, unless the program did that long before. */
static void note_end(struct mpiq_remains *remains, struct remain *remain)
{
    const int64_t long_before = 2000000000;
    int64_t now = mpiq_now_ns();
    remain->status = mpiq_proc_wait_status(remain->pid);
    remain->ended = true;
    remain->at_ns = remain->closed_ns > now - long_before ? remain->closed_ns : now;
    epoll_ctl(remains->epoll, EPOLL_CTL_DEL, remain->process, NULL);
}

void mpiq_remains_take(struct mpiq_remains *remains)
{
    struct epoll_event events[64];
    int count;
    bool gone = false;
    while ((count = epoll_wait(remains->epoll, events, sizeof events / sizeof *events, 0)) > 0) {
        for (int i = 0; i < count; i++) {
            uint64_t which = events[i].data.u64;
            if (which == LISTENER) {
                take_in(remains);
                continue;
            }
            if (which & GREETING) {
                keep(remains, (int)(which & ~GREETING));
                continue;
            }
            if (which & CLOSED)
                note_closed(remains, &remains->items[which & ~CLOSED]);
            else
                note_end(remains, &remains->items[which]);
            gone = true;
        }
    }
    if (gone)
        tidy(remains);
}

/* ---- the look --------------------------------------------------------------------------------------------
 */

/* One whose process has ended, or that belongs to such ones. */
struct candidate {
    struct remain *remain;
    struct mpiq_record_root root;
    struct mpiq_core_end end;
};

static int64_t time_of(const struct mpiq_record_root *root, uint64_t cycles)
{
    const struct mpiq_record_moment *a = &root->first, *b = &root->last;
    if (b->cycles <= a->cycles || b->ns <= a->ns)
        return (int64_t)b->ns;
    double scale = (double)(b->ns - a->ns) / (double)(b->cycles - a->cycles);
    return (int64_t)b->ns + (int64_t)((double)(int64_t)(cycles - b->cycles) * scale);
}

static void describe_end(struct candidate *candidate)
{
    static const uint8_t kinds[] = {[MPIQ_RECORD_END_ABORT] = MPIQ_CORE_END_ABORT,
                                    [MPIQ_RECORD_END_EXIT] = MPIQ_CORE_END_EXIT,
                                    [MPIQ_RECORD_END_ERROR] = MPIQ_CORE_END_ERROR,
                                    [MPIQ_RECORD_END_SIGNAL] = MPIQ_CORE_END_SIGNAL};
    struct remain *remain = candidate->remain;
    const struct mpiq_record_end *noted = &candidate->root.end;
    struct mpiq_core_end *end = &candidate->end;
    ask_status(remain);
    bool by_signal = remain->status >= 0 && WIFSIGNALED(remain->status);
    *end = (struct mpiq_core_end){.kind = remain->ended ? MPIQ_CORE_END_UNKNOWN : MPIQ_CORE_END_LIVES,
                                  .at_ns = remain->at_ns,
                                  .rank = candidate->root.started_rank};
    if (remain->ended && remain->status >= 0) {
        end->kind = by_signal ? MPIQ_CORE_END_SIGNAL : MPIQ_CORE_END_EXIT;
        end->code = by_signal ? WTERMSIG(remain->status) : WEXITSTATUS(remain->status);
    }
    /* A handler may have survived the signal, and ended otherwise. */
    bool survived =
        noted->kind == MPIQ_RECORD_END_SIGNAL &&
        (!remain->ended || (remain->status >= 0 && !(by_signal && WTERMSIG(remain->status) == noted->code)));
    if (noted->kind <= MPIQ_RECORD_END_BUSY || noted->kind > MPIQ_RECORD_END_SIGNAL || survived)
        return;
    end->kind = kinds[noted->kind];
    end->code = noted->code;
    end->at_ns = time_of(&candidate->root, noted->cycles);
}

static bool is_bad(const struct candidate *candidate)
{
    bool failed = candidate->end.kind == MPIQ_CORE_END_SIGNAL ||
                  (candidate->end.kind == MPIQ_CORE_END_EXIT && candidate->end.code != 0);
    return candidate->end.kind != MPIQ_CORE_END_LIVES &&
           (candidate->root.phase != OMPI_MQS_PHASE_FINALIZED || failed);
}

/* Of one launch: with one namespace, or without any the same parent. */
static bool is_same_job(const struct mpiq_record_root *a, const struct mpiq_record_root *b)
{
    return strcmp(a->nspace, b->nspace) == 0 && (a->nspace[0] || a->parent == b->parent);
}

static int by_time(const void *left, const void *right)
{
    const struct candidate *a = left, *b = right;
    return a->end.at_ns != b->end.at_ns ? (a->end.at_ns < b->end.at_ns ? -1 : 1)
                                        : (a->remain > b->remain) - (a->remain < b->remain);
}

/* The job that ended badly last, in the order of ends; the caller frees. */
static size_t choose(struct mpiq_remains *remains, struct candidate **ret)
{
    struct candidate *all = calloc(remains->count + 1, sizeof *all);
    const struct candidate *last = NULL;
    size_t count = 0, kept = 0;
    for (size_t i = 0; all && i < remains->count; i++) {
        struct candidate *candidate = &all[count];
        candidate->remain = &remains->items[i];
        if (candidate->remain->file < 0 || !mpiq_remains_root(candidate->remain->file, &candidate->root))
            continue;
        describe_end(candidate);
        last = is_bad(candidate) ? candidate : last;
        count++;
    }
    struct mpiq_record_root chosen = last ? last->root : (struct mpiq_record_root){.pid = 0};
    for (size_t i = 0; last && i < count; i++) {
        if (is_same_job(&all[i].root, &chosen))
            all[kept++] = all[i];
    }
    if (kept > 0)
        qsort(all, kept, sizeof *all, by_time);
    *ret = all;
    return kept;
}

static bool any_lives(const struct candidate *candidates, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (candidates[i].end.kind == MPIQ_CORE_END_LIVES)
            return true;
    }
    return false;
}

/* A launcher may end before all of its ranks have. */
static size_t choose_ended(struct mpiq_remains *remains, struct candidate **ret)
{
    enum { STEPS = 40, STEP_MS = 50 };
    struct candidate *chosen = NULL;
    size_t count = 0;
    for (int i = 0; i < STEPS; i++) {
        free(chosen);
        mpiq_remains_take(remains);
        count = choose(remains, &chosen);
        if (!any_lives(chosen, count))
            break;
        poll(&(struct pollfd){.fd = remains->epoll, .events = POLLIN}, 1, STEP_MS);
    }
    *ret = chosen;
    return count;
}

struct mpiq_error *mpiq_remains_look(struct mpiq_remains *remains, const struct mpiq_options *given,
                                     struct mpiq_job **ret)
{
    struct candidate *chosen _cleanup_free_ = NULL;
    size_t count = choose_ended(remains, &chosen);
    if (!chosen)
        return mpiq_error_no_memory();
    if (count == 0)
        return mpiq_error_create(MPIQ_ERROR_NOT_FOUND, "no rank left records");
    const char **targets _cleanup_free_ = calloc(count, sizeof *targets);
    char(*paths)[48] _cleanup_free_ = calloc(count, sizeof *paths);
    struct mpiq_error *error = targets && paths ? NULL : mpiq_error_no_memory();
    for (size_t i = 0; i < count && !error; i++) {
        chosen[i].end.order = (uint32_t)i + 1;
        error = mpiq_remains_make_core(chosen[i].remain->file, &chosen[i].root, &chosen[i].end);
        snprintf(paths[i], sizeof *paths, "/proc/%d/fd/%d", (int)getpid(), chosen[i].remain->file);
        targets[i] = paths[i];
    }
    struct mpiq_options options = mpiq_options_known(given);
    options.targets = targets;
    options.target_count = count;
    return error ? error : mpiq_job_look(&options, ret);
}
