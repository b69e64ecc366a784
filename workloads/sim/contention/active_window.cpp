#include "workloads/sim/contention/active_window.h"

#include <algorithm>
#include <limits>

namespace idlewave::sim {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();

}  // namespace

ActiveWindow::ActiveWindow(Rank ranks, Rank ranks_per_domain, Window window)
    : ranks_per_domain_(ranks_per_domain),
      window_(window),
      work_begun_(static_cast<std::size_t>(ranks), kNever),
      seconds_(static_cast<std::size_t>((ranks + ranks_per_domain - 1) / ranks_per_domain), 0) {}

void ActiveWindow::enters(Rank rank, Step, Phase phase, double time) {
  add(rank, time);
  work_begun_[static_cast<std::size_t>(rank)] = phase == Phase::kCompute ? time : kNever;
}

void ActiveWindow::add(Rank rank, double end) {
  const double begin = std::max(work_begun_[static_cast<std::size_t>(rank)], window_.from);
  seconds_[static_cast<std::size_t>(rank / ranks_per_domain_)] += std::max(0.0, std::min(end, window_.to) - begin);
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

}  // namespace idlewave::sim
