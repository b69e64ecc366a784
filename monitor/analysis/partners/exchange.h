#pragma once
// How ranks exchange messages at the end of a step: as they say, or fitted to when they began to wait and when they went
// on.

#include <cstddef>
#include <span>
#include <vector>

#include "monitor/analysis/steps/step_sample.h"

namespace idlewave::analysis::partners {

/// Nanoseconds: times are rounded, and what is nearer is equal.
inline constexpr double kRounding = 4;

/// By the rules of scenario files; so far as times tell. Where a send waits too, a partner above and one below make no
/// difference, and where all is waited for at once both are listed.
struct Exchange {
  /// A rank sends to rank + d and receives from rank - d. Ascending; with split waits in the order in which they are
  /// waited for. Never empty.
  std::vector<Rank> distances;
  /// Also across the ends, unless there is evidence against it.
  bool ring = true;
  /// Else nobody was ever late, and the distances are the usual ones, -1 and 1.
  bool certain = false;
  /// Ranks have said all but the transfer time.
  bool declared = false;
  /// And in other parts of the run than its longest other things.
  bool changes = false;
  /// A send waits for its receive; else it is eager, also where that would make no difference.
  bool rendezvous = false;
  /// One distance after the other is waited for; else all at once.
  bool split = false;
  /// Of a message.
  Nanoseconds transfer{};
};

/// When the ranks of a step go on, nanoseconds; step after step, keeping the room that this takes. One thread.
class EndPredictor {
 public:
  explicit EndPredictor(const Exchange& exchange);

  /// Of all ranks, who began to wait at `posts`. Valid until the next call, as that of the other.
  std::span<const double> ends(std::span<const double> posts);
  /// Of a row of the sample; infinity where somebody who is waited for is not in it, or not known.
  std::span<const double> ends(const steps::StepSample& sample, std::size_t row);

  /// For each rank: how many others are looked at.
  std::size_t offsets() const;

 private:
  std::span<const double> predict(Rank ranks, Rank first);

  bool ring_, rendezvous_;
  double transfer_;
  std::vector<std::vector<Rank>> stages_;  ///< What is waited for at once: offsets.
  std::vector<double> posts_, ends_;
  std::vector<double> done_;  ///< When others' parts are; empty: as they begin to wait.
};

/// [rank][index into CommonSteps::numbers]: how much longer each wait lasted than the exchange has it; less than 0: shorter.
using WaitTimes = std::vector<std::vector<Nanoseconds>>;
WaitTimes beyond_exchange(const steps::CommonSteps& steps, const Exchange& exchange);

/// `exchange` with the transfer time that all but a twentieth of the waits for others reach, where times differ, for no wait
/// is shorter than a message takes; and how much longer than that each wait lasted.
struct LateMessages {
  Exchange exchange;
  WaitTimes late;
};
LateMessages late_messages(const steps::CommonSteps& steps, const Exchange& exchange);

/// Waiting that an exchange does not account for.
struct Unexplained {
  struct Wait {
    Rank rank = 0;
    /// Index into CommonSteps::numbers.
    std::size_t step = 0;
    /// Less than 0 where the rank went on before the exchange would have let it.
    Nanoseconds time{};
  };
  /// Absolute differences between the ends of waits and those by the exchange, as a share of all waiting; 0 without any.
  double share = 0;
  /// The largest differences, at most eight; those of a hundredth of them all and more.
  std::vector<Wait> largest;
};
Unexplained unexplained_waits(const steps::CommonSteps& steps, const Exchange& exchange);

}  // namespace idlewave::analysis::partners
