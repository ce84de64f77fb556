/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * remains - records that outlive the process, and how it ended.
 *
 * Under `mpiq run` root and arena lie in a memory file (memfd_create) without a name in any file system.  The
 * process sends its descriptor, with one of the process itself (pidfd_open), through an abstract socket that
 * mpiq run has (MPIQ_REMAINS), and maps it; the file goes with the last of the two.  Without mpiq run, or if
 * anything fails, the records are in anonymous memory.
 *
 * Of an end that the process itself knows of (MPI_Abort, exit, a signal) it keeps the registers and a piece
 * of the stack.  A handler of signals stands before that of the MPI library, or before none: it takes its
 * notes, restores what was there and lets the signal come again, so the process ends as it would have.
 */
#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <ucontext.h>
#include <unistd.h>

#include "recorder.h"

static bool shared;         /* with mpiq run */
static int connection = -1; /* stays open: mpiq run sees it close when the process begins to end */
static pid_t run;           /* mpiq run */

/* ---- the memory file -------------------------------------------------------------------------------------
 */

/* Whether the other end of the socket is mpiq run: that process, of our user. */
static bool is_run(int socket, unsigned pid)
{
    struct ucred peer;
    socklen_t size = sizeof peer;
    return getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 && peer.uid == geteuid() &&
           peer.pid == (pid_t)pid;
}

/* The program may have closed the connection: then the process number says it. */
bool remains_run_lives(void)
{
    struct pollfd end = {.fd = connection, .events = 0};
    if (!shared || (poll(&end, 1, 0) == 1 && end.revents & (POLLHUP | POLLERR)))
        return false;
    return kill(run, 0) == 0 || errno != ESRCH;
}

/* "PID/NAME": mpiq run's socket.  -1: it is not there, or its queue is full. */
static int connect_to_run(void)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    const char *where = getenv("MPIQ_REMAINS");
    unsigned pid;
    char name[64];
    if (!where || sscanf(where, "%u/%63s", &pid, name) != 2)
        return -1;
    int to = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    snprintf(address.sun_path + 1, sizeof address.sun_path - 1, "%s", name);
    socklen_t size = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + strlen(name));
    if (to >= 0 && connect(to, (struct sockaddr *)&address, size) == 0 && is_run(to, pid)) {
        run = (pid_t)pid;
        return to;
    }
    if (to >= 0)
        close(to);
    return -1;
}

static bool send_file(int to, int file, int self)
{
    char byte = 'r';
    struct iovec data = {.iov_base = &byte, .iov_len = 1};
    union {
        struct cmsghdr align;
        char bytes[CMSG_SPACE(2 * sizeof(int))];
    } control;
    memset(&control, 0, sizeof control);
    struct msghdr message = {.msg_iov = &data, .msg_iovlen = 1, .msg_control = &control};
    message.msg_controllen = sizeof control;
    struct cmsghdr *header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(2 * sizeof(int));
    memcpy(CMSG_DATA(header), (const int[]){file, self}, 2 * sizeof(int));
    return sendmsg(to, &message, MSG_NOSIGNAL) == 1;
}

/* A limit on the size of files counts for a memory file as well, and ends who exceeds it. */
static bool may_be_large(size_t size)
{
    struct rlimit limit;
    return getrlimit(RLIMIT_FSIZE, &limit) == 0 && (limit.rlim_cur == RLIM_INFINITY || limit.rlim_cur > size);
}

/* The connection, out of the way of the program's own descriptors. */
static void keep_open(int to)
{
    enum { HIGH = 200 };
    if (to >= 0 && shared)
        connection = fcntl(to, F_DUPFD_CLOEXEC, HIGH);
    if (to >= 0 && (!shared || connection >= 0))
        close(to);
    else
        connection = to;
}

