#pragma once
// Where frames come from and commands go. The seam behind which live, recorded and simulated sessions look alike.

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "probe/wire/frame.h"
#include "probe/wire/frame_log.h"
#include "probe/wire/result.h"
#include "probe/wire/vocabulary.h"

namespace idlewave::link {

using wire::Nanoseconds;

/// A frame as it came, byte for byte, undecoded.
struct Delivery {
  Nanoseconds received_at{};  ///< Monitor's clock since the monitor (or the recording) began.
  wire::Direction direction = wire::Direction::kReceived;  ///< kSent: a command of this monitor's operator (in replay and after send()).
  std::vector<std::byte> bytes;
};

enum class LinkState {
  kWaiting,  ///< Nobody has answered yet.
  kLive,     ///< Frames arrive, or could at any time.
  kEnded,    ///< The stream ended properly (every sender's End has been delivered), or the recording is at its end.
  kLost,     ///< The peer stopped answering.
  kRefused,  ///< The peer does not want us; `detail` says why.
};

struct LinkStatus {
  LinkState state = LinkState::kWaiting;
  std::string detail;       ///< One line, for kLost and kRefused.
  bool can_command = false;
  bool replay = false;
  Nanoseconds position{};   ///< Replay: how far it has been played, on the recording's received_at axis.
  Nanoseconds duration{};   ///< Replay: of the whole recording.
};

/// One thread. Whatever one call of receive() has delivered is acknowledged to the sender (credit, end of stream) by the next one, so that
/// a recorder around the link has it on disk before the sender forgets it.
class Link {
 public:
  virtual ~Link() = default;
  /// Appends what has arrived until `now` (monitor's clock). Does not block.
  virtual void receive(Nanoseconds now, std::vector<Delivery>& out) = 0;
  /// Hands a command on. Its outcome comes back as a frame.
  virtual wire::Status send(Nanoseconds now, const wire::Command& command) = 0;
  /// Sleeps until something may have arrived, `extra_fd` (-1: none) is readable, or `timeout` has passed.
  virtual void wait(Nanoseconds timeout, int extra_fd) = 0;
  virtual LinkStatus status() const = 0;
};

struct LiveOptions {
  std::string session;   ///< Empty: that of the first sender.
  std::string endpoint;
  bool listen = false;   ///< true: bind a ROUTER, agents connect to it. false: connect a DEALER to an agent that listens.
  wire::Role role = wire::Role::kOperator;
  std::uint32_t credits = 256;              ///< Frames under way.
  Nanoseconds patience = std::chrono::seconds(5);  ///< Without an answer for so long, the peer counts as lost.
};
/// Fails with one line if the endpoint is malformed, or (listening) taken.
wire::Result<std::unique_ptr<Link>> open_live(const LiveOptions& options);
/// The endpoint a listening link was bound to, with the port that was given for tcp://*:0.
std::string bound_endpoint(const Link& live);

struct ReplayOptions {
  std::string path;
  double speed = 1;       ///< Infinity: everything at once.
  Nanoseconds from{};     ///< Everything received before this is delivered at once, at its recorded time.
};
wire::Result<std::unique_ptr<Link>> open_replay(const ReplayOptions& options);
/// Extra calls of a replay; null if `link` is none.
class ReplayControl {
 public:
  virtual ~ReplayControl() = default;
  virtual void set_speed(double speed, Nanoseconds now) = 0;
  virtual void pause(bool paused, Nanoseconds now) = 0;
  virtual const wire::FrameLogHeader& header() const = 0;
  virtual const wire::FrameLogDamage& damage() const = 0;
};
ReplayControl* replay_control(Link& link);

/// Records everything that passes through another link. A failure to write ends the recording, never the session.
class Recorder : public Link {
 public:
  explicit Recorder(std::unique_ptr<Link> inner);
  ~Recorder() override;

  /// Recording may begin and end at any time; it begins with the latest Roster of every node, so that it can be understood alone.
  wire::Status start(const std::string& path, const wire::FrameLogHeader& header, Nanoseconds now);
  wire::Status stop();
  bool recording() const;
  const std::string& path() const;
  std::uint64_t bytes_written() const;
  const std::string& failure() const;  ///< One line once writing has failed ("no space left: recorded until 12.3 s"); else empty.

  void receive(Nanoseconds now, std::vector<Delivery>& out) override;
  wire::Status send(Nanoseconds now, const wire::Command& command) override;
  void wait(Nanoseconds timeout, int extra_fd) override;
  LinkStatus status() const override;
  Link& inner() { return *inner_; }

 private:
  struct Impl;
  std::unique_ptr<Link> inner_;
  std::unique_ptr<Impl> impl_;
};

}  // namespace idlewave::link
