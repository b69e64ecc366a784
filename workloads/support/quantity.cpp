#include "workloads/support/quantity.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <span>

namespace idlewave::support {
namespace {

using wire::Error;
using wire::Result;

struct Unit {
  std::string_view name;
  double factor;
};

constexpr std::array kDurations{Unit{"ns", 1},  Unit{"us", 1e3},   Unit{"ms", 1e6},
                                Unit{"s", 1e9}, Unit{"min", 60e9}, Unit{"h", 3600e9}};
constexpr std::array kSizes{Unit{"B", 1}, Unit{"kB", 1e3}, Unit{"MB", 1e6}, Unit{"GB", 1e9}, Unit{"TB", 1e12}};
constexpr std::array kBinarySizes{Unit{"KiB", 0x1p10}, Unit{"MiB", 0x1p20}, Unit{"GiB", 0x1p30}, Unit{"TiB", 0x1p40}};
constexpr std::array kFrequencies{Unit{"Hz", 1}, Unit{"kHz", 1e3}, Unit{"MHz", 1e6}, Unit{"GHz", 1e9}};

/// What one kind of quantity accepts. `suffix` follows every unit: "/s" makes a bandwidth of a size.
struct Kind {
  std::string_view name;
  std::string_view examples;
  std::span<const Unit> units;
  std::span<const Unit> more_units;
  std::string_view suffix;
  double limit;
  bool zero_allowed;
};

constexpr double kMaxNanoseconds = 9.2e18;
constexpr Kind kDuration{"a duration", "250ms or 1.2 s", kDurations, {}, "", kMaxNanoseconds, true};
constexpr Kind kSize{"a size", "50 MB or 64 KiB", kSizes, kBinarySizes, "", static_cast<double>(kMaxBytes), true};
constexpr Kind kBandwidth{"a bandwidth", "10 GB/s", kSizes, kBinarySizes, "/s", 1e18, false};
constexpr Kind kFrequency{"a frequency", "10Hz or 2.5 kHz", kFrequencies, {}, "", 1e12, false};
constexpr Kind kTimePerByte{"a time per byte", "6ns/B", kDurations, {}, "/B", kMaxNanoseconds, true};

std::string_view without_spaces(std::string_view text) {
  constexpr std::string_view kSpaces = " \t";
  const auto first = text.find_first_not_of(kSpaces);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kSpaces) - first + 1);
}

std::string unit_names(const Kind& kind) {
  std::string names;
  for (const auto units : {kind.units, kind.more_units}) {
    for (const Unit& unit : units) names += fmt::format("{}{}{}", names.empty() ? "" : ", ", unit.name, kind.suffix);
  }
  return names;
}

Error refuse(const Kind& kind, std::string_view text, std::string_view why) {
  return {
      fmt::format("\"{}\" {}; write {} such as {} (units: {})", text, why, kind.name, kind.examples, unit_names(kind))};
}

const Unit* find_unit(const Kind& kind, std::string_view name) {
  if (!name.ends_with(kind.suffix)) return nullptr;
  name.remove_suffix(kind.suffix.size());
  for (const auto units : {kind.units, kind.more_units}) {
    const auto found = std::ranges::find(units, name, &Unit::name);
    if (found != units.end()) return &*found;
  }
  return nullptr;
}

/// The value in the kind's base unit.
Result<double> parse(const Kind& kind, std::string_view given) {
  const std::string_view text = without_spaces(given);
  double number = 0;
  const auto [end, status] = std::from_chars(text.begin(), text.end(), number);
  if (status == std::errc::invalid_argument) return refuse(kind, given, "is not a number with a unit");
  if (status == std::errc::result_out_of_range) return refuse(kind, given, "is out of range");
  if (!std::isfinite(number)) return refuse(kind, given, "is not a finite number");
  if (std::signbit(number)) return refuse(kind, given, "is negative");
  const std::string_view unit_name = without_spaces({end, text.end()});
  if (unit_name.empty()) return refuse(kind, given, "has no unit");
  const Unit* unit = find_unit(kind, unit_name);
  if (unit == nullptr)
    return refuse(kind, given, fmt::format("has the unit \"{}\", which is not known here", unit_name));
  const double value = number * unit->factor;
  if (value > kind.limit) return refuse(kind, given, "is too large");
  if (value == 0 && !kind.zero_allowed) return refuse(kind, given, "is zero");
  return value;
}

template <class Integer>
Result<Integer> parse_whole(const Kind& kind, std::string_view text) {
  const auto value = parse(kind, text);
  if (!value) return value.error();
  return static_cast<Integer>(std::llround(*value));
}

double to_three_digits(double value) {
  if (value == 0) return 0;
  const double scale = std::pow(10.0, 2 - std::floor(std::log10(value)));
  return std::round(value * scale) / scale;
}

/// `value` is in the first unit of `units`, which go up.
std::string format(double value, std::span<const Unit> units, std::string_view suffix) {
  auto unit = units.begin();
  while (unit + 1 != units.end() && to_three_digits(value / unit->factor) * unit->factor >= (unit + 1)->factor) ++unit;
  return fmt::format("{} {}{}", to_three_digits(value / unit->factor), unit->name, suffix);
}

}  // namespace

Result<wire::Nanoseconds> parse_duration(std::string_view text) {
  const auto count = parse_whole<std::int64_t>(kDuration, text);
  if (!count) return count.error();
  return wire::Nanoseconds{*count};
}

Result<std::uint64_t> parse_bytes(std::string_view text) { return parse_whole<std::uint64_t>(kSize, text); }
Result<double> parse_bandwidth(std::string_view text) { return parse(kBandwidth, text); }
Result<double> parse_frequency(std::string_view text) { return parse(kFrequency, text); }

Result<double> parse_time_per_byte(std::string_view text) {
  const auto nanoseconds = parse(kTimePerByte, text);
  if (!nanoseconds) return nanoseconds.error();
  return *nanoseconds * 1e-9;
}

std::string format_duration(wire::Nanoseconds duration) {
  const auto count = static_cast<double>(duration.count());
  if (count == 0) return "0 s";
  return (count < 0 ? "-" : "") + format(std::abs(count), kDurations, "");
}

std::string format_bytes(std::uint64_t bytes) { return format(static_cast<double>(bytes), kSizes, ""); }
std::string format_bandwidth(double bytes_per_second) { return format(bytes_per_second, kSizes, "/s"); }
std::string format_frequency(double hertz) { return format(hertz, kFrequencies, ""); }

}  // namespace idlewave::support
