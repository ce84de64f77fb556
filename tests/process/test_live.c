/* SPDX-License-Identifier: BSD-3-Clause */
/* A running process: read, unwound, and none the worse for it.  test_live SUBJECT */
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "suite.h"
#include "support.h"
#include "process/object.h"
#include "process/permission.h"
#include "base/proc.h"
#include "process/mappings.h"
#include "wait_until.h"

static const char *path;

static struct mpiq_target *open_live(pid_t pid, bool stop)
{
    struct mpiq_target *target = NULL;
    CHECK_OK(mpiq_target_live_create(pid, stop, &target));
    if (!target)
        abort();
    return target;
}

static char state_of(pid_t pid)
{
    struct mpiq_proc_stat stat = {.state = '-'};
    mpiq_error_destroy(mpiq_proc_stat(pid, 0, &stat));
    return stat.state;
}

static long counter_of(struct mpiq_target *target)
{
    uint64_t address = 0;
    long counter = -1;
    CHECK_OK(mpiq_target_find_symbol(target, "subject_counter", &address));
    CHECK_OK(mpiq_target_read(target, address, sizeof counter, &counter));
    return counter;
}

/* What the last of its threads has used of the processors, in nanoseconds. */
static uint64_t time_of_last(struct mpiq_target *target)
{
    struct mpiq_target_thread *threads = NULL;
    size_t count = 0;
    CHECK_OK(mpiq_target_threads(target, &threads, &count));
    uint64_t ns = count > 0 ? threads[count - 1].cpu_ns : 0;
    free(threads);
    return ns;
}

/* It runs: its counter moves. */
static void check_runs(pid_t pid)
{
    struct mpiq_target *target = open_live(pid, false);
    long before = counter_of(target), after = before;
    WAIT_UNTIL((after = counter_of(target)) != before);
    CU_ASSERT_NOT_EQUAL(before, after);
    CU_ASSERT_EQUAL(mpiq_proc_status_number(pid, "TracerPid"), 0);
    mpiq_target_destroy(target);
}

static void everything_is_read_on_the_run(void)
{
    struct subject subject = subject_start(path, "wait");
    struct mpiq_target *target = open_live(subject.pid, false);
    for (int look = 0; look < 3; look++) {
        check_memory_and_symbols(target, &subject);
        check_types(target);
        check_stack(target, &subject);
        mpiq_target_forget(target);
    }
    mpiq_target_destroy(target);
    check_runs(subject.pid);
    subject_end(&subject);
}

static void status_and_threads_are_told(void)
{
    struct subject subject = subject_start(path, "count");
    struct mpiq_target *target = open_live(subject.pid, false);
    struct mpiq_target_status status = {0};
    CHECK_OK(mpiq_target_status(target, &status));
    CU_ASSERT_EQUAL(status.pid, subject.pid);
    CU_ASSERT_FALSE(status.core);
    CU_ASSERT_FALSE(status.traced);
    CU_ASSERT_EQUAL(status.uid, getuid());
    CU_ASSERT_STRING_EQUAL(status.executable, path);
    CU_ASSERT(status.host[0] != '\0');

    struct mpiq_target_thread *threads = NULL;
    size_t count = 0;
    CHECK_OK(mpiq_target_threads(target, &threads, &count));
    CU_ASSERT_EQUAL(count, 3);
    uint64_t spent = 0;
    for (size_t i = 0; i < count; i++) {
        CU_ASSERT_STRING_EQUAL(threads[i].name, "subject");
        if (threads[i].tid == subject.waiting)
            CU_ASSERT_EQUAL(threads[i].state, 'S');
        if (threads[i].tid == subject.spinning) {
            CU_ASSERT_EQUAL(threads[i].state, 'R');
            spent = threads[i].cpu_ns;
        }
    }
    free(threads);
    /* Time goes on being spent, to less than a clock tick. */
    uint64_t later = spent;
    WAIT_UNTIL((later = time_of_last(target)) != spent);
    CU_ASSERT(later > spent);
    mpiq_target_destroy(target);
    subject_end(&subject);
}

