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

  /// Begins a session file. `input`: what is simulated, as the command line names it. Error: one line.
  wire::Status into_file(const std::string& path, const std::string& input);
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

/// Before anything is simulated. Error: there is such a file, and it is not empty; or there can be none.
wire::Status check_free(const std::string& path);

}  // namespace idlewave::cli::simulation
