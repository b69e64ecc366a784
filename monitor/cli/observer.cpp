#include "monitor/cli/observer.h"

#include <algorithm>

namespace idlewave::cli {

Observer::Observer(std::string session, std::uint64_t memory_budget) : timeline_(memory_budget), ingest_(timeline_, std::move(session)) {}

void Observer::accept(const link::Delivery& delivery) {
  ingest_.accept(delivery.bytes, delivery.received_at, delivery.direction);
  if (!timeline_.empty()) least_transit_ = std::min(least_transit_, delivery.received_at - timeline_.now());
}

void Observer::measure_rate(Nanoseconds now) {
  counts_.emplace_back(now, timeline_.events());
  while (counts_.size() > 2 && counts_.front().first + std::chrono::seconds(1) < now) counts_.pop_front();
  const auto& [then, before] = counts_.front();
  const double seconds = std::chrono::duration<double>(now - then).count();
  events_per_second_ = seconds > 0 ? double(timeline_.events() - before) / seconds : 0;
}

/// A program that is over is described as it last ran in full, not as it stopped.
Nanoseconds Observer::last_in_full(Nanoseconds until) const {
  if (!timeline_.ended()) return until;
  for (wire::Rank rank = 0; rank < timeline_.ranks(); ++rank) {
    const timeline::Lane* lane = timeline_.lane(rank);
    if (lane && lane->state() == timeline::LaneState::kStopped) until = std::min(until, lane->last() - Nanoseconds{1});
  }
  return until;
}

void Observer::refresh(Nanoseconds now, Nanoseconds until, Nanoseconds window) {
  measure_rate(now);
  until = last_in_full(until);
  findings_ = analysis::analyse(timeline_, {std::max(Nanoseconds{0}, until - window), until});
  narrator_.observe(timeline_, findings_);
}

Nanoseconds Observer::lag(Nanoseconds now) const {
  if (timeline_.empty()) return Nanoseconds{0};
  return std::max(Nanoseconds{0}, now - timeline_.now() - least_transit_);
}

}  // namespace idlewave::cli
