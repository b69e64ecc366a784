// Waves held against the truth: the slow simulation run twice, with a delay and without it. Who ends a step later, and
// waits longer, because of the delay has been reached.

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gmock/gmock.h>

#include <cmath>
#include <cstdlib>
#include <map>
#include <random>

#include "monitor/analysis/step_history.h"
#include "monitor/analysis/waves.h"
#include "tests/workloads/exact_run.h"

namespace idlewave::analysis {
namespace {

using support::Protocol;
using support::Topology;
using support::WaitFlavour;
using tests::ExactProgram;
using tests::ExactRun;
using wire::EventKind;
using wire::Phase;

constexpr double kReached = 0.1;  ///< Of a step: who is later by less is not reached.
constexpr double kWaits = 0.05;

wire::Event event(double seconds, EventKind kind, Phase phase, std::uint64_t value = 0) {
  return {Nanoseconds(std::llround(seconds * 1e9)), value, kind, phase};
}

wire::Roster roster_of(const ExactProgram& program) {
  wire::Roster roster;
  roster.world_size = program.ranks;
  for (Rank rank = 0; rank < program.ranks; ++rank)
    roster.ranks.push_back({rank, 1000 + rank, rank / program.ranks_per_domain});
  for (int domain = 0; domain <= (program.ranks - 1) / program.ranks_per_domain; ++domain) {
    wire::DomainInfo info;
    info.id = domain;
    info.label = fmt::format("socket {}", domain);
    if (program.bandwidth) {
      info.core_bandwidth = program.bandwidth(1);
      info.saturated_bandwidth = program.bandwidth(1000);
    }
    roster.domains.push_back(info);
  }
  return roster;
}

double held_by_delays(const ExactProgram& program, Rank rank, int step) {
  double held = 0;
  for (const support::Delay& delay : program.delays)
    if (delay.rank == rank && delay.step == step) held += double(delay.duration.count()) * 1e-9;
  return held;
}

/// What the probe of one rank would say; the program ends with the last step's begin, since its end is not told.
std::vector<wire::Event> events_of(const ExactProgram& program, const ExactRun& run, Rank rank) {
  const auto& starts = run.step_start[std::size_t(rank)];
  std::vector<wire::Event> events{event(0, EventKind::kStart, Phase::kNone)};
  for (int step = 0; step + 1 < program.steps; ++step) {
    const double begin = starts[std::size_t(step)], next = starts[std::size_t(step) + 1];
    const auto& work = run.work[std::size_t(rank)][std::size_t(step)];
    const Phase before = step > 0 ? Phase::kWait : Phase::kNone;
    events.push_back(event(begin, EventKind::kStep, before, std::uint64_t(step)));
    if (const double held = held_by_delays(program, rank, step); held > 0) {
      events.push_back(event(begin, EventKind::kDelayBegin, Phase::kDelay, 7));
      events.push_back(event(begin + held, EventKind::kDelayEnd, before, 7));
    }
    events.push_back(event(work.from, step > 0 ? EventKind::kSwitch : EventKind::kEnter, Phase::kCompute));
    const double noise = program.noise ? program.noise(rank, step) : 0;
    if (noise > 0) events.push_back(event(work.to, EventKind::kSwitch, Phase::kNoise));
    events.push_back(event(std::min(work.to + noise, next), EventKind::kSwitch, Phase::kWait));
  }
  events.push_back(event(starts.back(), EventKind::kStop, Phase::kNone));
  return events;
}

timeline::Timeline timeline_of(const ExactProgram& program, const ExactRun& run) {
  timeline::Timeline timeline;
  timeline.apply_roster("n1", roster_of(program));
  Nanoseconds last{};
  for (Rank rank = 0; rank < program.ranks; ++rank) {
    const auto events = events_of(program, run, rank);
    last = std::max(last, events.back().time);
    timeline.append("n1", {wire::LaneId::Kind::kRank, rank}, events);
  }
  timeline.advance("n1", last);
  return timeline;
}

/// The step in which each rank was reached.
using Front = std::map<Rank, int>;

struct Truth {
  Front front;
  /// [rank][step] in steps: how much later it ended.
  std::vector<std::vector<double>> late;
};

double waiting(const ExactRun& run, Rank rank, int step) {
  return run.step_start[std::size_t(rank)][std::size_t(step) + 1] - run.work[std::size_t(rank)][std::size_t(step)].to;
}

Truth truth_of(const ExactProgram& program, const ExactRun& run, std::size_t which, double typical_step) {
  ExactProgram without_it = program;
  without_it.delays.erase(without_it.delays.begin() + std::ptrdiff_t(which));
  const ExactRun without = simulate(without_it);
  const support::Delay& delay = program.delays[which];
  Truth truth;
  truth.late.resize(std::size_t(program.ranks));
  for (Rank rank = 0; rank < program.ranks; ++rank) {
    for (int step = 0; step + 1 < program.steps; ++step) {
      const auto next = std::size_t(step) + 1;
      const double late =
          (run.step_start[std::size_t(rank)][next] - without.step_start[std::size_t(rank)][next]) / typical_step;
      truth.late[std::size_t(rank)].push_back(late);
      const double more = (waiting(run, rank, step) - waiting(without, rank, step)) / typical_step;
      if (rank != delay.rank && step >= delay.step && late >= kReached && more >= kWaits)
        truth.front.try_emplace(rank, step);
    }
  }
  return truth;
}

class RandomPrograms {
 public:
  explicit RandomPrograms(unsigned seed) : random_(seed) {}

