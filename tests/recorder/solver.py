# SPDX-License-Identifier: BSD-3-Clause
"""The example solver in Python: rank 1 refines and never reaches the broadcast."""
import sys

import mpi4py
mpi4py.rc.thread_level = "single"
from mpi4py import MPI

world = MPI.COMM_WORLD
parameters = bytearray(32)


def share_parameters(root):
    if "nonblocking" in sys.argv:
        request = world.Ibcast(parameters, root=root)
        request.Wait()
    else:
        world.Bcast(parameters, root=root)


def refine_mesh():
    request = world.Irecv(bytearray(8), source=world.size - 1, tag=99)
    request.Wait()


for step in range(6):
    if step == 5 and world.rank == 1:
        refine_mesh()
    share_parameters(step % world.size)
