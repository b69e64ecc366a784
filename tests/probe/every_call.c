/* Uses every call of the probe as a C99 program would. Prints what the calls return, for the test to read. */
#include <idlewave/probe.h>
#include <stddef.h>
#include <stdio.h>

int main(void) {
  const int on = idlewave_start(3, 8);
  int phase = idlewave_define_phase("halo exchange", IDLEWAVE_COMMUNICATE);
  idlewave_set_domain(2, 1, 10e9, 50e9);
  const double curve[] = {10e9, 19e9, 27e9};
  idlewave_domain_curve(curve, 3);
  idlewave_domain_bytes(12345);
  idlewave_step(0);
  idlewave_begin(IDLEWAVE_COMPUTE);
  idlewave_traffic(64);
  idlewave_threads(2);
  idlewave_switch(IDLEWAVE_WAIT);
  const int from[] = {2, -1}, to[] = {4};
  idlewave_partners(5, from, 2, to, 1, IDLEWAVE_RENDEZVOUS);
  idlewave_partners(6, NULL, 0, NULL, 0, IDLEWAVE_COLLECTIVE);
  idlewave_message(4, 1000);
  idlewave_message(4, 24);
  idlewave_message(-1, 7);
  idlewave_begin(phase);
  idlewave_end();
  idlewave_end();
  idlewave_begin(IDLEWAVE_NONE);
  idlewave_switch(IDLEWAVE_DELAY);
  idlewave_end();
  printf("%d %d %d\n", on, phase, idlewave_now() > 0);
  idlewave_stop();
  return 0;
}
