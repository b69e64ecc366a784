#include "probe/client/gate_keeper.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <setjmp.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <string>
#include <thread>
#include <vector>

#include "tests/probe/stepping_rank.h"

namespace idlewave::client {
namespace {

using test::describe;
using testing::ElementsAre;
using testing::IsEmpty;
using wire::Event;
using wire::EventKind;

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
