! SPDX-License-Identifier: BSD-3-Clause
! common_calls READY - the common calls with known arguments on two ranks, by mpif.h (-DBY_MPIF), by `use mpi`
! (-DBY_MODULE) or by `use mpi_f08`; then it writes its pid to READY.RANK and stands still.  test_common_calls.py knows
! what was called.
#if defined(BY_MPIF) || defined(BY_MODULE)
#define COMM_TYPE integer
#define REQUEST_TYPE integer
#define STATUS_TYPE integer, dimension(MPI_STATUS_SIZE)
#else
#define COMM_TYPE type(MPI_Comm)
#define REQUEST_TYPE type(MPI_Request)
#define STATUS_TYPE type(MPI_Status)
#endif

program common_calls
#ifdef BY_MODULE
    use mpi
#endif
#if !defined(BY_MPIF) && !defined(BY_MODULE)
    use mpi_f08
#endif
    implicit none
#ifdef BY_MPIF
    include 'mpif.h'
#endif
    COMM_TYPE :: row, half
    REQUEST_TYPE :: request, requests(2), left(2)
    STATUS_TYPE :: status
    integer :: rank, other, error
    integer :: out(16), in(16), late(16)
    character(len=4096) :: name

    out = 0
    call MPI_Init(error)
    call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
    other = 1 - rank
    call MPI_Comm_dup(MPI_COMM_WORLD, row, error)
    call MPI_Comm_set_name(row, "row", error)

    call MPI_Irecv(in, 8, MPI_INTEGER, other, 1, row, request, error)
    call MPI_Send(out, 3, MPI_INTEGER, other, 1, row, error)
    call MPI_Wait(request, status, error)
    call MPI_Isend(out, 2, MPI_INTEGER, other, 2, row, request, error)
    call MPI_Recv(in, 8, MPI_INTEGER, MPI_ANY_SOURCE, MPI_ANY_TAG, row, status, error)
    call MPI_Wait(request, MPI_STATUS_IGNORE, error)
    call MPI_Sendrecv(out, 4, MPI_INTEGER, other, 3, in, 4, MPI_INTEGER, other, 3, row, MPI_STATUS_IGNORE, error)
    call MPI_Send(out, 5, MPI_INTEGER, other, 4, MPI_COMM_WORLD, error)
    call MPI_Probe(other, 4, MPI_COMM_WORLD, status, error)
    call MPI_Recv(in, 5, MPI_INTEGER, other, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE, error)

    call MPI_Recv_init(in, 6, MPI_INTEGER, other, 5, row, requests(1), error)
    call MPI_Ssend_init(out, 6, MPI_INTEGER, other, 5, row, requests(2), error)
    call MPI_Startall(2, requests, error)
    call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE, error)
    call MPI_Request_free(requests(1), error)
    call MPI_Request_free(requests(2), error)

    call MPI_Barrier(MPI_COMM_WORLD, error)
    call MPI_Bcast(out, 4, MPI_INTEGER, 1, MPI_COMM_WORLD, error)
    call MPI_Reduce(out, in, 2, MPI_INTEGER, MPI_SUM, 0, MPI_COMM_WORLD, error)
    call MPI_Allreduce(out, in, 3, MPI_INTEGER, MPI_MAX, MPI_COMM_WORLD, error)
    call MPI_Gather(out, 1, MPI_INTEGER, in, 1, MPI_INTEGER, 1, MPI_COMM_WORLD, error)
    call MPI_Scatter(out, 2, MPI_INTEGER, in, 2, MPI_INTEGER, 0, MPI_COMM_WORLD, error)
    call MPI_Allgather(out, 3, MPI_INTEGER, in, 3, MPI_INTEGER, MPI_COMM_WORLD, error)
    call MPI_Alltoall(out, 4, MPI_INTEGER, in, 4, MPI_INTEGER, MPI_COMM_WORLD, error)
    call MPI_Scan(out, in, 5, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, error)
    call MPI_Iallreduce(out, in, 6, MPI_INTEGER, MPI_SUM, row, request, error)
    call MPI_Wait(request, MPI_STATUS_IGNORE, error)
    call MPI_Ibarrier(row, request, error)
    call MPI_Wait(request, MPI_STATUS_IGNORE, error)
    call MPI_Comm_split(MPI_COMM_WORLD, rank, 0, half, error)
    call MPI_Comm_free(half, error)

    call MPI_Irecv(late, 7, MPI_INTEGER, other, 31, row, left(1), error)
    call MPI_Recv_init(late, 8, MPI_INTEGER, other, 32, row, left(2), error)

    call get_command_argument(1, name)
    write (name, '(a,a,i0)') trim(name), '.', rank
    open (10, file=trim(name), action='write')
    write (10, '(i0)') getpid()
    close (10)
    call sleep(1000)
    call MPI_Finalize(error)
end program
