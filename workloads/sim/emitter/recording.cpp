#include "workloads/sim/emitter/recording.h"

#include <filesystem>
#include <memory>
#include <utility>

#include "workloads/sim/emitter/emitter.h"

namespace idlewave::sim::emitter {
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

/// As the writer of recordings has it: an empty file may be written over.
bool is_taken(const std::string& path) {
  std::error_code missing;
  const auto size = std::filesystem::file_size(path, missing);
  return !missing && size > 0;
}

}  // namespace

wire::Status check_recording(const support::Scenario& scenario, const std::string& path) {
  if (is_taken(path)) return wire::Error{path + " exists; choose another name"};
  if (const wire::Status playable = check_play(scenario); !playable) return playable;
  const auto model = model_of(scenario);
  return model ? check_session(scenario, *model) : model.error();
}

wire::Result<Played> record(const Prepared& prepared, const wire::FrameLogHeader& header, const std::string& program,
                            const std::string& path, const std::atomic<bool>* stop) {
  const auto model = model_of(prepared.scenario);
  if (!model) return model.error();
  auto file = wire::FrameLogWriter::create(path, header);
  if (!file) return file.error();
  RecordingStream stream(std::move(*file), header.session);
  Emitter emitter(prepared.scenario, *model, program, stream);
  const auto played = play(prepared, emitter, stop);
  if (!played) return played.error();
  emitter.finish(played->until);
  if (const wire::Status closed = stream.close(); !closed) return closed.error();
  return *played;
}

}  // namespace idlewave::sim::emitter
