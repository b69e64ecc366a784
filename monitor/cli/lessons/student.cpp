#include "monitor/cli/lessons/student.h"

#include <fmt/format.h>

namespace idlewave::cli::lessons {
namespace {

using lesson::Stage;
using lesson::Tutor;

/// So long a student waits for lockstep, of session time, and then goes on all the same.
constexpr Nanoseconds kPatience = std::chrono::seconds(20);
/// Of undisturbed steps before an order, so that there is something to compare with.
constexpr Nanoseconds kBefore = std::chrono::seconds(5);
/// What was found, so that whoever looks on, or at the recording, can as well.
constexpr Nanoseconds kReading = std::chrono::seconds(1);

/// As one would type it.
std::string typed(const lesson::Question& ask) {
  const double* number = std::get_if<double>(&ask.answer);
  if (!number) return std::get<std::string>(ask.answer);
  return lesson::quantity_in_words(*number, {}, ask.unit);
}

}  // namespace

bool Student::go_on(Nanoseconds now) {
  if (over_ || !all_have_stepped()) return over_ || monitor_.has_ended();
  if (std::string refused = refusal(); !refused.empty()) give_up(std::move(refused));
  if (over_) return true;
  switch (monitor_.tutor()->stage()) {
    case Stage::kAsk: answer(); break;
    case Stage::kDo: order(now); break;
    case Stage::kSent: over_ = monitor_.has_ended(); break;
    case Stage::kWatch: break;
    case Stage::kSaid:
      if (!has_read()) break;
      [[fallthrough]];
    case Stage::kRead: over_ = !turn(); break;
  }
  return over_;
}

void Student::answer() {
  const wire::Status taken = monitor_.answer_lesson(typed(*monitor_.tutor()->page().ask));
  if (!taken) give_up(taken.error().message);
}

void Student::order(Nanoseconds now) {
  over_ = monitor_.has_ended();
  if (over_) return;
  const Nanoseconds session = monitor_.observer().timeline().now();
  if (!ready_since_) ready_since_ = session;
  const Nanoseconds waited = session - *ready_since_;
  if (waited < kBefore || (!monitor_.tutor()->broken_premise().empty() && waited < kPatience)) return;
  ready_since_.reset();
  const auto sent = monitor_.send(*monitor_.tutor()->page().order, now);
  if (!sent) return give_up("the lesson's order could not be sent: " + sent.error().message);
  sent_ = *sent;
}

std::string Student::refusal() const {
  if (!sent_) return "";
  for (const timeline::CommandRecord& each : monitor_.observer().timeline().commands()) {
    if (each.command.id == *sent_ && each.answered && !each.accepted)
      return fmt::format("the order of page {} was refused: {}", monitor_.tutor()->page_index() + 1, each.reason);
  }
  return "";
}

void Student::give_up(std::string why) {
  failure_ = std::move(why);
  over_ = true;
}

bool Student::has_read() {
  const Nanoseconds session = monitor_.observer().timeline().now();
  if (!said_since_) said_since_ = session;
  if (session - *said_since_ < kReading && !monitor_.has_ended()) return false;
  said_since_.reset();
  return true;
}

bool Student::turn() {
  const Tutor& tutor = *monitor_.tutor();
  if (tutor.stage() == Stage::kSaid)
    news_.push_back(
        fmt::format("page {} of {}: {}", tutor.page_index() + 1, tutor.course().pages.size(), tutor.words()));
  if (!tutor.has_next()) return false;
  monitor_.turn_lesson(1);
  return true;
}

std::vector<std::string> Student::news() { return std::exchange(news_, {}); }

bool Student::saw_all() const {
  const Tutor& tutor = *monitor_.tutor();
  for (std::size_t i = 0; i < tutor.records().size(); ++i) {
    const lesson::Page& page = tutor.course().pages[i];
    const auto& verdict = tutor.records()[i].verdict;
    const bool was_open = page.after == support::PageAfter::kAny || verdict;
    const bool shows = !page.checks.empty() || verdict;
    if (!shows || !was_open) continue;
    if (verdict.value_or(lesson::Verdict::kNone) == lesson::Verdict::kNone ||
        !tutor.records()[i].broken_premise.empty())
      return false;
  }
  return true;
}

bool Student::all_have_stepped() const {
  const timeline::Timeline& timeline = monitor_.observer().timeline();
  for (wire::Rank rank = 0; rank < timeline.ranks(); ++rank) {
    const timeline::Lane* lane = timeline.lane(rank);
    if (!lane || lane->steps().empty()) return false;
  }
  return timeline.ranks() > 0;
}

}  // namespace idlewave::cli::lessons
