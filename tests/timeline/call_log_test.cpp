#include "monitor/timeline/call_log.h"

#include <gtest/gtest.h>

namespace idlewave::timeline {
namespace {

using wire::FunctionSums;
using wire::PairSums;
using wire::RankCalls;

constexpr std::uint64_t kPlenty = 1 << 20;
constexpr wire::Rank kCallers = 8;

FunctionSums sends(std::uint64_t calls, std::int64_t time_ns, std::int64_t longest_ns) {
  return {"MPI_Send", calls, 10 * calls, 0, wire::Nanoseconds(time_ns), wire::Nanoseconds(longest_ns)};
}

RankCalls of_process(std::int32_t pid, FunctionSums sums, std::vector<PairSums> pairs) {
  return {.rank = 2, .pid = pid, .functions = {std::move(sums)}, .pairs = std::move(pairs)};
}

TEST(CallLog, HasWhatAProcessToldLast) {
  CallLog log(kPlenty);
  EXPECT_TRUE(log.empty());
  EXPECT_EQ(log.of(2), nullptr);
  log.set(of_process(100, sends(3, 30, 20), {{1, 3, 30}}), kCallers);
  const RankCalls latest = of_process(100, sends(5, 60, 20), {{1, 4, 40}, {3, 1, 10}});
  log.set(latest, kCallers);
  ASSERT_NE(log.of(2), nullptr);
  EXPECT_EQ(*log.of(2), latest);
}

TEST(CallLog, AddsUpTheProcessesThatWereOneRank) {
  CallLog log(kPlenty);
  log.set(of_process(100, sends(3, 30, 20), {{1, 3, 30}}), kCallers);
  for (const std::uint64_t calls : {1, 4}) log.set(of_process(200, sends(calls, 8, 5), {{3, calls, 40}}), kCallers);
  log.set(of_process(300, sends(1, 50, 50), {{1, 1, 10}}), kCallers);
  EXPECT_EQ(*log.of(2), of_process(300, sends(8, 88, 50), {{1, 4, 40}, {3, 4, 40}}));
}

/// An agent that lies: each process has functions and receivers that none before it had.
TEST(CallLog, AddsUpHowManyFunctionsAndReceiversWhoeverNamesThem) {
  constexpr int kProcesses = 3, kNames = 200'000;
  CallLog log(1u << 30);
  for (int process = 0; process < kProcesses; ++process) {
    RankCalls calls{.rank = 2, .pid = 100 + process, .functions = {}, .pairs = {}};
    for (int i = 0; i < kNames; ++i) {
      calls.functions.push_back({std::to_string(process) + "." + std::to_string(i), 1, 1, 0, {}, {}});
      calls.pairs.push_back({wire::Rank((kProcesses - process) * kNames + i), 1, 1});
    }
    log.set(calls, 10 * kNames);
  }
  EXPECT_EQ(log.of(2)->functions.size(), std::size_t(kProcesses * kNames));
  EXPECT_EQ(log.of(2)->pairs.size(), std::size_t(kProcesses * kNames));
}

TEST(CallLog, AddsUpTheCallsThatNobodyHasSeen) {
  CallLog log(kPlenty);
  EXPECT_EQ(log.unseen(), 0u);
  for (const auto& [rank, pid, unseen] : {std::tuple(2, 100, 3), {2, 100, 5}, {2, 200, 1}, {2, 200, 4}, {3, 300, 10}})
    log.set({.rank = rank, .pid = pid, .functions = {}, .pairs = {}, .unseen = std::uint64_t(unseen)}, kCallers);
  EXPECT_EQ(log.of(2)->unseen, 9u);
  EXPECT_EQ(log.unseen(), 19u);
}

TEST(CallLog, CountsReceiversThatNobodyIsAmongTheOthers) {
  CallLog log(kPlenty);
  log.set(of_process(100, sends(3, 30, 20), {{1, 1, 10}, {8, 1, 20}, {4'000'000, 1, 30}}), kCallers);
  EXPECT_EQ(log.of(2)->pairs, (std::vector<PairSums>{{1, 1, 10}}));
  EXPECT_EQ(log.of(2)->other_messages, 2u);
  EXPECT_EQ(log.of(2)->other_bytes, 50u);
}

TEST(CallLog, GivesUpReceiversAndThenRanksWhereThereIsNoRoom) {
  CallLog log(2000);
  std::uint64_t messages = 0;
  for (wire::Rank rank = 0; rank < 30; ++rank) {
    RankCalls calls = of_process(100, sends(40, 30, 20), {});
    calls.rank = rank;
    for (wire::Rank to = 0; to < 40; ++to) calls.pairs.push_back({to, 1, 10});
    log.set(calls, 1000);
    EXPECT_LE(log.bytes(), 2000u);
  }
  for (const auto& [rank, calls] : log.all()) {
    EXPECT_EQ(calls.functions[0].calls, 40u);
    std::uint64_t all = calls.other_messages;
    for (const PairSums& pair : calls.pairs) all += pair.messages;
    EXPECT_EQ(all, 40u) << "of rank " << rank;
    messages += all;
  }
  EXPECT_GT(messages, 0u);
  EXPECT_TRUE(log.is_cut());
}

TEST(CallLog, CutsSumsOfTimeThatAreTooLongToBe) {
  CallLog log(kPlenty);
  const std::int64_t forever = std::numeric_limits<std::int64_t>::max();
  for (const std::int32_t pid : {100, 200, 300}) log.set(of_process(pid, sends(1, forever, forever), {}), kCallers);
  EXPECT_EQ(log.of(2)->functions[0].time.count(), forever);
}

}  // namespace
}  // namespace idlewave::timeline
