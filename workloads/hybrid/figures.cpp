#include "workloads/hybrid/figures.h"

#include <algorithm>

#include "workloads/theory/hybrid.h"

namespace idlewave::hybrid {

double step_time(const Run& run) {
  double longest = 0;
  for (const RankFigures& rank : run.ranks) longest = std::max(longest, rank.step);
  return longest;
}

double largest_error(const Run& run) {
  double largest = 0;
  for (const RankFigures& rank : run.ranks) largest = std::max(largest, rank.error);
  return largest;
}

Shares shares_of(const Run& masteronly) {
  double communication = 0, overlap = 0, all = 0;
  for (const RankFigures& rank : masteronly.ranks) {
    communication += rank.communication;
    overlap += rank.work * rank.inner;
    all += rank.step;
  }
  return all > 0 ? Shares{communication / all, overlap / all} : Shares{};
}

std::optional<Ratio> ratio_of(const Run& run, const std::vector<Run>& runs, int threads) {
  const auto masteronly =
      std::ranges::find_if(runs, [](const Run& other) { return other.way.mode == Mode::kMasteronly; });
  if (masteronly == runs.end() || run.way.mode == Mode::kMasteronly) return std::nullopt;
  const auto [communication, overlap] = shares_of(*masteronly);
  return Ratio{step_time(*masteronly) / step_time(run),
               theory::funneled_reserved_ratio({communication, overlap}, threads, run.way.reserved)};
}

}  // namespace idlewave::hybrid