  /// Noise: exponential, of that mean in steps.
  ExactProgram next(bool memory, double noise) {
    ExactProgram program;
    program.ranks = whole(16, 60);
    program.ranks_per_domain = whole(4, 12);
    program.steps = whole(60, 120);
    double step = program.time = real(0.003, 0.03);
    if (memory) {
      const double saturated = real(2, program.ranks_per_domain) * 10e9;
      program.bandwidth = [saturated](int active) { return std::min(active * 10e9, saturated); };
      program.volume = real(20e6, 80e6);
      step = program.volume * program.ranks_per_domain / saturated;
    }
    static const std::vector<std::vector<support::Rank>> kDistances = {
        {-1, 1}, {-1, 1}, {1}, {-1}, {-2, -1, 1, 2}, {-2, 2}, {1, 3}, {1, -1, -2}, {-3, -1, 1, 3}};
    program.communication.distances = kDistances[std::size_t(whole(0, int(kDistances.size()) - 1))];
    program.communication.topology = whole(0, 1) ? Topology::kRing : Topology::kChain;
    program.communication.protocol = whole(0, 2) ? Protocol::kEager : Protocol::kRendezvous;
    program.communication.wait = whole(0, 2) ? WaitFlavour::kAll : WaitFlavour::kSplit;
    if (noise > 0) {
      program.noise = [mean = noise * step, seed = random_()](int rank, int k) {
        std::minstd_rand random(unsigned(rank * 7919 + k * 104729 + 1) ^ unsigned(seed));
        random.discard(3);
        return std::exponential_distribution<>(1 / mean)(random);
      };
    }
    program.delays = {{whole(0, program.ranks - 1), whole(18, program.steps / 2),
                       Nanoseconds(std::llround(step * real(3, 30) * 1e9))}};
    return program;
  }

 private:
  int whole(int from, int to) { return std::uniform_int_distribution<>(from, to)(random_); }
  double real(double from, double to) { return std::uniform_real_distribution<>(from, to)(random_); }

