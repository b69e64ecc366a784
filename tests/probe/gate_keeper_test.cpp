#include "probe/client/gate_keeper.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <setjmp.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cmath>
#include <csignal>
#include <string>
#include <thread>
#include <vector>

#include "probe/wire/frame.h"
#include "tests/probe/node.h"

namespace idlewave::client {
namespace {

using test::describe;
using test::Segment;
using testing::ElementsAre;
using testing::IsEmpty;
using wire::Event;
using wire::EventKind;
using wire::Phase;

constexpr std::int64_t kMs = 1'000'000;
constexpr auto kExponential = static_cast<std::uint32_t>(wire::NoiseKind::kExponential);
constexpr auto kPeriodic = static_cast<std::uint32_t>(wire::NoiseKind::kPeriodic);

/// A rank that makes steps, on a segment of its own.
class SteppingRank {
 public:
  explicit SteppingRank(wire::Rank rank = 0) : segment_(1, 1 << 14) {
    slot().rank = rank;
    slot().step = wire::kNoStep;
    lane_.attach(slot(), segment_.ring(), segment_.header().ring_events, segment_.header().clock);
    gates_.attach(slot(), lane_, segment_.header());
  }
  shm::Slot& slot() const { return segment_.slot(); }
  void is_drained_by(pid_t agent) const { segment_.be_drained_by(agent); }
  void is_swept() const { segment_.header().sweeps.fetch_add(1); }

  void begin_step(wire::Step step) {
    if (gates_.is_called()) gates_.obey(step);
  }
  void begin_steps(wire::Step from, wire::Step to) {
    for (wire::Step step = from; step < to; ++step) begin_step(step);
  }
  bool is_called() const { return gates_.is_called(); }
  std::vector<Event> told() { return segment_.drain(); }

