/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * faulty_reader - preloaded into mpiq-reader: what happens to a reader over one rank.
 *
 * MPIQ_TEST_VICTIM is the pid of that rank ("any": all of them), MPIQ_TEST_FAULT what its memory does to
 * whoever reads it: hang, freeze (the same, once the rank is stopped), spin, crash, end, memory (all that
 * there is, for good), nonsense (on the connection), late (the first look takes a while, the second for
 * ever).
 */
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

static void eat(void)
{
    for (size_t size = (size_t)1 << 32; size >= 1; size /= 2) {
        void *got;
        do
            got = size >= 4096 ? mmap(NULL, size, PROT_READ | PROT_WRITE,
                                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)
                               : malloc(size);
        while (size >= 4096 ? got != MAP_FAILED : got != NULL);
    }
}

/* As long as can be at first, and again when the second look has begun: after a pause. */
static void be_late(void)
{
    enum { AS_LONG_MS = 1400, PAUSE_MS = 40 };
    static long before;
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    long now = time.tv_sec * 1000 + time.tv_nsec / 1000000;
    if (before == 0)
        usleep(AS_LONG_MS * 1000);
    while (before > 0 && now - before > PAUSE_MS)
        sleep(1);
    clock_gettime(CLOCK_MONOTONIC, &time);
    before = time.tv_sec * 1000 + time.tv_nsec / 1000000;
}

/* Whether it is stopped by a tracer: its name has no space and no bracket. */
static bool is_frozen(pid_t pid)
{
    char path[64], state = '?';
    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    FILE *file = fopen(path, "r");
    bool known = file && fscanf(file, "%*d (%*[^)]) %c", &state) == 1;
    if (file)
        fclose(file);
    return known && state == 't';
}

static void fault(const char *kind, pid_t pid)
{
    static const char nonsense[] = "state of confusion\n";
    while (strcmp(kind, "hang") == 0 || (strcmp(kind, "freeze") == 0 && is_frozen(pid)))
        sleep(1);
    while (strcmp(kind, "spin") == 0)
        continue;
    if (strcmp(kind, "late") == 0)
        be_late();
    if (strcmp(kind, "crash") == 0)
        raise(SIGSEGV);
    if (strcmp(kind, "end") == 0)
        _exit(0);
    if (strcmp(kind, "memory") == 0)
        eat();
    while (strcmp(kind, "nonsense") == 0 && write(3, nonsense, sizeof nonsense - 1) > 0)
        sleep(1);
}

/* As glibc declares it. */
ssize_t process_vm_readv(pid_t pid, const struct iovec *local, unsigned long local_count,
                         const struct iovec *remote, unsigned long remote_count, unsigned long flags)
{
    const char *victim = getenv("MPIQ_TEST_VICTIM");
    const char *kind = getenv("MPIQ_TEST_FAULT");
    if (victim && kind && (strcmp(victim, "any") == 0 || pid == (pid_t)strtol(victim, NULL, 10)))
        fault(kind, pid);
    return syscall(SYS_process_vm_readv, pid, local, local_count, remote, remote_count, flags);
}
