#include "workloads/sim/simulator.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <limits>
#include <optional>
#include <utility>
#include <variant>

#include "workloads/sim/contention/contention_run.h"
#include "workloads/sim/contention/simulation.h"
#include "workloads/sim/core/active_window.h"
#include "workloads/sim/network/bulk_run.h"
#include "workloads/sim/network/bulk_schedule.h"
#include "workloads/sim/network/collective_scenario.h"
#include "workloads/sim/noise/make_noise.h"
#include "workloads/support/memory_limit.h"
#include "workloads/support/noise_trace.h"

namespace idlewave::sim {
namespace {

using core::Run;
using core::RunOptions;
using wire::Phase;
using wire::Rank;
using wire::Step;

/// System noise is drawn anew every 4 ms of work.
wire::Status check_noise(const support::Scenario& scenario) {
  constexpr auto kLongest = std::chrono::hours(24);
  const bool drawn_in_time = std::holds_alternative<support::SystemNoise>(scenario.noise.distribution);
  if (!drawn_in_time || scenario.program.time <= kLongest) return wire::ok();
  return wire::Error{"program.time: is longer than 24 h, which can't be with noise.distribution \"system\""};
}

/// The calls of a run that come in the order of time for each rank only, to be made again in the order of time of all.
class Notes final : public core::Recorder {
 public:
  static constexpr std::uint64_t kMostRankSteps = 20'000'000;  ///< Half a gigabyte to a gigabyte and a half.

  void step_begins(Rank rank, Step step, double time) override { notes_.push_back({time, step, rank, {}}); }
  void enters(Rank rank, Step step, Phase phase, double time) override { notes_.push_back({time, step, rank, phase}); }

  /// Returns the time of the last one.
  double tell(core::Recorder& recorder) {
    std::ranges::stable_sort(notes_, {}, &Note::time);
    for (const Note& note : notes_) {
      if (note.phase)
        recorder.enters(note.rank, note.step, *note.phase, note.time);
      else
        recorder.step_begins(note.rank, note.step, note.time);
    }
    return notes_.empty() ? 0 : notes_.back().time;
  }

