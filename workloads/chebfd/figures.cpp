#include "workloads/chebfd/figures.h"

#include <algorithm>

namespace idlewave::chebfd {

double filter_time(const Run& run) {
  double longest = 0;
  for (const RankFigures& rank : run.ranks) longest = std::max(longest, rank.filter);
  return longest;
}

double performance(const Run& run) { return run.flops / filter_time(run); }
double bandwidth(const Run& run) { return run.bytes / filter_time(run); }
double code_balance(const Run& run) { return run.bytes / run.flops; }

}  // namespace idlewave::chebfd
