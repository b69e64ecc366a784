#include "probe/wire/round_trips.h"

#include <cstdint>
#include <limits>

#include "probe/wire/varint.h"

namespace idlewave::wire {
namespace {

std::uint64_t bits(Nanoseconds time) { return static_cast<std::uint64_t>(time.count()); }
Nanoseconds time_of(std::uint64_t bits) { return Nanoseconds(static_cast<std::int64_t>(bits)); }

/// False where `length` after `from` is no later moment of that clock.
bool add(Nanoseconds from, std::uint64_t length, Nanoseconds& to) {
  to = time_of(bits(from) + length);
  return length <= static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()) && to >= from;
}

}  // namespace

std::vector<std::byte> pack_round_trips(std::span<const RoundTrip> trips) {
  std::vector<std::byte> out;
  RoundTrip before;
  for (const RoundTrip& trip : trips) {
    append_varint(out, trip.reference);
    append_varint(out, zigzag(bits(trip.asked) - bits(before.asked)));
    append_varint(out, zigzag(bits(trip.heard) - bits(before.heard)));
    append_varint(out, bits(trip.told) - bits(trip.heard));
    append_varint(out, bits(trip.back) - bits(trip.asked));
    before = trip;
  }
  return out;
}

bool unpack_round_trips(std::span<const std::byte> bytes, std::vector<RoundTrip>& trips) {
  ByteReader in(bytes);
  RoundTrip trip;
  while (in.remaining() != 0) {
    if (trips.size() == kMaxRoundTrips) return false;
    const std::uint64_t reference = in.varint();
    trip.asked = time_of(bits(trip.asked) + unzigzag(in.varint()));
    trip.heard = time_of(bits(trip.heard) + unzigzag(in.varint()));
    const bool fits = add(trip.heard, in.varint(), trip.told) & add(trip.asked, in.varint(), trip.back);
    if (!in.ok() || !fits || reference > std::numeric_limits<std::uint32_t>::max()) return false;
    trip.reference = static_cast<std::uint32_t>(reference);
    trips.push_back(trip);
  }
  return true;
}

}  // namespace idlewave::wire
