# SPDX-License-Identifier: BSD-3-Clause
"""hang_mpich.py mpi4py|ctypes: hang_mpich.c in Python, by mpi4py or by the C functions of MPICH themselves."""
import ctypes
import sys


class ByCtypes:
    WORLD, INT, STATUS_IGNORE = 0x44000000, 0x4c000405, ctypes.c_void_p(1) # MPICH's

    def __init__(self):
        self.mpi = ctypes.CDLL("libmpich.so.12")
        self.mpi.MPI_Init(None, None)
        rank = ctypes.c_int()
        self.mpi.MPI_Comm_rank(self.WORLD, ctypes.byref(rank))
        self.rank = rank.value

    def receive(self, source, tag):
        value = ctypes.c_int()
        into = ctypes.byref(value)
        self.mpi.MPI_Recv(into, 1, self.INT, source, tag, self.WORLD, self.STATUS_IGNORE) # line of the receive, ctypes

    def barrier(self):
        self.mpi.MPI_Barrier(self.WORLD) # line of the barrier, ctypes


class ByMpi4py:
    def __init__(self):
        import mpi4py
        from mpi4py import MPI
        assert "MPICH" in MPI.Get_library_version(), mpi4py.__file__
        self.world, self.rank = MPI.COMM_WORLD, MPI.COMM_WORLD.rank

    def receive(self, source, tag):
        self.world.Recv(bytearray(4), source, tag) # line of the receive, mpi4py

    def barrier(self):
        self.world.Barrier() # line of the barrier, mpi4py


def exchange(mpi):
    if mpi.rank == 1:
        mpi.receive(0, 99)
    mpi.barrier()


exchange({"ctypes": ByCtypes, "mpi4py": ByMpi4py}[sys.argv[1]]())
