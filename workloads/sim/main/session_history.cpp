#include "workloads/sim/main/session_history.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <utility>

#include "probe/wire/codec.h"
#include "probe/wire/frame_log.h"

namespace idlewave::sim {
namespace {

using wire::Event;
using wire::EventKind;
using wire::Phase;

double seconds(wire::Nanoseconds time) { return double(time.count()) * 1e-9; }

/// Follows one rank from event to event.
class RankReader {
 public:
  void take(const Event& event) {
    if (event.kind == EventKind::kStep) begin_step(Step(event.value), seconds(event.time));
    if (event.kind == EventKind::kDelayBegin && event.phase == Phase::kDelay) held_since_ = seconds(event.time);
    if (event.kind == EventKind::kDelayEnd && held_since_ && step_)
      step_->held += seconds(event.time) - *std::exchange(held_since_, std::nullopt);
    if (event.kind == EventKind::kTraffic && step_) step_->traffic += double(event.value);
    if (event.kind == EventKind::kDropped) step_ = nullptr;
    if (event.kind == EventKind::kStop) end_step(seconds(event.time));
    if (wire::changes_phase(event.kind)) enter(event.phase, seconds(event.time));
  }

  const std::map<Step, StepTimes>& steps() const { return steps_; }

 private:
  void begin_step(Step number, double time) {
    end_step(time);
    step_ = &steps_[number];
    *step_ = {.begin = time};
  }
  void end_step(double time) {
    if (!step_) return;
    step_->end = time;
    step_->whole = step_->post > 0;
    step_ = nullptr;
  }
  void enter(Phase phase, double time) {
    const bool waits = phase == Phase::kWait || phase == Phase::kCommunicate;
    if (waits && !waited_ && step_) step_->post = time;
    waited_ = waits;
  }

  std::map<Step, StepTimes> steps_;
  StepTimes* step_ = nullptr;  ///< Of `steps_`; null between steps.
  std::optional<double> held_since_;
  bool waited_ = false;
};

class SessionReader {
 public:
  wire::Status take(const wire::Frame& frame) {
    if (node_.empty()) node_ = frame.node;
    if (!frame.node.empty() && frame.node != node_)
      return wire::Error{"the session ran on several nodes; only one node's can be simulated from its recording"};
    if (const auto* roster = std::get_if<wire::Roster>(&frame.body)) roster_ = *roster;
    if (const auto* events = std::get_if<wire::Events>(&frame.body)) take_events(*events);
    return wire::ok();
  }

  wire::Result<SessionHistory> history() const {
    if (ranks_.empty() || Rank(ranks_.size()) != roster_.world_size) {
      return wire::Error{
          fmt::format("{} of {} ranks are in the recording; all are needed", ranks_.size(), roster_.world_size)};
    }
    const auto [first, last] = common_steps();
    if (last - first < 2) return wire::Error{"the ranks have fewer than two whole steps in common"};
    SessionHistory history{.program = roster_.program,
                           .domains = roster_.domains,
                           .domain_of = domains_of_ranks(),
                           .ranks = {},
                           .bytes = bytes()};
    double origin = std::numeric_limits<double>::infinity();
    for (const auto& [rank, reader] : ranks_) origin = std::min(origin, reader.steps().at(first).begin);
    for (const auto& [rank, reader] : ranks_) history.ranks.push_back(steps_of(reader, first, last, origin));
    return history;
  }

 private:
  void take_events(const wire::Events& frame) {
    const auto batches = decoder_.decode(frame.blob);
    if (!batches) return;
    for (const wire::LaneBatch& batch : *batches) {
      for (const Event& event : batch.events) {
        if (batch.lane.kind == wire::LaneId::Kind::kRank)
          ranks_[batch.lane.index].take(event);
        else if (event.kind == EventKind::kBandwidth)
          moved_[batch.lane.index] += double(event.value);
      }
    }
  }

  /// [first, last): whole on every rank.
  std::pair<Step, Step> common_steps() const {
    Step first = 0, last = std::numeric_limits<Step>::max();
    for (const auto& [rank, reader] : ranks_) {
      const auto& steps = reader.steps();
      const auto whole = [](const auto& step) { return step.second.whole; };
      const auto begin = std::ranges::find_if(steps, whole);
      const auto end = std::find_if_not(begin, steps.end(), whole);
      if (begin == steps.end()) return {0, 0};
      first = std::max(first, begin->first);
      last = std::min(last, std::prev(end)->first + 1);
    }
    return {first, last};
  }

  static std::vector<StepTimes> steps_of(const RankReader& reader, Step first, Step last, double origin) {
    std::vector<StepTimes> list;
    for (Step step = first; step < last; ++step) {
      StepTimes times = reader.steps().at(step);
      for (double* time : {&times.begin, &times.post, &times.end}) *time -= origin;
      list.push_back(times);
    }
    return list;
  }

  int index_of(wire::DomainId id) const {
    const auto found = std::ranges::find(roster_.domains, id, &wire::DomainInfo::id);
    return found == roster_.domains.end() ? -1 : int(found - roster_.domains.begin());
  }

  std::vector<int> domains_of_ranks() const {
    std::vector<int> domains(ranks_.size(), -1);
    for (const wire::RankInfo& info : roster_.ranks) domains[std::size_t(info.rank)] = index_of(info.domain);
    return domains;
  }

  std::vector<double> bytes() const {
    std::vector<double> bytes(roster_.domains.size(), 0);
    for (const auto& [id, moved] : moved_) {
      if (index_of(id) >= 0) bytes[std::size_t(index_of(id))] += moved;
    }
    return bytes;
  }

  std::string node_;
  wire::Roster roster_;
  wire::EventDecoder decoder_;
  std::map<Rank, RankReader> ranks_;
  std::map<wire::DomainId, double> moved_;
};

}  // namespace

wire::Result<SessionHistory> read_history(const std::string& path) {
  auto log = wire::FrameLogReader::open(path);
  if (!log) return log.error();
  SessionReader session;
  for (wire::FrameLogEntry entry; (*log)->next(entry);) {
    if (entry.direction != wire::Direction::kReceived) continue;
    const auto frame = wire::decode(entry.bytes);
    if (!frame) continue;
    if (const wire::Status taken = session.take(*frame); !taken)
      return wire::Error{path + ": " + taken.error().message};
  }
  auto history = session.history();
  return history ? std::move(history)
                 : wire::Result<SessionHistory>(wire::Error{path + ": " + history.error().message});
}

}  // namespace idlewave::sim
