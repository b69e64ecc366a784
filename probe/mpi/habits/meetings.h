#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

#include "probe/mpi/partner.h"

namespace idlewave::mpi::habits {

/// Whether what a rank took for its steps is what all of the ranks have in common. Between two calls that all take part in
/// (a meeting), the iterations of a solver are all alike: the same messages to and from the same ranks. Those of a sweep
/// over a grid from its corners, one after the other or several at a time, are not: whom a rank hears of in one it sends to
/// in the next, and how many messages it receives and sends is another thing at an edge. Ranks that go through such blocks of
/// messages have no number of them in common, but all have had as many meetings.
///
/// Steps are alike that have the same sum of the peers that their calls name; so are two kinds of steps that come in turns. No
/// allocation; one thread.
class Meetings {
 public:
  /// A call that waits or starts requests.
  void note(Peers peers) {
    if (peers == kEverybody) return;
    with_ += peers;
    ++calls_;
  }
  /// What was noted since the step before is one.
  void end_step() {
    ++steps_;
    calls_in_steps_ += calls_;
    const bool comes_in_turns = with_ == before_last_ && with_ != last_;
    if (with_ == usual_ || comes_in_turns) calls_alike_ += calls_;
    before_last_ = last_;
    last_ = with_;
    vote();
    with_ = 0;
    calls_ = 0;
  }
  /// Everybody has met at the place of that number. `runs`: how many the rank has seen (of calls at one place) since it looks for
  /// steps; nothing where it knows some, or those before may come again. True: several times now what lies between two meetings
  /// there was not made of steps that are alike, so that this is the rank's step.
  bool meet(std::uint32_t place, std::optional<std::uint64_t> runs) {
    const bool has_steps = steps_ > 0 || !runs;
    const bool are_many = runs && runs_before_ && *runs > *runs_before_ + kLongestSequence;
    const bool tells = has_steps ? steps_ >= kFewestSteps : are_many;
    const bool are_alike = has_steps && 4 * calls_alike_ >= 3 * calls_in_steps_;
    if (steps_ > 0) usual_ = candidate_;
    if (!has_steps) end_step();
    runs_before_ = runs;
    longest_ = std::max(longest_, calls_in_steps_);
    forget();
    if (!tells) return false;
    if (are_alike || place != place_) times_ = 0;
    place_ = place;
    if (!are_alike) ++times_;
    return times_ >= kTimes;
  }
  /// What has come since the latest meeting.
  void forget() { steps_ = calls_in_steps_ = calls_alike_ = votes_ = 0; }
  /// Calls between two meetings, at most.
  std::uint32_t longest() const { return longest_; }

 private:
  static constexpr std::uint32_t kLongestSequence = 256;  ///< That steps are found by, in runs.
  static constexpr std::uint32_t kFewestSteps = 5;        ///< Between two meetings; fewer are no loop.
  static constexpr std::uint32_t kTimes = 4;              ///< In a row that they are not alike.

  /// The majority vote of Boyer and Moore, by calls: the candidate is that kind of steps which has more than half of the calls, if
  /// there is one.
  void vote() {
    if (with_ == candidate_) {
      votes_ += calls_;
    } else if (votes_ >= calls_) {
      votes_ -= calls_;
    } else {
      candidate_ = with_;
      votes_ = calls_ - votes_;
    }
  }

  // Of the step that goes on.
  Peers with_ = 0;
  std::uint32_t calls_ = 0;
  // Since the latest meeting.
  std::uint32_t steps_ = 0, calls_in_steps_ = 0;
  std::uint32_t calls_alike_ = 0;
  Peers candidate_ = 0;
  std::uint32_t votes_ = 0;

  Peers usual_ = 0;                   ///< Of the candidate before.
  Peers last_ = 0, before_last_ = 0;  ///< Of steps.
  std::uint32_t place_ = 0, times_ = 0;
  std::optional<std::uint64_t> runs_before_;  ///< At the latest meeting.
  std::uint32_t longest_ = 0;
};

}  // namespace idlewave::mpi::habits
