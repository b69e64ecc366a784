#include "monitor/cli/calibration/measurement.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "workloads/kernels/stream_team.h"
#include "workloads/support/memory_limit.h"

namespace idlewave::cli::calibration {
namespace {

constexpr std::uint64_t kWhereNoCacheIsKnown = 256u << 20;

std::size_t arrays_of(StreamKind kind) { return kind == StreamKind::kSlowTriad ? 4 : 3; }

std::size_t arrays_of(const Plan& plan) {
  std::size_t most = 0;
  for (const StreamKind kind : plan.kinds) most = std::max(most, arrays_of(kind));
  return most;
}

}  // namespace

std::string_view name_of(StreamKind kind) { return support::name_of(kernels::kernel_of(kind)); }

std::string_view formula_of(StreamKind kind) {
  switch (kind) {
    case StreamKind::kTriad: return "A = B + s C";
    case StreamKind::kTriadNt: return "A = B + s C, non-temporal stores";
    case StreamKind::kSlowTriad: return "A = B + cos(C / D)";
  }
  return "";
}

std::vector<words::Choice<StreamKind>> all_loops() {
  std::vector<words::Choice<StreamKind>> loops;
  for (const auto& [name, kernel] : support::kLoops)
    if (const auto kind = kernels::stream_of(kernel)) loops.emplace_back(name, *kind);
  return loops;
}

std::vector<StreamKind> all_kinds() {
  std::vector<StreamKind> kinds;
  for (const auto& [name, kind] : all_loops()) kinds.push_back(kind);
  return kinds;
}

std::size_t bytes_as_stream_counts(StreamKind kind) { return arrays_of(kind) * sizeof(double); }

std::vector<MeasuredDomain> domains_of(const agent::Topology& topology) {
  std::vector<MeasuredDomain> domains;
  for (const auto& domain : topology.domains())
    domains.push_back(
        {domain.label, topology.cores_of(domain.id), domain.processors, topology.last_cache_of(domain.id)});
  return domains;
}

std::uint64_t array_bytes(const Plan& plan, const MeasuredDomain& domain) {
  if (plan.array_bytes > 0) return plan.array_bytes;
  return domain.cache > 0 ? kTimesCache * domain.cache : kWhereNoCacheIsKnown;
}

wire::Result<std::vector<Series>> measure(const MeasuredDomain& domain, const Plan& plan,
                                          const std::function<void(double)>& progress) {
  const std::uint64_t bytes = array_bytes(plan, domain);
  if (const auto room = support::check_memory(arrays_of(plan) * bytes, "--size makes the arrays smaller"); !room)
    return room.error();
  auto team = kernels::StreamTeam::create(domain.cores, bytes / sizeof(double), arrays_of(plan));
  if (!team) return team.error();
  const int cores = int(domain.cores.size());
  std::vector<Series> all;
  for (const StreamKind kind : plan.kinds) all.push_back({kind, std::vector<std::vector<double>>(domain.cores.size())});
  // The round before the first is for pages and clocks.
  for (int round = 0; round <= plan.repeats; ++round) {
    for (Series& series : all) {
      for (int n = 1; n <= cores; ++n) {
        const auto bandwidth = team->bandwidth(series.kind, n, plan.time);
        if (!bandwidth) return bandwidth.error();
        if (round > 0) series.repeats[std::size_t(n) - 1].push_back(*bandwidth);
      }
    }
    progress(double(round + 1) / (plan.repeats + 1));
  }
  return all;
}

}  // namespace idlewave::cli::calibration
