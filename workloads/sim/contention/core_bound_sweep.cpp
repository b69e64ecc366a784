#include "workloads/sim/contention/core_bound_sweep.h"

#include <algorithm>
#include <cstdlib>
#include <limits>

namespace idlewave::sim::contention {
namespace {

using wire::Phase;

constexpr double kLongAgo = std::numeric_limits<double>::lowest() / 2;  // of partners beyond the end of a chain
constexpr std::size_t kBlock = 1024;                                    // ranks: 8 KiB stay in the first cache

void raise(double* __restrict to, const double* __restrict from, std::size_t count, double transfer) {
  for (std::size_t i = 0; i < count; ++i) {
    const double arrival = from[i] + transfer;
    to[i] = to[i] < arrival ? arrival : to[i];
  }
}

void add(double* __restrict to, const double* __restrict from, std::size_t count, double seconds) {
  for (std::size_t i = 0; i < count; ++i) to[i] = from[i] + seconds;
}

}  // namespace

CoreBoundSweep::CoreBoundSweep(const Model& model, const PhaseNoise* noise, Recorder* recorder,
                               std::optional<Step> starts_of)
    : model_(model),
      noise_(noise),
      recorder_(recorder),
      starts_of_(starts_of.value_or(wire::kNoStep)),
      halo_(static_cast<std::size_t>(model.partners.farthest())),
      times_(static_cast<std::size_t>(model.ranks) + 2 * halo_, 0),
      next_(times_.size(), 0),
      starts_(starts_of ? static_cast<std::size_t>(model.ranks) : 0) {
  for (const auto& [where, seconds] : model.delays) delays_.push_back({{where.second, where.first}, seconds});
  std::ranges::sort(delays_);
}

std::size_t CoreBoundSweep::bytes_for(const Model& model, bool starts) {
  const auto padded = static_cast<std::size_t>(model.ranks) + 2 * static_cast<std::size_t>(model.partners.farthest());
  return (2 * padded + (starts ? static_cast<std::size_t>(model.ranks) : 0)) * sizeof(double);
}

std::span<double> CoreBoundSweep::inner(std::vector<double>& padded) const {
  return std::span{padded}.subspan(halo_, static_cast<std::size_t>(model_.ranks));
}

void CoreBoundSweep::run(const std::atomic<bool>* stop) {
  while (done_ < model_.steps) {
    if (stop && stop->load(std::memory_order_relaxed)) return;
    step(done_++);
  }
  if (recorder_) report_end();
}

double CoreBoundSweep::makespan() const {
  return *std::max_element(times_.begin() + static_cast<std::ptrdiff_t>(halo_),
                           times_.end() - static_cast<std::ptrdiff_t>(halo_));
}

void CoreBoundSweep::step(Step step) {
  if (step == starts_of_) std::ranges::copy(inner(times_), starts_.begin());
  if (recorder_ || noise_) {
    work_observed(step);
  } else {
    work(step);
  }
  for (int stage = 0; stage < model_.partners.stages(); ++stage) exchange(stage);
}

void CoreBoundSweep::work(Step step) {
  delay(step);
  tell_window();
  double* const times = inner(times_).data();
  for (std::size_t i = 0; i < static_cast<std::size_t>(model_.ranks); ++i) times[i] += model_.seconds.front();
}

void CoreBoundSweep::delay(Step step) {
  for (; delays_taken_ < delays_.size() && delays_[delays_taken_].first.first == step; ++delays_taken_) {
    const auto& [where, seconds] = delays_[delays_taken_];
    if (recorder_ && seconds > 0) {
      const double now = inner(times_)[static_cast<std::size_t>(where.second)];
      recorder_->enters(where.second, step, Phase::kDelay, now);
    }
    inner(times_)[static_cast<std::size_t>(where.second)] += seconds;
  }
}

void CoreBoundSweep::tell_window() {
  if (window_) window_->all_work(inner(times_), model_.seconds.front());
}

void CoreBoundSweep::work_observed(Step step) {
  const std::span<double> times = inner(times_);
  if (recorder_) {
    for (Rank rank = 0; rank < model_.ranks; ++rank) {
      recorder_->step_begins(rank, step, times[static_cast<std::size_t>(rank)]);
    }
  }
  delay(step);
  tell_window();
  for (Rank rank = 0; rank < model_.ranks; ++rank) {
    double& time = times[static_cast<std::size_t>(rank)];
    if (recorder_) recorder_->enters(rank, step, Phase::kCompute, time);
    const double begin = time;
    time += model_.seconds.front();
    const double idle = noise_ ? noise_->after(rank, step, begin, time) : 0;
    if (recorder_ && idle > 0) recorder_->enters(rank, step, Phase::kNoise, time);
    if (idle > 0) time += idle;
    if (recorder_) recorder_->enters(rank, step, Phase::kWait, time);
  }
}

/// From the times of the posts to those at which the waits end: max(own post, partner's post + T), and with rendezvous
/// max(both posts) + T.
void CoreBoundSweep::exchange(int stage) {
  const auto distances = model_.partners.waits_on(stage);
  if (distances.empty()) return;
  pad();
  const auto ranks = static_cast<std::size_t>(model_.ranks);
  const double own = model_.rendezvous ? model_.transfer : 0;
  for (std::size_t from = 0; from < ranks; from += kBlock) {
    const std::size_t count = std::min(kBlock, ranks - from);
    double* const to = next_.data() + halo_ + from;
    add(to, times_.data() + halo_ + from, count, own);
    for (const Rank distance : distances) {
      raise(to, times_.data() + (static_cast<std::ptrdiff_t>(halo_ + from) + distance), count, model_.transfer);
    }
  }
  if (own > 0) spare_the_lonely(stage);
  times_.swap(next_);
}

/// The middle of a chain that is shorter than twice the distance has no partner, and no transfer.
void CoreBoundSweep::spare_the_lonely(int stage) {
  if (model_.partners.topology() != support::Topology::kChain) return;
  Rank nearest = model_.ranks;
  for (const Rank distance : model_.partners.waits_on(stage)) nearest = std::min(nearest, std::abs(distance));
  for (Rank rank = model_.ranks - nearest; rank < nearest; ++rank) {
    inner(next_)[static_cast<std::size_t>(rank)] = inner(times_)[static_cast<std::size_t>(rank)];
  }
}

void CoreBoundSweep::pad() {
  const auto halo = static_cast<std::ptrdiff_t>(halo_);
  if (model_.partners.topology() == support::Topology::kRing) {
    std::copy_n(times_.end() - 2 * halo, halo, times_.begin());
    std::copy_n(times_.begin() + halo, halo, times_.end() - halo);
  } else {
    std::fill_n(times_.begin(), halo, kLongAgo);
    std::fill_n(times_.end() - halo, halo, kLongAgo);
  }
}

void CoreBoundSweep::report_end() {
  for (Rank rank = 0; rank < model_.ranks; ++rank) {
    recorder_->enters(rank, model_.steps - 1, Phase::kNone, inner(times_)[static_cast<std::size_t>(rank)]);
  }
}

}  // namespace idlewave::sim::contention