 private:
  struct Note {
    double time;
    Step step;
    Rank rank;
    std::optional<Phase> phase;  ///< None: a step begins.
  };
  std::vector<Note> notes_;
};

wire::Result<Played> play_collectives(const Prepared& prepared, core::Recorder& recorder,
                                      const std::atomic<bool>* stop) {
  Notes notes;
  const auto run =
      network::run_collectives(prepared.scenario, {.noise = prepared.noise.get(), .stop = stop, .recorder = &notes});
  if (!run) return run.error();
  return Played{notes.tell(recorder), !run->stopped};
}

wire::Result<Played> play_on_network(const Prepared& prepared, core::Recorder& recorder,
                                     const std::atomic<bool>* stop) {
  const auto run =
      network::run_on_network(prepared.scenario, {.noise = prepared.noise.get(), .stop = stop, .recorder = &recorder});
  if (!run) return run.error();
  return Played{run->makespan, !run->stopped};
}

/// From event to event, also of a core-bound program.
wire::Result<Played> play_contention(const Prepared& prepared, core::Recorder& recorder,
                                     const std::atomic<bool>* stop) {
  auto simulation = contention::Simulation::create(prepared.scenario, recorder, prepared.noise);
  if (!simulation) return simulation.error();
  simulation->advance_until(std::numeric_limits<double>::max(), stop);
  return Played{simulation->time(), simulation->finished()};
}

}  // namespace

wire::Result<Prepared> prepare(support::Scenario scenario, const std::filesystem::path& folder) {
  const auto trace = support::load_noise_trace(scenario.noise, folder);
  if (!trace) return trace.error();
  auto made = noise::make_noise(scenario.noise, *trace);
  if (!made) return made.error();
  if (const auto ends = check_noise(scenario); !ends) return ends.error();
  return Prepared{std::move(scenario), std::move(*made)};
}

wire::Result<Prepared> prepare(const std::filesystem::path& file, const std::vector<std::string>& settings) {
  auto scenario = support::load_scenario(file, settings);
  if (!scenario) return scenario.error();
  return prepare(std::move(*scenario), file.parent_path());
}

Engine engine_of(const support::Scenario& scenario) {
  const bool core_bound = scenario.program.kernel == support::Kernel::kCore;
  if (scenario.communication.collective) return core_bound ? Engine::kCollectives : Engine::kNetwork;
  return scenario.communication.loggops ? Engine::kNetwork : Engine::kContention;
}

wire::Result<core::Model> model_of(const support::Scenario& scenario) {
  if (engine_of(scenario) == Engine::kContention) return core::model_of(scenario);
  return network::model_beside_network(scenario);
}

wire::Result<std::size_t> bytes_needed(const support::Scenario& scenario, const RunOptions& options) {
  switch (engine_of(scenario)) {
    case Engine::kNetwork: return network::bytes_on_network(scenario);
    case Engine::kCollectives: return network::bytes_of_collectives(scenario, options);
    case Engine::kContention: break;
  }
  return contention::bytes_needed(scenario, options);
}

wire::Status check_memory(const support::Scenario& scenario, const RunOptions& options) {
  const auto needed = bytes_needed(scenario, options);
  if (!needed) return needed.error();
  const bool keeps_steps = engine_of(scenario) == Engine::kNetwork;
  return support::check_memory(*needed, keeps_steps ? "take fewer ranks or steps" : "take fewer ranks");
}

wire::Status check(const support::Scenario& scenario, const RunOptions& options) {
  if (const auto model = model_of(scenario); !model) return model.error();
  if (const auto asked = core::check(options, scenario.program.steps); !asked) return asked;
  return check_memory(scenario, options);
}

wire::Result<Run> run(const support::Scenario& scenario, const RunOptions& options) {
  switch (engine_of(scenario)) {
    case Engine::kNetwork: return network::run_on_network(scenario, options);
    case Engine::kCollectives: return network::run_collectives(scenario, options);
    case Engine::kContention: break;
  }
  return contention::run(scenario, options);
}

wire::Result<std::vector<double>> active_means(const Prepared& prepared, const Run& before, core::Fractions window,
                                               const std::atomic<bool>* stop) {
  const support::Scenario& scenario = prepared.scenario;
  if (engine_of(scenario) == Engine::kContention)
    return contention::active_means(scenario, prepared.noise.get(), before, window, stop);
  core::ActiveWindow active(scenario.machine.ranks, scenario.machine.ranks_per_domain,
                            {window.from * before.makespan, window.to * before.makespan});
  const auto again = run(scenario, {.noise = prepared.noise.get(), .stop = stop, .recorder = &active});
  if (!again) return again.error();
  return again->stopped ? std::vector<double>{} : active.means();
}

wire::Result<Played> play(const Prepared& prepared, core::Recorder& recorder, const std::atomic<bool>* stop) {
  switch (engine_of(prepared.scenario)) {
    case Engine::kNetwork: return play_on_network(prepared, recorder, stop);
    case Engine::kCollectives: return play_collectives(prepared, recorder, stop);
    case Engine::kContention: break;
  }
  return play_contention(prepared, recorder, stop);
}

wire::Status check_play(const support::Scenario& scenario) {
  if (const auto model = model_of(scenario); !model) return model.error();
  const auto rank_steps = std::uint64_t(scenario.machine.ranks) * std::uint64_t(scenario.program.steps);
  if (engine_of(scenario) != Engine::kCollectives || rank_steps <= Notes::kMostRankSteps) return wire::ok();
  return wire::Error{fmt::format(
      "--record: a program with a collective may have {} ranks times steps, and this one has {}; take fewer",
      Notes::kMostRankSteps, rank_steps)};
}

}  // namespace idlewave::sim
