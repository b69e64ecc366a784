#include "probe/wire/codec.h"

#include <gtest/gtest.h>

#include "tests/wire/random_frames.h"
#include "tests/wire/synthetic_stream.h"

namespace idlewave::wire {
namespace {

std::vector<OwnedBatch> decoded(std::span<const std::byte> blob) {
  EventDecoder decoder;
  const auto result = decoder.decode(blob);
  EXPECT_TRUE(result) << result.error().message;
  return result ? own(*result) : std::vector<OwnedBatch>{};
}

Event event_at(std::int64_t time) { return {Nanoseconds(time), 0, EventKind::kSwitch, Phase::kWait}; }

TEST(EventCodec, GivesBackRandomEventsBitForBit) {
  for (std::uint64_t seed = 1; seed <= 3000; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    const std::vector<OwnedBatch> batches = random_batches(random, 6, 60);
    ASSERT_EQ(decoded(encoded(batches)), batches);
  }
}

TEST(EventCodec, GivesBackAProgramsRun) {
  const auto lanes = synthetic_lanes({.ranks = 10, .steps = 50});
  std::vector<OwnedBatch> batches;
  for (std::int32_t r = 0; r < 10; ++r)
    batches.push_back({{LaneId::Kind::kRank, r}, lanes[static_cast<std::size_t>(r)]});
  EXPECT_EQ(decoded(encoded(batches)), batches);
}

TEST(EventCodec, NeedsNoMoreThanFiveBytesForAnEventOfABulkSynchronousProgram) {
  const auto lanes = synthetic_lanes({.ranks = 40, .steps = 20});
  SyntheticFrames frames(lanes, Nanoseconds(32'000'000));
  std::vector<LaneBatch> batches;
  std::vector<std::byte> blob;
  std::size_t events = 0;
  while (frames.next(batches)) encode_events(batches, blob), events += event_count(batches);
  EXPECT_LE(blob.size(), 5 * events);
}

TEST(EventCodec, TakesTheWholeRangeOfTimes) {
  const std::vector<OwnedBatch> batches = {
      {{LaneId::Kind::kRank, 0},
       {event_at(INT64_MIN), event_at(-1), event_at(0), event_at(INT64_MAX), event_at(INT64_MAX)}}};
  EXPECT_EQ(decoded(encoded(batches)), batches);
}

TEST(EventCodec, KeepsLanesWithoutEventsAndBatchesOfTheSameLaneApart) {
  const std::vector<OwnedBatch> batches = {{{LaneId::Kind::kRank, 7}, {}},
                                           {{LaneId::Kind::kDomain, 7}, {event_at(5)}},
                                           {{LaneId::Kind::kDomain, 7}, {event_at(4)}},
                                           {{LaneId::Kind::kRank, INT32_MAX}, {event_at(4)}}};
  EXPECT_EQ(decoded(encoded(batches)), batches);
}

TEST(EventCodec, AppendsToWhatIsAlreadyThere) {
  std::vector<std::byte> out = {std::byte{42}};
  encode_events({}, out);
  EXPECT_EQ(out[0], std::byte{42});
  EXPECT_TRUE(decoded(std::span(out).subspan(1)).empty());
}

TEST(EventDecoder, ServesSmallBlobsAfterLargeOnes) {
  Random random(1);
  EventDecoder decoder;
  for (const std::size_t most : {500u, 1u, 70u, 3u}) {
    const std::vector<OwnedBatch> batches = {random_lane(random, most), random_lane(random, most)};
    const auto result = decoder.decode(encoded(batches));
    ASSERT_TRUE(result);
    EXPECT_EQ(own(*result), batches);
  }
}

TEST(EventDecoder, RefusesABlobThatIsCutAnywhere) {
  Random random(2);
  const std::vector<std::byte> blob =
      encoded({random_lane(random, 30), random_lane(random, 30), random_lane(random, 30)});
  EventDecoder decoder;
  for (std::size_t size = 0; size < blob.size(); ++size) {
    // A copy of its own, so that a sanitizer sees every read beyond the cut.
    const std::vector<std::byte> cut(blob.begin(), blob.begin() + static_cast<std::ptrdiff_t>(size));
    EXPECT_FALSE(decoder.decode(cut)) << size;
  }
}

TEST(EventDecoder, RefusesABlobThatGoesOn) {
  Random random(3);
  std::vector<std::byte> blob = encoded({random_lane(random, 30)});
  blob.push_back(std::byte{0});
  EXPECT_FALSE(EventDecoder().decode(blob));
}

// What every consumer may rely on, whatever the bytes were.
void expect_possible(std::span<const LaneBatch> batches) {
  for (const LaneBatch& batch : batches) {
    EXPECT_GE(batch.lane.index, 0);
    for (std::size_t i = 0; i < batch.events.size(); ++i) {
      EXPECT_LT(static_cast<int>(batch.events[i].kind), 16);
      EXPECT_LT(static_cast<int>(batch.events[i].phase), kPhaseLimit);
      EXPECT_LE(batch.events[i == 0 ? 0 : i - 1].time, batch.events[i].time);
    }
  }
}

TEST(EventDecoder, GivesOnlyPossibleEventsWhateverBitIsFlipped) {
  Random random(4);
  const std::vector<std::byte> blob = encoded({random_lane(random, 40), random_lane(random, 40)});
  EventDecoder decoder;
  std::size_t accepted = 0;
  for (std::size_t bit = 0; bit < 8 * blob.size(); ++bit) {
    std::vector<std::byte> flipped = blob;
    flipped[bit / 8] ^= std::byte{1} << bit % 8;
    const auto result = decoder.decode(flipped);
    if (!result) continue;
    ++accepted;
    expect_possible(*result);
  }
  EXPECT_GT(accepted, 0u);
}

std::vector<std::byte> bytes_of(std::initializer_list<int> values) {
  std::vector<std::byte> bytes;
  for (const int value : values) bytes.push_back(static_cast<std::byte>(value));
  return bytes;
}

TEST(EventDecoder, RefusesLaneCountsBeyondItsBytes) {
  EXPECT_FALSE(EventDecoder().decode(bytes_of({0xFF, 0xFF, 0xFF, 0xFF, 0x0F, 0, 0, 0})));
}

TEST(EventDecoder, RefusesEventCountsBeyondItsBytes) {
  EXPECT_FALSE(EventDecoder().decode(bytes_of({1, 0, 0, 0xFF, 0xFF, 0xFF, 0xFF, 0x0F})));
}

TEST(EventDecoder, RefusesEventCountsWhoseDoubleWrapsAround) {
  EXPECT_FALSE(EventDecoder().decode(bytes_of({1, 0, 0, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x01})));
}

TEST(EventDecoder, RefusesAVarintOfMoreThan64Bits) {
  EXPECT_FALSE(EventDecoder().decode(bytes_of({0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x02, 0, 0})));
}

// One lane of rank 0 with a single event: lanes, size of values, lane, count, tag, value and time.
std::vector<std::byte> one_event(int tag_low, int tag_high, std::vector<std::byte> values,
                                 std::vector<std::byte> times) {
  std::vector<std::byte> blob = bytes_of({1, static_cast<int>(values.size()), 0, 1, tag_low, tag_high});
  blob.insert(blob.end(), values.begin(), values.end());
  blob.insert(blob.end(), times.begin(), times.end());
  return blob;
}

TEST(EventDecoder, TakesTheSmallestEvent) {
  EXPECT_EQ(decoded(one_event(3, 1, {}, {})),
            (std::vector<OwnedBatch>{{{}, {{Nanoseconds(0), 0, EventKind::kSwitch, Phase::kCompute}}}}));
}

TEST(EventDecoder, KeepsKindsThatOnlyANewerSenderKnows) {
  for (int kind = kEventKindLimit; kind < 16; ++kind)
    EXPECT_EQ(decoded(one_event(kind, 1, {}, {})),
              (std::vector<OwnedBatch>{{{}, {{Nanoseconds(0), 0, static_cast<EventKind>(kind), Phase::kCompute}}}}));
}

TEST(EventDecoder, RefusesTheReservedBitOfATag) { EXPECT_FALSE(EventDecoder().decode(one_event(0x83, 1, {}, {}))); }

TEST(EventDecoder, RefusesValuesOfMoreThan48Bits) {
  const std::vector<std::byte> below_zero = bytes_of({1});  // zigzag of -1
  EXPECT_FALSE(EventDecoder().decode(one_event(0x05, 0x40, below_zero, {})));
}

TEST(EventDecoder, RefusesTimesThatOverflow) {
  // First event at the largest time (zigzag: all ones but the lowest bit), second one nanosecond later.
  const std::vector<std::byte> blob =
      bytes_of({1, 0, 0, 2, 0x73, 1, 0x13, 1, 0xFE, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 1});
  EXPECT_FALSE(EventDecoder().decode(blob));
  std::vector<std::byte> sound = blob;
  sound.back() = std::byte{0};
  EXPECT_TRUE(EventDecoder().decode(sound));
}

TEST(EventDecoder, RefusesLanesWithNegativeNumbers) {
  EXPECT_FALSE(EventDecoder().decode(bytes_of({1, 0, 1, 0})));  // zigzag of -1
}

TEST(EventDecoder, TakesRandomBytesWithoutComplaintOfASanitizer) {
  EventDecoder decoder;
  for (std::uint64_t seed = 1; seed <= 20000; ++seed) {
    Random random(seed);
    const std::vector<std::byte> bytes = random_bytes(random, random.below(200));
    if (const auto result = decoder.decode(bytes)) expect_possible(*result);
  }
}

}  // namespace
}  // namespace idlewave::wire
