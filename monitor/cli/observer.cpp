#include "monitor/cli/observer.h"

#include <algorithm>

#include "monitor/analysis/steps/step_history.h"

namespace idlewave::cli {
namespace {

/// Of session time.
constexpr Nanoseconds kLookPeriod = std::chrono::milliseconds(250), kLearnPeriod = std::chrono::milliseconds(50);
constexpr Nanoseconds kRhythmWindow = std::chrono::seconds(5);

}  // namespace

Observer::Observer(std::string session, std::uint64_t memory_budget)
    : timeline_(memory_budget), ingest_(timeline_, std::move(session)), causes_(timeline_), ghost_(timeline_) {
  ingest_.add(lesson_);
}

void Observer::accept(const link::Delivery& delivery) {
  ingest_.accept(delivery.frame, delivery.received_at, delivery.direction);
  if (!timeline_.empty()) least_transit_ = std::min(least_transit_, delivery.received_at - timeline_.now());
}

/// Whoever is not done when the session is over goes on at each call, since no moment of it comes any more.
void Observer::follow() {
  states_.follow(timeline_);
  const bool is_busy = wave_watch_.is_learning() || wave_watch_.is_behind() || causes_.is_learning();
  const bool ends = timeline_.ended() && (!saw_end_ || is_busy);
  if (timeline_.empty()) return;
  if (timeline_.now() < next_look_ && !ends) return learn();
  saw_end_ = timeline_.ended();
  waves_ = wave_watch_.look(timeline_);
  narrator_.observe_waves(waves_);
  causes_.follow();
  narrator_.observe_counts(causes_.ground().partners.unlike_counts);
  rhythm_.observe(view::map::rhythm_in(timeline_, {timeline_.now() - kRhythmWindow, timeline_.now()}));
  next_look_ = (timeline_.now() / kLookPeriod + 1) * kLookPeriod;
  next_lesson_ = (timeline_.now() / kLearnPeriod + 1) * kLearnPeriod;
}

void Observer::learn() {
  if (timeline_.now() < next_lesson_) return;
  wave_watch_.learn();
  causes_.learn();
  next_lesson_ = (timeline_.now() / kLearnPeriod + 1) * kLearnPeriod;
}

void Observer::note_damage(const wire::FrameLogDamage& damage) {
  const Nanoseconds now = timeline_.now(), begin = timeline_.begin();
  if (damage.blocks_skipped > 0) {
    const bool is_placed = damage.has_times && damage.from <= damage.to;
    const Nanoseconds from = is_placed ? std::max(damage.from - transit(), Nanoseconds{}) : begin;
    const Nanoseconds to = is_placed ? std::max(damage.to - transit(), from) : now;
    timeline_.add_loss({timeline::LossKind::kDetail, {}, -1, from, to, damage.blocks_skipped, damage.first});
  }
  if (damage.cut) timeline_.add_loss({timeline::LossKind::kNotClosed, {}, -1, now, now, 1, {}});
}

void Observer::measure_rate(Nanoseconds now) {
  counts_.emplace_back(now, timeline_.events());
  while (counts_.size() > 2 && counts_.front().first + std::chrono::seconds(1) < now) counts_.pop_front();
  const auto& [then, before] = counts_.front();
  const double seconds = std::chrono::duration<double>(now - then).count();
  events_per_second_ = seconds > 0 ? double(timeline_.events() - before) / seconds : 0;
}

/// A program that is over is described as it last ran in full, not as it stopped. Ranks that had stopped more than a
/// window before the last one, or half of the run, were of an earlier program, or had less to do.
Nanoseconds Observer::last_in_full(Nanoseconds until, Nanoseconds window) const {
  if (!timeline_.ended()) return until;
  const Nanoseconds end = std::min(until, analysis::steps::run_end(timeline_));
  const Nanoseconds stops = end - std::min(window, (end - timeline_.begin()) / 2);
  Nanoseconds in_full = end;
  for (wire::Rank rank = 0; rank < timeline_.ranks(); ++rank) {
    const timeline::Lane* lane = timeline_.lane(rank);
    if (lane && lane->state() == timeline::LaneState::kStopped && lane->last() > stops)
      in_full = std::min(in_full, lane->last() - Nanoseconds{1});
  }
  return in_full;
}

analysis::session::Findings Observer::find(Nanoseconds until, Nanoseconds window) const {
  const Nanoseconds last = last_in_full(until, window);
  return analysis::session::analyse(timeline_, {std::max(timeline_.begin(), last - window), last}, states_, waves_);
}

void Observer::refresh(Nanoseconds now, Nanoseconds until, Nanoseconds window, std::optional<Nanoseconds> past) {
  measure_rate(now);
  follow();
  findings_ = find(until, window);
  narrator_.observe(timeline_, findings_, states_, until);
  if (past) findings_ = find(*past, window);
  findings_.causes = causes_.observe(findings_.window);
  findings_.ground = causes_.ground();
  if (findings_.ground.partners.unlike_counts) analysis::session::leave_out_steps(findings_);
  findings_.mpi = mpi_.observe(timeline_);
}

Nanoseconds Observer::lag(Nanoseconds now) const {
  if (timeline_.empty()) return Nanoseconds{0};
  return std::max(Nanoseconds{0}, now - timeline_.now() - least_transit_);
}

}  // namespace idlewave::cli
