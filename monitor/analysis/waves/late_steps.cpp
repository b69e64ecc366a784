#include "monitor/analysis/waves/late_steps.h"

#include <algorithm>
#include <cmath>
#include <iterator>

#include "monitor/analysis/least_squares.h"
#include "monitor/analysis/steps/step_history.h"
#include "monitor/analysis/waves/outliers.h"

namespace idlewave::analysis::waves {
namespace {

using timeline::Lane;
using timeline::StepRecord;
using timeline::Timeline;
using wire::seconds;

/// Of each rank: an epoch.
constexpr std::uint64_t kEpochSteps = 128;
/// A rank is read from this step of its own on, so that there is something ordinary to compare its first one with.
constexpr std::uint32_t kFirstSteps = 8;
/// Of a typical step: what is later by less makes no wave.
constexpr double kLeastExcess = 0.1;
/// The same where memory bandwidth is shared: how many were active at what time is not known better.
constexpr double kLeastShared = 0.5;
/// Who waits longer by less is not looked at: it went on as soon as it could.
constexpr double kLeastAfterWait = 0.5;
constexpr Rank kBeside = 3;
/// So many of an epoch's largest values are kept.
constexpr std::size_t kCandidates = 48;
constexpr std::uint64_t kFewestSteps = 4 * kTailValues;
constexpr Rank kRanksBeside = 32;
constexpr std::size_t kStepsAround = 16;
constexpr std::size_t kFewestBeside = 3;
/// What is so much longer at the same time has another cause.
constexpr double kMostUnlike = 1.25;
/// What holds ranks up at one time lies in their own parts for so much of what they are late by.
constexpr double kMostOfIt = 0.75;
/// Of a typical step: kinds of steps that differ by less hide no delay of some steps.
constexpr double kContrast = 0.25;
/// The same: steps whose ordinary length differs by less are alike.
constexpr double kChanged = 0.1;
/// And those that differ by more have become so at once.
constexpr double kJumped = 0.5;
constexpr std::int64_t kMostSlices = 1000;
constexpr std::size_t kMostKept = 512;

Nanoseconds nanoseconds(double seconds) { return Nanoseconds(std::llround(seconds * 1e9)); }

float middle_of(std::array<float, 16> values, std::size_t count) {
  const auto middle = values.begin() + std::ptrdiff_t(count / 2);
  std::nth_element(values.begin(), middle, values.begin() + std::ptrdiff_t(count));
  return *middle;
}

/// Of a step of which all ranks from `first` to `last`, round the ring, have done their part when it ends on `late`:
/// how long before. Else 0. `by_events`: who waits first in it and works then has done that when its step ends.
double after_all(const Timeline& timeline, const LateStep& late, Rank first, Rank last, bool by_events) {
  const auto mine = steps::step_course(timeline, late.rank, late.step, late.begin);
  if (!mine || !mine->over) return 0;
  const Rank ranks = timeline.ranks();
  Nanoseconds latest = mine->post;
  for (Rank rank = first; rank <= last; ++rank) {
    const auto its = steps::step_course(timeline, (rank + ranks) % ranks, late.step, late.begin);
    if (!its || (!its->over && its->waited() <= Nanoseconds{0})) return 0;
    const Nanoseconds least(std::int64_t(kLeastExcess * double((mine->end - mine->begin).count())));
    const bool works_behind = by_events && steps::waits_first(*timeline.lane((rank + ranks) % ranks), *its, least);
    latest = std::max(latest, works_behind ? its->end : its->post);
  }
  return std::max(0.0, seconds(mine->end - latest));
}

/// The most that it is ordinarily, in the steps around: messages take their time, also where somebody was late. By ranks near
/// by, of whom the latest may be earlier than the latest of all.
double ordinarily_after_all(const Timeline& timeline, const LateStep& late) {
  const Lane& lane = *timeline.lane(late.rank);
  const Rank reach = std::min(kRanksBeside, timeline.ranks()) / 2;
  const auto steps = lane.steps();
  const std::size_t here = lane.steps_begun_before(late.begin);
  const std::size_t end = std::min(steps.size(), here + kStepsAround + 1);
  double most = 0;
  for (std::size_t i = here - std::min(here, kStepsAround); i < end; ++i) {
    LateStep other = late;
    other.step = steps[i].step, other.begin = steps[i].begin;
    if (i != here) most = std::max(most, after_all(timeline, other, late.rank - reach, late.rank + reach, false));
  }
  return most;
}

/// The numbers leave out some behind it, which they had not done before it: it goes on over steps that were not told, as
/// where a program goes on to another loop.
bool hides_others(const timeline::StepRecords& steps, std::size_t place) {
  if (place == 0 || place + 1 >= steps.size()) return false;
  const wire::Step before = steps[place - 1].step, step = steps[place].step, behind = steps[place + 1].step;
  return before < step && behind - step > step - before;
}

}  // namespace

void LateSteps::read(const Timeline& timeline) {
  const Nanoseconds typical = steps::typical_step_length(timeline), now = timeline.now();
  if (typical <= Nanoseconds{0}) return;
  typical_step_ = typical;
  rhythms_.resize(std::size_t(timeline.ranks()));
  note_delays(timeline);
  read_to_ = std::max(read_to_, timeline.begin());
  const Nanoseconds slice = std::max(std::int64_t(kEpochSteps) * typical, (now - read_to_) / kMostSlices);
  while (read_to_ < now) {
    read_to_ = std::min(now, read_to_ + slice);
    for (Rank rank = 0; rank < timeline.ranks(); ++rank)
      if (const Lane* lane = timeline.lane(rank); lane && lane->events() > 0) read_lane(timeline, rank, read_to_);
    judge(timeline, typical);
    begin_epoch_if_due();
  }
}

void LateSteps::note_delays(const Timeline& timeline) {
  delays_.clear();
  for (const timeline::Delay& delay : timeline.delays())
    if (delay.phase == wire::Phase::kDelay && (!delay.ended || delay.end >= rhythms_[std::size_t(delay.rank)].read_to))
      delays_[{delay.rank, delay.begin}] = delay.ended ? delay.end.session_time() : timeline.now();
}

void LateSteps::read_lane(const Timeline& timeline, Rank rank, Nanoseconds until) {
  Rhythm& rhythm = rhythms_.of(std::size_t(rank));
  const Lane& lane = *timeline.lane(rank);
  // More may have become known of its clock.
  if (const auto last = lane.step(rhythm.last_read, rhythm.read_to)) rhythm.read_to = last->begin;
  const auto steps = lane.steps();
  std::array<StepRecord, kLatest> records;
  std::size_t count = 0;
  const auto take_them = [&] {
    if (count == 0 || rhythm.steps + count < kFirstSteps) return;
    take(timeline, rank, std::span(records).first(count));
    count = 0;
  };
  for (std::size_t next = lane.steps_begun_before(rhythm.read_to + Nanoseconds{1}); next < steps.size(); ++next) {
    const StepRecord record = steps[next];
    if (record.end == Nanoseconds{0} || record.end > until) break;
    if (hides_others(steps, next)) continue;
    records[count++] = record;
    if (count == kLatest) take_them();
  }
  take_them();
}

double LateSteps::announced(Rank rank, Nanoseconds from, Nanoseconds to) const {
  Nanoseconds sum{};
  auto delay = delays_.lower_bound({rank, from});
  // One that began in the step before may go on in this one.
  if (delay != delays_.begin() && std::prev(delay)->first.first == rank)
    sum += std::max(Nanoseconds{0}, std::min(std::prev(delay)->second, to) - from);
  for (; delay != delays_.end() && delay->first.first == rank && delay->first.second < to; ++delay)
    sum += std::min(delay->second, to) - delay->first.second;
  return seconds(sum);
}

double LateSteps::own(Rank rank, const steps::StepCourse& course) const {
  const double all = seconds(course.own());
  return course.held == Nanoseconds{0} ? all : all - announced(rank, course.begin, course.end);
}

Nanoseconds LateSteps::held_ordinarily(Rank rank) const {
  const auto found = holds_.find(rank);
  return found == holds_.end() ? Nanoseconds{0} : nanoseconds(double(found->second.ordinary));
}

/// `step`: how many the rank had before. Where it is never held there is nothing to do.
void LateSteps::take_hold(Rank rank, const steps::StepCourse& course, std::uint32_t step) {
  const double held = course.held == Nanoseconds{0} ? 0 : announced(rank, course.begin, course.end);
  const auto known = holds_.find(rank);
  if (known == holds_.end() && held == 0) return;
  Holds& holds = known != holds_.end() ? known->second : holds_[rank];
  holds.latest[step % kLatest] = float(held);
  holds.ordinary = middle_of(holds.latest, std::min<std::size_t>(kLatest, step + 1));
}

void LateSteps::note_numbers(Rhythm& rhythm, std::span<const StepRecord> records) {
  for (const StepRecord& record : records) {
    rhythm.in_a_row = rhythm.in_a_row > 0 && record.step == rhythm.last_read + 1 ? rhythm.in_a_row + 1 : 1;
    rhythm.last_read = record.step;
  }
  rhythm.read_to = records.back().begin;
}

/// By the latest steps, of which so many are new.
void LateSteps::learn_ordinary(Rank rank, std::size_t taken) {
  Rhythm& rhythm = rhythms_.of(std::size_t(rank));
  rhythm.ordinary_wait = middle_of(rhythm.waits, std::min<std::size_t>(kLatest, rhythm.steps));
  const std::size_t known = std::min<std::size_t>(steps::kValuesForPeriod, rhythm.steps);
  const auto back = [&](std::size_t i) { return rhythm.owns[(rhythm.steps - 1 - i) % steps::kValuesForPeriod]; };
  const std::uint32_t period_before = rhythm.period;
  if (rhythm.in_a_row < kLatest) {
    rhythm.period = 1;
  } else if (rhythm.steps / kLatest != (rhythm.steps - taken) / kLatest) {
    std::array<float, steps::kValuesForPeriod> latest;
    const std::size_t count = std::min<std::size_t>(known, rhythm.in_a_row);
    for (std::size_t i = 0; i < count; ++i) latest[count - 1 - i] = back(i);
    const auto contrast = float(kContrast * seconds(typical_step_));
    rhythm.period = std::uint32_t(steps::step_period(std::span(latest).first(count), contrast, rhythm.period));
  }
  const std::size_t usable = rhythm.period > 1 ? std::min<std::size_t>(known, rhythm.in_a_row) : known;
  for (std::size_t kind = 0; kind < rhythm.period; ++kind) {
    std::array<float, kLatest> alike;
    std::size_t count = 0;
    for (std::size_t i = kind; i < usable && count < kLatest; i += rhythm.period) alike[count++] = back(i);
    rhythm.ordinary[kind] = middle_of(alike, count);
  }
  if (rhythm.period != period_before) rate_anew(rank);
}

/// Other steps are ordinary for it than were.
void LateSteps::rate_anew(Rank rank) {
  for (Candidates* largest : {&now_.of_work, &before_.of_work}) {
    for (Candidate& each : *largest) {
      if (each.step.rank != rank || each.is_found) continue;
      each = {each.step, each.own - ordinary_in(rhythms_[std::size_t(rank)], each.step.step), each.own, each.until, {}};
      changed_ = true;
    }
    std::ranges::make_heap(*largest, larger);
  }
}

double LateSteps::ordinary_in(const Rhythm& rhythm, wire::Step step) {
  if (rhythm.period == 1) return double(rhythm.ordinary[0]);
  const wire::Step period = rhythm.period, kind = (rhythm.last_read - step) % period;
  return double(rhythm.ordinary[std::size_t(kind < 0 ? kind + period : kind)]);
}

/// When it had done so many steps less, so that of steps that become shorter the first of those read together is none that is late.
double LateSteps::ordinary_then(const Rhythm& rhythm, std::size_t steps_ago) {
  std::array<float, kLatest> latest;
  const std::size_t count = std::min<std::size_t>(kLatest, rhythm.steps - steps_ago);
  for (std::size_t i = 0; i < count; ++i)
    latest[i] = rhythm.owns[(rhythm.steps - 1 - steps_ago - i) % steps::kValuesForPeriod];
  return double(middle_of(latest, count));
}

void LateSteps::take(const Timeline& timeline, Rank rank, std::span<const StepRecord> records) {
  Rhythm& rhythm = rhythms_.of(std::size_t(rank));
  std::array<steps::StepCourse, kLatest> courses;
  std::array<float, kLatest> owns;
  for (std::size_t i = 0; i < records.size(); ++i, ++rhythm.steps) {
    courses[i] = steps::course_of(*timeline.lane(rank), records[i]);
    owns[i] = float(own(rank, courses[i]));
    rhythm.owns[rhythm.steps % steps::kValuesForPeriod] = owns[i];
    rhythm.waits[rhythm.steps % kLatest] = float(seconds(courses[i].waited()));
    if (courses[i].held != Nanoseconds{0} || !holds_.empty()) take_hold(rank, courses[i], rhythm.steps);
  }
  note_numbers(rhythm, records);
  const double before = double(rhythm.ordinary[0]);
  learn_ordinary(rank, records.size());
  const double changed = std::abs(double(rhythm.ordinary[0]) - before) / seconds(typical_step_);
  const bool changes_slowly = rhythm.period == 1 && rhythm.steps > kLatest && changed > kChanged && changed < kJumped;
  const double long_wait = double(rhythm.ordinary_wait) + kLeastAfterWait * seconds(typical_step_);
  for (std::size_t i = 0; i < records.size(); ++i) {
    const LateStep step{.rank = rank, .step = records[i].step, .begin = records[i].begin, .since = {}, .excess = {}};
    const double ordinary =
        changes_slowly ? ordinary_then(rhythm, records.size() - 1 - i) : ordinary_in(rhythm, step.step);
    const double raw = double(owns[i]) - ordinary, waited = seconds(courses[i].waited());
    if (raw > 0) admit(now_.of_work, {step, raw, double(owns[i]), courses[i].post, {}});
    if (waited > long_wait) admit_after_wait(timeline, step, waited - double(rhythm.ordinary_wait));
  }
  now_.steps += records.size();
}

/// In a wave many wait long, and nearly all of them for a neighbour: those need not be kept. Who works behind its wait, as in a
/// pipeline, goes on later by that.
void LateSteps::admit_after_wait(const Timeline& timeline, LateStep late, double waited) {
  const Rank beside = std::min(kBeside, timeline.ranks() / 2);
  late.after_wait = true;
  const auto is_after_all = [&](bool by_events) {
    return after_all(timeline, late, late.rank - beside, late.rank + beside, by_events) > 0;
  };
  if (!is_after_all(false)) return;
  const auto course = steps::step_course(timeline, late.rank, late.step, late.begin);
  const Nanoseconds least = nanoseconds(kLeastExcess * seconds(typical_step_));
  if (course && !steps::waits_first(*timeline.lane(late.rank), *course, least) && is_after_all(true))
    admit(now_.after_wait, {late, waited, 0, course->end, {}});
}

/// Their heap has the smallest of the largest in front.
bool LateSteps::larger(const Candidate& a, const Candidate& b) { return a.raw > b.raw; }

/// Ranks are held up together where somebody else has their cores, or the machine stands still.
bool LateSteps::Candidate::is_of_moment(const Candidate& other, double late, double its_late) const {
  if (step.rank == other.step.rank || late > kMostUnlike * its_late || its_late > kMostUnlike * late) return false;
  const auto from = [](const Candidate& each, double by) {
    return each.step.after_wait ? each.until - nanoseconds(by) : each.step.begin;
  };
  const Nanoseconds together = std::min(until, other.until) - std::max(from(*this, late), from(other, its_late));
  return seconds(together) >= kMostOfIt * std::min(late, its_late);
}

/// It was late when it was read as well, and others were not as late then, oftener than causes come, though by what is known now
/// all ranks were, or these were their longer steps that come in turn.
bool LateSteps::Candidate::is_unlike(std::span<Candidate* const> others, double least) const {
  const auto is_like = [&](const Candidate* other) {
    return other->step.after_wait == step.after_wait && std::abs(other->raw - *excess) < kAsLong * *excess;
  };
  return raw > least && std::size_t(std::ranges::count_if(others, is_like)) <= kMostOutliers;
}

/// Of one moment no more are kept than tell that these are no single ranks: else it would be all that is known of the noise.
bool LateSteps::make_room_for(const Candidate& candidate, Candidates& largest) {
  const auto is_beside = [&](const Candidate& each) { return each.is_of_moment(candidate, each.raw, candidate.raw); };
  if (std::size_t(std::ranges::count_if(largest, is_beside)) <= kMostOutliers) return true;
  auto smallest = largest.end();
  for (auto each = largest.begin(); each != largest.end(); ++each)
    if (is_beside(*each) && (smallest == largest.end() || each->raw < smallest->raw)) smallest = each;
  if (candidate.raw <= smallest->raw) return false;
  largest.erase(smallest);
  std::ranges::make_heap(largest, larger);
  return true;
}

void LateSteps::admit(Candidates& largest, Candidate candidate) {
  const bool is_full = largest.size() == kCandidates;
  if ((is_full && candidate.raw <= largest.front().raw) || !make_room_for(candidate, largest)) return;
  if (largest.size() == kCandidates) {
    std::ranges::pop_heap(largest, larger);
    largest.pop_back();
  }
  largest.push_back(std::move(candidate));
  std::ranges::push_heap(largest, larger);
  changed_ = true;
}

void LateSteps::begin_epoch_if_due() {
  if (now_.steps >= kEpochSteps * rhythms_.size()) before_ = std::exchange(now_, {});
}

/// What is ordinary for it about this step; nothing where there is no other of its kind.
std::optional<double> LateSteps::ordinary_around(const Timeline& timeline, Rank rank, Nanoseconds begin) const {
  std::vector<double> owns;
  for (const steps::StepCourse& course :
       steps::courses_around(*timeline.lane(rank), begin, rhythms_[std::size_t(rank)].period))
    owns.push_back(own(rank, course));
  return owns.empty() ? std::nullopt : std::optional(median(std::move(owns)));
}

/// How much later the other ranks did their own part of this step as well: median of some of them. Where kinds of steps
/// come in turn, or have become longer or shorter than this rank's `ordinary` one was then, the others, too, are held against
/// what is ordinary about this step; in turn they may have been sooner.
double LateSteps::in_all_ranks(const Timeline& timeline, const LateStep& late, double ordinary) const {
  const Rhythm& mine = rhythms_[std::size_t(late.rank)];
  const bool come_in_turn = mine.period > 1;
  const bool is_another_now = std::abs(ordinary - ordinary_in(mine, late.step)) > kChanged * seconds(typical_step_);
  std::vector<double> others;
  const Rank stride = std::max<Rank>(1, timeline.ranks() / kRanksBeside);
  for (Rank rank = late.rank % stride; rank < timeline.ranks(); rank += stride) {
    const Rhythm& rhythm = rhythms_[std::size_t(rank)];
    if (rank == late.rank || rhythm.steps == 0) continue;
    const auto course = steps::step_course(timeline, rank, late.step, late.begin);
    if (!course || (!course->over && course->waited() <= Nanoseconds{0})) continue;
    const auto then = come_in_turn || is_another_now ? ordinary_around(timeline, rank, course->begin) : std::nullopt;
    others.push_back(own(rank, *course) - then.value_or(ordinary_in(rhythm, late.step)));
  }
  if (others.size() < kFewestBeside) return 0;
  const double later = median(std::move(others));
  return later > 0 || come_in_turn ? later : 0;
}

/// Where kinds of steps come in turn: what a step nearby lacks, which its rank may have done in this one.
double LateSteps::moved_here(const Timeline& timeline, const LateStep& late) const {
  const auto reach = wire::Step(rhythms_[std::size_t(late.rank)].period) - 1;
  double most = 0;
  for (wire::Step step = late.step - reach; step <= late.step + reach; ++step) {
    const auto course = step == late.step ? std::nullopt : steps::step_course(timeline, late.rank, step, late.begin);
    const auto ordinary = course ? ordinary_around(timeline, late.rank, course->begin) : std::nullopt;
    if (ordinary && course->over) most = std::max(most, *ordinary - own(late.rank, *course));
  }
  return most < kContrast * seconds(typical_step_) ? 0 : most;
}

double LateSteps::excess_of(const Timeline& timeline, const Candidate& candidate) const {
  const LateStep& late = candidate.step;
  const Lane* lane = timeline.lane(late.rank);
  const auto record = lane ? lane->step(late.step, late.begin) : std::nullopt;
  if (!record || !steps::is_known(*lane, *record)) return 0;
  if (late.after_wait) {
    const double after = after_all(timeline, late, 0, timeline.ranks() - 1, true);
    return std::min(candidate.raw, after - ordinarily_after_all(timeline, late));
  }
  const auto ordinary = ordinary_around(timeline, late.rank, record->begin);
  if (!ordinary) return 0;
  const double beyond = own(late.rank, steps::course_of(*lane, *record)) - *ordinary;
  return beyond - in_all_ranks(timeline, late, *ordinary) - moved_here(timeline, late);
}

/// By what is left of each, the largest first; how many of them are no noise.
std::size_t LateSteps::sort_out(std::vector<Candidate*>& candidates, Nanoseconds typical_step) {
  std::ranges::sort(candidates, std::greater{}, [](const Candidate* each) { return *each->excess; });
  std::vector<Excess> values;
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    const double excess = *candidates[i]->excess;
    std::size_t moment = i;
    for (std::size_t j = i; j-- > 0 && moment == i && values[j].value <= kMostUnlike * excess;)
      if (candidates[i]->is_of_moment(*candidates[j], excess, values[j].value)) moment = values[j].moment;
    values.push_back({excess, moment});
  }
  return count_outliers(values, kLeastExcess * seconds(typical_step));
}

