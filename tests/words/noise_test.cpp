#include "probe/words/noise.h"

#include <gmock/gmock.h>

#include <cmath>
#include <random>

#include "probe/words/quantity.h"
#include "tests/any_seed.h"

namespace idlewave::words {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;
using wire::Nanoseconds;
using wire::NoiseKind;
using wire::NoiseOrder;

std::string complaint(std::string_view text) {
  const auto noise = parse_noise(text);
  return noise ? "" : noise.error().message;
}

TEST(Noise, IsReadInBothKinds) {
  EXPECT_EQ(*parse_noise("exp:0.5ms"), (NoiseOrder{NoiseKind::kExponential, 500us, 0}));
  EXPECT_EQ(*parse_noise("periodic:2.5ms@10Hz"), (NoiseOrder{NoiseKind::kPeriodic, 2500us, 10}));
}

TEST(Noise, MayHaveSpacesAndAnyUnit) {
  EXPECT_EQ(*parse_noise(" exp : 2 us "), (NoiseOrder{NoiseKind::kExponential, 2us, 0}));
  EXPECT_EQ(*parse_noise("periodic: 10 us @ 2.5 kHz"), (NoiseOrder{NoiseKind::kPeriodic, 10us, 2500}));
}

TEST(Noise, OfAnotherFormIsRefusedWithExamples) {
  for (const char* wrong : {"", "exp", "0.5ms", "gauss:1ms", "periodic:2ms", "periodic:2ms@10Hz@5Hz", "pink:1ms"})
    EXPECT_THAT(complaint(wrong), HasSubstr("exp:0.5ms or periodic:2.5ms@10Hz")) << wrong;
}

TEST(Noise, OfAQuantityWithoutUnitIsRefusedByIt) {
  EXPECT_THAT(complaint("exp:0.5"), HasSubstr("\"0.5\" has no unit"));
  EXPECT_THAT(complaint("periodic:2ms@10"), HasSubstr("\"10\" has no unit"));
  EXPECT_THAT(complaint("periodic:2ms@0Hz"), HasSubstr("is zero"));
}

TEST(Noise, ThatLeavesNoTimeToWorkIsRefused) {
  EXPECT_EQ(complaint("periodic:200ms@10Hz"),
            "an interruption of 200ms at 10Hz leaves no time to work; shorten it or lower the frequency");
  EXPECT_THAT(complaint("periodic:100ms@10Hz"), HasSubstr("leaves no time to work"));
  EXPECT_TRUE(parse_noise("periodic:99.999ms@10Hz"));
}

TEST(Noise, IsReadBackAsItIsWritten) {
  const unsigned seed = any_seed();
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  std::mt19937_64 random{seed};
  std::uniform_real_distribution<double> share(1e-9, 0.999);
  for (int i = 0; i < 10'000; ++i) {
    const Nanoseconds amount(static_cast<std::int64_t>(1 + (random() >> (2 + random() % 61))));
    const double frequency = share(random) / (static_cast<double>(amount.count()) * 1e-9);
    for (const NoiseOrder& order :
         {NoiseOrder{NoiseKind::kExponential, amount, 0}, NoiseOrder{NoiseKind::kPeriodic, amount, frequency}}) {
      const auto back = parse_noise(to_words(order));
      ASSERT_TRUE(back) << to_words(order) << ": " << back.error().message;
      EXPECT_EQ(*back, order) << to_words(order);
    }
  }
}

/// Mutations of what is right come further into the parser than noise of bytes.
TEST(Noise, OfRandomTextIsRefusedOrReadBack) {
  const unsigned seed = any_seed();
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  std::mt19937 random{seed};
  const std::string letters = "0123456789.e-+:@ pxeriodcnsumhkMGHz\t\xff";
  int accepted = 0;
  for (int i = 0; i < 50'000; ++i) {
    std::string text = random() % 2 == 0 ? "exp:0.5ms" : "periodic:2.5ms@10Hz";
    for (auto changes = 1 + random() % 3; changes > 0; --changes)
      text[random() % text.size()] = letters[random() % letters.size()];
    const auto noise = parse_noise(text);
    if (!noise) continue;
    ++accepted;
    const auto back = parse_noise(to_words(*noise));
    ASSERT_TRUE(back) << text << " " << to_words(*noise);
    EXPECT_EQ(*back, *noise) << text;
  }
  EXPECT_GT(accepted, 500);
}

TEST(Noise, OfAKindThatIsNotKnownHasAName) {
  for (const int kind : {static_cast<int>(NoiseKind::kTrace) + 1, 255}) {
    const NoiseOrder order{static_cast<NoiseKind>(kind), 1ms, 10};
    EXPECT_EQ(to_words(order), "unknown");
    EXPECT_THAT(check_order(order).error().message, HasSubstr("not known here"));
  }
}

TEST(Hold, IsLongerThanNothingAndAtMostAnHour) {
  EXPECT_EQ(*parse_hold("1h"), 1h);
  EXPECT_EQ(*parse_hold("1ns"), 1ns);
  for (const char* wrong : {"0 s", "2 h", "3600.000000001 s"})
    EXPECT_THAT(parse_hold(wrong).error().message, HasSubstr("more than 0 s and at most 1 h")) << wrong;
  EXPECT_FALSE(check_hold(-1ns));
  EXPECT_FALSE(parse_order_of_noise("exp:0s"));
  EXPECT_FALSE(parse_order_of_noise("exp:2h"));
}

}  // namespace
}  // namespace idlewave::words
