#include "monitor/analysis/findings.h"

#include <utility>

namespace idlewave::analysis {

Findings analyse(const timeline::Timeline& timeline, Window window, const DomainStates& states,
                 std::vector<Wave> waves) {
  Findings findings;
  findings.window = window;
  findings.domains = domain_activity(timeline, window, &states);
  findings.steps = step_times(timeline, window);
  findings.skew = skew(timeline, window.to);
  findings.order = order_at(timeline, window.to);
  findings.waves = std::move(waves);
  std::erase_if(findings.waves, [&](const Wave& wave) { return wave.start >= window.to; });
  findings.efficiency = efficiency(timeline, window);
  findings.missing = find_missing(timeline);
  findings.lost_ranks = find_lost_ranks(timeline);
  return findings;
}

void leave_out_steps(Findings& findings) {
  findings.steps = {};
  findings.skew = {};
  findings.order.reset();
}

}  // namespace idlewave::analysis
