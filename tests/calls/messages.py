# SPDX-License-Identifier: BSD-3-Clause
"""Writes programs that send messages as MPI programs do: halos, rings, pairs, trees, masters and workers, with peers and
tags from variables, fields, arrays and arithmetic.  In C that is C++ as well, and in Fortran.  The same seed gives the
same text."""
import random

HEAD = """/* generated */
#include <stdio.h>
#include <stdlib.h>
#ifdef __cplusplus
extern "C"
#endif
int message(void *buffer, int count, long type, int peer, int tag, void *comm, void *status);
enum { TAG_WORK = 17, TAG_STOP = 18, TAG_BASE = 1000 };
#define DOUBLE 0x4c00080bL
#define INT 0x4c000405L
struct grid { int rank, size, left, right, neighbors[4], nx, ny, step; void *comm; double *u; };
static int rank = 5, size = 12, verbose;
static char world[64];
#define WORLD ((void *)world)
static double work[4096];
volatile int zero;
"""

PEERS = ["g->left", "g->right", "(g->rank + 1) % g->size", "(g->rank - 1 + g->size) % g->size", "(rank + 1) % size",
         "(rank + size - 1) % size", "g->neighbors[i]", "g->neighbors[d]", "rank ^ 1", "rank ^ (1 << i)", "peer", "0", "root",
         "i", "rank == 0 ? 1 : 0", "rank % 2 ? rank - 1 : rank + 1", "-2", "rank > 0 ? rank - 1 : -2", "(rank + i) % size",
         "size - 1", "peers[i]"]
TAGS = ["0", "1", "42", "tag", "TAG_WORK", "TAG_STOP", "TAG_BASE + g->step", "TAG_BASE + i", "i", "g->step", "tag + 1", "d",
        "100 * i + d", "rank", "-1", "g->step * 2"]
COUNTS = ["1", "g->nx", "g->ny", "g->nx * g->ny", "n", "n / 2", "4", "n - 1"]
BUFFERS = ["g->u", "work", "g->u + g->nx", "g->u + (g->ny - 1) * g->nx", "&value", "&work[i * 8]", "buffer", "&work[n]"]
COMMS = ["g->comm", "WORLD", "comm"]
STATUS = ["(void *)0", "(void *)1", "status"]


class Function:
    """One function that sends messages."""

    def __init__(self, rng, index):
        self.rng, self.index, self.loops = rng, index, 0

    def call(self):
        r = self.rng
        return (f"    done += message({r.choice(BUFFERS)}, {r.choice(COUNTS)}, {r.choice(['DOUBLE', 'INT', 'type'])}, "
                f"{r.choice(PEERS)}, {r.choice(TAGS)}, {r.choice(COMMS)}, {r.choice(STATUS)});")

    def compute(self):
        return self.rng.choice(["    for (int k = 0; k < n; k++)\n        work[k] = work[k] * 0.5 + value;", "    g->step++;",
                                "    if (verbose)\n        printf(\"step %d\\n\", g->step);", "    value += (double)rand();",
                                "    d = (d + 1) & 3;", "    tag++;", "    peer = (peer + g->step) % g->size;"])

    def statement(self, depth):
        r = self.rng
        kind = r.choice(["call", "call", "compute", "if", "loop", "early"] if depth else ["call", "compute"])
        if kind == "call":
            return [self.call()]
        if kind == "compute":
            return [self.compute()]
        if kind == "early":
            return ["    if (zero)", "        return done;"]
        inner = [line for _ in range(r.randint(1, 3)) for line in self.statement(depth - 1)] + [self.call()]
        if kind == "if":
            test = r.choice(["rank == 0", "g->left >= 0", "rank % 2 == 0", "g->rank < g->size / 2", "peer != rank"])
            return [f"    if ({test}) {{", *inner, "    } else {", self.call(), "    }"]
        self.loops += 1
        return [f"    for (i = 0; i < {r.choice(['3', '2', '4', 'g->size / 4'])}; i++) {{" if self.loops == 1 else "    {",
                *inner, "    }"]

    def text(self):
        body = [line for _ in range(self.rng.randint(2, 4)) for line in self.statement(2)] + [self.call()]
        static = self.rng.choice(["", "static ", "static __attribute__((noinline)) "])
        return "\n".join([f"{static}int f{self.index}(struct grid *g, int root, int tag, void *comm, int n, double *buffer)",
                          "{", "    int i = 1, d = g->step & 3, done = 0, peer = g->right, peers[4] = {1, rank, root, 3};",
                          "    double value = n;", "    long type = g->nx > 8 ? DOUBLE : INT;", "    char status[24];", *body,
                          "    return done + (int)value + peers[d & 3] + status[0];", "}", ""])