static void processes_of_one_program_share_its_objects(void)
{
    static const char *const symbols[] = {"main", NULL};
    struct subject subjects[2];
    struct mpiq_target *targets[2] = {NULL, NULL};
    struct mpiq_target_object *lists[2] = {NULL, NULL};
    size_t counts[2] = {0, 0};
    for (int i = 0; i < 2; i++) {
        subjects[i] = subject_start(path, "wait");
        CHECK_OK(mpiq_target_live_create(subjects[i].pid, false, &targets[i]));
        CHECK_OK(mpiq_target_objects(targets[i], symbols, &lists[i], &counts[i]));
    }
    CU_ASSERT(counts[0] > 1);
    CU_ASSERT_EQUAL(counts[0], counts[1]);
    for (size_t i = 0; i < counts[0] && i < counts[1]; i++) {
        CU_ASSERT(lists[0][i].id != 0);
        CU_ASSERT_EQUAL(lists[0][i].id, lists[1][i].id);
        CU_ASSERT_PTR_EQUAL(lists[0][i].needs, lists[1][i].needs);
        for (size_t j = 0; j < i; j++)
            CU_ASSERT(lists[0][i].id != lists[0][j].id);
    }
    for (int i = 0; i < 2; i++) {
        free(lists[i]);
        mpiq_target_destroy(targets[i]);
        subject_end(&subjects[i]);
    }
}

static void what_is_not_mapped_is_named(void)
{
    struct subject subject = subject_start(path, "wait");
    struct mpiq_target *target = open_live(subject.pid, false);
    struct mpiq_mappings mappings;
    CHECK_OK(mpiq_proc_mappings(subject.pid, &mappings));
    /* The end of the stack's mapping: a read across it is short, and says from where. */
    uint64_t end = 0;
    for (size_t i = 0; i < mappings.count; i++) {
        if (strcmp(mappings.items[i].path, "[stack]") == 0)
            end = mappings.items[i].end;
    }
    mpiq_mappings_deinit(&mappings);
    char bytes[64];
    CHECK_OK(mpiq_target_read(target, end - 32, 32, bytes));
    struct mpiq_error *error = mpiq_target_read(target, end - 32, 64, bytes);
    CU_ASSERT(error && error->code == MPIQ_ERROR_SHORT && error->address == end);
    mpiq_error_destroy(error);
    error = mpiq_target_read(target, 0, 64, bytes);
    CU_ASSERT(error && error->code == MPIQ_ERROR_UNMAPPED && error->address == 0);
    mpiq_error_destroy(error);
    CHECK_ERROR(mpiq_target_read(target, UINT64_MAX - 3, 64, bytes), MPIQ_ERROR_UNMAPPED,
                "0xfffffffffffffffc");
    CHECK_ERROR(mpiq_target_read(target, UINT64_C(0xffff800000000000), 64, bytes), MPIQ_ERROR_UNMAPPED,
                "no memory");
    CHECK_OK(mpiq_target_read(target, 0, 0, NULL));
    mpiq_target_destroy(target);
    subject_end(&subject);
}

static void freezing_stops_all_and_ends_with_the_target(void)
{
    struct subject subject = subject_start(path, "count");
    struct mpiq_target *target = open_live(subject.pid, true);
    long before = counter_of(target);
    usleep(20000);
    CU_ASSERT_EQUAL(counter_of(target), before);
    struct mpiq_target_stack stack = {0};
    CHECK_OK(mpiq_target_stack(target, subject.spinning, &stack));
    bool found = false;
    for (size_t i = 0; i < stack.count; i++)
        found =
            found || (stack.frames[i].function && strcmp(stack.frames[i].function, "spin_in_thread") == 0);
    CU_ASSERT_TRUE(found);
    mpiq_target_stack_deinit(&stack);
    CHECK_ERROR(mpiq_target_stack(target, getpid(), &stack), MPIQ_ERROR_GONE, "has ended");
    mpiq_target_destroy(target);
    check_runs(subject.pid);
    subject_end(&subject);
}

