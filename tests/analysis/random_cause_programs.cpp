#include "tests/analysis/random_cause_programs.h"

#include <cmath>

namespace idlewave::test {

using support::Protocol;
using support::Topology;
using support::WaitFlavour;
using wire::Rank;

namespace {

wire::Nanoseconds rounded(double seconds) { return wire::Nanoseconds(std::llround(seconds * 1e9)); }

}  // namespace

tests::ExactProgram RandomCausePrograms::next(bool memory) {
  tests::ExactProgram program;
  program.ranks = whole(8, 40);
  program.ranks_per_domain = whole(4, 10);
  program.steps = whole(30, 80);
  double step = program.time = real(0.003, 0.03);
  if (memory) {
    const double saturated = real(2, program.ranks_per_domain) * 10e9;
    program.bandwidth = [saturated](int active) { return std::min(active * 10e9, saturated); };
    program.volume = real(20e6, 80e6);
    step = program.volume * program.ranks_per_domain / saturated;
  }
  auto& c = program.communication;
  static const std::vector<std::vector<Rank>> kDistances = {{-1, 1}, {1}, {-1}, {-2, -1, 1, 2}, {-2, 2}, {2}};
  c.distances = kDistances[std::size_t(whole(0, int(kDistances.size()) - 1))];
  c.topology = whole(0, 1) ? Topology::kRing : Topology::kChain;
  c.protocol = whole(0, 2) ? Protocol::kEager : Protocol::kRendezvous;
  // Where an edge cuts off one way to a partner and leaves another, no offset says so: only neighbours wait in turn.
  const bool neighbours = c.distances == std::vector<Rank>{-1, 1};
  c.wait = neighbours && whole(0, 1) ? WaitFlavour::kSplit : WaitFlavour::kAll;
  if (c.wait == WaitFlavour::kAll && whole(0, 2) == 0) c.time = rounded(step * real(0.01, 0.4));
  if (whole(0, 3) > 0) {
    program.noise = [mean = real(0.005, 0.1) * step, seed = random_()](int rank, int k) {
      std::minstd_rand random(unsigned(rank * 7919 + k * 104729 + 1) ^ unsigned(seed));
      random.discard(3);
      return std::exponential_distribution<>(1 / mean)(random);
    };
  }
  for (int delays = whole(0, 3); delays > 0; --delays)
    program.delays.push_back({whole(0, program.ranks - 1), whole(5, program.steps - 5), rounded(step * real(0.5, 9))});
  return program;
}

}  // namespace idlewave::test
