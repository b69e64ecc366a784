#pragma once

#include "monitor/ingest/sink.h"
#include "monitor/timeline/timeline.h"

namespace idlewave::ingest {

/// Fills a timeline, which keeps what its memory budget allows, and refuses rosters that contradict themselves, others or
/// that budget.
class TimelineSink final : public Sink {
 public:
  explicit TimelineSink(timeline::Timeline& timeline) : timeline_(timeline) {}  ///< Borrowed.

  wire::Status roster(const std::string& node, const wire::Roster& roster) override;
  void beginning(const std::string& node, Nanoseconds at) override;
  void clock(const std::string& node, const timeline::ClockCurve& curve) override;
  void events(const std::string& node, std::span<const wire::LaneBatch> batches) override;
  void advance(const std::string& node, Nanoseconds up_to) override;
  void interrupt(const std::string& node, Nanoseconds from) override;
  void absence(const Absence& absence) override;
  void command(const wire::Command& command) override;
  void outcome(const std::string& node, const wire::Outcome& outcome) override;
  void end(const std::string& node) override;

 private:
  void begin(const std::string& node, std::span<const wire::LaneBatch> batches);
  bool is_announced(wire::LaneId lane) const;

  timeline::Timeline& timeline_;
};

}  // namespace idlewave::ingest
