#include "monitor/analysis/wave_trace.h"

#include <algorithm>
#include <cmath>

#include "monitor/analysis/step_history.h"
#include "monitor/theory/idle_wave.h"

namespace idlewave::analysis {
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
/// Of a speed: a standard error below this is that of rounding.
constexpr double kRounding = 1e-6;
/// Where bandwidth is shared, how late a rank is adds up what noise has changed since: about as far as a random walk goes.
/// Beyond the last rank that is later than that, so many may follow; where it is more, it is the errors that go on.
constexpr std::ptrdiff_t kRanksInDoubt = 12;
/// So many others are asked whether a collective made them wait, and so many have to be there.
constexpr Rank kBystanders = 64;
constexpr int kFewestBystanders = 3;
/// A front whose idle time has fallen to this share of its first has decayed.
constexpr double kDecayed = 0.5;

std::vector<double> seconds_of(const std::vector<FrontPoint>& front, Nanoseconds FrontPoint::*time) {
  std::vector<double> seconds;
  for (const FrontPoint& point : front) seconds.push_back(double((point.*time).count()) * 1e-9);
  return seconds;
}

std::vector<double> distances_of(const std::vector<FrontPoint>& front) {
  std::vector<double> distances;
  for (const FrontPoint& point : front) distances.push_back(std::abs(double(point.position)));
  return distances;
}

/// How far the front had come in each step. The last step may be cut off in its midst.
std::optional<Estimate> ranks_per_step(const std::vector<FrontPoint>& front) {
  std::map<Step, double> farthest;
  for (const FrontPoint& point : front) {
    double& distance = farthest[point.step];
    distance = std::max(distance, std::abs(double(point.position)));
  }
  if (farthest.size() > 2) farthest.erase(std::prev(farthest.end()));
  std::vector<double> steps, distances;
  for (const auto& [step, distance] : farthest) steps.push_back(double(step)), distances.push_back(distance);
  return fitted_slope(steps, distances);
}

}  // namespace

WaveTrace::WaveTrace(const timeline::Timeline& timeline, const Partners& partners, const Contention& contention,
                     const Origin& origin, Nanoseconds typical_step)
    : timeline_(timeline),
      partners_(partners),
      contention_(contention),
      origin_(origin),
      typical_step_(typical_step),
      threshold_(std::int64_t(kLeastLateness * double(typical_step.count()))),
      stride_(stride()),
      latest_(origin.step),
      looks_(std::size_t(timeline.ranks())),
      candidate_in_(std::size_t(timeline.ranks()), wire::kNoStep) {
  if (origin.step != wire::kNoStep) {
    run();
    for (const int sign : {+1, -1}) drop_doubtful(sign);
  }
  looks_ = {}, touched_ = {}, candidates_ = {}, candidate_in_ = {};
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
  touched_ = {origin_.rank};
  looks_[std::size_t(origin_.rank)].touched = true;
  looks_[std::size_t(origin_.rank)].position = 0;
  for (Step step = origin_.step; step <= latest_ + kStepsWithoutArrival * stride_; step += stride_)
    if (!advance(step)) return;
}

void WaveTrace::add_candidate(Rank rank, Step step) {
  if (rank < 0 || candidate_in_[std::size_t(rank)] == step) return;
  candidate_in_[std::size_t(rank)] = step;
  candidates_.push_back(rank);
}

void WaveTrace::find_candidates(Step step) {
  candidates_.clear();
  for (const Rank rank : touched_) {
    add_candidate(rank, step);
    for (const Rank mate : contention_.mates(rank)) add_candidate(mate, step);
    if (partners_.collective) continue;
    partners_.for_each_waiter(rank, step, timeline_.ranks(), [&](Rank waiter, Rank) { add_candidate(waiter, step); });
  }
}

const WaveTrace::Look& WaveTrace::look(Rank rank, Step step) {
  Look& look = looks_[std::size_t(rank)];
  if (look.looked_in == step) return look;
  look.looked_in = step;
  look.course = step_course(timeline_, rank, step, origin_.begin);
  look.late_post = {};
  const bool is_origin = rank == origin_.rank && step == origin_.step;
  if (look.touched) look.late_post = look.late;
  if (look.touched && !(is_origin && origin_.in_work)) look.late_post -= gained_work(rank, look);
  if (is_origin) look.late_post += origin_.excess;
  return look;
}

