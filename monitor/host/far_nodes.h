#pragma once
// Nodes whose agents can't reach the host: on each, a command that the user has given starts `idlewave carry --agents`
// (agent_carrier.h), and what connects there goes on at the host's own socket, over the command's standard streams.

#include <chrono>
#include <memory>
#include <string>
#include <vector>

namespace idlewave::host {

struct FarNode {
  std::string name;
  std::string over;                  ///< The command as it was given, for messages.
  std::vector<std::string> command;  ///< To be started.
};

/// "agents on n2, n3, n4 and 5 more report over 'ssh n2' and the like"
std::string how_reached(const std::vector<FarNode>& nodes);

/// One thread, which never waits but in end(). Each command is in a group of its own and ends when its owner does, killed
/// or not. SIGPIPE has to be ignored.
class FarNodes {
 public:
  /// `socket`: path of the host's own.
  FarNodes(std::vector<FarNode> nodes, const std::string& session, const std::string& socket);
  ~FarNodes();
  FarNodes(const FarNodes&) = delete;
  FarNodes& operator=(const FarNodes&) = delete;

  int fd() const { return poll_; }  ///< Readable when something has come.
  /// Passes on what has come. Now and then, and when fd() is readable or a child of ours has ended.
  void serve();
  /// The program has ended: those there are to say what is still to be said.
  void finish();
  /// They have, and their commands have ended.
  bool are_done() const;
  /// Ends what is left of the commands, with patience.
  void end();

  /// Whom one hears no more of, and why: after end().
  std::vector<std::string> notes() const;
  /// What ranks and agents there could not do, as they have told it.
  std::vector<std::string> troubles() const;

 private:
  class Way;

  int poll_;
  std::vector<std::unique_ptr<Way>> ways_;
  std::chrono::steady_clock::time_point looked_at_{};
  bool is_finishing_ = false;
};

}  // namespace idlewave::host