void *remains_map(size_t size)
{
    size_t all = MPIQ_RECORD_FILE_ARENA + size, page = (size_t)sysconf(_SC_PAGESIZE);
    void *root = (void *)&mpiq_record_root, *arena = MAP_FAILED;
    if (page > RECORDER_PAGE || !may_be_large(all))
        return NULL;
    int to = connect_to_run();
    int self = to < 0 ? -1 : (int)syscall(SYS_pidfd_open, getpid(), 0);
    int file = self < 0 ? -1 : memfd_create("mpiq", MFD_CLOEXEC);
    if (file >= 0 && ftruncate(file, (off_t)all) == 0 && send_file(to, file, self))
        arena = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, file,
                     MPIQ_RECORD_FILE_ARENA);
    if (arena != MAP_FAILED && mmap(root, RECORDER_PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file,
                                    MPIQ_RECORD_FILE_ROOT) == MAP_FAILED) {
        munmap(arena, size);
        arena = MAP_FAILED;
    }
    if (file >= 0)
        close(file);
    if (self >= 0)
        close(self);
    shared = arena != MAP_FAILED;
    keep_open(to);
    return shared ? arena : NULL;
}

void remains_forked(void)
{
    int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED;
    if (!shared)
        return;
    shared = false;
    close(connection);
    mmap(recorder_arena, mpiq_record_root.arena_size, PROT_READ | PROT_WRITE, flags, -1, 0);
    mmap((void *)&mpiq_record_root, RECORDER_PAGE, PROT_READ | PROT_WRITE, flags, -1, 0);
}

void remains_begin(void)
{
    static const char *const ranks[] = {"PMIX_RANK", "OMPI_COMM_WORLD_RANK", "PMI_RANK"};
    struct mpiq_record_root *root = &mpiq_record_root;
    root->address = (uintptr_t)root;
    root->parent = (uint32_t)getppid();
    root->started_rank = -1;
    for (unsigned i = 0; i < sizeof ranks / sizeof *ranks && root->started_rank < 0; i++) {
        const char *rank = getenv(ranks[i]);
        if (rank && rank[0] >= '0' && rank[0] <= '9')
            root->started_rank = atoi(rank);
    }
    remains_objects();
}

/* ---- the objects -----------------------------------------------------------------------------------------
 */

struct objects {
    struct mpiq_record_loaded *list;
    uint32_t count;
    uint32_t room;
    unsigned long long loaded; /* so far, those that have gone included */
};

static void read_build_id(const unsigned char *notes, size_t size, struct mpiq_record_loaded *ret)
{
    while (size >= sizeof(ElfW(Nhdr))) {
        const ElfW(Nhdr) *note = (const void *)notes;
        size_t name = (note->n_namesz + 3u) & ~3u, description = (note->n_descsz + 3u) & ~3u;
        size_t whole = sizeof *note + name + description;
        if (whole > size)
            return;
        if (note->n_type == NT_GNU_BUILD_ID && note->n_namesz == 4 &&
            note->n_descsz <= MPIQ_RECORD_BUILD_ID && memcmp(note + 1, "GNU", 4) == 0) {
            ret->build_id_size = note->n_descsz;
            memcpy(ret->build_id, (const unsigned char *)(note + 1) + name, note->n_descsz);
            return;
        }
        notes += whole;
        size -= whole;
    }
}

/* As the system calls it, which is not as it was asked for. */
static uint32_t path_of(const char *name)
{
    static char path[4097];
    ssize_t length;
    if (name[0]) {
        if (!realpath(name, path))
            return 0;
    } else {
        length = readlink("/proc/self/exe", path, sizeof path - 1);
        path[length < 0 ? 0 : length] = '\0';
    }
    char *copy = path[0] ? arena_allocate(strlen(path) + 1) : NULL;
    if (copy)
        memcpy(copy, path, strlen(path) + 1);
    return arena_offset(copy);
}

static int count_object(struct dl_phdr_info *info, size_t size, void *argument)
{
    struct objects *objects = argument;
    (void)size;
    objects->room++;
    objects->loaded = info->dlpi_adds;
    return 0;
}

