#include "monitor/analysis/partners/stretches.h"

namespace idlewave::analysis::partners {

std::vector<StretchOfSteps> stretches_of(std::span<const wire::Step> steps, std::size_t most) {
  std::vector<StretchOfSteps> stretches;
  if (most == 0) return stretches;
  for (wire::Step width = 0;; width = 2 * width + 1) {
    stretches.clear();
    for (const wire::Step step : steps) {
      if (stretches.empty() || step - stretches.back().first > width) stretches.push_back({step, step});
      stretches.back().last = step;
    }
    if (stretches.size() <= most) return stretches;
  }
}

}  // namespace idlewave::analysis::partners
