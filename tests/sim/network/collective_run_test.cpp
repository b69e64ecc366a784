#include "workloads/sim/network/collective_run.h"
#include "tests/any_seed.h"

#include <gmock/gmock.h>

#include <bit>
#include <cmath>
#include <memory>
#include <random>
#include <vector>

#include "tests/sim/network/every_collective.h"
#include "workloads/sim/network/goal_run.h"

namespace idlewave::sim::network {
namespace {

using support::LogGops;
using support::Nanoseconds;

/// Whole nanoseconds up to `most`, drawn for each rank and step.
class RandomWork final : public PhaseNoise {
 public:
  RandomWork(std::uint64_t seed, std::int64_t most) : seed_(seed), most_(most) {}
  std::int64_t ns(Rank rank, Step step) const {
    std::seed_seq place{seed_, std::uint64_t(rank), std::uint64_t(step)};
    return std::uniform_int_distribution<std::int64_t>(0, most_)(*std::make_unique<std::minstd_rand>(place));
  }
  double after(Rank rank, Step step, double, double) const override { return double(ns(rank, step)) * 1e-9; }

 private:
  std::uint64_t seed_;
  std::int64_t most_;
};

struct Case {
  CollectiveProgram program;
  LogGops network;
  std::uint64_t work_seed = 0;
  std::int64_t most_work = 0;  ///< Beyond program.work_ns; 0: none.
};

std::vector<std::int64_t> exact_finish(const Case& c) {
  RankPrograms programs(c.program.ranks);
  const RandomWork noise(c.work_seed, c.most_work);
  for (Step step = 0; step < c.program.steps; ++step) {
    std::optional<RankPrograms::Pending> pending;
    if (c.program.mode == CollectiveMode::kNonblocking) pending = programs.start(c.program.call);
    for (Rank rank = 0; rank < c.program.ranks; ++rank) {
      std::int64_t ns = c.program.work_ns + (c.most_work > 0 ? noise.ns(rank, step) : 0);
      for (const Idle& idle : c.program.delays) ns += idle.rank == rank && idle.step == step ? idle.ns : 0;
      programs.calc(rank, std::uint64_t(ns));
    }
    if (c.program.mode == CollectiveMode::kBlocking) programs.call(c.program.call);
    if (pending) programs.wait(*pending);
  }
  const auto schedule = std::move(programs).build();
  const auto result = run(*schedule, c.network);
  EXPECT_TRUE(result && result->complete());
  return result->finish_ns;
}

CollectiveRun run_case(const Case& c) {
  const RandomWork noise(c.work_seed, c.most_work);
  const auto result = run(c.program, c.network, {.noise = c.most_work > 0 ? &noise : nullptr});
  EXPECT_TRUE(result) << (result ? "" : result.error().message);
  return result ? *result : CollectiveRun{};
}

class Dice {
 public:
  explicit Dice(std::uint64_t seed) : random_(seed) {}
  std::int64_t upto(std::int64_t most) { return std::uniform_int_distribution<std::int64_t>(0, most)(random_); }
  bool one_in(int n) { return upto(n - 1) == 0; }

