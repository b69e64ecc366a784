#include "monitor/analysis/message_time.h"

#include <cmath>
#include <limits>

#include "monitor/analysis/least_squares.h"

namespace idlewave::analysis {
namespace {

using timeline::Lane;
using timeline::Timeline;
using wire::Rank;

/// Before the step, and behind it: a wave that comes shows how long messages take that are there in time else.
constexpr std::size_t kStepsBefore = 8, kStepsBehind = 4;
/// Ranks above and below are asked.
constexpr Rank kAskedBeside = 4;
/// Nanoseconds, and of the longest wait: by so much longer a rank waits for messages than for itself.
constexpr double kTimesRounded = 3, kVisible = 0.01;
/// What waits differ by, of what messages don't account for.
constexpr double kAlike = 0.5;

double nanoseconds(wire::Nanoseconds time) { return double(time.count()); }

/// One step, nanoseconds.
struct SeenStep {
  struct Message {
    double since = 0;  ///< From its sender's post until the rank went on.
    int messages = 1;
  };
  double waited = 0;
  bool is_last = true;  ///< All others had done their part before.
  int back = 0;
  std::vector<Message> from;

  double most_of_each() const {
    double most = back > 0 ? waited / back : std::numeric_limits<double>::infinity();
    for (const Message& message : from) most = std::min(most, message.since / message.messages);
    return most;
  }
  /// How much later the rank went on than by its messages.
  double beyond(const MessageTime& time) const {
    double least = waited - time.of(back);
    for (const Message& message : from) least = std::min(least, message.since - time.of(message.messages));
    return least;
  }
};

/// Nothing: it is not over, or not known of everybody when it did its part.
std::optional<SeenStep> see(const Timeline& timeline, const Partners& partners, Rank rank,
                            const timeline::StepRecord& record) {
  const StepCourse course = course_of(*timeline.lane(rank), record);
  if (!course.over) return std::nullopt;
  SeenStep seen{.waited = nanoseconds(course.waited()),
                .back = partners.messages_to_itself(rank, record.step, timeline.ranks()),
                .from = {}};
  bool is_known = true;
  partners.for_each_message(rank, record.step, timeline.ranks(), [&](Rank partner, Rank, int messages) {
    const auto its = step_course(timeline, partner, record.step, record.begin);
    if (!its || (!its->over && its->waited() <= wire::Nanoseconds{0})) return void(is_known = false);
    seen.from.push_back({nanoseconds(course.end - its->post), messages});
    seen.is_last = seen.is_last && seen.from.back().since > seen.waited + kTimesRounded;
  });
  return is_known ? std::optional(std::move(seen)) : std::nullopt;
}

std::vector<SeenStep> seen_about(const Timeline& timeline, const Partners& partners, Rank rank, std::size_t place) {
  std::vector<SeenStep> all;
  const auto steps = timeline.lane(rank)->steps();
  const std::size_t end = std::min(steps.size(), place + kStepsBehind);
  for (std::size_t i = place - std::min(place, kStepsBefore); i < end; ++i)
    if (auto seen = see(timeline, partners, rank, steps[i])) all.push_back(std::move(*seen));
  return all;
}

/// Waits that messages don't account for are alike where the rank waits for itself; where messages take now longer and
/// now shorter, what is left of them is.
double waited_for_itself(const std::vector<SeenStep>& steps, const MessageTime& time) {
  double least = std::numeric_limits<double>::infinity(), waited = 0, beyond = 0;
  std::size_t count = 0;
  for (const SeenStep& step : steps) {
    const double left = step.beyond(time);
    if (left <= kTimesRounded) continue;
    least = std::min(least, step.waited);
    waited += step.waited, beyond += left, ++count;
  }
  if (count == 0) return 0;
  const double unlike = waited - double(count) * least;
  return unlike < kAlike * beyond ? least : 0;
}

std::size_t place_at(const Lane& lane, wire::Nanoseconds time) {
  const std::size_t begun = lane.steps_begun_before(time + wire::Nanoseconds{1});
  return begun == 0 ? 0 : begun - 1;
}

/// Median of those that show it; else 0.
MessageTime message_time_beside(const Timeline& timeline, const Partners& partners, Rank rank, wire::Nanoseconds at) {
  const Rank ranks = timeline.ranks();
  std::vector<double> each, own, itself;
  for (Rank away = 1; away <= std::min<Rank>(kAskedBeside, (ranks - 1) / 2); ++away) {
    for (const Rank other : {(rank + away) % ranks, (rank - away + ranks) % ranks}) {
      const Lane* lane = timeline.lane(other);
      const MessageTime its = lane ? message_time(timeline, partners, other, place_at(*lane, at)) : MessageTime{};
      if (its.each > 0) each.push_back(its.each);
      own.push_back(its.own), itself.push_back(its.itself);
    }
  }
  if (own.empty()) return {};
  return {.each = each.empty() ? 0 : median(std::move(each)),
          .own = median(std::move(own)),
          .itself = median(std::move(itself))};
}

}  // namespace

MessageTime message_time(const Timeline& timeline, const Partners& partners, Rank rank, std::size_t place) {
  if (!timeline.lane(rank)) return {};
  const std::vector<SeenStep> steps = seen_about(timeline, partners, rank, place);
  if (steps.empty()) return {};
  constexpr double kUnknown = std::numeric_limits<double>::infinity();
  MessageTime time{.each = kUnknown, .own = kUnknown};
  double longest = 0;
  for (const SeenStep& step : steps) {
    if (step.is_last) time.own = std::min(time.own, step.waited);
    time.each = std::min(time.each, step.most_of_each());
    longest = std::max(longest, step.waited);
  }
  if (!std::isfinite(time.own)) time.own = 0;
  const bool is_seen = longest > time.own + kTimesRounded + kVisible * longest;
  time.each = is_seen && std::isfinite(time.each) ? std::max(0.0, time.each) : 0;
  time.itself = waited_for_itself(steps, time);
  return time;
}

wire::Nanoseconds beyond_messages(const Timeline& timeline, const Partners& partners, Rank rank,
                                  wire::Nanoseconds begin) {
  const Lane* lane = timeline.lane(rank);
  if (!lane || lane->steps().empty()) return {};
  const timeline::StepRecord record = lane->steps()[place_at(*lane, begin)];
  const StepCourse course = course_of(*lane, record);
  const MessageTime message = message_time_beside(timeline, partners, rank, begin);
  const auto later = [](wire::Nanoseconds post, double time) { return post + wire::Nanoseconds(std::llround(time)); };
  const int back = partners.messages_to_itself(rank, record.step, timeline.ranks());
  wire::Nanoseconds last = later(course.post, message.of_itself(back));
  partners.for_each_message(rank, record.step, timeline.ranks(), [&](Rank partner, Rank, int messages) {
    if (const auto its = step_course(timeline, partner, record.step, begin))
      last = std::max(last, later(its->post, message.of(messages)));
  });
  return course.end - last;
}

}  // namespace idlewave::analysis
