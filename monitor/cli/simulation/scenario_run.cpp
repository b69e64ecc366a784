#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "monitor/analysis/plural.h"
#include "monitor/cli/simulation/observation.h"
#include "monitor/cli/simulation/run_findings.h"
#include "monitor/cli/simulation/ways.h"
#include "monitor/cli/verbs.h"
#include "probe/signals/interrupted.h"
#include "workloads/support/json.h"

namespace idlewave::cli::simulation {
namespace {

using analysis::plural;
using json = support::Json;
using signals::interrupted;

struct Timed {
  sim::core::Run run;
  /// Of the run alone, unobserved.
  double wall_s = 0;
};

wire::Result<Timed> simulate(const sim::Prepared& prepared, const ScenarioOptions& options) {
  const sim::core::RunOptions plain{
      .noise = prepared.noise.get(), .stop = &interrupted(), .starts_of = options.step_start};
  if (const wire::Status room = sim::check_memory(prepared.scenario, plain); !room) return room.error();
  const auto begin = std::chrono::steady_clock::now();
  auto result = sim::run(prepared.scenario, plain);
  if (!result) return result.error();
  return Timed{std::move(*result), std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count()};
}

// --- what a second, observed run adds ---

int say(const std::string& line) { return fail(line, 0); }

void say_that_it_was_interrupted(const Observation& observation, const ScenarioOptions& options, double makespan) {
  if (options.record.empty())
    say("interrupted: without what `idlewave report` finds in a run");
  else
    say(fmt::format("{}: interrupted, ends at {:.6g} s of {:.6g} s of simulated time", options.record,
                    observation.played.until, makespan));
}

/// Whether there is anything to look for, and room for it in a session.
bool has_findings(const sim::Prepared& prepared, const ScenarioOptions& options, const sim::core::Run& run) {
  if (!options.json) return false;
  wire::Status can_be_looked_at = check_observation(prepared.scenario);
  if (can_be_looked_at) can_be_looked_at = check_length(run.makespan);
  if (!can_be_looked_at) say_that_nothing_is_found(can_be_looked_at.error());
  return bool(can_be_looked_at);
}

/// Runs once more: records, returns what was found (null: nothing), and adds the averages to `run`.
wire::Result<json> look_at(const sim::Prepared& prepared, const ScenarioOptions& options, sim::core::Run& run) {
  const bool finds = has_findings(prepared, options, run);
  if (!finds && options.record.empty()) return json();
  auto observation = observe(prepared, run,
                             {.program = options.scenario.stem(),
                              .session = options.session,
                              .memory = finds ? std::optional(options.memory) : std::nullopt,
                              .record = options.record,
                              .window = options.window},
                             interrupted());
  if (!observation) return observation.error();
  run.active_means = std::move(observation->active_means);
  if (!observation->played.whole) return say_that_it_was_interrupted(*observation, options, run.makespan), json();
  return finds ? findings_of(observation->observer->timeline(), options.window, options.memory) : json();
}

/// Where nobody has looked at the run, or it adds up otherwise then.
wire::Status add_means(const sim::Prepared& prepared, const ScenarioOptions& options, sim::core::Run& run) {
  if (!run.active_means.empty() || interrupted()) return wire::ok();
  auto means = sim::active_means(prepared, run, options.window, &interrupted());
  if (!means) return means.error();
  run.active_means = std::move(*means);
  if (interrupted() && run.active_means.empty()) say("interrupted: without averages of active ranks");
  return wire::ok();
}

// --- the result ---

Rank ranks_of_domain(const support::Machine& machine, Rank domain) {
  return std::min(machine.ranks_per_domain, machine.ranks - domain * machine.ranks_per_domain);
}

json domains_json(const support::Machine& machine, const sim::core::Run& run) {
  json list = json::array();
  const Rank domains = (machine.ranks + machine.ranks_per_domain - 1) / machine.ranks_per_domain;
  for (Rank domain = 0; domain < domains; ++domain) {
    json object = {{"id", domain}, {"ranks", ranks_of_domain(machine, domain)}};
    object["active_mean"] = run.active_means.empty() ? json() : json(run.active_means[std::size_t(domain)]);
    list.push_back(std::move(object));
  }
  return list;
}

/// The keys of the run; behind them those of the findings that the run does not have itself.
std::string json_of(const support::Scenario& scenario, const ScenarioOptions& options, const Timed& timed,
                    json findings) {
  const sim::core::Run& run = timed.run;
  json object = {{"makespan_s", run.makespan}, {"rank_steps", run.rank_steps}, {"events", run.events},
                 {"wall_s", timed.wall_s},     {"seed", scenario.noise.seed},  {"stopped", run.stopped}};
  object["ranks"] = scenario.machine.ranks;
  object["steps"] = scenario.program.steps;
  object["window"] = {options.window.from, options.window.to};
  object["domains"] = domains_json(scenario.machine, run);
  if (options.step_start) object["step_start_s"] = run.starts;
  object.append_missing(std::move(findings));
  return object.text() + "\n";
}

std::string means_text(const support::Machine& machine, const ScenarioOptions& options, const sim::core::Run& run) {
  constexpr std::size_t kMostLines = 32;
  const std::size_t lines = std::min(run.active_means.size(), kMostLines);
  std::string text;
  for (std::size_t i = 0; i < lines; ++i) {
    text += fmt::format("domain {:<4} active {:6.3f} of {} on average, from {:.0f} % to {:.0f} % of the run\n", i,
                        run.active_means[i], ranks_of_domain(machine, Rank(i)), options.window.from * 100,
                        options.window.to * 100);
  }
  if (lines < run.active_means.size())
    text += fmt::format("... and {} (--json has them all)\n", plural(run.active_means.size() - lines, "more domain"));
  return text;
}

std::string text_of(const support::Scenario& scenario, const ScenarioOptions& options, const Timed& timed) {
  const sim::core::Run& run = timed.run;
  std::string text =
      fmt::format("{}, {}: makespan {:.6g} s{}\n", plural(scenario.machine.ranks, "rank"),
                  plural(scenario.program.steps, "step"), run.makespan, run.stopped ? " so far (interrupted)" : "");
  text += fmt::format("simulated in {:.3g} s, {:.3g} million rank-steps a second\n", timed.wall_s,
                      double(run.rank_steps) * 1e-6 / std::max(timed.wall_s, 1e-9));
  text += means_text(scenario.machine, options, run);
  if (run.starts.empty()) return text;
  const auto [first, last] = std::ranges::minmax_element(run.starts);
  return text + fmt::format("step {} starts between {:.6g} s and {:.6g} s\n", *options.step_start, *first, *last);
}

int finish(const sim::Prepared& prepared, const ScenarioOptions& options, Timed timed) {
  json findings;
  if (!timed.run.stopped) {
    auto found = look_at(prepared, options, timed.run);
    if (!found) return fail(found.error().message, 1);
    findings = std::move(*found);
    if (const wire::Status added = add_means(prepared, options, timed.run); !added)
      return fail(added.error().message, 2);
  } else if (!options.record.empty()) {
    say(options.record + ": not written, since the run was interrupted");
  }
  print(options.json ? json_of(prepared.scenario, options, timed, std::move(findings))
                     : text_of(prepared.scenario, options, timed));
  return timed.run.stopped && !options.record.empty() ? 1 : 0;
}

}  // namespace

int run(const ScenarioOptions& options) {
  auto prepared = sim::prepare(options.scenario, options.settings);
  if (!prepared) return fail(prepared.error().message, 2);
  if (options.without_delays) prepared->scenario.delays.clear();
  if (!options.record.empty()) {
    if (const wire::Status free = check_recording(prepared->scenario, options.record); !free)
      return fail(free.error().message, 2);
  }
  auto timed = simulate(*prepared, options);
  if (!timed) return fail(timed.error().message, 2);
  return finish(*prepared, options, std::move(*timed));
}

}  // namespace idlewave::cli::simulation
