#pragma once
// Events as a bulk-synchronous program makes them, without its clock: ranks in a ring that compute, then wait for both
// neighbours. What the size and speed of the codec are judged by.

#include <cmath>
#include <cstdint>
#include <random>
#include <span>
#include <vector>

#include "probe/wire/codec.h"
#include "probe/wire/vocabulary.h"

namespace idlewave::wire {

struct SyntheticProgram {
  int ranks = 40;
  int steps = 200;
  double compute_ns = 20e6;
  double jitter_ns = 300e3;  ///< Standard deviation of each compute phase.
  double latency_ns = 2e3;   ///< Mean of the exponential part of a message's time.
  std::uint64_t traffic = 100'000'000;
  std::uint64_t seed = 1;
};

/// What each rank reports over the whole run: per step the step, the switch to compute, its traffic and the switch to
/// wait.
inline std::vector<std::vector<Event>> synthetic_lanes(const SyntheticProgram& program) {
  std::mt19937_64 random(program.seed);
  std::normal_distribution<double> compute(program.compute_ns, program.jitter_ns);
  std::exponential_distribution<double> latency(1 / program.latency_ns);
  std::normal_distribution<double> stamp_gap(30, 4);
  const auto ranks = static_cast<std::size_t>(program.ranks);
  std::vector<std::vector<Event>> lanes(ranks);
  std::vector<double> begin(ranks, 1e15), end(ranks);
  const auto at = [](double ns) { return Nanoseconds(std::llround(ns)); };
  for (int step = 0; step < program.steps; ++step) {
    for (std::size_t r = 0; r < ranks; ++r) {
      const double computes = begin[r] + std::max(10.0, stamp_gap(random));
      end[r] = computes + std::max(1e3, compute(random));
      lanes[r].push_back({at(begin[r]), static_cast<std::uint64_t>(step), EventKind::kStep, Phase::kWait});
      lanes[r].push_back({at(computes), 0, EventKind::kSwitch, Phase::kCompute});
      lanes[r].push_back({at(computes), program.traffic, EventKind::kTraffic, Phase::kCompute});
      lanes[r].push_back({at(end[r]), 0, EventKind::kSwitch, Phase::kWait});
    }
    for (std::size_t r = 0; r < ranks; ++r) {
      const double slowest = std::max({end[r], end[(r + 1) % ranks], end[(r + ranks - 1) % ranks]});
      begin[r] = slowest + 1e3 + latency(random);
    }
  }
  return lanes;
}

/// Hands out a synthetic run in frames: each holds the events of all lanes within the next `window` of time. Borrows
/// the lanes.
class SyntheticFrames {
 public:
  SyntheticFrames(const std::vector<std::vector<Event>>& lanes, Nanoseconds window)
      : lanes_(lanes), at_(lanes.size()), window_(window), until_(lanes.front().front().time + window) {}

  /// False when nothing is left. Lanes without events in the window are left out.
  bool next(std::vector<LaneBatch>& batches) {
    batches.clear();
    bool more = false;
    for (std::size_t r = 0; r < lanes_.size(); ++r) {
      const std::size_t begin = at_[r];
      while (at_[r] < lanes_[r].size() && lanes_[r][at_[r]].time < until_) ++at_[r];
      more = more || at_[r] < lanes_[r].size();
      if (at_[r] == begin) continue;
      const std::span<const Event> events(lanes_[r].data() + begin, at_[r] - begin);
      batches.push_back({{LaneId::Kind::kRank, static_cast<std::int32_t>(r)}, events});
    }
    until_ += window_;
    return more || !batches.empty();
  }
  Nanoseconds until() const { return until_ - window_; }  ///< End of the frame that next() gave last.

 private:
  const std::vector<std::vector<Event>>& lanes_;
  std::vector<std::size_t> at_;
  Nanoseconds window_;
  Nanoseconds until_;
};

inline std::size_t event_count(std::span<const LaneBatch> batches) {
  std::size_t count = 0;
  for (const LaneBatch& batch : batches) count += batch.events.size();
  return count;
}

}  // namespace idlewave::wire