static void threads_born_meanwhile_freeze_too(void)
{
    struct subject subject = subject_start(path, "births");
    for (int i = 0; i < 20; i++) {
        struct mpiq_target *target = open_live(subject.pid, true);
        struct mpiq_target_thread *threads = NULL;
        size_t count = 0;
        CHECK_OK(mpiq_target_threads(target, &threads, &count));
        for (size_t j = 0; j < count; j++) {
            struct mpiq_proc_stat now = {.state = 'X'};
            mpiq_error_destroy(mpiq_proc_stat(subject.pid, threads[j].tid, &now));
            CU_ASSERT(strchr("tZX", now.state) != NULL);
        }
        free(threads);
        mpiq_target_destroy(target);
    }
    check_runs(subject.pid);
    subject_end(&subject);
}

static void threads_that_come_and_go_are_unwound_or_gone(void)
{
    struct subject subject = subject_start(path, "births");
    struct mpiq_target *target = open_live(subject.pid, false);
    for (int i = 0; i < 50; i++) {
        struct mpiq_target_thread *threads = NULL;
        size_t count = 0;
        CHECK_OK(mpiq_target_threads(target, &threads, &count));
        for (size_t j = 0; j < count; j++) {
            struct mpiq_target_stack stack = {0};
            struct mpiq_error *error = mpiq_target_stack(target, threads[j].tid, &stack);
            CU_ASSERT(!error || error->code == MPIQ_ERROR_GONE);
            if (error)
                mpiq_error_destroy(error);
            else
                mpiq_target_stack_deinit(&stack);
        }
        free(threads);
        mpiq_target_forget(target);
    }
    mpiq_target_destroy(target);
    check_runs(subject.pid);
    subject_end(&subject);
}

static void our_sudden_death_lets_it_run(void)
{
    struct subject subject = subject_start(path, "count");
    for (int i = 0; i < 20; i++) {
        fflush(stdout);
        pid_t looker = fork();
        if (looker == 0) {
            struct mpiq_target *target = NULL;
            struct mpiq_target_stack stack;
            if (i % 2) {
                mpiq_target_live_create(subject.pid, true, &target);
                kill(getpid(), SIGKILL);
            }
            mpiq_target_live_create(subject.pid, false, &target);
            for (;;) {
                if (!mpiq_target_stack(target, subject.spinning, &stack))
                    mpiq_target_stack_deinit(&stack);
            }
        }
        usleep(1000u * (unsigned)(5 + i * 3));
        kill(looker, SIGKILL);
        waitpid(looker, NULL, 0);
        check_runs(subject.pid);
    }
    subject_end(&subject);
}

static void a_stopped_process_stays_stopped(void)
{
    struct subject subject = subject_start(path, "wait");
    kill(subject.pid, SIGSTOP);
    WAIT_UNTIL(state_of(subject.pid) == 'T');
    for (int stop = 0; stop < 2; stop++) {
        struct mpiq_target *target = open_live(subject.pid, stop);
        struct mpiq_target_status status = {0};
        CHECK_OK(mpiq_target_status(target, &status));
        CU_ASSERT_EQUAL(status.state, 'T');
        check_memory_and_symbols(target, &subject);
        check_stack(target, &subject);
        mpiq_target_destroy(target);
        WAIT_UNTIL(state_of(subject.pid) == 'T');
        CU_ASSERT_EQUAL(state_of(subject.pid), 'T');
    }
    kill(subject.pid, SIGCONT);
    check_runs(subject.pid);
    subject_end(&subject);
}

/* As another program, a copy of this one: whoever runs our own file counts as a peer. */
static int trace(pid_t pid, int said)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    char done = ptrace(PTRACE_SEIZE, pid, NULL, NULL) == 0;
    if (write(said, &done, 1) != 1)
        return 1;
    for (;;)
        pause();
}

