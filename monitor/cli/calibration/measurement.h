#pragma once
// b(n) measured: which domains, which loops, how often.

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "probe/agent/topology.h"
#include "probe/wire/result.h"
#include "probe/words/choice.h"
#include "workloads/kernels/stream.h"

namespace idlewave::cli::calibration {

using kernels::StreamKind;
using wire::Nanoseconds;

std::string_view name_of(StreamKind kind);            ///< "triad", "triad-nt", "slow-triad", as in scenarios.
std::vector<words::Choice<StreamKind>> all_loops();   ///< By these names.
std::string_view formula_of(StreamKind kind);         ///< "A = B + s C"
std::size_t bytes_as_stream_counts(StreamKind kind);  ///< Of an iteration: each array once, no write-allocate.
std::vector<StreamKind> all_kinds();

/// One contention domain, and one processor of each of its cores.
struct MeasuredDomain {
  std::string label;
  std::vector<int> cores;
  std::vector<int> processors;  ///< Also the others of each core, on which nobody else should be at work.
  std::uint64_t cache = 0;      ///< Bytes of its last level; 0: not known.
};
std::vector<MeasuredDomain> domains_of(const agent::Topology& topology);

struct Plan {
  std::vector<StreamKind> kinds;
  std::uint64_t array_bytes = 0;  ///< Each; 0: four times the last-level cache, as STREAM asks for.
  Nanoseconds time{};             ///< Of one measurement.
  int repeats = 0;
};

constexpr int kTimesCache = 4;
std::uint64_t array_bytes(const Plan& plan, const MeasuredDomain& domain);

/// Bandwidths of one loop on one domain: repeats[n - 1][r], bytes per second.
struct Series {
  StreamKind kind = StreamKind::kTriad;
  std::vector<std::vector<double>> repeats;
};

/// All loops in turn, over all n, and that again and again: what changes slowly is seen as scatter, and not as a curve.
/// `progress` hears the share that is done. Error: one line.
wire::Result<std::vector<Series>> measure(const MeasuredDomain& domain, const Plan& plan,
                                          const std::function<void(double)>& progress);

}  // namespace idlewave::cli::calibration
