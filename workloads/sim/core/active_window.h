#pragma once
// How many ranks of each domain were at work, on average, in a part of the run.

#include <span>
#include <vector>

#include "workloads/sim/core/recorder.h"

namespace idlewave::sim::core {

/// Seconds of simulated time.
struct Window {
  double from = 0;
  double to = 0;
};

/// Adds up the part of all work that lies in the window; exact. Delays and noise are no work.
class ActiveWindow final : public Recorder {
 public:
  ActiveWindow(Rank ranks, Rank ranks_per_domain, Window window);
  void step_begins(Rank, Step, double) override {}
  void enters(Rank rank, Step step, Phase phase, double time) override;
  /// One step's work of all ranks, each from its place in `begun` for so many seconds, as if each had been told alone.
  void all_work(std::span<const double> begun, double seconds);

  /// Per domain; work that goes on counts up to the end of the window.
  std::vector<double> means();

 private:
  void add(Rank rank, double end);
  double part_inside(double begin, double end) const;

  Rank ranks_per_domain_;
  Window window_;
  std::vector<double> work_begun_;  // per rank; never if it is not at work
  std::vector<double> seconds_;     // per domain
};

}  // namespace idlewave::sim::core
