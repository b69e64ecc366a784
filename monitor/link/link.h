#pragma once
// Where frames come from and commands go. The seam behind which live, recorded and simulated sessions look alike.

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "probe/wire/frame.h"
#include "probe/wire/frame_log.h"
#include "probe/wire/no_command.h"
#include "probe/wire/result.h"
#include "probe/wire/vocabulary.h"

namespace idlewave::link {

using wire::Nanoseconds;

/// A frame as it came, byte for byte, and what it says: read once, for all who want to know. It may be moved, and the
/// blob of its events stays where it is.
struct Delivery {
  Delivery(Nanoseconds at, wire::Direction way, std::vector<std::byte> frame_bytes)
      : received_at(at), direction(way), bytes(std::move(frame_bytes)), frame(wire::decode_in_place(bytes)) {}
  Delivery(Delivery&&) = default;
  Delivery& operator=(Delivery&&) = default;

  Nanoseconds received_at{};  ///< Monitor's clock since the monitor (or the recording) began.
  /// kSent: a command of this monitor's operator (in replay and after send()), or a Refusal that a stranger got, whose
  /// frame bears the node for which it spoke. Over a relay's connection: the same of the session's host.
  wire::Direction direction;
  std::vector<std::byte> bytes;
  wire::Result<wire::FrameInPlace> frame;  ///< Of `bytes`, which keep its blob; or why they are none.
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
  /// One line: what is waited for, why it was lost or refused; while live, which other node was lost.
  std::string detail{};
  bool for_good = false;  ///< Lost, and nobody of those who were heard can come back over this link.
  std::optional<wire::NoCommand> no_command = wire::NoCommand::kNobodyThere;  ///< Why it takes none; nothing: it does.
  std::uint64_t turned_away = 0;   ///< Messages of peers that have no business here; see Link::receive.
  std::string last_turned_away{};  ///< Why the latest was; one line.
  bool replay = false;
  Nanoseconds position{};  ///< Replay: how far it has been played, on the recording's received_at axis.
  Nanoseconds duration{};  ///< Replay: of the whole recording.
};

/// One thread. Whatever one call of receive() has delivered is acknowledged to the sender (credit, end of stream) by
/// the next one, so that a recorder around the link has it on disk before the sender forgets it.
class Link {
 public:
  virtual ~Link() = default;
  /// Appends what has arrived until `now` (monitor's clock), and what was done about it: commands, and (as kSent, at
  /// most one a second) Refusals of peers that spoke for somebody else. Does not block; leaves the rest of a flood to
  /// the next call. Live, it must be called at least every few seconds: this is what keeps the senders sure that
  /// somebody is there.
  virtual void receive(Nanoseconds now, std::vector<Delivery>& out) = 0;
  /// Hands a command on. Its outcome comes back as a frame.
  virtual wire::Status send(Nanoseconds now, const wire::Command& command) = 0;
  /// Asks the session's host, if we watch over its relay, to record into a file on its node; an empty path ends that.
  virtual wire::Status ask_to_record(const std::string&) { return wire::Error{"nobody records here but this screen"}; }
  /// Shows a page to all who watch the session, also those who come later. Of no consequence where there is nobody to tell.
  virtual void show(const wire::LessonPage&) {}
  /// So far apart frames may be from now on, for nobody looks on here; 0, as from the start: as soon as there is something.
  virtual void set_pace(Nanoseconds) {}
  /// Sleeps until something may have arrived or needs to be said, `extra_fd` (-1: none) is readable, a signal came, or
  /// `timeout` has passed.
  virtual void wait(Nanoseconds timeout, int extra_fd) = 0;
  virtual LinkStatus status() const = 0;
};

struct LiveOptions {
  std::string session{};  ///< Empty: that of the first sender.
  std::string endpoint{};
  /// true: bind a ROUTER, agents connect to it. false: connect a DEALER to an agent that listens.
  bool listen = false;
  /// Instead of connecting: descriptors at whose other ends carry() is, of which the second does not block; `endpoint` is
  /// what they are called. They stay their owner's; SIGPIPE has to be ignored.
  int in = -1, out = -1;
  /// Key file, for tcp. Listening: the session's key.server. Connecting: key.operator, or key.viewer, which makes a
  /// spectator whatever `role` says.
  std::string key{};
  wire::Role role = wire::Role::kOperator;
  std::uint32_t credits = 256;  ///< Frames under way.
  /// Without an answer for so long, the peer counts as lost. At least 2 s: a quiet peer answers once a second.
  Nanoseconds patience = std::chrono::seconds(5);
};
/// Fails with one line if the endpoint is malformed, or (listening) taken. Destroying the link tells the senders that
/// it leaves.
wire::Result<std::unique_ptr<Link>> open_live(const LiveOptions& options);
/// Paths of the key files that stand for who may do what in a session over tcp; all of mode 0600.
struct SessionKeys {
  std::string server;     ///< For who listens: the session's host, an agent or simulator that monitors attach to.
  std::string operators;  ///< For monitors that command.
  std::string viewers;    ///< For monitors that only watch.
  std::string agents;     ///< For agents: IDLEWAVE_KEY of their ranks.
};
/// Makes new keys for a session, in its folder.
wire::Result<SessionKeys> make_session_keys(const std::string& folder);
/// The endpoint a listening link was bound to, with the port that was given for tcp://*:0; also through a Recorder.
std::string bound_endpoint(const Link& live);
/// True if it is certain that nobody is at an endpoint of this node, so that whoever was there is gone and not just
/// silent. Of other endpoints only waiting can tell.
bool is_deserted(const std::string& endpoint);

struct ReplayOptions {
  std::string path{};
  double speed = 1;  ///< Above 0. Infinity: everything as fast as receive() is called.
};
wire::Result<std::unique_ptr<Link>> open_replay(const ReplayOptions& options);
/// Extra calls of a replay; null if `link` is none. Also through a Recorder.
class ReplayControl {
 public:
  virtual ~ReplayControl() = default;
  virtual void set_speed(double speed, Nanoseconds now) = 0;  ///< Above 0, may be infinite.
  virtual void pause(bool paused, Nanoseconds now) = 0;
  /// When what comes next was received; max() at the end.
  virtual Nanoseconds next_at() const = 0;
  virtual const wire::FrameLogHeader& header() const = 0;
  virtual const wire::FrameLogDamage& damage() const = 0;
};
ReplayControl* replay_control(Link& link);

/// Records everything that passes through another link. A failure to write ends the recording, never the session.
class Recorder : public Link {
 public:
  explicit Recorder(std::unique_ptr<Link> inner);
  ~Recorder() override;

  /// Recording may begin and end at any time; it begins with the latest Roster of every node, so that it can be
  /// understood alone.
  wire::Status start(const std::string& path, const wire::FrameLogHeader& header, Nanoseconds now);
  wire::Status stop();
  /// Ends a recording that goes on, and removes its file.
  void discard();
  bool recording() const;
  const std::string& path() const;
  std::uint64_t bytes_written() const;
  /// One line once writing has failed: why, and until when the file holds everything; else empty.
  const std::string& failure() const;

  void receive(Nanoseconds now, std::vector<Delivery>& out) override;
  wire::Status send(Nanoseconds now, const wire::Command& command) override;
  wire::Status ask_to_record(const std::string& path) override { return inner_->ask_to_record(path); }
  void show(const wire::LessonPage& page) override { inner_->show(page); }
  void set_pace(Nanoseconds pace) override { inner_->set_pace(pace); }
  void wait(Nanoseconds timeout, int extra_fd) override;
  LinkStatus status() const override;
  Link& inner() { return *inner_; }
  const Link& inner() const { return *inner_; }

 private:
  struct Impl;
  std::unique_ptr<Link> inner_;
  std::unique_ptr<Impl> impl_;
};

}  // namespace idlewave::link
