#include "probe/words/quantity.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <span>

#include "probe/words/text.h"

namespace idlewave::words {
namespace {

using wire::Error;
using wire::Nanoseconds;
using wire::Result;

struct Unit {
  std::string_view name;
  std::uint64_t factor;
};

// In each list the unit that others are multiples of comes first, and they go up.
constexpr std::array kDurations{Unit{"ns", 1},
                                Unit{"us", 1'000},
                                Unit{"ms", 1'000'000},
                                Unit{"s", 1'000'000'000},
                                Unit{"min", 60'000'000'000},
                                Unit{"h", 3'600'000'000'000}};
constexpr std::array kSizes{Unit{"B", 1}, Unit{"kB", 1'000}, Unit{"MB", 1'000'000}, Unit{"GB", 1'000'000'000},
                            Unit{"TB", 1'000'000'000'000}};
constexpr std::array kBinarySizes{Unit{"KiB", 1ull << 10}, Unit{"MiB", 1ull << 20}, Unit{"GiB", 1ull << 30},
                                  Unit{"TiB", 1ull << 40}};
constexpr std::array kFrequencies{Unit{"Hz", 1}, Unit{"kHz", 1'000}, Unit{"MHz", 1'000'000},
                                  Unit{"GHz", 1'000'000'000}};
// Read, but neither written nor listed. The screen shows the first, with the sign of the unit or the Greek letter.
constexpr std::array kOtherDurations{Unit{"\u00b5s", 1'000}, Unit{"\u03bcs", 1'000}};
constexpr std::array kOtherSizes{Unit{"KB", 1'000}};
// Those in which a whole number of the first one is a finite decimal.
constexpr auto kDecimalDurations = std::span(kDurations).first<4>();

/// What one kind of quantity accepts. `suffix` follows every unit: "/s" makes a bandwidth of a size.
struct Kind {
  std::string_view name;
  std::string_view examples;
  std::span<const Unit> units;
  std::span<const Unit> more_units;
  std::span<const Unit> other_units;
  std::string_view suffix;
  std::uint64_t limit;
  bool zero_allowed;
};

constexpr std::uint64_t kMaxNanoseconds = std::numeric_limits<std::int64_t>::max();
constexpr Kind kDuration{"a duration", "250ms or 1.2 s", kDurations, {}, kOtherDurations, "", kMaxNanoseconds, true};
constexpr Kind kSize{"a size", "50 MB or 64 KiB", kSizes, kBinarySizes, kOtherSizes, "", kMaxBytes, true};
constexpr Kind kBandwidth{"a bandwidth", "10 GB/s", kSizes, kBinarySizes, kOtherSizes, "/s", 1'000'000'000'000'000'000,
                          false};
constexpr Kind kFrequency{"a frequency", "10Hz or 2.5 kHz", kFrequencies, {}, {}, "", 1'000'000'000'000, false};
constexpr Kind kTimePerByte{"a time per byte", "6ns/B", kDurations, {}, kOtherDurations, "/B", kMaxNanoseconds, true};

std::string unit_names(const Kind& kind) {
  std::string names;
  for (const auto units : {kind.units, kind.more_units}) {
    for (const Unit& unit : units) names += fmt::format("{}{}{}", names.empty() ? "" : ", ", unit.name, kind.suffix);
  }
  return names;
}

Error refuse(const Kind& kind, std::string_view text, std::string_view why) {
  return {fmt::format("\"{}\" {}; write {} such as {}", text, why, kind.name, kind.examples)};
}

const Unit* find_unit(const Kind& kind, std::string_view name) {
  if (!name.ends_with(kind.suffix)) return nullptr;
  name.remove_suffix(kind.suffix.size());
  for (const auto units : {kind.units, kind.more_units, kind.other_units}) {
    const auto found = std::ranges::find(units, name, &Unit::name);
    if (found != units.end()) return &*found;
  }
  return nullptr;
}

/// A quantity taken apart: `number` is what `digits` say.
struct Amount {
  double number = 0;
  std::string_view digits;
  std::uint64_t factor = 1;
};

Result<Amount> take_apart(const Kind& kind, std::string_view given) {
  const std::string_view text = trimmed(given);
  double number = 0;
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), number);
  const auto length = static_cast<std::size_t>(end - text.data());
  if (status == std::errc::invalid_argument) return refuse(kind, given, "is not a number with a unit");
  if (status == std::errc::result_out_of_range) return refuse(kind, given, "is out of range");
  if (!std::isfinite(number)) return refuse(kind, given, "is not a finite number");
  if (std::signbit(number)) return refuse(kind, given, "is negative");
  const std::string_view unit_name = trimmed(text.substr(length));
  if (unit_name.empty()) return refuse(kind, given, fmt::format("has no unit ({})", unit_names(kind)));
  const Unit* unit = find_unit(kind, unit_name);
  if (unit == nullptr) {
    return refuse(kind, given, fmt::format("has the unit \"{}\", which is none of {}", unit_name, unit_names(kind)));
  }
  if (number * static_cast<double>(unit->factor) > static_cast<double>(kind.limit))
    return refuse(kind, given, "is too large");
  if (number == 0 && !kind.zero_allowed) return refuse(kind, given, "is zero");
  return Amount{number, text.substr(0, length), unit->factor};
}

/// In the kind's base unit.
Result<double> parse(const Kind& kind, std::string_view text) {
  const auto amount = take_apart(kind, text);
  if (!amount) return amount.error();
  return amount->number * static_cast<double>(amount->factor);
}

/// To the nearest whole number of the kind's base unit. What stands before the point is multiplied as a whole number,
/// since a double does not tell two large ones apart.
Result<std::uint64_t> parse_to_whole(const Kind& kind, std::string_view text) {
  const auto amount = take_apart(kind, text);
  if (!amount) return amount.error();
  double rest = amount->number;
  std::uint64_t whole = 0;
  if (amount->digits.find_first_of("eE") == std::string_view::npos) {
    const char* const end = amount->digits.data() + amount->digits.size();
    const char* const point = std::from_chars(amount->digits.data(), end, whole).ptr;
    rest = 0;
    std::from_chars(point, end, rest);
  }
  // Both are small enough: take_apart has looked at their sum.
  const double more = std::round(rest * static_cast<double>(amount->factor));
  const std::uint64_t base = whole * amount->factor;
  if (base > kind.limit || more > static_cast<double>(kind.limit - base)) return refuse(kind, text, "is too large");
  return base + std::min(static_cast<std::uint64_t>(more), kind.limit - base);
}

double to_three_digits(double value) {
  if (value == 0) return 0;
  const double scale = std::pow(10.0, 2 - std::floor(std::log10(value)));
  return std::round(value * scale) / scale;
}

/// `value` is in the first unit of `units`.
std::string format(double value, std::span<const Unit> units, std::string_view suffix) {
  const auto in = [value](const Unit& unit) { return to_three_digits(value / static_cast<double>(unit.factor)); };
  auto unit = units.begin();
  while (unit + 1 != units.end() &&
         in(*unit) * static_cast<double>(unit->factor) >= static_cast<double>((unit + 1)->factor))
    ++unit;
  return fmt::format("{} {}{}", in(*unit), unit->name, suffix);
}

/// In the largest of `units`, which are powers of ten, that is not above `value`.
std::string exact(std::uint64_t value, std::span<const Unit> units) {
  auto unit = units.begin();
  while (unit + 1 != units.end() && value >= (unit + 1)->factor) ++unit;
  const std::uint64_t rest = value % unit->factor;
  std::string digits = std::to_string(value / unit->factor);
  if (rest > 0) {
    std::string decimals = std::to_string(unit->factor + rest);
    decimals.front() = '.';
    digits += decimals.substr(0, decimals.find_last_not_of('0') + 1);
  }
  return fmt::format("{}{}", digits, unit->name);
}

/// In the largest unit that gives `value` back when it is multiplied again.
std::string exact(double value, std::span<const Unit> units, std::string_view suffix) {
  const auto* unit = &units.back();
  const auto number = [&] { return value / static_cast<double>(unit->factor); };
  while (unit != &units.front() && (number() < 1 || number() * static_cast<double>(unit->factor) != value)) --unit;
  return fmt::format("{}{}{}", number(), unit->name, suffix);
}

}  // namespace

Result<Nanoseconds> parse_duration(std::string_view text) {
  const auto count = parse_to_whole(kDuration, text);
  if (!count) return count.error();
  return Nanoseconds{static_cast<std::int64_t>(*count)};
}

Result<std::uint64_t> parse_bytes(std::string_view text) { return parse_to_whole(kSize, text); }

Result<std::uint64_t> parse_bytes_within(std::string_view text, std::uint64_t least, std::uint64_t most) {
  auto bytes = parse_bytes(text);
  if (!bytes || (*bytes >= least && *bytes <= most)) return bytes;
  const auto in_words = [](std::uint64_t bound) {
    const std::string rounded = format_bytes(bound);
    return *parse_bytes(rounded) == bound ? rounded : exact_bytes(bound);
  };
  if (most == kMaxBytes) return Error{fmt::format("\"{}\" is not a size of at least {}", text, in_words(least))};
  return Error{fmt::format("\"{}\" is not a size from {} to {}", text, in_words(least), in_words(most))};
}

Result<double> parse_bandwidth(std::string_view text) { return parse(kBandwidth, text); }
Result<double> parse_frequency(std::string_view text) { return parse(kFrequency, text); }

Result<double> parse_time_per_byte(std::string_view text) {
  const auto nanoseconds = parse(kTimePerByte, text);
  if (!nanoseconds) return nanoseconds.error();
  return *nanoseconds * 1e-9;
}

std::string format_duration(Nanoseconds duration) {
  const auto count = static_cast<double>(duration.count());
  if (count == 0) return "0 s";
  return (count < 0 ? "-" : "") + format(std::abs(count), kDurations, "");
}

std::string format_bytes(std::uint64_t bytes) { return format(static_cast<double>(bytes), kSizes, ""); }
std::string format_bandwidth(double bytes_per_second) { return format(bytes_per_second, kSizes, "/s"); }

std::string exact_duration(Nanoseconds duration) {
  return exact(static_cast<std::uint64_t>(duration.count()), kDecimalDurations);
}

std::string exact_bytes(std::uint64_t bytes) { return exact(bytes, kSizes); }
std::string exact_bandwidth(double bytes_per_second) { return exact(bytes_per_second, kSizes, "/s"); }
std::string exact_frequency(double hertz) { return exact(hertz, kFrequencies, ""); }

}  // namespace idlewave::words