  std::mt19937 random_;
};

std::string words_of(const ExactProgram& program) {
  const auto& c = program.communication;
  return fmt::format(
      "{} ranks, {} a domain, {} steps, {}, distances {}, {}, {}, rank {} from step {} for {} ns", program.ranks,
      program.ranks_per_domain, program.steps, c.topology == Topology::kRing ? "ring" : "chain", c.distances,
      c.protocol == Protocol::kEager ? "eager" : "rendezvous", c.wait == WaitFlavour::kAll ? "one wait" : "split",
      program.delays[0].rank, program.delays[0].step, program.delays[0].duration.count());
}

/// How waves of many programs were found.
struct Score {
  int waves = 0, reach_right = 0, points = 0, not_late = 0, wrong_step = 0;
};

void judge(const ExactProgram& program, Score& score) {
  const ExactRun run = simulate(program);
  const timeline::Timeline timeline = timeline_of(program, run);
  const auto waves = find_waves(timeline, {Nanoseconds{0}, Nanoseconds::max()});
  ASSERT_EQ(waves.size(), 1u) << words_of(program);
  const Truth truth = truth_of(program, run, 0, double(typical_step_length(timeline).count()) * 1e-9);
  ++score.waves;
  const int reach = waves[0].up.reach_ranks + waves[0].down.reach_ranks;
  const bool right = std::abs(reach - int(truth.front.size())) <= 2;
  score.reach_right += right;
  if (!right) fmt::print("reach {}, in truth {}: {}\n", reach, truth.front.size(), words_of(program));
  for (const WaveDirection* direction : {&waves[0].up, &waves[0].down}) {
    for (const FrontPoint& point : direction->front) {
      ++score.points;
      const auto found = truth.front.find(point.rank);
      score.wrong_step += found == truth.front.end() || found->second != point.step;
      score.not_late += truth.late[std::size_t(point.rank)][std::size_t(point.step)] < 0.9 * kReached;
    }
  }
}

Score score_of(bool memory, double noise, unsigned seed, int programs) {
  RandomPrograms random(seed);
  Score score;
  for (int i = 0; i < programs; ++i) judge(random.next(memory, noise), score);
  fmt::print("{} waves, {} of right reach; {} points, {} not late, {} in another step; seed {}\n", score.waves,
             score.reach_right, score.points, score.not_late, score.wrong_step, seed);
  return score;
}

/// From IDLEWAVE_TEST_SEED, to repeat a failure; else fresh.
unsigned any_seed() {
  const char* given = std::getenv("IDLEWAVE_TEST_SEED");
  return given ? unsigned(std::strtoul(given, nullptr, 10)) : std::random_device{}();
}

TEST(WaveTruth, OfCoreBoundProgramsIsFoundToTheRank) {
  for (const double noise : {0.0, 0.02}) {
    const Score score = score_of(false, noise, any_seed(), 25);
    // Over 3,000 programs 9 were wrong: partners that can't be told from the times.
    EXPECT_GE(score.reach_right, score.waves - 2);
    EXPECT_LE(score.not_late, score.points / 200);
    EXPECT_LE(score.wrong_step, score.points / 50);
  }
}

TEST(WaveTruth, OfCoreBoundProgramsIsFoundInNoise) {
  for (const double noise : {0.05, 0.1}) {
    const Score score = score_of(false, noise, any_seed(), 20);
    EXPECT_GE(score.reach_right, score.waves - 3);
    EXPECT_LE(score.not_late, score.points / 50);
  }
}

TEST(WaveTruth, OfMemoryBoundProgramsIsFound) {
  const Score score = score_of(true, 0, any_seed(), 20);
  EXPECT_GE(score.reach_right, score.waves * 7 / 10);
  EXPECT_LE(score.not_late, score.points / 20);
}

/// physics.md: 40 ranks in a ring, 10 on a domain, saturation at 5, a delay of 1.2 s. All 39 others wait for more than a
/// second, and the fronts meet on the far side.
TEST(WaveTruth, OfTheReferenceCaseMeetsItselfOnTheFarSide) {
  ExactProgram program;
  program.bandwidth = [](int active) { return std::min(active * 10e9, 50e9); };
  program.volume = 50e6;
  program.communication.protocol = Protocol::kEager;
  program.delays = {{5, 5, std::chrono::milliseconds(1200)}};
  const auto waves = find_waves(timeline_of(program, simulate(program)), {Nanoseconds{0}, Nanoseconds::max()});
  ASSERT_EQ(waves.size(), 1u);
  EXPECT_EQ(waves[0].up.reach_ranks + waves[0].down.reach_ranks, 39);
  for (const WaveDirection* direction : {&waves[0].up, &waves[0].down}) {
    EXPECT_NEAR(direction->reach_ranks, 19.5, 0.5);
    EXPECT_EQ(direction->end, WaveEnd::kAnnihilated);
    EXPECT_NEAR(direction->end_rank, 25, 1);
    for (const FrontPoint& point : direction->front)
      EXPECT_GT(point.departure - point.arrival, std::chrono::seconds(1));
  }
}

}  // namespace
}  // namespace idlewave::analysis
