#pragma once
// Messages to and from peers, without knowing what is in them. Owns all of ZeroMQ, for both ends of a stream: a ROUTER
// that listens, a DEALER that connects, or both. No ZeroMQ type or exception leaves it.

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "probe/wire/result.h"
#include "probe/wire/vocabulary.h"

namespace idlewave::mailbox {

/// Who a message is from or for: empty for the one we connected to, else a name that lasts as long as that peer's
/// connection to us.
using Peer = std::string;

struct Message {
  Peer peer;
  std::vector<std::byte> bytes;
};

enum class Sent {
  kYes,   ///< Handed over. It arrives unless the connection breaks.
  kFull,  ///< The queue is full, or nobody is connected yet: later, perhaps.
  kGone,  ///< This peer's connection is closed for good.
};

struct Options {
  std::string listen{};        ///< Empty: none.
  std::string connect{};       ///< Empty: none.
  int queue_messages = 0;      ///< For each peer and direction. More than that makes send() say kFull; it never drops.
  wire::Nanoseconds linger{};  ///< How long the destructor may wait for unsent messages.
};

/// One thread; one I/O thread of ZeroMQ's behind it. A child made by fork must not touch its parent's.
class Mailbox {
 public:
  /// Fails with one line if an endpoint is malformed or taken.
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
  /// With the port or path that was given for a wildcard. Empty if it does not listen.
  const std::string& listen_endpoint() const;

 private:
  struct Impl;
  explicit Mailbox(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace idlewave::mailbox
