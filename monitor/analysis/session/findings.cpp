#include "monitor/analysis/session/findings.h"

#include <utility>

namespace idlewave::analysis::session {

Findings analyse(const timeline::Timeline& timeline, Window window, const domains::DomainStates& states,
                 std::vector<waves::Wave> waves) {
  Findings findings;
  findings.window = window;
  findings.domains = domains::domain_activity(timeline, window, &states);
  findings.steps = step_times(timeline, window);
  findings.skew = skew(timeline, window.to);
  findings.order = order_at(timeline, window.to);
  findings.waves = std::move(waves);
  std::erase_if(findings.waves, [&](const waves::Wave& wave) { return wave.start >= window.to; });
  findings.efficiency = efficiency(timeline, window);
  findings.missing = find_missing(timeline);
  findings.lost_ranks = find_lost_ranks(timeline);
  return findings;
}

void leave_out_steps(Findings& findings) {
  findings.steps = {};
  findings.skew = {};
  findings.order.reset();
  for (domains::DomainActivity& domain : findings.domains) {
    if (!domains::goes_by_steps(domain.state)) continue;
    domain.state = domains::DomainState::kStepsDiffer;
    domain.state_since.reset();
    domain.straggler = -1;
  }
}

}  // namespace idlewave::analysis::session
