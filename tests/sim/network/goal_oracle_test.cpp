// The fast engine against the slow one.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <random>
#include <string>

#include "tests/any_seed.h"
#include "tests/sim/network/goal_oracle.h"
#include "workloads/sim/network/goal_run.h"
#include "workloads/sim/noise/drawn_noise.h"
#include "workloads/sim/noise/interruptions.h"

namespace idlewave::tests {
namespace {

using sim::network::GoalOp;
using sim::network::OpKind;

class RandomCase {
 public:
  /// Crowded: most operations wait for no other, so that many wait for the same processor or interface.
  explicit RandomCase(unsigned seed, bool crowded = false)
      : random_(seed), programs_(std::size_t(from(1, crowded ? 2 : 9))), crowded_(crowded) {
    cpus_ = from(0, 3) == 0 ? 3 : 1;
    nics_ = from(0, 3) == 0 ? 2 : 1;
    wildcards_ = from(0, 3) == 0;
    network = {from(0, 30), from(0, 12), from(0, 12), from(0, 3), from(0, 3), std::uint64_t(from(0, 1) ? 8 : 1000)};
    const auto pairs = from(0, crowded ? 400 : 40);
    for (std::int64_t i = 0; i < pairs; ++i) add_pair();
    const auto calcs = from(0, crowded ? 400 : 40);
    for (std::int64_t i = 0; i < calcs; ++i) add(rank(), {std::uint64_t(from(0, 50)), 0, 0, 0, OpKind::kCalc, units()});
    if (from(0, 9) == 0) add_receive(rank(), rank(), 5, 1);
    for (auto& program : programs_) std::shuffle(program.begin(), program.end(), random_);
    for (auto& program : programs_) link(program);
  }

  const OraclePrograms& programs() const { return programs_; }
  WholeLogGops network;

  sim::network::GoalSchedule schedule() const {
    sim::network::GoalBuilder builder(Rank(programs_.size()));
    for (const auto& program : programs_) append(program, builder);
    return *std::move(builder).build();
  }

 private:
  using Rank = wire::Rank;

  std::int64_t from(std::int64_t low, std::int64_t high) { return std::uniform_int_distribution(low, high)(random_); }
  Rank rank() { return Rank(from(0, std::int64_t(programs_.size()) - 1)); }
  sim::network::Units units() { return {std::uint8_t(from(0, cpus_ - 1)), std::uint8_t(from(0, nics_ - 1))}; }

  void add(Rank rank, GoalOp op) {
    op.rank = rank;
    programs_[std::size_t(rank)].push_back({op, {}, {}});
  }

  void add_receive(Rank at, Rank source, sim::network::Tag tag, std::uint64_t bytes) {
    if (wildcards_ && from(0, 2) == 0) source = sim::network::kAnySource;
    if (wildcards_ && from(0, 2) == 0) tag = sim::network::kAnyTag;
    add(at, {bytes, 0, source, tag, OpKind::kRecv, units()});
  }

  /// All messages between two ranks with one tag are of one size: which of them a receive gets may be left to the run.
  void add_pair() {
    const Rank source = rank(), target = rank();
    const auto tag = sim::network::Tag(from(0, 2));
    const std::uint64_t bytes = 1 + (std::uint64_t(source) * 7 + std::uint64_t(target) * 3 + tag * 5) % 16;
    add(source, {bytes, 0, target, tag, OpKind::kSend, units()});
    add_receive(target, source, tag, bytes);
  }

  void link(std::vector<OracleOp>& program) {
    for (std::size_t later = 1; later < program.size(); ++later)
      for (auto count = crowded_ ? from(-9, 1) : from(0, 2); count > 0; --count) {
        const auto earlier =
            std::size_t(from(std::max<std::int64_t>(0, std::int64_t(later) - 6), std::int64_t(later) - 1));
        auto& needs = from(0, 3) == 0 ? program[later].starts : program[later].ends;
        if (std::count(needs.begin(), needs.end(), earlier) == 0) needs.push_back(earlier);
      }
  }

  static void append(const std::vector<OracleOp>& program, sim::network::GoalBuilder& builder) {
    const auto first = sim::network::OpId(builder.size());
    for (const auto& it : program) {
      if (it.op.kind == OpKind::kCalc) builder.calc(it.op.rank, it.op.amount, it.op.units);
      if (it.op.kind == OpKind::kSend) builder.send(it.op.rank, it.op.amount, it.op.peer, it.op.tag, it.op.units);
      if (it.op.kind == OpKind::kRecv) builder.recv(it.op.rank, it.op.amount, it.op.peer, it.op.tag, it.op.units);
    }
    for (std::size_t later = 0; later < program.size(); ++later) {
      for (const auto earlier : program[later].ends)
        builder.after(first + sim::network::OpId(later), first + sim::network::OpId(earlier));
      for (const auto earlier : program[later].starts)
        builder.after_start(first + sim::network::OpId(later), first + sim::network::OpId(earlier));
    }
  }

