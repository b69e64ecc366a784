#pragma once
// Programs that are their calls: every rank goes through the same calls in each step, a receive waits for its message, and a
// meeting for all.

#include <vector>

#include "monitor/timeline/timeline.h"
#include "probe/wire/call_partners.h"

namespace idlewave::analysis {

struct MessageProgram {
  using Nanoseconds = wire::Nanoseconds;
  using Rank = wire::Rank;
  /// A message costs its sender, and comes so much later.
  static constexpr Nanoseconds kSending{1'000}, kFlight{20'000};

  static constexpr Rank kNobody = -1;

  struct Call {
    /// A message to or from nobody costs what another one costs that is there.
    enum class Kind { kWork, kSend, kReceive, kReceiveAll, kMeet } kind = Kind::kWork;
    Rank peer = 0;
    std::vector<Rank> peers;  ///< kReceiveAll: a message of each, three and more.
  };
  /// What a rank waited for: until somebody sent a message, or the last one came to a meeting; the rest is the way of messages.
  struct WaitedFor {
    Nanoseconds senders{}, meetings{};
  };
  struct Run {
    std::vector<std::vector<wire::Event>> events;  ///< By rank.
    std::vector<Nanoseconds> waited;
    std::vector<WaitedFor> waited_for;
    std::vector<std::vector<Nanoseconds>> ends;  ///< [rank][step]: of the last call of the step.
  };

  std::vector<std::vector<Call>> before;  ///< By rank, without work: before the first step; empty: none.
  std::vector<std::vector<Call>> calls;   ///< By rank, of a step.
  std::vector<std::vector<std::vector<Nanoseconds>>> work;  ///< [rank][step][which of the step]
  bool calls_say_partners = false;                          ///< Each switch behind a call says with whom that was.

  Rank ranks() const { return Rank(calls.size()); }
  /// As if step k began when the last call of step k - 1 is over (the first: when all before it is), which is what
  /// the library for unmodified programs finds.
  Run run() const;
  /// With what each rank says of its waits, as that library does.
  wire::Roster roster() const;
};

/// Where they don't say it nobody tells whom ranks wait for; or ranks say it, and not whether their sends wait.
enum class Partners { kSaid, kNotSaid, kSaidWithOpenSends };
/// Of ranks before `first` nobody has heard.
timeline::Timeline timeline_of(const MessageProgram& program, Partners partners = Partners::kSaid,
                               wire::Rank first = 0);

}  // namespace idlewave::analysis