static void a_traced_process_is_read_and_its_tracer_named(void)
{
    run("cp /proc/%d/exe %s/debugger", (int)getpid(), scratch());
    struct subject subject = subject_start(path, "wait");
    int ends[2];
    CU_ASSERT_EQUAL_FATAL(pipe(ends), 0);
    fflush(stdout);
    pid_t tracer = fork();
    if (tracer == 0) {
        char copy[300], pid[16], said[16];
        snprintf(copy, sizeof copy, "%s/debugger", scratch());
        snprintf(pid, sizeof pid, "%d", (int)subject.pid);
        snprintf(said, sizeof said, "%d", ends[1]);
        execl(copy, "debugger", "trace", pid, said, (char *)NULL);
        _exit(127);
    }
    char done = 0;
    CU_ASSERT(read(ends[0], &done, 1) == 1 && done);
    struct mpiq_target *target = open_live(subject.pid, false);
    struct mpiq_target_status status = {0};
    CHECK_OK(mpiq_target_status(target, &status));
    CU_ASSERT_TRUE(status.traced);
    check_memory_and_symbols(target, &subject);
    struct mpiq_target_stack stack;
    CHECK_ERROR(mpiq_target_stack(target, subject.pid, &stack), MPIQ_ERROR_PERMISSION,
                "is traced by debugger");
    mpiq_target_destroy(target);
    kill(tracer, SIGKILL);
    waitpid(tracer, NULL, 0);
    close(ends[0]);
    close(ends[1]);
    check_runs(subject.pid);
    subject_end(&subject);
}

static void the_end_of_a_process_is_told(void)
{
    struct subject subject = subject_start(path, "wait");
    struct mpiq_target *target = open_live(subject.pid, false), *other = NULL;
    check_memory_and_symbols(target, &subject);
    /* A zombie: killed, and not collected. */
    kill(subject.pid, SIGKILL);
    WAIT_UNTIL(state_of(subject.pid) == 'Z');
    struct mpiq_target_status status = {0};
    CHECK_OK(mpiq_target_status(target, &status));
    CU_ASSERT_EQUAL(status.state, 'Z');
    char byte;
    struct mpiq_target_stack stack;
    uint64_t address;
    CHECK_ERROR(mpiq_target_read(target, subject.record, 1, &byte), MPIQ_ERROR_GONE, "a zombie that test_");
    CHECK_ERROR(mpiq_target_stack(target, subject.pid, &stack), MPIQ_ERROR_GONE, "zombie");
    CHECK_OK(mpiq_target_live_create(subject.pid, true, &other));
    CHECK_ERROR(mpiq_target_find_symbol(other, "subject_record", &address), MPIQ_ERROR_GONE, "zombie");
    mpiq_target_destroy(other);
    subject_end(&subject);
    CHECK_ERROR(mpiq_target_read(target, subject.record, 1, &byte), MPIQ_ERROR_GONE, "has ended");
    CHECK_ERROR(mpiq_target_status(target, &status), MPIQ_ERROR_GONE, "has ended");
    mpiq_target_destroy(target);
    CHECK_ERROR(mpiq_target_live_create(subject.pid, false, &target), MPIQ_ERROR_GONE, "there is no process");
    CHECK_ERROR(mpiq_target_live_create(0, false, &target), MPIQ_ERROR_USAGE, "0");
}

static void a_process_that_becomes_another_is_read_anew(void)
{
    struct subject subject = subject_start(path, "execs");
    struct mpiq_target *target = open_live(subject.pid, false);
    check_memory_and_symbols(target, &subject);
    check_types(target);
    kill(subject.pid, SIGUSR1);
    subject_ready(&subject, "wait");
    mpiq_target_forget(target);
    check_memory_and_symbols(target, &subject);
    check_stack(target, &subject);
    mpiq_target_destroy(target);
    subject_end(&subject);
}

