#pragma once
// A session as a timeline would hold it, made without probes: ranks in a ring that share each socket's bandwidth,
// stepped through time in small ticks. Slow and obvious.

#include <string>
#include <vector>

#include "monitor/analysis/session/findings.h"
#include "monitor/timeline/timeline.h"
#include "monitor/view/model.h"

namespace idlewave::view::testing {

struct ProgramPlan {
  Rank ranks = 40;
  Rank ranks_per_socket = 10;
  double core_bandwidth = 10e9;
  double saturated_bandwidth = 50e9;
  double bytes_per_step = 0.1e9;  ///< Step of 20 ms in lockstep.
  Rank delayed_rank = 5;
  wire::Step delayed_step = 40;
  Nanoseconds delay = std::chrono::milliseconds(1200);
  Nanoseconds length = std::chrono::seconds(5);
  wire::BandwidthSource source = wire::BandwidthSource::kVirtual;
  std::string program = "iw-ring --kernel virtual";
  std::string label = "socket {}";  ///< {} becomes the socket's number.
  std::string node = "n1";
  std::string note = "no access to counters: load the msr module";  ///< Where there is no better source.
};

/// Fills a timeline with what such a program's probes and agent report.
void run(const ProgramPlan& plan, timeline::Timeline& timeline);

/// A timeline with everything that a Model refers to. The findings are written by hand, as for the usual plan: what is
/// drawn is tested here, not what is found.
class SyntheticSession {
 public:
  explicit SyntheticSession(const ProgramPlan& plan = {});
  SyntheticSession(const SyntheticSession&) = delete;
  SyntheticSession& operator=(const SyntheticSession&) = delete;

  timeline::Timeline timeline;
  analysis::session::Findings findings;
  std::vector<analysis::session::Remark> remarks;
  SessionInfo session;
  Model model() const { return {timeline, findings, remarks, session}; }
};

}  // namespace idlewave::view::testing
