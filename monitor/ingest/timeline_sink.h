#pragma once

#include <cstddef>
#include <deque>
#include <vector>

#include "monitor/ingest/sink.h"
#include "monitor/timeline/timeline.h"

namespace idlewave::ingest {

/// Fills a timeline, which keeps what its memory budget allows, and refuses rosters that contradict themselves, others or
/// that budget.
class TimelineSink final : public Sink {
 public:
  explicit TimelineSink(timeline::Timeline& timeline) : timeline_(timeline) {}  ///< Borrowed.

  /// From now on the timeline may be behind by six million events, until settle(): many at once cost less.
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
  /// The events of a frame, of which the timeline knows all that came before `end`.
  struct Behind {
    std::vector<wire::Event> events;
    timeline::ByRank::Number end = 0;
  };
  void begin(const std::string& node, std::span<const wire::LaneBatch> batches);
  void put_off(const std::string& node, std::span<const wire::LaneBatch> batches);
  void catch_up();
  void append_oldest();
  void drop_appended();
  bool is_announced(wire::LaneId lane) const;

  timeline::Timeline& timeline_;
  bool gathers_ = false;
  std::deque<Behind> behind_;                          ///< Oldest first.
  std::vector<std::vector<wire::Event>> rooms_;        ///< For frames to come, until settle().
  std::vector<timeline::Timeline::LaneEvents> lanes_;  ///< Of the latest frame.
  std::size_t events_behind_ = 0;
};

}  // namespace idlewave::ingest
