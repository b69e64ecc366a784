
#include "monitor/cli/simulation/live_session.h"
#include "monitor/cli/simulation/schedule_program.h"
#include "monitor/cli/simulation/ways.h"
#include "monitor/cli/verbs.h"
#include "monitor/host/names.h"
#include "probe/signals/interrupted.h"

namespace idlewave::cli::simulation {
namespace {

using signals::interrupted;
using sim::Simulation;

/// Error: what can't be watched while it runs.
wire::Status check(const support::Scenario& scenario, const sim::core::Model& model,
                   const sim::core::WaitTable& waits) {
  const wire::Status fits = sim::emitter::check_session(scenario, model, waits);
  return fits ? sim::check(scenario, {}) : fits;
}

StreamOptions named(StreamOptions options, const std::filesystem::path& program) {
  if (options.session.empty()) options.session = host::new_session_name(program.stem());
  return options;
}

int stream(const sim::network::ScheduledProgram& program, const LiveScheduleOptions& options) {
  const auto stage = stage_of(program);
  if (!stage) return fail(stage.error().message, 2);
  const sim::Prepared prepared{stage->scenery, program.noise};
  const auto session = LiveSession::open(named(options, options.schedule), prepared.scenario, stage->model,
                                         stage->waits, options.schedule.stem());
  if (!session) return fail(session.error().message, 2);
  auto run = sim::network::simulate(program, (*session)->recorder(), &interrupted());
  if (!run) return fail(run.error().message, 2);
  sim::network::ScheduleSimulation& schedule = **run;
  Simulation simulation = Simulation::of(std::move(*run));
  Operator op(simulation, prepared, options.allow_inject);
  const int code = (*session)->play(simulation, op);
  if (code != 0 || !simulation.finished()) return code;
  const sim::network::GoalRun result = schedule.take_run();
  name_the_stuck(result);
  return result.complete() ? 0 : 1;
}

}  // namespace

int run(const LiveOptions& options) {
  auto prepared = sim::prepare(options.scenario, options.settings);
  if (!prepared) return fail(prepared.error().message, 2);
  if (options.without_delays) prepared->scenario.delays.clear();
  const auto model = sim::model_of(prepared->scenario);
  if (!model) return fail(model.error().message, 2);
  const sim::core::WaitTable waits = sim::waits_of(prepared->scenario, *model);
  if (const wire::Status can_be_watched = check(prepared->scenario, *model, waits); !can_be_watched)
    return fail(can_be_watched.error().message, 2);
  const auto session =
      LiveSession::open(named(options, options.scenario), prepared->scenario, *model, waits, options.scenario.stem());
  if (!session) return fail(session.error().message, 2);
  auto simulation = Simulation::create(*prepared, (*session)->recorder(), &interrupted());
  if (!simulation) return fail(simulation.error().message, 2);
  Operator op(*simulation, *prepared, options.allow_inject);
  return (*session)->play(*simulation, op);
}

int run(const LiveScheduleOptions& options) {
  const auto given = given_by(options);
  return given ? stream(given->program, options) : fail(given.error().message, 2);
}

}  // namespace idlewave::cli::simulation
