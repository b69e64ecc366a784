#pragma once
// Where the events of a session go: whoever wants them is told what ingest has checked and decoded.

#include <optional>
#include <span>
#include <string>

#include "monitor/timeline/records.h"
#include "probe/wire/codec.h"
#include "probe/wire/frame.h"
#include "probe/wire/result.h"

namespace idlewave::ingest {

using wire::Nanoseconds;

/// Something of a node that did not come, or could not be used.
struct Absence {
  struct Span {
    Nanoseconds from{};
    Nanoseconds to{};
  };
  timeline::LossKind kind = timeline::LossKind::kBadFrame;
  std::string node;
  std::optional<Span> when;  ///< Node's clock. Nothing: at the live edge, where it was noticed.
  std::uint64_t count = 0;   ///< By kind, as timeline::Loss counts.
  std::string detail;        ///< One line; may be empty.
};

/// Told of everything in the order in which the session told it, each thing once; what a sink does not want it does not
/// override. Moments are on the clock of the node that told them. One thread. Arguments are borrowed for the call. One
/// call for each frame, whatever the number of its events.
class Sink {
 public:
  virtual ~Sink() = default;

  /// A node announces itself, or anew. An error, one line, refuses: the roster then counts as a bad frame, and the sinks
  /// after this one don't hear of it.
  virtual wire::Status roster(const std::string& /*node*/, const wire::Roster& /*roster*/) { return wire::ok(); }
  /// When the session began, on this node's clock. Once, and not at all where nobody knows: then the first event counts.
  virtual void beginning(const std::string& /*node*/, Nanoseconds /*at*/) {}
  /// How far this node's clock is ahead of the session's, over the session. It holds for what was told before as well.
  virtual void clock(const std::string& /*node*/, const timeline::ClockCurve& /*curve*/) {}
  /// Events as their sender told them, of one frame: whether the node announced their lanes, and whether the times of
  /// a lane go on from those of the frame before, is for the sink to look at.
  virtual void events(const std::string& /*node*/, std::span<const wire::LaneBatch> /*batches*/) {}
  /// The same of threads of ranks (wire::thread_of).
  virtual void threads(const std::string& /*node*/, std::span<const wire::LaneBatch> /*batches*/) {}
  /// The same of meters: the index of a lane is a place in the node's roster.
  virtual void meters(const std::string& /*node*/, std::span<const wire::LaneBatch> /*batches*/) {}
  /// What ranks of this node have done in MPI until now. A later one of the same process replaces it.
  virtual void calls(const std::string& /*node*/, std::span<const wire::RankCalls> /*calls*/) {}
  /// No event of this node will come with a smaller time.
  virtual void advance(const std::string& /*node*/, Nanoseconds /*up_to*/) {}
  /// Something of this node is missing from `from` on, until each lane's next event.
  virtual void interrupt(const std::string& /*node*/, Nanoseconds /*from*/) {}
  virtual void absence(const Absence& /*absence*/) {}
  /// This monitor sent it at that moment on the clock of the node that was heard last, as nearly as can be told; no node: before
  /// any had told an event.
  virtual void command(const wire::Command& /*command*/, const std::string& /*node*/, Nanoseconds /*at*/) {}
  virtual void outcome(const std::string& /*node*/, const wire::Outcome& /*outcome*/) {}
  virtual void end(const std::string& /*node*/) {}  ///< Its stream is complete, unless a roster follows.
};

}  // namespace idlewave::ingest
