#include "workloads/ring/report.h"

#include <algorithm>

#include "workloads/support/json.h"

namespace idlewave::ring {
namespace {

using support::Json;

double seconds(Nanoseconds time) { return std::chrono::duration<double>(time).count(); }

double reduce(double own, MPI_Op operation, MPI_Comm ranks) {
  double all = 0;
  MPI_Allreduce(&own, &all, 1, MPI_DOUBLE, operation, ranks);
  return all;
}

Span window_of(const Options& options, const RunResult& result, double makespan) {
  const auto at = [&](double fraction) {
    return result.time.from + Nanoseconds{static_cast<std::int64_t>(fraction * makespan * 1e9)};
  };
  return {at(options.window.from), at(options.window.to)};
}

/// One line of the table of domains, as its first rank sends it.
struct DomainRow {
  int id;
  int first_rank;
  int ranks;
  double active_mean;
  double core_bandwidth;
  double saturated_bandwidth;
};

/// One row from each domain, on rank 0. Collective.
std::vector<DomainRow> gather_domains(MPI_Comm ranks, const Work& work, double own_activity) {
  const ranks::Group world = ranks::group_of(ranks);
  const ranks::Group& group = work.domain.group;
  const DomainRow row{work.domain.id,
                      world.rank,
                      group.rank == 0 ? group.size : 0,
                      reduce(own_activity, MPI_SUM, group.ranks),
                      work.bandwidths.core,
                      work.bandwidths.saturated};
  std::vector<DomainRow> rows(world.rank == 0 ? static_cast<std::size_t>(world.size) : 0);
  MPI_Gather(&row, sizeof row, MPI_BYTE, rows.data(), sizeof row, MPI_BYTE, 0, ranks);
  std::erase_if(rows, [](const DomainRow& r) { return r.ranks == 0; });
  return rows;
}

Json to_json(const std::vector<DomainRow>& rows) {
  Json list = Json::array();
  for (const DomainRow& row : rows) {
    list.push_back({{"id", row.id},
                    {"first_rank", row.first_rank},
                    {"ranks", row.ranks},
                    {"active_mean", row.active_mean},
                    {"core_bandwidth", row.core_bandwidth},
                    {"domain_bandwidth", row.saturated_bandwidth}});
  }
  return list;
}

}  // namespace

std::string report(const Options& options, MPI_Comm ranks, const Work& work, const RunResult& result, bool eager) {
  const ranks::Group world = ranks::group_of(ranks);
  const double makespan = reduce(seconds(result.time.to - result.time.from), MPI_MAX, ranks);
  const double computing = reduce(seconds(result.activity.total()), MPI_SUM, ranks);
  const Span window = window_of(options, result, makespan);
  const double active =
      seconds(result.activity.total_within(window)) / std::max(seconds(window.to - window.from), 1e-9);
  const std::vector<DomainRow> domains = gather_domains(ranks, work, active);
  if (world.rank != 0) return {};
  const double rank_steps = std::max(static_cast<double>(result.steps) * world.size, 1.0);
  return Json{{"ranks", world.size},
              {"steps", result.steps},
              {"makespan_s", makespan},
              {"step_mean_s", makespan / static_cast<double>(std::max<Step>(result.steps, 1))},
              {"compute_mean_s", computing / rank_steps},
              {"protocol", eager ? "eager" : "rendezvous"},
              {"domains", to_json(domains)}}
      .text();
}

}  // namespace idlewave::ring
