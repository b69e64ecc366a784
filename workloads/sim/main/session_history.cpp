#include "workloads/sim/main/session_history.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <span>
#include <utility>

#include "probe/wire/codec.h"
#include "probe/wire/frame_log.h"

namespace idlewave::sim {
namespace {

using wire::Event;
using wire::EventKind;
using wire::Phase;

constexpr std::uint64_t kMostRankSteps = 20'000'000;  ///< As many as a recording of a run has; some 2 GB.

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
    if (event.kind == EventKind::kDropped) interrupt();
    if (event.kind == EventKind::kStop) end_step(seconds(event.time));
    if (wire::changes_phase(event.kind)) enter(event.phase, seconds(event.time));
  }

  /// Something between the event before and the next one is not known.
  void interrupt() {
    step_ = nullptr;
    held_since_.reset();
  }

  const std::map<Step, StepTimes>& steps() const { return steps_; }

 private:
  void begin_step(Step number, double time) {
    end_step(time);
    step_ = &steps_[number];
    *step_ = {.begin = time};
    waited_since_begin_ = false;
  }
  void end_step(double time) {
    if (!step_) return;
    step_->end = time;
    step_->whole = waited_since_begin_ && step_->begin <= step_->post && step_->post <= time && step_->held >= 0 &&
                   step_->held <= time - step_->begin;
    step_ = nullptr;
  }
  void enter(Phase phase, double time) {
    const bool waits = phase == Phase::kWait || phase == Phase::kCommunicate;
    if (waits && !waited_ && step_) {
      step_->post = time;
      waited_since_begin_ = true;
    }
    waited_ = waits;
  }

  std::map<Step, StepTimes> steps_;
  StepTimes* step_ = nullptr;  ///< Of `steps_`; null between steps.
  std::optional<double> held_since_;
  bool waited_ = false;
  bool waited_since_begin_ = false;
};

/// Steps that follow each other on every rank and are whole there.
using StepNumbers = std::vector<Step>;

/// Programs number their steps as they like: 0, 10, 20 too. So what follows a step is the next number that any rank
/// has, and only where one of them is not whole somewhere, or begins before the one before it ended, the run of steps
/// breaks.
class CommonSteps {
 public:
  explicit CommonSteps(const std::map<Rank, RankReader>& ranks) {
    for (const auto& [rank, reader] : ranks) add(reader.steps());
    find_longest_run(ranks.size());
  }
  const StepNumbers& longest() const { return longest_; }
  std::size_t all() const { return found_.size(); }

 private:
  struct Found {
    std::size_t whole = 0;   ///< On so many ranks.
    bool goes_back = false;  ///< On some rank it begins before the step before has ended.
  };

  void add(const std::map<Step, StepTimes>& steps) {
    const StepTimes* before = nullptr;
    for (const auto& [number, times] : steps) {
      Found& found = found_[number];
      found.whole += times.whole;
      found.goes_back |= before && times.begin < before->end;
      before = &times;
    }
  }

  void find_longest_run(std::size_t ranks) {
    StepNumbers run;
    const auto end_run = [&] {
      if (run.size() > longest_.size()) longest_.swap(run);
      run.clear();
    };
    for (const auto& [number, found] : found_) {
      if (found.goes_back || found.whole != ranks) end_run();
      if (found.whole == ranks) run.push_back(number);
    }
    end_run();
  }

  std::map<Step, Found> found_;
  StepNumbers longest_;
};

class SessionReader {
 public:
  /// Error: a session that can't be simulated whatever follows.
  wire::Status take(std::span<const std::byte> bytes) {
    const auto frame = wire::decode(bytes);
    if (!frame) return ++unread_frames_, interrupt(), wire::ok();
    if (node_.empty()) node_ = frame->node;
    if (!frame->node.empty() && frame->node != node_)
      return wire::Error{"the session ran on several nodes; only one node's can be simulated from its recording"};
    if (wire::is_sequenced(*frame)) follow(frame->sequence);
    if (const auto* roster = std::get_if<wire::Roster>(&frame->body)) take_roster(*roster);
    if (const auto* events = std::get_if<wire::Events>(&frame->body)) take_events(*events);
    if (steps_ <= kMostRankSteps) return wire::ok();
    return wire::Error{fmt::format("holds more than {} rank-steps; record fewer steps", kMostRankSteps)};
  }

  wire::Result<SessionHistory> history(const wire::FrameLogDamage& damage) const {
    if (const wire::Status there = check_ranks(); !there) return there.error();
    const CommonSteps common(ranks_);
    const StepNumbers& steps = common.longest();
    if (steps.size() < 2)
      return wire::Error{fmt::format("of {} steps there are no two in a row that are whole on all {} ranks",
                                     common.all(), ranks_.size())};
    SessionHistory history{.program = roster_.program,
                           .domains = roster_.domains,
                           .domain_of = domains_of_ranks(),
                           .ranks = {},
                           .bytes = bytes(),
                           .left_out = left_out(damage)};
    double origin = std::numeric_limits<double>::infinity(), last = -origin;
    for (const auto& [rank, reader] : ranks_) {
      origin = std::min(origin, reader.steps().at(steps.front()).begin);
      last = std::max(last, reader.steps().at(steps.back()).end);
    }
    if (!(last > origin)) return wire::Error{"its steps take no time"};
    for (const auto& [rank, reader] : ranks_) history.ranks.push_back(steps_of(reader, steps, origin));
    if (steps.size() < common.all())
      history.left_out.push_back(
          fmt::format("{} of {} steps are taken, {} to {}: the others are not whole on all ranks", steps.size(),
                      common.all(), steps.front(), steps.back()));
    return history;
  }

