#pragma once
// What the ranks of a program of collectives do between the collectives.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

#include "workloads/sim/network/collective_program.h"

namespace idlewave::sim::network {

using wire::Phase;
using wire::Step;

/// Nanoseconds. In ticks (waiting_messages.h) there is room for four times as many.
inline constexpr std::int64_t kLongestCollective = std::int64_t{1} << 56;

inline std::int64_t to_ns(double seconds) {
  return std::int64_t(std::llround(std::min(seconds * 1e9, double(kLongestCollective))));
}
inline double to_seconds(std::int64_t ns) { return double(ns) * 1e-9; }

/// What the noise makes of work and of idle time before it.
class CollectiveWork {
 public:
  CollectiveWork(const CollectiveProgram& program, const CollectiveOptions& options, CollectiveRun& run)
      : program_(program),
        options_(options),
        run_(run),
        interrupted_(options.is_interrupted()),
        delays_(program.delays) {
    std::ranges::sort(delays_, {}, [](const Idle& idle) { return std::pair(idle.rank, idle.step); });
    if (interrupted_) quiet_until_.resize(std::size_t(program.ranks), -1);
    if (options.starts_of) run.starts_ns.resize(std::size_t(program.ranks));
  }

  /// From when on an interrupted processor is free. Times of a rank do not decrease.
  std::int64_t free_from(Rank rank, std::int64_t time) {
    std::int64_t& quiet = quiet_until_[std::size_t(rank)];
    if (time <= quiet) return time;
    const double seconds = to_seconds(time), free = options_.noise->free_from(rank, seconds);
    const double ns = std::min(free * 1e9, double(2 * kLongestCollective));
    const std::int64_t free_ns = free > seconds ? std::max(time, std::int64_t(std::ceil(ns - 1e-3))) : time;
    // Less the nanosecond by which roundings may be off.
    if (free_ns == time) quiet = to_ns(options_.noise->next_from(rank, seconds)) - 2;
    return free_ns;
  }

  /// What interruptions add to what takes so long.
  std::int64_t interruptions(Rank rank, Step step, std::int64_t begin, std::int64_t length) const {
    return begin + length <= quiet_until_[std::size_t(rank)] ? 0 : noise(rank, step, begin, length);
  }

  std::int64_t noise(Rank rank, Step step, std::int64_t begin, std::int64_t length) const {
    return to_ns(options_.noise->after(rank, step, to_seconds(begin), to_seconds(begin + length)));
  }

  /// When the work of a step that begins at `time` ends, delay and noise with it.
  std::int64_t end(Rank rank, Step step, std::int64_t time) {
    if (options_.starts_of == step) run_.starts_ns[std::size_t(rank)] = time;
    const std::int64_t delayed = time + delay(rank, step);
    const std::int64_t begin = interrupted_ ? free_from(rank, delayed) : delayed;
    const std::int64_t idle = options_.noise ? noise(rank, step, begin, program_.work_ns) : 0;
    if (options_.recorder) record(rank, step, {time, delayed, begin, begin + program_.work_ns}, idle);
    return begin + program_.work_ns + idle;
  }

 private:
  std::int64_t delay(Rank rank, Step step) const {
    if (delays_.empty()) return 0;
    const auto place = [](const Idle& idle) { return std::pair(idle.rank, idle.step); };
    auto found = std::ranges::lower_bound(delays_, std::pair(rank, step), {}, place);
    std::int64_t sum = 0;
    for (; found != delays_.end() && place(*found) == std::pair(rank, step); ++found) sum += found->ns;
    return sum;
  }

  struct Moments {
    std::int64_t step, delayed, begin, end;
  };

  void record(Rank rank, Step step, const Moments& at, std::int64_t idle) const {
    Recorder& recorder = *options_.recorder;
    recorder.step_begins(rank, step, to_seconds(at.step));
    if (at.delayed > at.step) recorder.enters(rank, step, Phase::kDelay, to_seconds(at.step));
    if (at.begin > at.delayed) recorder.enters(rank, step, Phase::kNoise, to_seconds(at.delayed));
    recorder.enters(rank, step, Phase::kCompute, to_seconds(at.begin));
    if (idle > 0) recorder.enters(rank, step, Phase::kNoise, to_seconds(at.end));
    recorder.enters(rank, step, Phase::kWait, to_seconds(at.end + idle));
  }

  const CollectiveProgram& program_;
  const CollectiveOptions& options_;
  CollectiveRun& run_;
  const bool interrupted_;
  std::vector<Idle> delays_;
  std::vector<std::int64_t> quiet_until_;  ///< By rank: nothing interrupts it before, from the last question on.
};

}  // namespace idlewave::sim::network
