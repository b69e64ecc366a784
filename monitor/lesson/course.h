#pragma once
// A lesson with the numbers of a certain run: what its pages ask for, order and measure, as values.

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "monitor/lesson/figures.h"
#include "probe/wire/frame.h"
#include "workloads/support/scenario.h"

namespace idlewave::lesson {

using wire::Nanoseconds;
using wire::Rank;

/// A number in the unit of the report, or a word.
using Value = std::variant<double, std::string>;
/// "5 ranks", "lockstep".
std::string in_words(const Value& value, std::optional<double> error, std::string_view unit);

struct Question {
  std::string question;
  std::vector<std::string> choices;  ///< Empty: a number is asked for.
  std::string unit;                  ///< Of the number.
  double tolerance = 0;              ///< So far from what was measured an answer is near.
  Value answer;                      ///< Theory's.
  std::string hint;
};

/// How theory says a number.
enum class Sense { kAbout, kAtLeast, kAtMost };

struct Check {
  FigurePath figure;
  Value theory;
  Sense sense = Sense::kAbout;
  double tolerance = 0;              ///< Of a number.
  std::optional<FigurePath> beside;  ///< Another figure;
  bool before = false;               ///< or the same, before anything was ordered.
};

/// "5 ranks", "at least 5 ranks".
std::string theory_in_words(const Check& check);
/// Whether `measured` is as theory says, within the tolerance.
bool holds(const Check& check, const Value& measured);

struct Page {
  std::string text;
  support::PageAfter after = support::PageAfter::kAny;
  bool needs_lockstep = false;
  std::vector<int> lockstep_sockets;  ///< In which alone that has to be; empty: in all.
  std::optional<Question> ask;
  std::optional<wire::Command> order;  ///< A delay of one rank, or noise of all.
  std::optional<support::LessonWatch> watch;
  std::vector<Check> checks;
  support::LessonVerdict say;
};

struct Course {
  std::string title, figure, source;
  std::string program;   ///< That is played; empty: iw-ring, or the simulator in its place.
  std::string advice{};  ///< What to do where an effect was not seen, in a sentence; empty: the pages say all.
  std::vector<Page> pages;
};

/// The ranks that saturate a socket (afzal-2020, section 2): the first whose bandwidth lies within 5 % of the largest; 0:
/// no bandwidth is given.
int saturation_of(const support::Machine& machine);

/// `scenario` has a lesson, and is as it is to be played; `as_written`: by no other numbers than the file's, so that a rank
/// that it does not have is an error. Error: the place in the file, what is wrong there, and what would be accepted.
wire::Result<Course> make_course(const support::Scenario& scenario, bool as_written);

}  // namespace idlewave::lesson