 private:
  void interrupt() {
    for (auto& [rank, reader] : ranks_) reader.interrupt();
  }

  void follow(std::uint64_t sequence) {
    if (sequence_ != 0 && sequence > sequence_ + 1) lost_frames_ += sequence - sequence_ - 1, interrupt();
    sequence_ = std::max(sequence_, sequence);
  }

  void take_roster(const wire::Roster& roster) {
    roster_ = roster;
    for (const wire::DomainInfo& domain : roster.domains) moved_.try_emplace(domain.id, 0.0);
  }

  void take_events(const wire::Events& frame) {
    const auto batches = decoder_.decode(frame.blob);
    if (!batches) return ++unread_frames_, interrupt();
    for (const wire::LaneBatch& batch : *batches) {
      if (batch.lane.kind == wire::LaneId::Kind::kDomain)
        take_traffic(batch);
      else if (batch.lane.index >= 0 && batch.lane.index < roster_.world_size)
        take_rank(batch);
    }
  }

  void take_traffic(const wire::LaneBatch& batch) {
    const auto domain = moved_.find(batch.lane.index);
    if (domain == moved_.end()) return;
    for (const Event& event : batch.events) {
      if (event.kind == EventKind::kBandwidth) domain->second += double(event.value);
    }
  }

  void take_rank(const wire::LaneBatch& batch) {
    RankReader& reader = ranks_[batch.lane.index];
    for (const Event& event : batch.events) {
      reader.take(event);
      steps_ += event.kind == EventKind::kStep;
      if (event.kind == EventKind::kDropped) dropped_ += double(event.value);
    }
  }

  wire::Status check_ranks() const {
    if (roster_.world_size > 0 && ranks_.size() == std::size_t(roster_.world_size)) return wire::ok();
    return wire::Error{
        fmt::format("{} of {} ranks are in the recording; all are needed", ranks_.size(), roster_.world_size)};
  }

  static std::vector<StepTimes> steps_of(const RankReader& reader, const StepNumbers& numbers, double origin) {
    std::vector<StepTimes> list;
    for (const Step number : numbers) {
      StepTimes times = reader.steps().at(number);
      for (double* time : {&times.begin, &times.post, &times.end}) *time -= origin;
      list.push_back(times);
    }
    return list;
  }

  std::vector<std::string> left_out(const wire::FrameLogDamage& damage) const {
    std::vector<std::string> lines;
    if (!damage.first.empty())
      lines.push_back(
          fmt::format("{} ({} blocks, {} bytes left out)", damage.first, damage.blocks_skipped, damage.bytes_skipped));
    if (unread_frames_ > 0) lines.push_back(fmt::format("{} frames are damaged and left out", unread_frames_));
    if (lost_frames_ > 0) lines.push_back(fmt::format("{} frames are missing", lost_frames_));
    if (dropped_ > 0) lines.push_back(fmt::format("{} events were dropped while it ran", dropped_));
    return lines;
  }

  std::vector<int> domains_of_ranks() const {
    std::map<wire::DomainId, int> index;
    for (std::size_t i = 0; i < roster_.domains.size(); ++i) index.try_emplace(roster_.domains[i].id, int(i));
    std::vector<int> domains(ranks_.size(), -1);
    for (const wire::RankInfo& info : roster_.ranks) {
      const auto found = index.find(info.domain);
      if (std::size_t(info.rank) < domains.size() && found != index.end())
        domains[std::size_t(info.rank)] = found->second;
    }
    return domains;
  }

  std::vector<double> bytes() const {
    std::vector<double> bytes;
    for (const wire::DomainInfo& domain : roster_.domains) bytes.push_back(moved_.at(domain.id));
    return bytes;
  }

  std::string node_;
  wire::Roster roster_;
  wire::EventDecoder decoder_;
  std::map<Rank, RankReader> ranks_;
  std::map<wire::DomainId, double> moved_;  ///< By domain of any roster.
  std::uint64_t sequence_ = 0;              ///< Largest so far.
  std::uint64_t lost_frames_ = 0, unread_frames_ = 0, steps_ = 0;
  double dropped_ = 0;
};

}  // namespace

wire::Result<SessionHistory> read_history(const std::string& path) {
  auto log = wire::FrameLogReader::open(path);
  if (!log) return log.error();
  const auto refuse = [&](const wire::Error& error) { return wire::Error{path + ": " + error.message}; };
  SessionReader session;
  for (wire::FrameLogEntry entry; (*log)->next(entry);) {
    if (entry.direction != wire::Direction::kReceived) continue;
    if (const wire::Status taken = session.take(entry.bytes); !taken) return refuse(taken.error());
  }
  auto history = session.history((*log)->damage());
  if (!history) {
    const std::string& damage = (*log)->damage().first;
    return refuse({history.error().message + (damage.empty() ? "" : "; " + damage)});
  }
  return history;
}

}  // namespace idlewave::sim
