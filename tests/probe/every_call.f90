! Uses every call of the Fortran module, and prints what they return, for the test to read.
program every_call
  use, intrinsic :: iso_fortran_env, only: int64, real64
  use idlewave
  implicit none
  integer :: on, phase

  on = idlewave_start(3, 8)
  phase = idlewave_define_phase("halo exchange  ", idlewave_communicate)
  call idlewave_set_domain(2, .true., 10e9_real64)
  call idlewave_domain_curve([10e9_real64, 19e9_real64, 27e9_real64])
  call idlewave_domain_bytes(12345_int64)
  call idlewave_step(0_int64)
  call idlewave_begin(idlewave_compute)
  call idlewave_traffic(64_int64)
  call idlewave_threads(2)
  call idlewave_switch(idlewave_wait)
  call idlewave_partners(5, [2, -1], [4], idlewave_rendezvous)
  call idlewave_partners(6, [integer ::], [integer ::], flags=idlewave_collective)
  call idlewave_message(4, 1000_int64)
  call idlewave_message(4, 24_int64)
  call idlewave_message(-1, 7_int64)
  call idlewave_begin(phase)
  call idlewave_end()
  call idlewave_end()
  print *, on, phase, idlewave_now()
  call idlewave_stop()
end program every_call
