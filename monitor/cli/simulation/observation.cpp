#include "monitor/cli/simulation/observation.h"

#include <fmt/format.h>

#include "monitor/cli/simulation/frames.h"
#include "monitor/timeline/node_clock.h"
#include "workloads/sim/core/active_window.h"

namespace idlewave::cli::simulation {
namespace {

using sim::core::ActiveWindow;
using sim::core::Recorder;
using wire::Phase;
using wire::Rank;
using wire::Step;

/// Tells two what happens.
class Both final : public Recorder {
 public:
  Both(Recorder& first, Recorder& second) : first_(first), second_(second) {}
  void step_begins(Rank rank, Step step, double time) override {
    first_.step_begins(rank, step, time);
    second_.step_begins(rank, step, time);
  }
  void enters(Rank rank, Step step, Phase phase, double time) override {
    first_.enters(rank, step, phase, time);
    second_.enters(rank, step, phase, time);
  }
  void held_by(Rank rank, wire::CommandId command) override {
    first_.held_by(rank, command);
    second_.held_by(rank, command);
  }
  void nothing_before(double time) override {
    first_.nothing_before(time);
    second_.nothing_before(time);
  }

 private:
  Recorder& first_;
  Recorder& second_;
};

/// Whether an observed run adds up the work of a domain in the order in which a row of a sweep does, so that both have the
/// same averages to the last bit. Rows with a collective have none.
bool adds_up_alike(const support::Scenario& scenario) {
  switch (sim::engine_of(scenario)) {
    case sim::Engine::kContention: return scenario.program.kernel != support::Kernel::kCore;
    case sim::Engine::kNetwork: return false;
    case sim::Engine::kCollectives: return true;
  }
  return false;
}

}  // namespace

wire::Status check_recording(const support::Scenario& scenario, const std::string& path) {
  const wire::Status free = check_free(path);
  return free ? check_observation(scenario) : free;
}

wire::Status check_observation(const support::Scenario& scenario) {
  const auto model = sim::model_of(scenario);
  return model ? sim::emitter::check_session(scenario, *model, sim::waits_of(scenario, *model)) : model.error();
}

wire::Status check_length(double makespan) {
  constexpr double kLongest = wire::seconds(timeline::kFarthest);
  if (makespan < kLongest) return wire::ok();
  return wire::Error{fmt::format("the run takes {:.3g} s, and a session tells of 2^58 ns (9 years) at most", makespan)};
}

wire::Result<Observation> observe(const sim::Prepared& prepared, const sim::core::Run& run, const Wanted& wanted,
                                  const std::atomic<bool>& stop) {
  if (const wire::Status length = check_length(run.makespan); !length) return length.error();
  const auto model = sim::model_of(prepared.scenario);
  if (!model) return model.error();
  Observation observation;
  Frames frames(wanted.session);
  if (!wanted.record.empty()) {
    if (const wire::Status opened = frames.into_file(wanted.record, wanted.program); !opened) return opened.error();
  }
  if (wanted.memory) {
    observation.observer = std::make_unique<Observer>(wanted.session, *wanted.memory);
    frames.into(*observation.observer);
  }
  sim::emitter::Emitter emitter(prepared.scenario, *model, sim::waits_of(prepared.scenario, *model), wanted.program,
                                frames);
  ActiveWindow active(model->ranks, model->ranks_per_domain,
                      {wanted.window.from * run.makespan, wanted.window.to * run.makespan});
  Both recorder(emitter, active);
  const auto played = sim::play(prepared, recorder, &stop);
  if (!played) return played.error();
  emitter.finish(played->until);
  if (const wire::Status ended = frames.end(); !ended) return ended.error();
  observation.played = *played;
  if (played->whole && adds_up_alike(prepared.scenario)) observation.active_means = active.means();
  return observation;
}

}  // namespace idlewave::cli::simulation