static void another_users_process_is_refused_with_the_remedy(void)
{
    if (geteuid() != 0)
        return;
    struct subject subject = subject_start(path, "wait");
    fflush(stdout);
    pid_t looker = fork();
    if (looker == 0) {
        struct mpiq_target *target = NULL;
        uint64_t address;
        if (setgid(65534) != 0 || setuid(65534) != 0 || mpiq_target_live_create(subject.pid, false, &target))
            _exit(2);
        struct mpiq_error *error = mpiq_target_find_symbol(target, "subject_record", &address);
        char byte;
        struct mpiq_error *unread = mpiq_target_read(target, subject.record, 1, &byte);
        struct mpiq_target_status status;
        bool right = error && error->code == MPIQ_ERROR_PERMISSION &&
                     strstr(error->message, "belongs to root: run mpiq as root") && unread &&
                     unread->code == MPIQ_ERROR_PERMISSION && !mpiq_target_status(target, &status) &&
                     status.uid == 0;
        if (!right)
            fprintf(stderr, "%s\n", error ? error->message : "no error");
        _exit(right ? 0 : 1);
    }
    int status = -1;
    waitpid(looker, &status, 0);
    CU_ASSERT_EQUAL(status, 0);
    subject_end(&subject);
}

/* In a process of nobody's, about another of nobody's: what is said where Yama is set so. */
static bool yama_is_told(pid_t pid)
{
    static const struct {
        const char *scope, *says, *remedy;
    } rows[] = {
        {"1\n", "ptrace_scope is 1", "--mca mpi_mqs_allow_ptrace 1"},
        {"2\n", "lets only root look", "run mpiq as root"},
        {"3\n", "until the next boot", "core file"},
        {"0\n", "may not be looked at (", "as root on the host"},
    };
    char file[] = "/tmp/mpiq-yama-XXXXXX";
    int fd = mkstemp(file);
    bool right = fd >= 0;
    mpiq_permission_yama = file;
    for (size_t i = 0; right && i < sizeof rows / sizeof *rows; i++) {
        right = pwrite(fd, rows[i].scope, 2, 0) == 2;
        struct mpiq_error *error = mpiq_permission_error(pid, EPERM);
        right = right && error->code == MPIQ_ERROR_PERMISSION && strstr(error->message, rows[i].says) &&
                strstr(error->message, rows[i].remedy);
        if (!right)
            fprintf(stderr, "%s\n", error->message);
        mpiq_error_destroy(error);
    }
    unlink(file);
    return right;
}

static void yama_is_named_with_the_remedy(void)
{
    if (geteuid() != 0)
        return;
    fflush(stdout);
    pid_t looker = fork();
    if (looker == 0) {
        if (setgid(65534) != 0 || setuid(65534) != 0)
            _exit(2);
        prctl(PR_SET_DUMPABLE, 1); /* lost with root's rights: and undumpable is another reason */
        pid_t other = fork();
        if (other == 0) {
            pause();
            _exit(0);
        }
        bool right = yama_is_told(other);
        kill(other, SIGKILL);
        _exit(right ? 0 : 1);
    }
    int status = -1;
    waitpid(looker, &status, 0);
    CU_ASSERT_EQUAL(status, 0);
}

/* A thread whose child of vfork has not gone on yet sleeps uninterruptibly. */
static void a_thread_in_uninterruptible_sleep_is_left_alone(void)
{
    struct subject subject = subject_start(path, "vforks");
    WAIT_UNTIL(state_of(subject.pid) == 'D');
    CU_ASSERT_EQUAL(state_of(subject.pid), 'D');
    for (int stop = 0; stop < 2; stop++) {
        struct mpiq_target *target = open_live(subject.pid, stop);
        struct mpiq_target_stack stack;
        check_memory_and_symbols(target, &subject);
        CHECK_ERROR(mpiq_target_stack(target, subject.pid, &stack), MPIQ_ERROR_UNSUPPORTED,
                    "uninterruptible sleep");
        CHECK_OK(mpiq_target_stack(target, subject.waiting, &stack));
        mpiq_target_stack_deinit(&stack);
        mpiq_target_destroy(target);
    }
    check_runs(subject.pid);
    subject_end(&subject);
}