 private:
  std::mt19937_64 random_;
};

Case random_case(std::uint64_t seed) {
  Dice dice(seed);
  Case c;
  c.program.ranks = Rank(1 + dice.upto(dice.one_in(2) ? 69 : 12));
  c.program.steps = 1 + dice.upto(5);
  c.program.work_ns = dice.one_in(4) ? 0 : dice.upto(30'000);
  c.program.call = {kAll[dice.upto(std::size(kAll) - 1)], std::uint64_t(1 + dice.upto(dice.one_in(2) ? 20 : 3000)),
                    Rank(dice.upto(c.program.ranks - 1))};
  c.program.mode = dice.one_in(2) ? CollectiveMode::kBlocking : CollectiveMode::kNonblocking;
  for (std::int64_t i = dice.one_in(3) ? dice.upto(3) : 0; i > 0; --i)
    c.program.delays.push_back(
        {Rank(dice.upto(c.program.ranks - 1)), dice.upto(c.program.steps - 1), dice.upto(100'000)});
  c.network = {Nanoseconds(1 + dice.upto(5000)),
               Nanoseconds(1 + dice.upto(3000)),
               Nanoseconds(dice.one_in(3) ? 0 : dice.upto(4000)),
               double(dice.upto(dice.one_in(2) ? 10'000 : 10)) * 1e-12,
               dice.one_in(2) ? 0.0 : double(dice.upto(5000)) * 1e-12,
               std::uint64_t(dice.one_in(3) ? dice.upto(2000) : 1 << 30)};
  c.work_seed = seed;
  c.most_work = 100'000 + dice.upto(1'000'000'000);
  return c;
}

std::string describe(const Case& c, std::uint64_t seed) {
  return "seed " + std::to_string(seed) + ": algorithm " + std::to_string(int(c.program.call.algorithm)) + ", " +
         std::to_string(c.program.ranks) + " ranks, " + std::to_string(c.program.steps) + " steps, mode " +
         std::to_string(int(c.program.mode)) + ", " + std::to_string(c.program.call.bytes) + " B, root " +
         std::to_string(c.program.call.root) + ", S " + std::to_string(c.network.rendezvous_size);
}

/// Of `count` random programs, changed by `change`.
template <class Change>
void expect_exact(int count, const Change& change) {
  const std::uint64_t first = any_seed();
  int tied = 0;
  for (std::uint64_t seed = first; seed < first + std::uint64_t(count); ++seed) {
    Case c = random_case(seed);
    change(c);
    const CollectiveRun run = run_case(c);
    tied += run.tied;
    if (run.tied) continue;
    ASSERT_EQ(run.finish_ns, exact_finish(c)) << describe(c, seed);
  }
  EXPECT_LT(tied, count / 5) << "from seed " << first;
}

TEST(CollectiveRun, EndsAtTheSameNanosecondAsTheScheduleOnRandomPrograms) {
  expect_exact(3000, [](Case&) {});
}

TEST(CollectiveRun, EndsAtTheSameNanosecondAsTheScheduleByRendezvous) {
  expect_exact(500, [](Case& c) { c.network.rendezvous_size = c.program.call.bytes / 2; });
}

TEST(CollectiveRun, EndsAtTheSameNanosecondAsTheScheduleOnANetworkWithoutLatencyAndOverhead) {
  expect_exact(300, [](Case& c) { c.network.latency = c.network.overhead = {}; });
}

bool is_the_same_for_all(Collective algorithm) {
  return algorithm == Collective::kBarrier || algorithm == Collective::kAllreduceDissemination ||
         algorithm == Collective::kAllgatherDissemination || algorithm == Collective::kAllgatherBruck ||
         algorithm == Collective::kAllreduceRing || algorithm == Collective::kAllgatherRing;
}

TEST(CollectiveRun, EndsAtTheSameNanosecondAsTheScheduleWhereAllRanksDoTheSame) {
  const std::uint64_t first = any_seed();
  for (std::uint64_t seed = first; seed < first + 1000; ++seed) {
    Case c = random_case(seed);
    c.most_work = 0;
    c.program.delays.clear();
    c.program.mode = CollectiveMode::kBlocking;
    const CollectiveRun run = run_case(c);
    if (run.tied && !is_the_same_for_all(c.program.call.algorithm)) continue;
    ASSERT_EQ(run.finish_ns, exact_finish(c)) << describe(c, seed);
  }
}

/// Times in nanoseconds.
class OneInterruption final : public PhaseNoise {
 public:
  OneInterruption(Rank rank, std::int64_t begin, std::int64_t length) : rank_(rank), begin_(begin), length_(length) {}
  double after(Rank rank, Step, double begin, double end) const override {
    return rank == rank_ && begin * 1e9 <= begin_ && begin_ < end * 1e9 ? length_ * 1e-9 : 0;
  }
  double free_from(Rank rank, double time) const override {
    const bool is_in = rank == rank_ && begin_ < time * 1e9 && time * 1e9 < begin_ + length_;
    return is_in ? (begin_ + length_) * 1e-9 : time;
  }
  double next_from(Rank rank, double time) const override {
    return rank == rank_ && time * 1e9 <= begin_ ? begin_ * 1e-9 : 1e6;
  }
  bool is_in_time() const override { return true; }

 private:
  Rank rank_;
  double begin_, length_;
};

/// Two ranks work for 10 us and meet in a barrier: each sends from 10.0 to 10.1 us and receives from 11.1 to 11.2 us.
const CollectiveProgram kMeeting{.ranks = 2, .steps = 1, .work_ns = 10'000, .call = {}, .delays = {}};
const LogGops kMeetingNetwork{Nanoseconds(1000), Nanoseconds(100), {}, 0, 0, 1 << 20};

std::vector<std::int64_t> meet(std::int64_t interrupted_at, std::int64_t length) {
  const OneInterruption noise(0, interrupted_at, length);
  return run(kMeeting, kMeetingNetwork, {.noise = &noise})->finish_ns;
}

TEST(CollectiveRun, AnInterruptionTakesTheProcessorFromWhateverItDoes) {
  using testing::ElementsAre;
  EXPECT_THAT(run(kMeeting, kMeetingNetwork)->finish_ns, ElementsAre(11'200, 11'200));
  EXPECT_THAT(meet(5'000, 3'000), ElementsAre(13'200, 14'200)) << "from work";
  EXPECT_THAT(meet(10'050, 400), ElementsAre(11'200, 11'600)) << "from what it sends, which leaves later";
  EXPECT_THAT(meet(10'200, 500), ElementsAre(11'200, 11'200)) << "while it waits, and is over";
  EXPECT_THAT(meet(10'500, 2'000), ElementsAre(12'600, 11'200)) << "when a message comes";
  EXPECT_THAT(meet(11'150, 70), ElementsAre(11'270, 11'200)) << "from what it receives";
}

TEST(CollectiveRun, AnIdealCollectiveLeavesEachRankToItself) {
  CollectiveProgram program{
      .ranks = 3, .steps = 4, .work_ns = 1000, .call = {}, .mode = CollectiveMode::kIdeal, .delays = {{1, 2, 500}}};
  const auto run_of = run(program, kMeetingNetwork, {.starts_of = 3});
  EXPECT_THAT(run_of->finish_ns, testing::ElementsAre(4000, 4500, 4000));
  EXPECT_THAT(run_of->starts_ns, testing::ElementsAre(3000, 3500, 3000));
  EXPECT_EQ(run_of->messages, 0u);
}

TEST(CollectiveRun, CountsMessagesAndStepsAndTellsWhenAStepBegins) {
  CollectiveProgram program = kMeeting;
  program.steps = 3;
  program.delays = {{0, 1, 700}};
  const auto run_of = run(program, kMeetingNetwork, {.starts_of = 1});
  EXPECT_EQ(run_of->messages, 6u);
  EXPECT_EQ(run_of->rank_steps, 6u);
  EXPECT_THAT(run_of->starts_ns, testing::ElementsAre(11'200, 11'200));
  EXPECT_THAT(run_of->finish_ns, testing::ElementsAre(34'300, 33'600));
}

TEST(CollectiveRun, EndsWithWhatItHasWhenItIsStopped) {
  const std::atomic<bool> stop{true};
  const auto run_of = run(kMeeting, kMeetingNetwork, {.stop = &stop});
  EXPECT_TRUE(run_of->stopped);
  EXPECT_EQ(run_of->rank_steps, 0u);
}

TEST(CollectiveRun, RefusesWhatIsOutOfRange) {
  const auto refused = [](auto change) {
    CollectiveProgram program = kMeeting;
    change(program);
    return !run(program, kMeetingNetwork);
  };
  EXPECT_TRUE(refused([](auto& p) { p.ranks = 0; }));
  EXPECT_TRUE(refused([](auto& p) { p.steps = 0; }));
  EXPECT_TRUE(refused([](auto& p) { p.work_ns = -1; }));
  EXPECT_TRUE(refused([](auto& p) { p.work_ns = std::int64_t{1} << 60; }));
  EXPECT_TRUE(refused([](auto& p) { p.call.bytes = 0; }));
  EXPECT_TRUE(refused([](auto& p) { p.call.root = 2; }));
  EXPECT_TRUE(refused([](auto& p) { p.delays = {{2, 0, 1}}; }));
  EXPECT_FALSE(refused([](auto&) {}));
}

}  // namespace
}  // namespace idlewave::sim::network
