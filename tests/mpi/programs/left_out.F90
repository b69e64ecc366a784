! Calls of mpi_f08 that are refused, of which the program does not ask for the error; and a receive into the variable that says from whom.
program left_out
  use mpi_f08
  implicit none
  type(MPI_Comm) :: copy
  type(MPI_Request) :: requests(2)
  integer :: rank, ranks, next, done, places(2), word
  call MPI_Init()
  call MPI_Comm_dup(MPI_COMM_WORLD, copy)
  call MPI_Comm_set_errhandler(copy, MPI_ERRORS_RETURN)
  call MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN)
  call MPI_Comm_rank(copy, rank)
  call MPI_Comm_size(copy, ranks)
  word = 1000
  call MPI_Send(word, 1, MPI_INTEGER, ranks, 0, copy)
  call MPI_Send(word, 1, MPI_INTEGER, ranks, 0, MPI_COMM_WORLD)
  places = -77
  done = 2
  requests = MPI_REQUEST_NULL
  call MPI_Waitsome(-1, requests, done, places, MPI_STATUSES_IGNORE)
  if (rank == 0) then
    call MPI_Send(word, 1, MPI_INTEGER, 1, 0, copy)
  else if (rank == 1) then
    next = 0
    call receive(next, next)
    print *, 'received', next
  end if
  call MPI_Barrier(copy)
  call MPI_Finalize()
contains
  subroutine receive(into, from)
    integer :: into, from
    call MPI_Recv(into, 1, MPI_INTEGER, from, 0, copy, MPI_STATUS_IGNORE)
  end subroutine
end program
