#include "monitor/analysis/late_steps.h"

#include <algorithm>
#include <cmath>

#include "monitor/analysis/least_squares.h"
#include "monitor/analysis/step_history.h"

namespace idlewave::analysis {
namespace {

using timeline::Lane;
using timeline::StepRecord;
using timeline::Timeline;

/// Of each rank: an epoch.
constexpr std::uint64_t kEpochSteps = 128;
/// A rank is read from its so-many-th step on, so that there is something ordinary to compare its first one with.
constexpr std::uint32_t kFirstSteps = 8;
/// Of a typical step: what is later by less makes no wave.
constexpr double kLeastExcess = 0.1;
/// The same where memory bandwidth is shared: how many were active at what time is not known better.
constexpr double kLeastShared = 0.5;
/// So many of an epoch's largest values are kept.
constexpr std::size_t kCandidates = 32;
/// What comes oftener in two epochs is ordinary.
constexpr std::size_t kMostFound = 4;
/// The values that tell how the noise falls off.
constexpr std::size_t kTail = 16;
/// Times their mean above the next smaller value. Of m = 16 values that fall off exponentially, the largest of the m + 1
/// is t times as far with probability (m + 1) (1 + t / m)^-m: one in ten thousand.
constexpr double kFarBeyond = 18;
constexpr std::uint64_t kFewestSteps = 4 * kTail;
constexpr std::ptrdiff_t kStepsAround = 16;
constexpr Rank kRanksBeside = 32;
constexpr std::size_t kFewestBeside = 3;
constexpr std::int64_t kMostSlices = 1000;
constexpr std::size_t kMostKept = 512;

double seconds(Nanoseconds time) { return double(time.count()) * 1e-9; }
Nanoseconds nanoseconds(double seconds) { return Nanoseconds(std::llround(seconds * 1e9)); }

/// Beyond which a value does not belong to `smaller`, descending, any more.
double limit_of(std::span<const double> smaller, double least) {
  const auto value = [&](std::size_t i) { return i < smaller.size() ? std::max(0.0, smaller[i]) : 0; };
  double sum = 0;
  for (std::size_t i = 0; i < kTail; ++i) sum += value(i) - value(kTail);
  return std::max(least, value(kTail) + kFarBeyond * sum / double(kTail));
}

/// How many of the first of `values`, descending, are no noise. Looks from the smaller ones outwards, since several that
/// are none would hide one another.
std::size_t count_extraordinary(std::span<const double> values, double least) {
  for (std::size_t count = std::min(kMostFound, values.size()); count > 0; --count)
    if (values[count - 1] > limit_of(values.subspan(count), least)) return count;
  return 0;
}

}  // namespace

void LateSteps::read(const Timeline& timeline) {
  const Nanoseconds typical = typical_step_length(timeline), now = timeline.now();
  if (typical <= Nanoseconds{0}) return;
  rhythms_.resize(std::size_t(timeline.ranks()));
  note_delays(timeline);
  const Nanoseconds slice = std::max(std::int64_t(kEpochSteps) * typical, (now - read_to_) / kMostSlices);
  while (read_to_ < now) {
    read_to_ = std::min(now, read_to_ + slice);
    read_lanes(timeline, read_to_);
    judge(timeline, typical);
    begin_epoch_if_due();
  }
}

void LateSteps::note_delays(const Timeline& timeline) {
  delays_.clear();
  for (const timeline::Delay& delay : timeline.delays())
    if (delay.phase == wire::Phase::kDelay && (!delay.ended || delay.end >= read_to_))
      delays_[{delay.rank, delay.begin}] = delay.ended ? delay.end.session_time() : timeline.now();
}

void LateSteps::read_lanes(const Timeline& timeline, Nanoseconds until) {
  for (Rank rank = 0; rank < timeline.ranks(); ++rank)
    if (const Lane* lane = timeline.lane(rank)) read_lane(rank, *lane, until);
}

void LateSteps::read_lane(Rank rank, const Lane& lane, Nanoseconds until) {
  Rhythm& rhythm = rhythms_[std::size_t(rank)];
  const auto steps = lane.steps();
  std::array<StepRecord, kLatest> records;
  std::size_t count = 0;
  const auto take_them = [&] {
    if (count == 0 || rhythm.steps + count < kFirstSteps) return;
    rhythm.read_to = records[count - 1].begin;
    take(rank, lane, std::span(records).first(count));
    count = 0;
  };
  for (std::size_t next = lane.steps_begun_before(rhythm.read_to + Nanoseconds{1}); next < steps.size(); ++next) {
    const StepRecord record = steps[next];
    if (record.end == Nanoseconds{0} || record.end > until) break;
    records[count++] = record;
    if (count == kLatest) take_them();
  }
  take_them();
}

double LateSteps::announced(Rank rank, Nanoseconds from, Nanoseconds to) const {
  Nanoseconds sum{};
  for (auto delay = delays_.lower_bound({rank, from});
       delay != delays_.end() && delay->first.first == rank && delay->first.second < to; ++delay)
    sum += std::min(delay->second, to) - delay->first.second;
  return seconds(sum);
}

double LateSteps::own(Rank rank, const StepCourse& course) const {
  const double all = seconds(course.own());
  return course.held == Nanoseconds{0} ? all : all - announced(rank, course.begin, course.end);
}

void LateSteps::take(Rank rank, const Lane& lane, std::span<const StepRecord> records) {
  Rhythm& rhythm = rhythms_[std::size_t(rank)];
  std::array<float, kLatest> owns;
  for (std::size_t i = 0; i < records.size(); ++i) {
    owns[i] = float(own(rank, course_of(lane, records[i])));
    rhythm.latest[rhythm.steps++ % kLatest] = owns[i];
  }
  std::array<float, kLatest> sorted = rhythm.latest;
  const auto end = sorted.begin() + std::min<std::ptrdiff_t>(kLatest, rhythm.steps);
  std::nth_element(sorted.begin(), sorted.begin() + (end - sorted.begin()) / 2, end);
  rhythm.ordinary = sorted[std::size_t(end - sorted.begin()) / 2];
  for (std::size_t i = 0; i < records.size(); ++i) {
    const double raw = double(owns[i]) - double(rhythm.ordinary);
    const StepRecord& record = records[i];
    if (raw > 0)
      admit({{.rank = rank, .step = record.step, .begin = record.begin, .since = {}, .excess = {}}, raw, {}});
  }
  steps_now_ += records.size();
}

void LateSteps::admit(Candidate candidate) {
  const auto larger = [](const Candidate& a, const Candidate& b) { return a.raw > b.raw; };
  if (now_.size() == kCandidates) {
    if (candidate.raw <= now_.front().raw) return;
    std::ranges::pop_heap(now_, larger);
    now_.pop_back();
  }
  now_.push_back(std::move(candidate));
  std::ranges::push_heap(now_, larger);
  changed_ = true;
}

void LateSteps::begin_epoch_if_due() {
  if (steps_now_ < kEpochSteps * rhythms_.size()) return;
  before_ = std::exchange(now_, {});
  steps_before_ = std::exchange(steps_now_, 0);
}

/// How much later the other ranks did their own part of this step as well: median of some of them.
double LateSteps::in_all_ranks(const Timeline& timeline, const Candidate& candidate) const {
  std::vector<double> others;
  const Rank stride = std::max<Rank>(1, timeline.ranks() / kRanksBeside);
  for (Rank rank = candidate.step.rank % stride; rank < timeline.ranks(); rank += stride) {
    if (rank == candidate.step.rank || rhythms_[std::size_t(rank)].steps == 0) continue;
    const auto course = step_course(timeline, rank, candidate.step.step, candidate.step.begin);
    if (!course || (!course->over && course->waited() <= Nanoseconds{0})) continue;
    others.push_back(own(rank, *course) - double(rhythms_[std::size_t(rank)].ordinary));
  }
  return others.size() < kFewestBeside ? 0 : std::max(0.0, median(std::move(others)));
}

double LateSteps::excess_of(const Timeline& timeline, const Candidate& candidate) const {
  const Rank rank = candidate.step.rank;
  const Lane* lane = timeline.lane(rank);
  const auto record = lane ? lane->step(candidate.step.step, candidate.step.begin) : std::nullopt;
  if (!record || !is_known(*lane, *record)) return 0;
  std::vector<double> owns;
  for (const StepCourse& course : courses_around(*lane, record->begin, kStepsAround)) owns.push_back(own(rank, course));
  if (owns.empty()) return 0;
  return own(rank, course_of(*lane, *record)) - median(std::move(owns)) - in_all_ranks(timeline, candidate);
}

/// By what is left of each, the largest first; how many of them are no noise.
std::size_t LateSteps::sort_out(std::vector<Candidate*>& candidates, Nanoseconds typical_step) {
  std::ranges::sort(candidates, std::greater{}, [](const Candidate* each) { return *each->excess; });
  std::vector<double> values;
  for (const Candidate* each : candidates) values.push_back(*each->excess);
  return count_extraordinary(values, kLeastExcess * seconds(typical_step));
}

void LateSteps::take_contention_off(Candidate& candidate, const Contention& contention, Nanoseconds typical_step) {
  candidate.shared = true;
  const LateStep& late = candidate.step;
  if (!contention.matters_to(late.rank)) return;
  *candidate.excess -= contention.owed_to_others(late.rank, late.step, late.begin);
  if (*candidate.excess < kLeastShared * seconds(typical_step)) candidate.excess = 0;
}

void LateSteps::judge(const Timeline& timeline, Nanoseconds typical_step) {
  if (!std::exchange(changed_, false) || steps_now_ + steps_before_ < kFewestSteps) return;
  std::vector<Candidate*> candidates;
  for (Candidates* epoch : {&now_, &before_})
    for (Candidate& each : *epoch) {
      if (!each.excess) each.excess = excess_of(timeline, each);
      candidates.push_back(&each);
    }
  std::optional<Contention> contention;
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
  for (std::size_t i = 0; i < count; ++i)
    if (!candidates[i]->is_found) keep(*candidates[i], timeline);
}

void LateSteps::keep(Candidate& candidate, const Timeline& timeline) {
  candidate.is_found = true;
  LateStep& late = candidate.step;
  late.excess = nanoseconds(*candidate.excess);
  late.since = late.begin;
  if (const auto course = step_course(timeline, late.rank, late.step, late.begin))
    late.since = std::max(late.begin, course->post - late.excess);
  found_.push_back(late);
  if (found_.size() > kMostKept) found_.pop_front();
}

}  // namespace idlewave::analysis
