#include "monitor/analysis/causes/rank_causes.h"

namespace idlewave::analysis::causes {

Cost RankCauses::by_others() const {
  Cost sum;
  for (const Culprit& culprit : by) sum.direct += culprit.cost.direct, sum.far += culprit.cost.far;
  return sum;
}

}  // namespace idlewave::analysis::causes
