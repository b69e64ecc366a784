// What the real agent makes of what real ranks report, as a real monitor's link receives it.

#include <gmock/gmock.h>

#include <fstream>

#include "tests/agent/stage.h"
#include "tests/any_seed.h"

namespace idlewave::test {
namespace {

using testing::HasSubstr;

std::vector<std::uint64_t> one_to(std::size_t last) {
  std::vector<std::uint64_t> numbers(last);
  for (std::size_t i = 0; i < last; ++i) numbers[i] = i + 1;
  return numbers;
}

std::string text_of(const std::filesystem::path& file) {
  std::ifstream in(file);
  return {std::istreambuf_iterator<char>(in), {}};
}

TEST(Agent, PassesOnEveryEventOnceAndInOrder) {
  constexpr Rank kRanks = 10;
  constexpr std::size_t kEvents = 100'000;
  const unsigned seed = any_seed();
  SCOPED_TRACE("seed " + std::to_string(seed));
  const SessionRoot root;
  AgentProcess agent({"--ring-events", "262144"});
  Monitor monitor;
  std::vector<std::unique_ptr<PlayedRank>> ranks;
  for (Rank rank = 0; rank < kRanks; ++rank) {
    const std::vector<std::string> more{std::to_string(kEvents), std::to_string(seed + unsigned(rank))};
    ranks.push_back(std::make_unique<PlayedRank>("count", rank, kRanks, more));
    ASSERT_TRUE(ranks.back()->joined());
    ranks.back()->close_input();
  }
  ASSERT_TRUE(monitor.until_end());
  for (Rank rank = 0; rank < kRanks; ++rank) {
    EXPECT_TRUE(numbers_of(monitor.lane(rank)) == one_to(kEvents)) << "rank " << rank;
    EXPECT_EQ(monitor.lane(rank).front().kind, EventKind::kStart);
    EXPECT_EQ(monitor.lane(rank).back().kind, EventKind::kStop);
    EXPECT_EQ(monitor.count(rank, EventKind::kDropped), 0u);
  }
  EXPECT_EQ(agent.exit_code(), 0);
  EXPECT_FALSE(exists(root.folder()));
}

TEST(Agent, ShowsWhereAndHowManyEventsAFullRingDropped) {
  const SessionRoot root;
  AgentProcess agent({"--ring-events", "64"});
  Monitor monitor;
  PlayedRank rank("count", 0, 1, {"50000", "1"});
  rank.close_input();
  ASSERT_TRUE(monitor.until_end());
  std::uint64_t arrived = 0;
  std::uint64_t dropped = 0;
  for (const Event& event : monitor.lane(0)) {
    if (event.kind == EventKind::kDropped) dropped += event.value;
    if (event.kind == EventKind::kTraffic) ++arrived;
  }
  EXPECT_GT(dropped, 0u);
  EXPECT_GE(arrived + dropped, 50'000u);
  EXPECT_EQ(monitor.lane(0).back().kind, EventKind::kStop);
}

TEST(Agent, SendsAsSeldomAsWhoWatchesIsPatient) {
  const SessionRoot root;
  AgentProcess agent({"--ring-events", "262144"});  // Of which a sixteenth takes this rank more than five seconds.
  Monitor monitor;
  PlayedRank rank("step", 0, 1);
  const auto frames_until = [&](Nanoseconds time) {
    const std::size_t before = monitor.frames();
    EXPECT_TRUE(monitor.until([&] { return monitor.up_to() >= time; }));
    return monitor.frames() - before;
  };
  frames_until(Nanoseconds(1));
  monitor.set_pace(std::chrono::hours(1));  // It makes a second of it.
  frames_until(monitor.up_to() + std::chrono::seconds(1));
  EXPECT_LE(frames_until(monitor.up_to() + std::chrono::seconds(3)), 4u);
  const Nanoseconds patient_until = monitor.up_to();
  const std::size_t before = monitor.frames();
  monitor.set_pace(Nanoseconds(0));
  EXPECT_TRUE(monitor.until([&] { return monitor.frames() >= before + 20; }));
  EXPECT_LT(monitor.up_to(), patient_until + std::chrono::seconds(10));
  rank.leave();
  EXPECT_TRUE(monitor.until_end());
}

TEST(Agent, LooksAtARingThatFillsHoweverPatientWhoWatchesIs) {
  constexpr std::size_t kEvents = 3'000'000;  // In some seconds; a ring that is left alone for one of them overflows.
  const unsigned seed = any_seed();
  SCOPED_TRACE("seed " + std::to_string(seed));
  const SessionRoot root;
  AgentProcess agent({"--ring-events", "1048576"});
  Monitor monitor;
  monitor.set_pace(std::chrono::seconds(1));
  PlayedRank rank("count", 0, 1, {std::to_string(kEvents), std::to_string(seed)});
  rank.close_input();
  ASSERT_TRUE(monitor.until_end());
  EXPECT_TRUE(numbers_of(monitor.lane(0)) == one_to(kEvents));
  EXPECT_EQ(monitor.count(0, EventKind::kDropped), 0u);
}

TEST(Agent, DrainsAKilledRankAndTellsThatItIsLost) {
  const SessionRoot root;
  AgentProcess agent;
  Monitor monitor;
  PlayedRank rank("count", 0, 1, {"5000", "1"});
  rank.wait_until_done();
  rank.kill(SIGKILL);
  ASSERT_TRUE(monitor.until_end());
  EXPECT_TRUE(numbers_of(monitor.lane(0)) == one_to(5000));
  EXPECT_EQ(monitor.lane(0).back().kind, EventKind::kLost);
  EXPECT_EQ(agent.exit_code(), 0);
}

/// Also where it looks on once in a second, as for who does not look either.
TEST(Agent, TellsWhichRankDiedFirst) {
  for (const auto pace : {std::chrono::milliseconds(0), std::chrono::milliseconds(1000)}) {
    const SessionRoot root;
    AgentProcess agent;
    Monitor monitor;
    monitor.set_pace(pace);
    std::vector<std::unique_ptr<PlayedRank>> ranks;
    for (int rank = 0; rank < 6; ++rank)
      ranks.push_back(std::make_unique<PlayedRank>("stay", rank, 6, std::vector<std::string>{}));
    for (int rank = 0; rank < 6; ++rank)
      ASSERT_TRUE(monitor.until([&] { return monitor.count(rank, EventKind::kStart) == 1; }));
    std::vector<int> order{0, 1, 2, 3, 4, 5};
    std::mt19937 dice(any_seed());
    std::shuffle(order.begin(), order.end(), dice);
    for (const int rank : order) {
      ranks[std::size_t(rank)]->kill(SIGKILL);
      ranks[std::size_t(rank)]->exit_code();
    }
    ASSERT_TRUE(monitor.until_end());
    std::vector<int> told{0, 1, 2, 3, 4, 5};
    std::ranges::sort(told, {}, [&](int rank) { return monitor.lane(rank).back().time; });
    EXPECT_EQ(told, order);
    for (int rank = 0; rank < 6; ++rank) EXPECT_EQ(monitor.lane(rank).back().kind, EventKind::kLost);
  }
}

TEST(Agent, GoesOnForTheOthersWhenOneRankIsKilled) {
  const SessionRoot root;
  AgentProcess agent;
  Monitor monitor;
  PlayedRank killed("stay", 0, 2);
  PlayedRank other("stay", 1, 2);
  killed.kill(SIGKILL);
  ASSERT_TRUE(monitor.until([&] { return monitor.count(0, EventKind::kLost) == 1; }));
  other.leave();
  ASSERT_TRUE(monitor.until_end());
  EXPECT_EQ(monitor.lane(1).back().kind, EventKind::kStop);
  EXPECT_EQ(monitor.count(1, EventKind::kLost), 0u);
}

TEST(Agent, TakesARankAgainThatWasThereBefore) {
  const SessionRoot root;
  AgentProcess agent;
  Monitor monitor;
  PlayedRank stays("stay", 1, 2);
  for (int i = 0; i < 3; ++i) {
    PlayedRank comes_again("count", 0, 2, {"100", "1"});
    ASSERT_TRUE(comes_again.joined());
    comes_again.leave();
  }
  stays.leave();
  ASSERT_TRUE(monitor.until_end());
  EXPECT_EQ(monitor.count(0, EventKind::kStart), 3u);
  EXPECT_EQ(monitor.count(0, EventKind::kStop), 3u);
  EXPECT_EQ(numbers_of(monitor.lane(0)).size(), 300u);
}

TEST(Agent, MovesTheLiveEdgeWhenNothingHappens) {
  const SessionRoot root;
  AgentProcess agent;
  Monitor monitor;
  PlayedRank rank("stay", 0, 1);
  ASSERT_TRUE(monitor.until([&] { return !monitor.lane(0).empty(); }));
  const std::size_t frames = monitor.frames();
  const Nanoseconds edge = monitor.up_to();
  ASSERT_TRUE(monitor.until([&] { return monitor.frames() >= frames + 5; }));
  EXPECT_GT(monitor.up_to(), edge);
}

TEST(Agent, AnnouncesRanksBeforeTheirEvents) {
  const SessionRoot root;
  AgentProcess agent;
  Monitor monitor;
  PlayedRank rank("stay", 3, 7);
  ASSERT_TRUE(monitor.until([&] { return !monitor.lane(3).empty(); }));
  ASSERT_FALSE(monitor.rosters().empty());
  EXPECT_EQ(monitor.roster().world_size, 7);
  ASSERT_EQ(monitor.roster().ranks.size(), 1u);
  EXPECT_EQ(monitor.roster().ranks[0].rank, 3);
  EXPECT_EQ(monitor.roster().ranks[0].pid, rank.pid());
  EXPECT_THAT(monitor.roster().program, HasSubstr("stay 3 7"));
  EXPECT_EQ(monitor.roster().agent_pid, agent.pid());
}

TEST(Agent, GivesOneNumberToANameThatRanksNumberDifferently) {
  const SessionRoot root;
  AgentProcess agent;
  Monitor monitor;
  PlayedRank first("name", 0, 2, {"assemble", "solve"});
  PlayedRank second("name", 1, 2, {"solve", "assemble"});
  ASSERT_TRUE(monitor.until(
      [&] { return monitor.count(0, EventKind::kTraffic) + monitor.count(1, EventKind::kTraffic) == 2; }));
  const auto name_of = [&](Phase phase) {
    for (const wire::PhaseInfo& info : monitor.roster().phases) {
      if (info.phase == phase) return info.name;
    }
    return std::string("?");
  };
  EXPECT_EQ(name_of(monitor.lane(0).back().phase), "solve");
  EXPECT_EQ(name_of(monitor.lane(1).back().phase), "assemble");
}

const std::vector<wire::WaitPattern> kOneRing{
    {.rendezvous = true, .collective = false, .from = {-1, 1}, .to = {-1, 1}}};

bool all_follow_the_first_cycle(const wire::Roster& roster, std::size_t ranks) {
  return roster.ranks.size() == ranks &&
         std::ranges::all_of(roster.ranks, [](const wire::RankInfo& info) { return info.cycle == 1; });
}

TEST(Agent, SaysOnceWhomRanksOfARingWaitFor) {
  const SessionRoot root;
  AgentProcess agent;
  Monitor monitor;
  std::vector<std::unique_ptr<PlayedRank>> ranks;
  for (Rank rank = 0; rank < 3; ++rank) ranks.push_back(std::make_unique<PlayedRank>("step", rank, 3));
  ASSERT_TRUE(monitor.until([&] {
    return std::ranges::all_of(
        ranks, [&](const auto& rank) { return monitor.count(Rank(&rank - ranks.data()), EventKind::kStep) > 100; });
  }));
  EXPECT_EQ(monitor.roster().patterns, kOneRing);
  EXPECT_EQ(monitor.roster().cycles, (std::vector<wire::WaitCycle>{{{{0}}}}));
  for (Rank rank = 0; rank < 3; ++rank) {
    ASSERT_EQ(monitor.count(rank, EventKind::kPartners), 1u) << "rank " << rank;
    for (const Event& event : monitor.lane(rank)) EXPECT_TRUE(event.kind != EventKind::kPartners || event.value == 1);
  }
  Monitor late(Monitor::Joins::kLate);
  ASSERT_TRUE(late.until([&] { return !late.rosters().empty(); }));
  EXPECT_TRUE(all_follow_the_first_cycle(late.roster(), 3));
  EXPECT_EQ(late.roster().patterns, kOneRing);
}

std::uint32_t cycle_in(const std::vector<wire::Roster>& rosters, Rank rank) {
  if (rosters.empty()) return 0;
  for (const wire::RankInfo& info : rosters.back().ranks)
    if (info.rank == rank) return info.cycle;
  return 0;
}

TEST(Agent, TellsWhoComesLateWhomARankWaitedForLast) {
  const SessionRoot root;
  AgentProcess agent;
  Monitor monitor;
  PlayedRank turning("turn", 0, 3), other("turn", 1, 3);
  const auto followed = [&](Rank rank) {
    std::uint32_t cycle = 0;
    for (const Event& event : monitor.lane(rank))
      if (event.kind == EventKind::kPartners) cycle = std::uint32_t(event.value);
    return cycle;
  };
  ASSERT_TRUE(monitor.until([&] { return followed(0) != 0 && followed(1) != 0; }));
  const std::uint32_t first = followed(0), second = followed(1);
  ASSERT_NE(first, second);
  turning.say_line();
  ASSERT_TRUE(monitor.until([&] { return followed(0) == second; }));  // Nothing new in the roster, but who follows it.
  Monitor late(Monitor::Joins::kLate);
  EXPECT_TRUE(late.until([&] { return cycle_in(late.rosters(), 0) == second; }));
  turning.say_line();
  turning.leave();
  ASSERT_TRUE(monitor.until([&] { return monitor.count(0, EventKind::kStop) == 1; }));
  EXPECT_EQ(followed(0), first);
  Monitor last(Monitor::Joins::kLate);
  EXPECT_TRUE(last.until([&] { return cycle_in(last.rosters(), 0) == first; }));
  other.leave();
}

TEST(Agent, SplitsABacklogIntoFramesOfModestSize) {
  const SessionRoot root;
  AgentProcess agent({"--ring-events", "262144"});
  Monitor monitor;
  std::vector<std::unique_ptr<PlayedRank>> ranks;
  for (Rank rank = 0; rank < 4; ++rank) {
    ranks.push_back(std::make_unique<PlayedRank>("count", rank, 4, std::vector<std::string>{"100000", "7"}));
  }
  agent.kill(SIGSTOP);
  for (auto& rank : ranks) rank->wait_until_done();
  agent.kill(SIGCONT);
  for (auto& rank : ranks) rank->leave();
  ASSERT_TRUE(monitor.until_end());  // which checks sizes and promises
  for (Rank rank = 0; rank < 4; ++rank)
    EXPECT_TRUE(numbers_of(monitor.lane(rank)) == one_to(100'000)) << "rank " << rank;
}

TEST(Agent, GivesASlotThatWasLeftToTheNextRank) {
  const SessionRoot root;
  AgentProcess agent({"--slots", "2"});
  Monitor monitor;
  PlayedRank first("stay", 0, 9);
  for (Rank rank = 1; rank < 5; ++rank) {
    PlayedRank guest("count", rank, 9, {"100", "1"});
    ASSERT_TRUE(guest.joined());
    PlayedRank too_many("stay", 8, 9);
    EXPECT_FALSE(too_many.joined());
    guest.leave();
    ASSERT_TRUE(monitor.until([&] { return monitor.count(rank, EventKind::kStop) == 1; }));
    ASSERT_TRUE(monitor.until([&, frames = monitor.frames()] { return monitor.frames() > frames; }));
  }
  first.leave();
  ASSERT_TRUE(monitor.until_end());
  for (Rank rank = 1; rank < 5; ++rank) EXPECT_EQ(numbers_of(monitor.lane(rank)).size(), 100u);
  EXPECT_TRUE(monitor.lane(8).empty());
}

TEST(Agent, LetsASecondProcessOfARankWaitUntilTheFirstHasLeft) {
  const SessionRoot root;
  AgentProcess agent;
  Monitor monitor;
  PlayedRank first("count", 0, 1, {"100", "1"});
  PlayedRank second("count", 0, 1, {"200", "2"});
  ASSERT_TRUE(second.joined());
  second.wait_until_done();
  first.leave();
  second.leave();
  ASSERT_TRUE(monitor.until_end());
  EXPECT_EQ(numbers_of(monitor.lane(0)).size(), 300u);
  EXPECT_EQ(monitor.count(0, EventKind::kStop), 2u);
}

TEST(Agent, SaysThatASecondProcessOfARankHasToWait) {
  const SessionRoot root;
  AgentProcess agent;
  Monitor monitor;
  PlayedRank first("stay", 0, 1), second("stay", 0, 1);
  const std::string words = "process " + std::to_string(second.pid()) + " calls itself rank 0, as process " +
                            std::to_string(first.pid()) + " does";
  EXPECT_TRUE(eventually([&] { return text_of(root.folder() / "trouble.log").find(words) != std::string::npos; }));
  first.leave();
  second.leave();
  ASSERT_TRUE(monitor.until_end());
}

TEST(Agent, FollowsARankThatBecomesAnotherProgram) {
  const SessionRoot root;
  AgentProcess agent;
  Monitor monitor;
  PlayedRank rank("become", 0, 1, {"count", "100", "1"});
  ASSERT_TRUE(rank.joined());
  EXPECT_EQ(rank.line(), "1");
  rank.wait_until_done();
  // While the process lives.
  EXPECT_TRUE(monitor.until([&] { return numbers_of(monitor.lane(0)).size() == 100u; }));
  rank.leave();
  ASSERT_TRUE(monitor.until_end());
  EXPECT_EQ(monitor.count(0, EventKind::kStart), 2u);
  EXPECT_EQ(monitor.count(0, EventKind::kLost), 1u);
}

TEST(Agent, UsesLittleOfAProcessorForFortyRanks) {
  const SessionRoot root;
  AgentProcess agent;
  Monitor monitor;
  std::vector<std::unique_ptr<PlayedRank>> ranks;
  const Nanoseconds began = now();
  for (Rank rank = 0; rank < 40; ++rank) {
    ranks.push_back(std::make_unique<PlayedRank>("work", rank, 40, std::vector<std::string>{"3000"}));
    ranks.back()->close_input();
  }
  ASSERT_TRUE(monitor.until_end());
  ASSERT_EQ(agent.exit_code(), 0);
  const double wall = std::chrono::duration<double>(now() - began).count();
  std::size_t events = 0;
  for (Rank rank = 0; rank < 40; ++rank) events += monitor.lane(rank).size();
  std::printf("agent: %.2f %% of a processor for 40 ranks and %.0f events/s\n", 100 * agent.seconds_used() / wall,
              double(events) / wall);
  EXPECT_LT(agent.seconds_used(), wall);
}

}  // namespace
}  // namespace idlewave::test
