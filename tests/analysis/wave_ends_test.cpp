// How fast waves run, and how they end, by closed forms.

#include "tests/analysis/wave_truth.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <cmath>
#include <set>

#include "monitor/analysis/steps/step_history.h"
#include "monitor/theory/idle_wave.h"
#include "tests/any_seed.h"

namespace idlewave::analysis {
namespace {

using support::Protocol;
using support::Topology;
using support::WaitFlavour;
using test::Holds;
using test::RandomWavePrograms;
using test::Told;
using tests::ExactProgram;
using tests::ExactRun;

/// Core-bound, all of it by closed forms: sigma d (afzal-2020, eq. 2), and where fronts of an endless wave end.
struct Ends {
  int fronts = 0, right_speed = 0, ends = 0, right_end = 0, with_others = 0;
};

/// Long enough that its slope is not that of two steps.
bool has_slope(const waves::WaveDirection& direction) {
  return direction.front.size() > 4 && direction.front.back().step - direction.front.front().step >= 4;
}

/// Per step; and, where nothing disturbs anybody, per second, with messages of which one is waited for after another.
bool has_speed(const ExactProgram& program, const waves::WaveDirection& direction, double ranks_per_step) {
  const auto is_near = [](const std::optional<Estimate>& measured, double expected) {
    return measured && std::abs(measured->value / expected - 1) <= 0.05;
  };
  if (!is_near(direction.leading.ranks_per_step, ranks_per_step)) return false;
  const auto& c = program.communication;
  if (program.noise || c.wait == WaitFlavour::kSplit) return true;
  const double step = program.time + double(c.time.count()) * 1e-9;
  return is_near(direction.leading.ranks_per_s, ranks_per_step / step) && direction.theory &&
         std::abs(direction.theory->ranks_per_s * step / ranks_per_step - 1) < 1e-3;
}

/// Of a wave that nothing ends but the program, its other front, and the ends of a chain. `to_go`: ranks up to these.
bool has_end(const waves::WaveDirection& direction, bool ring, double ranks_per_step, double to_go, int steps) {
  if (ranks_per_step == 0) return direction.end == waves::WaveEnd::kNone;
  if (to_go > ranks_per_step * (steps - 1)) return true;  // It may not come so far.
  return direction.end == (ring ? waves::WaveEnd::kAnnihilated : waves::WaveEnd::kBoundary);
}

void look_at_ends(const ExactProgram& program, const waves::Wave& wave, Ends& found) {
  const auto& c = program.communication;
  const std::vector<int> distances(c.distances.begin(), c.distances.end());
  const bool rendezvous = c.protocol == Protocol::kRendezvous, split = c.wait == WaitFlavour::kSplit;
  const theory::RanksPerStep speed = theory::ranks_per_step({distances, rendezvous, split});
  const bool ring = c.topology == Topology::kRing;
  const int steps = program.steps - program.delays[0].step;
  for (const waves::WaveDirection* direction : {&wave.up, &wave.down}) {
    const double ranks_per_step = direction->sign > 0 ? speed.up : speed.down;
    if (ranks_per_step > 0 && has_slope(*direction)) {
      ++found.fronts;
      const bool right = has_speed(program, *direction, ranks_per_step);
      found.right_speed += right;
      if (!right && direction->leading.ranks_per_step)
        fmt::print("{} ranks/step, by theory {}: {}\n", direction->leading.ranks_per_step->value, ranks_per_step,
                   test::words_of(program));
    }
    const double round = program.ranks * ranks_per_step / (speed.up + speed.down);
    const double chain = direction->sign > 0 ? program.ranks - 1 - wave.origin_rank : wave.origin_rank;
    ++found.ends;
    const bool right = has_end(*direction, ring, ranks_per_step, ring ? round : chain, steps);
    found.right_end += right;
    if (!right) fmt::print("{} ({}): {}\n", to_words(direction->end), direction->sign, test::words_of(program));
  }
}

TEST(WaveTruth, OfCoreBoundProgramsRunsAndEndsAsTheoryHasIt) {
  for (const double noise : {0.0, 0.02}) {
    for (const bool says_partners : {false, true}) {
      RandomWavePrograms random(any_seed());
      Ends found;
      for (int i = 0; i < 60; ++i) {
        ExactProgram program = random.next(false, noise);
        // By more than noise takes off on the way round.
        program.delays[0].duration += 10 * Nanoseconds(std::llround(program.time * 1e9));
        const Told told{Holds::kAnnounced, says_partners};
        const timeline::Timeline timeline = test::timeline_of(program, simulate(program), told);
        const auto waves = waves::find_waves(timeline, {Nanoseconds{0}, Nanoseconds::max()});
        const auto ordered = std::ranges::find(waves, waves::WaveCause::kCommand, &waves::Wave::cause);
        ASSERT_NE(ordered, waves.end()) << test::words_of(waves) << test::words_of(program);
        look_at_ends(program, *ordered, found);
        found.with_others += waves.size() > 1;
        if (waves.size() > 1) fmt::print("{}in {}\n", test::words_of(waves), test::words_of(program));
      }
      fmt::print("{} of {} speeds, {} of {} ends are right, {} with others; seed {}\n", found.right_speed, found.fronts,
                 found.right_end, found.ends, found.with_others, random.seed());
      // A rank's own noise, thirteen times its mean, is a cause as well, in one of some 2,000 programs; where noise falls off too
      // fast by chance, up to four are, for that one reason.
      EXPECT_LE(found.with_others, noise > 0 ? 1 : 0);
      EXPECT_GE(found.right_speed, 0.95 * found.fronts);
      // Where nothing but one delay disturbs anybody, a chain and a ring may show the same.
      if (says_partners || noise > 0) {
        EXPECT_GE(found.right_end, 0.98 * found.ends);
      }
    }
  }
}

/// physics.md: 40 ranks in a ring, 10 on a domain, saturation at 5, a delay of 1.2 s. All 39 others wait for more than a
/// second, and the fronts meet on the far side.
TEST(WaveTruth, OfTheReferenceCaseMeetsItselfOnTheFarSide) {
  ExactProgram program;
  program.bandwidth = [](int active) { return std::min(active * 10e9, 50e9); };
  program.volume = 50e6;
  program.communication.protocol = Protocol::kEager;
  program.delays = {{5, 5, std::chrono::milliseconds(1200)}};
  const auto waves =
      waves::find_waves(test::timeline_of(program, simulate(program)), {Nanoseconds{0}, Nanoseconds::max()});
  ASSERT_EQ(waves.size(), 1u);
  EXPECT_EQ(waves[0].up.reach_ranks + waves[0].down.reach_ranks, 39);
  for (const waves::WaveDirection* direction : {&waves[0].up, &waves[0].down}) {
    EXPECT_NEAR(direction->reach_ranks, 19.5, 0.5);
    EXPECT_EQ(direction->end, waves::WaveEnd::kAnnihilated);
    EXPECT_NEAR(direction->end_rank, 25, 1);
    for (const waves::FrontPoint& point : direction->front)
      EXPECT_GT(point.departure - point.arrival, std::chrono::seconds(1));
  }
}

/// Where sends wait too, and for one partner after the other, one step may take a wave to everybody.
ExactProgram next_split_rendezvous(RandomWavePrograms& random, bool memory, double noise) {
  ExactProgram program = random.next(memory, noise);
  program.communication.distances =
      random.real(0, 1) < 0.5 ? std::vector<Rank>{-3, -1, 1, 3} : std::vector<Rank>{-2, -1, 1, 2};
  program.communication.wait = WaitFlavour::kSplit;
  program.communication.protocol = Protocol::kRendezvous;
  return program;
}

/// In which steps ranks were reached that are in no front.
std::set<int> steps_beside(const waves::Wave& wave, const test::Front& truth) {
  test::Front beside = truth;
  for (const waves::WaveDirection* direction : {&wave.up, &wave.down})
    for (const waves::FrontPoint& point : direction->front) beside.erase(point.rank);
  std::set<int> steps;
  for (const auto& [rank, step] : beside) steps.insert(step);
  return steps;
}

/// Of the programs that `seed` draws those from `first` to before `end`: how many waves are said to be flattened, each of
/// which left many ranks to wait at once that no front reached.
int flattened_waves(unsigned seed, int first, int end) {
  RandomWavePrograms random(seed);
  int flattened = 0;
  for (int i = 0; i < end; ++i) {
    const ExactProgram program = next_split_rendezvous(random, i % 2 == 1, 0.02 * (i % 3));
    if (i < first) continue;
    const ExactRun run = simulate(program);
    for (const bool partners : {false, true}) {
      const timeline::Timeline timeline = test::timeline_of(program, run, {Holds::kAnnounced, partners});
      const double typical = double(steps::typical_step_length(timeline).count()) * 1e-9;
      for (const waves::Wave& wave : waves::find_waves(timeline, {Nanoseconds{0}, Nanoseconds::max()})) {
        if (wave.up.end != waves::WaveEnd::kFlattened) continue;
        ++flattened;
        EXPECT_EQ(steps_beside(wave, test::truth_of(program, run, 0, typical).front).size(), 1u)
            << (partners ? "declared: " : "inferred: ") << test::words_of(program);
      }
    }
  }
  return flattened;
}

TEST(WaveTruth, IsFlattenedOnlyWhereManyWaitedAtOnceWhomNoFrontReached) { flattened_waves(any_seed(), 0, 80); }

/// One in some two hundred programs has such a wave: two that do, whether partners are declared or inferred.
TEST(WaveTruth, IsFlattenedWhereManyWaitedAtOnceWhomNoFrontReached) {
  EXPECT_EQ(flattened_waves(4, 50, 51), 2);
  EXPECT_EQ(flattened_waves(6, 58, 59), 2);
}

/// Two ranks that wait for each other twice in a step wait for all there are, and so do three in a ring. There is nobody else whom
/// a wave could be seen to leave out.
TEST(WaveTruth, OfTwoOrThreeRanksComesToTheOthers) {
  for (const int ranks : {2, 3}) {
    for (const Protocol protocol : {Protocol::kEager, Protocol::kRendezvous}) {
      for (const WaitFlavour wait : {WaitFlavour::kAll, WaitFlavour::kSplit}) {
        ExactProgram program;
        program.ranks = ranks;
        program.time = 0.01;
        program.steps = 60;
        program.communication.protocol = protocol;
        program.communication.wait = wait;
        program.delays = {{1, 25, std::chrono::milliseconds(100)}};
        for (const bool says_partners : {false, true}) {
          const auto timeline = test::timeline_of(program, simulate(program), {Holds::kUnannounced, says_partners});
          const auto waves = waves::find_waves(timeline, {Nanoseconds{0}, Nanoseconds::max()});
          ASSERT_EQ(waves.size(), 1u) << ranks << " ranks, partners " << (says_partners ? "declared" : "inferred");
          EXPECT_EQ(waves[0].origin_rank, 1);
          EXPECT_EQ(waves[0].origin_step, 25);
          EXPECT_EQ(waves[0].up.reach_ranks + waves[0].down.reach_ranks, ranks - 1);
        }
      }
    }
  }
}

}  // namespace
}  // namespace idlewave::analysis
