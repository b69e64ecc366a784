#pragma once
// How the ranks of a domain stand to each other, over the session. Whatever says so (panel, events, report) says what
// stands here.

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "monitor/analysis/domains/domain_signs.h"
#include "monitor/timeline/timeline.h"

namespace idlewave::analysis::domains {

enum class DomainState : std::uint8_t {
  kUnknown,    ///< Too little has been seen.
  kNotActive,  ///< No rank computes: all have stopped or are lost.
  kLockstep,   ///< All begin their steps together; bandwidth per rank is that of the full domain.
  kSkewed,     ///< They do not, and it is noise, or the wait for others, that keeps them apart.
  /// A computational wavefront (afzal-2020, section 4): the domain has more ranks than saturate it, and they have come
  /// apart so far that fewer compete for the bandwidth than would in lockstep.
  kComputational,
  kStraggler,  ///< One rank works longer than the others, step after step.
  kDisturbed,  ///< An idle wave is passing through.
  kBereft,     ///< A rank waits as in an idle wave, and ranks of the program are lost, for which it may wait for ever.
  kAlone,      ///< One rank runs there: nobody is there with whom it could be in lockstep, or not.
  kStepsDiffer,  ///< Ranks of the program count steps differently (session::leave_out_steps): nothing follows from them.
};
inline constexpr int kDomainStates = int(DomainState::kStepsDiffer) + 1;
std::string to_words(DomainState state);
/// It follows from how steps of ranks lie to each other.
bool goes_by_steps(DomainState state);

/// A domain came into another state.
struct StateChange {
  Nanoseconds at{};
  DomainState state = DomainState::kUnknown;
  Rank straggler = -1;  ///< With kStraggler.
  double active = 0;    ///< Mean number at work over the steps that told.
};

/// Follows a session. It looks at moments of the session, four a second, with what was known at each of them and what it
/// had said before; so what it says does not depend on who looks when, and a replay is told what was told live. Where
/// steps last longer than 16 s it looks 64 times in one, and at the first such moment after any rank has begun a step or
/// ended. One thread.
///
/// What is looked at are the latest steps that all running ranks of a domain have been through, behind the last idle
/// wave: 12 where there are as many, and up to 64 of the last two seconds. A word is taken back only where the signs have
/// come clearly below what they had to reach for it, and then only at the fourth look in a row. Where ranks are held up
/// again and again, as on cores that they share, that is noise, and a wave is what makes them idle for longer than that.
class DomainStates {
 public:
  /// What was read of steps is remembered for so many ranks, at 4 KiB each; of more it is read anew at each look.
  explicit DomainStates(Rank most_remembered = 1 << 16) : most_remembered_(most_remembered) {}

  /// Looks at all moments that have come since, up to timeline.now(). Costs in proportion to looks and ranks, and reads
  /// each step once.
  void follow(const timeline::Timeline& timeline);
  /// So far.
  std::uint64_t looks() const { return looks_; }

  /// The latest change at or before `time`; null where there was none. `domain`: index into Timeline::domains().
  const StateChange* at(int domain, Nanoseconds time) const;
  /// Oldest first; of very many the latest.
  std::span<const StateChange> changes(int domain) const;

 private:
  struct Story {
    std::vector<StateChange> changes;
    StateChange candidate;
    int looks = 0;  ///< At which the candidate was seen in a row.
    Rounds rounds;
    Nanoseconds newest{};        ///< Begin of the latest step that was looked at, on its first rank.
    Nanoseconds typical_step{};  ///< At the latest look.
    Nanoseconds longest_idle{};  ///< What a rank may be idle in a step without being in an idle wave, by the same look.
    /// Of the latest looks that no wave could be seen at twice: how often a rank was idle for unusually long, and for how
    /// long at most.
    double often = 0;
    Nanoseconds often_idle{};
    Nanoseconds counted{};  ///< `newest` at the last of them.
    int counted_looks = 0;
    StateChange last() const { return changes.empty() ? StateChange() : changes.back(); }
  };
  void look_all(const timeline::Timeline& timeline);
  bool look(const timeline::Timeline& timeline, Nanoseconds at);
  bool look_at(const timeline::Timeline& timeline, int domain, Story& story, Nanoseconds at);
  void read(Story& story, Nanoseconds at);
  static void count_unusual(Story& story, Nanoseconds ordinary, Nanoseconds beyond_noise);
  static bool become(Story& story, StateChange change);
  static void weigh(Story& story, StateChange change);
  Nanoseconds longest_step() const;
  bool is_quiet() const;
  Nanoseconds pause() const;
  Nanoseconds next_moment(const timeline::Timeline& timeline, Nanoseconds now) const;

  Rank most_remembered_;
  std::vector<Story> stories_;
  Nanoseconds next_{};
  Nanoseconds looked_{};  ///< The latest moment that was looked at;
  Nanoseconds due_{};     ///< the next one if nothing happens until then. As `looked_`: the session is quiet.
  Nanoseconds lively_{};  ///< When something was last seen to happen.
  std::uint64_t looks_ = 0;
  /// Of the domain that is looked at.
  Members members_;
  Rounds::Room rounds_room_;
  SignsRoom signs_room_;
  std::vector<Nanoseconds> times_room_;
};

}  // namespace idlewave::analysis::domains
