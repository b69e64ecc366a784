// Causes in steps that have many waits, for others in each part of them, and meetings of all, where calls say with whom they
// were. Held against what the program itself knows of each wait, and against the same program run without a delay.

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "monitor/analysis/causes/causes.h"
#include "tests/analysis/turn_programs.h"
#include "tests/any_seed.h"

namespace idlewave::analysis {
namespace {

causes::Causes told_of(const MessageProgram& program) {
  return causes::find_causes(timeline_of(program), {Nanoseconds{0}, Nanoseconds::max()});
}

double of_all(const causes::Causes& causes, Nanoseconds causes::RankCauses::*what) {
  double sum = 0;
  for (const causes::RankCauses& its : causes.ranks) {
    EXPECT_EQ(its.waited, its.by_others().sum() + its.itself + its.bandwidth + its.transfer + its.unknown);
    sum += double((its.*what).count());
  }
  return sum;
}

/// Sweeps of any size, in any order. Parts of work are longer by up to `noise`, and all of some ranks by up to `unlike`.
MessageProgram any_octants(Dice& dice, double noise, double unlike) {
  MessageProgram program = octants(dice.whole(2, 4), dice.whole(2, 4), dice.whole(3, 40), dice);
  fill_work(program, dice.whole(6, 10), dice.share(noise), dice);
  for (auto& of_rank : program.work) {
    const double slower = 1 + dice.share(unlike);
    for (auto& of_step : of_rank)
      for (Nanoseconds& work : of_step) work = Nanoseconds(std::int64_t(slower * double(work.count())));
  }
  return program;
}

/// So much later is a rank in one of its blocks.
MessageProgram with_delay(MessageProgram program, const Delay& delay, std::size_t block) {
  program.work[std::size_t(delay.rank)][std::size_t(delay.step)][block] += delay.length;
  return program;
}

double owed_to(const MessageProgram& program, Rank rank) {
  return double(told_of(program).ranks[std::size_t(rank)].costs.sum().count());
}

TEST(SaidTurns, TellsWhatEndedEachWaitOfSweepsWithMeetings) {
  Dice dice(any_seed());
  for (int trial = 0; trial < 20; ++trial) {
    const MessageProgram program = any_octants(dice, 1, 0.3);
    SCOPED_TRACE(fmt::format("trial {}, {} ranks", trial, program.ranks()));
    const MessageProgram::Run run = program.run();
    const causes::Causes causes = told_of(program);
    // Of the first ones it is not known what was before.
    EXPECT_LT(of_all(causes, &causes::RankCauses::unknown), 0.05 * of_all(causes, &causes::RankCauses::waited));
    double wrong = 0, waited = 0;
    for (Rank rank = 0; rank < program.ranks(); ++rank) {
      const causes::Ended& told = causes.ranks[std::size_t(rank)].ended;
      const MessageProgram::WaitedFor& truth = run.waited_for[std::size_t(rank)];
      wrong += std::abs(double((told.by_message - truth.senders).count()));
      wrong += std::abs(double((told.collectives - truth.meetings).count()));
      waited += double(run.waited[std::size_t(rank)].count());
    }
    EXPECT_LT(wrong, 0.02 * waited);
  }
}

/// A stencil on a torus, whose ranks exchange with all around them several times in a step, and meet in the end.
MessageProgram any_stencil(Dice& dice) {
  MessageProgram program;
  program.calls_say_partners = true;
  const int rows = dice.whole(3, 4), columns = dice.whole(3, 5), exchanges = dice.whole(2, 6);
  for (Rank rank = 0; rank < rows * columns; ++rank) {
    std::vector<Rank> around;
    for (int down = -1; down <= 1; ++down)
      for (int right = -1; right <= 1; ++right) {
        const int row = (rank / columns + down + rows) % rows, column = (rank % columns + right + columns) % columns;
        if (down != 0 || right != 0) around.push_back(row * columns + column);
      }
    auto& calls = program.calls.emplace_back();
    for (int exchange = 0; exchange < exchanges; ++exchange) {
      calls.push_back(work());
      for (const Rank to : around) calls.push_back(send_to(to));
      calls.push_back({MessageProgram::Call::Kind::kReceiveAll, 0, around});
    }
    calls.push_back(meet());
  }
  // With less a wait is hardly longer than the way of its messages.
  fill_work(program, dice.whole(6, 10), 0.1 + dice.share(0.9), dice);
  return program;
}

TEST(SaidTurns, TellsWhoOfSeveralEndedAWait) {
  Dice dice(any_seed());
  for (int trial = 0; trial < 20; ++trial) {
    const MessageProgram program = any_stencil(dice);
    SCOPED_TRACE(fmt::format("trial {}, {} ranks", trial, program.ranks()));
    const MessageProgram::Run run = program.run();
    const causes::Causes causes = told_of(program);
    EXPECT_LT(of_all(causes, &causes::RankCauses::unknown), 0.05 * of_all(causes, &causes::RankCauses::waited));
    double wrong = 0, waited = 0;
    for (Rank rank = 0; rank < program.ranks(); ++rank) {
      const Nanoseconds told = causes.ranks[std::size_t(rank)].ended.by_message;
      wrong += std::abs(double((told - run.waited_for[std::size_t(rank)].senders).count()));
      waited += double(run.waited[std::size_t(rank)].count());
    }
    EXPECT_LT(wrong, 0.02 * waited);
  }
}

/// Of twenty together: others, who are late in the same sweep anyway, bear some of a delay or have it borne.
TEST(SaidTurns, SaysWhatADelayInASweepWithMeetingsCostsTheOthers) {
  Dice dice(any_seed());
  double all_costs = 0, wrong = 0;
  for (int trial = 0; trial < 20; ++trial) {
    const MessageProgram program = any_octants(dice, 0.1, 0.05);
    const Delay delay{dice.whole(0, program.ranks() - 1), dice.whole(2, 4),
                      Nanoseconds(dice.whole(200, 400) * 1'000'000)};
    const auto& blocks = program.work[std::size_t(delay.rank)][std::size_t(delay.step)];
    const MessageProgram late = with_delay(program, delay, std::size_t(dice.whole(0, int(blocks.size()) - 1)));
    const auto with = late.run().waited, without = program.run().waited;
    double cost = 0;
    for (std::size_t rank = 0; rank < with.size(); ++rank)
      if (Rank(rank) != delay.rank) cost += double((with[rank] - without[rank]).count());
    all_costs += cost;
    wrong += std::abs(owed_to(late, delay.rank) - owed_to(program, delay.rank) - cost);
  }
  EXPECT_LT(wrong, 0.15 * all_costs);
}

}  // namespace
}  // namespace idlewave::analysis
