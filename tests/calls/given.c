/* SPDX-License-Identifier: BSD-3-Clause */
/* given - the function that generated programs call: says what it was given, and waits to be looked at. */
#include <stdio.h>
#include <unistd.h>

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
    return read(0, &go, 1) == 1 ? (int)(c - h) : 1;
}
