#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <limits>
#include <optional>

#include "monitor/analysis/plural.h"
#include "monitor/cli/observer.h"
#include "monitor/cli/simulation/frames.h"
#include "monitor/cli/simulation/observation.h"
#include "monitor/cli/simulation/run_findings.h"
#include "monitor/cli/simulation/schedule_file.h"
#include "monitor/cli/simulation/schedule_program.h"
#include "monitor/cli/simulation/ways.h"
#include "monitor/cli/verbs.h"
#include "probe/signals/interrupted.h"
#include "workloads/sim/simulator.h"
#include "workloads/support/json.h"

namespace idlewave::cli::simulation {
namespace {

using analysis::plural;

namespace network = sim::network;
using json = support::Json;
using network::GoalRun;

// --- the result ---

std::int64_t makespan_ns(const GoalRun& run) {
  return run.finish_ns.empty() ? 0 : *std::ranges::max_element(run.finish_ns);
}

std::string text_of(const GoalRun& run, double wall_s, const std::optional<Origin>& origin) {
  const std::string source =
      origin ? fmt::format("extrapolated from {}: {} written anew, other messages at their distance\n",
                           plural(origin->ranks, "rank"), plural(origin->collectives, "collective"))
             : "";
  return source + fmt::format(
                      "{}, {}, {}: makespan {} ns\nsimulated in {:.3g} s, {:.3g} million "
                      "operations a second\n",
                      plural(run.finish_ns.size(), "rank"), plural(run.ops, "operation"),
                      plural(run.messages, "message"), makespan_ns(run), wall_s,
                      double(run.ops) * 1e-6 / std::max(wall_s, 1e-9));
}

// --- the run ---

struct Made {
  GoalRun run;
  double wall_s = 0;
  /// Seconds of simulated time that were told.
  double until = 0;
  /// As `idlewave report` has them; null: none.
  json findings;
};

double seconds_since(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

wire::Result<Made> make(const network::ScheduledProgram& program) {
  const auto begin = std::chrono::steady_clock::now();
  auto run = network::run(program);
  if (!run) return run.error();
  return Made{.run = std::move(*run), .wall_s = seconds_since(begin), .findings = {}};
}

/// The same run, to the nanosecond, told to `frames`. Ctrl-C ends it early.
wire::Result<Made> make(const network::ScheduledProgram& program, const Stage& stage, const std::string& name,
                        Frames& frames) {
  sim::emitter::Emitter emitter(stage.scenery, stage.model, stage.waits, name, frames);
  const auto begin = std::chrono::steady_clock::now();
  const auto simulation = network::simulate(program, emitter, &signals::interrupted());
  if (!simulation) return simulation.error();
  if (const wire::Status told = (*simulation)->advance_until(std::numeric_limits<double>::max()); !told)
    return told.error();
  const double wall_s = seconds_since(begin);
  emitter.finish((*simulation)->time());
  return Made{(*simulation)->take_run(), wall_s, (*simulation)->time(), {}};
}

std::string json_of(const Made& made, const std::optional<Origin>& origin) {
  const GoalRun& run = made.run;
  json object = {{"makespan_s", double(makespan_ns(run)) * 1e-9},
                 {"ops", run.ops},
                 {"messages", run.messages},
                 {"wall_s", made.wall_s},
                 {"complete", run.complete()}};
  if (origin) object["extrapolated"] = {{"from_ranks", origin->ranks}, {"collectives", origin->collectives}};
  object["finish_ns"] = run.finish_ns;
  object.append_missing(json(made.findings));
  return object.text() + "\n";
}

int say_that_it_was_interrupted(const Made& made, const ScheduleOptions& options) {
  if (options.record.empty()) return fail("interrupted: without a result", 1);
  return fail(fmt::format("{}: interrupted, ends at {:.6g} s of simulated time", options.record, made.until), 1);
}

int show(const Made& made, const ScheduleOptions& options, const std::optional<Origin>& origin) {
  print(options.json ? json_of(made, origin) : text_of(made.run, made.wall_s, origin));
  name_the_stuck(made.run);
  return made.run.complete() ? 0 : 1;
}

int fail_without(const std::string& record, const wire::Error& why) {
  std::error_code none;
  std::filesystem::remove(record, none);  // of a run that can't be
  return fail(why.message, 2);
}

/// For a recording, for a history in which is found what `report` finds, or for both.
int run_looked_at(const GivenSchedule& given, const Stage& stage, const ScheduleOptions& options) {
  Frames frames(options.session);
  if (!options.record.empty()) {
    if (const wire::Status opened = frames.into_file(options.record, "--goal " + options.schedule.string()); !opened)
      return fail(opened.error().message, 1);
  }
  std::optional<Observer> observer;
  if (options.json) frames.into(observer.emplace(options.session, options.memory));
  auto made = make(given.program, stage, options.schedule.stem(), frames);
  const wire::Status whole = frames.end();
  if (!made) return fail_without(options.record, made.error());
  if (!whole) return fail(whole.error().message, 1);
  const wire::Status length = check_length(made->until);
  if (!length && !options.record.empty()) return fail_without(options.record, length.error());
  if (made->run.stopped) return say_that_it_was_interrupted(*made, options);
  if (!length) say_that_nothing_is_found(length.error());
  if (observer && length) made->findings = findings_of(observer->timeline(), options.window, options.memory);
  return show(*made, options, given.origin);
}

}  // namespace

int run(const ScheduleOptions& options) {
  if (!options.record.empty()) {
    if (const auto free = check_free(options.record); !free) return fail(free.error().message, 2);
  }
  const auto given = given_by(options);
  if (!given) return fail(given.error().message, 2);
  if (!options.output.empty()) {
    if (const auto written = write_schedule(given->program.schedule, options.output); !written)
      return fail(written.error().message, 1);
  }
  if (options.json || !options.record.empty()) {
    const auto stage = stage_of(given->program);
    if (stage) return run_looked_at(*given, *stage, options);
    if (!options.record.empty()) return fail(stage.error().message, 2);
    say_that_nothing_is_found(stage.error());
  }
  const auto made = make(given->program);
  return made ? show(*made, options, given->origin) : fail(made.error().message, 2);
}

}  // namespace idlewave::cli::simulation
