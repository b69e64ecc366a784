#pragma once
// How a simulation that is watched is found on this node: by the name of its session, as the agent of real ranks is.

#include <memory>
#include <string>

#include "probe/session/agent_record.h"
#include "probe/wire/result.h"

namespace idlewave::cli::simulation {

/// Its place in the session's folder, which goes with this unless somebody else is in it: a monitor that made it.
class Announcement {
 public:
  /// Error: the name can't be one, or an agent or simulation of that name lives.
  static wire::Result<std::unique_ptr<Announcement>> make(const std::string& session);
  ~Announcement();
  Announcement(const Announcement&) = delete;
  Announcement& operator=(const Announcement&) = delete;

  /// Where to listen, unless an endpoint of this node was asked for.
  const std::string& endpoint() const { return endpoint_; }
  /// From now on monitors that ask for the session are sent to `endpoint`, where somebody listens.
  wire::Status publish(const std::string& endpoint);

 private:
  Announcement(std::string session, int hold) : session_(std::move(session)), hold_(hold) {}

  std::string session_;
  std::string endpoint_;
  std::string socket_;
  /// Lets the folder stay.
  int hold_;
  session::AgentRecord record_;
};

}  // namespace idlewave::cli::simulation
