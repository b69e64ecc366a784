#include "workloads/ring/run.h"

#include <idlewave/probe.h>

#include "workloads/kernels/lateness.h"
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

}  // namespace

void warm_up(const Options& options, MPI_Comm ranks, const Work& work, Exchange& exchange) {
  for (Step step = 0; step < options.warm_up; ++step) {
    exchange.run(work.do_step(monotonic_now()));
    MPI_Barrier(ranks);
  }
}

RunResult run(const Options& options, MPI_Comm ranks, const Work& work, Exchange& exchange,
              const sim::core::PhaseNoise* noise, Nanoseconds start, Step first) {
  const bool keeps_activity = options.json || !options.series.empty();
  const int rank = ranks::group_of(ranks).rank;
  const std::vector<Delay> delays = delays_of(options.delays, rank);
  Ending ending{ranks, options.steps, options.duration, start};
  RunResult result;
  for (Nanoseconds ready = start; !ending.reached(result.steps); ++result.steps) {
    ready += kernels::time_of([&] {
      idlewave_step(first + result.steps);
      hold_delays(delays, result.steps);
      if (options.threads > 1) idlewave_threads(options.threads);
      idlewave_switch(IDLEWAVE_COMPUTE);
    });
    ready = kernels::ready_for(work.most_late, ready);
    if (work.traffic > 0) idlewave_traffic(work.traffic);
    const Nanoseconds begin = monotonic_now();
    Nanoseconds done = work.do_step(ready);
    if (keeps_activity) result.activity.add({begin, monotonic_now()});
    if (work.socket) idlewave_domain_bytes(work.socket->bytes_moved());
    if (noise) done = ranks::hold_noise(*noise, rank, result.steps, {ready, done}, start);
    done += kernels::time_of([&] {
      if (options.threads > 1) idlewave_threads(1);
      idlewave_switch(IDLEWAVE_WAIT);
    });
    ready = exchange.run(done);
  }
  idlewave_end();
  result.time = {start, monotonic_now()};
  ending.finish();
  return result;
}

}  // namespace idlewave::ring
