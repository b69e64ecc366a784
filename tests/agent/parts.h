#pragma once
// Parts of the agent that need no other process, and what stands in its memory then.

#include <gtest/gtest.h>
#include <unistd.h>

#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "probe/agent/event_frames.h"
#include "probe/agent/orders.h"
#include "probe/agent/resident.h"
#include "probe/agent/segment.h"
#include "probe/session/agent_record.h"

namespace idlewave::agent {

inline wire::Nanoseconds ns(std::int64_t count) { return wire::Nanoseconds(count); }

inline std::vector<wire::Event> decode(const std::vector<std::byte>& blob) {
  wire::EventDecoder decoder;
  auto batches = decoder.decode(blob);
  EXPECT_TRUE(batches);
  std::vector<wire::Event> events;
  for (const wire::LaneBatch& batch : *batches) events.insert(events.end(), batch.events.begin(), batch.events.end());
  return events;
}
inline std::vector<wire::Event> decode(const wire::Events& frame) { return decode(frame.blob); }

/// Slots of a segment whose ranks are this process.
class Ranks {
 public:
  explicit Ranks(std::uint32_t count, wire::Rank world_size, std::uint64_t position = 0) : world_size_(world_size) {
    auto made = Segment::make(count, 64, {});
    EXPECT_TRUE(made);
    segment_ = std::move(*made);
    traces_ = std::make_unique<TraceShelf>(segment_->traces());
    for (std::uint32_t i = 0; i < count; ++i) {
      shm::Slot& slot = segment_->slot(i);
      slot.pid = getpid();
      slot.process_start = session::process_start_time(getpid());
      slot.rank = wire::Rank(i);
      slot.world_size = world_size;
      slot.state = shm::SlotState::kLive;
      slot.head = slot.tail = position;
      present_[wire::Rank(i)] =
          std::make_unique<Resident>(*segment_, i, Newcomer::in(slot), ns(0), ns(0), ns(0), names_);
      known_.push_back({wire::Rank(i), slot.pid, wire::kNoDomain});
    }
  }
  void end(wire::Rank rank) { present_.erase(rank); }
  void forbid_injection() { may_inject_ = false; }
  shm::Slot& slot(std::uint32_t index = 0) { return segment_->slot(index); }
  const shm::TraceRoom& room() { return segment_->traces(); }
  TraceShelf& traces() { return *traces_; }
  wire::Event& at(std::uint64_t position) { return const_cast<wire::Event&>(segment_->ring(0)[position]); }
  wire::Event& thread_at(std::uint32_t place, std::uint64_t position) {
    return const_cast<wire::Event&>(segment_->thread_ring(0, place)[position]);
  }
  Resident& resident(wire::Rank rank = 0) { return *present_.at(rank); }
  std::optional<wire::Outcome> order(wire::Command command) {
    return obey(command, {present_, known_, world_size_, may_inject_, *traces_}, ns(1));
  }

 private:
  std::unique_ptr<Segment> segment_;
  std::unique_ptr<TraceShelf> traces_;
  Names names_;
  std::map<wire::Rank, std::unique_ptr<Resident>> present_;
  std::vector<wire::RankInfo> known_;
  wire::Rank world_size_;
  bool may_inject_ = true;
};

}  // namespace idlewave::agent
