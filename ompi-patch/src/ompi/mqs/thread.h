/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * thread.h - the calling thread's record, and the small things that all writers of records need.
 *
 * Recording code in three headers: this one, call.h (collective calls) and wait.h (what a thread waits
 * for).  They hold what must be inline; what may cost a call lives in the _body headers, which one file of
 * libmpi includes.  None of them needs a type of Open MPI's, so that a test can drive them alone.
 */
#ifndef OMPI_MQS_THREAD_H
#define OMPI_MQS_THREAD_H

/* -DOMPI_MQS=0 builds a library without any of this. */
#ifndef OMPI_MQS
#define OMPI_MQS 1
#endif

#if OMPI_MQS

#include <stddef.h>
#include <stdint.h>

#include "ompi/mqs/ompi_mqs.h"

#ifndef OMPI_DECLSPEC
#define OMPI_DECLSPEC
#endif

#define OMPI_MQS_INLINE static inline __attribute__((always_inline))
#define OMPI_MQS_RARELY(condition) __builtin_expect(!!(condition), 0)

/* Keeps the compiler from moving stores across; a reader outside sees them in program order on machines
   that keep stores in order, and takes two looks on those that do not. */
#define OMPI_MQS_ORDER() __asm__ volatile("" : : : "memory")

/* A load of a word that another thread may be writing, where either value will do. Plain, so that it can be
   an operand; the thread sanitizer is told. */
#if defined(__SANITIZE_THREAD__)
#define OMPI_MQS_LOAD(address) __atomic_load_n((address), __ATOMIC_RELAXED)
#else
#define OMPI_MQS_LOAD(address) (*(address))
#endif

/* A plain store that another thread of the process may see. */
#define ompi_mqs_store(address, value) __atomic_store_n((address), (value), __ATOMIC_RELAXED)

OMPI_DECLSPEC extern struct ompi_mqs_root ompi_mqs_root;

/* series: calls */
/*
 * The calling thread's record.  Never NULL: a thread that has none yet (or never will, with recording off)
 * sees ompi_mqs_nobody, whose tid is 0, so that every writer takes its slow path before it writes.
 * Initial-exec: two instructions, also out of a component that was loaded later.
 */
OMPI_DECLSPEC extern __thread struct ompi_mqs_thread *ompi_mqs_self
    __attribute__((tls_model("initial-exec")));

/* Where the calling thread's collective call is recorded, 0 outside of one.  1 for a thread without a record:
   it is inside a call, for all that hot code looks at. */
OMPI_DECLSPEC extern __thread uint64_t ompi_mqs_inside __attribute__((tls_model("initial-exec")));

/* Gives the calling thread a record.  NULL if recording is off or there is no memory. */
OMPI_DECLSPEC struct ompi_mqs_thread *ompi_mqs_thread_join(void) __attribute__((cold));

/* series: end */
/* series: waits */
/* CLOCK_REALTIME in nanoseconds; also notes the moment in the root, for readers that turn cycles into
   time. */
OMPI_DECLSPEC uint64_t ompi_mqs_now(void) __attribute__((cold));

/* series: end */
OMPI_MQS_INLINE ompi_mqs_addr_t ompi_mqs_address(const volatile void *object)
{
    return (uintptr_t) object;
}

/* Writes the processor's cycle counter, not ordered against anything: it dates a call, it does not
   measure one.  The halves are stored apart because that saves two instructions. */
OMPI_MQS_INLINE void ompi_mqs_stamp_cycles(uint64_t *ret)
{
#if defined(__x86_64__)
    uint32_t low, high;

    __asm__ volatile("rdtsc" : "=a"(low), "=d"(high));
    ((uint32_t __attribute__((may_alias)) *) ret)[0] = low;
    ((uint32_t __attribute__((may_alias)) *) ret)[1] = high;
#elif defined(__aarch64__)
    uint64_t ticks;

    __asm__ volatile("mrs %0, cntvct_el0" : "=r"(ticks));
    *ret = ticks;
#else
    *ret = 0;
#endif
}

#endif /* OMPI_MQS */
#endif
