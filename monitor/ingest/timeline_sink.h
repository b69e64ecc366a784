#pragma once

#include <cstddef>
#include <vector>

#include "monitor/ingest/sink.h"
#include "monitor/timeline/timeline.h"

namespace idlewave::ingest {

/// Fills a timeline, which keeps what its memory budget allows, and refuses rosters that contradict themselves, others or
/// that budget.
class TimelineSink final : public Sink {
 public:
  explicit TimelineSink(timeline::Timeline& timeline) : timeline_(timeline) {}  ///< Borrowed.

  /// From now on the timeline may be behind by four million events, until settle(): many at once cost less.
  void gather() { gathers_ = true; }
  void settle();

  wire::Status roster(const std::string& node, const wire::Roster& roster) override;
  void beginning(const std::string& node, Nanoseconds at) override;
  void clock(const std::string& node, const timeline::ClockCurve& curve) override;
  void events(const std::string& node, std::span<const wire::LaneBatch> batches) override;
  void threads(const std::string& node, std::span<const wire::LaneBatch> batches) override;
  void meters(const std::string& node, std::span<const wire::LaneBatch> batches) override;
  void calls(const std::string& node, std::span<const wire::RankCalls> calls) override;
  void advance(const std::string& node, Nanoseconds up_to) override;
  void interrupt(const std::string& node, Nanoseconds from) override;
  void absence(const Absence& absence) override;
  void command(const wire::Command& command, const std::string& node, Nanoseconds at) override;
  void outcome(const std::string& node, const wire::Outcome& outcome) override;
  void end(const std::string& node) override;

 private:
  struct Gathered {
    std::vector<wire::Event> events;
    std::vector<timeline::Timeline::LaneEvents> lanes;
  };
  void begin(const std::string& node, std::span<const wire::LaneBatch> batches);
  void put_off(const std::string& node, std::span<const wire::LaneBatch> batches);
  void catch_up();
  bool is_announced(wire::LaneId lane) const;

  timeline::Timeline& timeline_;
  bool gathers_ = false;
  std::vector<timeline::Timeline::NodeEvents> behind_;  ///< Oldest first; the events stand in
  std::vector<Gathered> gathered_;                      ///< as many of these, which keep their room until settle().
  std::size_t events_behind_ = 0;
};

}  // namespace idlewave::ingest
