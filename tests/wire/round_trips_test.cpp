#include "probe/wire/round_trips.h"

#include <gtest/gtest.h>

#include "tests/wire/random_frames.h"

namespace idlewave::wire {
namespace {

TEST(RoundTrips, AreReadAsTheyWereWritten) {
  for (std::uint64_t seed = 1; seed <= 5'000; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    const std::vector<RoundTrip> trips = random_round_trips(random);
    std::vector<RoundTrip> read;
    ASSERT_TRUE(unpack_round_trips(pack_round_trips(trips), read));
    ASSERT_EQ(read, trips);
  }
}

TEST(RoundTrips, ThatWereDamagedAreRefusedOrReadAsSomethingSound) {
  for (std::uint64_t seed = 1; seed <= 20'000; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    std::vector<std::byte> bytes = pack_round_trips(random_round_trips(random));
    if (bytes.empty()) continue;
    bytes[random.below(bytes.size())] ^= static_cast<std::byte>(1 + random.below(255));
    if (random.once_in(3)) bytes.resize(random.below(bytes.size()));
    std::vector<RoundTrip> read;
    if (!unpack_round_trips(bytes, read)) continue;
    ASSERT_LE(read.size(), kMaxRoundTrips);
    for (const RoundTrip& trip : read) ASSERT_TRUE(trip.heard <= trip.told && trip.asked <= trip.back);
    std::vector<RoundTrip> again;
    ASSERT_TRUE(unpack_round_trips(pack_round_trips(read), again));
    ASSERT_EQ(again, read);
  }
}

TEST(RoundTrips, AreNoMoreThanAFrameMayHold) {
  std::vector<RoundTrip> trips(kMaxRoundTrips + 1), read;
  EXPECT_FALSE(unpack_round_trips(pack_round_trips(trips), read));
  const auto frame = decode(encode({"s", "n", 1, Events{{}, {}, {}, trips}}));
  ASSERT_TRUE(frame) << frame.error().message;
  EXPECT_EQ(std::get<Events>(frame->body).round_trips.size(), kMaxRoundTrips) << "a writer leaves out the rest";
}

TEST(RoundTrips, ThatBeginAfterTheyEndAreDamage) {
  RoundTrip trip{Nanoseconds(5), Nanoseconds(100), Nanoseconds(99), Nanoseconds(7), 1};
  std::vector<RoundTrip> read;
  EXPECT_FALSE(unpack_round_trips(pack_round_trips({&trip, 1}), read));
  trip = {Nanoseconds(5), Nanoseconds(100), Nanoseconds(101), Nanoseconds(4), 1};
  EXPECT_FALSE(unpack_round_trips(pack_round_trips({&trip, 1}), read));
}

}  // namespace
}  // namespace idlewave::wire
