#pragma once
// Connections of agents to a host that no port leads to, over the standard streams of a command: on the agents' node
// somebody listens in the host's place, and each who connects there is a channel that goes on at the host's own socket.
// What passes is not read. One end goes with the other (docs/protocol.md).

#include <chrono>
#include <string>
#include <vector>

#include "monitor/link/channels.h"
#include "monitor/link/trunk.h"

namespace idlewave::link {

/// Where the agents are. One thread; serve() when fd() is readable, and every second.
class AgentsEnd {
 public:
  /// `listener`: a Unix socket that listens, and stays its owner's. No descriptor may block; SIGPIPE has to be ignored.
  AgentsEnd(int in, int out, int listener, const std::string& session);
  ~AgentsEnd() { watch_.set(listener_, 0); }
  AgentsEnd(const AgentsEnd&) = delete;
  AgentsEnd& operator=(const AgentsEnd&) = delete;

  int fd() const { return watch_.fd(); }
  void serve();
  /// Why nothing passes any more; empty: it may.
  const std::string& cut() const { return trunk_.cut(); }
  bool has_ended() const { return trunk_.has_ended(); }          ///< Cut, since the host's end has gone.
  bool is_told_to_finish() const { return is_told_to_finish_; }  ///< The program has ended.
  bool has_channels() const { return channels_.size() > 0; }
  /// The last words; what is on its way goes before them.
  void say_all(const std::vector<std::string>& troubles);
  bool has_said_all() const { return has_said_all_ && trunk_.is_idle(); }

 private:
  bool accept_some();
  bool hear(const TunnelFrame& frame);

  Watch watch_;
  Trunk trunk_;
  Channels channels_;
  int listener_;
  std::uint32_t next_ = 1;
  bool is_told_to_finish_ = false;
  bool has_said_all_ = false;
  std::chrono::steady_clock::time_point heard_at_ = std::chrono::steady_clock::now();
};

/// Where the host is. One thread; serve() when fd() is readable, and every second.
class HostsEnd {
 public:
  /// `socket`: path of the host's own. No descriptor may block; SIGPIPE has to be ignored.
  HostsEnd(int in, int out, std::string session, std::string socket);

  int fd() const { return watch_.fd(); }
  void serve();
  const std::string& cut() const { return trunk_.cut(); }
  bool is_up() const { return is_up_; }  ///< The other end has said that it is there.
  /// What came in the place of a greeting where the stream has ended without one: a login that lets nobody in says so.
  std::string last_noise() const;
  /// The program has ended: the other end is to see its agents off.
  void finish();
  bool is_done() const { return is_done_; }  ///< It has.
  /// Before the descriptors are closed; then nothing passes any more, and serve() is not to be called.
  void let_go();
  /// What ranks and agents there could not do, a line each.
  const std::vector<std::string>& troubles() const { return troubles_; }

 private:
  void greet();
  bool hear(const TunnelFrame& frame);
  void give_sign();

  Watch watch_;
  Trunk trunk_;
  Channels channels_;
  std::string session_, socket_;
  bool is_up_ = false, is_done_ = false;
  std::vector<std::string> troubles_;
  std::chrono::steady_clock::time_point signed_at_ = std::chrono::steady_clock::now();
};

}  // namespace idlewave::link
