# SPDX-License-Identifier: BSD-3-Clause
"""stacks.py: rank 1 receives what nobody sends, called by C code that Python has called; the others wait for it."""
from mpi4py import MPI

WORLD = MPI.COMM_WORLD


def inner(_):
    if WORLD.rank == 1:
        WORLD.Recv(bytearray(4), 0, 99) # line of the receive
    WORLD.Barrier()


def outer(left):
    if left > 0:
        return outer(left - 1) # line of the recursion
    return list(map(inner, [1])) # line of the map


outer(2) # line of the call
