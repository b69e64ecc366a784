#include "probe/words/domain_curve.h"

#include <gmock/gmock.h>

#include <random>

#include "tests/any_seed.h"

namespace idlewave::words {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::string refusal(std::string_view text) {
  const auto parsed = parse_domain_curve(text);
  return parsed ? "" : parsed.error().message;
}

TEST(DomainCurve, IsTheBandwidthOfOneProcessAndOfMore) {
  const auto parsed = parse_domain_curve("10GB/s:19GB/s:24.5GB/s:24GB/s");
  ASSERT_TRUE(parsed) << parsed.error().message;
  EXPECT_THAT(parsed->curve, ElementsAre(10e9, 19e9, 24.5e9, 24e9));
  EXPECT_EQ(parsed->core, 10e9);
  EXPECT_EQ(parsed->saturated, 24.5e9);
}

TEST(DomainCurve, MayBeTwoFigures) {
  const auto parsed = parse_domain_curve("10.5GB/s..45GB/s");
  ASSERT_TRUE(parsed) << parsed.error().message;
  EXPECT_TRUE(parsed->curve.empty());
  EXPECT_EQ(parsed->core, 10.5e9);
  EXPECT_EQ(parsed->saturated, 45e9);
}

TEST(DomainCurve, SaysWhatIsNoBandwidth) {
  for (const std::string_view text :
       {"", ":", "10GB/s:", "10GB/s::19GB/s", "..", "10GB/s..", "..10GB/s", "1GB/s..2GB/s..3GB/s"})
    EXPECT_NE(refusal(text), "") << text;
  EXPECT_THAT(refusal("10GB/s:19GB"), HasSubstr("19GB"));
  EXPECT_THAT(refusal("10GB/s..45"), HasSubstr("45"));
}

TEST(DomainCurve, ComesBackToTheBit) {
  const unsigned seed = any_seed();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> exponent(0, 14);
  for (int round = 0; round < 200; ++round) {
    DomainCurve curve;
    for (auto points = random() % 40; points > 0; --points) curve.curve.push_back(std::pow(10, exponent(random)));
    curve.core = curve.curve.empty() ? std::pow(10, exponent(random)) : curve.curve.front();
    curve.saturated = curve.curve.empty() ? std::pow(10, exponent(random)) : std::ranges::max(curve.curve);
    const std::string text = exact_domain_curve(curve);
    EXPECT_EQ(text.find_first_of(", "), std::string::npos) << text;
    const auto back = parse_domain_curve(text);
    ASSERT_TRUE(back) << text << ": " << back.error().message;
    EXPECT_EQ(back->curve, curve.curve) << text;
    EXPECT_EQ(back->core, curve.core) << text;
    EXPECT_EQ(back->saturated, curve.saturated) << text;
  }
}

}  // namespace
}  // namespace idlewave::words