/* Forbids system calls, as a container's filter does: process_vm_readv, and ptrace or not. */
static void forbid(bool ptrace_too)
{
    struct sock_filter filter[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_process_vm_readv, 2, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, ptrace_too ? SYS_ptrace : SYS_process_vm_readv, 1, 0),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
    };
    struct sock_fprog program = {sizeof filter / sizeof *filter, filter};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
        prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0)
        _exit(3);
}

#ifdef __x86_64__
/* Whether its main thread sleeps in epoll_wait. */
static bool is_in_epoll(pid_t pid)
{
    char file[64], line[256] = "";
    snprintf(file, sizeof file, "/proc/%d/syscall", (int)pid);
    mpiq_error_destroy(mpiq_proc_read_line(file, line, sizeof line));
    return state_of(pid) == 'S' && strtol(line, NULL, 10) == SYS_epoll_wait;
}

static bool has_frame(const struct mpiq_target_stack *stack, const char *function)
{
    for (size_t i = 0; i < stack->count; i++) {
        if (stack->frames[i].function && strcmp(stack->frames[i].function, function) == 0)
            return true;
    }
    return false;
}

/* A stop would end the call, and the program with it. */
static void a_call_that_a_stop_would_end_goes_on(void)
{
    struct subject subject = subject_start(path, "epoll");
    struct mpiq_target_stack asleep = {0}, stopped = {0};
    WAIT_UNTIL(is_in_epoll(subject.pid));
    struct mpiq_target *target = open_live(subject.pid, false);
    for (int look = 0; look < 3; look++) {
        mpiq_target_stack_deinit(&asleep);
        CHECK_OK(mpiq_target_stack(target, subject.pid, &asleep));
        mpiq_target_forget(target);
        CU_ASSERT_FALSE(asleep.truncated);
        CU_ASSERT(has_frame(&asleep, "sleep_once") && has_frame(&asleep, "main") &&
                  has_frame(&asleep, "_start"));
        CU_ASSERT(is_in_epoll(subject.pid));
    }
    mpiq_target_destroy(target);

    /* It is the stack that a stop shows; and this stop ends the program. */
    target = open_live(subject.pid, true);
    CHECK_OK(mpiq_target_stack(target, subject.pid, &stopped));
    CU_ASSERT_EQUAL(asleep.count, stopped.count);
    for (size_t i = 0; i < asleep.count && i < stopped.count; i++)
        CU_ASSERT_EQUAL(asleep.frames[i].pc, stopped.frames[i].pc);
    mpiq_target_destroy(target);
    siginfo_t end = {0};
    WAIT_UNTIL(waitid(P_PID, (id_t)subject.pid, &end, WEXITED | WNOHANG | WNOWAIT) == 0 && end.si_pid);
    CU_ASSERT(end.si_code == CLD_EXITED && end.si_status == 3);
    mpiq_target_stack_deinit(&asleep);
    mpiq_target_stack_deinit(&stopped);
    subject_end(&subject);
}
#endif

static void a_seccomp_filter_is_gone_round_or_named(void)
{
    for (int ptrace_too = 0; ptrace_too < 2; ptrace_too++) {
        struct subject subject = subject_start(path, "wait");
        fflush(stdout);
        pid_t looker = fork();
        if (looker == 0) {
            forbid(ptrace_too);
            unsigned before = CU_get_number_of_failures();
            struct mpiq_target *target = open_live(subject.pid, false);
            struct mpiq_target_stack stack;
            check_memory_and_symbols(target, &subject);
            if (ptrace_too)
                CHECK_ERROR(mpiq_target_stack(target, subject.pid, &stack), MPIQ_ERROR_PERMISSION,
                            "seccomp filter");
            else
                check_stack(target, &subject);
            mpiq_target_destroy(target);
            _exit(CU_get_number_of_failures() != before);
        }
        int status = -1;
        waitpid(looker, &status, 0);
        CU_ASSERT_EQUAL(status, 0);
        subject_end(&subject);
    }
}

