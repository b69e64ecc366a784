#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <limits>
#include <optional>

#include "monitor/analysis/plural.h"
#include "monitor/cli/simulation/frames.h"
#include "monitor/cli/simulation/schedule_file.h"
#include "monitor/cli/simulation/schedule_program.h"
#include "monitor/cli/simulation/ways.h"
#include "monitor/cli/verbs.h"
#include "probe/signals/interrupted.h"
#include "workloads/sim/network/schedule_waits.h"
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

std::string json_of(const GoalRun& run, double wall_s, const std::optional<Origin>& origin) {
  json object = {{"makespan_s", double(makespan_ns(run)) * 1e-9},
                 {"ops", run.ops},
                 {"messages", run.messages},
                 {"wall_s", wall_s},
                 {"complete", run.complete()}};
  if (origin) object["extrapolated"] = {{"from_ranks", origin->ranks}, {"collectives", origin->collectives}};
  object["finish_ns"] = run.finish_ns;
  return object.text() + "\n";
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

/// Runs it once more; Ctrl-C leaves a sound session up to there.
wire::Status record(const network::ScheduledProgram& program, const ScheduleOptions& options) {
  const support::Scenario scenery = network::scenery_of(program);
  const auto model = sim::model_of(scenery);
  if (!model) return model.error();
  const sim::core::WaitTable waits = network::waits_of(program);
  if (const wire::Status fits = sim::emitter::check_session(scenery, *model, waits); !fits) return fits;
  Frames frames(options.session);
  if (const wire::Status opened = frames.into_file(options.record, "--goal " + options.schedule.string()); !opened)
    return opened;
  sim::emitter::Emitter emitter(scenery, *model, waits, options.schedule.stem(), frames);
  const auto simulation = network::simulate(program, emitter, &signals::interrupted());
  if (!simulation) return simulation.error();
  if (const wire::Status told = (*simulation)->advance_until(std::numeric_limits<double>::max()); !told) return told;
  emitter.finish((*simulation)->time());
  if (!(*simulation)->finished())
    fail(fmt::format("{}: interrupted, ends at {:.6g} s of simulated time", options.record, (*simulation)->time()), 0);
  return frames.end();
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
  const auto begin = std::chrono::steady_clock::now();
  const auto result = network::run(given->program);
  if (!result) return fail(result.error().message, 2);
  const double wall_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  if (!options.record.empty()) {
    if (const auto recorded = record(given->program, options); !recorded) return fail(recorded.error().message, 1);
  }
  print(options.json ? json_of(*result, wall_s, given->origin) : text_of(*result, wall_s, given->origin));
  name_the_stuck(*result);
  return result->complete() ? 0 : 1;
}

}  // namespace idlewave::cli::simulation
