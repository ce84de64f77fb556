# SPDX-License-Identifier: BSD-3-Clause
# Jobs that Python's own ways hang: two threads of which one keeps the interpreter's lock in MPI; a script that ends.
import sys
import threading

from mpi4py import MPI

world = MPI.COMM_WORLD
first, second = world.Dup(), world.Dup()
turn = threading.Lock()


def background():
    if world.rank == 0:
        turn.acquire() # until the other has the interpreter
    else:
        turn.release()
    second.allreduce(world.rank) # the first of a communicator makes a duplicate, and keeps the lock


def foreground():
    if world.rank == 0:
        turn.release()
    else:
        turn.acquire()
    first.allreduce(world.rank)


def lock(interval=60):
    sys.setswitchinterval(interval) # who has the interpreter keeps it until its next call that waits
    turn.acquire()
    thread = threading.Thread(target=background)
    thread.start()
    foreground()
    thread.join()


def exception():
    if world.rank == 1:
        raise ValueError("no input")
    world.Barrier()


def lock_for_hours():
    lock(100000)


{"lock": lock, "lock_for_hours": lock_for_hours, "exception": exception}[sys.argv[1]]()
