! A ring exchange that says what it does. idlewave.f90 is compiled with the compiler of the program.
!
!   mpifort probe/fortran/idlewave.f90 docs/examples/halo.f90 -o halo -L build/release/lib -lidlewave-probe \
!     -Wl,-rpath,$PWD/build/release/lib
!   build/release/bin/idlewave run -- mpirun -n 4 ./halo
program halo
  use, intrinsic :: iso_fortran_env, only: int64, real64
  use mpi
  use idlewave
  implicit none
  integer, parameter :: cells = 2**18, steps = 200
  real(real64) :: now(0:cells + 1), next(0:cells + 1)
  integer :: rank, ranks, left, right, step, error, on

  call MPI_Init(error)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, error)
  left = modulo(rank - 1, ranks)
  right = modulo(rank + 1, ranks)
  now = 0
  now(cells/2) = rank + 1

  on = idlewave_start(rank, ranks)
  do step = 0, steps - 1
    call idlewave_step(int(step, int64))
    call idlewave_switch(idlewave_compute)
    call idlewave_traffic(24_int64*cells)
    next(1:cells) = 0.5_real64*(now(0:cells - 1) + now(2:cells + 1))
    call idlewave_switch(idlewave_wait)
    call idlewave_partners(0, from=[left], to=[right])
    call MPI_Sendrecv(next(cells), 1, MPI_DOUBLE_PRECISION, right, 0, next(0), 1, MPI_DOUBLE_PRECISION, left, 0, &
                      MPI_COMM_WORLD, MPI_STATUS_IGNORE, error)
    call idlewave_partners(1, from=[right], to=[left])
    call MPI_Sendrecv(next(1), 1, MPI_DOUBLE_PRECISION, left, 1, next(cells + 1), 1, MPI_DOUBLE_PRECISION, right, 1, &
                      MPI_COMM_WORLD, MPI_STATUS_IGNORE, error)
    now = next
  end do
  call idlewave_stop()

  if (rank == 0) print '(a, es12.6)', 'the peak is now ', maxval(now)
  call MPI_Finalize(error)
end program halo
