#pragma once

#include <map>
#include <string>

#include "monitor/ingest/sink.h"
#include "monitor/timeline/own_delay.h"

namespace idlewave::ingest {

/// How much a session told, whatever of it a timeline may keep.
struct EventCounts {
  std::uint64_t events = 0;      ///< Of all kinds, of ranks, their threads, domains and meters.
  std::uint64_t rank_steps = 0;  ///< Steps that a rank began, summed over ranks.
  std::uint64_t delays = 0;      ///< That began, ordered or told by the phase alone; noise is none.
  std::uint64_t samples = 0;     ///< Of the bandwidth of domains, and of their meters.
};

/// Counts every event of a session; needs little memory for each rank, however many that are.
class EventCounter final : public Sink {
 public:
  void events(const std::string& node, std::span<const wire::LaneBatch> batches) override;
  void threads(const std::string& node, std::span<const wire::LaneBatch> batches) override;
  void meters(const std::string& node, std::span<const wire::LaneBatch> batches) override;
  const EventCounts& counts() const { return counts_; }

 private:
  void count_rank(timeline::OwnDelay& own_delay, std::span<const wire::Event> events);

  EventCounts counts_;
  std::map<std::string, std::map<wire::Rank, timeline::OwnDelay>> own_delays_;
};

}  // namespace idlewave::ingest
