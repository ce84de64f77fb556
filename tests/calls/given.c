/* SPDX-License-Identifier: BSD-3-Clause */
/* given - the functions that generated programs call: each says what it was given, and waits to be looked at.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <unistd.h>

/* Waits for a byte; a stop on the way is none. */
static bool may_go_on(char *go)
{
    ssize_t got;
    while ((got = read(0, go, 1)) < 0 && errno == EINTR)
        ;
    return got == 1;
}

int given(void *a, int b, long c, int d, int e, void *f, int g, long h, int i, int j, long k, void *l);

/* Like a real callee it uses the registers and the places of its arguments for something else meanwhile. */
int given(void *a, int b, long c, int d, int e, void *f, int g, long h, int i, int j, long k, void *l)
{
    char go;
    printf("%p %d %ld %d %d %p %d %ld %d %d %ld %p\n", a, b, c, d, e, f, g, h, i, j, k, l);
    fflush(stdout);
    a = f = l = &go;
    b = d = e = g = i = j = 17;
    c = h = k = 18;
    __asm__ volatile("" : "+m"(a), "+m"(b), "+m"(c), "+m"(d), "+m"(e), "+m"(f), "+m"(g), "+m"(h));
    __asm__ volatile("" : "+m"(i), "+m"(j), "+m"(k), "+m"(l));
    return may_go_on(&go) ? (int)(c - h) : 1;
}

int message(void *buffer, int count, long type, int peer, int tag, void *comm, void *status);

/* Shaped like MPI_Recv. */
int message(void *buffer, int count, long type, int peer, int tag, void *comm, void *status)
{
    char go;
    printf("%p %d %ld %d %d %p %p\n", buffer, count, type, peer, tag, comm, status);
    fflush(stdout);
    buffer = comm = status = &go;
    count = peer = tag = 17;
    type = 18;
    __asm__ volatile(""
                     : "+m"(buffer), "+m"(count), "+m"(type), "+m"(peer), "+m"(tag), "+m"(comm),
                       "+m"(status));
    return may_go_on(&go) ? 0 : 1;
}

void message_(void *buffer, void *count, void *type, void *peer, void *tag, void *comm, void *status,
              void *ierror);

/* The same from Fortran. */
void message_(void *buffer, void *count, void *type, void *peer, void *tag, void *comm, void *status,
              void *ierror)
{
    char go;
    printf("%p %p %p %p %p %p %p %p\n", buffer, count, type, peer, tag, comm, status, ierror);
    fflush(stdout);
    buffer = count = type = peer = tag = comm = status = ierror = &go;
    __asm__ volatile(""
                     : "+m"(buffer), "+m"(count), "+m"(type), "+m"(peer), "+m"(tag), "+m"(comm),
                       "+m"(status));
    if (!may_go_on(&go))
        _exit(1);
}
