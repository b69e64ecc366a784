// When the session began, as an agent learns and keeps it.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <random>

#include "probe/agent/beginning.h"
#include "tests/agent/parts.h"
#include "tests/any_seed.h"

namespace idlewave::agent {
namespace {

using std::chrono::milliseconds;
using wire::Nanoseconds;

constexpr std::int64_t kWall = 1'700'000'000'000'000'000;  // 2023.

TEST(Beginning, IsTheFirstEventAndNoLaterOne) {
  shm::Header header;
  Beginning beginning(header, ns(1000));
  EXPECT_EQ(beginning.at(), std::nullopt);
  EXPECT_TRUE(beginning.note_first(ns(1500)));
  EXPECT_FALSE(beginning.note_first(ns(1200)));
  EXPECT_EQ(beginning.at(), ns(1500));
}

TEST(Beginning, IsNotBeforeTheAgentWhateverARankSays) {
  shm::Header header;
  Beginning beginning(header, ns(1000));
  EXPECT_TRUE(beginning.note_first(ns(0)));
  EXPECT_EQ(beginning.at(), ns(1000));
}

TEST(Beginning, IsWhatTheMonitorSaysOnceAndForGood) {
  std::mt19937_64 random(any_seed());
  for (int round = 0; round < 100; ++round) {
    shm::Header header;
    const Nanoseconds now(std::int64_t(random() % 1'000'000'000'000'000));
    const auto ago = std::int64_t(random() % 100'000'000'000'000);
    Beginning beginning(header, now);
    const bool has_told = random() % 2 == 0;
    if (has_told) beginning.note_first(now);
    EXPECT_EQ(beginning.settle(kWall - ago, kWall, now), !has_told || ago > 1'000'000);
    const auto at = beginning.at();
    EXPECT_LE(std::abs((*at - (now - ns(ago))).count()), 1'000'000);
    EXPECT_FALSE(beginning.settle(kWall - ago / 2 - 7'000'000'000, kWall, now)) << "it was settled";
    EXPECT_FALSE(beginning.note_first(now + milliseconds(1)));
    EXPECT_EQ(beginning.at(), at);
  }
}

TEST(Beginning, IsNotMovedByAWordThatCanNotBe) {
  constexpr std::int64_t kLow = std::numeric_limits<std::int64_t>::min(),
                         kHigh = std::numeric_limits<std::int64_t>::max();
  shm::Header header;
  Beginning beginning(header, ns(1000));
  beginning.note_first(ns(1000));
  for (const std::int64_t said :
       {std::int64_t{0}, std::int64_t{-1}, kLow, kHigh, kWall + 1, kWall - (std::int64_t{1} << 58)})
    EXPECT_FALSE(beginning.settle(said, kWall, ns(5000))) << said;
  EXPECT_EQ(beginning.at(), ns(1000));
  EXPECT_TRUE(beginning.settle(kWall - 1'000'000'000, kWall, ns(5000))) << "nothing of that has settled it";
}

TEST(Beginning, IsKeptForTheAgentThatTakesOver) {
  shm::Header header;
  {
    Beginning first(header, ns(1000));
    first.note_first(ns(2000));
  }
  {
    Beginning second(header, ns(900'000));
    EXPECT_EQ(second.at(), ns(2000));
    EXPECT_FALSE(second.note_first(ns(900'001)));
    EXPECT_TRUE(second.settle(kWall - 2'000'000'000, kWall, ns(900'002)));
  }
  Beginning third(header, ns(1'000'000));
  EXPECT_EQ(third.at(), ns(900'002 - 2'000'000'000));
  EXPECT_FALSE(third.settle(kWall - 9'000'000'000, kWall, ns(1'000'000))) << "it was settled";
}

TEST(Beginning, IsNotWhatSomebodyWroteIntoTheMemory) {
  for (const std::int64_t written :
       {std::int64_t{1'000'001}, std::numeric_limits<std::int64_t>::max(), std::numeric_limits<std::int64_t>::min()}) {
    shm::Header header;
    header.began_ns = written;
    header.began_known = shm::Began::kSettled;
    EXPECT_EQ(Beginning(header, ns(1'000'000)).at(), std::nullopt) << written;
  }
}

}  // namespace
}  // namespace idlewave::agent
