! SPDX-License-Identifier: BSD-3-Clause
! As hang_mpich.c, by mpif.h.
program hang
    implicit none
    include 'mpif.h'
    integer :: rank, error, value, status(MPI_STATUS_SIZE)
    call MPI_Init(error)
    call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
    if (rank == 1) call MPI_Recv(value, 1, MPI_INTEGER, 0, 99, MPI_COMM_WORLD, status, error) ! line of the receive
    call MPI_Barrier(MPI_COMM_WORLD, error) ! line of the barrier
    call MPI_Finalize(error)
end program
