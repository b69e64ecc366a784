#pragma once
// What a simulated node sends, as a monitor would have received it.

#include <memory>
#include <string>

#include "monitor/cli/observer.h"
#include "probe/wire/frame_log.h"
#include "workloads/sim/emitter/emitter.h"

namespace idlewave::cli::simulation {

/// Each frame at the simulated moment up to which it tells: into a session file, into a model of the session, or both.
/// One thread.
class Frames final : public sim::emitter::Stream {
 public:
  explicit Frames(std::string session) : session_(std::move(session)) {}

  void into(std::unique_ptr<wire::FrameLogWriter> file) { file_ = std::move(file); }
  /// `observer` outlives this.
  void into(Observer& observer) { observer_ = &observer; }

  void send(wire::Roster roster) override;
  void send(wire::Events events) override;
  /// Nothing will come any more. Error: the file could not be written whole.
  wire::Status end();

 private:
  template <class Body>
  void add(Body body, wire::Nanoseconds at);

  std::string session_;
  std::unique_ptr<wire::FrameLogWriter> file_;
  Observer* observer_ = nullptr;
  std::uint64_t sequence_ = 0;
  wire::Nanoseconds last_{};
  wire::Status written_ = wire::ok();
};

}  // namespace idlewave::cli::simulation
