#pragma once
// Quantities as people write them: a number, perhaps a space, a unit. `250ms`, `1.2 s`, `50 MB`, `10 GB/s`, `10Hz`,
// `6ns/B`. Decimal prefixes (kB = KB = 1000 B) and binary ones (KiB = 1024 B). A number without its unit, a negative
// one, nan, infinity and one that is too large are errors that say what would be accepted. No function here depends on
// the locale. Any thread.

#include <cstdint>
#include <string>
#include <string_view>

#include "probe/wire/result.h"
#include "probe/wire/vocabulary.h"

namespace idlewave::words {

/// Largest amount of bytes that is accepted: what an event can carry (2^48 - 1 B, about 281 TB).
inline constexpr std::uint64_t kMaxBytes = wire::kMaxEventValue;

/// ns, us (or µs), ms, s, min, h; to the nearest nanosecond.
wire::Result<wire::Nanoseconds> parse_duration(std::string_view text);
/// B, kB, MB, GB, TB, KiB, MiB, GiB, TiB; to the nearest byte.
wire::Result<std::uint64_t> parse_bytes(std::string_view text);
/// Error: also what lies outside of these.
wire::Result<std::uint64_t> parse_bytes_within(std::string_view text, std::uint64_t least,
                                               std::uint64_t most = kMaxBytes);
wire::Result<double> parse_bandwidth(std::string_view text);      ///< A size per second, in bytes/s; above zero.
wire::Result<double> parse_frequency(std::string_view text);      ///< Hz, kHz, MHz, GHz; in Hz, above zero.
wire::Result<double> parse_time_per_byte(std::string_view text);  ///< A duration per byte (`6ns/B`), in s/B.

// To look at: at most three significant digits and the unit that needs the fewest.

std::string format_duration(wire::Nanoseconds duration);  ///< `1.2 s`, `250 ms`, `0 s`, `-3 us`.
std::string format_bytes(std::uint64_t bytes);            ///< Decimal prefixes: `50 MB`.
std::string format_bandwidth(double bytes_per_second);    ///< `10 GB/s`.

// To type again: parsed, it is the same value to the last bit. Of what the parser accepts.

std::string exact_duration(wire::Nanoseconds duration);  ///< `1.2s`, `250ms`, `90.000000001s`.
std::string exact_bytes(std::uint64_t bytes);            ///< `65.535kB`.
std::string exact_bandwidth(double bytes_per_second);    ///< `10GB/s`.
std::string exact_frequency(double hertz);               ///< `2.5kHz`.

}  // namespace idlewave::words
