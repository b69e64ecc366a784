#include "probe/wire/codec.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <memory>
#include <utility>

#include "probe/wire/varint.h"

// A tag of 16 bits tells of each event what it is and how many bytes its time and its value take, which follow in
// columns of their own:
//   bits 0-3 kind, 4-6 size of the time, 7 zero, 8-13 phase, 14-15 size of the value
// So a tag is the upper part of an event's second word with the sizes put into its gaps. Times are told by the gap to
// the event before, values by the zigzag difference from what was to be expected; both little endian, without leading
// zero bytes as far as there is a size.

namespace idlewave::wire {
namespace {

constexpr std::size_t kWord = sizeof(std::uint64_t);
constexpr unsigned kEventTagMask = 0x3F0F;
constexpr unsigned kTimeSizeShift = 4;
constexpr unsigned kValueSizeShift = 14;
constexpr unsigned kReservedBit = 0x80;
constexpr std::array<std::uint8_t, 8> kTimeSizes = {0, 1, 2, 3, 4, 5, 6, 8};
constexpr std::array<std::uint8_t, 4> kValueSizes = {0, 1, 4, 7};
constexpr unsigned kStepKind = static_cast<unsigned>(EventKind::kStep);
static_assert(kEventKindLimit <= 16 && kPhaseLimit <= 64);
static_assert(std::endian::native == std::endian::little, "numbers are copied as they lie in memory");

// The words of an event, as the ABI lays it out. Reading and writing them whole takes half the time of going through
// the bit fields.
struct EventWords {
  std::uint64_t time;
  std::uint64_t rest;

  std::uint64_t value() const { return rest & kMaxEventValue; }
  unsigned tag() const { return static_cast<unsigned>(rest >> 48); }
};

// What the next event is expected to say: what the last one of its kind said, in whichever lane, since lanes do much
// the same. Steps count on instead, from the first step of the lane before.
struct Expectation {
  std::array<std::uint64_t, 16> value{};  // By kind.
  std::uint64_t first_step = 0;           // Of the last lane that had one.
  std::uint64_t first_time = 0;           // Of the lane before.
};

// The number that the next step of a lane is expected to have.
class StepCounter {
 public:
  explicit StepCounter(Expectation& expected) : first_step_(expected.first_step), next_(expected.first_step) {}
  std::uint64_t next() const { return next_; }
  void learn(std::uint64_t step) {
    if (!std::exchange(seen_, true)) first_step_ = step;
    next_ = step + 1;
  }

 private:
  std::uint64_t& first_step_;
  std::uint64_t next_;
  bool seen_ = false;
};

// ---- writing

struct Columns {
  std::byte* tags;
  std::byte* values;
  std::byte* times;
};

// Writes a whole word; what is beyond the size will be written over. Returns the size's code.
[[gnu::always_inline]] inline unsigned put_time(std::byte*& to, std::uint64_t number) {
  std::memcpy(to, &number, kWord);
  if (number < 0x100) {
    const unsigned size = number != 0;
    to += size;
    return size;
  }
  if (number >> 32 == 0) [[likely]] {
    const unsigned size = 2u + (number >> 16 != 0) + (number >> 24 != 0);
    to += size;
    return size;
  }
  const unsigned code = std::min((static_cast<unsigned>(std::bit_width(number)) + 7) / 8, 7u);
  to += kTimeSizes[code];
  return code;
}

[[gnu::always_inline]] inline unsigned put_value(std::byte*& to, std::uint64_t number) {
  if (number == 0) return 0;
  std::memcpy(to, &number, kWord);
  const unsigned code = 1u + (number >> 8 != 0) + (number >> 32 != 0);
  to += kValueSizes[code];
  return code;
}

// One lane on its way into the columns.
class LaneWriter {
 public:
  LaneWriter(Expectation& expected, const Columns& to) : expected_(expected), to_(to), steps_(expected) {}

  [[gnu::always_inline]] void put(EventWords event, std::uint64_t time_number) {
    const unsigned time_size = put_time(to_.times, time_number);
    const unsigned value_size = put_value_of(event.tag() & 0x0F, event.value());
    const auto tag =
        static_cast<std::uint16_t>(event.tag() | time_size << kTimeSizeShift | value_size << kValueSizeShift);
    std::memcpy(to_.tags, &tag, sizeof tag);
    to_.tags += sizeof tag;
  }
  const Columns& columns() const { return to_; }

 private:
  [[gnu::always_inline]] unsigned put_value_of(unsigned kind, std::uint64_t value) {
    if (kind == kStepKind) {
      const std::uint64_t expected = steps_.next();
      steps_.learn(value);
      return put_value(to_.values, zigzag(value - expected));
    }
    if (value == expected_.value[kind]) return 0;
    return put_value(to_.values, zigzag(value - std::exchange(expected_.value[kind], value)));
  }

