#include "probe/words/quantity.h"
#include "tests/any_seed.h"

#include <gmock/gmock.h>

#include <cmath>
#include <random>
#include <string>

namespace idlewave::words {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;
using wire::Nanoseconds;

Nanoseconds nanoseconds(std::string_view text) { return *parse_duration(text); }
std::string complaint(std::string_view text) {
  const auto parsed = parse_duration(text);
  return parsed ? "" : parsed.error().message;
}

TEST(Quantity, ReadsEveryUnitOfTime) {
  EXPECT_EQ(nanoseconds("7ns"), 7ns);
  EXPECT_EQ(nanoseconds("5 us"), 5us);
  EXPECT_EQ(nanoseconds("250ms"), 250ms);
  EXPECT_EQ(nanoseconds("1.2 s"), 1200ms);
  EXPECT_EQ(nanoseconds("1.5min"), 90s);
  EXPECT_EQ(nanoseconds("2h"), 2h);
}

TEST(Quantity, ReadsTheUnitThatTheScreenShows) {
  EXPECT_EQ(nanoseconds("5 \u00b5s"), 5us);
  EXPECT_EQ(nanoseconds("5\u03bcs"), 5us);
}

TEST(Quantity, RoundsToTheNearestNanosecond) {
  EXPECT_EQ(nanoseconds("1.6ns"), 2ns);
  EXPECT_EQ(nanoseconds("0.1us"), 100ns);
}

TEST(Quantity, AllowsSpacesAroundNumberAndUnit) { EXPECT_EQ(nanoseconds("  12   s  "), 12s); }

TEST(Quantity, TellsDecimalFromBinaryPrefixes) {
  EXPECT_EQ(*parse_bytes("50 MB"), 50'000'000u);
  EXPECT_EQ(*parse_bytes("64 KiB"), 65'536u);
  EXPECT_EQ(*parse_bytes("65535B"), 65'535u);
  EXPECT_EQ(*parse_bytes("50 KB"), *parse_bytes("50 kB"));
}

TEST(Quantity, OfBytesMayHaveBounds) {
  EXPECT_EQ(*parse_bytes_within("8 B", 8, 1000), 8u);
  EXPECT_EQ(*parse_bytes_within("1kB", 8, 1000), 1000u);
  EXPECT_EQ(parse_bytes_within("7B", 8, 1000).error().message, "\"7B\" is not a size from 8 B to 1 kB");
  EXPECT_EQ(parse_bytes_within("1 KiB", 8, 1000).error().message, "\"1 KiB\" is not a size from 8 B to 1 kB");
  EXPECT_EQ(parse_bytes_within("7B", 8).error().message, "\"7B\" is not a size of at least 8 B");
  EXPECT_EQ(parse_bytes_within("3GB", 8, (1u << 31) - 1).error().message,
            "\"3GB\" is not a size from 8 B to 2.147483647GB");
  EXPECT_THAT(parse_bytes_within("8", 8, 1000).error().message, HasSubstr("has no unit"));
}

TEST(Quantity, ReadsBandwidthsFrequenciesAndTimesPerByte) {
  EXPECT_DOUBLE_EQ(*parse_bandwidth("10 GB/s"), 10e9);
  EXPECT_DOUBLE_EQ(*parse_bandwidth("1e3 MiB/s"), 1e3 * 1048576);
  EXPECT_DOUBLE_EQ(*parse_frequency("10Hz"), 10);
  EXPECT_DOUBLE_EQ(*parse_time_per_byte("6ns/B"), 6e-9);
}

TEST(Quantity, RefusesANumberWithoutItsUnitAndSaysWhatItWouldAccept) {
  EXPECT_THAT(complaint("250"),
              AllOf(HasSubstr("\"250\" has no unit"), HasSubstr("250ms or 1.2 s"), HasSubstr("ns, us, ms, s, min, h")));
}

TEST(Quantity, RefusesAUnitOfAnotherKind) {
  EXPECT_THAT(complaint("5 MB"), HasSubstr("unit \"MB\""));
  EXPECT_FALSE(parse_bandwidth("10 GB"));
  EXPECT_FALSE(parse_bytes("10 GB/s"));
}

TEST(Quantity, RefusesNegativeInfiniteAndUndefinedNumbers) {
  EXPECT_THAT(complaint("-5ms"), HasSubstr("negative"));
  EXPECT_THAT(complaint("inf s"), HasSubstr("finite"));
  EXPECT_THAT(complaint("nan s"), HasSubstr("finite"));
}

TEST(Quantity, RefusesWhatDoesNotFit) {
  EXPECT_THAT(complaint("1e400 s"), HasSubstr("out of range"));
  for (const char* text : {"300000000 h", "9223372036854775808ns", "9223372036.854775808s", "1e19ns"})
    EXPECT_THAT(complaint(text), HasSubstr("too large")) << text;
  EXPECT_EQ(nanoseconds("9223372036.854775807s"), Nanoseconds::max());
  EXPECT_FALSE(parse_bytes("300 TB"));
}

TEST(Quantity, RefusesAZeroBandwidthButNotAZeroDuration) {
  EXPECT_FALSE(parse_bandwidth("0 GB/s"));
  EXPECT_EQ(nanoseconds("0 us"), 0ns);
}

TEST(Quantity, RefusesWhatIsNoNumber) {
  for (const char* text : {"", " ", "ms", "0x10ms", "1,5 s", "--3s", "1 s s", "1.2.3s", "+1s"}) {
    EXPECT_FALSE(parse_duration(text)) << '"' << text << '"';
  }
}

TEST(Quantity, SurvivesRandomBytes) {
  const unsigned seed = any_seed();
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  std::mt19937 random{seed};
  const std::string letters = "0123456789.eE+-nusmhinafGMkKiBHz/ \t";
  for (int i = 0; i < 20'000; ++i) {
    std::string text(random() % 12, ' ');
    for (char& letter : text) letter = letters[random() % letters.size()];
    const auto duration = parse_duration(text);
    const auto bytes = parse_bytes(text);
    EXPECT_TRUE(!duration || duration->count() >= 0) << text;
    EXPECT_TRUE(!bytes || *bytes <= kMaxBytes) << text;
  }
}

TEST(Quantity, ShowsAtMostThreeDigits) {
  EXPECT_EQ(format_duration(1234567ns), "1.23 ms");
  EXPECT_EQ(format_duration(250ms), "250 ms");
  EXPECT_EQ(format_duration(1200ms), "1.2 s");
  EXPECT_EQ(format_bytes(50'000'000), "50 MB");
  EXPECT_EQ(format_bandwidth(50e9), "50 GB/s");
}

TEST(Quantity, TakesTheNextUnitWhenRoundingReachesIt) {
  EXPECT_EQ(format_duration(999'499us), "999 ms");
  EXPECT_EQ(format_duration(999'600us), "1 s");
  EXPECT_EQ(format_duration(59'999ms), "1 min");
}

TEST(Quantity, ShowsZeroAndNegativeDurations) {
  EXPECT_EQ(format_duration(0ns), "0 s");
  EXPECT_EQ(format_duration(-3us), "-3 us");
}

TEST(Quantity, ReadsBackWhatItShowsToThreeDigits) {
  const unsigned seed = any_seed();
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  std::mt19937_64 random{seed};
  for (int i = 0; i < 10'000; ++i) {
    const auto value = static_cast<std::int64_t>(random() >> (2 + random() % 61));
    const auto back = parse_duration(format_duration(Nanoseconds{value}));
    ASSERT_TRUE(back) << value;
    EXPECT_NEAR(static_cast<double>(back->count()), static_cast<double>(value), 0.0051 * static_cast<double>(value))
        << value;
  }
}

TEST(Quantity, IsSpeltInTheUnitThatPeopleWouldTake) {
  EXPECT_EQ(exact_duration(250ms), "250ms");
  EXPECT_EQ(exact_duration(2500us), "2.5ms");
  EXPECT_EQ(exact_duration(90s), "90s");
  EXPECT_EQ(exact_duration(1s + 1ns), "1.000000001s");
  EXPECT_EQ(exact_duration(0ns), "0ns");
  EXPECT_EQ(exact_bytes(50'000'000), "50MB");
  EXPECT_EQ(exact_bytes(65'535), "65.535kB");
  EXPECT_EQ(exact_bandwidth(10e9), "10GB/s");
  EXPECT_EQ(exact_frequency(2500), "2.5kHz");
  EXPECT_EQ(exact_frequency(0.1), "0.1Hz");
}

/// Of any size, from the smallest to the largest that is accepted.
TEST(Quantity, ReadsBackWhatItSpellsToTheLastBit) {
  const unsigned seed = any_seed();
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  std::mt19937_64 random{seed};
  std::uniform_real_distribution<double> exponent(-6, 12);
  for (int i = 0; i < 20'000; ++i) {
    const Nanoseconds duration(static_cast<std::int64_t>(random() >> (1 + random() % 63)));
    const std::uint64_t bytes = random() >> (16 + random() % 48);
    const double rate = std::pow(10, exponent(random));
    EXPECT_EQ(*parse_duration(exact_duration(duration)), duration) << exact_duration(duration);
    EXPECT_EQ(*parse_bytes(exact_bytes(bytes)), bytes) << exact_bytes(bytes);
    EXPECT_EQ(*parse_bandwidth(exact_bandwidth(rate * 1e6)), rate * 1e6) << exact_bandwidth(rate * 1e6);
    EXPECT_EQ(*parse_frequency(exact_frequency(rate)), rate) << exact_frequency(rate);
  }
}

/// What a double would lose: the judge is arithmetic in whole numbers.
TEST(Quantity, ReadsNanosecondsOfALongTimeOneByOne) {
  for (const std::int64_t count : {(std::int64_t{1} << 53) + 1, std::int64_t{1'234'567'890'123'456'789}})
    EXPECT_EQ(nanoseconds(std::to_string(count) + "ns").count(), count);
  EXPECT_EQ(nanoseconds("104249991.374 s").count(), 104'249'991'374'000'000);
}

}  // namespace
}  // namespace idlewave::words
