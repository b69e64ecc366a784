#include "probe/outlet/backlog.h"

#include <gmock/gmock.h>

namespace idlewave::outlet {
namespace {

std::vector<std::byte> frame_of(std::size_t bytes) { return std::vector<std::byte>(bytes); }

TEST(Backlog, NumbersFramesFromOne) {
  Backlog backlog(1000);
  backlog.append(frame_of(1));
  backlog.append(frame_of(2));
  EXPECT_EQ(backlog.first(), 1u);
  EXPECT_EQ(backlog.next(), 3u);
  EXPECT_EQ(backlog.frame(2).size(), 2u);
}

TEST(Backlog, DropsTheOldestBeyondItsBudget) {
  Backlog backlog(100);
  for (int i = 0; i < 5; ++i) backlog.append(frame_of(30));
  EXPECT_EQ(backlog.first(), 3u);
  EXPECT_EQ(backlog.next(), 6u);
  EXPECT_EQ(backlog.bytes(), 90u);
}

TEST(Backlog, KeepsTheNewestFrameHoweverLargeItIs) {
  Backlog backlog(100);
  backlog.append(frame_of(10));
  backlog.append(frame_of(500));
  EXPECT_EQ(backlog.first(), 2u);
  EXPECT_EQ(backlog.frame(2).size(), 500u);
}

TEST(Backlog, ForgetsWhatEverybodyHas) {
  Backlog backlog(100);
  for (int i = 0; i < 3; ++i) backlog.append(frame_of(10));
  backlog.drop_below(3);
  EXPECT_EQ(backlog.first(), 3u);
  EXPECT_EQ(backlog.bytes(), 10u);
}

TEST(Backlog, GoesOnCountingWhenItIsEmpty) {
  Backlog backlog(100);
  backlog.append(frame_of(10));
  backlog.drop_below(99);
  EXPECT_EQ(backlog.first(), 2u);
  EXPECT_EQ(backlog.next(), 2u);
  backlog.append(frame_of(7));
  EXPECT_EQ(backlog.frame(2).size(), 7u);
}

}  // namespace
}  // namespace idlewave::outlet
