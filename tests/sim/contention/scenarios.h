#pragma once
// Scenarios for the tests of the contention engines, and the same for the slow simulation that judges them.

#include <cmath>
#include <map>
#include <random>
#include <set>
#include <tuple>

#include "tests/workloads/exact_run.h"
#include "workloads/sim/core/phase_noise.h"
#include "workloads/sim/core/recorder.h"

namespace idlewave::tests {

using support::Rank;
using support::Scenario;
using wire::Step;

inline double bandwidth(const support::Machine& machine, int active) {
  if (machine.curve.empty()) return std::min(active * machine.core_bandwidth, machine.domain_bandwidth);
  return machine.curve[std::min(static_cast<std::size_t>(active), machine.curve.size()) - 1];
}

/// physics.md: 40 ranks in a ring, 10 on a domain, saturation at 5, a delay of 1.2 s.
inline Scenario reference_scenario() {
  using namespace std::chrono_literals;
  Scenario scenario;
  scenario.machine = {.ranks = 40, .ranks_per_domain = 10, .core_bandwidth = 10e9, .domain_bandwidth = 50e9};
  scenario.program = {.steps = 200, .kernel = support::Kernel::kMemory, .volume = 50'000'000};
  scenario.delays = {{5, 5, 1200ms}};
  return scenario;
}

/// Between 0 and 2 * mean, a quarter of the phases without; by (rank, step) alone.
struct HashedNoise final : sim::core::PhaseNoise {
  explicit HashedNoise(double the_mean) : mean(the_mean) {}
  double after(Rank rank, Step step, double, double) const override {
    std::minstd_rand random(static_cast<unsigned>(rank * 7919 + step * 104729 + 1));
    random.discard(3);
    const double uniform = std::uniform_real_distribution<>(-0.5, 2)(random);
    return uniform < 0 ? 0 : uniform * mean;
  }
  double mean;
};

inline ExactProgram exact_program(const Scenario& scenario, const sim::core::PhaseNoise* noise) {
  ExactProgram program;
  program.ranks = scenario.machine.ranks;
  program.ranks_per_domain = scenario.machine.ranks_per_domain;
  if (scenario.program.kernel == support::Kernel::kMemory) {
    program.bandwidth = [machine = scenario.machine](int active) { return bandwidth(machine, active); };
  }
  program.volume = static_cast<double>(scenario.program.volume);
  program.time = std::chrono::duration<double>(scenario.program.time).count();
  program.steps = static_cast<int>(scenario.program.steps);
  program.communication = scenario.communication;
  program.delays = scenario.delays;
  if (noise) program.noise = [noise](int rank, int step) { return noise->after(rank, step, 0, 0); };
  return program;
}

/// Small, and of every kind: with a curve or two numbers, ring or chain, distances that lead outside or to the rank
/// itself, messages slower than steps, delays that coincide.
class RandomScenarios {
 public:
  explicit RandomScenarios(unsigned seed) : random_(seed) {}

  Scenario next() {
    Scenario s;
    s.machine = {.ranks = whole(1, whole(0, 3) ? 20 : 60), .ranks_per_domain = whole(1, 12)};
    if (whole(0, 2)) {
      s.machine.core_bandwidth = real(1e9, 10e9);
      s.machine.domain_bandwidth = real(5e9, 50e9);
    } else {
      s.machine.curve = curve();
    }
    s.program = {.steps = whole(1, 25), .kernel = whole(0, 3) ? support::Kernel::kMemory : support::Kernel::kCore};
    s.program.volume = static_cast<std::uint64_t>(whole(1'000'000, 100'000'000));
    s.program.time = micros(1000, 30'000);
    s.communication = communication();
    for (int n = whole(0, 5); n > 0; --n) {
      const int copies = whole(0, 4) ? 1 : 2;
      const support::Delay delay{whole(0, s.machine.ranks - 1), whole(0, static_cast<int>(s.program.steps) - 1),
                                 micros(0, 300'000)};
      for (int copy = 0; copy < copies; ++copy) s.delays.push_back(delay);
    }
    return s;
  }
  bool one_in(int n) { return whole(1, n) == 1; }
  double real(double from, double to) { return std::uniform_real_distribution<>(from, to)(random_); }
  int whole(int from, int to) { return std::uniform_int_distribution<>(from, to)(random_); }

 private:
  support::Nanoseconds micros(int from, int to) { return std::chrono::microseconds(whole(from, to)); }

  /// Company slows a rank down. (Where it speeds it up, a difference in time grows by the ratio of the speeds in every
  /// step, and no two simulations agree for long.)
  std::vector<double> curve() {
    std::vector<double> points = {real(2e9, 20e9)};
    for (int n = whole(0, 11); n > 0; --n) {
      points.push_back(points.back() * (1 + real(-0.1, 1) / static_cast<double>(points.size())));
    }
    return points;
  }

  support::Communication communication() {
    support::Communication c;
    c.topology = one_in(2) ? support::Topology::kRing : support::Topology::kChain;
    c.distances.clear();
    for (int n = whole(1, 4); n > 0; --n) c.distances.push_back(one_in(10) ? whole(-70, 70) : whole(-5, 5));
    c.protocol = one_in(2) ? support::Protocol::kEager : support::Protocol::kRendezvous;
    c.wait = one_in(2) ? support::WaitFlavour::kAll : support::WaitFlavour::kSplit;
    if (one_in(2)) c.time = one_in(3) ? micros(50'000, 400'000) : micros(1, 10'000);
    return c;
  }

  std::mt19937 random_;
};

}  // namespace idlewave::tests