/// By how much shorter the rank's work was than with as many others as before the wave. What lasts longer than its
/// ordinary work is noise, which does not draw bandwidth.
Nanoseconds WaveTrace::gained_work(Rank rank, Look& look) const {
  if (!contention_.matters_to(rank) || !look.course || !look.course->over) return Nanoseconds{0};
  if (!look.ordinary) look.ordinary = ordinary_work(rank, look.looked_in);
  const double alone = contention_.alone(rank, *look.course);
  if (alone <= 0) return Nanoseconds{0};
  const double slowdown = double(look.course->work().count()) / alone;
  return Nanoseconds(std::llround(std::min(alone, look.ordinary->alone) * (look.ordinary->slowdown - slowdown)));
}

/// Of the steps before the wave came.
WaveTrace::OrdinaryWork WaveTrace::ordinary_work(Rank rank, Step until) const {
  std::vector<double> slowdowns, alones, owns;
  for (Step step = until - kOrdinarySteps * stride_; step < until; step += stride_) {
    const auto before = step_course(timeline_, rank, step, origin_.begin);
    const double alone = before && before->over ? contention_.alone(rank, *before) : 0;
    if (alone <= 0) continue;
    alones.push_back(alone);
    owns.push_back(alone + double(before->held.count()));
    slowdowns.push_back(double(before->work().count()) / alone);
  }
  if (alones.empty()) return {};
  std::ranges::sort(alones);
  std::ranges::sort(owns);
  return {.slowdown = median(std::move(slowdowns)),
          .alone = alones[alones.size() / 4],
          .noise = owns[owns.size() * 3 / 4] - owns[owns.size() / 4]};
}

WaveTrace::Wait WaveTrace::wait_of(Rank rank, Step step) {
  const Look& mine = look(rank, step);
  Nanoseconds last = mine.course->post, last_without = last - mine.late_post;
  Wait wait{.late = {}, .cause = rank, .hop = 0};
  partners_.for_each_awaited(rank, step, timeline_.ranks(), [&](Rank partner, Rank offset) {
    if (!look(partner, step).course) return;
    const Look& its = looks_[std::size_t(partner)];
    last_without = std::max(last_without, its.course->post - its.late_post);
    if (its.course->post > last) last = its.course->post, wait.cause = partner, wait.hop = -offset;
  });
  wait.late = last - last_without;
  return wait;
}

/// Than in the steps before the wave. How late a rank is adds up what others did in many steps, and so do the errors
/// where they share bandwidth; its waiting was seen.
bool WaveTrace::waits_more_than_usual(Rank rank) const {
  std::vector<Nanoseconds> waits;
  for (Step step = origin_.step - kOrdinarySteps * stride_; step < origin_.step; step += stride_) {
    const auto before = step_course(timeline_, rank, step, origin_.begin);
    if (before && before->over) waits.push_back(before->waited());
  }
  const Nanoseconds more = looks_[std::size_t(rank)].course->waited() - median(std::move(waits));
  return double(more.count()) >= kSeenWaiting * double(threshold_.count());
}

void WaveTrace::enter(Rank rank, const Wait& wait, Step step) {
  const StepCourse& mine = *looks_[std::size_t(rank)].course;
  reached_[rank] = {.rank = rank,
                    .step = step,
                    .position = *looks_[std::size_t(wait.cause)].position + wait.hop,
                    .arrival = mine.post,
                    .departure = mine.end,
                    .idle = wait.late};
  latest_ = step;
}

bool WaveTrace::may_matter(Rank rank, Step step) const {
  const auto reached = reached_.find(rank);
  if (rank != origin_.rank && reached == reached_.end()) return true;
  const Step since = rank == origin_.rank ? origin_.step : reached->second.step;
  if (step - since < kStepsToFollow * stride_) return true;
  bool matters = false;
  partners_.for_each_waiter(rank, step, timeline_.ranks(), [&](Rank waiter, Rank) {
    matters = matters || (waiter != origin_.rank && !reached_.contains(waiter));
  });
  return matters;
}

std::optional<WaveTrace::Touch> WaveTrace::touch_of(Rank rank, Step step) {
  if (!look(rank, step).course) return std::nullopt;
  const Wait wait = wait_of(rank, step);
  const Look& mine = looks_[std::size_t(rank)];
  const std::optional<int>& from = looks_[std::size_t(wait.cause)].position;
  const double least = kNothing * double(threshold_.count());
  const bool is_mate = contention_.matters_to(rank);
  if (!is_mate && (std::abs(double(wait.late.count())) < least || (!mine.touched && !from))) return std::nullopt;
  const bool is_new = rank != origin_.rank && wait.cause != rank && from && !reached_.contains(rank);
  if (is_new && wait.late >= threshold_ && waits_more_than_usual(rank)) enter(rank, wait, step);
  if (!may_matter(rank, step)) return std::nullopt;
  std::optional<int> position = mine.position;
  if (!position && from && double(wait.late.count()) >= least) position = *from + wait.hop;
  return Touch{rank, wait.late, position};
}