 private:
  Segment segment_;
  LaneWriter lane_;
  GateKeeper gates_;
};

std::vector<std::int64_t> hold_lengths(const std::vector<Event>& events) {
  std::vector<std::int64_t> out;
  for (std::size_t i = 0; i + 1 < events.size(); i += 2) out.push_back((events[i + 1].time - events[i].time).count());
  return out;
}

TEST(DelayGate, HoldsTheRankOnceAndAtLeastAsLongAsOrdered) {
  SteppingRank rank;
  shm::arm_delay(rank.slot(), {7, 3 * kMs, wire::kNoStep});
  const wire::Nanoseconds before = shm::monotonic_now();
  rank.begin_step(0);
  EXPECT_GE((shm::monotonic_now() - before).count(), 3 * kMs);
  rank.begin_step(1);
  EXPECT_THAT(describe(rank.told()), ElementsAre("delay_begin 7 delay", "delay_end 7 none"));
  EXPECT_EQ(rank.slot().delay.armed.load() & shm::kStateBits, shm::kIdle);
  EXPECT_FALSE(rank.is_called());
}

TEST(DelayGate, SpinsAShortDelay) {
  SteppingRank rank;
  shm::arm_delay(rank.slot(), {7, 20'000, wire::kNoStep});
  rank.begin_step(0);
  const std::vector<Event> events = rank.told();
  ASSERT_EQ(events.size(), 2u);
  EXPECT_GE((events[1].time - events[0].time).count(), 20'000);
}

TEST(DelayGate, WaitsForItsStep) {
  SteppingRank rank;
  shm::arm_delay(rank.slot(), {7, 1000, 5});
  rank.begin_steps(0, 5);
  EXPECT_THAT(rank.told(), IsEmpty());
  EXPECT_TRUE(rank.is_called());
  rank.begin_step(6);
  EXPECT_THAT(describe(rank.told()), ElementsAre("delay_begin 7 delay", "delay_end 7 none"))
      << "also if the program skips the step";
}

TEST(DelayGate, CountsPiecesOfWorkFromTheOrderOn) {
  SteppingRank rank;
  for (int i = 0; i < 5; ++i) rank.begin_step(wire::kNoStep);
  shm::arm_delay(rank.slot(), shm::delay_in_steps(rank.slot(), 7, 1000, 3));
  for (int i = 0; i < 2; ++i) rank.begin_step(wire::kNoStep);
  EXPECT_THAT(rank.told(), IsEmpty());
  EXPECT_TRUE(rank.is_called());
  rank.begin_step(wire::kNoStep);
  EXPECT_THAT(describe(rank.told()), ElementsAre("delay_begin 7 delay", "delay_end 7 none"));
}

TEST(DelayGate, TakesOneOrderAtATime) {
  SteppingRank rank;
  EXPECT_TRUE(shm::arm_delay(rank.slot(), {7, 1000, 5}));
  EXPECT_FALSE(shm::arm_delay(rank.slot(), {8, 1000, 5}));
  rank.begin_step(5);
  EXPECT_TRUE(shm::arm_delay(rank.slot(), {8, 1000, 5}));
}

TEST(DelayGate, ForgetsAnOrderThatWasTakenBack) {
  SteppingRank rank;
  shm::arm_delay(rank.slot(), {7, 1000, 5});
  rank.begin_step(0);
  EXPECT_TRUE(shm::disarm_delay(rank.slot()));
  rank.begin_steps(1, 10);
  EXPECT_THAT(rank.told(), IsEmpty());
  EXPECT_FALSE(rank.is_called());
  EXPECT_FALSE(shm::disarm_delay(rank.slot()));
}

TEST(DelayGate, IsRevokedOnceItHasBegun) {
  SteppingRank rank;
  shm::arm_delay(rank.slot(), {7, 1000, wire::kNoStep});
  shm::Delay delay;
  ASSERT_EQ(shm::take_delay(rank.slot(), 0, delay), shm::DelayAnswer::kTaken);
  EXPECT_FALSE(shm::is_revoked(rank.slot()));
  EXPECT_TRUE(shm::withdraw_delay(rank.slot()));
  EXPECT_TRUE(shm::is_revoked(rank.slot()));
  EXPECT_FALSE(shm::withdraw_delay(rank.slot())) << "a second time";
  EXPECT_FALSE(shm::arm_delay(rank.slot(), {8, 1000, wire::kNoStep})) << "before the rank has noticed";
  shm::finish_delay(rank.slot());
  EXPECT_TRUE(shm::arm_delay(rank.slot(), {8, 1000, wire::kNoStep}));
}

/// A rank in a thread of its own that is held by what was ordered before.
class HeldRank {
 public:
  explicit HeldRank(SteppingRank& rank)
      : thread_([&rank, this] {
          rank.begin_step(0);
          free_.store(true);
        }) {}
  ~HeldRank() { thread_.join(); }
  bool is_free() const { return free_.load(); }

 private:
  std::atomic<bool> free_{false};
  std::thread thread_;
};

void wait_until_held(const SteppingRank& rank) {
  while ((rank.slot().delay.armed.load() & shm::kStateBits) != shm::kHeld) std::this_thread::yield();
}

constexpr std::int64_t kHour = 3600 * std::int64_t{1'000} * kMs;

TEST(DelayGate, LetsGoOfARankWhoseHourWasCleared) {
  SteppingRank rank;
  shm::arm_delay(rank.slot(), {7, kHour, wire::kNoStep});
  {
    const HeldRank held(rank);
    wait_until_held(rank);
    EXPECT_FALSE(held.is_free());
    EXPECT_TRUE(shm::withdraw_delay(rank.slot()));
  }
  const std::vector<Event> told = rank.told();
  EXPECT_THAT(describe(told), ElementsAre("delay_begin 7 delay", "delay_end 7 none"));
  EXPECT_LT((told.back().time - told.front().time).count(), kHour);
  EXPECT_EQ(rank.slot().delay.armed.load() & shm::kStateBits, shm::kIdle);
}

sigjmp_buf before_the_hold;

void leave_the_hold(int) { siglongjmp(before_the_hold, 1); }

/// As a program does that gives up what takes too long.
TEST(DelayGate, ThatAHandlerHasLeftByLongjmpEndsWithTheNextStep) {
  SteppingRank rank;
  shm::arm_delay(rank.slot(), {7, kHour, wire::kNoStep});
  struct sigaction action {
  }, previous{};
  action.sa_handler = leave_the_hold;
  sigaction(SIGALRM, &action, &previous);
  if (sigsetjmp(before_the_hold, 1) == 0) {
    ualarm(20'000, 0);
    rank.begin_step(0);
    FAIL() << "the rank was not held";
  }
  sigaction(SIGALRM, &previous, nullptr);
  EXPECT_FALSE(shm::arm_delay(rank.slot(), {8, kMs, wire::kNoStep})) << "while it is held, as far as anybody knows";
  rank.begin_step(1);
  EXPECT_GT(rank.slot().held_ns.load(), 0);
  EXPECT_TRUE(shm::arm_delay(rank.slot(), {8, kMs, wire::kNoStep}));
  rank.begin_step(2);
  EXPECT_THAT(describe(rank.told()),
              ElementsAre("delay_begin 7 delay", "delay_end 7 none", "delay_begin 8 delay", "delay_end 8 none"));
}

TEST(DelayGate, LeavesErrnoToTheRank) {
  SteppingRank rank;
  shm::arm_delay(rank.slot(), {7, 20 * kMs, wire::kNoStep});
  const pid_t agent = fork();
  if (agent == 0) pause();
  rank.is_drained_by(agent);
  kill(agent, SIGKILL);
  waitpid(agent, nullptr, 0);  // It is looked for then, and not found.
  errno = EXDEV;
  rank.begin_step(0);
  EXPECT_EQ(errno, EXDEV);
}

TEST(DelayGate, LetsGoOfARankWhoseAgentDied) {
  SteppingRank rank;
  const pid_t agent = fork();
  if (agent == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    pause();
  }
  rank.is_drained_by(agent);
  shm::arm_delay(rank.slot(), {7, kHour, wire::kNoStep});
  {
    const HeldRank held(rank);
    wait_until_held(rank);
    kill(agent, SIGKILL);
    waitpid(agent, nullptr, 0);
  }
  EXPECT_THAT(describe(rank.told()), ElementsAre("delay_begin 7 delay", "delay_end 7 none"));
}

TEST(DelayGate, OfADeadAgentHoldsNobodyAnyMore) {
  SteppingRank rank;
  shm::arm_delay(rank.slot(), {7, kHour, 5});
  shm::set_noise(rank.slot(), {1, 9, kExponential, kHour, 0, 1});
  rank.is_drained_by(1 << 22);
  rank.begin_steps(5, 10);
  const std::vector<std::int64_t> lengths = hold_lengths(rank.told());
  EXPECT_EQ(lengths.size(), 6u) << "the delay, and the noise before each step";
  for (const std::int64_t length : lengths) EXPECT_LT(length, kHour);
}

TEST(DelayGate, LetsGoOfARankWhoseAgentIsSilentButNotOfOneWhoseAgentLooksAfterIt) {
  SteppingRank forsaken, looked_after;
  for (const SteppingRank* rank : {&forsaken, &looked_after}) shm::arm_delay(rank->slot(), {7, kHour, wire::kNoStep});
  {
    const HeldRank held(looked_after), let_go(forsaken);
    while (!let_go.is_free()) {
      looked_after.is_swept();
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    EXPECT_FALSE(held.is_free());
    shm::withdraw_delay(looked_after.slot());
  }
  const std::vector<Event> told = forsaken.told();
  EXPECT_THAT(describe(told), ElementsAre("delay_begin 7 delay", "delay_end 7 none"));
  EXPECT_GT((told[1].time - told[0].time).count(), GateKeeper::kSilenceLimit / 2) << "a busy machine is no silence";
  EXPECT_TRUE(shm::arm_delay(forsaken.slot(), {8, kHour, wire::kNoStep})) << "its agent may come back";
}

TEST(NoiseGate, OfASilentAgentEnds) {
  SteppingRank rank;
  shm::set_noise(rank.slot(), {1, 9, kExponential, kMs, 0, 1});
  for (wire::Step step = 0; rank.is_called(); ++step) {
    rank.begin_step(step);
    rank.told();
  }
  shm::set_noise(rank.slot(), {1, 10, kExponential, kMs, 0, 1});
  rank.is_swept();
  rank.begin_step(0);
  EXPECT_THAT(rank.told(), testing::SizeIs(2)) << "it came back";
}

TEST(DelayGate, CountsHowLongItHeldTheRank) {
  SteppingRank rank;
  shm::arm_delay(rank.slot(), {7, 3 * kMs, wire::kNoStep});
  rank.begin_step(0);
  EXPECT_GE(rank.slot().held_ns.load(), 3 * kMs);
}

TEST(DelayGate, HoldsARankNoLongerThanTheCapAltogether) {
  SteppingRank rank;
  rank.slot().held_before_ns.store(kHour / 2);
  rank.slot().held_ns.store(kHour / 2 - kMs);
  shm::arm_delay(rank.slot(), {7, kHour, wire::kNoStep});
  rank.begin_step(0);
  shm::arm_delay(rank.slot(), {8, kHour, wire::kNoStep});
  rank.begin_step(1);
  shm::set_noise(rank.slot(), {1, 9, kExponential, kHour, 0, 1});
  rank.begin_steps(2, 10);
  EXPECT_THAT(describe(rank.told()),
              ElementsAre("delay_begin 7 delay", "delay_end 7 none", "delay_begin 8 delay", "delay_end 8 none"));
  EXPECT_FALSE(rank.is_called()) << "noise that can't be made is over";
}

TEST(DelayGate, CannotBeTakenBackAsIfItHadNotBegun) {
  SteppingRank rank;
  shm::arm_delay(rank.slot(), {7, 1000, wire::kNoStep});
  shm::Delay delay;
  ASSERT_EQ(shm::take_delay(rank.slot(), 0, delay), shm::DelayAnswer::kTaken);
  EXPECT_FALSE(shm::disarm_delay(rank.slot()));
  EXPECT_FALSE(shm::arm_delay(rank.slot(), {8, 1000, wire::kNoStep}));
}

TEST(DelayGate, IsObeyedOrTakenBackButNeverBothNorNeither) {
  constexpr int kOrders = 20'000;
  SteppingRank rank;
  std::atomic<bool> done{false};
  std::vector<bool> taken_back(kOrders);
  std::vector<int> obeyed(kOrders);
  std::thread agent([&] {
    for (int i = 0; i < kOrders; ++i) {
      while (!shm::arm_delay(rank.slot(),
                             {static_cast<wire::CommandId>(i), 0, i % 3 == 0 ? 1'000'000'000 : wire::kNoStep})) {
      }
      if (i % 2 == 0 || i % 3 == 0) taken_back[i] = shm::disarm_delay(rank.slot());
    }
    while ((rank.slot().delay.armed.load() & shm::kStateBits) != shm::kIdle) {
    }
    done.store(true);
  });
  for (wire::Step step = 0; !done.load(); ++step) {
    rank.begin_step(step % 1000);
    for (const Event& event : rank.told()) {
      if (event.kind == EventKind::kDelayBegin) ++obeyed[event.value];
    }
  }
  agent.join();
  for (int i = 0; i < kOrders; ++i) {
    ASSERT_EQ(obeyed[i] + taken_back[i], 1) << "order " << i;
    ASSERT_TRUE(obeyed[i] == 0 || i % 3 != 0) << "order " << i << " was not due";
  }
}

TEST(DelayGate, IsFreeAgainWhateverItsOrderMetWhenItWasWithdrawn) {
  constexpr int kOrders = 20'000;
  SteppingRank rank;
  std::atomic<bool> done{false};
  std::thread agent([&] {
    for (int i = 0; i < kOrders; ++i) {
      while (!shm::arm_delay(rank.slot(), {static_cast<wire::CommandId>(i), i % 3 * kMs / 100, wire::kNoStep})) {
      }
      for (int wait = i % 50; wait > 0; --wait) (void)shm::has_delay(rank.slot());
      shm::withdraw_delay(rank.slot());
    }
    while (shm::has_delay(rank.slot())) {
    }
    done.store(true);
  });
  std::vector<int> obeyed(kOrders);
  for (wire::Step step = 0; !done.load(); ++step) {
    rank.begin_step(step);
    int depth = 0;
    for (const Event& event : rank.told()) {
      depth += event.kind == EventKind::kDelayBegin ? 1 : -1;
      if (event.kind == EventKind::kDelayBegin) ++obeyed[event.value];
    }
    ASSERT_EQ(depth, 0) << "each hold that began has ended";
  }
  agent.join();
  for (int i = 0; i < kOrders; ++i) ASSERT_LE(obeyed[i], 1) << "order " << i;
}

TEST(NoiseGate, ComesBeforeEachStepUntilItIsEnded) {
  SteppingRank rank;
  shm::set_noise(rank.slot(), {1, 9, kExponential, 2000, 0, 1});
  rank.begin_steps(0, 3);
  shm::set_noise(rank.slot(), {});
  rank.begin_steps(3, 6);
  EXPECT_THAT(describe(rank.told()), ElementsAre("delay_begin 9 noise", "delay_end 9 none", "delay_begin 9 noise",
                                                 "delay_end 9 none", "delay_begin 9 noise", "delay_end 9 none"));
  EXPECT_FALSE(rank.is_called());
}

TEST(NoiseGate, LetsGoOfARankThatIsHeldWhenItIsCleared) {
  SteppingRank rank;
  shm::set_noise(rank.slot(), {1, 9, kExponential, kHour, 0, 1});
  {
    const HeldRank held(rank);
    while (rank.slot().head.load() == 0) std::this_thread::yield();
    shm::set_noise(rank.slot(), {});
  }
  EXPECT_THAT(describe(rank.told()), ElementsAre("delay_begin 9 noise", "delay_end 9 none"));
  rank.begin_step(1);
  EXPECT_THAT(rank.told(), IsEmpty());
}

TEST(NoiseGate, TakesANewOrderAtOnce) {
  SteppingRank rank;
  shm::set_noise(rank.slot(), {1, 9, kExponential, 2000, 0, 1});
  rank.begin_step(0);
  shm::set_noise(rank.slot(), {1, 10, kExponential, 2000, 0, 1});
  rank.begin_step(1);
  EXPECT_EQ(rank.told().back().value, 10u);
}

TEST(NoiseGate, DrawsAnExponentialWithTheOrderedMean) {
  constexpr int kDraws = 200'000;
  Random random(42);
  double sum = 0, above_twice = 0;
  for (int i = 0; i < kDraws; ++i) {
    const double drawn = -std::log(random.unit());
    sum += drawn;
    above_twice += drawn > 2;
  }
  EXPECT_NEAR(sum / kDraws, 1, 0.01);
  EXPECT_NEAR(above_twice / kDraws, std::exp(-2), 0.005);
}

TEST(NoiseGate, HoldsAtLeastAsLongAsDrawnOnAverage) {
  SteppingRank rank;
  shm::set_noise(rank.slot(), {1, 9, kExponential, 5000, 0, 1});
  rank.begin_steps(0, 1000);
  double sum = 0;
  for (const std::int64_t length : hold_lengths(rank.told())) sum += static_cast<double>(length);
  EXPECT_GT(sum / 1000, 0.8 * 5000);
}

TEST(NoiseGate, RepeatsItselfWithItsSeedAndDiffersByRank) {
  const auto draws = [](std::uint64_t seed) {
    Random random(seed);
    return std::vector<std::uint64_t>{random.next(), random.next(), random.next()};
  };
  EXPECT_EQ(draws(5), draws(5));
  EXPECT_NE(draws(5), draws(6));
}

TEST(NoiseGate, InterruptsOncePerPeriodHoweverFewStepsThereAre) {
  SteppingRank rank;
  shm::set_noise(rank.slot(), {1, 9, kPeriodic, 10'000, 1000, 1});  // 10 us every ms.
  rank.begin_step(0);
  const wire::Nanoseconds begin = shm::monotonic_now();
  while (shm::monotonic_now() - begin < wire::Nanoseconds{20 * kMs}) {
  }
  rank.begin_step(1);
  const std::vector<std::int64_t> lengths = hold_lengths(rank.told());
  ASSERT_FALSE(lengths.empty());
  EXPECT_GE(lengths.back(), 19 * 10'000);
}

TEST(NoiseGate, DoesNotInterruptWithinAPeriod) {
  SteppingRank rank;
  shm::set_noise(rank.slot(), {1, 9, kPeriodic, 10'000, 1e-3, 1});  // Every 1000 s.
  rank.begin_steps(0, 1000);
  EXPECT_THAT(rank.told(), IsEmpty());
  EXPECT_TRUE(rank.is_called());
}

TEST(NoiseGate, IgnoresWhatWouldNeverLetTheRankGoOn) {
  const std::vector<shm::Noise> impossible = {{1, 9, kPeriodic, kMs, 1000, 1}, {1, 9, kPeriodic, 1000, 0, 1},
                                              {1, 9, kPeriodic, 1000, -5, 1},  {1, 9, kPeriodic, 1000, NAN, 1},
                                              {1, 9, kExponential, 0, 0, 1},   {1, 9, kExponential, -5, 0, 1},
                                              {1, 9, 99, 1000, 10, 1},         {1, 9, 256, 1000, 10, 1}};
  for (const shm::Noise& noise : impossible) {
    SteppingRank rank;
    shm::set_noise(rank.slot(), noise);
    rank.begin_steps(0, 100);
    EXPECT_THAT(rank.told(), IsEmpty()) << noise.kind << " " << noise.amount_ns << " " << noise.frequency;
    EXPECT_FALSE(rank.is_called());
  }
}

TEST(NoiseGate, IsReadWholeWhileItsWriterChangesIt) {
  const Segment segment;
  shm::Slot& slot = segment.slot();
  std::atomic<bool> done{false};
  std::thread agent([&] {
    for (std::uint32_t i = 1; i < 100'000; ++i) shm::set_noise(slot, {1, i, i, i, static_cast<double>(i), i});
    done.store(true);
  });
  std::uint32_t generation = 0;
  shm::Noise noise;
  while (!done.load()) {
    if (!shm::read_noise(slot, generation, noise)) continue;
    ASSERT_EQ(noise.kind, noise.command);
    ASSERT_EQ(noise.amount_ns, noise.command);
    ASSERT_EQ(noise.seed, noise.command);
  }
  agent.join();
}

TEST(Gates, OfAFreedSlotAreOff) {
  SteppingRank rank;
  shm::arm_delay(rank.slot(), {7, 1000, 5});
  shm::set_noise(rank.slot(), {1, 9, kExponential, 1000, 0, 1});
  shm::reset_gates(rank.slot());
  EXPECT_FALSE(rank.is_called());
  rank.slot().attention.store(1);
  rank.begin_step(10);
  EXPECT_THAT(rank.told(), IsEmpty());
}

}  // namespace
}  // namespace idlewave::client
