// Causes and waves of programs that wait first in their steps and work then: pipelines, sweeps, masters with workers, tokens
// that go round. Held against the same program run with a delay and without it.

#include "monitor/analysis/causes/turn_tally.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <algorithm>

#include "monitor/analysis/causes/causes.h"
#include "monitor/analysis/waves/waves.h"
#include "tests/analysis/turn_programs.h"
#include "tests/any_seed.h"

namespace idlewave::analysis {
namespace {

using Calls = std::vector<MessageProgram::Call>;

causes::Causes causes_of(const MessageProgram& program) {
  return causes::find_causes(timeline_of(program), {Nanoseconds{0}, Nanoseconds::max()});
}

struct Sums {
  double waited = 0, for_messages = 0, unknown = 0, owed = 0;  ///< To the delayed one, by others.
};

Sums sums_of(const causes::Causes& causes, Rank late) {
  Sums sums;
  for (const causes::RankCauses& its : causes.ranks) {
    Nanoseconds all = its.by_others().sum() + its.itself + its.bandwidth + its.transfer + its.unknown;
    EXPECT_EQ(its.waited, all);
    sums.waited += double(its.waited.count()), sums.unknown += double(its.unknown.count());
    sums.for_messages += double(its.transfer.count());
  }
  sums.owed = double(causes.ranks[std::size_t(late)].costs.sum().count());
  return sums;
}

/// What all others wait longer because of the delay.
double true_cost(const MessageProgram& program, const Delay& delay) {
  const auto with = delayed(program, delay).run(), without = program.run();
  double cost = 0;
  for (std::size_t rank = 0; rank < with.waited.size(); ++rank)
    if (Rank(rank) != delay.rank) cost += double((with.waited[rank] - without.waited[rank]).count());
  return cost;
}

/// By how much more all others owe to it than they would without it.
double told_cost(const MessageProgram& program, const Delay& delay) {
  return sums_of(causes_of(delayed(program, delay)), delay.rank).owed - sums_of(causes_of(program), delay.rank).owed;
}

/// Within a tenth, and `beside` of other work.
void expect_true_cost(const MessageProgram& program, const Delay& delay, double beside) {
  const double cost = true_cost(program, delay);
  EXPECT_NEAR(told_cost(program, delay), cost, 0.1 * cost + beside);
}

void expect_hardly_unknown(const Sums& sums, double share) { EXPECT_LT(sums.unknown, share * sums.waited); }

/// Of all waiting no more than `unknown` is of unknown cause.
void expect_known_cost(const MessageProgram& program, const Delay& delay, double unknown, double beside) {
  expect_hardly_unknown(sums_of(causes_of(delayed(program, delay)), delay.rank), unknown);
  expect_true_cost(program, delay, beside);
}

/// Of all waiting what has a cause that it does not have where the same is said for certain.
double share_of_other_causes(const causes::Causes& found, const causes::Causes& truth) {
  double other = 0, waited = 0;
  for (std::size_t rank = 0; rank < found.ranks.size(); ++rank) {
    const causes::RankCauses &mine = found.ranks[rank], &true_ones = truth.ranks[rank];
    const auto add = [&](Nanoseconds more, Nanoseconds than) {
      other += double(std::max(Nanoseconds{0}, more - than).count());
    };
    for (const causes::Culprit& culprit : mine.by) {
      const auto known = std::ranges::find(true_ones.by, culprit.rank, &causes::Culprit::rank);
      add(culprit.cost.sum(), known == true_ones.by.end() ? Nanoseconds{0} : known->cost.sum());
    }
    add(mine.itself, true_ones.itself), add(mine.bandwidth, true_ones.bandwidth),
        add(mine.transfer, true_ones.transfer);
    waited += double(mine.waited.count());
  }
  return other / waited;
}

/// As where a library's blocking sends are now long and now short.
TEST(TurnTally, SaysNothingElseWhereItIsNotKnownWhetherSendsWait) {
  Dice dice(any_seed());
  for (int trial = 0; trial < 30; ++trial) {
    SCOPED_TRACE(trial);
    MessageProgram program = trial % 2 == 0 ? pipeline(dice.whole(4, 16), false) : sweeps(2, 2 + dice.whole(0, 2), 1);
    fill_work(program, dice.whole(50, 80), 0.02, dice);
    program = delayed(program, any_delay(program, dice));
    const Window whole{Nanoseconds{0}, Nanoseconds::max()};
    const causes::Causes open = causes::find_causes(timeline_of(program, Partners::kSaidWithOpenSends), whole);
    const causes::Causes known = causes::find_causes(timeline_of(program), whole);
    EXPECT_LT(share_of_other_causes(open, known), 0.01);
    const Sums sums = sums_of(open, 0);
    expect_hardly_unknown(sums, 0.1);
  }
}

TEST(TurnTally, SaysWhatADelayInAPipelineCostsTheOthers) {
  Dice dice(any_seed());
  for (int trial = 0; trial < 30; ++trial) {
    SCOPED_TRACE(trial);
    MessageProgram program = pipeline(dice.whole(4, 16), false);
    fill_work(program, dice.whole(50, 80), 0.02, dice);
    const Delay delay = any_delay(program, dice);
    expect_known_cost(program, delay, 0.01, kWork);
  }
}

TEST(TurnTally, LeavesNothingUnknownOfAPipelineThereAndBack) {
  Dice dice(any_seed());
  for (int trial = 0; trial < 20; ++trial) {
    SCOPED_TRACE(trial);
    MessageProgram program = pipeline(dice.whole(4, 12), true);
    fill_work(program, dice.whole(40, 60), 0.02, dice);
    const Delay delay = any_delay(program, dice);
    expect_known_cost(program, delay, 0.02, 0);
  }
}

/// At its ends ranks send to nobody and receive from nobody, so that all call equally often and their steps seem to have parts.
TEST(TurnTally, LeavesNothingToMessagesOfAPipelineThereAndBackInWhichAllCallEquallyOften) {
  Dice dice(any_seed());
  for (int trial = 0; trial < 20; ++trial) {
    SCOPED_TRACE(trial);
    const Rank ranks = dice.whole(4, 12);
    MessageProgram program;
    for (Rank rank = 0; rank < ranks; ++rank) {
      const Rank before = rank > 0 ? rank - 1 : MessageProgram::kNobody,
                 behind = rank + 1 < ranks ? rank + 1 : MessageProgram::kNobody;
      program.calls.push_back(
          {receive_from(before), work(), send_to(behind), receive_from(behind), work(), send_to(before)});
    }
    fill_work(program, dice.whole(40, 60), 0.02, dice);
    const Delay delay = any_delay(program, dice);
    const Sums sums = sums_of(causes_of(delayed(program, delay)), delay.rank);
    expect_hardly_unknown(sums, 0.02);
    EXPECT_LT(sums.for_messages, 0.05 * sums.waited);
    expect_true_cost(program, delay, 0);
  }
}

/// Who is late is on the way that all others wait for, with what it does in that step as in any other; and who goes on for some
/// time, as the sweep is elsewhere, waits for that much less of the delay itself. Of each that is no more than its work of a step.
/// Where sweeps from several corners are on their way at once, others are on that way as well.
TEST(TurnTally, LeavesNothingUnknownOfSweepsOverAGrid) {
  Dice dice(any_seed());
  for (int trial = 0; trial < 20; ++trial) {
    SCOPED_TRACE(trial);
    const int corners = dice.whole(1, 4);
    MessageProgram program = sweeps(dice.whole(2, 5), dice.whole(2, 4), corners);
    fill_work(program, dice.whole(40, 60), 0.02, dice);
    const Delay delay = any_delay(program, dice);
    expect_hardly_unknown(sums_of(causes_of(delayed(program, delay)), delay.rank), 0.02);
    if (corners > 2) continue;
    expect_true_cost(program, delay, corners * kWork * program.ranks());
  }
}

/// Rank 2 receives from two others, of which one is late. The first never waits, is four steps ahead by then, and sends
/// something for a later step shortly before the wait is over.
TEST(TurnTally, BlamesNobodyForAMessageThatALaterWaitIsFor) {
  MessageProgram program;
  program.calls = {{work(), send_to(2)},
                   {work(), send_to(2)},
                   {receive_from(0), receive_from(1), work(), send_to(3)},
                   {receive_from(2), work()}};
  Dice dice(1);
  fill_work(program, 40, 0, dice);
  for (auto& of_step : program.work[0]) of_step[0] += Nanoseconds{100};
  const Delay delay{.rank = 1, .step = 30, .length = Nanoseconds(std::llround(4 * kWork))};
  expect_true_cost(program, delay, 0);
}

TEST(TurnTally, SaysWhatADelayOfAWorkerCosts) {
  Dice dice(any_seed());
  for (int trial = 0; trial < 20; ++trial) {
    SCOPED_TRACE(trial);
    MessageProgram program = master_and_workers(dice.whole(4, 16));
    fill_work(program, dice.whole(40, 60), 0.02, dice);
    for (auto& of_step : program.work[0]) of_step[0] /= 5;
    Delay delay = any_delay(program, dice);
    expect_true_cost(program, delay, kWork);
    const causes::Causes causes = causes_of(program);
    EXPECT_LT(sums_of(causes, 0).unknown, 0.02 * sums_of(causes, 0).waited);
    // While the master works all others wait for that alone.
    for (Rank worker = 1; worker < program.ranks(); ++worker)
      EXPECT_EQ(causes.ranks[std::size_t(worker)].by.front().rank, 0) << worker;
  }
}

/// They have been handed out the first before their first step, in which they work, answer, and wait for the next: what the
/// master waits for in its step goes out in their next ones.
TEST(TurnTally, SaysWhatADelayOfAWorkerCostsWhoseStepsBeginWithWork) {
  Dice dice(any_seed());
  for (int trial = 0; trial < 20; ++trial) {
    SCOPED_TRACE(trial);
    MessageProgram program;
    const Rank ranks = dice.whole(4, 16);
    Calls exchange;
    for (Rank rank = 1; rank < ranks; ++rank) exchange.push_back(send_to(rank));
    for (Rank rank = 1; rank < ranks; ++rank) exchange.push_back(receive_from(rank));
    program.before.push_back(exchange);
    program.calls.push_back(exchange);
    program.calls[0].insert(program.calls[0].begin(), work());
    for (Rank rank = 1; rank < ranks; ++rank) {
      program.before.push_back({receive_from(0)});
      program.calls.push_back({work(), send_to(0), receive_from(0)});
    }
    fill_work(program, dice.whole(40, 60), 0.02, dice);
    for (auto& of_step : program.work[0]) of_step[0] /= 5;
    const Delay delay = any_delay(program, dice);
    expect_true_cost(program, delay, kWork);
    expect_hardly_unknown(sums_of(causes_of(program), 0), 0.02);
  }
}

/// Each rank has been sent the first before its first step, in which it works, hands on, and receives the next.
MessageProgram pipeline_that_works_first(Rank ranks) {
  MessageProgram program;
  for (Rank rank = 0; rank < ranks; ++rank) {
    Calls& before = program.before.emplace_back();
    Calls& calls = program.calls.emplace_back(Calls{work()});
    if (rank + 1 < ranks) calls.push_back(send_to(rank + 1));
    if (rank > 0) before.push_back(receive_from(rank - 1)), calls.push_back(receive_from(rank - 1));
  }
  return program;
}

/// The first has most to do, so that all others wait each time, and never catch up with it.
TEST(TurnTally, SaysWhatADelayCostsInAPipelineWhoseStepsBeginWithWork) {
  Dice dice(any_seed());
  for (int trial = 0; trial < 30; ++trial) {
    SCOPED_TRACE(trial);
    MessageProgram program = pipeline_that_works_first(dice.whole(4, 16));
    fill_work(program, dice.whole(50, 80), 0.02, dice);
    for (auto& of_step : program.work[0]) of_step[0] += Nanoseconds(std::llround(0.04 * kWork));
    Delay delay = any_delay(program, dice);
    delay.rank = 0;
    expect_known_cost(program, delay, 0.02, kWork);
  }
}

/// The first has least to do, and so on: messages are there when they are asked for, until somebody is delayed. Those behind
/// wait for the delay once, wherever it lies in the run.
TEST(TurnTally, SaysWhatADelayCostsInAPipelineInWhichNobodyWaitsBesides) {
  Dice dice(any_seed());
  for (int trial = 0; trial < 30; ++trial) {
    SCOPED_TRACE(trial);
    const Rank ranks = dice.whole(4, 16);
    MessageProgram program = pipeline_that_works_first(ranks);
    fill_work(program, dice.whole(150, 600), 0.004, dice);
    for (Rank rank = 0; rank < ranks; ++rank)
      for (auto& of_step : program.work[std::size_t(rank)])
        of_step[0] += Nanoseconds(std::llround(0.005 * rank * kWork));
    Delay delay = any_delay(program, dice);
    delay.rank = dice.whole(0, ranks - 3);
    expect_known_cost(program, delay, 0.02, kWork);
  }
}

TEST(TurnTally, BlamesAllOthersForTheWayOfATokenRound) {
  Dice dice(any_seed());
  MessageProgram program = token(8);
  fill_work(program, 60, 0, dice);
  for (std::size_t rank = 0; rank < program.work.size(); ++rank)
    for (auto& of_step : program.work[rank]) of_step[0] = Nanoseconds(1'000'000 * std::int64_t(5 + rank));
  const causes::Causes causes = causes_of(program);
  EXPECT_LT(sums_of(causes, 0).unknown, 0.02 * sums_of(causes, 0).waited);
  const causes::RankCauses& mine = causes.ranks[3];
  for (const causes::Culprit& culprit : mine.by)
    EXPECT_NEAR(double(culprit.cost.sum().count()), 60 * 1e6 * (5 + culprit.rank), 0.05 * 60 * 1e6 * (5 + culprit.rank))
        << culprit.rank;
  EXPECT_EQ(mine.by.size(), 7u);
}

TEST(TurnTally, TellsAWaveAlongAPipeline) {
  Dice dice(any_seed());
  for (int trial = 0; trial < 30; ++trial) {
    SCOPED_TRACE(trial);
    MessageProgram program = pipeline(dice.whole(5, 16), false);
    fill_work(program, dice.whole(60, 80), 0.02, dice);
    Delay delay = any_delay(program, dice);
    delay.rank = dice.whole(0, program.ranks() - 3);
    const std::vector<waves::Wave> waves =
        waves::find_waves(timeline_of(delayed(program, delay)), {Nanoseconds{0}, Nanoseconds::max()});
    ASSERT_EQ(waves.size(), 1u);
    EXPECT_EQ(waves[0].origin_rank, delay.rank);
    EXPECT_EQ(waves[0].origin_step, delay.step);
    EXPECT_EQ(waves[0].up.reach_ranks, true_reach(program, delay));
    EXPECT_EQ(waves[0].down.reach_ranks, 0);
    EXPECT_EQ(waves[0].up.end, waves::WaveEnd::kBoundary);
    // Each rank hands it on when it has done its own part.
    ASSERT_TRUE(waves[0].up.trailing.ranks_per_s);
    EXPECT_NEAR(waves[0].up.trailing.ranks_per_s->value, 1e9 / kWork, 0.1 * 1e9 / kWork);
    EXPECT_FALSE(waves[0].up.leading.ranks_per_step);
  }
}

}  // namespace
}  // namespace idlewave::analysis
