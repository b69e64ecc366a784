#include "workloads/sim/main/from_session.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "workloads/sim/main/inference.h"
#include "workloads/sim/main/parts.h"
#include "workloads/sim/simulator.h"

namespace idlewave::sim {
namespace {

using json = nlohmann::ordered_json;

constexpr std::size_t kMostDelays = 100'000;

/// The same figures of the recorded run and of the simulated one.
struct Figures {
  double makespan = 0;   ///< Seconds, from the first step's begin to the end of the last one.
  double step_time = 0;  ///< Mean, seconds.
  std::vector<double> active_means;
};

double makespan_of(const SessionHistory& history) {
  double last = 0;
  for (const auto& steps : history.ranks) last = std::max(last, steps.back().end);
  return last;
}

std::vector<double> active_means(const SessionHistory& history, Rank ranks_per_domain, double from, double to) {
  std::vector<double> means((history.ranks.size() + std::size_t(ranks_per_domain) - 1) / std::size_t(ranks_per_domain),
                            0);
  for (std::size_t rank = 0; rank < history.ranks.size(); ++rank) {
    double busy = 0;
    for (const StepTimes& step : history.ranks[rank])
      busy += std::max(0.0, std::min(step.post, to) - std::max(step.begin + step.held, from));
    means[rank / std::size_t(ranks_per_domain)] += busy / (to - from);
  }
  return means;
}

Figures measured(const SessionHistory& history, Rank ranks_per_domain, const Fractions& window) {
  Figures figures{.makespan = makespan_of(history), .step_time = 0, .active_means = {}};
  figures.step_time = figures.makespan / double(history.steps());
  figures.active_means =
      active_means(history, ranks_per_domain, window.from * figures.makespan, window.to * figures.makespan);
  return figures;
}

Figures simulated(const Run& run, Step steps) { return {run.makespan, run.makespan / double(steps), run.active_means}; }

json to_json(const Figures& figures) {
  return {{"makespan_s", figures.makespan}, {"step_time_s", figures.step_time}, {"active_means", figures.active_means}};
}

void print_json(const std::string& text, const Pattern& pattern, const Figures& life, const Figures& model) {
  const json object = {{"scenario", text},
                       {"distances", pattern.distances},
                       {"topology", pattern.ring ? "ring" : "chain"},
                       {"pattern_certain", pattern.certain},
                       {"measured", to_json(life)},
                       {"simulated", to_json(model)}};
  tell(object.dump(2, ' ', true, json::error_handler_t::replace) + "\n");
}

void print_row(const std::string& what, double life, double model) {
  tell(fmt::format("{:<26} {:>12.5g} {:>12.5g} {:>+8.1f} %\n", what, life, model,
                   life != 0 ? (model / life - 1) * 100 : 0));
}

void print_text(const std::string& text, const Figures& life, const Figures& model) {
  tell(text + fmt::format("\n{:<26} {:>12} {:>12} {:>10}\n", "", "measured", "simulated", "differs by"));
  print_row("makespan (s)", life.makespan, model.makespan);
  print_row("step time (s)", life.step_time, model.step_time);
  for (std::size_t i = 0; i < std::min(life.active_means.size(), model.active_means.size()); ++i)
    print_row(fmt::format("active ranks, domain {}", i), life.active_means[i], model.active_means[i]);
}

/// The reader of session files names the file itself.
std::string with_path(const std::string& path, const std::string& line) {
  return line.starts_with(path) ? line : path + ": " + line;
}

/// Each p ranks of the larger machine are to lie as the p of the recording do.
wire::Status check_domains(const support::Scenario& scenario, Rank factor) {
  const Rank each = scenario.machine.ranks_per_domain, recorded = scenario.machine.ranks / factor;
  if (factor == 1 || recorded % each == 0) return check_memory(scenario, {});
  return wire::Error{
      fmt::format("--extrapolate: the {} ranks of the recording do not fill domains of {} ranks; say how many share "
                  "one with --set machine.ranks_per_domain=N",
                  recorded, each)};
}

}  // namespace

int run_from_session(const Options& options) {
  const auto history = read_history(options.from);
  if (!history) return complain(history.error().message, kBadInput);
  if (std::int64_t(history->ranks.size()) * options.extrapolate > wire::kMaxRanks)
    return complain(fmt::format("--extrapolate: {} times {} ranks; at most {} ranks are possible", options.extrapolate,
                                history->ranks.size(), wire::kMaxRanks),
                    kBadInput);
  if (number_of_delays(*history) * std::size_t(options.extrapolate) > kMostDelays)
    return complain(fmt::format("{}: {} times {} delays; at most {} can be simulated", options.from,
                                options.extrapolate, number_of_delays(*history), kMostDelays),
                    kBadInput);
  for (const std::string& line : history->left_out) complain(with_path(options.from, line), kSuccess);
  const Pattern pattern = pattern_of(*history);
  if (!pattern.certain)
    complain(options.from +
                 ": its ranks were never out of step, so that nobody can tell who waits for whom: distances -1 and 1 "
                 "are assumed; inject a delay, or say it with --set communication.distances=[1]",
             kSuccess);
  const std::string text = scenario_of(*history, pattern, options.from, options.extrapolate);
  const auto scenario = support::parse_scenario(text, options.from, options.settings);
  if (!scenario) return complain(scenario.error().message, kBadInput);
  if (const auto whole = check_domains(*scenario, options.extrapolate); !whole)
    return complain(whole.error().message, kBadInput);
  const auto result = run(*scenario, {.stop = &interrupted(), .active_means_of = options.window});
  if (!result) return complain(result.error().message, kBadInput);
  if (result->stopped) return complain("interrupted: the simulation has no end to compare", kFailed);
  const Figures life = measured(*history, scenario->machine.ranks_per_domain, options.window),
                model = simulated(*result, scenario->program.steps);
  if (options.json)
    print_json(text, pattern, life, model);
  else
    print_text(text, life, model);
  return kSuccess;
}

}  // namespace idlewave::sim