static int note_object(struct dl_phdr_info *info, size_t size, void *argument)
{
    struct objects *objects = argument;
    uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
    struct mpiq_record_loaded *object = &objects->list[objects->count];
    (void)size;
    if (objects->count == objects->room)
        return 1;
    *object = (struct mpiq_record_loaded){.start = UINT64_MAX};
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
        uint64_t at = info->dlpi_addr + segment->p_vaddr;
        if (segment->p_type == PT_LOAD && (at & ~(page - 1)) < object->start)
            object->start = at & ~(page - 1);
        if (segment->p_type == PT_LOAD && at + segment->p_memsz > object->end)
            object->end = at + segment->p_memsz;
        if (segment->p_type == PT_NOTE && object->build_id_size == 0)
            read_build_id((const unsigned char *)(uintptr_t)at, segment->p_memsz, object);
    }
    if (object->end <= object->start || (!info->dlpi_name[0] && objects->count > 0))
        return 0;
    object->path = path_of(info->dlpi_name);
    objects->count += object->path != 0;
    return 0;
}

void remains_objects(void)
{
    static unsigned long long noted;
    struct objects objects = {.list = NULL};
    if (!shared)
        return;
    dl_iterate_phdr(count_object, &objects);
    if (objects.loaded == noted || objects.room > MPIQ_RECORD_MAX_LOADED)
        return;
    objects.list = arena_allocate((objects.room + 1) * sizeof *objects.list);
    if (!objects.list)
        return;
    noted = objects.loaded;
    dl_iterate_phdr(note_object, &objects);
    mpiq_record_root.loaded_count = 0;
    mpiq_record_root.loaded = arena_offset(objects.list);
    mpiq_record_root.loaded_count = objects.count;
}

/* ---- the end ---------------------------------------------------------------------------------------------
 */

static void copy_registers(const ucontext_t *context, struct mpiq_record_end *end)
{
#if defined __x86_64__ && defined __GLIBC__
    static const int order[] = {REG_R15, REG_R14, REG_R13, REG_R12, REG_RBP, REG_RBX, REG_R11,
                                REG_R10, REG_R9,  REG_R8,  REG_RAX, REG_RCX, REG_RDX, REG_RSI,
                                REG_RDI, -1,      REG_RIP, -1,      REG_EFL, REG_RSP};
    for (unsigned i = 0; i < sizeof order / sizeof *order; i++)
        end->registers[i] = order[i] < 0 ? 0 : (uint64_t)context->uc_mcontext.gregs[order[i]];
    end->register_count = 27;
    end->stack_address = end->registers[19];
#elif defined __aarch64__
    memcpy(end->registers, context->uc_mcontext.regs, sizeof context->uc_mcontext.regs);
    end->registers[31] = context->uc_mcontext.sp;
    end->registers[32] = context->uc_mcontext.pc;
    end->register_count = 34;
    end->stack_address = context->uc_mcontext.sp;
#else
    (void)context, (void)end;
#endif
}

/* As much as there is: the kernel copies, which sees where the stack ends. */
static void copy_stack(struct mpiq_record_end *end)
{
    enum { PIECE = 4096, PIECES = MPIQ_RECORD_STACK / PIECE };
    struct iovec from[PIECES];
    if (!end->register_count || !arena_try_lock())
        return;
    static void *copy; /* an end may be survived: the next one has the same room */
    copy = copy ? copy : arena_allocate_locked(MPIQ_RECORD_STACK);
    arena_unlock();
    if (!copy)
        return;
    end->stack_size = 0;
    uint64_t at = end->stack_address;
    for (int i = 0; i < PIECES; i++) {
        size_t length = PIECE - at % PIECE;
        from[i] = (struct iovec){.iov_base = (void *)(uintptr_t)at, .iov_len = length};
        at += length;
    }
    struct iovec to = {.iov_base = copy, .iov_len = MPIQ_RECORD_STACK};
    long got = syscall(SYS_process_vm_readv, getpid(), &to, 1, from, PIECES, 0);
    if (got <= 0)
        return;
    end->stack_size = (uint32_t)got;
    end->stack = arena_offset(copy);
}

