#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <optional>

#include "monitor/analysis/plural.h"
#include "monitor/cli/recording.h"
#include "monitor/cli/simulation/ways.h"
#include "monitor/cli/verbs.h"
#include "monitor/model/comparison.h"
#include "monitor/model/derived_scenario.h"
#include "monitor/model/inference.h"
#include "monitor/model/own_noise.h"
#include "probe/signals/interrupted.h"
#include "workloads/sim/simulator.h"
#include "workloads/support/json.h"

namespace idlewave::cli::simulation {
namespace {

using analysis::program::Program;
using json = support::Json;
using model::Figures;
using timeline::LossKind;
using timeline::Timeline;

constexpr std::size_t kMostDelays = 100'000;

json to_json(const Figures& figures) {
  return {{"makespan_s", figures.makespan}, {"step_time_s", figures.step_time}, {"active_means", figures.active_means}};
}

/// Both ways to run the program again.
struct Models {
  /// Each rank's own noise of each step, as it was; none where other noise or delays were asked for.
  std::optional<Figures> own;
  /// Noise drawn from the distribution of the scenario.
  Figures drawn;

  const Figures& best() const { return own ? *own : drawn; }
  std::vector<std::string> differences_from(const Figures& life) const {
    return model::differences(life, own ? &*own : nullptr, drawn);
  }
};

std::string json_of(const std::string& scenario, const Program& program, const Figures& life, const Models& models) {
  json object = {{"scenario", scenario}};
  object.append_missing(model::inference_json(program));
  object["measured"] = to_json(life);
  object["simulated"] = to_json(models.best());
  object["simulated_noise"] = models.own ? "recorded" : "drawn";
  object["drawn"] = to_json(models.drawn);
  object["differences"] = models.differences_from(life);
  return object.text() + "\n";
}

std::string column_of(double life, double model) {
  return fmt::format(" {:>12.5g} {:>+8.1f} %", model, life != 0 ? (model / life - 1) * 100 : 0);
}

std::string text_of(const std::string& scenario, const Figures& life, const Models& models) {
  std::string text = scenario + fmt::format("\n{:<26} {:>12}", "", "measured");
  if (models.own) text += fmt::format(" {:>12} {:>10}", "own noise", "");
  text += fmt::format(" {:>12} {:>10}\n", "drawn noise", "");
  const auto row = [&](const std::string& what, auto figure) {
    const double measured = figure(life);
    text += fmt::format("{:<26} {:>12.5g}", what, measured);
    if (models.own) text += column_of(measured, figure(*models.own));
    text += column_of(measured, figure(models.drawn)) + "\n";
  };
  row("makespan (s)", [](const Figures& figures) { return figures.makespan; });
  row("step time (s)", [](const Figures& figures) { return figures.step_time; });
  for (std::size_t i = 0; i < std::min(life.active_means.size(), models.drawn.active_means.size()); ++i)
    row(fmt::format("active ranks, domain {}", i), [i](const Figures& figures) { return figures.active_means[i]; });
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

void say_what_is_left_out(const std::string& path, const Recording& recording,
                          const analysis::steps::CommonSteps& steps) {
  const auto say = [&](const std::string& line) { fail(with_path(path, line), 0); };
  const auto& damage = recording.damage;
  if (!damage.first.empty())
    say(fmt::format("{} ({}, {} bytes left out)", damage.first, analysis::plural(damage.blocks_skipped, "block"),
                    damage.bytes_skipped));
  const auto say_number = [&](std::uint64_t count, const char* what) {
    if (count > 0) say(fmt::format("{} {}", count, what));
  };
  const Timeline& timeline = recording.timeline();
  say_number(lost(timeline, {LossKind::kBadFrame, LossKind::kUnreadable}), "frames are damaged and left out");
  say_number(lost(timeline, {LossKind::kSequenceGap}), "frames are missing");
  say_number(lost(timeline, {LossKind::kRingFull}), "events were dropped while it ran");
  if (steps.steps() < steps.known)
    say(fmt::format("{} of {} steps are taken, {} to {}: the {} not whole on all ranks", steps.steps(), steps.known,
                    steps.numbers.front(), steps.numbers.back(),
                    steps.known - steps.steps() == 1 ? "other is" : "others are"));
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
  const std::size_t delays = program.holds.size() + program.stalls.size();
  if (program.ranks() * factor > wire::kMaxRanks)
    return wire::Error{fmt::format("--extrapolate: {} times {} ranks; at most {} ranks are possible", factor,
                                   program.ranks(), wire::kMaxRanks)};
  if (delays * std::size_t(factor) > kMostDelays)
    return wire::Error{fmt::format("{}: {} times {} delays; at most {} can be simulated", options.recording, factor,
                                   delays, kMostDelays)};
  return wire::ok();
}

wire::Result<Program> program_of(const Recording& recording, const std::string& path) {
  auto program = analysis::program::find_program(recording.timeline());
  if (program) return program;
  const std::string& damage = recording.damage.first;
  return wire::Error{path + ": " + program.error().message + (damage.empty() ? "" : "; " + damage)};
}

bool was_interrupted() { return signals::interrupted().load(); }

bool asks_for_disturbances(const SessionOptions& options) {
  return std::ranges::any_of(options.settings, [](const std::string& each) {
    return each.starts_with("noise.") || each.starts_with("delay.");
  });
}

int compare(const Program& program, const SessionOptions& options) {
  const std::string text = model::scenario_of(program, options.recording, options.extrapolate);
  auto parsed = support::parse_scenario(text, options.recording, options.settings);
  if (!parsed) return fail(parsed.error().message, 2);
  const auto prepared = sim::prepare(std::move(*parsed), std::filesystem::current_path());
  if (!prepared) return fail(prepared.error().message, 2);
  const support::Scenario& scenario = prepared->scenario;
  if (const auto whole = check_domains(scenario, options.extrapolate); !whole) return fail(whole.error().message, 2);
  const Rank each = scenario.machine.ranks_per_domain;
  Models models;
  const auto run_with = [&](const support::Scenario& what, const sim::core::PhaseNoise* noise, double work_in_noise) {
    return model::simulated(what, noise, work_in_noise, options.window, &signals::interrupted());
  };
  const auto drawn = run_with(scenario, prepared->noise.get(), model::work_in_all_noise(program));
  if (!drawn) return fail(drawn.error().message, was_interrupted() ? 1 : 2);
  models.drawn = *drawn;
  if (!asks_for_disturbances(options)) {
    const model::RecordedNoise recorded(program.own_noise);
    const auto own = run_with(model::with_own_delays(scenario, program), &recorded, model::work_in_own_noise(program));
    if (!own) return fail(own.error().message, was_interrupted() ? 1 : 2);
    models.own = *own;
  }
  const Figures life = model::measured(program, each, options.window);
  print(options.json ? json_of(text, program, life, models) : text_of(text, life, models));
  for (const std::string& line : models.differences_from(life)) fail(options.recording + ": " + line, 0);
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
  for (const std::string& line : model::not_told(*program)) fail(options.recording + ": " + line, 0);
  return compare(*program, options);
}

}  // namespace idlewave::cli::simulation
