#include "workloads/ring/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "probe/words/quantity.h"
#include "workloads/support/json.h"

namespace idlewave::ring {
namespace {

using support::Json;
using wire::seconds;

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

/// One row from each domain, on rank 0. Collective.
std::vector<DomainFigures> gather_domains(MPI_Comm ranks, const Work& work, double own_activity) {
  const ranks::Group world = ranks::group_of(ranks);
  const ranks::Group& group = work.domain.group;
  const DomainFigures row{work.domain.id,
                          world.rank,
                          group.rank == 0 ? group.size : 0,
                          reduce(own_activity, MPI_SUM, group.ranks),
                          work.bandwidths.core,
                          work.bandwidths.saturated};
  std::vector<DomainFigures> rows(world.rank == 0 ? static_cast<std::size_t>(world.size) : 0);
  MPI_Gather(&row, sizeof row, MPI_BYTE, rows.data(), sizeof row, MPI_BYTE, 0, ranks);
  std::erase_if(rows, [](const DomainFigures& r) { return r.ranks == 0; });
  return rows;
}

Json to_json(const std::vector<DomainFigures>& rows) {
  Json list = Json::array();
  for (const DomainFigures& row : rows) {
    list.push_back({{"id", row.id},
                    {"first_rank", row.first_rank},
                    {"ranks", row.ranks},
                    {"active_mean", row.active_mean},
                    {"core_bandwidth", row.core_bandwidth},
                    {"domain_bandwidth", row.saturated_bandwidth}});
  }
  return list;
}

Json to_json(const Figures& figures) {
  return {{"ranks", figures.ranks},
          {"threads", figures.threads},
          {"steps", figures.steps},
          {"makespan_s", figures.makespan},
          {"step_mean_s", figures.step()},
          {"compute_mean_s", figures.compute},
          {"protocol", figures.eager ? "eager" : "rendezvous"},
          {"domains", to_json(figures.domains)}};
}

std::string in_words(double time) { return words::format_duration(Nanoseconds{static_cast<std::int64_t>(time * 1e9)}); }

}  // namespace

Figures gathered(const Options& options, MPI_Comm ranks, const Work& work, const RunResult& result, bool eager) {
  const ranks::Group world = ranks::group_of(ranks);
  const double makespan = reduce(seconds(result.time.to - result.time.from), MPI_MAX, ranks);
  const double computing = reduce(seconds(result.activity.total()), MPI_SUM, ranks);
  const Span window = window_of(options, result, makespan);
  const double active =
      seconds(result.activity.total_within(window)) / std::max(seconds(window.to - window.from), 1e-9);
  const double rank_steps = std::max(static_cast<double>(result.steps) * world.size, 1.0);
  return {.ranks = world.size,
          .threads = options.threads,
          .steps = result.steps,
          .makespan = makespan,
          .compute = computing / rank_steps,
          .eager = eager,
          .domains = gather_domains(ranks, work, active)};
}

std::string json(const Figures& figures) { return to_json(figures).text(); }

std::string series_json(const Options& options, const std::vector<Figures>& runs) {
  Json list = Json::array();
  for (std::size_t i = 0; i < runs.size(); ++i) {
    Json run = to_json(runs[i]);
    run["ranks_per_domain"] = options.series[i];
    list.push_back(std::move(run));
  }
  return Json{{"series", list}}.text();
}

std::string series_table(const Options& options, const std::vector<Figures>& runs) {
  std::string text = fmt::format("{:>11}{:>9}{:>8}{:>12}{:>12}  {}\n", "on a socket", "ranks", "steps", "a step",
                                 "of it work", "active on a socket: mean, least, most");
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const Figures& run = runs[i];
    double sum = 0, least = run.domains.front().active_mean, most = least;
    for (const DomainFigures& domain : run.domains) {
      sum += domain.active_mean;
      least = std::min(least, domain.active_mean);
      most = std::max(most, domain.active_mean);
    }
    fmt::format_to(std::back_inserter(text), "{:>11}{:>9}{:>8}{:>12}{:>12}  {:.2f}, {:.2f}, {:.2f}\n",
                   options.series[i], run.ranks, run.steps, in_words(run.step()), in_words(run.compute),
                   sum / static_cast<double>(run.domains.size()), least, most);
  }
  return text;
}

}  // namespace idlewave::ring
