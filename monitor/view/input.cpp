#include "monitor/view/input.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <optional>

namespace idlewave::view {

namespace {

constexpr Nanoseconds kLongest = std::chrono::hours(1);
constexpr double kHighestFrequency = 1e6;

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

/// Removes `prefix` and the spaces around it from the front of `text`.
bool take(std::string_view& text, std::string_view prefix) {
  text = trimmed(text);
  if (text.substr(0, prefix.size()) != prefix) return false;
  text = trimmed(text.substr(prefix.size()));
  return true;
}

template <class Number>
std::optional<Number> take_number(std::string_view& text) {
  Number number{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{}) return std::nullopt;
  text = trimmed(text.substr(static_cast<std::size_t>(end - text.data())));
  return number;
}

template <class Number>
std::optional<Number> whole_number(std::string_view text) {
  text = trimmed(text);
  const auto number = take_number<Number>(text);
  return text.empty() ? number : std::nullopt;
}

std::optional<double> seconds_of_unit(std::string_view unit) {
  struct Unit {
    std::string_view name;
    double seconds;
  };
  static constexpr std::array<Unit, 6> kUnits = {
      {{"ns", 1e-9}, {"us", 1e-6}, {"ms", 1e-3}, {"s", 1}, {"min", 60}, {"h", 3600}}};
  const auto found = std::find_if(kUnits.begin(), kUnits.end(), [unit](const Unit& u) { return u.name == unit; });
  return found == kUnits.end() ? std::nullopt : std::optional(found->seconds);
}

/// A time with its unit, of whatever sign and size.
std::optional<double> seconds_of(std::string_view text) {
  text = trimmed(text);
  const auto number = take_number<double>(text);
  const auto unit = seconds_of_unit(text);
  if (!number || !unit || !std::isfinite(*number)) return std::nullopt;
  return *number * *unit;
}

Nanoseconds nanoseconds(double seconds) { return Nanoseconds(std::llround(seconds * 1e9)); }

/// A number that no session has as a rank stays one.
Rank to_rank(std::int64_t number) { return static_cast<Rank>(std::clamp<std::int64_t>(number, -1, wire::kMaxRanks)); }

std::optional<RankRange> range_of(std::string_view text) {
  text = trimmed(text);
  const auto first = take_number<std::int64_t>(text);
  if (!first) return std::nullopt;
  if (text.empty()) return RankRange{to_rank(*first), to_rank(*first) + 1};
  if (!take(text, "-")) return std::nullopt;
  const auto last = whole_number<std::int64_t>(text);
  return last ? std::optional(RankRange{to_rank(*first), to_rank(*last) + 1}) : std::nullopt;
}

std::vector<RankRange> joined(std::vector<RankRange> ranges) {
  std::sort(ranges.begin(), ranges.end(), [](const RankRange& a, const RankRange& b) { return a.first < b.first; });
  std::vector<RankRange> out;
  for (const RankRange& range : ranges) {
    if (!out.empty() && range.first <= out.back().last) {
      out.back().last = std::max(out.back().last, range.last);
    } else {
      out.push_back(range);
    }
  }
  return out;
}

}  // namespace

wire::Result<Nanoseconds> parse_duration(std::string_view text) {
  const auto seconds = seconds_of(text);
  if (!seconds) return wire::Error{"a duration has a unit: 250ms, 1.2 s, 500 us"};
  const bool in_range = *seconds >= 1e-9 && *seconds <= std::chrono::duration<double>(kLongest).count();
  if (!in_range) return wire::Error{"a duration is more than 0 and at most 1 h"};
  return nanoseconds(*seconds);
}

wire::Result<std::vector<RankRange>> parse_ranks(std::string_view text, Rank ranks) {
  std::vector<RankRange> ranges;
  for (text = trimmed(text); !text.empty();) {
    const auto comma = std::min(text.find(','), text.size());
    const auto range = range_of(text.substr(0, comma));
    if (!range) return wire::Error{"ranks look like 0-9,20; empty shows all"};
    if (range->first < 0 || range->last <= range->first || range->last > ranks) {
      return wire::Error{fmt::format("there are ranks 0 to {}, written from low to high: 0-9,20", ranks - 1)};
    }
    ranges.push_back(*range);
    text = trimmed(text.substr(std::min(comma + 1, text.size())));
  }
  return joined(std::move(ranges));
}

wire::Result<wire::NoiseOrder> parse_noise(std::string_view text) {
  const wire::Error expected{"noise looks like exp:0.5ms or periodic:2.5ms@10Hz"};
  if (take(text, "exp:")) {
    const auto mean = parse_duration(text);
    if (!mean) return expected;
    return wire::NoiseOrder{.kind = wire::NoiseKind::kExponential, .amount = *mean};
  }
  const auto at = text.find('@');
  if (!take(text, "periodic:") || at == std::string_view::npos) return expected;
  const auto duration = parse_duration(text.substr(0, text.find('@')));
  auto rate = trimmed(text.substr(text.find('@') + 1));
  const auto frequency = take_number<double>(rate);
  if (!duration || !frequency || rate != "Hz") return expected;
  const bool fits = *frequency > 0 && *frequency <= kHighestFrequency &&
                    std::chrono::duration<double>(*duration).count() * *frequency < 1;
  if (!fits) return wire::Error{"periodic noise has to end before it comes again: periodic:2.5ms@10Hz"};
  return wire::NoiseOrder{.kind = wire::NoiseKind::kPeriodic, .amount = *duration, .frequency = *frequency};
}

wire::Result<Place> parse_place(std::string_view text, Rank ranks) {
  if (take(text, "rank")) {
    const auto rank = whole_number<Rank>(text);
    if (!rank || *rank < 0 || *rank >= ranks) return wire::Error{fmt::format("there are ranks 0 to {}", ranks - 1)};
    return Place(std::in_place_type<Rank>, *rank);
  }
  if (take(text, "step")) {
    const auto step = whole_number<wire::Step>(text);
    if (!step || *step < 0) return wire::Error{"a step is a whole number from 0: step 400"};
    return Place(std::in_place_type<wire::Step>, *step);
  }
  const auto seconds = seconds_of(text);
  if (!seconds || *seconds < 0 || *seconds > 1e9)
    return wire::Error{"go to a time, rank or step: 3.2s, rank 12, step 400"};
  return Place(nanoseconds(*seconds));
}

}  // namespace idlewave::view
