#include "monitor/analysis/waves/message_time.h"

#include <cmath>
#include <limits>
#include <span>
#include <vector>

#include "monitor/analysis/least_squares.h"

namespace idlewave::analysis::waves {
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
/// What waits differ by, of what messages don't account for; and so many are needed to tell.
constexpr double kAlike = 0.5;
constexpr std::size_t kFewestAlike = 4;

double nanoseconds(wire::Nanoseconds time) { return double(time.count()); }

struct Message {
  double since = 0;  ///< From its sender's post until the rank went on, nanoseconds.
  int messages = 1;
};

/// One step, nanoseconds.
struct SeenStep {
  double waited = 0;
  bool is_last = true;  ///< All others had done their part before.
  int back = 0;
  std::size_t first = 0, count = 0;  ///< Of its messages.
};

/// Steps of a rank of which it is known when everybody did its part.
class SeenSteps {
 public:
  SeenSteps(const Timeline& timeline, const partners::Partners& partners, Rank rank, std::size_t place)
      : timeline_(timeline), partners_(partners), lane_(*timeline.lane(rank)), rank_(rank) {
    const auto steps = lane_.steps();
    const std::size_t end = std::min(steps.size(), place + kStepsBehind);
    for (std::size_t i = place - std::min(place, kStepsBefore); i < end; ++i) see(steps[i]);
  }
  const std::vector<SeenStep>& all() const { return all_; }

  double most_of_each(const SeenStep& step) const {
    double most = step.back > 0 ? step.waited / step.back : std::numeric_limits<double>::infinity();
    for (const Message& message : messages_of(step)) most = std::min(most, message.since / message.messages);
    return most;
  }
  /// How much later the rank went on than by its messages.
  double beyond(const SeenStep& step, const MessageTime& time) const {
    double least = step.waited - time.of(step.back);
    for (const Message& message : messages_of(step)) least = std::min(least, message.since - time.of(message.messages));
    return least;
  }

 private:
  std::span<const Message> messages_of(const SeenStep& step) const {
    return std::span(messages_).subspan(step.first, step.count);
  }

  void see(const timeline::StepRecord& record) {
    const steps::StepCourse course = steps::course_of(lane_, record);
    if (!course.over) return;
    SeenStep seen{.waited = nanoseconds(course.waited()),
                  .back = partners_.messages_to_itself(rank_, record.step, timeline_.ranks()),
                  .first = messages_.size()};
    bool is_known = true;
    partners_.for_each_message(rank_, record.step, timeline_.ranks(), [&](Rank partner, Rank, int messages) {
      const auto its = is_known ? steps::step_course(timeline_, partner, record.step, record.begin) : std::nullopt;
      if (!its || (!its->over && its->waited() <= wire::Nanoseconds{0})) return void(is_known = false);
      messages_.push_back({nanoseconds(course.end - partners_.sent(partner, *its)), messages});
      seen.is_last = seen.is_last && messages_.back().since > seen.waited + kTimesRounded;
    });
    seen.count = messages_.size() - seen.first;
    if (is_known) all_.push_back(seen);
  }

  const Timeline& timeline_;
  const partners::Partners& partners_;
  const Lane& lane_;
  Rank rank_;
  std::vector<SeenStep> all_;
  std::vector<Message> messages_;
};

/// Waits that messages don't account for are alike where the rank waits for itself; where messages take now longer and
/// now shorter, what is left of them is.
double waited_for_itself(const SeenSteps& steps, const MessageTime& time) {
  double least = std::numeric_limits<double>::infinity(), waited = 0, beyond = 0;
  std::size_t count = 0;
  for (const SeenStep& step : steps.all()) {
    const double left = steps.beyond(step, time);
    if (left <= kTimesRounded) continue;
    least = std::min(least, step.waited);
    waited += step.waited, beyond += left, ++count;
  }
  if (count < kFewestAlike) return 0;
  const double unlike = waited - double(count) * least;
  return unlike < kAlike * beyond ? least : 0;
}

std::size_t place_at(const Lane& lane, wire::Nanoseconds time) {
  const std::size_t begun = lane.steps_begun_before(time + wire::Nanoseconds{1});
  return begun == 0 ? 0 : begun - 1;
}

/// Median of those that show it; else 0.
MessageTime message_time_beside(const Timeline& timeline, const partners::Partners& partners, Rank rank,
                                wire::Nanoseconds at) {
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

MessageTime message_time(const Timeline& timeline, const partners::Partners& partners, Rank rank, std::size_t place) {
  if (!timeline.lane(rank)) return {};
  const SeenSteps steps(timeline, partners, rank, place);
  if (steps.all().empty()) return {};
  constexpr double kUnknown = std::numeric_limits<double>::infinity();
  MessageTime time{.each = kUnknown, .own = kUnknown};
  double longest = 0;
  for (const SeenStep& step : steps.all()) {
    if (step.is_last) time.own = std::min(time.own, step.waited);
    time.each = std::min(time.each, steps.most_of_each(step));
    longest = std::max(longest, step.waited);
  }
  if (!std::isfinite(time.own)) time.own = 0;
  const bool is_seen = longest > time.own + kTimesRounded + kVisible * longest;
  time.each = is_seen && std::isfinite(time.each) ? std::max(0.0, time.each) : 0;
  time.itself = partners.waits_first(rank) ? 0 : waited_for_itself(steps, time);
  return time;
}

LastMessage last_message(const Timeline& timeline, const partners::Partners& partners, const MessageTime& time,
                         Rank rank, wire::Step step, const steps::StepCourse& mine, wire::Nanoseconds at) {
  const auto later = [](wire::Nanoseconds post, double by) { return post + wire::Nanoseconds(std::llround(by)); };
  const int back = partners.messages_to_itself(rank, step, timeline.ranks());
  LastMessage last{.from = rank, .offset = 0, .comes = later(mine.post, time.of_itself(back))};
  partners.for_each_message(rank, step, timeline.ranks(), [&](Rank partner, Rank offset, int messages) {
    const auto its = steps::step_course(timeline, partner, step, at);
    if (!its) return;
    const wire::Nanoseconds comes = later(partners.sent(partner, *its), time.of(messages));
    if (comes > last.comes) last = {partner, offset, comes};
  });
  return last;
}

wire::Nanoseconds beyond_messages(const Timeline& timeline, const partners::Partners& partners, Rank rank,
                                  wire::Nanoseconds begin) {
  const Lane* lane = timeline.lane(rank);
  if (!lane || lane->steps().empty()) return {};
  const timeline::StepRecord record = lane->steps()[place_at(*lane, begin)];
  const steps::StepCourse course = steps::course_of(*lane, record);
  const MessageTime time = message_time_beside(timeline, partners, rank, begin);
  return course.end - last_message(timeline, partners, time, rank, record.step, course, begin).comes;
}

}  // namespace idlewave::analysis::waves
