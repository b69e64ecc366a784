// Programs whose messages go one way, or whose ranks wait before they work, where nobody says whom they wait for: held against
// what is told of the same run where all say it.

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <functional>
#include <map>

#include "monitor/analysis/causes/causes.h"
#include "monitor/analysis/partners/partner_inference.h"
#include "monitor/analysis/waves/waves.h"
#include "tests/analysis/turn_programs.h"
#include "tests/any_seed.h"

namespace idlewave::analysis {
namespace {

constexpr Window kFromBeginToEnd{Nanoseconds{0}, Nanoseconds::max()};

/// Its offsets.
std::vector<Rank> awaited_by(Rank rank, const partners::Partners& partners) {
  const auto awaited = partners.awaited(rank, 0);
  return {awaited.begin(), awaited.end()};
}

partners::Partners found_in(const timeline::Timeline& timeline) { return causes::cause_ground(timeline).partners; }

/// Of all waiting: what is said to have another cause.
struct Difference {
  double waited = 0, otherwise = 0;
  double share() const { return otherwise / waited; }
};
Difference difference(const causes::Causes& said, const causes::Causes& found) {
  Difference sum;
  for (std::size_t rank = 0; rank < said.ranks.size(); ++rank) {
    std::map<Rank, double> by;
    constexpr Rank kTransfer = -1, kUnknown = -2, kItself = -3;
    const auto add = [&](const causes::RankCauses& its, double sign) {
      for (const causes::Culprit& culprit : its.by) by[culprit.rank] += sign * double(culprit.cost.sum().count());
      by[kTransfer] += sign * double(its.transfer.count());
      by[kUnknown] += sign * double(its.unknown.count());
      by[kItself] += sign * double(its.itself.count());
    };
    add(said.ranks[rank], +1), add(found.ranks[rank], -1);
    for (const auto& [cause, more] : by) sum.otherwise += std::abs(more) / 2;
    sum.waited += double(said.ranks[rank].waited.count());
  }
  return sum;
}

/// Where each began, and how far it came.
std::vector<std::string> waves_in(const timeline::Timeline& timeline) {
  std::vector<std::string> all;
  for (const waves::Wave& wave : waves::find_waves(timeline, kFromBeginToEnd))
    all.push_back(fmt::format("rank {} step {}, reached {}", wave.origin_rank, wave.origin_step,
                              wave.up.reach_ranks + wave.down.reach_ranks));
  return all;
}

/// With one delay, noise from a thousandth of the work to a half of it, and ranks that have up to `unlike` more to do.
MessageProgram run_of(MessageProgram program, double unlike, Dice& dice) {
  fill_work(program, dice.whole(50, 90) + program.ranks() / 2, std::exp(dice.share(6.2) - 6.9), dice);
  for (auto& of_rank : program.work) {
    const double more = 1 + dice.share(unlike);
    for (auto& of_step : of_rank)
      for (Nanoseconds& each : of_step) each = Nanoseconds(std::llround(more * double(each.count())));
  }
  return delayed(program, any_delay(program, dice));
}

MessageProgram any_pipeline(Dice& dice) {
  const MessageProgram program = pipeline(dice.whole(4, 64), false);
  return dice.whole(0, 1) ? program : turned_round(program);
}

TEST(InferredTurns, FindsWhomRanksOfAPipelineWaitFor) {
  Dice dice(any_seed());
  for (int trial = 0; trial < 20; ++trial) {
    SCOPED_TRACE(trial);
    const MessageProgram shape = any_pipeline(dice);
    const partners::Partners found =
        found_in(timeline_of(run_of(shape, 0.3 * dice.whole(0, 1), dice), Partners::kNotSaid));
    EXPECT_TRUE(found.by_turns);
    for (Rank rank = 0; rank < shape.ranks(); ++rank) {
      const auto& first = shape.calls[std::size_t(rank)].front();
      const bool receives = first.kind == MessageProgram::Call::Kind::kReceive;
      EXPECT_EQ(awaited_by(rank, found), receives ? std::vector{first.peer - rank} : std::vector<Rank>{}) << rank;
    }
  }
}

/// What has come down to a tenth of a step may be followed by one and not by the other.
TEST(InferredTurns, SaysOfAPipelineWhatItSaysWhereAllSayWhomTheyWaitFor) {
  Dice dice(any_seed());
  int waves_alike = 0;
  constexpr int kPrograms = 20;
  for (int trial = 0; trial < kPrograms; ++trial) {
    SCOPED_TRACE(trial);
    const MessageProgram program = run_of(any_pipeline(dice), 0.3 * dice.whole(0, 1), dice);
    const auto said = timeline_of(program), not_said = timeline_of(program, Partners::kNotSaid);
    EXPECT_LT(
        difference(causes::find_causes(said, kFromBeginToEnd), causes::find_causes(not_said, kFromBeginToEnd)).share(),
        0.001);
    waves_alike += waves_in(not_said) == waves_in(said);
  }
  EXPECT_GE(waves_alike, kPrograms - 3);
}

TEST(InferredTurns, SaysOfATokenWhatItSaysWhereAllSayWhomTheyWaitFor) {
  Dice dice(any_seed());
  for (int trial = 0; trial < 10; ++trial) {
    SCOPED_TRACE(trial);
    const MessageProgram program = run_of(token(dice.whole(4, 24)), 0.3, dice);
    const auto said = timeline_of(program), not_said = timeline_of(program, Partners::kNotSaid);
    EXPECT_LT(
        difference(causes::find_causes(said, kFromBeginToEnd), causes::find_causes(not_said, kFromBeginToEnd)).share(),
        0.001);
    EXPECT_EQ(waves_in(not_said), waves_in(said));
  }
}

/// Each of its workers may be the last of all in a few steps only, or in none.
TEST(InferredTurns, SaysOfAMasterAndItsWorkersWhatItSaysWhereAllSayWhomTheyWaitFor) {
  Dice dice(any_seed());
  for (int trial = 0; trial < 10; ++trial) {
    SCOPED_TRACE(trial);
    const MessageProgram shape = master_and_workers(dice.whole(4, 64));
    const MessageProgram program = run_of(dice.whole(0, 1) ? shape : turned_round(shape), 0.3 * dice.whole(0, 1), dice);
    const auto said = timeline_of(program), not_said = timeline_of(program, Partners::kNotSaid);
    EXPECT_LT(
        difference(causes::find_causes(said, kFromBeginToEnd), causes::find_causes(not_said, kFromBeginToEnd)).share(),
        0.01);
    EXPECT_EQ(waves_in(not_said), waves_in(said));
  }
}

/// Of two partners one may be the last in all steps but a few. What ranks do that work alike at the same time is told of either.
TEST(InferredTurns, SaysMostlyTheSameOfSweepsAndTrees) {
  Dice dice(any_seed());
  Difference all;
  int waves_alike = 0;
  constexpr int kPrograms = 24;
  for (int trial = 0; trial < kPrograms; ++trial) {
    const MessageProgram shape =
        trial % 3 == 0 ? tree(dice.whole(7, 40)) : sweeps(dice.whole(2, 7), dice.whole(2, 7), 1);
    const MessageProgram program = run_of(trial % 2 ? shape : turned_round(shape), 0.3 * dice.whole(0, 1), dice);
    const auto said = timeline_of(program), not_said = timeline_of(program, Partners::kNotSaid);
    const Difference its =
        difference(causes::find_causes(said, kFromBeginToEnd), causes::find_causes(not_said, kFromBeginToEnd));
    all.waited += 1, all.otherwise += its.share();
    waves_alike += waves_in(said) == waves_in(not_said);
  }
  EXPECT_LT(all.share(), 0.2);
  EXPECT_GE(waves_alike, kPrograms - 4);
}

/// For whom the first of the others waits is not to be found, and ranks that do the same at the same time may be taken for some.
TEST(InferredTurns, NeedNotHaveHeardOfTheFirstRanks) {
  Dice dice(any_seed());
  for (int trial = 0; trial < 10; ++trial) {
    SCOPED_TRACE(trial);
    const MessageProgram program = run_of(pipeline(dice.whole(8, 24), false), 0, dice);
    const Rank first = dice.whole(1, 3);
    const partners::Partners found = found_in(timeline_of(program, Partners::kNotSaid, first));
    EXPECT_TRUE(found.by_turns);
    for (Rank rank = first + 1; rank < program.ranks(); ++rank)
      EXPECT_THAT(awaited_by(rank, found), testing::Contains(-1)) << rank;
  }
}

/// They wait behind their work.
TEST(InferredTurns, AreNoneOfProgramsThatWorkFirst) {
  Dice dice(any_seed());
  for (int trial = 0; trial < 20; ++trial) {
    SCOPED_TRACE(trial);
    MessageProgram program;
    const Rank ranks = dice.whole(4, 24);
    const bool both_ways = dice.whole(0, 1);
    for (Rank rank = 0; rank < ranks; ++rank) {
      const Rank before = (rank + ranks - 1) % ranks, behind = (rank + 1) % ranks;
      if (both_ways)
        program.calls.push_back({work(), send_to(before), send_to(behind), receive_from(before), receive_from(behind)});
      else
        program.calls.push_back({work(), send_to(behind), receive_from(before)});
    }
    EXPECT_FALSE(found_in(timeline_of(run_of(program, 0.3, dice), Partners::kNotSaid)).by_turns);
  }
}

/// An exchange with the ranks on both sides, of what was done in the step before.
MessageProgram exchange_of_the_step_before(Rank ranks) {
  MessageProgram program;
  for (Rank rank = 0; rank < ranks; ++rank) {
    const Rank before = (rank + ranks - 1) % ranks, behind = (rank + 1) % ranks;
    program.before.push_back({send_to(before), send_to(behind)});
    program.calls.push_back({receive_from(before), receive_from(behind), work(), send_to(before), send_to(behind)});
  }
  return program;
}

/// Of what is waited for, in the mean of some programs: what is said to have another cause than where all say whom they wait for.
double mean_difference(int programs, Dice& dice, const std::function<MessageProgram()>& any_shape) {
  double sum = 0;
  for (int trial = 0; trial < programs; ++trial) {
    const MessageProgram program = run_of(any_shape(), 0.3 * dice.whole(0, 1), dice);
    const auto said = timeline_of(program), not_said = timeline_of(program, Partners::kNotSaid);
    sum +=
        difference(causes::find_causes(said, kFromBeginToEnd), causes::find_causes(not_said, kFromBeginToEnd)).share();
  }
  return sum / programs;
}

TEST(InferredTurns, SaysMostlyTheSameOfExchangesOfTheStepBefore) {
  Dice dice(any_seed());
  EXPECT_LT(mean_difference(20, dice, [&] { return exchange_of_the_step_before(dice.whole(4, 24)); }), 0.55);
}

/// An exchange with the ranks on both sides that goes on while they work.
MessageProgram exchange_behind_the_work(Rank ranks) {
  MessageProgram program;
  for (Rank rank = 0; rank < ranks; ++rank) {
    const Rank before = (rank + ranks - 1) % ranks, behind = (rank + 1) % ranks;
    program.calls.push_back({send_to(before), send_to(behind), work(), receive_from(before), receive_from(behind)});
  }
  return program;
}

TEST(InferredTurns, SaysMostlyTheSameOfExchangesThatGoOnBehindTheWork) {
  Dice dice(any_seed());
  // Over 84 programs it was 0.28; where it is not known what was started, 0.65.
  EXPECT_LT(mean_difference(20, dice, [&] { return exchange_behind_the_work(dice.whole(4, 24)); }), 0.55);
}

TEST(InferredTurns, SaysMostlyTheSameOfProgramsThatWaitSeveralTimesInAStep) {
  Dice dice(any_seed());
  EXPECT_LT(mean_difference(20, dice, [&] { return pipeline(dice.whole(4, 24), true); }), 0.55);
  EXPECT_LT(mean_difference(20, dice, [&] { return sweeps(dice.whole(2, 5), dice.whole(2, 5), 2); }), 0.55);
}

TEST(InferredTurns, AreTheSameHoweverTheSearchIsCut) {
  Dice dice(any_seed());
  for (int trial = 0; trial < 10; ++trial) {
    SCOPED_TRACE(trial);
    const MessageProgram program = run_of(sweeps(dice.whole(2, 5), dice.whole(2, 5), dice.whole(1, 2)), 0, dice);
    const auto timeline = timeline_of(program, Partners::kNotSaid);
    const steps::LateMoment moment{0, 20, timeline.lane(Rank{0})->step(20)->begin};
    partners::PartnerInference whole(timeline, {&moment, 1}, Nanoseconds(std::int64_t(kWork))),
        cut(timeline, {&moment, 1}, Nanoseconds(std::int64_t(kWork)));
    LookBudget unlimited;
    EXPECT_FALSE(whole.advance(unlimited));
    for (bool goes_on = true; goes_on;) {
      LookBudget little(std::uint64_t(dice.whole(1, 20'000)));
      goes_on = cut.advance(little);
    }
    EXPECT_EQ(cut.are_by_turns(), whole.are_by_turns());
    EXPECT_EQ(cut.are_by_waits(), whole.are_by_waits());
    EXPECT_EQ(cut.waits(), whole.waits());
  }
}

}  // namespace
}  // namespace idlewave::analysis
