#pragma once
// Follows a student through a lesson: takes answers, waits for what was ordered, measures when the time has come, and says
// what came of it. No clock: all times are those of the session.

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "monitor/analysis/domains/domain_states.h"
#include "monitor/analysis/waves/waves.h"
#include "monitor/lesson/course.h"
#include "monitor/timeline/timeline.h"
#include "workloads/support/json.h"

namespace idlewave::lesson {

/// What the report of a session says at a path, of a window; null where nothing is known.
using Finding = std::function<support::Json(std::string_view path, analysis::Window window)>;
using analysis::Window;

/// Where a page stands.
enum class Stage {
  kRead,   ///< There is nothing to do but to read.
  kAsk,    ///< It waits for an answer.
  kDo,     ///< It waits for an order.
  kSent,   ///< It waits for the order to take effect.
  kWatch,  ///< What follows is watched.
  kSaid,   ///< It is over.
};

struct Measured {
  std::optional<Value> value;  ///< Nothing: it could not be measured.
  std::optional<double> error;
};

/// "5.03 ± 0.02 ranks", "lockstep", "nothing".
std::string in_words(const Measured& measured, std::string_view unit);

struct Outcome {
  Measured now, beside;
  bool holds = false;  ///< As theory says, within the tolerance.
};

/// How a page that measures has ended; see support::LessonVerdict.
enum class Verdict { kNear, kFar, kNone };
std::string_view to_words(Verdict verdict);  ///< "near", "far", "none"

/// What has happened on a page.
struct PageRecord {
  std::vector<std::string> answers;  ///< As they were given.
  std::optional<Value> answer;       ///< The last one, once it counts.
  bool hinted = false;
  std::string broken_premise;  ///< What was not as the page needs it when the order was sent; empty: nothing.
  wire::CommandId command = 0;
  std::optional<Nanoseconds> sent;        ///< The command was.
  std::optional<Nanoseconds> began;       ///< What was ordered took effect; without an order, watching began.
  std::optional<Nanoseconds> calm_since;  ///< The wave had ended.
  std::optional<Nanoseconds> measured_at;
  std::vector<Outcome> outcomes;  ///< By Page::checks.
  std::optional<Verdict> verdict;
  std::string why_none;  ///< Why nothing could be measured; a clause.
  bool is_gone = false;  ///< It could have been, but is no longer kept.
};

/// One thread. Owns the course, and the function by which it measures.
class Tutor {
 public:
  Tutor(Course course, Finding find);

  /// To the next page that there is after what came of this one (negative: back); stays at the ends and at an open question.
  void turn(int pages);
  /// To the open question. Error: what would be accepted.
  wire::Status answer(std::string_view text);
  /// An order was sent. Counts if it is what the page asks for.
  void ordered(const wire::Command& command);
  /// The program of the course has ended, and printed this; null: nothing that could be read.
  void program_ended(support::Json results);
  /// Looks at the session: after each refresh.
  void observe(const timeline::Timeline& timeline, std::span<const analysis::waves::Wave> waves,
               const analysis::domains::DomainStates& states);

  const Course& course() const { return course_; }
  std::size_t page_index() const { return index_; }
  const Page& page() const { return course_.pages[index_]; }
  const std::vector<PageRecord>& records() const { return records_; }
  const PageRecord& record() const { return records_[index_]; }
  Stage stage() const;
  bool has_next() const { return next(index_, 1) != index_; }
  bool has_previous() const { return next(index_, -1) != index_; }

  /// Why nothing may be ordered yet; empty: one may.
  std::string locked() const;
  /// What is not as the page needs it before something is ordered, as a sentence; empty: nothing.
  const std::string& broken_premise() const { return premise_; }
  /// The same with what to do about it.
  std::string premise_in_words() const;
  /// What is asked, to be done, watched, or found: a few sentences.
  std::string words() const;
  /// The same without the figures, once something was found.
  std::string verdict_in_words() const;
  /// What an answer looks like: "a number in ranks, as in 12", "a letter, a to c".
  std::string expected() const;

 private:
  std::size_t next(std::size_t from, int direction) const;
  Stage stage_of(std::size_t index) const;
  /// The first page before this one that was left without what it asks to be ordered, or did not show its effect; nothing
  /// once this one has ended.
  std::optional<std::size_t> skipped_page() const;
  void watch(std::size_t index, const timeline::Timeline& timeline, std::span<const analysis::waves::Wave> waves,
             const analysis::domains::DomainStates& states);
  /// Until what was ordered takes effect.
  void await_effect(std::size_t index, const timeline::Timeline& timeline);
  /// Until the program has ended.
  void await_end(std::size_t index, const timeline::Timeline& timeline);
  void measure(std::size_t index, Window window, const timeline::Timeline& timeline);
  Outcome measure(const Check& check, const PageRecord& record, Window window) const;
  Measured look(const FigurePath& figure, Window window) const;
  void close(std::size_t index, Nanoseconds now, std::string why_none);
  std::string found_in_words(bool with_figures) const;
  std::string watching_in_words() const;

  Course course_;
  Finding find_;
  std::optional<support::Json> results_;  ///< Once the program has ended.
  std::vector<PageRecord> records_;       ///< By page.
  std::size_t index_ = 0;
  std::string premise_;
  Nanoseconds now_{};
};

}  // namespace idlewave::lesson
