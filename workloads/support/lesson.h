#pragma once
// The `[lesson]` of a scenario: pages that ask, have something done, watch, measure and answer. Here as it is written; what
// depends on the run (numbers of ranks, figures that findings have) is read by monitor/lesson.

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "probe/wire/vocabulary.h"

namespace idlewave::support {

/// Where a key stands, to complain of it later: `file.toml:12: lesson.page.ask.unit`.
struct WrittenText {
  std::string text;
  std::string place;
};

/// `[lesson.page.ask]`: a number with a unit, or one of several choices.
struct LessonQuestion {
  std::string question;
  std::vector<std::string> choices;      ///< Two to nine; empty: a number is asked for.
  std::optional<WrittenText> unit;       ///< Of a number: "ranks".
  std::optional<WrittenText> tolerance;  ///< Of a number, with its unit: so far from what was measured is near.
  WrittenText answer;                    ///< Theory's: a number with its unit, or one of the choices.
  std::string hint;                      ///< Said once, to an answer that is not near theory's.
};

/// `[lesson.page.do]`: what the operator is to order. One of both.
struct LessonOrder {
  std::optional<wire::Rank> rank;    ///< To be held, with `hold`.
  std::optional<WrittenText> hold;   ///< "2 s"
  std::optional<WrittenText> noise;  ///< "exp:0.5ms", into all ranks.
  std::string place;                 ///< Of the table.
};

/// So long is watched where a page does not say it.
inline constexpr wire::Nanoseconds kUsuallyAtMost = std::chrono::seconds(90);

/// `[lesson.page.until]`: how long is watched.
struct LessonWatch {
  bool program_ended = false;   ///< Until the program of [play] has ended and said what it measured; or
  bool wave_ended = false;      ///< until both fronts of the wave that was ordered have ended;
  wire::Nanoseconds stable{};   ///< then until no domain has changed its state for so long;
  wire::Nanoseconds at_most{};  ///< in all no longer than this. Session time.
};

/// `[[lesson.page.check]]`: a figure of `report --json` or of what the program of [play] measured of itself, and what
/// theory says of it.
struct LessonCheck {
  WrittenText path;                 ///< "domains.1.active_mean", "program.runs.1.ratio"
  std::optional<WrittenText> unit;  ///< Of a number of the program's.
  std::string label;                ///< What the program's is called in a sentence; empty where it is the report's.
  WrittenText theory;               ///< "5 ranks", "at least 5 ranks"; for a finding that is a word, the word.
  std::optional<WrittenText> tolerance;  ///< Of a number, with its unit.
  std::optional<WrittenText> beside;     ///< Another path whose figure stands beside, or "before".
};

/// `[lesson.page.say]`, after the figures.
struct LessonVerdict {
  std::string near;  ///< The effect was seen, and the answer was near what was measured.
  std::string far;   ///< It was seen, and the answer was not near.
  std::string none;  ///< It was not seen.
};

/// Which end of the page before leads to a page.
enum class PageAfter { kAny, kNear, kFar, kNone };

struct LessonPage {
  std::string text;
  std::string place;  ///< Of its table.
  PageAfter after = PageAfter::kAny;
  bool needs_lockstep = false;       ///< Before anything is ordered, all domains are to be in lockstep;
  std::vector<int> premise_sockets;  ///< or these alone, if there are any.
  std::string premise_place;         ///< Of their key.
  std::optional<LessonQuestion> ask;
  std::optional<LessonOrder> order;
  std::optional<LessonWatch> watch;
  std::vector<LessonCheck> checks;  ///< The first is what was asked for.
  std::optional<LessonVerdict> say;
};

/// What a demo tells its user. In every text "{ranks}" and so on stand for this run's numbers (docs/scenario.md).
struct Lesson {
  std::string title;
  std::string summary;  ///< One line, for a list of lessons.
  std::string figure;   ///< "Fig. 4 of Afzal, Hager, Wellein 2020"
  std::string source;   ///< The paper, in full.
  /// What of [machine] has to be as written, since the lesson's words and figures hang on it: ranks, ranks_per_domain,
  /// bandwidths, or saturated: whether a domain has more ranks than it can feed.
  std::vector<std::string> fixed;
  wire::Rank least_ranks = 1;  ///< With fewer its effects are not to be seen.
  std::vector<LessonPage> pages;
};

/// Behind it stands a path in what the program of [play] printed.
inline constexpr std::string_view kOfProgram = "program.";

class Section;
/// `played`: by a program of [play].
Lesson read_lesson(Section section, bool played);

}  // namespace idlewave::support