  Expectation& expected_;
  Columns to_;
  StepCounter steps_;
};

void put_lane(std::span<const Event> events, Expectation& expected, Columns& to) {
  if (events.empty()) return;
  LaneWriter lane(expected, to);
  const auto first = std::bit_cast<EventWords>(events.front());
  lane.put(first, zigzag(first.time - std::exchange(expected.first_time, first.time)));
  std::uint64_t before = first.time;
  for (const Event& event : events.subspan(1)) {
    const auto words = std::bit_cast<EventWords>(event);
    lane.put(words, words.time - before);
    before = words.time;
  }
  to = lane.columns();
}

std::size_t count_events(std::span<const LaneBatch> batches) {
  std::size_t count = 0;
  for (const LaneBatch& batch : batches) count += batch.events.size();
  return count;
}

// Lanes of one kind that follow each other by number differ by 2.
constexpr std::uint64_t lane_key(LaneId lane) {
  return std::uint64_t{static_cast<std::uint32_t>(lane.index)} << 1 | static_cast<std::uint64_t>(lane.kind);
}

std::byte* put_lane_table(std::span<const LaneBatch> batches, std::byte* to) {
  std::uint64_t before = 0;
  for (const LaneBatch& batch : batches) {
    const std::uint64_t key = lane_key(batch.lane);
    to = put_varint(to, zigzag(key - before));
    before = key;
  }
  for (const LaneBatch& batch : batches) to = put_varint(to, batch.events.size());
  return to;
}

// ---- reading

// A lane is read in pieces, and how far the reading got is asked after each: so a piece may run on beyond its column by
// this much, which the copy of the blob has to spare.
constexpr std::size_t kPieceEvents = 16;
constexpr std::size_t kPieceBytes = (kPieceEvents + 2) * kWord;

// A column of numbers whose sizes are told elsewhere.
struct NumberColumn {
  const std::byte* at;
  const std::byte* end;

  std::uint64_t take(unsigned size) {
    static constexpr std::array<std::uint64_t, 9> kMask = {
        0, 0xFF, 0xFFFF, 0xFFFFFF, 0xFFFFFFFF, 0xFFFFFFFFFF, 0xFFFFFFFFFFFF, 0xFFFFFFFFFFFFFF, ~std::uint64_t{0}};
    std::uint64_t word = 0;
    std::memcpy(&word, at, kWord);
    at += size;
    return word & kMask[size];
  }
};

struct Readers {
  const std::byte* tags;
  NumberColumn values;
  NumberColumn times;

  bool overrun() const { return values.at > values.end || times.at > times.end; }
  bool used_up() const { return values.at == values.end && times.at == times.end; }
};

// One lane on its way out of the columns.
class LaneReader {
 public:
  LaneReader(Expectation& expected, const Readers& from)
      : expected_(expected), from_(from), steps_(expected), time_(expected.first_time) {}

  void take_first(Event& event) {
    const unsigned tag = take_tag();
    expected_.first_time = time_ += unzigzag(take_time_number(tag));
    event = take_rest(tag);
  }
  // False if one of the events is impossible or a column too short. At most kPieceEvents.
  bool take(std::span<Event> piece) {
    const auto begin = static_cast<std::int64_t>(time_);
    for (Event& event : piece) {
      const unsigned tag = take_tag();
      const std::uint64_t gap = take_time_number(tag);
      all_gaps_ |= gap;
      time_ += gap;
      event = take_rest(tag);
    }
    const bool ascends = all_gaps_ < kSmallGap ? begin <= static_cast<std::int64_t>(time_) : ascending(begin, piece);
    return ascends && possible();
  }
  bool possible() const { return !from_.overrun() && all_values_ <= kMaxEventValue && (all_tags_ & kReservedBit) == 0; }
  const Readers& columns() const { return from_; }

 private:
  // A piece of gaps below this can't go all the way round 64 bits.
  static constexpr std::uint64_t kSmallGap = std::uint64_t{1} << 59;

  static bool ascending(std::int64_t begin, std::span<const Event> piece) {
    return begin <= piece.front().time.count() &&
           std::is_sorted(piece.begin(), piece.end(), [](const Event& a, const Event& b) { return a.time < b.time; });
  }
  [[gnu::always_inline]] unsigned take_tag() {
    std::uint16_t tag = 0;
    std::memcpy(&tag, from_.tags, sizeof tag);
    from_.tags += sizeof tag;
    return tag;
  }
  [[gnu::always_inline]] std::uint64_t take_time_number(unsigned tag) {
    return from_.times.take(kTimeSizes[tag >> kTimeSizeShift & 7]);
  }
  [[gnu::always_inline]] std::uint64_t take_value(unsigned tag) {
    const unsigned kind = tag & 0x0F;
    std::uint64_t value = kind == kStepKind ? steps_.next() : expected_.value[kind];
    if (const unsigned code = tag >> kValueSizeShift) {
      value += unzigzag(from_.values.take(kValueSizes[code]));
      if (kind != kStepKind) expected_.value[kind] = value;
    }
    if (kind == kStepKind) steps_.learn(value);
    return value;
  }
  [[gnu::always_inline]] Event take_rest(unsigned tag) {
    const std::uint64_t value = take_value(tag);
    all_values_ |= value;
    all_tags_ |= tag;
    return std::bit_cast<Event>(EventWords{time_, value | std::uint64_t{tag & kEventTagMask} << 48});
  }

