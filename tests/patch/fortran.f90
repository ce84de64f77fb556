! SPDX-License-Identifier: BSD-3-Clause
! fortran.f90 - calls from Fortran through mpif.h's bindings: counted once each, active until they complete.
program fortran
  implicit none
  include 'mpif.h'
  interface
    integer(c_int) function fortran_check(rounds) bind(C)
      use iso_c_binding, only: c_int
      integer(c_int), value :: rounds
    end function
    integer(c_int) function fortran_active() bind(C)
      use iso_c_binding, only: c_int
    end function
  end interface
  integer :: value, total, request, ierr
  logical :: flag
  value = 1
  call MPI_Init(ierr)
  call MPI_Barrier(MPI_COMM_WORLD, ierr)
  call MPI_Bcast(value, 1, MPI_INTEGER, 0, MPI_COMM_WORLD, ierr)
  call MPI_Iallreduce(value, total, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, request, ierr)
  flag = .false.
  do while (.not. flag)
    if (fortran_active() > 1) stop 2
    call MPI_Test(request, flag, MPI_STATUS_IGNORE, ierr)
  end do
  if (fortran_active() /= 0) stop 3
  if (fortran_check(1) /= 0) stop 1
end program
