#include "workloads/ring/run.h"

#include <idlewave/probe.h>

#include "workloads/ring/ending.h"
#include "workloads/support/pause.h"

namespace idlewave::ring {
namespace {

using support::monotonic_now;
using support::sleep_until;

void hold_delays(const std::vector<Delay>& delays, Step step) {
  for (const Delay& delay : delays) {
    if (delay.step != step) continue;
    idlewave_switch(IDLEWAVE_DELAY);
    sleep_until(monotonic_now() + delay.duration);
  }
}

std::vector<Delay> delays_of(const std::vector<Delay>& all, int rank) {
  std::vector<Delay> own;
  for (const Delay& delay : all) {
    if (delay.rank == rank) own.push_back(delay);
  }
  return own;
}

Span do_work(const Work& work) {
  idlewave_switch(IDLEWAVE_COMPUTE);
  if (work.traffic > 0) idlewave_traffic(work.traffic);
  const Nanoseconds begin = monotonic_now();
  work.do_step();
  return {begin, monotonic_now()};
}

}  // namespace

void warm_up(const Options& options, MPI_Comm ranks, const Work& work, Exchange& exchange) {
  for (Step step = 0; step < options.warm_up; ++step) {
    work.do_step();
    exchange.run();
    MPI_Barrier(ranks);
  }
}

RunResult run(const Options& options, MPI_Comm ranks, const Work& work, Exchange& exchange,
              const sim::core::PhaseNoise* noise, Nanoseconds start) {
  const int rank = ranks::group_of(ranks).rank;
  const std::vector<Delay> delays = delays_of(options.delays, rank);
  Ending ending{ranks, options.steps, options.duration, start};
  RunResult result;
  for (; !ending.reached(result.steps); ++result.steps) {
    idlewave_step(result.steps);
    hold_delays(delays, result.steps);
    const Span working = do_work(work);
    if (options.json) result.activity.add(working);
    if (work.socket) idlewave_domain_bytes(work.socket->bytes_moved());
    if (noise) ranks::hold_noise(*noise, rank, result.steps, working, start);
    idlewave_switch(IDLEWAVE_WAIT);
    exchange.run();
  }
  idlewave_end();
  result.time = {start, monotonic_now()};
  ending.finish();
  return result;
}

}  // namespace idlewave::ring
