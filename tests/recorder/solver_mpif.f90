! SPDX-License-Identifier: BSD-3-Clause
! The example solver in Fortran with mpif.h: rank 1 refines and never comes to the broadcast.  With "nonblocking"
! as its argument the broadcast is MPI_Ibcast.
program solver
    implicit none
    include 'mpif.h'
    integer :: ierr, rank, size, step
    double precision :: parameters(4)
    character(len=16) :: how
    call MPI_Init(ierr)
    call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
    call MPI_Comm_size(MPI_COMM_WORLD, size, ierr)
    call get_command_argument(1, how)
    parameters = 1
    do step = 1, 6
        if (step == 6 .and. rank == 1) call refine_mesh(size)
        call share_parameters(parameters, mod(step + 3, size), how == 'nonblocking')
    end do
    call MPI_Finalize(ierr)
contains
    subroutine share_parameters(values, root, nonblocking)
        double precision, intent(inout) :: values(4)
        integer, intent(in) :: root
        logical, intent(in) :: nonblocking
        integer :: request
        if (nonblocking) then
            call MPI_Ibcast(values, 4, MPI_DOUBLE_PRECISION, root, MPI_COMM_WORLD, request, ierr)
            call MPI_Wait(request, MPI_STATUS_IGNORE, ierr)
        else
            call MPI_Bcast(values, 4, MPI_DOUBLE_PRECISION, root, MPI_COMM_WORLD, ierr)
        end if
    end subroutine
    subroutine refine_mesh(ranks)
        integer, intent(in) :: ranks
        double precision :: answer
        integer :: request
        call MPI_Irecv(answer, 1, MPI_DOUBLE_PRECISION, ranks - 1, 99, MPI_COMM_WORLD, request, ierr)
        call MPI_Wait(request, MPI_STATUS_IGNORE, ierr)
    end subroutine
end program
