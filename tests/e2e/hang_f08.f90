! SPDX-License-Identifier: BSD-3-Clause
! As hang_mpich.c, by mpi_f08, in a procedure of a module.
module solver
    use mpi_f08
    implicit none
contains
    subroutine exchange(rank)
        integer, intent(in) :: rank
        integer :: value
        if (rank == 1) call MPI_Recv(value, 1, MPI_INTEGER, 0, 99, MPI_COMM_WORLD, MPI_STATUS_IGNORE) ! line of the receive
        call MPI_Barrier(MPI_COMM_WORLD) ! line of the barrier
    end subroutine
end module

program hang
    use mpi_f08
    use solver
    integer :: rank
    call MPI_Init()
    call MPI_Comm_rank(MPI_COMM_WORLD, rank)
    call exchange(rank)
    call MPI_Finalize()
end program
