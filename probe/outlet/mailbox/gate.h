#pragma once
// Between a port and ZeroMQ, which takes from whoever connects what he likes to send: a handshake of 16 MiB, a message
// of parts without end, all descriptors that there are. It ends the process where it finds none.
//
// The gate alone accepts from the port. What passes it is not understood but counted: of a stranger no more than a
// handshake takes, until ZeroMQ itself answers that he is admitted (READY, RFC 23); of those who are, no more than what
// has been read, and a bound.

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

/// A thread until this is destroyed; then what ZeroMQ has still sent goes out, for half a second at most, so destroy it
/// after ZeroMQ's context. The connections that it holds take three descriptors each, and no more than a sixth of those
/// that the process may have: past that whoever has been silent for longest goes.
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
