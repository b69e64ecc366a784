#pragma once
// What is found late in a run that is played.

#include <vector>

#include "monitor/analysis/waves/late_steps.h"
#include "tests/analysis/ring_model.h"

namespace idlewave::analysis {

inline std::vector<waves::LateStep> late_in(RingModel model) {
  model.run();
  timeline::Timeline timeline;
  model.fill(timeline);
  waves::LateSteps late;
  late.read(timeline);
  return {late.found().begin(), late.found().end()};
}

}  // namespace idlewave::analysis
