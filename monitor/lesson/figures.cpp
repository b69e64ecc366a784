#include "monitor/lesson/figures.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include "probe/words/number.h"
#include "probe/words/quantity.h"
#include "probe/words/text.h"

namespace idlewave::lesson {
namespace {

constexpr std::string_view kWaveEnds = "annihilated, boundary, decayed, absorbed, flattened, program_ended, none";
constexpr std::string_view kStates = "lockstep, skewed by noise, computational wave, straggler";

constexpr std::array kFigures = {
    Figure{"domains.N.active_mean", "ranks", "active ranks on socket {}", ErrorKind::kOverTime},
    Figure{"domains.N.bandwidth_gbs", "GB/s", "bandwidth of socket {}", ErrorKind::kOverTime},
    Figure{"domains.N.state", "", "state of socket {}", ErrorKind::kNone, kStates},
    Figure{"waves.N.delay_s", "s", "length of the delay{}"},
    Figure{"waves.N.up.reach_ranks", "ranks", "reach of the front upwards{}"},
    Figure{"waves.N.down.reach_ranks", "ranks", "reach of the front downwards{}"},
    Figure{"waves.N.up.end", "", "end of the front upwards{}", ErrorKind::kNone, kWaveEnds},
    Figure{"waves.N.down.end", "", "end of the front downwards{}", ErrorKind::kNone, kWaveEnds},
    Figure{"waves.N.up.leading.ranks_per_step", "ranks/step", "speed of the front upwards{}", ErrorKind::kBeside},
    Figure{"waves.N.down.leading.ranks_per_step", "ranks/step", "speed of the front downwards{}", ErrorKind::kBeside},
    Figure{"waves.N.up.trailing.ranks_per_step", "ranks/step", "speed of the back upwards{}", ErrorKind::kBeside},
    Figure{"waves.N.down.trailing.ranks_per_step", "ranks/step", "speed of the back downwards{}", ErrorKind::kBeside},
    Figure{"waves.N.up.ranks_per_step", "ranks/step", "speed of the front upwards{}"},
    Figure{"waves.N.down.ranks_per_step", "ranks/step", "speed of the front downwards{}"},
    Figure{"waves.N.up.speed_ranks_per_s", "ranks/s", "speed of the front upwards{}"},
    Figure{"waves.N.down.speed_ranks_per_s", "ranks/s", "speed of the front downwards{}"},
    Figure{"waves.N.up.decay_s_per_rank", "s/rank", "decay of the front upwards{}", ErrorKind::kBeside},
    Figure{"waves.N.down.decay_s_per_rank", "s/rank", "decay of the front downwards{}", ErrorKind::kBeside},
    Figure{"wavefront.amplitude_s", "s", "spread of a step over all ranks", ErrorKind::kOverTime},
    Figure{"wavefront.slopes_ranks_per_s.N", "ranks/s", "slope of the wavefront on socket {}", ErrorKind::kOverTime},
    Figure{"efficiency.parallel", "%", "share of time spent at work", ErrorKind::kOverTime},
    Figure{"threads.working", "threads", "threads at work", ErrorKind::kOverTime},
    Figure{"threads.calling", "threads", "threads that communicate", ErrorKind::kOverTime},
    Figure{"threads.asleep", "threads", "threads asleep", ErrorKind::kOverTime},
    Figure{"matrix.messages", "messages", "messages from rank to rank"},
    Figure{"matrix.across_domains.messages", "messages", "messages to another socket"},
    Figure{"matrix.across_nodes.messages", "messages", "messages to another node"},
};

constexpr std::array<std::string_view, 12> kUnits = {"ranks", "ranks/step", "ranks/s", "s",     "s/rank",   "GB/s",
                                                     "%",     "threads",    "times",   "links", "messages", "B"};

/// A program's figures by their units; the last one is a word.
constexpr auto kOfPrograms = [] {
  std::array<Figure, kUnits.size() + 1> figures{};
  for (std::size_t i = 0; i < kUnits.size(); ++i) figures[i].unit = kUnits[i];
  return figures;
}();

constexpr double kShare = 0.01;

/// The place for which N stands, where all else is the same.
std::optional<int> place_in(std::string_view path, std::string_view pattern) {
  const std::size_t hole = pattern.ends_with(".N") ? pattern.size() - 2 : pattern.find(".N.");
  if (hole == std::string_view::npos) return path == pattern ? std::optional(0) : std::nullopt;
  const std::string_view before = pattern.substr(0, hole + 1), behind = pattern.substr(hole + 2);
  if (!path.starts_with(before) || !path.ends_with(behind) || path.size() <= before.size() + behind.size())
    return std::nullopt;
  const std::string_view place = path.substr(before.size(), path.size() - before.size() - behind.size());
  int number = 0;
  const auto [end, error] = std::from_chars(place.data(), place.data() + place.size(), number);
  const bool whole = error == std::errc() && end == place.data() + place.size();
  return whole ? std::optional(number) : std::nullopt;
}

/// "rank" of "ranks", "rank/step" of "ranks/step"; others, of which one is called as many are, as they are.
std::string of_one(std::string_view unit) {
  for (const std::string_view many : {"ranks", "threads", "links", "messages"})
    if (unit.starts_with(many)) return std::string(many.substr(0, many.size() - 1)).append(unit.substr(many.size()));
  return std::string(unit);
}

bool names(std::string_view word, std::string_view unit) { return word == unit || word == of_one(unit); }

std::string_view example_of(std::string_view unit) {
  if (unit == "s") return "400 ms";
  if (unit == "s/rank") return "25 ms/rank";
  if (unit == "%") return "75 %";
  if (unit == "GB/s") return "50 GB/s";
  if (unit == "ranks/step") return "2 ranks/step";
  if (unit == "threads") return "7 threads";
  if (unit == "times") return "1.5 times";
  if (unit == "links") return "8 links";
  if (unit == "messages") return "100 messages";
  if (unit == "B") return "10 kB";
  return unit == "ranks/s" ? "40 ranks/s" : "12 ranks";
}

std::optional<double> duration_in(std::string_view text) {
  const auto time = words::parse_duration(text);
  return time ? std::optional(std::chrono::duration<double>(*time).count()) : std::nullopt;
}

std::optional<double> bytes_in(std::string_view text) {
  const auto bytes = words::parse_bytes(text);
  return bytes ? std::optional(double(*bytes)) : std::nullopt;
}

std::optional<double> quantity_in(std::string_view text, std::string_view unit, bool bare) {
  constexpr std::string_view kPerRank = "/rank";
  if (unit == "s") return duration_in(text);
  if (unit == "B") return bytes_in(text);
  if (unit == "s/rank")
    return text.ends_with(kPerRank) ? duration_in(text.substr(0, text.size() - kPerRank.size())) : std::nullopt;
  const auto number = words::take_number(text);
  if (!number || !(names(text, unit) || (bare && text.empty()))) return std::nullopt;
  return unit == "%" ? *number * kShare : *number;
}

wire::Result<double> quantity_or_refusal(std::string_view text, std::string_view unit, bool bare) {
  const auto value = quantity_in(words::trimmed(text), unit, bare);
  if (value) return *value;
  return wire::Error{
      fmt::format("\"{}\" is no number in {}; write it as in {}", words::trimmed(text), unit, example_of(unit))};
}

std::pair<std::string_view, double> scale_of_bytes(double bytes) {
  const double size = std::abs(bytes);
  if (size >= 1e9) return {"GB", 1e-9};
  if (size >= 1e6) return {"MB", 1e-6};
  return size >= 1e3 ? std::pair{std::string_view("kB"), 1e-3} : std::pair{std::string_view("B"), 1.0};
}

/// In which unit a figure is shown, and how many of it are one of the report's.
std::pair<std::string_view, double> scale_of(double value, std::string_view unit) {
  if (unit == "%") return {"%", 1 / kShare};
  if (unit == "B") return scale_of_bytes(value);
  if (!unit.starts_with("s")) return {unit, 1};
  const bool per_rank = unit == "s/rank";
  const double size = std::abs(value);
  if (size >= 1 || size == 0) return {unit, 1};
  if (size >= 1e-3) return {per_rank ? "ms/rank" : "ms", 1e3};
  return {per_rank ? "us/rank" : "us", 1e6};
}

constexpr int kDigits = 3;
constexpr int kMostDecimals = 6;
constexpr double kNegligible = 1e-9;  // of the last digit: what rounding leaves of nothing

/// The place of the first digit: 0 of 5, 1 of 50, -1 of 0.5.
int magnitude_of(double value) { return value == 0 ? 0 : int(std::floor(std::log10(std::abs(value)))); }

std::string without_idle_zeros(std::string figure) {
  if (figure.find('.') == std::string::npos) return figure;
  figure.erase(figure.find_last_not_of('0') + 1);
  if (figure.ends_with('.')) figure.pop_back();
  return figure;
}

}  // namespace

std::span<const Figure> figures() { return kFigures; }

bool FigurePath::of_domain() const {
  return path.starts_with("domains.") || path.starts_with("wavefront.slopes_ranks_per_s.");
}

bool FigurePath::of_wave() const { return path.starts_with("waves."); }

FigurePath figure_of_program(std::string_view path, std::string_view unit, std::string_view name) {
  const auto figure = std::ranges::find(kOfPrograms, unit, &Figure::unit);
  return {&*figure, std::string(path), 0, std::string(name)};
}

std::string FigurePath::label() const {
  if (!name.empty()) return name;
  if (of_domain()) return fmt::format(fmt::runtime(figure->label), place);
  const std::string which = place == -1 ? "" : place == -2 ? " of the wave before" : fmt::format(" of wave {}", place);
  return fmt::format(fmt::runtime(figure->label), which);
}

std::string FigurePath::heading() const {
  std::string heading = label();
  heading.front() = char(std::toupper(static_cast<unsigned char>(heading.front())));
  return heading;
}

wire::Result<FigurePath> parse_figure_path(std::string_view path) {
  for (const Figure& figure : kFigures) {
    if (const auto place = place_in(path, figure.path)) return FigurePath{&figure, std::string(path), *place, ""};
  }
  std::string known;
  for (const Figure& figure : kFigures) known += fmt::format("{}{}", known.empty() ? "" : ", ", figure.path);
  return wire::Error{
      fmt::format("no finding is at \"{}\"; accepted, with a place for N (-1 is the last): {}", path, known)};
}

std::string_view units() {
  static const std::string kAll = fmt::format("{}", fmt::join(kUnits, ", "));
  return kAll;
}

bool is_unit(std::string_view unit) { return std::find(kUnits.begin(), kUnits.end(), unit) != kUnits.end(); }

wire::Result<double> parse_quantity(std::string_view text, std::string_view unit) {
  return quantity_or_refusal(text, unit, false);
}

wire::Result<double> parse_answer(std::string_view text, std::string_view unit) {
  return quantity_or_refusal(text, unit, true);
}

std::string quantity_in_words(double value, std::optional<double> error, std::string_view unit) {
  const auto [shown, scale] = scale_of(value, unit);
  const double scaled = value * scale, scaled_error = error.value_or(0) * scale;
  const int significant = kDigits - 1 - magnitude_of(scaled);
  const int known = scaled_error > 0 ? -magnitude_of(scaled_error) : significant;
  const int decimals = std::clamp(std::min(known, significant), 0, kMostDecimals);
  const std::string figure = fmt::format("{:.{}f}", scaled == 0 ? 0 : scaled, decimals);
  const double digit = std::pow(10.0, -decimals);
  if (!(scaled_error > kNegligible * digit)) {
    const std::string plain = without_idle_zeros(figure);
    return fmt::format("{} {}", plain, plain == "1" ? of_one(shown) : shown);
  }
  // An error is rounded up: what is not zero is not shown as zero.
  return fmt::format("{} ± {:.{}f} {}", figure, std::ceil(scaled_error / digit - kNegligible) * digit, decimals, shown);
}

}  // namespace idlewave::lesson
