/* SPDX-License-Identifier: BSD-3-Clause */
/* Numbers of system calls are read as the architecture of the process has them. */
#include "names/system_calls.h"

#include <elf.h>
#include <sys/syscall.h>

#include "suite.h"

static void numbers_differ_by_architecture(void)
{
    CU_ASSERT_EQUAL(mpiq_system_call_of("x86-64", 61), MPIQ_CALL_WAIT4);
    CU_ASSERT_EQUAL(mpiq_system_call_of("aarch64", 61), MPIQ_CALL_NONE); /* getdents64 */
    CU_ASSERT_EQUAL(mpiq_system_call_of("aarch64", 63), MPIQ_CALL_READ);
    CU_ASSERT_EQUAL(mpiq_system_call_of("x86-64", 63), MPIQ_CALL_NONE); /* uname */
    CU_ASSERT_EQUAL(mpiq_system_call_of("aarch64", 260), MPIQ_CALL_WAIT4);
    CU_ASSERT_EQUAL(mpiq_system_call_of("i386", 221), MPIQ_CALL_FCNTL);
    CU_ASSERT_EQUAL(mpiq_system_call_of("", 0), MPIQ_CALL_NONE);
    CU_ASSERT_EQUAL(mpiq_system_call_of("vax", 3), MPIQ_CALL_NONE);
    CU_ASSERT_EQUAL(mpiq_system_call_of("aarch64", -1), MPIQ_CALL_NONE);
}

static void numbers_are_this_systems_own(void)
{
#if defined __x86_64__ || defined __aarch64__
#ifdef __x86_64__
    const char *here = mpiq_architecture_name(EM_X86_64);
    CU_ASSERT_EQUAL(mpiq_system_call_of(here, SYS_open), MPIQ_CALL_OPEN);
    CU_ASSERT_EQUAL(mpiq_system_call_of(here, SYS_pause), MPIQ_CALL_PAUSE);
    CU_ASSERT_EQUAL(mpiq_system_call_of(here, SYS_poll), MPIQ_CALL_POLL);
    CU_ASSERT_EQUAL(mpiq_system_call_of(here, SYS_select), MPIQ_CALL_POLL);
    CU_ASSERT_EQUAL(mpiq_system_call_of(here, SYS_epoll_wait), MPIQ_CALL_POLL);
#else
    const char *here = mpiq_architecture_name(EM_AARCH64);
#endif
    CU_ASSERT_EQUAL(mpiq_system_call_of(here, SYS_read), MPIQ_CALL_READ);
    CU_ASSERT_EQUAL(mpiq_system_call_of(here, SYS_write), MPIQ_CALL_WRITE);
    CU_ASSERT_EQUAL(mpiq_system_call_of(here, SYS_openat), MPIQ_CALL_OPENAT);
    CU_ASSERT_EQUAL(mpiq_system_call_of(here, SYS_fcntl), MPIQ_CALL_FCNTL);
    CU_ASSERT_EQUAL(mpiq_system_call_of(here, SYS_flock), MPIQ_CALL_FLOCK);
    CU_ASSERT_EQUAL(mpiq_system_call_of(here, SYS_wait4), MPIQ_CALL_WAIT4);
    CU_ASSERT_EQUAL(mpiq_system_call_of(here, SYS_waitid), MPIQ_CALL_WAITID);
    CU_ASSERT_EQUAL(mpiq_system_call_of(here, SYS_futex), MPIQ_CALL_FUTEX);
    CU_ASSERT_EQUAL(mpiq_system_call_of(here, SYS_readv), MPIQ_CALL_READ);
    CU_ASSERT_EQUAL(mpiq_system_call_of(here, SYS_pread64), MPIQ_CALL_READ);
    CU_ASSERT_EQUAL(mpiq_system_call_of(here, SYS_recvfrom), MPIQ_CALL_READ);
    CU_ASSERT_EQUAL(mpiq_system_call_of(here, SYS_recvmsg), MPIQ_CALL_READ);
    CU_ASSERT_EQUAL(mpiq_system_call_of(here, SYS_writev), MPIQ_CALL_WRITE);
    CU_ASSERT_EQUAL(mpiq_system_call_of(here, SYS_pwrite64), MPIQ_CALL_WRITE);
    CU_ASSERT_EQUAL(mpiq_system_call_of(here, SYS_sendto), MPIQ_CALL_WRITE);
    CU_ASSERT_EQUAL(mpiq_system_call_of(here, SYS_sendmsg), MPIQ_CALL_WRITE);
    CU_ASSERT_EQUAL(mpiq_system_call_of(here, SYS_connect), MPIQ_CALL_CONNECT);
    CU_ASSERT_EQUAL(mpiq_system_call_of(here, SYS_accept), MPIQ_CALL_ACCEPT);
    CU_ASSERT_EQUAL(mpiq_system_call_of(here, SYS_accept4), MPIQ_CALL_ACCEPT);
    CU_ASSERT_EQUAL(mpiq_system_call_of(here, SYS_ppoll), MPIQ_CALL_POLL);
    CU_ASSERT_EQUAL(mpiq_system_call_of(here, SYS_pselect6), MPIQ_CALL_POLL);
    CU_ASSERT_EQUAL(mpiq_system_call_of(here, SYS_epoll_pwait), MPIQ_CALL_POLL);
    CU_ASSERT_EQUAL(mpiq_system_call_of(here, SYS_rt_sigsuspend), MPIQ_CALL_PAUSE);
    CU_ASSERT_EQUAL(mpiq_system_call_of(here, SYS_rt_sigtimedwait), MPIQ_CALL_PAUSE);
    CU_ASSERT_EQUAL(mpiq_system_call_of(here, SYS_msgrcv), MPIQ_CALL_PAUSE);
    CU_ASSERT_EQUAL(mpiq_system_call_of(here, SYS_semop), MPIQ_CALL_PAUSE);
    CU_ASSERT_EQUAL(mpiq_system_call_of(here, SYS_semtimedop), MPIQ_CALL_PAUSE);
    CU_ASSERT_EQUAL(mpiq_system_call_of(here, SYS_msgsnd), MPIQ_CALL_PAUSE);
    CU_ASSERT_EQUAL(mpiq_system_call_of(here, SYS_mq_timedsend), MPIQ_CALL_PAUSE);
    CU_ASSERT_EQUAL(mpiq_system_call_of(here, SYS_mq_timedreceive), MPIQ_CALL_PAUSE);
    CU_ASSERT_EQUAL(mpiq_system_call_of(here, SYS_io_getevents), MPIQ_CALL_PAUSE);
    CU_ASSERT_EQUAL(mpiq_system_call_of(here, SYS_io_pgetevents), MPIQ_CALL_PAUSE);
    CU_ASSERT_EQUAL(mpiq_system_call_of(here, SYS_recvmmsg), MPIQ_CALL_READ);
    CU_ASSERT_EQUAL(mpiq_system_call_of(here, SYS_epoll_pwait2), MPIQ_CALL_POLL);
    CU_ASSERT_EQUAL(mpiq_system_call_of(here, SYS_getpid), MPIQ_CALL_NONE);
#endif
    CU_ASSERT_STRING_EQUAL(mpiq_architecture_name(EM_NONE), "");
}

int main(void)
{
    CU_TestInfo tests[] = {
        {"numbers differ by architecture", numbers_differ_by_architecture},
        {"numbers are this system's own", numbers_are_this_systems_own},
        CU_TEST_INFO_NULL,
    };
    return suite_run("system calls", tests);
}
