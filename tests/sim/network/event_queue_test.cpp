// The queue against a set, in programs of many kinds.

#include "workloads/sim/network/event_queue.h"
#include "tests/any_seed.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>
#include <string>
#include <vector>

namespace idlewave::tests {
namespace {

using sim::network::EventQueue;
using sim::network::NetworkEvent;

/// Phases, in each of which events come at their own distances: bursts of one moment, short overheads, long
/// calculations, some before the present.
class RandomEvents {
 public:
  explicit RandomEvents(unsigned seed) : random_(seed) { begin_phase(); }

  NetworkEvent next(std::int64_t now) {
    if (left_-- == 0) begin_phase();
    const std::int64_t distance = from(0, 9) == 0 ? from(-50, 50) : least_ + from(0, spread_);
    return {std::max<std::int64_t>(-1000, now + distance), number_++, std::uint32_t(random_())};
  }

  bool grows() { return from(0, 99) < growth_; }

 private:
  std::int64_t from(std::int64_t low, std::int64_t high) { return std::uniform_int_distribution(low, high)(random_); }

  void begin_phase() {
    left_ = std::size_t(from(1, 20000));
    least_ = from(0, 1) ? 0 : std::int64_t{1} << from(0, 40);
    spread_ = from(0, 3) ? (std::int64_t{1} << from(0, 36)) - 1 : 0;
    growth_ = from(20, 80);
  }

  std::mt19937 random_;
  std::size_t left_ = 0;
  std::int64_t least_ = 0;
  std::int64_t spread_ = 0;
  std::int64_t growth_ = 0;
  std::uint32_t number_ = 0;
};

TEST(EventQueue, GivesEventsByTimeThenNumber) {
  const unsigned first = any_seed();
  for (unsigned seed = first; seed != first + 8; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    RandomEvents events(seed);
    EventQueue queue;
    std::set<NetworkEvent> held;
    NetworkEvent last;
    for (int i = 0; i < 200000; ++i) {
      if (held.empty() || events.grows()) {
        const NetworkEvent event = events.next(last.time);
        queue.push(event);
        held.insert(event);
        continue;
      }
      const NetworkEvent right = held.extract(held.begin()).value();
      last = queue.pop();
      ASSERT_EQ(last.number, right.number) << "event " << i;
      ASSERT_EQ(last.what, right.what);
      ASSERT_EQ(queue.empty(), held.empty());
    }
  }
}

TEST(EventQueue, SaysWhetherAnEarlierOneThanTheLastHasCome) {
  EventQueue queue;
  queue.push({100, 0, 0});
  queue.push({5'000'000'000, 1, 0});
  EXPECT_EQ(queue.pop().number, 0u);
  queue.push({100, 2, 0});
  EXPECT_FALSE(queue.is_overtaken());
  queue.push({99, 3, 0});
  EXPECT_TRUE(queue.is_overtaken());
  EXPECT_EQ(queue.pop().number, 3u);
  EXPECT_FALSE(queue.is_overtaken());
}

TEST(EventQueue, TellsOfMostBeforeTheirTurn) {
  EventQueue queue;
  std::mt19937 random(1);
  constexpr std::uint32_t kEvents = 20000;
  for (std::uint32_t number = 0; number < kEvents; ++number)
    queue.push({std::int64_t(random() % 1'000'000), number, 0});
  std::vector<std::uint32_t> told_at(kEvents, kEvents);
  std::uint32_t told = 0;
  for (std::uint32_t turn = 0; turn < kEvents; ++turn) {
    const NetworkEvent event = queue.pop([&](const NetworkEvent& coming, EventQueue::Soon) {
      told_at[coming.number] = std::min(told_at[coming.number], turn);
    });
    told += told_at[event.number] < turn;
  }
  EXPECT_GT(told, kEvents * 3 / 4);
  RecordProperty("told", int(told));
}

}  // namespace
}  // namespace idlewave::tests
