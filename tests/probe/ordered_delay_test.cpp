// Delays that were ordered, as a program of steps meets them through the calls of probe.h.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <idlewave/probe.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <string>
#include <thread>
#include <vector>

#include "tests/probe/node.h"

namespace idlewave::client {
namespace {

using test::describe;
using test::in_child;
using test::Node;
using testing::ElementsAre;

/// Runs `program` as a rank for which `order` was armed once it had started.
template <class Order, class Program>
std::vector<std::string> told_under(Order order, Program program) {
  const Node node;
  in_child([&] {
    idlewave_start(0, 1);
    order(node.slot());
    program();
    return 0;
  });
  std::vector<std::string> told = describe(node.drain());
  return {told.begin() + 1, told.end() - 1};
}

TEST(OrderedDelay, FollowsTheStepThatBegins) {
  const auto order = [](shm::Slot& slot) { shm::arm_delay(slot, {7, 1000, 1}); };
  const auto program = [] {
    for (int step = 0; step < 3; ++step) {
      idlewave_step(step);
      idlewave_switch(IDLEWAVE_COMPUTE);
    }
  };
  EXPECT_THAT(told_under(order, program),
              ElementsAre("step 0 none", "enter compute", "step 1 compute", "delay_begin 7 delay",
                          "delay_end 7 compute", "switch compute", "step 2 compute", "switch compute"));
}

TEST(OrderedDelay, PrecedesTheFirstWorkOfAProgramWithoutSteps) {
  const auto order = [](shm::Slot& slot) { shm::arm_delay(slot, {7, 1000, wire::kNoStep}); };
  const auto program = [] {
    const int work = idlewave_define_phase("work", IDLEWAVE_COMPUTE);
    idlewave_begin(IDLEWAVE_WAIT);
    idlewave_end();
    idlewave_begin(work);
    idlewave_end();
  };
  EXPECT_THAT(told_under(order, program), ElementsAre("enter wait", "leave none", "delay_begin 7 delay",
                                                      "delay_end 7 none", "enter 8", "leave none"));
}

TEST(OrderedDelay, IsNotTakenByWorkInAProgramWithSteps) {
  const auto order = [](shm::Slot&) {};
  const auto program = [] {
    idlewave_step(0);
    idlewave_switch(IDLEWAVE_COMPUTE);
  };
  const auto late_order = [&](shm::Slot& slot) {
    idlewave_step(0);
    shm::arm_delay(slot, {7, 1000, wire::kNoStep});
    idlewave_switch(IDLEWAVE_COMPUTE);
  };
  EXPECT_EQ(told_under(late_order, [] {}), told_under(order, program));
}

/// Works in steps of some ms, then goes on without steps for `rest`.
void stop_having_steps(std::chrono::milliseconds rest) {
  for (int step = 0; step < 3; ++step) idlewave_step(step), std::this_thread::sleep_for(std::chrono::milliseconds(5));
  std::this_thread::sleep_for(rest);
  idlewave_switch(IDLEWAVE_WAIT);
  idlewave_switch(IDLEWAVE_COMPUTE);
}

TEST(OrderedDelay, IsTakenByWorkOnceTheStepsHaveStopped) {
  for (const wire::Step due : {wire::kNoStep, wire::Step{2}}) {
    const auto late_order = [due](shm::Slot& slot) {
      stop_having_steps(std::chrono::milliseconds(0));
      shm::arm_delay(slot, {7, 1000, due});
      idlewave_switch(IDLEWAVE_WAIT);
      idlewave_switch(IDLEWAVE_COMPUTE);
      std::this_thread::sleep_for(std::chrono::milliseconds(1100));
      idlewave_switch(IDLEWAVE_WAIT);
      idlewave_switch(IDLEWAVE_COMPUTE);
    };
    EXPECT_THAT(
        told_under(late_order, [] {}),
        ElementsAre("step 0 none", "step 1 none", "step 2 none", "enter wait", "switch compute", "switch wait",
                    "switch compute", "switch wait", "delay_begin 7 delay", "delay_end 7 wait", "switch compute"));
  }
}

TEST(OrderedDelay, OfALaterStepStandsWhenTheStepsHaveStopped) {
  EXPECT_THAT(told_under(
                  [](shm::Slot& slot) {
                    shm::arm_delay(slot, {7, 1000, 3});
                  },
                  [] { stop_having_steps(std::chrono::milliseconds(1100)); }),
              ElementsAre("step 0 none", "step 1 none", "step 2 none", "enter wait", "switch compute"));
}

TEST(OrderedDelay, LastsThroughASignal) {
  const Node node;
  in_child([&] {
    idlewave_start(0, 1);
    shm::arm_delay(node.slot(), {7, 50'000'000, wire::kNoStep});
    struct sigaction action {};
    action.sa_handler = [](int) {};
    sigaction(SIGALRM, &action, nullptr);
    ualarm(5'000, 5'000);
    const wire::Nanoseconds before = shm::monotonic_now();
    idlewave_step(0);
    return (shm::monotonic_now() - before).count() >= 50'000'000 ? 0 : 1;
  });
  EXPECT_THAT(describe(node.drain()),
              ElementsAre("start none", "step 0 none", "delay_begin 7 delay", "delay_end 7 none", "stop none"));
}

}  // namespace
}  // namespace idlewave::client