  std::mt19937 random_;
  OraclePrograms programs_;
  int cpus_ = 1;
  int nics_ = 1;
  bool wildcards_ = false;
  bool crowded_;
};

support::LogGops loggops(const WholeLogGops& n) {
  using support::Nanoseconds;
  return {Nanoseconds(n.L), Nanoseconds(n.o), Nanoseconds(n.g), double(n.G) * 1e-9, double(n.O) * 1e-9, n.S};
}

/// For each of `cases` seeds a random case and what `make(seed, case)` says of its machine.
template <class Make>
void compare(int cases, Make make, bool crowded = false) {
  const unsigned first = any_seed();
  std::size_t complete = 0;
  for (unsigned seed = first; seed != first + unsigned(cases); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const RandomCase it(seed, crowded);
    const auto machine = make(seed, it);
    const OracleRun slow = simulate(it.programs(), it.network, machine.slow);
    const auto fast = sim::network::run(it.schedule(), loggops(it.network), machine.fast());
    ASSERT_TRUE(fast) << fast.error().message;
    ASSERT_EQ(fast->finish_ns, slow.finish_ns);
    ASSERT_EQ(fast->stuck.size(), slow.stuck);
    complete += fast->complete();
  }
  EXPECT_GT(complete, std::size_t(cases) / 20) << "from seed " << first << ": nearly all of the cases are deadlocks";
}

struct Machine {
  OracleMachine slow;
  std::shared_ptr<OracleMemory> whole;
  std::shared_ptr<sim::network::MemoryDomains> memory;
  std::shared_ptr<sim::core::PhaseNoise> noise;

  sim::network::GoalOptions fast() const { return {.memory = memory.get(), .noise = noise.get()}; }
};

void share_memory(Machine& machine, const RandomCase& it, const OracleMemory& memory) {
  support::Machine bandwidths{.ranks_per_domain = memory.ranks_per_domain};
  bandwidths.core_bandwidth = double(memory.b1), bandwidths.domain_bandwidth = double(memory.saturated);
  const std::size_t most = it.programs().size() * std::size_t(it.schedule().cpus());
  machine.whole = std::make_shared<OracleMemory>(memory);
  machine.memory = std::make_shared<sim::network::MemoryDomains>(*sim::network::memory_domains(bandwidths, most));
  machine.slow.memory = machine.whole.get();
}

/// Its moments lie between whole nanoseconds; what it takes is rounded as the header says.
void disturb(Machine& machine, std::shared_ptr<sim::core::PhaseNoise> noise) {
  machine.noise = noise;
  const auto after = [noise](int rank, int calc, std::int64_t begin, std::int64_t end) {
    return std::int64_t(std::llround(noise->after(rank, calc, double(begin) * 1e-9, double(end) * 1e-9) * 1e9));
  };
  machine.slow.noise.after_calc = after;
  if (!noise->is_in_time()) return;
  machine.slow.noise.after_overhead = [after](int rank, std::int64_t begin, std::int64_t end) {
    return after(rank, 0, begin, end);
  };
  machine.slow.noise.free_from = [noise](int rank, std::int64_t time) {
    return std::int64_t(std::llround(noise->free_from(rank, double(time) * 1e-9) * 1e9));
  };
}

OracleMemory any_memory(std::mt19937& random) {
  const auto from = [&](int low, int high) { return std::uniform_int_distribution(low, high)(random); };
  const int b1 = from(1, 20);
  return {from(1, 10), b1, b1 + from(0, 5 * b1)};
}

std::shared_ptr<sim::core::PhaseNoise> any_noise(std::mt19937& random) {
  const auto from = [&](int low, int high) { return std::uniform_int_distribution(low, high)(random); };
  const sim::noise::Phases phases(random(), from(0, 1) ? support::NoisePhase::kOwn : support::NoisePhase::kSame);
  if (from(0, 1)) return std::make_shared<sim::noise::ExponentialNoise>(from(1, 30) * 1e-9, random());
  const int period = from(20, 200);
  return std::make_shared<sim::noise::PeriodicInterruptions>(from(1, period / 2) * 1e-9, period * 1e-9, phases);
}

TEST(GoalOracle, EveryRankFinishesAtTheSameNanosecond) {
  compare(4000, [](unsigned, const RandomCase&) { return Machine{}; });
}

TEST(GoalOracle, EveryRankFinishesAtTheSameNanosecondOnMemoryDomains) {
  compare(4000, [](unsigned seed, const RandomCase& it) {
    std::mt19937 random(seed);
    Machine machine;
    share_memory(machine, it, any_memory(random));
    return machine;
  });
}

TEST(GoalOracle, EveryRankFinishesAtTheSameNanosecondUnderNoise) {
  compare(2000, [](unsigned seed, const RandomCase& it) {
    std::mt19937 random(seed);
    Machine machine;
    if (seed % 2) share_memory(machine, it, any_memory(random));
    disturb(machine, any_noise(random));
    return machine;
  });
}

TEST(GoalOracle, EveryRankFinishesAtTheSameNanosecondWhereManyWaitForAProcessor) {
  constexpr bool kCrowded = true;
  const auto any_machine = [](unsigned seed, const RandomCase& it) {
    std::mt19937 random(seed);
    Machine machine;
    if (seed % 2) share_memory(machine, it, any_memory(random));
    if (seed % 3 == 0) disturb(machine, any_noise(random));
    return machine;
  };
  compare(100, any_machine, kCrowded);
}

TEST(GoalOracle, EnoughBandwidthIsAsGoodAsNoDomains) {
  compare(4000, [](unsigned seed, const RandomCase& it) {
    std::mt19937 random(seed);
    OracleMemory memory = any_memory(random);
    memory.saturated = 40 * memory.b1;
    if (seed % 2 && it.schedule().cpus() == 1) memory.ranks_per_domain = 1, memory.saturated = memory.b1;
    Machine machine;
    share_memory(machine, it, memory);
    machine.slow.memory = nullptr;
    return machine;
  });
}

}  // namespace
}  // namespace idlewave::tests
