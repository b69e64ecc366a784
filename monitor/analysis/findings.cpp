#include "monitor/analysis/findings.h"

namespace idlewave::analysis {

Findings analyse(const timeline::Timeline& timeline, Window window, WaveWatch& waves) {
  Findings findings;
  findings.window = window;
  findings.domains = domain_activity(timeline, window);
  findings.steps = step_times(timeline, window);
  findings.skew = skew(timeline, window.to);
  findings.waves = waves.look(timeline);
  findings.efficiency = efficiency(timeline, window);
  findings.missing = find_missing(timeline);
  return findings;
}

Findings analyse(const timeline::Timeline& timeline, Window window) {
  WaveWatch waves;
  return analyse(timeline, window, waves);
}

}  // namespace idlewave::analysis
