#pragma once
// A simulation that is a session while it runs: whoever attaches sees what ranks do, and may command them.

#include <memory>
#include <string>

#include "monitor/cli/simulation/announcement.h"
#include "monitor/cli/simulation/command_line.h"
#include "monitor/cli/simulation/operator.h"
#include "monitor/cli/simulation/stream_keys.h"
#include "probe/outlet/outlet.h"
#include "workloads/sim/emitter/emitter.h"

namespace idlewave::cli::simulation {

/// What it listens on goes with it. One thread.
class LiveSession {
 public:
  /// Says on stderr how to attach, where that takes keys. `options.session` is a name. `program`: for the roster.
  /// Error: the name or the endpoint can't be had.
  static wire::Result<std::unique_ptr<LiveSession>> open(const StreamOptions& options,
                                                         const support::Scenario& scenario,
                                                         const sim::core::Model& model,
                                                         const sim::core::WaitTable& waits, const std::string& program);
  ~LiveSession();
  LiveSession(const LiveSession&) = delete;
  LiveSession& operator=(const LiveSession&) = delete;

  sim::core::Recorder& recorder() { return *emitter_; }

  /// Paces simulated time against the clock to the end of the run, or of the duration that was asked for, or until
  /// Ctrl-C. `simulation` tells recorder(). Returns the exit code.
  int play(sim::Simulation& simulation, Operator& op);

 private:
  explicit LiveSession(const StreamOptions& options) : options_(options) {}
  wire::Status listen();
  void serve(Operator& op, wire::Nanoseconds now);

  StreamOptions options_;
  std::unique_ptr<StreamKeys> keys_;            ///< Null: none are needed, or they were given.
  std::unique_ptr<Announcement> announcement_;  ///< Null: over tcp.
  std::unique_ptr<outlet::Outlet> outlet_;
  std::unique_ptr<sim::emitter::Stream> stream_;
  std::unique_ptr<sim::emitter::Emitter> emitter_;
};

}  // namespace idlewave::cli::simulation
