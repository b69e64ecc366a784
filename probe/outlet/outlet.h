#pragma once
// The sending end of a stream: what an agent or the simulator has to say goes in as message bodies, and reaches every
// attached monitor in order, numbered, at the pace that monitor grants; commands come out. Owns all ZeroMQ of the
// sending side.

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "probe/wire/frame.h"
#include "probe/wire/result.h"
#include "probe/wire/vocabulary.h"

namespace idlewave::outlet {

struct Options {
  std::string session{};
  std::string node{};
  std::string listen{};   ///< ZeroMQ endpoint to bind a ROUTER to, for monitors that attach; empty: none.
  std::string connect{};  ///< ZeroMQ endpoint of a listening monitor, reached by a DEALER; empty: none.
  /// Frames kept for slow consumers. Beyond it the oldest go; the consumer sees the gap in the numbers, and gets the
  /// roster that it would know at its end.
  std::uint64_t buffer_bytes = 256u << 20;
  /// Passes on what others have said (see relay()), and keeps it: every consumer gets all that buffer_bytes hold, from
  /// its beginning. `node` is wire::kRelayNode then.
  bool is_relay = false;
  // Key files, for tcp; see mailbox/keys.h.
  std::string key{};         ///< To connect: the session's key.agent. To listen: its key.server.
  std::string listen_key{};  ///< To listen, where it also connects.
  /// The clock of the stream's times, which a monitor that hears several nodes compares with its own; empty: it can't.
  std::function<wire::Nanoseconds()> node_clock{};
};

/// One thread. The stream is kept from its start (within buffer_bytes) for the first consumer; a later one begins with
/// a new Roster.
class Outlet {
 public:
  /// Fails with one line if an endpoint is malformed or taken.
  static wire::Result<std::unique_ptr<Outlet>> open(const Options& options);
  ~Outlet();  ///< Closes without waiting.

  /// Numbers the body and appends it to the stream. Never blocks. The latest Roster is kept and sent again when a
  /// consumer attaches, or an operator shows the page of a lesson; it bears the latest of those, whatever it says itself.
  void send(wire::Roster roster);
  void send(wire::Events events);
  void send(wire::Outcome outcome);

  /// Appends a frame of some node's stream as it came.
  void relay(std::vector<std::byte> frame);

  /// Serves consumers for `timeout`; returns earlier if a command or a signal arrives, or `extra_fd` (-1: none) can be read.
  /// Returns the commands of operators; those of spectators are refused here.
  std::vector<wire::Command> serve(wire::Nanoseconds timeout, int extra_fd = -1);

  /// A relay: what operators have asked it to record since the last call.
  std::vector<wire::Record> take_recordings();

  /// Sends End, then serves until every consumer has acknowledged it or is gone (no sign of progress for 10 s), or,
  /// where there never was one, until `patience` has passed. Returns true if every consumer that was attached has
  /// acknowledged or left by itself. Nothing may be sent after.
  bool finish(wire::Nanoseconds patience);

  /// Becomes readable when serve() may have something to do; look again after a while all the same, since serve() may
  /// have taken the sign for something that came while it ran.
  int fd() const;
  int consumers() const;  ///< Attached now.
  /// How far apart frames may be for every consumer, a second at most; nothing: nobody is attached.
  std::optional<wire::Nanoseconds> pace() const;
  std::uint64_t frames() const;  ///< In the stream so far, which is the number of the latest.
  std::uint64_t bytes_sent() const;
  std::string listen_endpoint() const;  ///< With the port that was given for tcp://*:0.
  /// When the session began, as the monitor that we connect to said last; wall clock, ns since 1970.
  std::optional<std::int64_t> told_beginning() const;
  /// Round trips to the monitor that we connect to, for the next events; empty unless it compares clocks.
  std::vector<wire::RoundTrip> take_round_trips();
  const std::string& refusal() const;      ///< Why the listening monitor does not want us; empty if it never said so.
  std::uint64_t strange_messages() const;  ///< Dropped: not decodable, of another session, or not allowed.

 private:
  struct Impl;
  explicit Outlet(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace idlewave::outlet
