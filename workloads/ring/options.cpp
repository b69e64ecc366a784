#include "workloads/ring/options.h"

#include <algorithm>

namespace idlewave::ring {

int seats_of(const Options& options) {
  return options.series.empty() ? options.ranks_per_domain : *std::ranges::max_element(options.series);
}

bool takes_part(const Options& options, Rank rank, int ranks_per_domain) {
  return rank % seats_of(options) < ranks_per_domain;
}

Rank ranks_of_run(const Options& options, Rank job, int ranks_per_domain) {
  const int seats = seats_of(options);
  return job / seats * ranks_per_domain + std::min(job % seats, ranks_per_domain);
}

}  // namespace idlewave::ring