  Expectation& expected_;
  Readers from_;
  StepCounter steps_;
  std::uint64_t time_;

  // What would make an event impossible, gathered by "or" and looked at once for each piece.
  std::uint64_t all_gaps_ = 0;
  std::uint64_t all_values_ = 0;
  unsigned all_tags_ = 0;
};

// False if an event is impossible or a column too short.
bool take_lane(std::span<Event> events, Expectation& expected, Readers& from) {
  if (events.empty()) return true;
  LaneReader lane(expected, from);
  lane.take_first(events.front());
  std::size_t taken = 1;
  while (taken < events.size()) {
    const std::span<Event> piece = events.subspan(taken, std::min(events.size() - taken, kPieceEvents));
    if (!lane.take(piece)) return false;
    taken += piece.size();
  }
  from = lane.columns();
  return lane.possible();
}

}  // namespace

void encode_events(std::span<const LaneBatch> batches, std::vector<std::byte>& out) {
  const std::size_t count = count_events(batches);
  const std::size_t most_head_bytes = (2 + 2 * batches.size()) * kMaxVarintBytes + kWord;
  const std::size_t most_column_bytes = (count + 1) * kWord;
  const auto scratch = std::make_unique_for_overwrite<std::byte[]>(most_head_bytes + 2 * count + 2 * most_column_bytes);
  std::byte* const tags = scratch.get() + most_head_bytes;
  std::byte* const values = tags + 2 * count;
  std::byte* const times = values + most_column_bytes;
  Columns end{tags, values, times};
  Expectation expected;
  for (const LaneBatch& batch : batches) put_lane(batch.events, expected, end);

  std::byte* head = put_varint(scratch.get(), batches.size());
  head = put_varint(head, static_cast<std::size_t>(end.values - values));
  head = put_lane_table(batches, head);
  out.reserve(out.size() + static_cast<std::size_t>((head - scratch.get()) + (end.tags - tags) + (end.values - values) +
                                                    (end.times - times)));
  out.insert(out.end(), scratch.get(), head);
  out.insert(out.end(), tags, end.tags);
  out.insert(out.end(), values, end.values);
  out.insert(out.end(), times, end.times);
}

// Names the lanes; leaves `in` before their counts.
bool EventDecoder::take_lane_names(ByteReader& in, std::uint64_t lanes) {
  batches_.clear();
  std::uint64_t key = 0;
  for (std::uint64_t i = 0; i < lanes; ++i) {
    key += unzigzag(in.varint());
    if (key >> 32 != 0) return false;
    batches_.push_back({{static_cast<LaneId::Kind>(key & 1), static_cast<std::int32_t>(key >> 1)}, {}});
  }
  return in.ok();
}

Result<std::span<const LaneBatch>> EventDecoder::decode(std::span<const std::byte> blob) {
  padded_.assign(blob.begin(), blob.end());
  padded_.resize(blob.size() + kPieceBytes);
  ByteReader in({padded_.data(), blob.size()});
  const std::uint64_t lanes = in.varint();
  const std::uint64_t value_bytes = in.varint();
  if (!in.ok() || lanes > in.remaining() / 2) return Error{"event blob: more lanes than it has bytes for"};
  if (!take_lane_names(in, lanes)) return Error{"event blob: damaged lane table"};
  ByteReader counts = in;
  std::uint64_t events = 0;
  for (std::uint64_t i = 0; i < lanes; ++i) {
    const std::uint64_t count = in.varint();
    if (count > blob.size() - events) return Error{"event blob: more events than it has bytes for"};
    events += count;
  }
  const std::byte* const tags = in.bytes(2 * events).data();
  const std::span<const std::byte> values = in.bytes(value_bytes);
  if (!in.ok()) return Error{"event blob: more events than it has bytes for"};
  const std::span<const std::byte> times = in.bytes(in.remaining());
  Readers from{tags, {values.data(), values.data() + values.size()}, {times.data(), times.data() + times.size()}};
  if (events_.size() < events) events_.resize(events);
  std::size_t begin = 0;
  Expectation expected;
  for (LaneBatch& batch : batches_) {
    const std::span<Event> room(events_.data() + begin, counts.varint());
    if (!take_lane(room, expected, from)) return Error{"event blob: an impossible event"};
    batch.events = room;
    begin += room.size();
  }
  if (!from.used_up()) return Error{"event blob: its columns do not fit its events"};
  return std::span<const LaneBatch>(batches_);
}

}  // namespace idlewave::wire
