#pragma once
// Frames to events, in one place: checks that they belong, notices what is missing, and tells the sinks.

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "monitor/ingest/clocks.h"
#include "monitor/ingest/sink.h"
#include "monitor/ingest/timeline_sink.h"
#include "probe/wire/codec.h"
#include "probe/wire/frame.h"
#include "probe/wire/frame_log.h"
#include "probe/wire/vocabulary.h"

namespace idlewave::ingest {

struct Stats {
  std::uint64_t frames = 0;     ///< Taken: well-formed, of this session, not seen before.
  std::uint64_t bad = 0;        ///< Refused: unreadable, of another version, or contradicting what is known.
  std::uint64_t foreign = 0;    ///< Of another session.
  std::uint64_t repeated = 0;   ///< Numbers that had come already.
  std::uint64_t missing = 0;    ///< Numbers that never came.
  Nanoseconds last_received{};  ///< When the latest frame was taken; monitor's clock.
};

/// One thread. What it makes of frames depends on their bytes and order alone, so a replay is told like the session it
/// recorded. Frames may come from anybody: whatever can't be used becomes a Loss with its place, number and reason, and
/// costs no more memory than the timeline's budget and one frame.
class Ingest {
 public:
  /// `timeline` is borrowed, and the first of the sinks. `session` empty: that of the first readable frame.
  explicit Ingest(timeline::Timeline& timeline, std::string session = {})
      : timeline_(timeline), session_(std::move(session)) {}
  Ingest(const Ingest&) = delete;
  Ingest& operator=(const Ingest&) = delete;

  /// `sink` is borrowed, and told of all frames that are accepted from now on, after those that were added before.
  void add(Sink& sink) { sinks_.push_back(&sink); }

  /// `received_at`: monitor's clock. Sent frames are this monitor's own commands, and its refusals of strangers.
  void accept(const wire::Result<wire::FrameInPlace>& read, Nanoseconds received_at, wire::Direction direction);

  /// While there is one, the timeline may lack events of what was accepted: many at once cost less. One at a time.
  class Gathering {
   public:
    explicit Gathering(Ingest& ingest) : ingest_(ingest) { ingest_.timeline_.gather(); }
    ~Gathering() { ingest_.timeline_.settle(); }
    Gathering(const Gathering&) = delete;
    Gathering& operator=(const Gathering&) = delete;

   private:
    Ingest& ingest_;
  };

  const Stats& stats() const { return stats_; }
  const std::string& session() const { return session_; }

 private:
  /// What is known of a node's stream. Kept from its first Roster on.
  struct Stream {
    std::uint64_t sequence = 0;  ///< Of its latest frame.
    std::int32_t agent_pid = 0;
    Nanoseconds roster_time{};  ///< Node's clock when its latest roster was made.
    Nanoseconds up_to{};        ///< Node's clock.
    bool has_events = false;    ///< Some Events frame has come.
    bool gap_is_open = false;   ///< Frames are missing; until when is told by the next events.
    bool ended = false;
    /// Node's clock: what it told since then had come before we listened, and until when is told by the first events.
    std::optional<Nanoseconds> unheard_since;
    bool is_past = false;  ///< What comes is of an earlier sender of this node: a relay tells the session once more.
  };

  void take(const wire::FrameInPlace& read);
  void take_own(const wire::Frame& frame);
  void take_command(const wire::Command& command);
  void take_next(const wire::FrameInPlace& read, Stream& stream);
  void take_roster(const wire::Frame& frame, const wire::Roster& roster);
  void take_events(const wire::FrameInPlace& read, Stream& stream, const wire::Events& events);
  using TellBatches = void (Sink::*)(const std::string&, std::span<const wire::LaneBatch>);
  void take_blob(const std::string& node, const Stream& stream, const std::vector<std::byte>& blob, Nanoseconds up_to,
                 TellBatches tell_it);
  void take_from_stranger(const wire::FrameInPlace& read);
  wire::Status announce(const std::string& node, const wire::Roster& roster);
  bool in_turn(const wire::Frame& frame, Stream& stream);
  void note_gap(const wire::Frame& frame, Stream& stream);
  void close_gap(const std::string& node, Stream& stream, Nanoseconds up_to);
  static std::uint64_t frames_before(const wire::Frame& frame, const wire::Roster& roster);
  void note_late_start(const std::string& node, std::uint64_t frames);
  static bool nothing_was_lost(const wire::Roster& roster, const Stream& stream);
  void begin_anew(const wire::Frame& frame, const wire::Roster& roster, Stream& stream);
  void note_first_heard(const std::string& node, Stream& stream, std::span<const wire::LaneBatch> batches,
                        Nanoseconds up_to);
  void learn_beginning(const std::string& node, const wire::Roster& roster);
  void align_clock(const std::string& node, const wire::Roster& roster);
  void tell_clock(const std::string& node, const std::optional<timeline::ClockCurve>& curve);
  void refuse(const std::string& node, std::string reason);
  void refuse_stream(const std::string& node, std::string reason);
  void refuse_in_stream(const std::string& node, Nanoseconds from, Nanoseconds to, std::string reason);
  void add_bad_frame(const std::string& node, std::string reason);

  template <class... Told, class... Given>
  void tell(void (Sink::*what)(Told...), const Given&... given) {
    for (Sink* sink : sinks_) (sink->*what)(given...);
  }

  TimelineSink timeline_;
  std::vector<Sink*> sinks_{&timeline_};
  std::string session_;
  std::map<std::string, Stream> streams_;
  /// Whose events came last, and when, on the monitor's clock.
  std::map<std::string, Stream>::const_pointer last_told_ = nullptr;
  Nanoseconds last_told_at_{};
  std::optional<Nanoseconds> clock_minus_wall_;  ///< Of the first node that told its wall clock.
  Clocks clocks_;
  bool knows_beginning_ = false;
  wire::EventDecoder decoder_;
  Stats stats_;
};

}  // namespace idlewave::ingest
