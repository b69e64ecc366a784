#pragma once
// Messages to and from peers, without knowing what is in them. Owns all of ZeroMQ, for both ends of a stream: a ROUTER
// that listens, a DEALER that connects, or both. No ZeroMQ type or exception leaves it. Where no port leads to the one
// to whom we would connect, two descriptors may.

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "probe/outlet/mailbox/keys.h"
#include "probe/outlet/mailbox/stream.h"
#include "probe/wire/result.h"
#include "probe/wire/vocabulary.h"

namespace idlewave::mailbox {

/// Who a message is from or for: empty for the one we connected to, else a name that lasts as long as that peer's
/// connection to us.
using Peer = std::string;

struct Message {
  Peer peer;
  Role role = Role::kOwner;  ///< What its connection has proven.
  std::vector<std::byte> bytes;
};

struct Options {
  std::string listen{};          ///< Empty: none.
  std::string connect{};         ///< Empty: none.
  std::optional<Stream> over{};  ///< Instead of `connect`: the way to that peer, which stands already.
  int queue_messages = 0;      ///< For each peer and direction. More than that makes send() say kFull; it never drops.
  wire::Nanoseconds linger{};  ///< How long the destructor may wait for unsent messages.
  // Key files. Over tcp nothing listens and nothing connects without; ipc, where the peer's user is asked of the
  // system, does not look at them.
  std::string listen_key{};   ///< A session's key.server.
  std::string connect_key{};  ///< What the one who listens admits: key.operator, key.viewer or key.agent.
  /// Bytes of one peer's that came over tcp and that receive() has not taken: it has to wait with more, so that no message
  /// may be longer.
  std::size_t most_held = 64 << 20;
};

/// One thread; behind it one I/O thread of ZeroMQ's and, where it listens over tcp, one that says who is let in and one
/// that stands at the port (gate.h). Of other users of this machine or network nobody gets in. A child made by fork must
/// not touch its parent's.
class Mailbox {
 public:
  /// Fails with one line if an endpoint is malformed, taken or somebody else's, if a key is missing or no key, or where
  /// descriptors or threads are missing.
  static wire::Result<std::unique_ptr<Mailbox>> open(const Options& options);
  ~Mailbox();

  Sent send(const Peer& peer, std::span<const std::byte> bytes);
  /// False if nothing is there. A message of several parts, which no peer of ours sends, arrives without its bytes.
  bool receive(Message& message);
  /// Sleeps until a message or `extra_fd` (-1: none) can be read, a signal came, or `timeout` (rounded up to
  /// milliseconds) has passed. False if it was a signal.
  bool wait(wire::Nanoseconds timeout, int extra_fd);
  /// Of the socket that listens, for somebody else's poll: readable when something may have come. It tells of changes
  /// only, so receive() until nothing is there.
  int fd() const;
  /// Why the one to whom we connect does not let us in, in one line; empty as long as that is not known.
  const std::string& refusal() const;
  /// Why nothing more can come from it: the stream to it has been cut, and does not come back. Empty: it may.
  const std::string& cut() const;
  /// With the port or path that was given for a wildcard. Empty if it does not listen.
  const std::string& listen_endpoint() const;

 private:
  struct Impl;
  explicit Mailbox(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace idlewave::mailbox
