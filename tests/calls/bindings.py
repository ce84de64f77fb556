# SPDX-License-Identifier: BSD-3-Clause
"""Writes programs in Fortran and Python, each rank of which hangs in a call of its own.  The same seed gives the same
text.  No call of one has a partner in another: each has a tag of its own."""
import random

RANKS = 6
USES = {"mpi": ("use mpi", ""), "mpif": ("", "include 'mpif.h'"), "f08": ("use mpi_f08", "")}
SEEDS = {"mpi": 1, "mpif": 2, "f08": 3}
BLOCKING = {"Recv": "MPI_STATUS_IGNORE, ", "Ssend": ""}
STARTING = ["Irecv", "Issend"]


def fortran_call(rng, name, buffer, tag, last):
    """One call; what it is given is a constant, a variable or an expression."""
    peer = rng.choice(["peer", f"mod(rank + {rng.randrange(1, RANKS)}, n)", str(rng.randrange(RANKS))])
    count = rng.choice([str(rng.randint(1, 9)), "count"])
    return (f"call MPI_{name}({buffer}, {count}, MPI_DOUBLE_PRECISION, {peer}, {rng.choice([str(tag), f'first + {tag}'])}, "
            f"MPI_COMM_WORLD, {last}ierr)")


def fortran_body(rng, rank):
    """What a rank does: a blocking call, one that waits for a request, or for those of a loop."""
    tag = 100 * (rank + 1)
    kind = rng.choice(["blocking", "wait", "loop"])
    if kind == "blocking":
        name = rng.choice(sorted(BLOCKING))
        return ["call say_ready(rank)", fortran_call(rng, name, "a", tag, BLOCKING[name])]
    if kind == "wait":
        return [fortran_call(rng, rng.choice(STARTING), "a", tag, "requests(1), "), "call say_ready(rank)",
                "call MPI_Wait(requests(1), MPI_STATUS_IGNORE, ierr)"]
    lines = []
    for place, name in enumerate(STARTING):
        lines += ["do i = 1, 3", fortran_call(rng, name, "a(10 * i)", tag + place, f"requests({3 * place} + i), "), "end do"]
    return lines + ["call say_ready(rank)", "call MPI_Waitall(6, requests, MPI_STATUSES_IGNORE, ierr)"]


def fortran(seed, kind):
    """A whole program by one of the bindings."""
    rng = random.Random(seed)
    use, include = USES[kind]
    request = "type(MPI_Request)" if kind == "f08" else "integer"
    head = [use, "implicit none", include]
    lines = []
    for rank in range(RANKS):
        lines += [f"subroutine work_{rank}(rank, n, first)", *head, "integer, intent(in) :: rank, n, first",
                  "integer :: i, peer, count, ierr", f"{request} :: requests(6)", "double precision, save :: a(40)",
                  f"i = 0; count = first + {rng.randint(1, 9)}; peer = mod(rank + {rng.randrange(1, RANKS)}, n)",
                  *fortran_body(rng, rank), "end subroutine"]
    lines += ["program hang", *head, "integer :: rank, n, first, ierr", "call MPI_Init(ierr)",
              "call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)", "call MPI_Comm_size(MPI_COMM_WORLD, n, ierr)", "first = n / 100"]
    for rank in range(RANKS):
        lines.append(f"if (rank == {rank}) call work_{rank}(rank, n, first)")
    return "\n".join([*lines, "call MPI_Finalize(ierr)", "end program", ""])


def python(seed):
    """The same with mpi4py."""
    rng = random.Random(seed)
    lines = ["import os", "from mpi4py import MPI", "comm = MPI.COMM_WORLD", "rank, n = comm.rank, comm.size", "a = bytearray(64)",
             "def ready():", "    with open(os.environ['MPIQ_CORPUS_READY'], 'a') as file:",
             "        file.write(f'ready {rank} {os.getpid()}\\n')"]
    for rank in range(RANKS):
        peer, tag = f"(rank + {rng.randrange(1, RANKS)}) % n", 100 * (rank + 1)
        name, word = rng.choice([("Recv", "source"), ("Ssend", "dest"), ("recv", "source"), ("Irecv", "source")])
        given = f"{word}={peer}, tag={tag}" if name == "recv" else f"a, {word}={peer}, tag={tag}"
        lines += [f"if rank == {rank}:", *([f"    request = comm.Irecv({given})", "    ready()", "    request.Wait()"]
                                           if name == "Irecv" else ["    ready()", f"    comm.{name}({given})"])]
    return "\n".join([*lines, ""])
