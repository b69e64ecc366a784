#pragma once
// Stands between a port and ZeroMQ, which takes whatever a stranger sends: a handshake of 16 MiB, a message with any number
// of parts, connections until no descriptor is left; and then it ends the process.
//
// Only the gate accepts connections from the port. It counts what passes, without understanding it: from a stranger no more
// than a handshake takes, until ZeroMQ itself answers that the stranger is admitted (READY, RFC 23); from then on no more
// than what has been read, and a bound.

#include <cstddef>
#include <memory>
#include <string>

#include "probe/wire/result.h"

namespace idlewave::mailbox {

struct GateOptions {
  std::string endpoint;       ///< tcp://HOST:PORT; * for any port, all addresses.
  std::string inner;          ///< Abstract name of the socket that ZeroMQ listens at, without its first NUL.
  std::size_t most_held = 0;  ///< Bytes of one connection that have passed and were not read.
};

/// Has a thread of its own until it is destroyed. The destructor passes on what ZeroMQ has sent by then, for half a second at
/// most, so destroy it after ZeroMQ's context. Each connection takes three descriptors. There are at most as many as a sixth
/// of the descriptors that the process may have: beyond that the one that has been silent for longest is closed.
class Gate {
 public:
  /// Error: that of the port, in one line.
  static wire::Result<std::unique_ptr<Gate>> open(const GateOptions& options);
  ~Gate();

  /// With the port that was given for a wildcard.
  const std::string& endpoint() const;
  /// A part of so many bytes has been read that came over `inner_fd`, ZeroMQ's end of a connection. From any thread.
  void note_read(int inner_fd, std::size_t bytes);

 private:
  struct Impl;
  explicit Gate(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

/// A name that nobody can foresee, for the socket behind a gate.
std::string secret_name();

}  // namespace idlewave::mailbox
