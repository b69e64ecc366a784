#include "monitor/ingest/event_counter.h"

namespace idlewave::ingest {
namespace {

using wire::EventKind;

void count_domain(std::span<const wire::Event> events, EventCounts& counts) {
  for (const wire::Event& event : events) counts.samples += event.kind == EventKind::kBandwidth;
}

}  // namespace

void EventCounter::count_rank(timeline::OwnDelay& own_delay, std::span<const wire::Event> events) {
  for (const wire::Event& event : events) {
    counts_.rank_steps += event.kind == EventKind::kStep;
    counts_.delays += event.kind == EventKind::kDelayBegin && event.phase == wire::Phase::kDelay;
    counts_.delays += own_delay.turns(event) && own_delay.goes_on();
  }
}

void EventCounter::events(const std::string& node, std::span<const wire::LaneBatch> batches) {
  for (const wire::LaneBatch& batch : batches) {
    counts_.events += batch.events.size();
    const bool of_rank = batch.lane.kind == wire::LaneId::Kind::kRank;
    if (of_rank)
      count_rank(own_delays_[node][batch.lane.index], batch.events);
    else
      count_domain(batch.events, counts_);
  }
}

void EventCounter::threads(const std::string& /*node*/, std::span<const wire::LaneBatch> batches) {
  for (const wire::LaneBatch& batch : batches) counts_.events += batch.events.size();
}

void EventCounter::meters(const std::string& /*node*/, std::span<const wire::LaneBatch> batches) {
  for (const wire::LaneBatch& batch : batches) {
    counts_.events += batch.events.size();
    count_domain(batch.events, counts_);
  }
}

}  // namespace idlewave::ingest
