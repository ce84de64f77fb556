# SPDX-License-Identifier: BSD-3-Clause
# Jobs that Python's own ways hang: two threads of which one keeps the interpreter's lock in MPI; a script that ends.
import sys
import threading
import time

from mpi4py import MPI

world = MPI.COMM_WORLD
first, second = world.Dup(), world.Dup()


def background():
    if world.rank == 0:
        time.sleep(1)
    second.allreduce(world.rank) # the first of a communicator makes a duplicate, and keeps the lock


def foreground():
    if world.rank != 0:
        time.sleep(0.3)
    first.allreduce(world.rank)


def lock():
    thread = threading.Thread(target=background)
    thread.start()
    foreground()
    thread.join()


def exception():
    if world.rank == 1:
        raise ValueError("no input")
    world.Barrier()


{"lock": lock, "exception": exception}[sys.argv[1]]()
