#include "workloads/sim/core/active_window.h"

#include <algorithm>
#include <limits>

namespace idlewave::sim::core {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();

}  // namespace

ActiveWindow::ActiveWindow(Rank ranks, Rank ranks_per_domain, Window window)
    : ranks_per_domain_(ranks_per_domain),
      window_(window),
      work_begun_(static_cast<std::size_t>(ranks), kNever),
      seconds_(static_cast<std::size_t>((ranks + ranks_per_domain - 1) / ranks_per_domain), 0) {}

void ActiveWindow::enters(Rank rank, Step, Phase phase, double time) {
  if (time > window_.to) return;  // The sums are to the bit those of a run that ends with the window.
  add(rank, time);
  work_begun_[static_cast<std::size_t>(rank)] = phase == Phase::kCompute ? time : kNever;
}

void ActiveWindow::add(Rank rank, double end) {
  seconds_[static_cast<std::size_t>(rank / ranks_per_domain_)] +=
      part_inside(work_begun_[static_cast<std::size_t>(rank)], end);
}

double ActiveWindow::part_inside(double begin, double end) const {
  return std::max(0.0, std::min(end, window_.to) - std::max(begin, window_.from));
}

void ActiveWindow::all_work(std::span<const double> begun, double seconds) {
  const auto ranks_per_domain = static_cast<std::size_t>(ranks_per_domain_);
  for (std::size_t domain = 0; domain < seconds_.size(); ++domain) {
    const std::size_t first = domain * ranks_per_domain;
    double sum = seconds_[domain];
    for (const double begin : begun.subspan(first, std::min(ranks_per_domain, begun.size() - first))) {
      sum += part_inside(begin, begin + seconds);
    }
    seconds_[domain] = sum;
  }
}

std::vector<double> ActiveWindow::means() {
  for (std::size_t rank = 0; rank < work_begun_.size(); ++rank) {
    add(static_cast<Rank>(rank), window_.to);
    work_begun_[rank] = kNever;
  }
  std::vector<double> means = seconds_;
  for (double& mean : means) mean /= window_.to - window_.from;
  return means;
}

}  // namespace idlewave::sim::core
