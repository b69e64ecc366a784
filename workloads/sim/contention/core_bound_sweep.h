#pragma once
// Core-bound ranks share nothing, so a step follows from the one before by sums and maxima alone.

#include <atomic>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "workloads/sim/core/active_window.h"
#include "workloads/sim/core/model.h"
#include "workloads/sim/core/phase_noise.h"
#include "workloads/sim/core/recorder.h"

namespace idlewave::sim::contention {

using core::ActiveWindow;
using core::Model;
using core::PhaseNoise;
using core::Recorder;
using wire::Rank;
using wire::Step;

/// The max-plus recursion over steps and stages, all ranks at a time. Times are seconds. One thread.
class CoreBoundSweep {
 public:
  CoreBoundSweep(const Model& model, const PhaseNoise* noise, Recorder* recorder, std::optional<Step> starts_of);

  void add_work_to(ActiveWindow& window) { window_ = &window; }  ///< Of the caller, which keeps it for the run.

  void run(const std::atomic<bool>* stop);  ///< All steps; `stop`, if given, ends it after a step.

  Step steps() const { return done_; }  ///< That every rank has behind it.
  double makespan() const;
  std::span<const double> starts() const { return starts_; }

  static std::size_t bytes_for(const Model& model, bool starts);

 private:
  std::span<double> inner(std::vector<double>& padded) const;
  void step(Step step);
  void work(Step step);
  void work_observed(Step step);
  void delay(Step step);
  void tell_window();
  void exchange(int stage);
  void spare_the_lonely(int stage);
  void pad();
  void report_end();

  const Model& model_;
  const PhaseNoise* noise_;
  Recorder* recorder_;
  ActiveWindow* window_ = nullptr;
  Step starts_of_;
  std::size_t halo_;
  std::vector<double> times_;  // of the ranks, with those of their partners beyond either end
  std::vector<double> next_;
  std::vector<double> starts_;
  std::vector<std::pair<std::pair<Step, Rank>, double>> delays_;  // in order of steps
  std::size_t delays_taken_ = 0;
  Step done_ = 0;
};

}  // namespace idlewave::sim::contention