static bool may_be_survived(uint32_t kind)
{
    return kind == MPIQ_RECORD_END_NONE || kind == MPIQ_RECORD_END_SIGNAL || kind == MPIQ_RECORD_END_ERROR;
}

/* The first end is the one, but for those that may have been survived. */
static bool takes_note(struct mpiq_record_end *end)
{
    uint32_t kind = __atomic_load_n(&end->kind, __ATOMIC_ACQUIRE);
    uint32_t phase = mpiq_record_root.phase;
    bool running = phase >= OMPI_MQS_PHASE_INITIALIZING && phase <= OMPI_MQS_PHASE_FINALIZING;
    if (!shared || !running || !may_be_survived(kind))
        return false;
    return __atomic_compare_exchange_n(&end->kind, &kind, MPIQ_RECORD_END_BUSY, false, __ATOMIC_ACQ_REL,
                                       __ATOMIC_ACQUIRE);
}

/* Safe in a signal handler. */
static void note_end(enum mpiq_record_end_kind kind, int code, const ucontext_t *context)
{
    struct mpiq_record_end *end = &mpiq_record_root.end;
    if (!takes_note(end))
        return;
    end->code = code;
    end->cycles = clock_cycles();
    end->tid = (uint32_t)syscall(SYS_gettid);
    copy_registers(context, end);
    copy_stack(end);
    __atomic_store_n(&end->kind, (uint32_t)kind, __ATOMIC_RELEASE);
}

static void note_end_here(enum mpiq_record_end_kind kind, int code)
{
    ucontext_t context;
    int before = errno;
    if (shared && recorder_active && getcontext(&context) == 0) {
        remains_objects();
        clock_note(&mpiq_record_root.last);
        note_end(kind, code, &context);
    }
    errno = before;
}

void remains_abort(int code)
{
    note_end_here(MPIQ_RECORD_END_ABORT, code);
}

/* ---- errors ----------------------------------------------------------------------------------------------
 */

static bool is_in(const void *address, const char *beginning)
{
    Dl_info where;
    if (!dladdr(address, &where) || !where.dli_fname)
        return false;
    const char *slash = strrchr(where.dli_fname, '/');
    return strncmp(slash ? slash + 1 : where.dli_fname, beginning, strlen(beginning)) == 0;
}

/* By the names of the objects that Open MPI and MPICH come in, with PMIx and UCX. */
static bool is_of_mpi(const void *address)
{
    static const char *const names[] = {"libmpi", "libopen-", "mca_", "libpmix", "libuc"};
    bool found = false;
    for (unsigned i = 0; i < sizeof names / sizeof *names && !found; i++)
        found = is_in(address, names[i]);
    return found;
}

/*
 * MPICH's functions call these, wherever they are defined, with an error that they are about to return: what
 * comes back has been dealt with by an error handler.  It ends a process by having others kill it, so that
 * nothing is seen of an exit.
 */
static word return_error(const char *name, const word *a)
{
    struct mpiq_record_end *end = &mpiq_record_root.end;
    mpi_function *next = next_definition(name);
    uint32_t noted = MPIQ_RECORD_END_ERROR;
    if (recorder_self.depth > 0)
        note_end_here(MPIQ_RECORD_END_ERROR, (int)a[2]);
    word result = next ? go(next, a) : a[2];
    __atomic_compare_exchange_n(&end->kind, &noted, MPIQ_RECORD_END_NONE, false, __ATOMIC_ACQ_REL,
                                __ATOMIC_ACQUIRE);
    return result;
}

