#include "monitor/analysis/findings.h"

namespace idlewave::analysis {

Findings analyse(const timeline::Timeline& timeline, Window window, const DomainStates& states,
                 std::span<const Wave> known) {
  Findings findings;
  findings.window = window;
  findings.domains = domain_activity(timeline, window, &states);
  findings.steps = step_times(timeline, window);
  findings.skew = skew(timeline, window.to);
  findings.waves = find_waves(timeline, {Nanoseconds{0}, Nanoseconds::max()}, known);
  findings.efficiency = efficiency(timeline, window);
  findings.missing = find_missing(timeline);
  return findings;
}

}  // namespace idlewave::analysis
