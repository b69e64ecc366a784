#include "monitor/analysis/waves/wave_trace.h"

#include <algorithm>
#include <cmath>

#include "monitor/analysis/steps/step_history.h"
#include "monitor/analysis/waves/front_speed.h"
#include "monitor/theory/idle_wave.h"

namespace idlewave::analysis::waves {
namespace {

using timeline::Lane;
using timeline::LaneState;
using wire::Step;

/// Of a typical step: who is later by less is not reached.
constexpr double kLeastLateness = 0.1;
/// Of that: lateness that is not followed any more.
constexpr double kNothing = 0.05;
/// A front that reaches nobody for so many steps has ended: who is late is late in each step, and noise that hides it in
/// one does not hide it in all.
constexpr Step kStepsWithoutArrival = 24;
/// What a reached rank does so many steps later still decides how late its neighbours are.
constexpr Step kStepsToFollow = 24;
constexpr Step kOrdinarySteps = 16;
/// Of the least lateness: so much of it has to be seen in the rank's waiting.
constexpr double kSeenWaiting = 0.5;
/// So many others are asked whether a collective made them wait, and so many have to be there where nobody said that there is one.
constexpr Rank kBystanders = 64;
constexpr int kFewestBystanders = 3;
/// Of the idle time of who is waited for: so much longer waits whom a front reaches that was late before.
constexpr double kOfTheFront = 0.5;
/// A front whose idle time has fallen to this share of its first has decayed.
constexpr double kDecayed = 0.5;

}  // namespace

WaveTrace::WaveTrace(const timeline::Timeline& timeline, const partners::Partners& partners,
                     const domains::Contention& contention, const Origin& origin, Nanoseconds typical_step)
    : timeline_(timeline),
      partners_(partners),
      origin_(origin),
      typical_step_(typical_step),
      threshold_(std::int64_t(kLeastLateness * double(typical_step.count()))),
      stride_(stride()),
      latest_(origin.step),
      rerun_(timeline, partners, contention, origin, typical_step),
      positions_(std::size_t(timeline.ranks())) {
  if (origin.step != wire::kNoStep) run();
}

/// Programs may count every tenth step only.
Step WaveTrace::stride() const {
  const Lane* lane = timeline_.lane(origin_.rank);
  const auto record = lane ? lane->step(origin_.step, origin_.begin) : std::nullopt;
  if (!record) return 1;
  const auto steps = lane->steps();
  const std::size_t begun = lane->steps_begun_before(record->begin + Nanoseconds{1});
  const Step next = begun == steps.size() ? origin_.step : steps[begun].step;
  return next <= origin_.step ? 1 : next - origin_.step;
}

void WaveTrace::run() {
  positions_[std::size_t(origin_.rank)] = 0;
  for (Step step = origin_.step; step <= latest_ + kStepsWithoutArrival * stride_; step += stride_)
    if (!advance(step)) return;
}

/// By whose message came last.
WaveTrace::Wait WaveTrace::wait_of(Rank rank, const steps::StepCourse& mine, Step step) const {
  const LastMessage last =
      last_message(timeline_, partners_, rerun_.message_time_of(rank), rank, step, mine, origin_.begin);
  return {.cause = last.from, .hop = -last.offset};
}

/// Along the way that the wave took.
std::optional<int> WaveTrace::behind(const Wait& wait, Rank rank) const {
  const auto& from = positions_[std::size_t(wait.cause)];
  return wait.cause != rank && from ? std::optional(*from + wait.hop) : std::nullopt;
}

void WaveTrace::look_at(Rank rank, Step step) {
  const auto course = steps::step_course(timeline_, rank, step, origin_.begin);
  if (!course || rank == origin_.rank || reached_.contains(rank)) return;
  const Nanoseconds late = rerun_.late_end(rank, step), waits_longer = late - rerun_.late_post(rank, step);
  if (std::abs(double(late.count())) < kNothing * double(threshold_.count())) return;
  if (beside_.contains(rank) && !is_front(rank, step, waits_longer)) return;
  auto position = behind(wait_of(rank, *course, step), rank);
  if (!position) position = positions_[std::size_t(rank)];
  const bool arrives = late >= threshold_ && double(waits_longer.count()) >= kSeenWaiting * double(threshold_.count());
  if (position && (arrives || !positions_[std::size_t(rank)])) new_positions_.push_back({rank, *position});
  if (!arrives) return;
  latest_ = step;
  if (!position) return void(beside_.emplace(rank, step));
  beside_.erase(rank);
  const bool waits_first = partners_.waits_first(rank);
  reached_[rank] = {.rank = rank,
                    .step = step,
                    .position = *position,
                    .arrival = waits_first ? course->begin : course->post,
                    .departure = waits_first ? course->begin + course->waited() : course->end,
                    .idle = late};
}

/// Of a rank that was late before the front came, for bandwidth that others had left it less of: it waits now for one of the
/// front, for about as long as that one did.
bool WaveTrace::is_front(Rank rank, Step step, Nanoseconds waits_longer) const {
  const auto course = steps::step_course(timeline_, rank, step, origin_.begin);
  const Rank cause = course ? wait_of(rank, *course, step).cause : rank;
  const auto before = reached_.find(cause);
  if (cause == rank || (before == reached_.end() && cause != origin_.rank)) return false;
  const Nanoseconds idle = before == reached_.end() ? origin_.excess : before->second.idle;
  return double(waits_longer.count()) >= kOfTheFront * double(idle.count());
}

bool WaveTrace::may_matter(Rank rank, Step step) const {
  const auto reached = reached_.find(rank);
  const auto beside = beside_.find(rank);
  const bool is_origin = rank == origin_.rank;
  if (!is_origin && !is_reached(rank)) return true;
  const Step since = is_origin ? origin_.step : reached != reached_.end() ? reached->second.step : beside->second;
  if (step - since < kStepsToFollow * stride_) return true;
  bool matters = false;
  partners_.for_each_waiter(rank, step, timeline_.ranks(), [&](Rank waiter, Rank) {
    matters = matters || (waiter != origin_.rank && !is_reached(waiter));
  });
  return matters;
}

/// Those who share an interface are run together or not at all.
void WaveTrace::let_go_of_old(Step step) {
  std::erase_if(followed_, [&](Rank rank) {
    if (!rerun_.is_run(rank)) return true;
    const auto& group = rerun_.group_of(rank);
    const bool matters = std::ranges::any_of(group, [&](Rank each) { return may_matter(each, step); });
    if (!matters) rerun_.let_go(rank);
    return !matters;
  });
}

/// Than is ordinary: messages that take their time make everybody end late in any step.
bool WaveTrace::waits_longer(Rank rank, const steps::StepCourse& course) const {
  std::vector<Nanoseconds> waits;
  for (const steps::StepCourse& other : steps::courses_around(*timeline_.lane(rank), course.begin))
    waits.push_back(other.waited());
  const Nanoseconds longer = course.waited() - steps::median(std::move(waits));
  return double(longer.count()) >= kSeenWaiting * double(threshold_.count());
}

/// Whoever could not be reached through its partners in this step waited for the wave all the same. A collective that is
/// started is there for the others with the call that starts it, however late that rank waits for it.
bool WaveTrace::is_flattened(Step step) {
  const bool is_said = partners_.said_collective(step);
  Nanoseconds latest = Nanoseconds::min();
  for (const Rank rank : followed_)
    if (const auto course = steps::step_course(timeline_, rank, step, origin_.begin);
        course && rerun_.late_post(rank, step) >= threshold_)
      latest = std::max(latest, is_said ? steps::first_call(*timeline_.lane(rank), *course) : course->post);
  if (latest == Nanoseconds::min()) return false;
  const bool all_wait = partners_.collective || is_said;
  int bystanders = 0;
  const Rank ranks = timeline_.ranks(), stride = std::max<Rank>(1, ranks / kBystanders);
  for (Rank rank = origin_.rank % stride; rank < ranks; rank += stride) {
    if (rank == origin_.rank || is_reached(rank) || 2 * rerun_.late_end(rank, step) >= threshold_) continue;
    const auto course = steps::step_course(timeline_, rank, step, origin_.begin);
    if (!course || !course->over || course->end < latest - threshold_ / 5) return false;
    if (!all_wait && (course->post > latest - threshold_ || !waits_longer(rank, *course))) return false;
    ++bystanders;
  }
  return bystanders >= (all_wait ? 1 : kFewestBystanders);
}

/// For as long as somebody whom the wave has come to.
bool WaveTrace::waited_in(Rank rank, Step step) const {
  const auto course = steps::step_course(timeline_, rank, step, origin_.begin);
  return course && double(course->waited().count()) >= kSeenWaiting * double(threshold_.count());
}

/// It makes all as late as the latest of them would not have been without it. Of a collective that is started some get what
/// they need before that one waits for it, and wait for the others in the next step.
void WaveTrace::reach_all(Step step) {
  flattened_in_ = step;
  Nanoseconds latest = Nanoseconds::min(), latest_without = Nanoseconds::min();
  const Rank ranks = timeline_.ranks();
  std::vector<Rank> waited;
  for (Rank rank = 0; rank < ranks; ++rank) {
    const auto course = steps::step_course(timeline_, rank, step, origin_.begin);
    if (!course) continue;
    latest = std::max(latest, course->post);
    latest_without = std::max(latest_without, course->post - rerun_.late_post(rank, step));
    if (waited_in(rank, step) || (partners_.said_collective(step) && waited_in(rank, step + stride_)))
      waited.push_back(rank);
  }
  if (latest - latest_without < threshold_) return;
  for (const Rank rank : waited)
    if (rank != origin_.rank && !is_reached(rank)) beside_.emplace(rank, step);
}

/// Where a front goes on within a step by what ranks do behind their waits: in the order in which it comes to them.
void WaveTrace::sort_by_ends(Step step) {
  std::ranges::sort(followed_, {}, [&](Rank rank) {
    const auto course = steps::step_course(timeline_, rank, step, origin_.begin);
    return std::pair(course ? course->end : Nanoseconds::max(), rank);
  });
}

void WaveTrace::take_new_positions() {
  for (const auto& [rank, position] : new_positions_) positions_[std::size_t(rank)] = position;
  new_positions_.clear();
}

bool WaveTrace::advance(Step step) {
  rerun_.run_through(step);
  for (; joined_ < rerun_.touched().size(); ++joined_) followed_.push_back(rerun_.touched()[joined_]);
  if (is_flattened(step)) return reach_all(step), false;
  new_positions_.clear();
  const bool is_pipeline = partners_.wait_first != nullptr;
  if (is_pipeline) sort_by_ends(step);
  for (const Rank rank : followed_) {
    look_at(rank, step);
    if (is_pipeline) take_new_positions();
  }
  take_new_positions();
  let_go_of_old(step);
  return !followed_.empty();
}

std::vector<FrontPoint> WaveTrace::front(int sign) const {
  std::vector<FrontPoint> front;
  for (const auto& [rank, point] : reached_)
    if (point.position * sign > 0) front.push_back(point);
  std::ranges::sort(front, {}, [](const FrontPoint& point) { return std::abs(point.position); });
  return front;
}

/// The way that waits lead, or the shorter one.
bool WaveTrace::lies_above(Rank rank) const {
  const auto leads = [&](int sign) {
    return std::ranges::any_of(partners_.offsets_in(origin_.step), [&](Rank offset) { return offset * sign < 0; });
  };
  if (leads(+1) != leads(-1)) return leads(+1);
  const Rank ranks = timeline_.ranks();
  return partners_.ring ? 2 * ((rank - origin_.rank + ranks) % ranks) <= ranks : rank > origin_.rank;
}

WaveDirection WaveTrace::direction(int sign) const {
  WaveDirection direction;
  direction.sign = sign;
  direction.front = front(sign);
  const auto lies_there = [&](const auto& beside) { return (sign > 0) == lies_above(beside.first); };
  direction.reach_ranks = int(direction.front.size()) + int(std::ranges::count_if(beside_, lies_there));
  direction.theory = theory(direction);
  measure_speed(timeline_, partners_, origin_.rank, direction);
  settle_end(direction);
  return direction;
}

/// Of messages that lead from a rank to the one at that hop, as the front shows it.
Nanoseconds WaveTrace::message_time(Rank hop, const WaveDirection& direction) const {
  std::vector<double> times;
  for (const FrontPoint& point : direction.front)
    partners_.for_each_message(point.rank, point.step, timeline_.ranks(), [&](Rank, Rank offset, int messages) {
      if (offset == -hop) times.push_back(rerun_.message_time_of(point.rank).each * messages);
    });
  return times.empty() ? Nanoseconds{0} : Nanoseconds(std::llround(median(std::move(times))));
}

/// Median, before the wave; the session's where nothing of that is kept. Where messages were there in time, a step had
/// nothing of them; a front has. Seconds.
Estimate WaveTrace::ordinary_step(Rank hop, const WaveDirection& direction) const {
  const Nanoseconds message = message_time(hop, direction);
  std::vector<double> lengths;
  for (Step step = origin_.step - kOrdinarySteps * stride_; step < origin_.step; step += stride_) {
    const auto before = steps::step_course(timeline_, origin_.rank, step, origin_.begin);
    if (before && before->over) lengths.push_back(wire::seconds(before->own() + std::max(before->waited(), message)));
  }
  if (lengths.empty()) return {.value = wire::seconds(typical_step_), .error = {}, .points = 0};
  return median_estimate(lengths);
}

/// As the origin says, or as was inferred; 0: not known.
Rank WaveTrace::farthest_partner() const {
  const auto said = timeline_.declared_waits(origin_.rank, origin_.step);
  if (!said) return partners_.of_ranks ? 0 : partners_.farthest;
  Rank farthest = 0;
  for (const auto& step : said->cycle->steps)
    for (const std::uint32_t number : step)
      for (const auto* offsets : {&said->patterns[number].from, &said->patterns[number].to})
        for (const Rank offset : *offsets)
          farthest = std::max(farthest, std::abs(partners::shorter_way(offset, timeline_.ranks())));
  return farthest;
}

/// Within a step: sigma d.
Rank WaveTrace::farthest_hop(int sign) const {
  Rank farthest = 0;
  for (const Rank offset : partners_.offsets_in(origin_.step)) farthest = std::max(farthest, -offset * sign);
  return farthest;
}

/// Most ranks wait for somebody so far away. In a tree hardly any does: its distances are powers of two, and a rank's place
/// among the others says nothing of when the front comes to it.
bool WaveTrace::runs_along_a_line(const WaveDirection& direction, Rank hop) const {
  int far = 0, at_hop = 0;
  for (const FrontPoint& point : direction.front) {
    const Rank behind = point.rank - hop * direction.sign;
    if (!partners_.ring && (behind < 0 || behind >= timeline_.ranks())) continue;
    const auto offsets = partners_.awaited(point.rank, point.step);
    ++far;
    at_hop += std::ranges::find(offsets, -hop * direction.sign) != offsets.end();
  }
  return 2 * at_hop >= far;
}

std::optional<TheorySpeed> WaveTrace::theory(const WaveDirection& direction) const {
  if (partners_.collective || partners_.wait_first) return std::nullopt;
  const Rank farthest = farthest_hop(direction.sign);
  if (farthest == 0 || !runs_along_a_line(direction, farthest)) return std::nullopt;
  const Estimate step = ordinary_step(farthest * direction.sign, direction);
  const double speed = theory::wave_speed(1, double(farthest), step.value, 0);
  const bool has_error = step.error && step.value > 0;
  return TheorySpeed{.ranks_per_step = double(farthest),
                     .distance = double(farthest_partner()),
                     .ranks_per_s = speed,
                     .error = has_error ? std::optional(speed * *step.error / step.value) : std::nullopt,
                     .deviation = {}};
}

/// Its program may yet come to the steps in which the front would show.
bool WaveTrace::has_more_to_tell(Rank rank) const {
  const Lane* lane = timeline_.lane(rank);
  if (!lane || lane->steps().empty() || lane->state() != LaneState::kLive) return false;
  const timeline::StepRecord latest = lane->steps().back();
  const auto of_its_program = lane->step(latest.step, origin_.begin);
  return of_its_program && of_its_program->begin == latest.begin;
}

/// Not who was reached on that side already, or had ended before the wave began.
bool WaveTrace::lies_ahead(Rank rank, int sign) const {
  const auto point = reached_.find(rank);
  const bool is_behind = point != reached_.end() && point->second.position * sign > 0;
  const Lane* lane = timeline_.lane(rank);
  return !is_behind && lane && !steps::was_silent(*lane, origin_.begin);
}

/// Who waits for `edge`, on that side. In a cycle of steps nobody need wait for it in the very next one.
std::vector<Rank> WaveTrace::next_of(Rank edge, int sign, Step due) const {
  std::vector<Rank> next;
  for (Step step = due; step < due + kStepsWithoutArrival * stride_ && next.empty(); step += stride_)
    partners_.for_each_waiter(edge, step, timeline_.ranks(), [&](Rank waiter, Rank offset) {
      if (-offset * sign > 0 && lies_ahead(waiter, sign)) next.push_back(waiter);
    });
  return next;
}

void WaveTrace::settle_end(WaveDirection& direction) const {
  const FrontPoint* last = direction.front.empty() ? nullptr : &direction.front.back();
  const auto leads_on = [&](Rank offset) { return -offset * direction.sign > 0; };
  const bool depends = std::ranges::any_of(partners_.offsets_in(origin_.step), leads_on);
  const Step due = last ? last->step + stride_ : origin_.step;
  const std::vector<Rank> next = next_of(last ? last->rank : origin_.rank, direction.sign, due);
  const auto end = [&](WaveEnd how, Rank rank = -1) { direction.end = how, direction.end_rank = rank; };
  const auto cause = steps::step_course(timeline_, origin_.rank, origin_.step, origin_.begin);
  if (!cause) return end(WaveEnd::kUnknown);
  if (flattened_in_) return end(WaveEnd::kFlattened);
  if (partners_.offsets_in(origin_.step).empty() || partners_.collective)
    return end(cause->over || !has_more_to_tell(origin_.rank) ? WaveEnd::kNone : WaveEnd::kRunning);
  if (!depends) return end(WaveEnd::kNone);
  if (next.empty()) return end(WaveEnd::kBoundary);
  for (const Rank rank : next)
    if (rank == origin_.rank || reached_.contains(rank)) return end(WaveEnd::kAnnihilated, rank);
  for (const Rank rank : next) {
    for (Step step = due; step < due + kStepsWithoutArrival * stride_; step += stride_) {
      const auto course = steps::step_course(timeline_, rank, step, origin_.begin);
      if (course && course->over) continue;
      return has_more_to_tell(rank) ? end(WaveEnd::kRunning) : end(WaveEnd::kProgramEnded, rank);
    }
  }
  const Nanoseconds first = direction.front.empty() ? origin_.excess : direction.front.front().idle;
  const bool fell = last && double(last->idle.count()) < kDecayed * double(first.count());
  end(fell ? WaveEnd::kDecayed : WaveEnd::kAbsorbed, next.front());
}

}  // namespace idlewave::analysis::waves