def program(seed, functions=12):
    """A whole program in C and C++."""
    rng = random.Random(seed)
    parts = [HEAD] + [Function(rng, index).text() for index in range(functions)]
    calls = "\n".join(f"    done += f{index}(&g, {rng.randint(0, 3)}, {rng.randint(0, 99)}, WORLD, {rng.randint(1, 9)}, work);"
                      for index in range(functions))
    parts.append("int main(int argc, char **argv)\n{\n    struct grid g = {5, 12, 4, 6, {1, 4, 6, 9}, 16, 8, 3, WORLD, work};\n"
                 f"    int done = 0;\n    rank += argc - 1;\n    (void)argv;\n{calls}\n    return done == 42;\n}}\n")
    return "\n".join(parts)


class Subroutine(Function):
    """The same in Fortran, whose arguments are addresses."""

    PEERS = ["left", "right", "mod(rank + 1, size)", "mod(rank - 1 + size, size)", "neighbors(i)", "0", "root", "i", "-2",
             "peer"]
    TAGS = ["0", "1", "42", "tag", "tag + i", "step", "i", "100 * i + 1"]

    def call(self):
        r = self.rng
        return (f"    call message({r.choice(['u', 'u(1, 2)', 'work', 'work(i)'])}, {r.choice(['1', 'n', 'nx', 'n * 2'])}, "
                f"{r.choice(['1275070495', 'kind'])}, {r.choice(self.PEERS)}, {r.choice(self.TAGS)}, "
                f"{r.choice(['1140850688', 'comm'])}, status, ierror)")

    def compute(self):
        return self.rng.choice(["    work(1:n) = work(1:n) * 0.5d0", "    step = step + 1", "    tag = tag + 1",
                                "    peer = mod(peer + step, size)"])

    def statement(self, depth):
        r = self.rng
        kind = r.choice(["call", "call", "compute", "if", "loop"] if depth else ["call", "compute"])
        if kind == "call":
            return [self.call()]
        if kind == "compute":
            return [self.compute()]
        inner = [line for _ in range(r.randint(1, 3)) for line in self.statement(depth - 1)] + [self.call()]
        if kind == "if":
            test = r.choice(["rank == 0", "left >= 0", "mod(rank, 2) == 0"])
            return [f"    if ({test}) then", *inner, "    else", self.call(), "    end if"]
        self.loops += 1
        return ["    do i = 1, 3" if self.loops == 1 else "    block", *inner, "    end do" if self.loops == 1 else "    end block"]

    def text(self):
        body = [line for _ in range(self.rng.randint(2, 4)) for line in self.statement(2)] + [self.call()]
        return "\n".join([f"  subroutine f{self.index}(u, root, tag, comm, n)", "    double precision :: u(16, 8)",
                          "    integer :: root, tag, comm, n, i, peer, ierror, status(6), kind", "    i = 1", "    peer = right",
                          "    kind = 1275069469", *body, "  end subroutine", ""])


def fortran(seed, functions=12):
    """A whole program in Fortran."""
    rng = random.Random(seed)
    calls = "\n".join(f"  tag = {rng.randint(0, 99)}\n  call f{index}(u, {rng.randint(0, 3)}, tag, comm, {rng.randint(1, 9)})"
                      for index in range(functions))
    body = "\n".join(Subroutine(rng, index).text() for index in range(functions))
    return f"""module exchange
  implicit none
  external :: message
  integer :: rank = 5, size = 12, left = 4, right = 6, neighbors(4) = [1, 4, 6, 9], nx = 16, step = 3
  double precision :: work(4096) = 0
contains
{body}
end module
program generated
  use exchange
  implicit none
  double precision :: u(16, 8)
  integer :: tag, comm
  u = 1
  comm = 1140850688
{calls}
end program
"""
