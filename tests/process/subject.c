/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The program that the target tests look at.  subject MODE: it says on its standard output where things are,
 *
 *   ready RECORD WAITING_TID SPINNING_TID
 *
 * and then, by MODE:
 *   wait      waits
 *   births    keeps making threads that end at once, and counts
 *   count     counts, as fast as it goes
 *   clock     looks at the clock for a second at a time and says "gap NANOSECONDS": the longest it stood
 * still execs     becomes itself again (wait) on SIGUSR1 sums      adds up a series with a timer's signals
 * and children's ends between, and says "sum N signals M"
 *   epoll     sleeps in epoll_wait, and ends with 3 if anything wakes it
 */
#include "subject.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

struct subject_record subject_record = {.number = 42, .text = "forty-two", .whole = 0x100000002, .flag = 5};
volatile long subject_counter;
volatile int subject_done; /* never */
__attribute__((used)) const char subject_constant[] = "a constant";
static volatile int subject_hidden = 17;
subject_color subject_favourite = SUBJECT_GREEN;

struct subject_only_used_here {
    char a;
    double b;
};
struct subject_only_used_here subject_local_type;

static const char *mode;
static char **arguments;
static pid_t waiting, spinning;

static void wait_for_ever(void)
{
    while (!subject_done)
        pause();
}

static void *wait_in_thread(void *argument)
{
    waiting = (pid_t)syscall(SYS_gettid);
    pthread_barrier_wait(argument);
    wait_for_ever();
    return NULL;
}

static void *spin_in_thread(void *argument)
{
    spinning = (pid_t)syscall(SYS_gettid);
    pthread_barrier_wait(argument);
    for (;;) {
        subject_counter++;
        if (strcmp(mode, "count") != 0)
            usleep(1000);
    }
    return NULL;
}

static void *be_born(void *argument)
{
    subject_counter++;
    return argument;
}

static void give_birth(void)
{
    for (;;) {
        pthread_t threads[4];
        for (int i = 0; i < 4; i++)
            pthread_create(&threads[i], NULL, be_born, NULL);
        for (int i = 0; i < 4; i++)
            pthread_join(threads[i], NULL);
    }
}

static long long now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1000000000ll + time.tv_nsec;
}

static void watch_clock(void)
{
    for (;;) {
        long long start = now(), last = start, gap = 0;
        while (last - start < 1000000000) {
            long long next = now();
            if (next - last > gap)
                gap = next - last;
            last = next;
        }
        printf("gap %lld\n", gap);
        fflush(stdout);
    }
}

static volatile sig_atomic_t alarms, children;

static void take_signal(int number)
{
    if (number == SIGALRM)
        alarms++;
    else
        children++;
}

/* Every signal of 200 and every child of 20 must arrive, and the sum be right. */
static void add_up(void)
{
    struct itimerval timer = {{0, 5000}, {0, 5000}};
    unsigned long sum = 0;
    signal(SIGALRM, take_signal);
    signal(SIGCHLD, take_signal);
    setitimer(ITIMER_REAL, &timer, NULL);
    for (int i = 0; i < 20; i++) {
        int expected = children + 1;
        pid_t child = fork();
        if (child == 0)
            _exit(i);
        int status = -1;
        while (waitpid(child, &status, 0) < 0 && errno == EINTR)
            continue;
        sum += (unsigned long)WEXITSTATUS(status);
        while (children < expected)
            usleep(100);
        for (unsigned long j = 0; j < 5000000; j++)
            sum += j % 7;
    }
    while (alarms < 200)
        sum += 0 * (unsigned long)usleep(1000);
    printf("sum %lu children %d\n", sum, (int)children);
    exit(0);
}

static void vfork_for_ever(void)
{
    pid_t parent = getpid();
    if (vfork() == 0) {
        /* Ends with its parent, whom nothing but a signal ends. */
        syscall(SYS_prctl, PR_SET_PDEATHSIG, SIGKILL);
        while (syscall(SYS_getppid) == parent)
            syscall(SYS_nanosleep, &(struct timespec){.tv_nsec = 10000000}, NULL);
        _exit(0);
    }
}

/* As a program does that expects no signal. */
__attribute__((noinline)) static void sleep_once(void)
{
    struct epoll_event event = {.events = EPOLLIN};
    int all = epoll_create1(0);
    epoll_wait(all, &event, 1, -1);
    _exit(3);
}

static void become_again(int number)
{
    (void)number;
    execl("/proc/self/exe", arguments[0], "wait", (char *)NULL);
}

static inline __attribute__((always_inline)) void subject_inner(void)
{
    printf("ready %p %d %d\n", (void *)&subject_record, (int)waiting, (int)spinning);
    fflush(stdout);
    if (strcmp(mode, "births") == 0)
        give_birth();
    else if (strcmp(mode, "clock") == 0)
        watch_clock();
    else if (strcmp(mode, "sums") == 0)
        add_up();
    else if (strcmp(mode, "vforks") == 0)
        vfork_for_ever();
    else if (strcmp(mode, "epoll") == 0)
        sleep_once();
    else if (strcmp(mode, "execs") == 0)
        signal(SIGUSR1, become_again);
    while (!subject_done)
        pause(); /* line of inner */
}

static inline __attribute__((always_inline)) void subject_middle(void)
{
    volatile int n = subject_hidden;
    subject_inner(); /* line of middle */
    n++;
}

__attribute__((noinline)) int subject_outer(int depth);

__attribute__((noinline)) int subject_outer(int depth)
{
    if (depth > 0)
        return subject_outer(depth - 1) + 1;
    subject_middle(); /* line of outer */
    return subject_hidden;
}

int main(int argc, char **argv)
{
    pthread_barrier_t barrier;
    pthread_t thread;
    arguments = argv;
    mode = argc > 1 ? argv[1] : "wait";
    pthread_barrier_init(&barrier, NULL, 3);
    pthread_create(&thread, NULL, wait_in_thread, &barrier);
    pthread_create(&thread, NULL, spin_in_thread, &barrier);
    pthread_barrier_wait(&barrier);
    return subject_outer(2);
}
