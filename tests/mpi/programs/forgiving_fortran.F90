! A send that is refused, whose error a handler in Fortran takes back; by the old interface, or the new one. Then one to the next rank.
#if defined(USE_F08)
#define HANDLE(kind) type(kind)
#else
#define HANDLE(kind) integer
#endif
module handling
#if defined(USE_F08)
  use mpi_f08
#endif
  implicit none
#if !defined(USE_F08)
  include 'mpif.h'
#endif
  integer :: times = 0
contains
  subroutine forgive(comm, error)
    HANDLE(MPI_Comm) :: comm
    integer :: error
    times = times + 1
    error = MPI_SUCCESS
  end subroutine
end module

program forgiving_fortran
  use handling
  HANDLE(MPI_Comm) :: forgiving
  HANDLE(MPI_Errhandler) :: handler
  integer :: rank, ranks, after, before, word, other, error
  call MPI_Init(error)
  call MPI_Comm_dup(MPI_COMM_WORLD, forgiving, error)
  call MPI_Comm_create_errhandler(forgive, handler, error)
  call MPI_Comm_set_errhandler(forgiving, handler, error)
  call MPI_Comm_rank(forgiving, rank, error)
  call MPI_Comm_size(forgiving, ranks, error)
  word = rank
  call MPI_Send(word, 1, MPI_DATATYPE_NULL, rank, 0, forgiving, error)
  if (rank == 0) print *, 'sent', error, times
  after = mod(rank + 1, ranks)
  before = mod(rank + ranks - 1, ranks)
  call MPI_Sendrecv(word, 1, MPI_INTEGER, after, 0, other, 1, MPI_INTEGER, before, 0, forgiving, MPI_STATUS_IGNORE, error)
  call MPI_Finalize(error)
end program
