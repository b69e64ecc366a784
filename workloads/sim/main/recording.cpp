#include "workloads/sim/main/recording.h"

#include <filesystem>
#include <memory>
#include <utility>

#include "probe/wire/frame_log.h"
#include "workloads/sim/contention/simulation.h"
#include "workloads/sim/main/emitter.h"

namespace idlewave::sim {
namespace {

/// Frames into a file, as if a monitor had received each at the simulated moment up to which it tells.
class RecordingStream final : public Stream {
 public:
  RecordingStream(std::unique_ptr<wire::FrameLogWriter> file, std::string session) : file_(std::move(file)), session_(std::move(session)) {}

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
    status_ = file_->append(at, wire::Direction::kReceived, wire::encode({session_, kNode, ++sequence_, std::move(body)}));
  }

  std::unique_ptr<wire::FrameLogWriter> file_;
  std::string session_;
  std::uint64_t sequence_ = 0;
  wire::Nanoseconds last_{};
  wire::Status status_ = wire::ok();
};

/// As the writer of recordings has it: an empty file may be written over.
bool is_taken(const std::string& path) {
  std::error_code missing;
  const auto size = std::filesystem::file_size(path, missing);
  return !missing && size > 0;
}

/// All of the run into the emitter.
wire::Result<Recorded> play(const Prepared& prepared, Emitter& emitter, const RecordingStream& stream) {
  if (prepared.scenario.communication.loggops) {
    const auto run = run_scenario(prepared.scenario,
                                  {.noise = prepared.noise.get(), .stop = &interrupted(), .recorder = &emitter});
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
  return model ? check_session(prepared.scenario, *model) : model.error();
}

wire::Result<Recorded> record(const Prepared& prepared, const Options& options, const std::string& path) {
  const auto model = model_for(prepared.scenario);
  if (!model) return model.error();
  auto file = wire::FrameLogWriter::create(path, {.program_version = IDLEWAVE_VERSION, .session = options.session, .machine = "simulated", .command_line = "idlewave sim " + options.scenario.string()});
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
