// LogGOPS by hand: each time stands beside its closed form.

#include "workloads/sim/network/goal_run.h"

#include <gmock/gmock.h>

#include <string>
#include <utility>
#include <vector>

#include "workloads/sim/network/goal_reader.h"
#include "workloads/sim/network/match_queue.h"

namespace idlewave::sim::network {
namespace {

using support::LogGops;
using support::Nanoseconds;
using testing::ElementsAre;
using wire::Step;

/// L = 1000, o = 100, g = 40, G = 2, O = 1, S = 100.
const LogGops kNetwork{Nanoseconds(1000), Nanoseconds(100), Nanoseconds(40), 2e-9, 1e-9, 100};
/// LogGOPSim's defaults (its simulator.ggo).
const LogGops kDefault{Nanoseconds(2500), Nanoseconds(1500), Nanoseconds(1000), 6e-9, 0, 65535};

GoalRun run_text(const std::string& text, const LogGops& network = kNetwork) {
  auto schedule = read_goal(text, "test");
  EXPECT_TRUE(schedule) << (schedule ? "" : schedule.error().message);
  auto result = run(*schedule, network);
  EXPECT_TRUE(result) << (result ? "" : result.error().message);
  return std::move(*result);
}

TEST(GoalRun, AnEagerPingPongTakesTwoMessages) {
  const auto run = run_text(
      "num_ranks 2\nrank 0 {\na: send 11b to 1\nb: recv 11b from 1\n}\n"
      "rank 1 {\na: recv 11b from 0\nb: send 11b to 0\nb requires a\n}\n");
  // There: o + L + o + 10 max(O, G) = 1220, until the receiver's cpu is free. Back the same. Rank 1 has sent at
  // 1220 + o + 10 O = 1330.
  EXPECT_THAT(run.finish_ns, ElementsAre(2440, 1330));
  EXPECT_EQ(run.messages, 2u);
  EXPECT_EQ(run.ops, 4u);
  EXPECT_TRUE(run.complete());
}

TEST(GoalRun, AnEagerSendDoesNotWaitForItsReceive) {
  const auto run = run_text(
      "num_ranks 2\nrank 0 {\na: send 100b to 1\nb: calc 50\nb requires a\n}\n"
      "rank 1 {\na: calc 9000\nb: recv 100b from 0\nb requires a\n}\n");
  // o + 99 O + 50. The message finds the receiver's cpu busy until 9000, then takes o + 99 G.
  EXPECT_THAT(run.finish_ns, ElementsAre(100 + 99 + 50, 9000 + 100 + 198));
}

TEST(GoalRun, ARendezvousSendWaitsForItsReceive) {
  const auto run = run_text(
      "num_ranks 2\nrank 0 {\na: send 101b to 1\nb: calc 50\nb requires a\n}\n"
      "rank 1 {\na: calc 9000\nb: recv 101b from 0\nb requires a\n}\n");
  // The first byte is there at 1100, but the receiver's cpu is busy until 9000. Then the message takes o + 100 G of it,
  // the receive is posted, and the sender goes on.
  EXPECT_THAT(run.finish_ns, ElementsAre(9000 + 50, 9000 + 100 + 200));
}

TEST(GoalRun, TheGapKeepsTwoMessagesOfARankApart) {
  const LogGops network{Nanoseconds(1000), Nanoseconds(10), Nanoseconds(400), 0, 0, 100};
  const auto run = run_text(
      "num_ranks 3\nrank 0 {\nsend 1b to 1\nsend 1b to 2\n}\nrank 1 {\nrecv 1b from 0\n}\nrank 2 {\nrecv 1b from "
      "0\n}\n",
      network);
  // The second leaves at g: o + L + o later it has arrived.
  EXPECT_THAT(run.finish_ns, ElementsAre(400 + 10, 1020, 400 + 1020));
}

TEST(GoalRun, MessagesThatArriveTogetherAreReceivedAGapApart) {
  const LogGops network{Nanoseconds(1000), Nanoseconds(10), Nanoseconds(400), 0, 0, 100};
  const auto run = run_text(
      "num_ranks 3\nrank 0 {\nrecv 1b from 1\nrecv 1b from 2\n}\nrank 1 {\nsend 1b to 0\n}\nrank 2 {\nsend 1b to "
      "0\n}\n",
      network);
  EXPECT_THAT(run.finish_ns, ElementsAre(1010 + 400 + 10, 10, 10));
}

TEST(GoalRun, TheGapPerByteBelongsToTheReceiverAndTheOverheadPerByteToTheSender) {
  const LogGops network{Nanoseconds(1000), Nanoseconds(10), Nanoseconds(0), 5e-9, 3e-9, 1000};
  const auto run = run_text("num_ranks 2\nrank 0 {\nsend 101b to 1\n}\nrank 1 {\nrecv 101b from 0\n}\n", network);
  EXPECT_THAT(run.finish_ns, ElementsAre(10 + 100 * 3, 10 + 1000 + 10 + 100 * 5));
}

TEST(GoalRun, AFractionOfANanosecondAByteIsRoundedDown) {
  const LogGops network{Nanoseconds(0), Nanoseconds(0), Nanoseconds(0), 0.04e-9, 0, 1 << 20};
  const auto run = run_text("num_ranks 2\nrank 0 {\nsend 100b to 1\n}\nrank 1 {\nrecv 100b from 0\n}\n", network);
  EXPECT_EQ(run.finish_ns[1], 3);  // floor(99 * 0.04)
}

TEST(GoalRun, AStartDependenceDoesNotWaitForARendezvous) {
  const std::string tail = "\n}\nrank 1 {\na: calc 9000\nb: recv 101b from 0\nb requires a\n}\n";
  const auto run = run_text("num_ranks 2\nrank 0 {\na: send 101b to 1\nb: calc 50\nb irequires a" + tail);
  EXPECT_EQ(run.finish_ns[0], 9000);  // the calc is over at 250; the send holds the cpu's clock until its receive
}

TEST(GoalRun, ProcessorsOfARankWorkSideBySide) {
  const auto run = run_text("num_ranks 1\nrank 0 {\ncalc 100 cpu 0\ncalc 70 cpu 1\n}\n");
  EXPECT_THAT(run.finish_ns, ElementsAre(100));
}

TEST(GoalRun, AReceiveOfAProcessorFreeBeforeIsPostedBetweenTwoThatBecameReadyAtOnce) {
  GoalBuilder builder(2);
  const OpId calc = builder.calc(0, 100), send = builder.send(0, 1, 1, 1), late = builder.recv(0, 1, 1, 7);
  const OpId early = builder.recv(0, 1, 1, 7, {1, 0});
  builder.after(send, calc), builder.after(late, calc), builder.after(early, send);
  builder.after(builder.calc(0, 1000), early), builder.after(builder.calc(0, 10), late);
  const OpId first = builder.calc(1, 200), sent = builder.send(1, 1, 0, 7), second = builder.calc(1, 5000);
  builder.recv(1, 1, 0, 1);
  builder.after(sent, first), builder.after(second, sent), builder.after(builder.send(1, 1, 0, 7), second);
  const auto run = sim::network::run(*std::move(builder).build(), {Nanoseconds(10), {}, {}, 0, 0, 65535});
  EXPECT_EQ(run->finish_ns[0], 5220);
}

TEST(GoalRun, AnyReceiveTakesWhatCameFirst) {
  const auto run = run_text(
      "num_ranks 3\nrank 0 {\na: recv 1b from -1 tag -1\nb: send 1b to 1 tag 9\nb requires a\n}\n"
      "rank 1 {\na: calc 500\nb: send 1b to 0 tag 4\nb requires a\nrecv 1b from 0 tag 9\n}\n"
      "rank 2 {\na: calc 90000\nb: send 1b to 0 tag 3\nb requires a\n}\n");
  EXPECT_EQ(run.finish_ns[1], 500 + 2 * (100 + 1000 + 100));
  ASSERT_EQ(run.stuck.size(), 1u);
  EXPECT_EQ(describe(run.stuck[0]), "rank 2 sent 1 B to rank 0, tag 3, and no receive takes them");
}

/// The schedule of LogGOPSim's example dissemination_16.goal; its README gives 22000 ns with default parameters.
std::string dissemination(int ranks) {
  std::string text = "num_ranks " + std::to_string(ranks) + "\n";
  for (int rank = 0; rank < ranks; ++rank) {
    text += "rank " + std::to_string(rank) + " {\n";
    for (int distance = 1, l = 1; distance < ranks; distance *= 2, l += 2) {
      const auto label = [](int number) { return "l" + std::to_string(number); };
      text += label(l) + ": send 1b to " + std::to_string((rank + distance) % ranks) + " tag 0\n";
      text += label(l + 1) + ": recv 1b from " + std::to_string((rank - distance + ranks) % ranks) + " tag 0\n";
      if (l > 1) text += label(l) + " requires " + label(l - 1) + "\n";
    }
    text += "}\n";
  }
  return text;
}

TEST(GoalRun, GivesTheTimeOfLogGOPSimsDisseminationExample) {
  EXPECT_THAT(run_text(dissemination(16), kDefault).finish_ns, testing::Each(22000));
}

TEST(GoalRun, NamesWhoWaitsForWhomInADeadlock) {
  const auto run = run_text(
      "num_ranks 2\nrank 0 {\na: recv 8b from 1 tag 7\nb: send 8b to 1 tag 7\nb requires a\n}\n"
      "rank 1 {\na: recv 8b from 0 tag 7\nb: send 8b to 0 tag 7\nb requires a\n}\n");
  ASSERT_EQ(run.stuck.size(), 2u);
  EXPECT_EQ(describe(run.stuck[0]), "rank 0 waits for 8 B from rank 1, tag 7, and no such message comes");
  EXPECT_EQ(describe(run.stuck[1]), "rank 1 waits for 8 B from rank 0, tag 7, and no such message comes");
}

TEST(GoalRun, NamesASenderThatWaitsForARendezvousForEver) {
  const auto run = run_text("num_ranks 2\nrank 0 {\nsend 101b to 1\n}\nrank 1 {\ncalc 1\n}\n");
  ASSERT_EQ(run.stuck.size(), 1u);
  EXPECT_EQ(describe(run.stuck[0]),
            "rank 0 sent 101 B to rank 1, tag 0, and no receive takes them: it waits in this send");
}

TEST(GoalRun, ALateStartMovesEverythingBehindIt) {
  const auto schedule = read_goal("num_ranks 2\nrank 0 {\nsend 1b to 1\n}\nrank 1 {\nrecv 1b from 0\n}\n", "test");
  const std::vector<std::int64_t> start = {500, 0};
  EXPECT_THAT(run(*schedule, kNetwork, {start})->finish_ns, ElementsAre(600, 500 + 1200));
}

constexpr double kGigabyte = 1e9;

MemoryDomains domains_of_ten(double saturated = 50 * kGigabyte) {
  support::Machine machine{.ranks_per_domain = 10};
  machine.core_bandwidth = 10 * kGigabyte, machine.domain_bandwidth = saturated;
  return *memory_domains(machine, 10);
}

/// Each of the ranks works for `nanoseconds`.
GoalSchedule works(Rank ranks, std::uint64_t nanoseconds) {
  GoalBuilder builder(ranks);
  for (Rank rank = 0; rank < ranks; ++rank) builder.calc(rank, nanoseconds);
  return *std::move(builder).build();
}

TEST(GoalRun, TwiceAsManyCalculationsAsSaturateADomainTakeTwiceAsLong) {
  const MemoryDomains memory = domains_of_ten();
  EXPECT_THAT(run(works(10, 12345), kNetwork, {.memory = &memory})->finish_ns, testing::Each(2 * 12345));
  EXPECT_THAT(run(works(5, 12345), kNetwork, {.memory = &memory})->finish_ns, testing::Each(12345));
  EXPECT_THAT(run(works(20, 12345), kNetwork, {.memory = &memory})->finish_ns, testing::Each(2 * 12345));
  // The last domain is smaller: 10 wait for each other's memory, 6 of 5 a little.
  const auto uneven = run(works(16, 1'000'000), kNetwork, {.memory = &memory})->finish_ns;
  EXPECT_EQ(uneven.front(), 2'000'000);
  EXPECT_EQ(uneven.back(), 1'200'000);
}

TEST(GoalRun, WholeEndsAreNotLateByANanosecond) {
  // Speeds of 1/3, 3/7 and so on are no binary fractions.
  for (int n = 1; n <= 10; ++n)
    for (int saturated = 1; saturated <= n; ++saturated) {
      const MemoryDomains memory = domains_of_ten(saturated * 10 * kGigabyte);
      const auto work = std::uint64_t(saturated) * 1'000'000'007;
      ASSERT_THAT(run(works(n, work), kNetwork, {.memory = &memory})->finish_ns, testing::Each(n * 1'000'000'007LL))
          << n << " on " << saturated;
    }
}

TEST(GoalRun, WhoComesLaterSharesWithWhoIsThere) {
  const MemoryDomains memory = domains_of_ten(10 * kGigabyte);
  const std::vector<std::int64_t> start = {0, 100};
  // Rank 0 is alone for 100 ns and has half for the other 900, as has rank 1, which is alone for its last 100.
  EXPECT_THAT(run(works(2, 1000), kNetwork, {.start_ns = start, .memory = &memory})->finish_ns,
              ElementsAre(1900, 2000));
}

TEST(GoalRun, AMessageWaitsForTheCalculationThatTakesLongerInCompany) {
  const auto schedule = read_goal(
      "num_ranks 3\nrank 0 {\na: calc 5000\nb: send 1b to 2\nb requires a\n}\nrank 1 {\ncalc 5000\n}\n"
      "rank 2 {\nrecv 1b from 0\n}\n",
      "test");
  support::Machine machine{.ranks_per_domain = 2};
  machine.core_bandwidth = machine.domain_bandwidth = 10 * kGigabyte;
  const MemoryDomains memory = *memory_domains(machine, 2);
  EXPECT_THAT(run(*schedule, kNetwork, {.memory = &memory})->finish_ns, ElementsAre(10100, 10000, 11200));
}

TEST(GoalRun, ADelayDrawsNoBandwidth) {
  GoalBuilder builder(2);
  builder.idle(0, 1000);
  builder.calc(1, 1000);
  const auto schedule = std::move(builder).build();
  const MemoryDomains memory = domains_of_ten(10 * kGigabyte);
  EXPECT_THAT(run(*schedule, kNetwork, {.memory = &memory})->finish_ns, ElementsAre(1000, 1000));
}

/// Interrupts every rank from 500 to 700.
struct OneInterruption final : PhaseNoise {
  bool is_in_time() const override { return true; }
  double after(Rank, Step, double begin, double end) const override {
    return begin <= 500e-9 && 500e-9 < end ? 200e-9 : 0;
  }
  double free_from(Rank, double time) const override { return 500e-9 < time && time < 700e-9 ? 700e-9 : time; }
};

TEST(GoalRun, NoiseInTimeInterruptsWhateverOccupiesAProcessor) {
  const OneInterruption noise;
  // In the midst of a calculation; before one; in the midst of a send, whose message leaves all the same.
  EXPECT_THAT(run(works(1, 600), kNetwork, {.noise = &noise})->finish_ns, ElementsAre(800));
  const std::vector<std::int64_t> start = {600};
  EXPECT_THAT(run(works(1, 600), kNetwork, {.start_ns = start, .noise = &noise})->finish_ns, ElementsAre(1300));
  const auto sends = read_goal(
      "num_ranks 2\nrank 0 {\na: calc 450\nb: send 1b to 1\nb requires a\n}\nrank 1 {\nrecv 1b from 0\n}\n", "test");
  EXPECT_THAT(run(*sends, kNetwork, {.noise = &noise})->finish_ns, ElementsAre(450 + 100 + 200, 450 + 1200));
  // An arrival at 500 + 40, in the midst of the interruption.
  const LogGops near{Nanoseconds(90), Nanoseconds(450), {}, 0, 0, 100};
  const auto arrives = read_goal("num_ranks 2\nrank 0 {\nsend 1b to 1\n}\nrank 1 {\nrecv 1b from 0\n}\n", "test");
  EXPECT_THAT(run(*arrives, near, {.noise = &noise})->finish_ns, ElementsAre(450, 700 + 450));
}

/// Calculation k of a rank is followed by 10 (k + 1) ns.
struct CountingNoise final : PhaseNoise {
  double after(Rank, Step step, double, double) const override { return double(step + 1) * 10e-9; }
};

TEST(GoalRun, DrawnNoiseComesAfterCalculationsOnlyAndDrawsNoBandwidth) {
  const CountingNoise noise;
  const auto schedule = read_goal(
      "num_ranks 2\nrank 0 {\na: calc 1000\nb: calc 1000\nb requires a\nc: send 1b to 1\nc requires b\n}\n"
      "rank 1 {\nrecv 1b from 0\n}\n",
      "test");
  EXPECT_THAT(run(*schedule, kNetwork, {.noise = &noise})->finish_ns, ElementsAre(2030 + 100, 2030 + 1200));
  const MemoryDomains memory = domains_of_ten(10 * kGigabyte);
  const std::vector<std::int64_t> start = {0, 1000};
  EXPECT_THAT(run(works(2, 1000), kNetwork, {.start_ns = start, .memory = &memory, .noise = &noise})->finish_ns,
              ElementsAre(1010, 2010));
}

TEST(GoalRun, RefusesDomainsThatItCannotRun) {
  MemoryDomains memory = domains_of_ten();
  memory.speed.pop_back();
  EXPECT_THAT(run(works(10, 1), kNetwork, {.memory = &memory}).error().message, testing::HasSubstr("up to 10"));
  memory = {0, {}};
  EXPECT_THAT(run(works(10, 1), kNetwork, {.memory = &memory}).error().message, testing::HasSubstr("at least 1"));
  memory = {2, {0, 1, 1000}};
  EXPECT_THAT(run(works(10, 1), kNetwork, {.memory = &memory}).error().message, testing::HasSubstr("each of 2"));
}

struct EndlessNoise final : PhaseNoise {
  double after(Rank, Step, double, double) const override { return 1e18; }
};

TEST(GoalRun, RefusesNoiseThatNoClockCanHold) {
  const EndlessNoise noise;
  EXPECT_THAT(run(works(2, 1000), kNetwork, {.noise = &noise}).error().message, testing::HasSubstr("noise"));
}

TEST(GoalRun, RefusesParametersThatMeanNothing) {
  const auto schedule = read_goal("num_ranks 1\nrank 0 { calc 1 }\n", "test");
  LogGops network = kNetwork;
  network.gap_per_byte = -1e-9;
  EXPECT_EQ(run(*schedule, network).error().message, "loggops: G and O must lie between 0 and 1 s/B");
  network = kNetwork;
  network.latency = Nanoseconds(-1);
  EXPECT_EQ(run(*schedule, network).error().message, "loggops: L, o and g must not be negative");
  const std::vector<std::int64_t> start = {1, 2};
  EXPECT_EQ(run(*schedule, kNetwork, {start}).error().message, "start times: 2 given for 1 ranks");
}

TEST(GoalRun, RefusesARunThatNoClockCanHold) {
  GoalBuilder builder(1);
  for (int i = 0; i < 1000; ++i) builder.calc(0, kMaxCalcNs);
  const auto schedule = std::move(builder).build();
  EXPECT_THAT(run(*schedule, kNetwork).error().message, testing::HasSubstr("2^62 ns"));
}

/// As many calculations of one rank that wait for nothing but its processor. Looked at one after another each time that
/// it becomes free, they would take half an hour.
constexpr int kMany = 1'000'000;

GoalSchedule many_calculations(int cpus = 1) {
  GoalBuilder builder(1);
  for (int i = 0; i < kMany; ++i) builder.calc(0, 10, {std::uint8_t(i % cpus), 0});
  return *std::move(builder).build();
}

TEST(GoalRun, ARankMayHaveAMillionCalculationsThatWaitForNoOther) {
  EXPECT_THAT(run(many_calculations(), kNetwork)->finish_ns, ElementsAre(10LL * kMany));
  EXPECT_THAT(run(many_calculations(4), kNetwork)->finish_ns, ElementsAre(10LL * kMany / 4));
}

TEST(GoalRun, AMillionCalculationsAreFewEventsOnMemoryDomainsAndUnderNoiseToo) {
  const MemoryDomains memory = domains_of_ten();
  const auto shared = run(many_calculations(), kNetwork, {.memory = &memory});
  EXPECT_THAT(shared->finish_ns, ElementsAre(10LL * kMany));
  EXPECT_LT(shared->events, 16u * kMany);
  const OneInterruption noise;
  const auto disturbed = run(many_calculations(), kNetwork, {.noise = &noise});
  EXPECT_THAT(disturbed->finish_ns, ElementsAre(10LL * kMany + 200));
  EXPECT_LT(disturbed->events, 16u * kMany);
}

TEST(GoalRun, ARankMaySendAndReceiveAsManyMessagesAtOnce) {
  constexpr int kMessages = kMany / 4;
  GoalBuilder builder(2);
  for (int i = 0; i < kMessages; ++i) builder.send(0, 1, 1, 7);
  builder.calc(1, 1'000'000'000);
  for (int i = 0; i < kMessages; ++i) builder.recv(1, 1, 0, 7);
  const auto schedule = *std::move(builder).build();
  // All have arrived while the receiver calculates. Then each takes o of its processor.
  EXPECT_THAT(run(schedule, kNetwork)->finish_ns, ElementsAre(100LL * kMessages, 1'000'000'000 + 100LL * kMessages));
}

TEST(MatchQueue, KeepsItsOrderWhenItIsEmptiedFromTheMiddle) {
  MatchQueue queue;
  for (Rank source = 0; source < 1000; ++source) queue.add({source, 1, OpId(source)});
  for (Rank source = 999; source >= 500; --source) EXPECT_EQ(queue.take(source, 1), OpId(source));
  EXPECT_EQ(queue.take(700, 1), std::nullopt);
  for (OpId first = 0; first < 500; ++first) EXPECT_EQ(queue.take(kAnySource, kAnyTag), first);
  EXPECT_EQ(queue.take(kAnySource, kAnyTag), std::nullopt);
}

}  // namespace
}  // namespace idlewave::sim::network
