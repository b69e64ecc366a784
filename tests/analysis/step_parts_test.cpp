// Causes in steps in which ranks wait several times and work between: held against what a delay costs all others, and
// against the same run told in finer steps, each of which has one wait.

#include "monitor/analysis/steps/step_parts.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <random>

#include "monitor/analysis/causes/causes.h"
#include "tests/any_seed.h"
#include "tests/timeline/builders.h"

namespace idlewave::analysis {
namespace {

using timeline::Timeline;
using wire::Event;
using wire::EventKind;
using wire::Phase;

constexpr Nanoseconds kFlight{20'000};  ///< Of a message.

/// Ranks of a ring, which in each stage of a step work and then wait for both neighbours, or for all.
struct Staged {
  Rank ranks = 0;
  int steps = 0;
  std::vector<bool> meets_all;                              ///< By stage.
  std::vector<std::vector<std::vector<Nanoseconds>>> work;  ///< [step][stage][rank]

  int stages() const { return int(meets_all.size()); }
};

Staged random_program(std::mt19937& dice, double noise) {
  const auto whole = [&](int from, int to) { return std::uniform_int_distribution<>(from, to)(dice); };
  Staged program{.ranks = whole(5, 20), .steps = whole(30, 60), .meets_all = {}, .work = {}};
  for (int stage = whole(2, 4); stage > 0; --stage) program.meets_all.push_back(whole(0, 1));
  std::vector<double> lengths;
  for (int stage = 0; stage < program.stages(); ++stage)
    lengths.push_back(std::uniform_real_distribution<>(0.5e6, 3e6)(dice));
  std::exponential_distribution<> more(1 / std::max(noise, 1e-9));
  for (int step = 0; step < program.steps; ++step) {
    auto& of_step = program.work.emplace_back();
    for (const double length : lengths) {
      auto& of_stage = of_step.emplace_back();
      for (Rank rank = 0; rank < program.ranks; ++rank)
        of_stage.push_back(Nanoseconds(std::llround(length * (1 + (noise > 0 ? more(dice) : 0)))));
    }
  }
  return program;
}

/// `finely`: a step for each stage.
wire::Roster roster_of(const Staged& program, bool finely) {
  wire::Roster roster;
  roster.world_size = program.ranks;
  roster.patterns = {{false, false, {-1, 1}, {-1, 1}}, {false, true, {}, {}}};
  wire::WaitCycle cycle;
  for (const bool meets_all : program.meets_all) {
    if (finely || cycle.steps.empty()) cycle.steps.emplace_back();
    // A collective of all is said once in a step.
    auto& said = cycle.steps.back();
    if (!meets_all || std::ranges::find(said, 1u) == said.end()) said.push_back(meets_all);
  }
  roster.cycles = {cycle};
  for (Rank rank = 0; rank < program.ranks; ++rank) roster.ranks.push_back({rank, 1000 + rank, wire::kNoDomain, 1});
  return roster;
}

Timeline play(const Staged& program, bool finely) {
  std::vector<std::vector<Event>> events(std::size_t(program.ranks));
  std::vector<Nanoseconds> now(std::size_t(program.ranks), Nanoseconds{0});
  const auto tell = [&](std::size_t rank, EventKind kind, std::uint64_t value, Phase phase) {
    events[rank].push_back({now[rank], value, kind, phase});
  };
  for (std::size_t rank = 0; rank < now.size(); ++rank) tell(rank, EventKind::kStart, 0, Phase::kNone);
  for (int step = 0; step < program.steps; ++step)
    for (int stage = 0; stage < program.stages(); ++stage) {
      std::vector<Nanoseconds> posts;
      for (std::size_t rank = 0; rank < now.size(); ++rank) {
        if (finely || stage == 0)
          tell(rank, EventKind::kStep, std::uint64_t(finely ? step * program.stages() + stage : step), Phase::kNone);
        tell(rank, EventKind::kSwitch, 0, Phase::kCompute);
        now[rank] += program.work[std::size_t(step)][std::size_t(stage)][rank];
        tell(rank, EventKind::kSwitch, 0, Phase::kWait);
        posts.push_back(now[rank]);
      }
      const std::size_t ranks = now.size();
      for (std::size_t rank = 0; rank < ranks; ++rank) {
        const Nanoseconds last =
            program.meets_all[std::size_t(stage)]
                ? std::ranges::max(posts)
                : std::max({posts[rank], posts[(rank + 1) % ranks], posts[(rank + ranks - 1) % ranks]});
        now[rank] = last + kFlight;
      }
    }
  Timeline timeline;
  EXPECT_TRUE(timeline.apply_roster("n", roster_of(program, finely)));
  for (std::size_t rank = 0; rank < now.size(); ++rank) {
    tell(rank, EventKind::kStop, 0, Phase::kNone);
    timeline.append("n", timeline::rank_lane(Rank(rank)), events[rank]);
  }
  timeline.advance("n", std::ranges::max(now));
  return timeline;
}

causes::Causes causes_of(const Timeline& timeline) {
  return causes::find_causes(timeline, {Nanoseconds{0}, Nanoseconds::max()});
}

Nanoseconds owed(const causes::RankCauses& causes, Rank to) {
  const auto found = std::ranges::find(causes.by, to, &causes::Culprit::rank);
  return found == causes.by.end() ? Nanoseconds{0} : found->cost.sum();
}

/// All have come to a collective of the step since, or are behind one that has.
TEST(StepParts, OfAStepOweWhatOneRankWasLateByInAnyOfThem) {
  for (int trial = 0; trial < 60; ++trial) {
    const unsigned seed = any_seed();
    SCOPED_TRACE(seed);
    std::mt19937 dice(seed);
    const auto whole = [&](int from, int to) { return std::uniform_int_distribution<>(from, to)(dice); };
    Staged program = random_program(dice, 0);
    program.meets_all.back() = true;
    const Rank late = whole(0, program.ranks - 1);
    const Nanoseconds delay(whole(20'000'000, 80'000'000));
    program.work[std::size_t(whole(8, program.steps - 8))][std::size_t(whole(0, program.stages() - 1))]
                [std::size_t(late)] += delay;
    const Timeline timeline = play(program, false);
    const causes::Causes causes = causes_of(timeline);
    for (Rank rank = 0; rank < program.ranks; ++rank) {
      const causes::RankCauses& its = causes.ranks[std::size_t(rank)];
      EXPECT_EQ(its.unknown.count(), 0) << rank;
      EXPECT_NEAR(double(owed(its, late).count()), rank == late ? 0 : double(delay.count()), 1e3) << rank;
    }
  }
}

TEST(StepParts, HaveTheCausesOfTheSameRunInStepsOfOneWait) {
  double all = 0, differ = 0, unknown = 0;
  for (int trial = 0; trial < 60; ++trial) {
    const unsigned seed = any_seed();
    std::mt19937 dice(seed);
    const Staged program = random_program(dice, std::uniform_real_distribution<>(0.01, 0.3)(dice));
    const Timeline coarse = play(program, false), fine = play(program, true);
    const causes::Causes in_parts = causes_of(coarse), in_steps = causes_of(fine);
    for (Rank rank = 0; rank < program.ranks; ++rank) {
      const causes::RankCauses &mine = in_parts.ranks[std::size_t(rank)], &its = in_steps.ranks[std::size_t(rank)];
      all += double(its.waited.count());
      unknown += double(mine.unknown.count());
      for (Rank other = 0; other < program.ranks; ++other)
        differ += std::abs(double((owed(mine, other) - owed(its, other)).count()));
    }
  }
  fmt::print("{:.1f} % to others, {:.1f} % unknown\n", 100 * differ / all, 100 * unknown / all);
  EXPECT_LE(differ, 0.01 * all);
  EXPECT_LE(unknown, 0.01 * all);
}

}  // namespace
}  // namespace idlewave::analysis
