#include "probe/wire/frame.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>

#include "tests/wire/random_frames.h"

namespace idlewave::wire {
namespace {

using ::testing::HasSubstr;

std::string error_of(std::span<const std::byte> bytes) {
  const auto result = decode(bytes);
  return result ? "no error" : result.error().message;
}

std::vector<std::byte> bytes_of(std::string_view text) {
  const auto* begin = reinterpret_cast<const std::byte*>(text.data());
  return {begin, begin + text.size()};
}

// A frame with one text in it replaced by another of the same length: enough to spoil a key or a name.
std::vector<std::byte> spoilt(const Frame& frame, std::string_view from, std::string_view to) {
  std::vector<std::byte> bytes = encode(frame);
  const std::vector<std::byte> wanted = bytes_of(from), put = bytes_of(to);
  const auto found = std::search(bytes.begin(), bytes.end(), wanted.begin(), wanted.end());
  EXPECT_NE(found, bytes.end());
  std::copy(put.begin(), put.end(), found);
  return bytes;
}

Frame frame_of(decltype(Frame::body) body) { return {"session", "node", 1, std::move(body)}; }

Roster two_ranks() {
  Roster roster;
  roster.world_size = 4;
  roster.ranks = {{1, 100, 0}, {3, 101, kNoDomain}};
  roster.domains = {{0, "socket 0", 1e10, 5e10, BandwidthSource::kLikwid, ""}};
  roster.phases = {{static_cast<Phase>(9), Phase::kCompute, "matrix"}};
  return roster;
}

TEST(Frame, ComesBackAsItWasForRandomContent) {
  for (std::uint64_t seed = 1; seed <= 5000; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    const Frame frame = random_frame(random);
    const auto back = decode(encode(frame));
    ASSERT_TRUE(back) << back.error().message;
    ASSERT_EQ(*back, frame);
  }
}

TEST(Frame, ReadInPlaceSaysTheSameAndLeavesTheBlobWhereItLies) {
  int blobs = 0;
  for (std::uint64_t seed = 1; seed <= 2000; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    std::vector<std::byte> bytes = encode(random_frame(random));
    if (seed % 2 == 0) bytes[random.below(bytes.size())] ^= std::byte{0x10};
    const auto copied = decode(bytes);
    auto read = decode_in_place(bytes);
    ASSERT_EQ(bool(read), bool(copied));
    if (!read) {
      EXPECT_EQ(read.error().message, copied.error().message);
      continue;
    }
    if (auto* events = std::get_if<Events>(&read->frame.body)) {
      EXPECT_THAT(events->blob, testing::IsEmpty());
      EXPECT_TRUE(read->blob.empty() || (read->blob.data() >= bytes.data() &&
                                         read->blob.data() + read->blob.size() <= bytes.data() + bytes.size()));
      events->blob.assign(read->blob.begin(), read->blob.end());
      ++blobs;
    }
    EXPECT_EQ(read->frame, *copied);
  }
  EXPECT_GT(blobs, 100);
}

TEST(Frame, HoldsAMillionRanks) {
  Roster roster;
  roster.world_size = 1'000'000;
  for (Rank rank = 0; rank < roster.world_size; ++rank) roster.ranks.push_back({rank, 0, rank / 10});
  const std::vector<std::byte> bytes = encode(frame_of(roster));
  EXPECT_LT(bytes.size(), kMaxFrameBytes);
  const auto back = decode(bytes);
  ASSERT_TRUE(back) << back.error().message;
  EXPECT_EQ(std::get<Roster>(back->body), roster);
}

TEST(Frame, SaysACurveThatManyDomainsShareOnce) {
  Roster roster = two_ranks();
  for (DomainId id = 1; id < 1000; ++id) roster.domains.push_back({id, "socket", 1e10, 5e10, {}, ""});
  const std::size_t without = encode(frame_of(roster)).size();
  for (DomainInfo& domain : roster.domains) domain.curve = {1e10, 1.9e10, 2.6e10};
  roster.domains[500].curve.clear();
  roster.domains[700].calibrated = true;
  const std::vector<std::byte> bytes = encode(frame_of(roster));
  EXPECT_LT(bytes.size(), without + 200);
  const auto back = decode(bytes);
  ASSERT_TRUE(back) << back.error().message;
  EXPECT_EQ(std::get<Roster>(back->body), roster);
}

TEST(Frame, WithMorePointsOfCurvesThanThereMayBeRanksIsRefused) {
  Roster roster = two_ranks();
  roster.domains.front().curve.assign(kMaxCurve, 1e10);
  for (DomainId id = 1; id < 1024; ++id) {
    roster.domains.push_back({id, "", 0, 0, {}, ""});
    roster.domains.back().curve = roster.domains.front().curve;
  }
  EXPECT_EQ(error_of(encode(frame_of(roster))), "no error");
  roster.domains.push_back({1024, "", 0, 0, {}, ""});
  roster.domains.back().curve = {1e10};
  EXPECT_THAT(error_of(encode(frame_of(roster))), HasSubstr("too many points"));
}

TEST(Frame, WithAnImpossibleCurveIsRefused) {
  for (const double nonsense : {-1.0, 1e19, std::nan("")}) {
    Roster roster = two_ranks();
    roster.domains[0].curve = {1e10, nonsense};
    EXPECT_THAT(error_of(encode(frame_of(roster))), HasSubstr("'curve' is out of range"));
  }
}

TEST(Frame, OfAnotherVersionIsRefusedByItsNumber) {
  std::vector<std::byte> bytes = encode(frame_of(End{}));
  ASSERT_EQ(bytes[3], std::byte{kWireVersion});  // map, text of one byte, "v", version
  bytes[3] = std::byte{9};
  EXPECT_EQ(error_of(bytes), "frame of wire version 9; this program reads 1 and 2");
}

TEST(Frame, OfTheVersionBeforeIsReadWhereItMayBe) {
  const Frame frame = frame_of(two_ranks());
  std::vector<std::byte> bytes = encode(frame);
  bytes[3] = std::byte{1};
  const auto read = decode(bytes);
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(*read, frame);
  const auto refused = decode(bytes, kWireVersion);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().message, "frame of wire version 1; this program reads 2");
}

TEST(Frame, SaysWhomTenThousandRanksWaitForInAByteEach) {
  Roster roster;
  roster.world_size = 10'000;
  for (Rank rank = 0; rank < roster.world_size; ++rank) roster.ranks.push_back({rank, 4000 + rank, rank / 10});
  const std::size_t without = encode(frame_of(roster)).size();
  roster.patterns = {{.rendezvous = false, .collective = false, .from = {-1, 1}, .to = {-1, 1}}};
  roster.cycles = {{{{0}}}};
  for (RankInfo& info : roster.ranks) info.cycle = 1;
  EXPECT_LT(encode(frame_of(roster)).size(), without + 10'100);
}

TEST(Frame, WithAnUnknownKeyIsRead) {
  std::vector<std::byte> bytes = encode(frame_of(End{}));
  ASSERT_EQ(bytes[0], std::byte{0x86});  // a map of six
  bytes[0] = std::byte{0x87};
  const std::vector<std::byte> more = bytes_of(
      "\xa6"
      "colour"
      "\x93\x01\xc0\xa3"
      "red");
  bytes.insert(bytes.end(), more.begin(), more.end());
  const auto frame = decode(bytes);
  ASSERT_TRUE(frame) << frame.error().message;
  EXPECT_EQ(*frame, frame_of(End{}));
}

TEST(Frame, WithoutAKeyIsRefusedByItsName) {
  EXPECT_EQ(error_of(spoilt(frame_of(two_ranks()), "world", "wurld")), "roster: 'world' is missing");
}

TEST(Frame, WithAKeyOfAnotherTypeIsRefusedByItsName) {
  std::vector<std::byte> bytes = encode(frame_of(Credit{5}));
  ASSERT_EQ(bytes.back(), std::byte{5});
  bytes.back() = std::byte{0xc0};  // nil
  EXPECT_EQ(error_of(bytes), "credit: 'frames' is not a whole number");
}

TEST(Frame, SaysWhenTheSessionBeganOnlyWhereThatIsKnown) {
  Roster roster = two_ranks();
  const auto has_key = [](const Frame& frame) {
    const std::vector<std::byte> bytes = encode(frame), key = bytes_of("began");
    return std::search(bytes.begin(), bytes.end(), key.begin(), key.end()) != bytes.end();
  };
  EXPECT_FALSE(has_key(frame_of(roster)));
  EXPECT_FALSE(has_key(frame_of(Credit{5})));
  roster.began = Nanoseconds(0);
  EXPECT_TRUE(has_key(frame_of(roster)));
  EXPECT_TRUE(has_key(frame_of(Credit{5, 0})));
  // A reader of an older version skips the key, as any that it does not know.
  EXPECT_TRUE(decode(spoilt(frame_of(roster), "began", "begun")));
}

TEST(Frame, SaysNothingOfMetersWhereThereAreNone) {
  const auto has_key = [](const Frame& frame) {
    const std::vector<std::byte> bytes = encode(frame), key = bytes_of("meters");
    return std::search(bytes.begin(), bytes.end(), key.begin(), key.end()) != bytes.end();
  };
  Roster roster = two_ranks();
  Events events;
  EXPECT_FALSE(has_key(frame_of(roster)));
  EXPECT_FALSE(has_key(frame_of(events)));
  roster.meters = {{0, "package power", "W", "RAPL"}};
  events.meters = bytes_of("any");
  EXPECT_TRUE(has_key(frame_of(roster)));
  EXPECT_TRUE(has_key(frame_of(events)));
  // A reader of an older version skips the keys.
  EXPECT_TRUE(decode(spoilt(frame_of(roster), "meters", "metres")));
  EXPECT_TRUE(decode(spoilt(frame_of(events), "meters", "metres")));
  EXPECT_EQ(error_of(spoilt(frame_of(roster), "unit", "knit")), "meter: 'unit' is missing");
}

TEST(Beginning, IsNotBelievedWhereItCanNotBe) {
  constexpr std::int64_t kNineYears = std::int64_t{1} << 58;
  Roster roster;
  roster.node_time = Nanoseconds(1000);
  roster.unix_time_ns = 5000;
  EXPECT_EQ(beginning_of(roster), std::nullopt);
  for (const std::int64_t can_be : {1000L, 999L, 0L, -7L, 1002 - kNineYears}) {
    roster.began = Nanoseconds(can_be);
    EXPECT_EQ(beginning_of(roster), Nanoseconds(can_be));
    EXPECT_EQ(wall_beginning_of(roster), 4000 + can_be);
  }
  for (const std::int64_t can_not : {1001L, std::numeric_limits<std::int64_t>::max(), 1000 - kNineYears, -kNineYears,
                                     std::numeric_limits<std::int64_t>::min()}) {
    roster.began = Nanoseconds(can_not);
    EXPECT_EQ(beginning_of(roster), std::nullopt) << can_not;
    EXPECT_EQ(wall_beginning_of(roster), std::nullopt) << can_not;
  }
  roster.began = Nanoseconds(0);
  for (const std::int64_t node_time : {-1L, kNineYears, std::numeric_limits<std::int64_t>::max()}) {
    roster.node_time = Nanoseconds(node_time);
    EXPECT_EQ(beginning_of(roster), std::nullopt) << node_time;
  }
  roster.node_time = Nanoseconds(1000);
  roster.unix_time_ns = std::numeric_limits<std::int64_t>::min();
  EXPECT_EQ(wall_beginning_of(roster), std::nullopt);
}

TEST(Frame, OfAnUnknownKindIsRefused) {
  EXPECT_EQ(error_of(spoilt(frame_of(Hello{}), "hello", "howdy")), "frame of an unknown kind");
}

TEST(Frame, ThatIsNoMapIsRefused) {
  EXPECT_EQ(error_of(bytes_of("\x93\x01\x02\x03")), "frame is not a map");
  EXPECT_EQ(error_of(bytes_of("hello")), "frame is not one whole msgpack map");
  EXPECT_EQ(error_of({}), "frame is not one whole msgpack map");
}

TEST(Frame, CutAnywhereIsRefused) {
  const std::vector<std::byte> bytes = encode(frame_of(two_ranks()));
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    const std::vector<std::byte> cut(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(size));
    EXPECT_FALSE(decode(cut)) << size;
  }
}

TEST(Frame, WithBytesBehindItIsRefused) {
  std::vector<std::byte> bytes = encode(frame_of(End{}));
  bytes.push_back(std::byte{0xc0});
  EXPECT_FALSE(decode(bytes));
}

TEST(Frame, ThatAnnouncesBillionsOfItemsCostsNothing) {
  EXPECT_FALSE(decode(bytes_of("\xdd\xff\xff\xff\xff")));                 // array
  EXPECT_FALSE(decode(bytes_of("\xdf\xff\xff\xff\xff")));                 // map
  EXPECT_FALSE(decode(bytes_of("\xdb\xff\xff\xff\xff")));                 // text
  EXPECT_FALSE(decode(bytes_of("\xc6\xff\xff\xff\xff")));                 // binary
  EXPECT_FALSE(decode(bytes_of(std::string(100'000, '\x91') + "\xc0")));  // nesting
}

TEST(Frame, RefusesARankBeyondTheWorld) {
  Roster roster = two_ranks();
  roster.world_size = 3;
  EXPECT_EQ(error_of(encode(frame_of(roster))), "roster: 'ranks' go beyond 'world'");
}

TEST(Frame, RefusesRanksOutOfOrder) {
  Roster roster = two_ranks();
  roster.ranks[1].rank = 1;
  EXPECT_EQ(error_of(encode(frame_of(roster))), "roster: 'ranks' are not in ascending order");
}

TEST(Frame, RefusesMoreRanksThanAnyoneHas) {
  Roster roster = two_ranks();
  roster.world_size = kMaxRanks + 1;
  EXPECT_EQ(error_of(encode(frame_of(roster))), "roster: 'world' is out of range");
}

TEST(Frame, RefusesBandwidthsThatAreNone) {
  for (const double nonsense : {std::nan(""), -1.0, std::numeric_limits<double>::infinity(), 1e30}) {
    Roster roster = two_ranks();
    roster.domains[0].saturated_bandwidth = nonsense;
    EXPECT_EQ(error_of(encode(frame_of(roster))), "domain: 'full' is out of range") << nonsense;
  }
}

/// The value after the last one that is known, and the largest that has room.
template <class Enum>
std::array<Enum, 2> newer_than(Enum last) {
  return {static_cast<Enum>(static_cast<int>(last) + 1), static_cast<Enum>(255)};
}

Frame back_and_forth(const Frame& frame) {
  const auto back = decode(encode(frame));
  EXPECT_TRUE(back) << back.error().message;
  return back ? *back : Frame{};
}

TEST(Frame, KeepsABandwidthSourceThatOnlyANewerSenderKnows) {
  for (const BandwidthSource source : newer_than(BandwidthSource::kResctrl)) {
    Roster roster = two_ranks();
    roster.domains[0].source = source;
    EXPECT_EQ(back_and_forth(frame_of(roster)), frame_of(roster));
    EXPECT_EQ(name_of(source), "unknown");
  }
}

TEST(Frame, KeepsACategoryOfPhasesThatOnlyANewerSenderKnows) {
  for (const Phase category : newer_than(Phase::kNoise)) {
    Roster roster = two_ranks();
    roster.phases[0].category = category;
    EXPECT_EQ(back_and_forth(frame_of(roster)), frame_of(roster));
  }
}

TEST(Frame, KeepsNoiseThatOnlyANewerSenderKnows) {
  for (const NoiseKind kind : newer_than(NoiseKind::kTrace)) {
    const Outcome outcome{{7, {1}, NoiseOrder{kind, Nanoseconds(5), 10}}, Nanoseconds(9), true, ""};
    EXPECT_EQ(back_and_forth(frame_of(outcome)), frame_of(outcome));
    EXPECT_EQ(name_of(kind), "unknown");
  }
}

TEST(Frame, KeepsTheNameOfAnOrderThatOnlyANewerSenderKnows) {
  Command command{7, {1, 2}, DelayOrder{Nanoseconds(5), 10}};
  const auto newer = decode(spoilt(frame_of(command), "delay", "pause"));
  ASSERT_TRUE(newer) << newer.error().message;
  command.order = UnknownOrder{"pause"};
  EXPECT_EQ(*newer, frame_of(command));
  EXPECT_EQ(back_and_forth(*newer), *newer);
  const Outcome outcome{command, Nanoseconds(9), false, "this order is not known to this version"};
  EXPECT_EQ(back_and_forth(frame_of(outcome)), frame_of(outcome));
}

TEST(Frame, CallsADelayThatIsCountedFromNowByAnotherNameThatOlderReadersRefuse) {
  Command command{7, {1, 2}, DelayOrder{Nanoseconds(5), kNoStep, 3}};
  EXPECT_EQ(back_and_forth(frame_of(command)), frame_of(command));
  const auto older = decode(spoilt(frame_of(command), "delay_in", "delay_no"));
  ASSERT_TRUE(older) << older.error().message;
  EXPECT_EQ(*older, frame_of(Command{7, {1, 2}, UnknownOrder{"delay_no"}}));
  command.order = DelayOrder{Nanoseconds(5), kNoStep, 1};
  const auto none = decode(spoilt(frame_of(command), "steps\x01", {"steps\x00", 6}));
  ASSERT_FALSE(none);
  EXPECT_THAT(none.error().message, HasSubstr("steps"));
}

TEST(Frame, TakesAnOrderThatItKnowsForTheOrderWhateverElseIsThere) {
  std::vector<std::byte> bytes = encode(frame_of(Command{7, {}, ClearOrder{}}));
  const std::vector<std::byte> map_of_three = bytes_of("\x83\xa2id"), more = bytes_of("\xa4more\x80");
  const auto body = std::search(bytes.begin(), bytes.end(), map_of_three.begin(), map_of_three.end());
  ASSERT_NE(body, bytes.end());
  *body = std::byte{0x84};
  bytes.insert(bytes.end(), more.begin(), more.end());
  const auto frame = decode(bytes);
  ASSERT_TRUE(frame) << frame.error().message;
  EXPECT_EQ(*frame, frame_of(Command{7, {}, ClearOrder{}}));
}

TEST(Frame, RefusesATraceWhoseDetoursDoNotFit) {
  constexpr auto kMost = Nanoseconds::max();
  const Nanoseconds one(1);
  const OrderedTrace right{"noise.txt", 2, Nanoseconds(9), Nanoseconds(3), {{one, one}, {kMost - one, one}}};
  const auto with = [&](auto change) {
    NoiseOrder noise{NoiseKind::kTrace, Nanoseconds(2), 0, false, right};
    change(noise.trace);
    return encode(frame_of(Command{7, {}, noise}));
  };
  EXPECT_TRUE(decode(with([](auto&) {})));
  EXPECT_EQ(error_of(with([](auto& trace) { trace.count = 7; })), "trace: 'detours' are too few");
  EXPECT_EQ(error_of(with([](auto& trace) { trace.count = 3; })), "trace: 'detours' are damaged");
  EXPECT_EQ(error_of(with([](auto& trace) { trace.count = 1; })), "trace: 'detours' are damaged");
  EXPECT_EQ(error_of(with([](auto& trace) { trace.count = kMaxDetours + 1; })), "trace: 'count' is out of range");
  EXPECT_EQ(error_of(with([](auto& trace) { trace.length = Nanoseconds(-1); })), "trace: 'length' is out of range");
  EXPECT_EQ(error_of(with([&](auto& trace) { trace.detours[1].duration *= 2; })), "trace: 'detours' are damaged");
  EXPECT_EQ(error_of(with([](auto& trace) { trace.detours[0].duration = Nanoseconds(-1); })),
            "trace: 'detours' are damaged");
  EXPECT_EQ(error_of(with([](auto& trace) { std::swap(trace.detours[0], trace.detours[1]); })),
            "trace: 'detours' are damaged")
      << "the order of time is that in which they are told";
}

TEST(Frame, RefusesACommandWithoutAnOrder) {
  std::vector<std::byte> bytes = spoilt(frame_of(Command{7, {}, ClearOrder{}}), "clear", "later");
  ASSERT_EQ(bytes.back(), std::byte{0x80});  // an empty map
  bytes.back() = std::byte{0xc0};            // nil
  EXPECT_THAT(error_of(bytes), HasSubstr("command: 'clear' is missing"));
}

TEST(Frame, KeepsARoleThatOnlyANewerMonitorKnows) {
  for (const Role role : newer_than(Role::kSpectator))
    EXPECT_EQ(back_and_forth(frame_of(Attach{role, 5})), frame_of(Attach{role, 5}));
}

TEST(Frame, RefusesAPhaseThatIsNotTheUsers) {
  Roster roster = two_ranks();
  roster.phases[0].phase = Phase::kWait;
  EXPECT_EQ(error_of(encode(frame_of(roster))), "phase: 'phase' is out of range");
}

TEST(Frame, RefusesADelayOfNegativeLength) {
  EXPECT_EQ(error_of(encode(frame_of(Command{1, {}, DelayOrder{Nanoseconds(-1), kNoStep}}))),
            "delay: 'duration' is out of range");
}

TEST(Frame, RefusesATextBeyondItsLimit) {
  Frame frame = frame_of(Refusal{"no"});
  std::vector<std::byte> bytes = encode(frame);
  bytes.erase(bytes.end() - 3, bytes.end());  // the text "no"
  const std::vector<std::byte> longer = bytes_of("\xda\x10\x01" + std::string(4097, 'x'));
  bytes.insert(bytes.end(), longer.begin(), longer.end());
  EXPECT_EQ(error_of(bytes), "refusal: 'reason' is too long");
}

TEST(Frame, CutsATextBeyondItsLimitWhenWriting) {
  const auto back = decode(encode(frame_of(Refusal{std::string(5000, 'x')})));
  ASSERT_TRUE(back);
  EXPECT_EQ(std::get<Refusal>(back->body).reason, std::string(4096, 'x'));
}

TEST(Frame, TellsWhatBelongsIntoARecording) {
  EXPECT_TRUE(is_sequenced(frame_of(Roster{})));
  EXPECT_TRUE(is_sequenced(frame_of(Events{})));
  EXPECT_TRUE(is_sequenced(frame_of(Outcome{})));
  EXPECT_TRUE(is_sequenced(frame_of(End{})));
  EXPECT_FALSE(is_sequenced(frame_of(Attach{})));
  EXPECT_FALSE(is_sequenced(frame_of(Command{})));
}

}  // namespace
}  // namespace idlewave::wire
