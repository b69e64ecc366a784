#include "monitor/analysis/waves/waves.h"

#include <algorithm>
#include <functional>
#include <numeric>
#include <utility>

#include "monitor/analysis/partners/partner_source.h"
#include "monitor/analysis/steps/step_history.h"
#include "monitor/analysis/waves/message_time.h"
#include "monitor/analysis/waves/wave_meetings.h"
#include "monitor/analysis/waves/wave_trace.h"

namespace idlewave::analysis::waves {

/// What made a rank late.
struct Late {
  Origin origin;
  WaveCause cause = WaveCause::kOwnDelay;
  wire::CommandId command = 0;
  Nanoseconds start{};
  bool is_over = true;
  wire::Step step = wire::kNoStep;  ///< In which it happened; the origin's is the first that shows it.
};

namespace {

using timeline::Timeline;

/// A delay shorter than this share of a typical step drowns in what is ordinary.
constexpr double kShortestDelay = 0.1;

/// The latest waves are followed: a program may delay itself in every step.
constexpr std::size_t kMostWaves = 512;
/// Some seconds.
constexpr std::uint64_t kMostWork = 400'000'000;
/// A wave that was more work to trace is traced again when it has run for so much longer: at every look, the work of all
/// looks would grow with the square of its steps.
constexpr std::uint64_t kLittleWork = 100'000;
constexpr double kMuchLonger = 1.125;
/// A unit of work (rerun.h) takes about as long as so many looks at posts.
constexpr std::uint64_t kLooksOfWork = 25;

/// Who went on late is late from the next step on.
void begin_with_next_step(const timeline::Lane& lane, Origin& origin, Nanoseconds after) {
  const auto steps = lane.steps();
  const std::size_t next = lane.steps_begun_before(after + Nanoseconds{1});
  if (next < steps.size()) origin.step = steps[next].step, origin.begin = steps[next].begin;
}

/// The rank was held when it had waited for the last time in this step.
bool is_behind_waits(const timeline::Lane& lane, const timeline::Delay& delay) {
  const auto record = lane.step(delay.step, delay.begin);
  if (!record || record->end == Nanoseconds{0} || delay.begin == record->begin) return false;
  const auto waited = [&](Nanoseconds from, Nanoseconds to) {
    return lane.time_in(timeline::Category::kWait, from, to) > Nanoseconds{0};
  };
  return waited(record->begin, delay.begin) && !waited(delay.begin, record->end);
}

Nanoseconds length_of(const Timeline& timeline, const timeline::Delay& delay) {
  return (delay.ended ? delay.end.session_time() : timeline.now()) - delay.begin;
}

Late late_of(const Timeline& timeline, const timeline::Delay& delay, Nanoseconds excess) {
  Origin origin{.rank = delay.rank, .step = delay.step, .begin = delay.begin, .excess = excess, .in_work = false};
  const timeline::Lane* lane = timeline.lane(delay.rank);
  if (lane && delay.by_phase && is_behind_waits(*lane, delay)) begin_with_next_step(*lane, origin, delay.begin);
  return {.origin = origin,
          .cause = delay.command != 0 ? WaveCause::kCommand : WaveCause::kOwnDelay,
          .command = delay.command,
          .start = delay.begin,
          .is_over = delay.ended,
          .step = delay.step};
}

Origin origin_of(const Timeline& timeline, const LateStep& late) {
  Origin origin{
      .rank = late.rank, .step = late.step, .begin = late.begin, .excess = late.excess, .in_work = !late.after_wait};
  if (late.after_wait) begin_with_next_step(*timeline.lane(late.rank), origin, late.begin);
  return origin;
}

Late late_of(const Timeline& timeline, const LateStep& step) {
  return {.origin = origin_of(timeline, step),
          .cause = step.after_wait ? WaveCause::kStopped : WaveCause::kLateCompute,
          .command = 0,
          .start = step.since,
          .is_over = true,
          .step = step.step};
}

Wave wave_of(const Late& late, WaveDirection up, WaveDirection down) {
  return {.origin_rank = late.origin.rank,
          .origin_step = late.step,
          .cause = late.cause,
          .command = late.command,
          .start = late.start,
          .delay = late.origin.excess,
          .up = std::move(up),
          .down = std::move(down)};
}

Wave not_reached(const Late& late) { return wave_of(late, {.sign = 1}, {.sign = -1}); }

/// What more is learnt of the program may yet show that the front goes on.
WaveDirection not_ended(WaveDirection direction) {
  direction.end = WaveEnd::kRunning;
  direction.end_rank = -1;
  return direction;
}

/// Of those told by their phase what a rank is held for in each step is ordinary.
Nanoseconds excess_of(const Timeline& timeline, const LateSteps& steps, const timeline::Delay& delay) {
  const Nanoseconds length = length_of(timeline, delay);
  return delay.by_phase ? length - steps.held_ordinarily(delay.rank) : length;
}

/// The latest delays that make waves, in the order in which they were told, which is that of ranks where much was told at once.
std::vector<Late> late_by_delay(const Timeline& timeline, const LateSteps& steps, Nanoseconds typical_step) {
  const auto& delays = timeline.delays();
  const auto is_later = [&](std::size_t a, std::size_t b) { return delays[a].begin > delays[b].begin; };
  std::vector<std::size_t> latest;  // Places in `delays`; a heap, the earliest on top.
  for (std::size_t place = delays.size(); place-- > 0;) {
    const bool is_full = latest.size() == kMostWaves;
    if (delays[place].phase != wire::Phase::kDelay || (is_full && !is_later(place, latest.front()))) continue;
    const Nanoseconds excess = excess_of(timeline, steps, delays[place]);
    if (double(excess.count()) < kShortestDelay * double(typical_step.count())) continue;
    if (is_full) std::ranges::pop_heap(latest, is_later), latest.pop_back();
    latest.push_back(place);
    std::ranges::push_heap(latest, is_later);
  }
  std::ranges::sort(latest);
  std::vector<Late> found;
  for (const std::size_t place : latest)
    found.push_back(late_of(timeline, delays[place], excess_of(timeline, steps, delays[place])));
  return found;
}

/// Oldest first.
std::vector<Late> all_late(const Timeline& timeline, const LateSteps& steps, Nanoseconds typical_step) {
  std::vector<Late> found = late_by_delay(timeline, steps, typical_step);
  for (const LateStep& step : steps.found()) found.push_back(late_of(timeline, step));
  std::ranges::stable_sort(found, {}, &Late::start);
  if (found.size() > kMostWaves) found.erase(found.begin(), found.end() - std::ptrdiff_t(kMostWaves));
  return found;
}

bool is_over(const Wave& wave) { return wave.up.end != WaveEnd::kRunning && wave.down.end != WaveEnd::kRunning; }

/// The wave of this cause. By what is known of its node's clock now it may have begun a little sooner or later.
const Wave* same_wave(std::span<const Wave> known, const Late& late) {
  constexpr Nanoseconds kALittle = std::chrono::microseconds(100);
  const auto apart = [&](const Wave& wave) { return std::chrono::abs(wave.start - late.start); };
  const Wave* found = nullptr;
  for (const Wave& wave : known) {
    const bool may_be = wave.origin_rank == late.origin.rank && wave.origin_step == late.step && apart(wave) < kALittle;
    if (may_be && (found == nullptr || apart(wave) < apart(*found))) found = &wave;
  }
  return found;
}

/// The same, if nothing more will be learnt of it.
const Wave* known_wave(std::span<const Wave> known, const Late& late) {
  const Wave* found = same_wave(known, late);
  return found != nullptr && late.is_over && is_over(*found) ? found : nullptr;
}

/// Of those whose waves have yet to be traced.
std::vector<steps::LateMoment> moments_of(const std::vector<Late>& all, std::span<const Wave> known) {
  std::vector<steps::LateMoment> moments;
  for (const Late& late : all)
    if (!known_wave(known, late)) moments.push_back({late.origin.rank, late.origin.step, late.origin.begin});
  return moments;
}

Nanoseconds begin_of(const Timeline& timeline, Rank rank, wire::Step step, Nanoseconds at) {
  const timeline::Lane* lane = timeline.lane(rank);
  const auto record = lane ? lane->step(step, at) : std::nullopt;
  return record ? record->begin : at;
}

/// What nobody announced is told if others waited for it, and if it is not that messages take their time: who waits for
/// them where a wave comes through, and at no other time, went on later than it does, and was not stopped.
bool is_worth_telling(const Timeline& timeline, const partners::Partners& partners, const Wave& wave) {
  if (!is_unannounced(wave.cause)) return true;
  if (wave.up.reach_ranks + wave.down.reach_ranks == 0) return false;
  if (wave.cause != WaveCause::kStopped) return true;
  const Nanoseconds begin = begin_of(timeline, wave.origin_rank, wave.origin_step, wave.start);
  const Nanoseconds beyond = beyond_messages(timeline, partners, wave.origin_rank, begin);
  return double(beyond.count()) >= kShortestDelay * double(steps::step_length_about(timeline, begin).count());
}

}  // namespace

void WaveWatch::forget_partners_if_ranks_joined(const Timeline& timeline) {
  if (std::exchange(learnt_ranks_, timeline.ranks()) == timeline.ranks()) return;
  search_.reset();
  partners_ = {};
  learnt_from_.clear();
}

/// Other waves have begun, or these have gone on for so long that they may tell what they did not before.
bool WaveWatch::has_more_to_learn_from(const Timeline& timeline, const std::vector<steps::LateMoment>& moments) const {
  constexpr wire::Step kStepsToLearn = 2;
  if (moments.empty()) return false;
  const wire::Step latest = timeline.latest_step(), since = latest - moments.front().step;
  return moments != learnt_from_ || latest < learnt_at_ || latest >= learnt_at_ + std::max(kStepsToLearn, since / 4);
}

WaveWatch::WaveWatch(std::uint64_t looks_at_once, std::uint64_t most_work)
    : looks_at_once_(looks_at_once), most_work_(most_work) {}
WaveWatch::~WaveWatch() = default;

bool WaveWatch::learn() {
  LookBudget budget(looks_at_once_);
  return search_ && search_->advance(budget);
}

void WaveWatch::learn_partners(const Timeline& timeline, const std::vector<steps::LateMoment>& moments,
                               Nanoseconds typical_step) {
  forget_partners_if_ranks_joined(timeline);
  if (!search_ && has_more_to_learn_from(timeline, moments)) {
    search_ = std::make_unique<partners::PartnerSearch>(timeline, moments, typical_step);
    learnt_from_ = moments;
    learnt_at_ = timeline.latest_step();
  }
  if (!search_ || learn()) return;
  for (auto& [origin, trace] : traces_) trace.is_outdated = true;
  const auto unlike_before = partners_.unlike_counts;
  partners_ = search_->found();
  if (!partners_.unlike_counts && unlike_before)
    partners_.unlike_counts = partners::still_unlike(timeline, *unlike_before);
  search_.reset();
}

/// As it was traced last, if the program has not gone on by much since then; else null.
const Wave* WaveWatch::hardly_older(const Timeline& timeline, const Late& late) const {
  const auto trace = traces_.find({late.origin.rank, late.origin.step});
  if (trace == traces_.end() || trace->second.is_outdated || is_learning()) return nullptr;
  if (timeline.ended()) return trace->second.had_ended ? same_wave(known_, late) : nullptr;
  if (trace->second.work < kLittleWork) return nullptr;
  const wire::Step latest = timeline.latest_step(), then = trace->second.latest;
  const bool is_longer = double(latest - late.origin.step) >= kMuchLonger * double(then - late.origin.step);
  return latest > then && !is_longer ? same_wave(known_, late) : nullptr;
}

/// By the steps before it, so that nothing that comes when it is over makes another wave of it.
Wave WaveWatch::trace(const Timeline& timeline, const domains::Contention& contention, const Late& late) {
  if (is_learning() && !partners_.are_known()) return not_reached(late);
  const Nanoseconds step = steps::step_length_about(timeline, late.origin.begin);
  const WaveTrace traced(timeline, partners_, contention, late.origin, step);
  work_ += traced.work();
  if (is_learning()) return wave_of(late, not_ended(traced.up()), not_ended(traced.down()));
  Wave wave = wave_of(late, traced.up(), traced.down());
  if (traces_.size() > kMostWaves) traces_.clear();
  if (!is_over(wave))
    traces_[{late.origin.rank, late.origin.step}] = {timeline.latest_step(), traced.work(), ++turns_, false,
                                                     timeline.ended()};
  return wave;
}

/// Places in `all`: those that have not been traced yet, the longest first, then those that were longest ago.
std::vector<std::size_t> WaveWatch::in_turn(const std::vector<Late>& all) const {
  std::vector<std::size_t> places(all.size());
  std::iota(places.begin(), places.end(), std::size_t{0});
  std::ranges::stable_sort(places, {}, [&](std::size_t place) {
    const Origin& origin = all[place].origin;
    const auto trace = traces_.find({origin.rank, origin.step});
    return std::pair(trace == traces_.end() ? 0 : trace->second.turn, -origin.excess);
  });
  return places;
}

/// In the order of `all`.
std::vector<Wave> WaveWatch::traced(const Timeline& timeline, const std::vector<Late>& all) {
  const domains::Contention contention(timeline);
  std::vector<std::optional<Wave>> found(all.size());
  LookBudget budget(looks_at_once_);
  for (const std::size_t place : in_turn(all)) {
    const Wave* same = known_wave(known_, all[place]);
    if (same == nullptr) same = hardly_older(timeline, all[place]);
    if (same != nullptr) {
      found[place] = *same;
    } else if (work_ >= most_work_) {
      ++not_traced_;
    } else if (!budget.is_spent()) {
      const std::uint64_t before = work_;
      found[place] = trace(timeline, contention, all[place]);
      budget.spend(kLooksOfWork * (work_ - before));
    } else {
      is_behind_ = true;
      same = same_wave(known_, all[place]);
      found[place] = same != nullptr ? *same : not_reached(all[place]);
    }
  }
  std::vector<Wave> waves;
  for (auto& wave : found)
    if (wave) waves.push_back(std::move(*wave));
  return waves;
}

std::vector<Wave> WaveWatch::look(const Timeline& timeline) {
  not_traced_ = 0;
  is_behind_ = false;
  late_.read(timeline);
  const Nanoseconds step = steps::typical_step_length(timeline);
  const std::vector<Late> all = all_late(timeline, late_, step);
  from_ = all.size() < kMostWaves ? std::nullopt : std::optional(all.front().start);
  if (all.empty() || step <= Nanoseconds{0}) return {};
  learn_partners(timeline, moments_of(all, known_), step);
  if (partners_.unlike_counts) return {};
  const std::vector<Wave> waves = traced(timeline, all);
  if (!is_learning()) known_ = waves;
  std::vector<Wave> told;
  for (const Wave& wave : waves)
    if (is_worth_telling(timeline, partners_, wave)) told.push_back(wave);
  settle_meetings(timeline, partners_, told);
  return told;
}

std::vector<Wave> find_waves(const Timeline& timeline, Window window) {
  std::vector<Wave> waves = WaveWatch(LookBudget::kUnlimited).look(timeline);
  std::erase_if(waves, [&](const Wave& wave) { return wave.start < window.from || wave.start >= window.to; });
  return waves;
}

FoundWaves find_longest_waves(const Timeline& timeline) {
  WaveWatch watch(LookBudget::kUnlimited, kMostWork);
  std::vector<Wave> waves = watch.look(timeline);
  return {std::move(waves), watch.not_traced(), watch.from()};
}

}  // namespace idlewave::analysis::waves