/// Whoever could not be reached through its partners in this step waited for the wave all the same.
bool WaveTrace::is_flattened(Step step) {
  Nanoseconds latest = Nanoseconds::min();
  for (const Rank rank : touched_)
    if (const Look& late = look(rank, step); late.course && late.late_post >= threshold_)
      latest = std::max(latest, late.course->post);
  if (latest == Nanoseconds::min()) return false;
  int bystanders = 0;
  const Rank ranks = timeline_.ranks(), stride = std::max<Rank>(1, ranks / kBystanders);
  for (Rank rank = origin_.rank % stride; rank < ranks; rank += stride) {
    if (candidate_in_[std::size_t(rank)] == step) continue;
    const auto course = step_course(timeline_, rank, step, origin_.begin);
    if (!course || !course->over || course->end < latest - threshold_ / 5) return false;
    const bool all_wait = partners_.collective || partners_.said_collective(step);
    if (!all_wait && course->post > latest - threshold_) return false;
    ++bystanders;
  }
  return bystanders >= kFewestBystanders;
}

/// It makes all as late as the latest of them would not have been without it.
void WaveTrace::reach_all(Step step) {
  flattened_in_ = step;
  Nanoseconds latest = Nanoseconds::min(), latest_without = Nanoseconds::min();
  const Rank ranks = timeline_.ranks();
  for (Rank rank = 0; rank < ranks; ++rank) {
    const Look& each = look(rank, step);
    if (!each.course) continue;
    latest = std::max(latest, each.course->post);
    latest_without = std::max(latest_without, each.course->post - each.late_post);
  }
  if (latest - latest_without < threshold_) return;
  for (Rank rank = 0; rank < ranks; ++rank) {
    const auto& course = looks_[std::size_t(rank)].course;
    if (rank == origin_.rank || reached_.contains(rank) || !course) continue;
    if (double(course->waited().count()) < kSeenWaiting * double(threshold_.count())) continue;
    const Rank ahead = (rank - origin_.rank + ranks) % ranks;
    const bool is_up = partners_.ring ? 2 * ahead <= ranks : rank > origin_.rank;
    ++(is_up ? reached_at_once_up_ : reached_at_once_down_);
  }
}

bool WaveTrace::advance(Step step) {
  find_candidates(step);
  if (is_flattened(step)) return reach_all(step), false;
  std::vector<Touch> touches;
  for (const Rank rank : candidates_)
    if (const auto touch = touch_of(rank, step)) touches.push_back(*touch);
  for (const Rank rank : touched_) looks_[std::size_t(rank)].touched = false, looks_[std::size_t(rank)].position = {};
  touched_.clear();
  for (const Touch& touch : touches) {
    Look& look = looks_[std::size_t(touch.rank)];
    look.late = touch.late, look.position = touch.position, look.touched = true;
    touched_.push_back(touch.rank);
  }
  return !touched_.empty();
}

std::vector<FrontPoint> WaveTrace::front(int sign) const {
  std::vector<FrontPoint> front;
  for (const auto& [rank, point] : reached_)
    if (point.position * sign > 0) front.push_back(point);
  std::ranges::sort(front, {}, [](const FrontPoint& point) { return std::abs(point.position); });
  return front;
}

/// Of one step, nanoseconds; 0 where bandwidth is not shared.
double WaveTrace::noise() const {
  double sum = 0;
  int ranks = 0;
  for (const Look& look : looks_)
    if (look.ordinary) sum += look.ordinary->noise, ++ranks;
  return ranks > 0 ? sum / ranks : 0;
}

void WaveTrace::drop_doubtful(int sign) {
  const std::vector<FrontPoint> front = this->front(sign);
  const auto last = std::find_if(front.rbegin(), front.rend(), [this, noise = noise()](const FrontPoint& point) {
    return double(point.idle.count()) >= noise * std::sqrt(double((point.step - origin_.step) / stride_));
  });
  if (last - front.rbegin() <= kRanksInDoubt) return;
  for (auto point = front.rbegin(); point != last; ++point) reached_.erase(point->rank);
}

