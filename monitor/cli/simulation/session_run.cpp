#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "monitor/analysis/program.h"
#include "monitor/cli/recording.h"
#include "monitor/cli/simulation/derived_scenario.h"
#include "monitor/cli/simulation/ways.h"
#include "monitor/cli/verbs.h"
#include "workloads/sim/simulator.h"
#include "workloads/sim/sweep/console.h"

namespace idlewave::cli::simulation {
namespace {

using analysis::Program;
using json = nlohmann::ordered_json;
using timeline::LossKind;
using timeline::Timeline;

constexpr std::size_t kMostDelays = 100'000;

/// The same figures of the recorded run and of the simulated one.
struct Figures {
  /// Seconds, from the first step's begin to the end of the last one.
  double makespan = 0;
  /// Mean, seconds.
  double step_time = 0;
  std::vector<double> active_means;
};

Figures measured(const Program& program, Rank ranks_per_domain, words::Fractions window) {
  const Nanoseconds begin = program.steps.begin(), length = program.steps.end() - begin;
  const auto at = [&](double fraction) { return begin + Nanoseconds(std::int64_t(fraction * double(length.count()))); };
  const double makespan = std::chrono::duration<double>(length).count();
  return {makespan, makespan / double(program.steps.steps()),
          analysis::mean_at_work(program.steps, ranks_per_domain, at(window.from), at(window.to))};
}

Figures simulated(const sim::core::Run& run, wire::Step steps) {
  return {run.makespan, run.makespan / double(steps), run.active_means};
}

json to_json(const Figures& figures) {
  return {{"makespan_s", figures.makespan}, {"step_time_s", figures.step_time}, {"active_means", figures.active_means}};
}

/// As `report` has it.
json partners_of(const analysis::Pattern& pattern) {
  if (!pattern.certain) return {};
  return pattern.declared ? "declared" : "inferred";
}

std::string json_of(const std::string& scenario, const analysis::Pattern& pattern, const Figures& life,
                    const Figures& model) {
  const json object = {{"scenario", scenario},
                       {"distances", pattern.distances},
                       {"topology", pattern.ring ? "ring" : "chain"},
                       {"pattern_certain", pattern.certain},
                       {"partners", partners_of(pattern)},
                       {"measured", to_json(life)},
                       {"simulated", to_json(model)}};
  return object.dump(2, ' ', true, json::error_handler_t::replace) + "\n";
}

std::string row_of(const std::string& what, double life, double model) {
  return fmt::format("{:<26} {:>12.5g} {:>12.5g} {:>+8.1f} %\n", what, life, model,
                     life != 0 ? (model / life - 1) * 100 : 0);
}

std::string text_of(const std::string& scenario, const Figures& life, const Figures& model) {
  std::string text =
      scenario + fmt::format("\n{:<26} {:>12} {:>12} {:>10}\n", "", "measured", "simulated", "differs by");
  text += row_of("makespan (s)", life.makespan, model.makespan);
  text += row_of("step time (s)", life.step_time, model.step_time);
  for (std::size_t i = 0; i < std::min(life.active_means.size(), model.active_means.size()); ++i)
    text += row_of(fmt::format("active ranks, domain {}", i), life.active_means[i], model.active_means[i]);
  return text;
}

/// The reader of session files names the file itself.
std::string with_path(const std::string& path, const std::string& line) {
  return line.starts_with(path) ? line : path + ": " + line;
}

std::uint64_t lost(const Timeline& timeline, std::initializer_list<LossKind> kinds) {
  std::uint64_t count = 0;
  for (const timeline::Loss& loss : timeline.losses()) {
    if (std::ranges::find(kinds, loss.kind) != kinds.end()) count += loss.count;
  }
  return count;
}

void say_what_is_left_out(const std::string& path, const Recording& recording, const analysis::CommonSteps& steps) {
  const auto say = [&](const std::string& line) { fail(with_path(path, line), 0); };
  const auto& damage = recording.damage;
  if (!damage.first.empty())
    say(fmt::format("{} ({} blocks, {} bytes left out)", damage.first, damage.blocks_skipped, damage.bytes_skipped));
  const auto say_number = [&](std::uint64_t count, const char* what) {
    if (count > 0) say(fmt::format("{} {}", count, what));
  };
  const Timeline& timeline = recording.timeline();
  say_number(lost(timeline, {LossKind::kBadFrame, LossKind::kUnreadable}), "frames are damaged and left out");
  say_number(lost(timeline, {LossKind::kSequenceGap}), "frames are missing");
  say_number(lost(timeline, {LossKind::kRingFull}), "events were dropped while it ran");
  if (steps.steps() < steps.known)
    say(fmt::format("{} of {} steps are taken, {} to {}: the others are not whole on all ranks", steps.steps(),
                    steps.known, steps.numbers.front(), steps.numbers.back()));
}

/// Each p ranks of the larger machine are to lie as the p of the recording do.
wire::Status check_domains(const support::Scenario& scenario, Rank factor) {
  const Rank each = scenario.machine.ranks_per_domain, recorded = scenario.machine.ranks / factor;
  if (factor == 1 || recorded % each == 0) return sim::check_memory(scenario, {});
  return wire::Error{
      fmt::format("--extrapolate: the {} ranks of the recording do not fill domains of {} ranks; say how many share "
                  "one with --set machine.ranks_per_domain=N",
                  recorded, each)};
}

wire::Status check_size(const Program& program, const SessionOptions& options) {
  const std::int64_t factor = options.extrapolate;
  if (program.ranks() * factor > wire::kMaxRanks)
    return wire::Error{fmt::format("--extrapolate: {} times {} ranks; at most {} ranks are possible", factor,
                                   program.ranks(), wire::kMaxRanks)};
  if (program.holds.size() * std::size_t(factor) > kMostDelays)
    return wire::Error{fmt::format("{}: {} times {} delays; at most {} can be simulated", options.recording, factor,
                                   program.holds.size(), kMostDelays)};
  return wire::ok();
}

wire::Result<Program> program_of(const Recording& recording, const std::string& path) {
  auto program = analysis::find_program(recording.timeline());
  if (program) return program;
  const std::string& damage = recording.damage.first;
  return wire::Error{path + ": " + program.error().message + (damage.empty() ? "" : "; " + damage)};
}

int compare(const Program& program, const SessionOptions& options) {
  const std::string text = scenario_of(program, options.recording, options.extrapolate);
  auto parsed = support::parse_scenario(text, options.recording, options.settings);
  if (!parsed) return fail(parsed.error().message, 2);
  const auto prepared = sim::prepare(std::move(*parsed), std::filesystem::current_path());
  if (!prepared) return fail(prepared.error().message, 2);
  const support::Scenario& scenario = prepared->scenario;
  if (const auto whole = check_domains(scenario, options.extrapolate); !whole) return fail(whole.error().message, 2);
  const auto result =
      sim::run(scenario,
               {.noise = prepared->noise.get(), .stop = &sim::sweep::interrupted(), .active_means_of = options.window});
  if (!result) return fail(result.error().message, 2);
  if (result->stopped) return fail("interrupted: the simulation has no end to compare", 1);
  const Figures life = measured(program, scenario.machine.ranks_per_domain, options.window),
                model = simulated(*result, scenario.program.steps);
  print(options.json ? json_of(text, program.pattern, life, model) : text_of(text, life, model));
  return 0;
}

}  // namespace

int run(const SessionOptions& options) {
  const auto recording = read_recording(options.recording, options.memory);
  if (!recording) return fail(recording.error().message, 2);
  const auto program = program_of(*recording, options.recording);
  if (!program) return fail(program.error().message, 2);
  if (const auto fits = check_size(*program, options); !fits) return fail(fits.error().message, 2);
  say_what_is_left_out(options.recording, *recording, program->steps);
  if (!program->pattern.certain)
    fail(options.recording +
             ": its ranks were never out of step, so that nobody can tell who waits for whom: distances -1 and 1 are "
             "assumed; inject a delay, or say it with --set communication.distances=[1]",
         0);
  return compare(*program, options);
}

}  // namespace idlewave::cli::simulation
