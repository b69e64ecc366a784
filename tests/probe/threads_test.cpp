// Threads of a program that report beside the one that its rank reports by. Each program is a process of its own; the
// agent of its session is the test.

#include <gmock/gmock.h>
#include <idlewave/probe.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <thread>
#include <vector>

#include "tests/probe/node.h"

namespace idlewave::client {
namespace {

using test::describe;
using test::in_child;
using test::Node;
using testing::ElementsAre;
using testing::StartsWith;

TEST(Probe, GivesAnotherThreadALaneForItsPhasesAndIgnoresWhatElseItSays) {
  const Node node;
  const int status = in_child([] {
    idlewave_start(0, 1);
    int phase = 0;
    double now = -1;
    std::thread([&] {
      idlewave_begin(IDLEWAVE_COMPUTE);
      idlewave_switch(IDLEWAVE_WAIT);
      idlewave_end();
      idlewave_step(1);
      idlewave_traffic(1);
      idlewave_threads(1);
      phase = idlewave_define_phase("other", IDLEWAVE_COMPUTE);
      idlewave_set_domain(1, 1, 1, 1);
      idlewave_domain_bytes(1);
      now = idlewave_now();
      idlewave_stop();
    }).join();
    idlewave_step(7);
    return phase == IDLEWAVE_COMPUTE && now == 0 ? 0 : 1;
  });
  EXPECT_EQ(status, 0);
  EXPECT_THAT(describe(node.drain()), ElementsAre("start none", "step 7 none", "stop none"));
  EXPECT_EQ(node.slot().domain.load(), wire::kNoDomain);
  EXPECT_EQ(node.slot().thread_places.load(), 1u);
  EXPECT_EQ(node.slot().threads[0].state.load(), shm::SlotState::kStopped);
  const auto told = node.drain_thread(0);
  EXPECT_TRUE(test::times_never_decrease(told));
  EXPECT_THAT(describe(told), ElementsAre("start none", "enter compute", "switch wait", "leave none", "stop none"));
}

/// All of them at once, and more than there are places for: those without one are passed over.
TEST(Probe, HasALaneForAsManyThreadsAsThereArePlaces) {
  constexpr int kThreads = static_cast<int>(shm::kThreadPlaces) + 5, kRounds = 300;
  const Node node(4, 1 << 14);
  const int status = in_child([] {
    idlewave_start(0, 1);
    std::atomic<int> there{0};
    std::vector<std::thread> threads;
    for (int i = 0; i < kThreads; ++i)
      threads.emplace_back([&] {
        idlewave_begin(IDLEWAVE_COMPUTE);
        for (++there; there < kThreads;) std::this_thread::yield();
        for (int round = 0; round < kRounds; ++round) {
          idlewave_switch(IDLEWAVE_WAIT);
          idlewave_switch(IDLEWAVE_COMPUTE);
        }
        idlewave_end();
      });
    for (std::thread& thread : threads) thread.join();
    return 0;
  });
  EXPECT_EQ(status, 0);
  EXPECT_EQ(node.slot().thread_places.load(), shm::kThreadPlaces);
  for (std::uint32_t place = 0; place < shm::kThreadPlaces; ++place) {
    const auto told = describe(node.drain_thread(place));
    ASSERT_GT(told.size(), 4u) << "place " << place;
    EXPECT_EQ(told[0], "start none");
    EXPECT_EQ(told[1], "enter compute");
    EXPECT_EQ(told.back(), "stop none") << "whether it was fast enough to tell sums, or not";
    EXPECT_THAT(told, testing::Not(testing::Contains(StartsWith("dropped"))));
  }
}

/// Nobody reads what they say: a hundred of them, four at a time, have the places of those before.
TEST(Probe, LeavesThePlacesOfThreadsThatHaveEndedToOthers) {
  constexpr int kWaves = 25, kAtATime = 4;
  const Node node(4, 1 << 14);
  const int status = in_child([] {
    idlewave_start(0, 1);
    for (int wave = 0; wave < kWaves; ++wave) {
      std::vector<std::thread> threads;
      for (int i = 0; i < kAtATime; ++i) threads.emplace_back([] { idlewave_begin(IDLEWAVE_WAIT), idlewave_end(); });
      for (std::thread& thread : threads) thread.join();
    }
    return 0;
  });
  EXPECT_EQ(status, 0);
  int starts = 0;
  for (std::uint32_t place = 0; place < node.slot().thread_places.load(); ++place) {
    const auto told = describe(node.drain_thread(place));
    for (std::size_t i = 0; i < told.size(); i += 4, ++starts)
      EXPECT_THAT(std::vector(told.begin() + i, told.begin() + std::min(told.size(), i + 4)),
                  ElementsAre("start none", "enter wait", "leave none", "stop none"));
  }
  EXPECT_EQ(starts, kWaves * kAtATime);
}

/// It ends in the midst of what its threads do, which find nobody to report to any more.
TEST(Probe, StopsWhileItsThreadsGoOn) {
  for (int round = 0; round < 20; ++round) {
    const Node node;
    EXPECT_EQ(in_child([] {
                idlewave_start(0, 1);
                std::atomic<bool> ends{false};
                std::atomic<int> switches{0};
                std::vector<std::thread> threads;
                for (int i = 0; i < 4; ++i)
                  threads.emplace_back([&] {
                    while (!ends) {
                      idlewave_switch(IDLEWAVE_WAIT);
                      idlewave_switch(IDLEWAVE_COMPUTE);
                      ++switches;
                    }
                  });
                while (switches < 10'000) usleep(100);
                idlewave_stop();
                ends = true;
                for (std::thread& thread : threads) thread.join();
                return 0;
              }),
              0);
    EXPECT_EQ(node.slot().state.load(), shm::SlotState::kStopped);
  }
}

}  // namespace
}  // namespace idlewave::client
