#include "monitor/cli/simulation/observation.h"

#include <filesystem>
#include <utility>

#include "monitor/cli/simulation/frames.h"
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

/// A core-bound program on contention domains is swept over its ranks where nobody looks, which adds up in another
/// order.
bool is_swept(const support::Scenario& scenario) {
  return sim::engine_of(scenario) == sim::Engine::kContention && scenario.program.kernel == support::Kernel::kCore;
}

/// As the writer of recordings has it: an empty file may be written over.
bool is_taken(const std::string& path) {
  std::error_code missing;
  const auto size = std::filesystem::file_size(path, missing);
  return !missing && size > 0;
}

wire::Status open_file(const Wanted& wanted, Frames& frames) {
  if (wanted.record.empty()) return wire::ok();
  auto file = wire::FrameLogWriter::create(wanted.record, {.program_version = IDLEWAVE_VERSION,
                                                           .session = wanted.session,
                                                           .machine = "simulated",
                                                           .command_line = "idlewave sim " + wanted.program});
  if (!file) return file.error();
  frames.into(std::move(*file));
  return wire::ok();
}

}  // namespace

bool Observation::has_forgotten() const {
  const timeline::Timeline& timeline = observer->timeline();
  for (Rank rank = 0; rank < timeline.ranks(); ++rank) {
    const timeline::Lane* lane = timeline.lane(rank);
    if (lane != nullptr && lane->events() > 0 && lane->events_from() > lane->first()) return true;
  }
  return false;
}

wire::Status check_recording(const support::Scenario& scenario, const std::string& path) {
  if (is_taken(path)) return wire::Error{path + " exists; choose another name"};
  return check_observation(scenario);
}

wire::Status check_observation(const support::Scenario& scenario) {
  const auto model = sim::model_of(scenario);
  return model ? sim::emitter::check_session(scenario, *model) : model.error();
}

wire::Result<Observation> observe(const sim::Prepared& prepared, const sim::core::Run& run, const Wanted& wanted,
                                  const std::atomic<bool>& stop) {
  const auto model = sim::model_of(prepared.scenario);
  if (!model) return model.error();
  Observation observation;
  Frames frames(wanted.session);
  if (const wire::Status opened = open_file(wanted, frames); !opened) return opened.error();
  if (wanted.memory) {
    observation.observer = std::make_unique<Observer>(wanted.session, *wanted.memory);
    frames.into(*observation.observer);
  }
  sim::emitter::Emitter emitter(prepared.scenario, *model, wanted.program, frames);
  ActiveWindow active(model->ranks, model->ranks_per_domain,
                      {wanted.window.from * run.makespan, wanted.window.to * run.makespan});
  Both recorder(emitter, active);
  const auto played = sim::play(prepared, recorder, &stop);
  if (!played) return played.error();
  emitter.finish(played->until);
  if (const wire::Status ended = frames.end(); !ended) return ended.error();
  observation.played = *played;
  if (played->whole && !is_swept(prepared.scenario)) observation.active_means = active.means();
  return observation;
}

}  // namespace idlewave::cli::simulation
