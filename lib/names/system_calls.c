/* SPDX-License-Identifier: BSD-3-Clause */
#include "names/system_calls.h"

#include <elf.h>
#include <stddef.h>
#include <string.h>

/* Columns of the table below. */
enum { X86_64, GENERIC, I386, PPC64, S390X, COLUMNS };

static const struct {
    unsigned machine;
    const char *name;
    int column;
} architectures[] = {
    {EM_X86_64, "x86-64", X86_64}, {EM_AARCH64, "aarch64", GENERIC}, {EM_RISCV, "riscv64", GENERIC},
    {EM_386, "i386", I386},        {EM_PPC64, "ppc64", PPC64},       {EM_S390, "s390x", S390X},
    {258, "loongarch64", GENERIC}, /* EM_LOONGARCH, which older headers lack */
};

/* As the kernel's tables have them (arch/…/syscall.tbl; include/uapi/asm-generic/unistd.h); -1: has no such
   call.  Several rows of a call are alike in what they wait for. */
static const struct {
    enum mpiq_system_call call;
    const char *name;
    int numbers[COLUMNS];
} calls[] = {
    {MPIQ_CALL_READ, "read", {0, 63, 3, 3, 3}},
    {MPIQ_CALL_WRITE, "write", {1, 64, 4, 4, 4}},
    {MPIQ_CALL_OPEN, "open", {2, -1, 5, 5, 5}},
    {MPIQ_CALL_OPENAT, "openat", {257, 56, 295, 286, 288}},
    {MPIQ_CALL_FCNTL, "fcntl", {72, 25, 55, 55, 55}},
    {MPIQ_CALL_FCNTL, "fcntl", {-1, -1, 221, -1, -1}},
    {MPIQ_CALL_FLOCK, "flock", {73, 32, 143, 143, 143}},
    {MPIQ_CALL_PAUSE, "pause", {34, -1, 29, 29, 29}},
    {MPIQ_CALL_PAUSE, "rt_sigsuspend", {130, 133, 179, 178, 179}},
    {MPIQ_CALL_PAUSE, "rt_sigtimedwait", {128, 137, 177, 176, 177}},
    {MPIQ_CALL_PAUSE, "msgrcv", {70, 188, 401, 401, 401}},
    {MPIQ_CALL_PAUSE, "semop", {65, 193, -1, -1, -1}},
    {MPIQ_CALL_PAUSE, "semtimedop", {220, 192, -1, 392, 392}},
    {MPIQ_CALL_PAUSE, "msgsnd", {69, 189, 400, 400, 400}},
    {MPIQ_CALL_PAUSE, "mq_timedsend", {242, 182, 279, 264, 273}},
    {MPIQ_CALL_PAUSE, "mq_timedreceive", {243, 183, 280, 265, 274}},
    {MPIQ_CALL_PAUSE, "io_getevents", {208, 4, 247, 229, 245}},
    {MPIQ_CALL_PAUSE, "io_pgetevents", {333, 292, 385, 388, 382}},
    {MPIQ_CALL_WAIT4, "wait4", {61, 260, 114, 114, 114}},
    {MPIQ_CALL_WAITID, "waitid", {247, 95, 284, 272, 281}},
    {MPIQ_CALL_READ, "readv", {19, 65, 145, 145, 145}},
    {MPIQ_CALL_READ, "pread64", {17, 67, 180, 179, 180}},
    {MPIQ_CALL_READ, "recvfrom", {45, 207, 371, 337, 371}},
    {MPIQ_CALL_READ, "recvmsg", {47, 212, 372, 342, 372}},
    {MPIQ_CALL_READ, "recvmmsg", {299, 243, 337, 343, 357}},
    {MPIQ_CALL_WRITE, "writev", {20, 66, 146, 146, 146}},
    {MPIQ_CALL_WRITE, "pwrite64", {18, 68, 181, 180, 181}},
    {MPIQ_CALL_WRITE, "sendto", {44, 206, 369, 335, 369}},
    {MPIQ_CALL_WRITE, "sendmsg", {46, 211, 370, 341, 370}},
    {MPIQ_CALL_CONNECT, "connect", {42, 203, 362, 328, 362}},
    {MPIQ_CALL_ACCEPT, "accept", {43, 202, -1, 330, -1}},
    {MPIQ_CALL_ACCEPT, "accept4", {288, 242, 364, 344, 364}},
    {MPIQ_CALL_POLL, "poll", {7, -1, 168, 167, 168}},
    {MPIQ_CALL_POLL, "ppoll", {271, 73, 309, 281, 302}},
    {MPIQ_CALL_POLL, "select", {23, -1, 142, 142, 142}},
    {MPIQ_CALL_POLL, "pselect6", {270, 72, 308, 280, 301}},
    {MPIQ_CALL_POLL, "epoll_wait", {232, -1, 256, 238, 252}},
    {MPIQ_CALL_POLL, "epoll_pwait", {281, 22, 319, 303, 312}},
    {MPIQ_CALL_POLL, "epoll_pwait2", {441, 441, 441, 441, 441}},
    {MPIQ_CALL_FUTEX, "futex", {202, 98, 240, 221, 238}},
};

const char *mpiq_architecture_name(unsigned machine)
{
    for (size_t i = 0; i < sizeof architectures / sizeof *architectures; i++) {
        if (architectures[i].machine == machine)
            return architectures[i].name;
    }
    return "";
}

enum mpiq_system_call mpiq_system_call_of(const char *architecture, int32_t number)
{
    int column = -1;
    for (size_t i = 0; number >= 0 && i < sizeof architectures / sizeof *architectures; i++) {
        if (strcmp(architectures[i].name, architecture) == 0)
            column = architectures[i].column;
    }
    for (size_t i = 0; column >= 0 && i < sizeof calls / sizeof *calls; i++) {
        if (calls[i].numbers[column] == number)
            return calls[i].call;
    }
    return MPIQ_CALL_NONE;
}

const char *mpiq_system_call_name(enum mpiq_system_call call)
{
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        if (calls[i].call == call)
            return calls[i].name;
    }
    return "";
}