void LateSteps::take_contention_off(Candidate& candidate, const domains::Contention& contention,
                                    Nanoseconds typical_step) const {
  candidate.shared = true;
  const LateStep& late = candidate.step;
  if (late.after_wait || !contention.matters_to(late.rank)) return;
  *candidate.excess -=
      contention.owed_to_others(late.rank, late.step, late.begin, rhythms_[std::size_t(late.rank)].period);
  candidate.is_uncertain = *candidate.excess < kLeastShared * seconds(typical_step);
}

void LateSteps::judge(const Timeline& timeline, Nanoseconds typical_step) {
  if (!std::exchange(changed_, false) || now_.steps + before_.steps < kFewestSteps) return;
  std::vector<Candidate*> candidates;
  for (Candidates* largest : {&now_.of_work, &now_.after_wait, &before_.of_work, &before_.after_wait})
    for (Candidate& each : *largest) {
      if (!each.excess) each.excess = excess_of(timeline, each);
      candidates.push_back(&each);
    }
  std::optional<domains::Contention> contention;
  std::size_t count = sort_out(candidates, typical_step);
  const auto unshared = [&] {
    return std::ranges::find(candidates.begin(), candidates.begin() + std::ptrdiff_t(count), false,
                             [](const Candidate* each) { return each->shared; });
  };
  for (auto next = unshared(); next != candidates.begin() + std::ptrdiff_t(count); next = unshared()) {
    Candidate& each = **next;
    if (!contention) contention.emplace(timeline);
    take_contention_off(each, *contention, typical_step);
    count = sort_out(candidates, typical_step);
  }
  const std::span<Candidate* const> others = std::span(candidates).subspan(count);
  for (Candidate* each : std::span(candidates).first(count))
    if (!each->is_found && !each->is_uncertain && each->is_unlike(others, kLeastExcess * seconds(typical_step)))
      keep(*each, timeline);
}

void LateSteps::keep(Candidate& candidate, const Timeline& timeline) {
  candidate.is_found = true;
  LateStep& late = candidate.step;
  late.excess = nanoseconds(*candidate.excess);
  late.since = late.begin;
  if (const auto course = steps::step_course(timeline, late.rank, late.step, late.begin))
    late.since = std::max(late.begin, (late.after_wait ? course->end : course->post) - late.excess);
  found_.push_back(late);
  if (found_.size() > kMostKept) found_.pop_front();
}

}  // namespace idlewave::analysis::waves