#define RETURNS(name)                                                                 \
    __attribute__((visibility("default"))) word name(word a, word b, word c, word d); \
    word name(word a, word b, word c, word d)                                         \
    {                                                                                 \
        return return_error(#name, (const word[WORDS]){a, b, c, d});                  \
    }

RETURNS(MPIR_Err_return_comm)
RETURNS(MPIR_Err_return_win)

/* ---- signals ---------------------------------------------------------------------------------------------
 */

static const int watched[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};
enum { WATCHED = sizeof watched / sizeof *watched };
static struct sigaction before[WATCHED];

static void on_signal(int number, siginfo_t *info, void *context)
{
    int kept = errno;
    for (int i = 0; i < WATCHED; i++) {
        if (watched[i] == number)
            sigaction(number, &before[i], NULL);
    }
    if ((pid_t)mpiq_record_root.pid == getpid())
        note_end(MPIQ_RECORD_END_SIGNAL, number, context);
    /* What the processor raised comes again by itself. */
    if (info->si_code <= 0)
        syscall(SYS_tgkill, getpid(), syscall(SYS_gettid), number);
    errno = kept;
}

/* Whether that is the MPI library's handler, which tells of the signal and ends the process, or none. */
static bool may_stand_before(const struct sigaction *action)
{
    const void *address = NULL;
    if (action->sa_flags & SA_SIGINFO)
        memcpy(&address, &action->sa_sigaction, sizeof address);
    else if (action->sa_handler == SIG_DFL || action->sa_handler == SIG_IGN)
        return action->sa_handler == SIG_DFL;
    else
        memcpy(&address, &action->sa_handler, sizeof address);
    return is_of_mpi(address) || is_in(address, "libgfortran");
}

void remains_watch_signals(void)
{
    for (int i = 0; shared && i < WATCHED; i++) {
        if (sigaction(watched[i], NULL, &before[i]) < 0 || !may_stand_before(&before[i]))
            continue;
        struct sigaction action = {.sa_sigaction = on_signal, .sa_mask = before[i].sa_mask};
        action.sa_flags = SA_SIGINFO | (before[i].sa_flags & SA_ONSTACK);
        sigaction(watched[i], &action, NULL);
    }
}

/* ---- exit ------------------------------------------------------------------------------------------------
 */

#define EXPORT __attribute__((visibility("default"), noreturn))

typedef void ending(int);

enum { EXIT, EXIT_NOW, EXIT_C99, EXIT_QUICKLY, EXITS };
static const char *const names[EXITS] = {"exit", "_exit", "_Exit", "quick_exit"};
static ending *nexts[EXITS];

static ending *next_of(int which)
{
    if (!nexts[which]) {
        void *found = dlsym(RTLD_NEXT, names[which]);
        memcpy(&nexts[which], &found, sizeof found);
    }
    return nexts[which];
}

/* Early: a forked child may call them where dlsym would wait for a lock of its parent's. */
__attribute__((constructor)) static void find_exits(void)
{
    for (int i = 0; i < EXITS; i++)
        next_of(i);
}

/* By the library, inside a call: Open MPI's fatal error handlers exit with the error's class. */
__attribute__((noreturn)) static void end_by(int which, int status, const void *caller)
{
    ending *next = next_of(which);
    if ((pid_t)mpiq_record_root.pid == getpid())
        note_end_here(recorder_self.depth > 0 && is_of_mpi(caller) ? MPIQ_RECORD_END_ERROR
                                                                   : MPIQ_RECORD_END_EXIT,
                      status);
    if (next)
        next(status);
    for (;;)
        syscall(SYS_exit_group, status);
}

#define ENDS(name, which)                                   \
    EXPORT void name(int status);                           \
    void name(int status)                                   \
    {                                                       \
        end_by(which, status, __builtin_return_address(0)); \
    }

ENDS(exit, EXIT)
ENDS(_exit, EXIT_NOW)
ENDS(_Exit, EXIT_C99)
ENDS(quick_exit, EXIT_QUICKLY)
