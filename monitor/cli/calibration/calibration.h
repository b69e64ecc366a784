#pragma once
// A calibration that is over.

#include <string>
#include <vector>

#include "monitor/cli/calibration/fit.h"
#include "monitor/cli/calibration/measurement.h"

namespace idlewave::cli::calibration {

struct LoopResult {
  StreamKind kind = StreamKind::kTriad;
  Fit fit;                     ///< Of the repeats of all domains together: n cores of one domain.
  std::vector<Fit> of_domain;  ///< In the order of the domains.
  std::vector<double> likwid;  ///< b(1), b(2), ... by likwid-bench on the first domain, bytes/s; empty: not known.
};

struct Calibration {
  std::string processors;  ///< "AMD EPYC 7763 64-Core Processor, 128 processors"
  std::vector<MeasuredDomain> domains;
  std::vector<std::uint64_t> array_bytes;  ///< Of each domain.
  Plan plan;
  std::vector<LoopResult> loops;  ///< The first is the one of the machine file.

  int cores_of_domain() const;  ///< Of the largest.
};

}  // namespace idlewave::cli::calibration
