#include "monitor/view/keys/prediction.h"

#include <gtest/gtest.h>

namespace idlewave::view {
namespace {

using namespace std::chrono_literals;
using analysis::program::Outlook;

/// A ring whose neighbours wait for each other; steps of 20 ms.
constexpr Outlook kRing{
    .up = 1, .down = 1, .ring = true, .collective = false, .known = true, .step = 0.02, .step_behind = 0.02};

Outlook chain() {
  Outlook outlook = kRing;
  outlook.ring = false;
  return outlook;
}

/// Loses 2 ms of its idle time for each step that it runs.
Outlook noisy(Outlook outlook) {
  outlook.step_behind = outlook.step - 0.002;
  return outlook;
}

TEST(Prediction, SaysWhereTheFrontsMeetOnARing) {
  EXPECT_EQ(keys::prediction(kRing, 5, 40, 200ms), "fronts meet at rank 25 in 400 ms, 1 rank a step");
  EXPECT_EQ(keys::prediction(kRing, 30, 40, 1s), "fronts meet at rank 10 in 400 ms, 1 rank a step");
}

TEST(Prediction, SharesTheRingAsTheFrontsAreFast) {
  Outlook outlook = kRing;
  outlook.down = 3;
  EXPECT_EQ(keys::prediction(outlook, 5, 40, 200ms), "fronts meet at rank 15 in 200 ms, 1 up and 3 down a step");
  outlook.up = 2, outlook.down = 2;
  EXPECT_EQ(keys::prediction(outlook, 5, 40, 200ms), "fronts meet at rank 25 in 200 ms, 2 ranks a step");
}

TEST(Prediction, GoesRoundTheRingWhereNobodyWaitsTheOtherWay) {
  Outlook outlook = kRing;
  outlook.down = 0;
  EXPECT_EQ(keys::prediction(outlook, 5, 40, 200ms), "runs up to rank 4 in 780 ms, 1 rank a step");
  outlook.up = 0, outlook.down = 1;
  EXPECT_EQ(keys::prediction(outlook, 5, 40, 200ms), "runs down to rank 6 in 780 ms, 1 rank a step");
}

TEST(Prediction, EndsAtTheEndsOfAChain) {
  EXPECT_EQ(keys::prediction(chain(), 5, 40, 200ms), "reaches both ends, rank 39 last in 680 ms, 1 rank a step");
  EXPECT_EQ(keys::prediction(chain(), 30, 40, 200ms), "reaches both ends, rank 0 last in 600 ms, 1 rank a step");
  EXPECT_EQ(keys::prediction(chain(), 0, 40, 200ms), "runs up to rank 39 in 780 ms, 1 rank a step");
}

// 20 ms are lost at 2 ms a step, so 10 ranks on either side.
TEST(Prediction, SaysHowFarADelayComesThatNoiseWearsDown) {
  EXPECT_EQ(keys::prediction(noisy(kRing), 15, 40, 20ms), "fades near ranks 5 and 25 in 200 ms, 1 rank a step");
  EXPECT_EQ(keys::prediction(noisy(kRing), 5, 40, 20ms), "fades near ranks 35 and 15 in 200 ms, 1 rank a step");
  EXPECT_EQ(keys::prediction(noisy(kRing), 5, 40, 200ms), "fronts meet at rank 25 in 400 ms, 1 rank a step");
  EXPECT_EQ(keys::prediction(noisy(chain()), 5, 40, 20ms),
            "reaches rank 0, fades near rank 15 in 200 ms, 1 rank a step");
  EXPECT_EQ(keys::prediction(noisy(chain()), 0, 40, 20ms), "fades near rank 10 in 200 ms, 1 rank a step");
  EXPECT_EQ(keys::prediction(noisy(kRing), 5, 40, 1ms), "fades before it reaches anybody");
}

TEST(Prediction, SaysWhatItAssumesWhereNobodyWasSeenToWait) {
  Outlook outlook = kRing;
  outlook.known = false;
  EXPECT_EQ(keys::prediction(outlook, 5, 40, 200ms), "if neighbours wait, fronts meet at rank 25 in 400 ms");
}

TEST(Prediction, LeavesTheEndOpenWhereItCanNotBeTold) {
  Outlook outlook = kRing;
  outlook.step_behind = 0;
  EXPECT_EQ(keys::prediction(outlook, 5, 40, 200ms), "1 rank a step; ranks are out of step, its end is open");
}

TEST(Prediction, HasNoFrontThroughACollective) {
  Outlook outlook = kRing;
  outlook.collective = true;
  EXPECT_EQ(keys::prediction(outlook, 5, 40, 200ms), "all wait for it in the same step, by a collective");
}

TEST(Prediction, IsEmptyWhereNothingIsKnown) {
  EXPECT_EQ(keys::prediction({}, 5, 40, 200ms), "");
  EXPECT_EQ(keys::prediction(kRing, 0, 1, 200ms), "");
}

}  // namespace
}  // namespace idlewave::view
