# SPDX-License-Identifier: BSD-3-Clause
"""common_calls READY: the calls of common_calls.F90 through mpi4py."""
import array
import os
import signal
import sys

from mpi4py import MPI

world = MPI.COMM_WORLD
rank = world.Get_rank()
other = 1 - rank
out, values, late = (array.array("i", [0] * 16) for _ in range(3))
row = world.Dup()
row.Set_name("row")


def ints(array, count):
    return [array, count, MPI.INT]


request = row.Irecv(ints(values, 8), other, 1)
row.Send(ints(out, 3), other, 1)
request.Wait()
request = row.Isend(ints(out, 2), other, 2)
row.Recv(ints(values, 8), MPI.ANY_SOURCE, MPI.ANY_TAG)
request.Wait()
row.Sendrecv(ints(out, 4), other, 3, ints(values, 4), other, 3)
world.Send(ints(out, 5), other, 4)
world.Probe(other, 4)
world.Recv(ints(values, 5), other, 4)

requests = [row.Recv_init(ints(values, 6), other, 5), row.Ssend_init(ints(out, 6), other, 5)]
MPI.Prequest.Startall(requests)
MPI.Request.Waitall(requests)
requests[0].Free()
requests[1].Free()

world.Barrier()
world.Bcast(ints(out, 4), 1)
world.Reduce(ints(out, 2), ints(values, 2), MPI.SUM, 0)
world.Allreduce(ints(out, 3), ints(values, 3), MPI.MAX)
world.Gather(ints(out, 1), [values, 1, MPI.INT] if rank == 1 else None, 1)
world.Scatter([out, 2, MPI.INT] if rank == 0 else None, ints(values, 2), 0)
world.Allgather(ints(out, 3), ints(values, 3))
world.Alltoall(ints(out, 4), ints(values, 4))
world.Scan(ints(out, 5), ints(values, 5), MPI.SUM)
row.Iallreduce(ints(out, 6), ints(values, 6), MPI.SUM).Wait()
row.Ibarrier().Wait()
half = world.Split(rank, 0)
half.Free()

left = [row.Irecv(ints(late, 7), other, 31), row.Recv_init(ints(late, 8), other, 32)]
with open(f"{sys.argv[1]}.{rank}", "w", encoding="ascii") as ready:
    print(os.getpid(), file=ready)
signal.pause()
