#include "workloads/sim/main/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

namespace idlewave::sim {
namespace {

using json = nlohmann::ordered_json;

Rank ranks_of_domain(const support::Machine& machine, Rank domain) {
  return std::min(machine.ranks_per_domain, machine.ranks - domain * machine.ranks_per_domain);
}

json domains_json(const support::Machine& machine, const Run& run) {
  json list = json::array();
  const Rank domains = (machine.ranks + machine.ranks_per_domain - 1) / machine.ranks_per_domain;
  for (Rank domain = 0; domain < domains; ++domain) {
    json object = {{"id", domain}, {"ranks", ranks_of_domain(machine, domain)}};
    if (!run.active_means.empty()) object["active_mean"] = run.active_means[std::size_t(domain)];
    list.push_back(std::move(object));
  }
  return list;
}

std::int64_t makespan_ns(const network::GoalRun& run) {
  return run.finish_ns.empty() ? 0 : *std::ranges::max_element(run.finish_ns);
}

}  // namespace

std::string run_json(const support::Scenario& scenario, const Options& options, const Timed& timed,
                     const std::string& findings) {
  const Run& run = timed.run;
  json object = {{"makespan_s", run.makespan}, {"rank_steps", run.rank_steps}, {"events", run.events},
                 {"wall_s", timed.wall_s},     {"seed", scenario.noise.seed},  {"stopped", run.stopped}};
  object["ranks"] = scenario.machine.ranks;
  object["steps"] = scenario.program.steps;
  object["window"] = {options.window.from, options.window.to};
  object["domains"] = domains_json(scenario.machine, run);
  if (options.step_start) object["step_start_s"] = run.starts;
  const json found = json::parse(findings, nullptr, false);
  if (found.is_object()) {
    for (const auto& [key, value] : found.items()) {
      if (!object.contains(key)) object[key] = value;
    }
  }
  return object.dump(2, ' ', true, json::error_handler_t::replace) + "\n";
}

std::string run_text(const support::Scenario& scenario, const Options& options, const Timed& timed) {
  const Run& run = timed.run;
  const auto& machine = scenario.machine;
  std::string text = fmt::format("{} ranks, {} steps: makespan {:.6g} s{}\n", machine.ranks, scenario.program.steps,
                                 run.makespan, run.stopped ? " so far (interrupted)" : "");
  text += fmt::format("simulated in {:.3g} s, {:.3g} million rank-steps a second\n", timed.wall_s,
                      double(run.rank_steps) * 1e-6 / std::max(timed.wall_s, 1e-9));
  constexpr std::size_t kMostLines = 32;
  const std::size_t lines = std::min(run.active_means.size(), kMostLines);
  for (std::size_t i = 0; i < lines; ++i) {
    text += fmt::format("domain {:<4} active {:6.3f} of {} on average, from {:.0f} % to {:.0f} % of the run\n", i,
                        run.active_means[i], ranks_of_domain(machine, Rank(i)), options.window.from * 100,
                        options.window.to * 100);
  }
  if (lines < run.active_means.size())
    text += fmt::format("... and {} more domains (--json has them all)\n", run.active_means.size() - lines);
  if (!run.starts.empty()) {
    const auto [first, last] = std::ranges::minmax_element(run.starts);
    text += fmt::format("step {} starts between {:.6g} s and {:.6g} s\n", *options.step_start, *first, *last);
  }
  return text;
}

std::string goal_json(const network::GoalRun& run, double wall_s, const std::optional<Extrapolated>& from) {
  json object = {{"makespan_s", double(makespan_ns(run)) * 1e-9},
                 {"ops", run.ops},
                 {"messages", run.messages},
                 {"wall_s", wall_s},
                 {"complete", run.complete()}};
  if (from) object["extrapolated"] = {{"from_ranks", from->ranks}, {"collectives", from->collectives}};
  object["finish_ns"] = run.finish_ns;
  return object.dump(2, ' ', true, json::error_handler_t::replace) + "\n";
}

std::string goal_text(const network::GoalRun& run, double wall_s, const std::optional<Extrapolated>& from) {
  const std::string source =
      from ? fmt::format("extrapolated from {} ranks: {} collective{} written anew, other messages at their distance\n",
                         from->ranks, from->collectives, from->collectives == 1 ? "" : "s")
           : "";
  return source + fmt::format(
                      "{} ranks, {} operations, {} message{}: makespan {} ns\nsimulated in {:.3g} s, {:.3g} million "
                      "operations a second\n",
                      run.finish_ns.size(), run.ops, run.messages, run.messages == 1 ? "" : "s", makespan_ns(run),
                      wall_s, double(run.ops) * 1e-6 / std::max(wall_s, 1e-9));
}

}  // namespace idlewave::sim
