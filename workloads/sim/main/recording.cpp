#include "workloads/sim/main/recording.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "probe/wire/frame_log.h"
#include "workloads/sim/contention/simulation.h"
#include "workloads/sim/main/emitter.h"
#include "workloads/sim/main/engines.h"

namespace idlewave::sim {
namespace {

/// Frames into a file, as if a monitor had received each at the simulated moment up to which it tells.
class RecordingStream final : public Stream {
 public:
  RecordingStream(std::unique_ptr<wire::FrameLogWriter> file, std::string session)
      : file_(std::move(file)), session_(std::move(session)) {}

  void send(wire::Roster roster) override { append(std::move(roster), {}); }
  void send(wire::Events events) override {
    last_ = events.up_to;
    append(std::move(events), last_);
  }
  wire::Status close() {
    append(wire::End{}, last_);
    return status_ ? file_->close() : status_;
  }
  bool failed() const { return !status_; }

 private:
  template <class Body>
  void append(Body body, wire::Nanoseconds at) {
    if (!status_) return;
    status_ =
        file_->append(at, wire::Direction::kReceived, wire::encode({session_, kNode, ++sequence_, std::move(body)}));
  }

  std::unique_ptr<wire::FrameLogWriter> file_;
  std::string session_;
  std::uint64_t sequence_ = 0;
  wire::Nanoseconds last_{};
  wire::Status status_ = wire::ok();
};

/// The calls of a run that come in the order of time for each rank only, to be made again in the order of time of all.
class Notes final : public Recorder {
 public:
  static constexpr std::uint64_t kMostRankSteps = 20'000'000;  ///< Half a gigabyte to a gigabyte and a half.

  void step_begins(Rank rank, Step step, double time) override { notes_.push_back({time, step, rank, {}}); }
  void enters(Rank rank, Step step, Phase phase, double time) override { notes_.push_back({time, step, rank, phase}); }

  /// Returns the time of the last one.
  double tell(Recorder& recorder) {
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

std::uint64_t rank_steps_of(const support::Scenario& scenario) {
  return std::uint64_t(scenario.machine.ranks) * std::uint64_t(scenario.program.steps);
}

/// As the writer of recordings has it: an empty file may be written over.
bool is_taken(const std::string& path) {
  std::error_code missing;
  const auto size = std::filesystem::file_size(path, missing);
  return !missing && size > 0;
}

/// All of the run into the emitter.
wire::Result<Recorded> play(const Prepared& prepared, Emitter& emitter, const RecordingStream& stream) {
  if (engine_of(prepared.scenario) == Engine::kCollectives) {
    Notes notes;
    const auto run =
        run_scenario(prepared.scenario, {.noise = prepared.noise.get(), .stop = &interrupted(), .recorder = &notes});
    if (!run) return run.error();
    return Recorded{notes.tell(emitter), !run->stopped};
  }
  if (engine_of(prepared.scenario) == Engine::kNetwork) {
    const auto run =
        run_scenario(prepared.scenario, {.noise = prepared.noise.get(), .stop = &interrupted(), .recorder = &emitter});
    if (!run) return run.error();
    return Recorded{run->makespan, !run->stopped};
  }
  auto simulation = Simulation::create(prepared.scenario, emitter, prepared.noise);
  if (!simulation) return simulation.error();
  while (!simulation->finished() && !interrupted() && !stream.failed())
    simulation->advance_until(simulation->next_event() + Emitter::kFrameSpan, &interrupted());
  return Recorded{simulation->time(), simulation->finished()};
}

}  // namespace

wire::Status check_recording(const Prepared& prepared, const std::string& path) {
  if (is_taken(path)) return wire::Error{path + " exists; choose another name"};
  const auto model = model_for(prepared.scenario);
  if (engine_of(prepared.scenario) == Engine::kCollectives &&
      rank_steps_of(prepared.scenario) > Notes::kMostRankSteps) {
    return wire::Error{fmt::format(
        "--record: a program with a collective may have {} ranks times steps, and this one has {}; take fewer",
        Notes::kMostRankSteps, rank_steps_of(prepared.scenario))};
  }
  return model ? check_session(prepared.scenario, *model) : model.error();
}

wire::Result<Recorded> record(const Prepared& prepared, const Options& options, const std::string& path) {
  const auto model = model_for(prepared.scenario);
  if (!model) return model.error();
  auto file = wire::FrameLogWriter::create(path, {.program_version = IDLEWAVE_VERSION,
                                                  .session = options.session,
                                                  .machine = "simulated",
                                                  .command_line = "idlewave sim " + options.scenario.string()});
  if (!file) return file.error();
  RecordingStream stream(std::move(*file), options.session);
  Emitter emitter(prepared.scenario, *model, options.scenario.stem(), stream);
  const auto played = play(prepared, emitter, stream);
  if (!played) return played.error();
  emitter.finish(played->until);
  const wire::Status closed = stream.close();
  if (!closed) return closed.error();
  return *played;
}

}  // namespace idlewave::sim
