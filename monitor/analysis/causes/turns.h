#pragma once
// What a rank does between two waits, wherever its steps begin.

#include <deque>
#include <optional>

#include "monitor/analysis/steps/said_calls.h"
#include "monitor/analysis/window.h"
#include "monitor/timeline/timeline.h"

namespace idlewave::analysis::causes {

/// Own work, then a call that waits, or several one behind the other. Session time.
struct Turn {
  Nanoseconds begin{};  ///< When the wait before it was over.
  /// The rank has done its own part and calls: what others wait for goes out now, and it begins to wait.
  Nanoseconds post{};
  Nanoseconds end = Nanoseconds::max();  ///< Of its wait; max: it goes on.
  Nanoseconds waited{};                  ///< Between post and end, in calls.
  /// Of that, in steps that don't count, before and behind those that do.
  Nanoseconds uncounted_before{}, uncounted_behind{};
  wire::Step step = wire::kNoStep;  ///< In which it waited.
  /// As is said of its latest call that waits. If that is for all ranks: the number of such waits in its step up to it; else 0.
  wire::CallPartners with;
  int meeting = 0;
  /// Of the row of waits that it belongs to: the step in which that began, and its number among those of that step.
  wire::Step posted_in = wire::kNoStep;
  int row = 0;
  /// Else it has no part of its own: one of a row of waits has followed another.
  bool works = true;
  bool joins = true;  ///< It is known what the rank did before.

  bool is_over() const { return end != Nanoseconds::max(); }
};

/// What a rank has sent, as far as its calls say it.
struct Sent {
  Nanoseconds at{};  ///< When the call began.
  Rank to = 0;
  std::uint64_t turn = 0;  ///< Of the rank, in the order in which a TurnReader gives them, from 0.
};

/// A rank's turns, oldest first, one step of its lane at a time. A wait that is longer than 5 us ends one, and one that is said
/// to be for all; so do calls behind which the rank works for longer than `tolerance`, however short they are. Costs in
/// proportion to events. The lane must outlive it.
class TurnReader {
 public:
  /// Of steps that begin at `from` or later, as it stood when the window ended; those that ended within it count.
  TurnReader(const timeline::Lane& lane, Window window, Nanoseconds from, Nanoseconds tolerance);

  /// The next one; null: there are no more.
  const Turn* next();
  void pop() { ready_.pop_front(); }
  /// Until the end of the next one at least, in order.
  const std::deque<Sent>& sent() const { return sent_; }
  void forget_sent_before(std::uint64_t turn);

 private:
  void read_step();
  void take(Nanoseconds begin, Nanoseconds end, wire::Phase phase, bool counts);
  void note_partners(Nanoseconds begin, Nanoseconds end, wire::Phase phase);
  void begin_row(Nanoseconds at);
  void end_row();
  void emit();
  void finish();

  const timeline::Lane& lane_;
  Window window_;
  Nanoseconds tolerance_;
  std::size_t next_step_ = 0;
  bool is_finished_ = false;
  Nanoseconds read_to_ = Nanoseconds::min();
  wire::Step step_ = wire::kNoStep;  ///< That is read.
  Turn turn_;                        ///< That goes on.
  bool in_row_ = false;              ///< That turn is in its calls.
  Nanoseconds worked_{};             ///< Since the latest of its calls.
  steps::SaidCalls said_;            ///< In that turn.
  std::deque<Turn> ready_;
  std::uint64_t emitted_ = 0;  ///< Turns.
  std::deque<Sent> sent_;
  wire::Step met_in_ = wire::kNoStep;
  int meetings_ = 0;  ///< In that step.
};

}  // namespace idlewave::analysis::causes
