! SPDX-License-Identifier: BSD-3-Clause
! fortran_modules.f90 - calls from Fortran, through the modules mpi and mpi_f08: counted once each.
module calls_08
  use mpi_f08
contains
  subroutine from_f08()
    integer :: value, total
    type(MPI_Request) :: request
    value = 1
    call MPI_Barrier(MPI_COMM_WORLD)
    call MPI_Bcast(value, 1, MPI_INTEGER, 0, MPI_COMM_WORLD)
    call MPI_Iallreduce(value, total, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, request)
    call MPI_Wait(request, MPI_STATUS_IGNORE)
  end subroutine
end module

module calls_90
  use mpi
contains
  subroutine from_f90()
    integer :: value, total, request, ierr
    value = 1
    call MPI_Barrier(MPI_COMM_WORLD, ierr)
    call MPI_Bcast(value, 1, MPI_INTEGER, 0, MPI_COMM_WORLD, ierr)
    call MPI_Iallreduce(value, total, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, request, ierr)
    call MPI_Wait(request, MPI_STATUS_IGNORE, ierr)
  end subroutine
end module

program fortran
  use mpi
  use calls_08, only: from_f08
  use calls_90, only: from_f90
  implicit none
  interface
    integer(c_int) function fortran_check(rounds) bind(C)
      use iso_c_binding, only: c_int
      integer(c_int), value :: rounds
    end function
  end interface
  integer :: ierr
  call MPI_Init(ierr)
  call from_f90()
  call from_f08()
  if (fortran_check(2) /= 0) stop 1
end program
