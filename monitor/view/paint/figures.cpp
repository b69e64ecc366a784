#include "monitor/view/paint/figures.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace idlewave::view::paint {

namespace {

using wire::seconds;

struct Unit {
  double size;
  const char* name;
};

constexpr std::array<Unit, 4> kTimeUnits = {{{1, "s"}, {1e-3, "ms"}, {1e-6, "µs"}, {1e-9, "ns"}}};

/// The largest unit in which the value, rounded to three digits, is at least 1; the last one of the list if none is.
template <std::size_t N>
std::string in_units(double value, const std::array<Unit, N>& largest_first) {
  for (const Unit& unit : largest_first) {
    if (std::abs(value) >= 0.9995 * unit.size) return to_figure(value / unit.size) + " " + unit.name;
  }
  return to_figure(value / largest_first.back().size) + " " + largest_first.back().name;
}

std::string without_trailing_zeros(std::string figure) {
  if (figure.find('.') == std::string::npos) return figure;
  figure.erase(figure.find_last_not_of('0') + 1);
  if (figure.back() == '.') figure.pop_back();
  return figure;
}

std::string long_duration(double s) {
  const auto whole = static_cast<long long>(std::llround(s));
  if (whole >= 36000) return fmt::format("{} h", whole / 3600);
  if (whole >= 3600) return fmt::format("{} h {} min", whole / 3600, whole % 3600 / 60);
  return fmt::format("{} min {} s", whole / 60, whole % 60);
}

}  // namespace

std::string to_figure(double value) {
  const double size = std::abs(value);
  if (!std::isfinite(value)) return "?";
  if (size < 0.0005) return "0";
  if (size >= 99.95) return fmt::format("{:.0f}", value);
  return fmt::format("{:.{}f}", value, size >= 9.995 ? 1 : 2);
}

std::string to_duration(Nanoseconds span) {
  if (span == Nanoseconds::zero()) return "0 s";
  const double s = seconds(span);
  return std::abs(s) >= 119.5 ? long_duration(s) : in_units(s, kTimeUnits);
}

std::string to_moment(Nanoseconds at, Nanoseconds resolution) {
  int digits = 1;
  for (std::int64_t step = 100'000'000; digits < 9 && step > resolution.count(); step /= 10) ++digits;
  return fmt::format("{:.{}f} s", seconds(at), digits);
}

std::string to_bytes(std::uint64_t bytes) {
  static constexpr std::array<Unit, 5> kUnits = {{{1e12, "TB"}, {1e9, "GB"}, {1e6, "MB"}, {1e3, "kB"}, {1, "B"}}};
  return bytes < 1000 ? fmt::format("{} B", bytes) : in_units(static_cast<double>(bytes), kUnits);
}

std::string to_count(double count) {
  static constexpr std::array<Unit, 3> kUnits = {{{1e9, "G"}, {1e6, "M"}, {1e3, "k"}}};
  return count < 999.5 ? fmt::format("{:.0f}", count) : in_units(count, kUnits);
}

std::string to_limit(double value) { return without_trailing_zeros(to_figure(value)); }

std::string to_active(double processes) {
  return processes < 999.95 ? fmt::format("{:.1f}", processes) : fmt::format("{:.0f}", processes);
}

std::string to_duration_like(Nanoseconds span, Nanoseconds like) {
  const double s = std::abs(seconds(like));
  const auto unit =
      std::find_if(kTimeUnits.begin(), kTimeUnits.end(), [s](const Unit& u) { return s >= 0.9995 * u.size; });
  const double size = unit == kTimeUnits.end() ? kTimeUnits.back().size : unit->size;
  return to_figure(seconds(span) / size);
}

std::string ranks_in_words(std::span<const wire::Rank> ranks) {
  std::string out;
  for (std::size_t i = 0; i < ranks.size();) {
    std::size_t end = i + 1;
    while (end < ranks.size() && ranks[end] == ranks[end - 1] + 1) ++end;
    if (!out.empty()) out += ',';
    out += end - i == 1 ? fmt::format("{}", ranks[i]) : fmt::format("{}-{}", ranks[i], ranks[end - 1]);
    i = end;
    if (out.size() > 64) return out + "…";
  }
  return out;
}

std::string to_percent(double share) { return fmt::format("{:.0f} %", 100 * std::clamp(share, 0.0, 1.0)); }

std::int64_t round_distance(std::int64_t least) {
  for (std::int64_t power = 1; power < 1'000'000'000'000'000'000; power *= 10) {
    for (const std::int64_t digit : {1, 2, 5}) {
      if (digit * power >= least) return digit * power;
    }
  }
  return least;
}

}  // namespace idlewave::view::paint
