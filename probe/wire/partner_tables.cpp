#include "probe/wire/partner_tables.h"

#include <algorithm>

#include "probe/wire/varint.h"

namespace idlewave::wire {
namespace {

constexpr std::uint64_t kRendezvous = 1, kCollective = 2, kUncertain = 4;

void append_distances(std::vector<std::byte>& out, std::span<const Rank> distances) {
  append_varint(out, distances.size());
  std::int64_t previous = 0;
  for (const Rank distance : distances) {
    append_varint(out, zigzag(static_cast<std::uint64_t>(distance - previous)));
    previous = distance;
  }
}

/// Counts what is read against kMaxPatternEntries, and against the bytes that are there.
class TableReader {
 public:
  explicit TableReader(std::span<const std::byte> bytes) : bytes_(bytes) {}

  std::uint64_t number() { return bytes_.varint(); }
  /// Of things of which each takes a byte at least.
  std::size_t count(std::size_t limit) {
    const std::uint64_t count = bytes_.varint();
    left_ -= std::min<std::uint64_t>(count, left_);
    sound_ = sound_ && count <= limit && count <= bytes_.remaining() && left_ > 0;
    return ok() ? static_cast<std::size_t>(count) : 0;
  }
  void refuse_unless(bool sound) { sound_ = sound_ && sound; }
  bool ok() const { return sound_ && bytes_.ok(); }
  bool is_over() const { return ok() && bytes_.remaining() == 0; }

 private:
  ByteReader bytes_;
  std::size_t left_ = 2 * kMaxPatternEntries;
  bool sound_ = true;
};

std::vector<Rank> take_distances(TableReader& in) {
  std::vector<Rank> distances(in.count(kMaxPatternEntries));
  std::int64_t value = 0;
  for (std::size_t i = 0; i < distances.size(); ++i) {
    const std::int64_t before = value;
    value = static_cast<std::int64_t>(static_cast<std::uint64_t>(value) + unzigzag(in.number()));
    in.refuse_unless(value > -kMaxRanks && value < kMaxRanks && value != 0 && (i == 0 || value > before));
    if (!in.ok()) return {};
    distances[i] = static_cast<Rank>(value);
  }
  return distances;
}

}  // namespace

std::vector<std::byte> pack_patterns(std::span<const WaitPattern> patterns) {
  std::vector<std::byte> out;
  append_varint(out, patterns.size());
  for (const WaitPattern& pattern : patterns) {
    append_varint(out, (pattern.rendezvous ? kRendezvous : 0) | (pattern.collective ? kCollective : 0) |
                           (pattern.uncertain ? kUncertain : 0));
    append_distances(out, pattern.from);
    append_distances(out, pattern.to);
  }
  return out;
}

std::vector<std::byte> pack_cycles(std::span<const WaitCycle> cycles) {
  std::vector<std::byte> out;
  append_varint(out, cycles.size());
  for (const WaitCycle& cycle : cycles) {
    append_varint(out, cycle.steps.size());
    for (const auto& step : cycle.steps) {
      append_varint(out, step.size());
      for (const std::uint32_t pattern : step) append_varint(out, pattern);
    }
  }
  return out;
}

std::vector<std::byte> pack_followed(std::span<const RankInfo> ranks) {
  std::vector<std::byte> out;
  std::int64_t previous = 0;
  for (const RankInfo& info : ranks) {
    append_varint(out, zigzag(static_cast<std::uint64_t>(info.cycle - previous)));
    previous = info.cycle;
  }
  return out;
}

bool unpack_patterns(std::span<const std::byte> bytes, std::vector<WaitPattern>& patterns) {
  TableReader in(bytes);
  patterns.resize(in.count(kMaxPatterns));
  for (WaitPattern& pattern : patterns) {
    const std::uint64_t flags = in.number();
    pattern.rendezvous = (flags & kRendezvous) != 0;
    pattern.collective = (flags & kCollective) != 0;
    pattern.uncertain = (flags & kUncertain) != 0;
    pattern.from = take_distances(in);
    pattern.to = take_distances(in);
    if (!in.ok()) return false;
  }
  return in.is_over();
}

bool unpack_cycles(std::span<const std::byte> bytes, std::size_t patterns, std::vector<WaitCycle>& cycles) {
  TableReader in(bytes);
  cycles.resize(in.count(kMaxPatterns));
  for (WaitCycle& cycle : cycles) {
    cycle.steps.resize(in.count(kMaxPatternEntries));
    in.refuse_unless(!cycle.steps.empty());
    for (auto& step : cycle.steps) {
      step.resize(in.count(kMaxPatternEntries));
      for (std::uint32_t& pattern : step) {
        const std::uint64_t number = in.number();
        in.refuse_unless(number < patterns);
        pattern = static_cast<std::uint32_t>(number);
      }
      if (!in.ok()) return false;
    }
    if (!in.ok()) return false;
  }
  return in.is_over();
}

bool unpack_followed(std::span<const std::byte> bytes, std::size_t cycles, std::vector<RankInfo>& ranks) {
  ByteReader in(bytes);
  std::uint64_t cycle = 0;
  for (RankInfo& info : ranks) {
    cycle += unzigzag(in.varint());
    if (!in.ok() || cycle > cycles) return false;
    info.cycle = static_cast<std::uint32_t>(cycle);
  }
  return in.remaining() == 0;
}

}  // namespace idlewave::wire
