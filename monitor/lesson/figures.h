#pragma once
// What lessons can measure: those keys of `report --json` that are a figure with a unit, or a word; and what a program has
// measured of itself, for which the lesson says unit and name.

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "probe/wire/result.h"

namespace idlewave::lesson {

/// How sure a figure is.
enum class ErrorKind {
  kNone,      ///< It is a count, or a word.
  kBeside,    ///< The report has its standard error beside it, under the same key and "_error".
  kOverTime,  ///< The standard error of its mean over parts of the window.
};

struct Figure {
  std::string_view path;   ///< "domains.N.active_mean"; N is any place.
  std::string_view unit;   ///< "ranks"; empty: a word.
  std::string_view label;  ///< "active ranks on socket {}", by the place.
  ErrorKind error = ErrorKind::kNone;
  std::string_view words{};  ///< Those that a word may be, with ", " between.
};
std::span<const Figure> figures();

/// A figure of a certain domain or wave, or of a program.
struct FigurePath {
  const Figure* figure = nullptr;
  std::string path;  ///< "domains.1.active_mean"
  int place = 0;     ///< What stands for N; -1 is the last.
  std::string name;  ///< Of a program's: "time of a step".

  bool of_domain() const;
  bool of_wave() const;
  std::string label() const;    ///< "active ranks on socket 1"
  std::string heading() const;  ///< "Active ranks on socket 1"
};
/// Error: that no finding is there, and which are.
wire::Result<FigurePath> parse_figure_path(std::string_view path);

/// What a program says of itself, a number in `unit`, or a word where that is empty. `unit` is one.
FigurePath figure_of_program(std::string_view path, std::string_view unit, std::string_view name);

/// Units of questions and figures, with ", " between.
std::string_view units();
bool is_unit(std::string_view unit);

/// "5 ranks", "400 ms", "1 rank/step", "25 ms/rank", "50 GB/s", "75 %", "1.5 times", "10 kB", as reports have
/// them: seconds, bytes, and shares of one. Error: what would be accepted.
wire::Result<double> parse_quantity(std::string_view text, std::string_view unit);
/// The same where the unit was said already: a number may stand without it, a time or a size may not.
wire::Result<double> parse_answer(std::string_view text, std::string_view unit);

/// "5.03 ± 0.02 ranks", "60 ms": as many digits as the error leaves, three without one.
std::string quantity_in_words(double value, std::optional<double> error, std::string_view unit);

}  // namespace idlewave::lesson