/* Signals of its own keep arriving while it is looked at as fast as it goes; how often that was. */
static long look_while_it_sums(unsigned long expected)
{
    struct subject subject = subject_start(path, "sums");
    unsigned long sum = 0;
    int children = 0;
    long looks = 0;
    while (state_of(subject.pid) != 'Z') {
        struct mpiq_target *target = open_live(subject.pid, looks % 10 == 9);
        struct mpiq_target_stack stack;
        struct mpiq_error *error = mpiq_target_stack(target, subject.pid, &stack);
        CU_ASSERT(!error || error->code == MPIQ_ERROR_GONE);
        if (error)
            mpiq_error_destroy(error);
        else
            mpiq_target_stack_deinit(&stack);
        mpiq_target_destroy(target);
        looks++;
    }
    CU_ASSERT_EQUAL(fscanf(subject.output, " sum %lu children %d", &sum, &children), 2);
    CU_ASSERT_EQUAL(sum, expected);
    CU_ASSERT_EQUAL(children, 20);
    subject_end(&subject);
    return looks;
}

static void no_signal_and_no_child_is_lost(void)
{
    enum { ENOUGH = 10, TRIES = 10 }; /* on a busy machine one of them ends after a few looks */
    unsigned long expected = 0;
    for (unsigned long i = 0; i < 20; i++) {
        expected += i;
        for (unsigned long j = 0; j < 5000000; j++)
            expected += j % 7;
    }
    long looks = 0;
    for (int i = 0; i < TRIES && looks <= ENOUGH; i++)
        looks += look_while_it_sums(expected);
    CU_ASSERT(looks > ENOUGH);
}

int main(int argc, char **argv)
{
    if (argc == 4 && strcmp(argv[1], "trace") == 0)
        return trace(atoi(argv[2]), atoi(argv[3]));
    if (argc < 2 || !(path = realpath(argv[1], NULL)))
        return 2;
    CU_TestInfo tests[] = {
        {"a running process is read whole", everything_is_read_on_the_run},
        {"status and threads are reported", status_and_threads_are_told},
        {"unmapped memory is named in the error", what_is_not_mapped_is_named},
        {"processes of one program share its objects", processes_of_one_program_share_its_objects},
        {"freezing stops all, and ends with the target", freezing_stops_all_and_ends_with_the_target},
        {"threads created meanwhile are frozen too", threads_born_meanwhile_freeze_too},
        {"threads that come and go are unwound or gone", threads_that_come_and_go_are_unwound_or_gone},
        {"the process runs on if we are killed", our_sudden_death_lets_it_run},
        {"a stopped process stays stopped", a_stopped_process_stays_stopped},
        {"a traced process is read, and its tracer named", a_traced_process_is_read_and_its_tracer_named},
        {"the end of a process is reported", the_end_of_a_process_is_told},
        {"a process that calls exec is read again", a_process_that_becomes_another_is_read_anew},
        {"another user's process is refused with the remedy",
         another_users_process_is_refused_with_the_remedy},
        {"Yama is named with the remedy", yama_is_named_with_the_remedy},
        {"a thread in uninterruptible sleep is left alone", a_thread_in_uninterruptible_sleep_is_left_alone},
#ifdef __x86_64__
        {"a system call that a stop would end goes on", a_call_that_a_stop_would_end_goes_on},
#endif
        {"a seccomp filter is worked around or named", a_seccomp_filter_is_gone_round_or_named},
        {"no signal and no child is lost", no_signal_and_no_child_is_lost},
        CU_TEST_INFO_NULL,
    };
    int status = suite_run("live target", tests);
    mpiq_object_clear();
    return status;
}
