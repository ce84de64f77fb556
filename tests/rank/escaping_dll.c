/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A DLL that tries what a helper must not be able to do, and names what worked after "escaped:" in the
 * communicator's name.  With how = 2 it only tells what it finds: session, directory, environment.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <termios.h>
#include <unistd.h>

#include "plain_dll.h"

extern char **environ;

#define FILE_TO_WRITE "/tmp/mpiq-escaped"

static bool can_write(void)
{
    static const int flags[] = {O_WRONLY, O_RDWR, O_RDONLY | O_CREAT, O_RDONLY | O_TRUNC, O_WRONLY | O_CREAT};
    bool could = false;
    for (size_t i = 0; i < sizeof flags / sizeof *flags; i++) {
        could |= open(FILE_TO_WRITE, flags[i], 0600) >= 0;
        could |= syscall(SYS_openat, AT_FDCWD, "/dev/null", flags[i], 0600) >= 0;
    }
    struct {
        uint64_t flags, mode, resolve;
    } how = {O_WRONLY, 0, 0};
    could |= syscall(437 /* openat2 */, AT_FDCWD, "/dev/null", &how, sizeof how) >= 0;
    could |= mkdir(FILE_TO_WRITE "-directory", 0700) == 0;
    could |= unlink(FILE_TO_WRITE) == 0 || errno == ENOENT;
    could |= chmod("/dev/null", 0666) == 0;
    return could;
}

static bool can_signal(void)
{
    return kill(getppid(), 0) == 0 || kill(-1, 0) == 0 || syscall(SYS_tgkill, getppid(), getppid(), 0) == 0 ||
           syscall(SYS_tkill, getppid(), 0) == 0 ||
           syscall(424 /* pidfd_send_signal */, 3, 0, NULL, 0) == 0 || fcntl(3, F_SETOWN, getppid()) == 0;
}

static bool can_execute(void)
{
    /* Not where it would work: then this process would be another. */
    char *const nothing[] = {NULL};
    bool could = execve("/nonexistent", nothing, nothing) < 0 && errno != ENOSYS;
    return could || (syscall(SYS_execveat, -1, "/nonexistent", nothing, nothing, 0) < 0 && errno != ENOSYS);
}

static bool can_change_others(void)
{
    char byte = 0;
    struct iovec here = {&byte, 1}, there = {&byte, 1};
    return process_vm_writev(getppid(), &here, 1, &there, 1, 0) >= 0 || errno != ENOSYS ||
           ptrace(PTRACE_TRACEME, 0, NULL, NULL) == 0 || ptrace(PTRACE_SEIZE, getppid(), NULL, NULL) == 0;
}

static bool can_type(void)
{
    int terminal = open("/dev/tty", O_RDONLY | O_NOCTTY);
    return terminal >= 0 || ioctl(0, TIOCSTI, "x") == 0 || ioctl(2, TIOCSTI, "x") == 0;
}

static bool can_outlive(void)
{
    struct rlimit limit = {RLIM_INFINITY, RLIM_INFINITY};
    return prctl(PR_SET_PDEATHSIG, 0) == 0 || fork() >= 0 || setrlimit(RLIMIT_CORE, &limit) == 0 ||
           setsid() >= 0 || setuid(getuid()) == 0;
}

static void try_all(char name[64])
{
    static const struct {
        const char *word;
        bool (*can)(void);
    } ways[] = {{"write", can_write},          {"signal", can_signal}, {"execute", can_execute},
                {"change", can_change_others}, {"type", can_type},     {"outlive", can_outlive}};
    strcpy(name, "escaped:");
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        if (ways[i].can()) {
            strcat(name, " ");
            strcat(name, ways[i].word);
        }
    }
    if (socket(AF_INET, SOCK_STREAM, 0) >= 0)
        strcat(name, " socket");
}

static void look_around(char name[64])
{
    char directory[64] = "";
    int variables = 0;
    struct rlimit memory = {0}, core = {1, 1}, files = {0};
    for (char **one = environ; *one; one++)
        variables += strncmp(*one, "MPIQ_TEST_", 10) != 0;
    getrlimit(RLIMIT_AS, &memory);
    getrlimit(RLIMIT_CORE, &core);
    getrlimit(RLIMIT_NOFILE, &files);
    bool alone = getsid(0) < 0 || getpgrp() == getpid(); /* getsid is one of the calls that fail */
    if (!getcwd(directory, sizeof directory))
        strcpy(directory, "?");
    snprintf(name, 64, "%s %d %d %d %d %d", directory, variables, alone, (int)(memory.rlim_max >> 20),
             (int)core.rlim_max, (int)files.rlim_max);
}

int misbehave(enum place place, int how, mqs_process *process, void *result)
{
    (void)process;
    mqs_communicator *communicator = result;
    if (place == PLACE_COMMUNICATOR && how == 1)
        try_all(communicator->name);
    else if (place == PLACE_COMMUNICATOR)
        look_around(communicator->name);
    return mqs_ok;
}
