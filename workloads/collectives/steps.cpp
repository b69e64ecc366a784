#include "workloads/collectives/steps.h"

#include <idlewave/probe.h>

#include <thread>

#include "workloads/collectives/calls.h"
#include "workloads/collectives/payload.h"
#include "workloads/ranks/noise.h"
#include "workloads/support/pause.h"

namespace idlewave::collectives {
namespace {

using support::monotonic_now;
using support::sleep_until;

bool sleeps(Waiting waiting, const ranks::Group& node) {
  if (waiting != Waiting::kAuto) return waiting == Waiting::kAsleep;
  return node.size > static_cast<int>(std::thread::hardware_concurrency());
}

/// The steps of one run on one rank.
class RankSteps {
 public:
  RankSteps(const Options& options, const Run& run, const ranks::Group& world, bool asleep)
      : options_(options),
        run_(run),
        rank_(world.rank),
        payload_(run.collective, world.size, world.rank, options.size / sizeof(std::int64_t)),
        call_(run.collective, payload_, world.ranks, asleep) {}

  /// `first`: what the probe is told as the number of its first step. Noise counts from 0, so that it is the same in
  /// each run.
  Measured go(Step first, Step steps) {
    start_ = monotonic_now();
    for (Step step = 0; step < steps; ++step) {
      idlewave_step(first + step);
      const Nanoseconds begin = monotonic_now();
      work(step, begin);
      const Nanoseconds worked = monotonic_now();
      run_.nonblocking ? call_.finish() : call_.run();
      measured_.work += worked - begin;
      measured_.collective += monotonic_now() - worked;
    }
    idlewave_end();
    measured_.total = monotonic_now() - start_;
    measured_.wrong += payload_.wrong(steps - 1);
    return measured_;
  }

 private:
  /// Looks at what the last collective brought and gets ready what the next one sends, which is part of the work.
  void work(Step step, Nanoseconds begin) {
    idlewave_switch(IDLEWAVE_COMPUTE);
    if (step > 0) measured_.wrong += payload_.wrong(step - 1);
    payload_.fill(step);
    if (run_.nonblocking) work_beside_collective(begin);
    sleep_until(begin + options_.work);
    if (run_.noise) ranks::hold_noise(*run_.noise, rank_, step, {begin, monotonic_now()}, start_);
  }

  void work_beside_collective(Nanoseconds begin) {
    call_.start();
    for (int test = 1; test <= options_.tests; ++test) {
      sleep_until(begin + options_.work * test / (options_.tests + 1));
      call_.look();
    }
  }

  const Options& options_;
  const Run& run_;
  Rank rank_;
  Payload payload_;
  Call call_;
  Nanoseconds start_{};
  Measured measured_;
};

}  // namespace

Steps::Steps(const Options& options, MPI_Comm ranks)
    : options_(options),
      ranks_(ranks),
      world_(ranks::group_of(ranks)),
      node_(ranks::node_of(ranks)),
      asleep_(sleeps(options.waiting, node_)) {}

Measured Steps::run(const Run& run) {
  constexpr Step kWarmUp = 2;
  const Run silent{run.collective, run.nonblocking, nullptr};
  const Measured warm = RankSteps{options_, silent, world_, asleep_}.go(step_, kWarmUp);
  ranks::start_together(ranks_, node_);
  Measured measured = RankSteps{options_, run, world_, asleep_}.go(step_ + kWarmUp, options_.steps);
  measured.wrong += warm.wrong;
  step_ += kWarmUp + options_.steps;
  return measured;
}

}  // namespace idlewave::collectives
