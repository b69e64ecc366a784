#include "workloads/sim/network/waiting_messages.h"
#include "tests/any_seed.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <limits>
#include <random>
#include <set>
#include <tuple>

namespace idlewave::tests {
namespace {

constexpr int kLanes = 32;

/// Not in the order of their lanes.
int sender_of(int lane) { return (lane * 7 + 3) % kLanes; }

TEST(WaitingMessages, ComeInTheOrderOfTheirArrivalAndOfWhoSentThem) {
  const unsigned seed = any_seed();
  std::printf("seed %u\n", seed);
  std::mt19937 random(seed);
  const auto up_to = [&](int most) { return std::uniform_int_distribution(0, most)(random); };
  sim::network::MessageOverflow<sim::network::WaitingMessage> overflow;
  for (int run = 0; run < 2000; ++run) {
    sim::network::WaitingMessages<sim::network::WaitingMessage> messages;
    std::multiset<std::tuple<std::int64_t, int, int>> judge;  // arrival, sender, lane
    const int crowd = up_to(12);                              // about as many wait
    const int span = 1 + up_to(30);                           // within so many moments
    bool exact = true;  // of first_arrival(): as long as no more than six have waited
    for (int i = 0; i < 500; ++i) {
      if (judge.empty() || up_to(2 * crowd) >= int(judge.size())) {
        const int lane = up_to(kLanes - 1);
        const std::int64_t arrival = (i + up_to(span)) * sim::network::kTicks;
        messages.add({arrival, lane}, overflow, sender_of);
        judge.emplace(arrival, sender_of(lane), lane);
      } else {
        const auto [arrival, sender, lane] = *judge.begin();
        ASSERT_EQ(messages.first().arrival(), arrival) << "run " << run;
        const sim::network::WaitingMessage taken = messages.take(overflow, sender_of);
        ASSERT_EQ(taken.arrival(), arrival) << "run " << run;
        ASSERT_EQ(taken.lane(), lane) << "run " << run;
        judge.erase(judge.begin());
      }
      ASSERT_EQ(messages.empty(), judge.empty());
      const int lane = up_to(kLanes - 1);
      std::int64_t from = std::numeric_limits<std::int64_t>::max();
      for (const auto& message : judge)
        if (std::get<2>(message) == lane) from = std::min(from, std::get<0>(message));
      ASSERT_LE(messages.first_arrival(lane), from) << "run " << run;
      exact = judge.empty() || (exact && judge.size() <= 6);
      if (exact) {
        ASSERT_EQ(messages.first_arrival(lane), from) << "run " << run;
      }
    }
    EXPECT_TRUE(judge.empty() || messages.first().arrival() < sim::network::WaitingMessage::never().arrival());
  }
}

TEST(WaitingMessages, OfNobodyBeginNever) {
  const sim::network::WaitingMessages<sim::network::WaitingMessage> none;
  EXPECT_TRUE(none.empty());
  EXPECT_EQ(none.first().arrival(), sim::network::WaitingMessage::never().arrival());
  EXPECT_EQ(none.first_arrival(0), std::numeric_limits<std::int64_t>::max());
}

}  // namespace
}  // namespace idlewave::tests