WaveDirection WaveTrace::direction(int sign) const {
  WaveDirection direction;
  direction.sign = sign;
  direction.front = front(sign);
  const std::vector<double> distances = distances_of(direction.front);
  direction.reach_ranks = int(direction.front.size()) + (sign > 0 ? reached_at_once_up_ : reached_at_once_down_);
  // Time over distance is fitted: moments vary, places don't.
  direction.leading.ranks_per_s = inverse(fitted_slope(distances, seconds_of(direction.front, &FrontPoint::arrival)));
  direction.trailing.ranks_per_s =
      inverse(fitted_slope(distances, seconds_of(direction.front, &FrontPoint::departure)));
  direction.leading.ranks_per_step = direction.trailing.ranks_per_step = ranks_per_step(direction.front);
  if (auto decay = fitted_slope(distances, seconds_of(direction.front, &FrontPoint::idle))) {
    decay->value = -decay->value;
    direction.decay_s_per_rank = decay;
  }
  direction.theory = theory(direction);
  settle_end(direction);
  return direction;
}

/// Median, before the wave; the session's where nothing of that is kept.
Nanoseconds WaveTrace::ordinary_step() const {
  std::vector<Nanoseconds> lengths;
  for (Step step = origin_.step - kOrdinarySteps * stride_; step < origin_.step; step += stride_) {
    const auto before = step_course(timeline_, origin_.rank, step, origin_.begin);
    if (before && before->over) lengths.push_back(before->end - before->begin);
  }
  return lengths.empty() ? typical_step_ : median(std::move(lengths));
}

std::optional<TheorySpeed> WaveTrace::theory(const WaveDirection& direction) const {
  if (partners_.collective) return std::nullopt;
  Rank farthest = 0;
  for (const Rank offset : partners_.offsets) farthest = std::max(farthest, -offset * direction.sign);
  if (farthest == 0) return std::nullopt;
  const double step = std::chrono::duration<double>(ordinary_step()).count();
  TheorySpeed theory{double(farthest), theory::wave_speed(1, double(farthest), step, 0), {}};
  const auto& measured = direction.leading.ranks_per_s;
  if (measured && measured->error && *measured->error > kRounding * std::abs(measured->value))
    theory.deviation = (measured->value - theory.ranks_per_s) / *measured->error;
  return theory;
}

/// Its program may yet come to the steps in which the front would show.
bool WaveTrace::has_more_to_tell(Rank rank) const {
  const Lane* lane = timeline_.lane(rank);
  if (!lane || lane->steps().empty() || lane->state() != LaneState::kLive) return false;
  const timeline::StepRecord latest = lane->steps().back();
  const auto of_its_program = lane->step(latest.step, origin_.begin);
  return of_its_program && of_its_program->begin == latest.begin;
}

void WaveTrace::settle_end(WaveDirection& direction) const {
  const FrontPoint* last = direction.front.empty() ? nullptr : &direction.front.back();
  const Rank edge = last ? last->rank : origin_.rank;
  const auto leads_on = [&](Rank offset) { return -offset * direction.sign > 0; };
  const bool depends = std::ranges::any_of(partners_.offsets, leads_on);
  std::vector<Rank> next;
  partners_.for_each_waiter(edge, last ? last->step + stride_ : origin_.step, timeline_.ranks(),
                            [&](Rank waiter, Rank offset) {
                              if (leads_on(offset)) next.push_back(waiter);
                            });
  const auto end = [&](WaveEnd how, Rank rank = -1) { direction.end = how, direction.end_rank = rank; };
  const auto cause = step_course(timeline_, origin_.rank, origin_.step, origin_.begin);
  if (!cause) return end(WaveEnd::kUnknown);
  if (flattened_in_) return end(WaveEnd::kFlattened);
  if (partners_.offsets.empty() || partners_.collective)
    return end(cause->over || !has_more_to_tell(origin_.rank) ? WaveEnd::kNone : WaveEnd::kRunning);
  if (!depends) return end(WaveEnd::kNone);
  if (next.empty()) return end(WaveEnd::kBoundary);
  for (const Rank rank : next)
    if (rank == origin_.rank || reached_.contains(rank)) return end(WaveEnd::kAnnihilated, rank);
  const Step due = last ? last->step + stride_ : origin_.step;
  for (const Rank rank : next) {
    for (Step step = due; step < due + kStepsWithoutArrival * stride_; step += stride_) {
      const auto course = step_course(timeline_, rank, step, origin_.begin);
      if (course && course->over) continue;
      return has_more_to_tell(rank) ? end(WaveEnd::kRunning) : end(WaveEnd::kProgramEnded, rank);
    }
  }
  const Nanoseconds first = direction.front.empty() ? origin_.excess : direction.front.front().idle;
  const bool fell = last && double(last->idle.count()) < kDecayed * double(first.count());
  end(fell ? WaveEnd::kDecayed : WaveEnd::kAbsorbed, next.front());
}

}  // namespace idlewave::analysis
