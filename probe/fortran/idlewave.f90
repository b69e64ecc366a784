!> What a Fortran program says about itself so that idlewave can show it: the calls of idlewave/probe.h, which explains them.
!> Compile this file with the compiler of the program and link with -lidlewave-probe. Kinds: default integers are C ints; numbers of
!> steps and bytes are integer(int64), seconds and bytes per second real(real64).
module idlewave
  use, intrinsic :: iso_c_binding, only: c_char, c_double, c_int, c_int64_t, c_null_char
  implicit none
  private

  public :: idlewave_start, idlewave_stop, idlewave_define_phase, idlewave_set_domain, idlewave_domain_curve, &
    idlewave_domain_bytes, idlewave_now
  public :: idlewave_begin, idlewave_end, idlewave_switch, idlewave_step, idlewave_traffic, idlewave_threads, idlewave_partners, &
    idlewave_message

  integer(c_int), parameter, public :: idlewave_none = 0
  integer(c_int), parameter, public :: idlewave_compute = 1      !< work; counts as active on its memory domain
  integer(c_int), parameter, public :: idlewave_wait = 2         !< blocked until a partner is ready
  integer(c_int), parameter, public :: idlewave_communicate = 3  !< moving data
  integer(c_int), parameter, public :: idlewave_delay = 4        !< held on purpose

  integer(c_int), parameter, public :: idlewave_rendezvous = 1   !< flag of a wait: its sends end when their receivers are there
  integer(c_int), parameter, public :: idlewave_collective = 2   !< flag of a wait: nobody of a group goes on before all have come
  integer(c_int), parameter, public :: idlewave_uncertain = 4    !< flag of a wait: whether its sends do so is not known

  interface
    !> 1 if the rank reports from now on, else 0.
    function idlewave_start(rank, size) result(on) bind(C, name="idlewave_start")
      import :: c_int
      integer(c_int), value :: rank, size
      integer(c_int) :: on
    end function

    subroutine idlewave_stop() bind(C, name="idlewave_stop")
    end subroutine

    subroutine set_domain(domain, is_virtual, core_bandwidth, saturated_bandwidth) bind(C, name="idlewave_set_domain")
      import :: c_double, c_int
      integer(c_int), value :: domain, is_virtual
      real(c_double), value :: core_bandwidth, saturated_bandwidth
    end subroutine

    subroutine domain_curve(bandwidths, points) bind(C, name="idlewave_domain_curve")
      import :: c_double, c_int
      real(c_double), intent(in) :: bandwidths(*)
      integer(c_int), value :: points
    end subroutine

    !> Virtual sockets only: bytes that the model has moved on this rank's domain since it was made.
    subroutine idlewave_domain_bytes(total) bind(C, name="idlewave_domain_bytes")
      import :: c_int64_t
      integer(c_int64_t), value :: total
    end subroutine

    !> Seconds on the clock of the events; 0 without a session.
    function idlewave_now() result(seconds) bind(C, name="idlewave_now")
      import :: c_double
      real(c_double) :: seconds
    end function

    subroutine idlewave_begin(phase) bind(C, name="idlewave_begin_")
      import :: c_int
      integer(c_int), value :: phase
    end subroutine

    subroutine idlewave_end() bind(C, name="idlewave_end_")
    end subroutine

    subroutine idlewave_switch(phase) bind(C, name="idlewave_switch_")
      import :: c_int
      integer(c_int), value :: phase
    end subroutine

    !> Step `step` begins, counted from 0.
    subroutine idlewave_step(step) bind(C, name="idlewave_step_")
      import :: c_int64_t
      integer(c_int64_t), value :: step
    end subroutine

    !> The phase that runs now moves `bytes` to and from memory.
    subroutine idlewave_traffic(bytes) bind(C, name="idlewave_traffic_")
      import :: c_int64_t
      integer(c_int64_t), value :: bytes
    end subroutine

    subroutine idlewave_threads(active) bind(C, name="idlewave_threads_")
      import :: c_int
      integer(c_int), value :: active
    end subroutine

    !> A message of `bytes` that this rank sends to the rank `receiver` of MPI_COMM_WORLD.
    subroutine idlewave_message(receiver, bytes) bind(C, name="idlewave_message_")
      import :: c_int, c_int64_t
      integer(c_int), value :: receiver
      integer(c_int64_t), value :: bytes
    end subroutine

    subroutine partners(pattern, from, sources, to, targets, flags) bind(C, name="idlewave_partners_")
      import :: c_int
      integer(c_int), value :: pattern, sources, targets, flags
      integer(c_int), intent(in) :: from(*), to(*)
    end subroutine

    function define_phase(name, category) result(phase) bind(C, name="idlewave_define_phase")
      import :: c_char, c_int
      character(kind=c_char), intent(in) :: name(*)
      integer(c_int), value :: category
      integer(c_int) :: phase
    end function
  end interface

contains

  !> A phase of that name, without its trailing blanks, for the calls above.
  function idlewave_define_phase(name, category) result(phase)
    character(len=*), intent(in) :: name
    integer(c_int), intent(in) :: category
    integer(c_int) :: phase
    phase = define_phase(trim(name)//c_null_char, category)
  end function

  !> Bandwidths in bytes per second; left out: not known.
  subroutine idlewave_set_domain(domain, is_virtual, core_bandwidth, saturated_bandwidth)
    integer(c_int), intent(in) :: domain
    logical, intent(in) :: is_virtual
    real(c_double), intent(in), optional :: core_bandwidth, saturated_bandwidth
    real(c_double) :: core, saturated
    core = 0
    saturated = 0
    if (present(core_bandwidth)) core = core_bandwidth
    if (present(saturated_bandwidth)) saturated = saturated_bandwidth
    call set_domain(domain, merge(1_c_int, 0_c_int, is_virtual), core, saturated)
  end subroutine

  !> After idlewave_set_domain: bandwidths of 1, 2, ... processes that work at the same time, in bytes per second.
  subroutine idlewave_domain_curve(bandwidths)
    real(c_double), intent(in), contiguous :: bandwidths(:)
    call domain_curve(bandwidths, size(bandwidths, kind=c_int))
  end subroutine

  !> Whom the next wait depends on: it receives from the ranks `from` and sends to the ranks `to`, as in MPI_COMM_WORLD. `pattern`: a
  !> number of the program's own for these partners, 0 to 63. `flags`: the sum of those above; left out: none. Of a collective
  !> operation of all ranks `from` is empty.
  subroutine idlewave_partners(pattern, from, to, flags)
    integer(c_int), intent(in) :: pattern
    integer(c_int), intent(in), contiguous :: from(:), to(:)
    integer(c_int), intent(in), optional :: flags
    integer(c_int) :: said
    said = 0
    if (present(flags)) said = flags
    call partners(pattern, from, size(from, kind=c_int), to, size(to, kind=c_int), said)
  end subroutine

end module idlewave
