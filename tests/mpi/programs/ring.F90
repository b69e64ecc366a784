! A ring with what is special in Fortran: sentinels, statuses, errors that are asked for. The same program by each of the
! three interfaces: compiled with -DMPIF_H, -DUSE_MPI or -DUSE_F08. Usage: ring STEPS SEED [ignore]
! With ignore it does not ask who has sent what anybody could have sent.
#if defined(USE_F08)
#define REQUEST_T type(MPI_Request)
#define STATUS_T type(MPI_Status)
#define STATUS_SIZE
#define SOURCE_OF(s) s%MPI_SOURCE
#else
#define REQUEST_T integer
#define STATUS_T integer
#define STATUS_SIZE (MPI_STATUS_SIZE)
#define SOURCE_OF(s) s(MPI_SOURCE)
#endif
program ring
#if defined(USE_F08)
  use mpi_f08
#elif defined(USE_MPI)
  use mpi
#endif
  use, intrinsic :: iso_c_binding
  implicit none
#if defined(MPIF_H)
  include 'mpif.h'
#endif
  interface
    integer(c_int) function usleep(us) bind(c)
      import :: c_int
      integer(c_int), value :: us
    end function usleep
  end interface
  double precision :: mine(4), left(4), right(4), all(1), at, in_mpi, begun, whole
  integer :: ierror, rank, ranks, step, steps, seed, before, after
  integer, allocatable :: seeds(:)
  real :: drawn
  logical :: asks
  REQUEST_T :: requests(4)
  STATUS_T :: state STATUS_SIZE
  character(len=4096) :: text
  character(len=64) :: name

  call get_command_argument(1, text)
  read (text, *) steps
  call get_command_argument(2, text)
  read (text, *) seed
  asks = command_argument_count() < 3
  call MPI_Init(ierror)
  begun = MPI_Wtime()
  in_mpi = 0
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierror)
  call random_seed(size=before)
  allocate (seeds(before))
  seeds = seed + 7919*rank
  call random_seed(put=seeds)
  before = modulo(rank - 1, ranks)
  after = modulo(rank + 1, ranks)
  mine = [(rank + 0.25d0*step, step=1, 4)]
  do step = 1, steps
    call random_number(drawn)
    ierror = usleep(int(200 + 2800*drawn, c_int))
    at = MPI_Wtime()
    call MPI_Irecv(left, 4, MPI_DOUBLE_PRECISION, before, 1, MPI_COMM_WORLD, requests(1), ierror)
    call MPI_Irecv(right, 4, MPI_DOUBLE_PRECISION, after, 2, MPI_COMM_WORLD, requests(2), ierror)
    call MPI_Isend(mine, 4, MPI_DOUBLE_PRECISION, after, 1, MPI_COMM_WORLD, requests(3), ierror)
    call MPI_Isend(mine, 4, MPI_DOUBLE_PRECISION, before, 2, MPI_COMM_WORLD, requests(4), ierror)
    call MPI_Waitall(4, requests, MPI_STATUSES_IGNORE, ierror)
    if (asks) then
      call MPI_Sendrecv(mine, 4, MPI_DOUBLE_PRECISION, after, 3, right, 4, MPI_DOUBLE_PRECISION, MPI_ANY_SOURCE, 3, &
                        MPI_COMM_WORLD, state, ierror)
    else
      call MPI_Sendrecv(mine, 4, MPI_DOUBLE_PRECISION, after, 3, right, 4, MPI_DOUBLE_PRECISION, MPI_ANY_SOURCE, 3, &
                        MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierror)
    end if
    in_mpi = in_mpi + MPI_Wtime() - at
    if (asks) then
      if (SOURCE_OF(state) /= before) stop 3
    end if
    mine = 0.5d0*mine + 0.25d0*left + 0.25d0*right
    all = mine(1)
    at = MPI_Wtime()
#if defined(USE_F08)
    call MPI_Allreduce(MPI_IN_PLACE, all, 1, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD)  ! the error may be left out
#else
    call MPI_Allreduce(MPI_IN_PLACE, all, 1, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD, ierror)
#endif
    in_mpi = in_mpi + MPI_Wtime() - at
  end do
  whole = MPI_Wtime() - begun
  call MPI_Finalize(ierror)
  call get_environment_variable('OWN_SUMS', text)
  if (len_trim(text) > 0) then
    write (name, '(i0)') rank
    open (unit=10, file=trim(text)//'/'//trim(name), action='write')
    write (10, '(f0.9, 1x, f0.9)') in_mpi, whole
    close (10)
  end if
  if (rank == 0) print '(a, es24.16)', 'sum', all(1)
end program ring
