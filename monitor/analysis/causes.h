#pragma once
// Who made whom wait, and why: each rank's waiting, traced to whoever was late by its own doing. docs/report.md has the
// definition, and what differs from the root-cause analysis of Böhme et al. (ICPP 2010).

#include <deque>
#include <memory>
#include <vector>

#include "monitor/analysis/partners.h"
#include "monitor/analysis/waves.h"

namespace idlewave::analysis {

/// Time that one rank made another wait.
struct Cost {
  Nanoseconds direct{};  ///< The other waited for it.
  Nanoseconds far{};     ///< The other waited for somebody who had waited because of it, however long the chain.

  Nanoseconds sum() const { return direct + far; }
  friend bool operator==(const Cost&, const Cost&) = default;
};

struct Culprit {
  Rank rank = 0;
  Cost cost;
  friend bool operator==(const Culprit&, const Culprit&) = default;
};

/// What one rank waited, and what it made others wait. To the nanosecond:
/// waited = sum of by + itself + bandwidth + transfer + unknown.
struct RankCauses {
  Nanoseconds waited{};     ///< Waiting and communicating.
  std::vector<Culprit> by;  ///< Other ranks that were late by their own doing, those that cost most first.
  Nanoseconds itself{};     ///< For somebody who had waited because of this rank.
  Nanoseconds bandwidth{};  ///< Somebody was late because memory bandwidth was shared: no rank's doing.
  Nanoseconds transfer{};   ///< All whom it waits for had done their part: messages, and what a program does beside.
  Nanoseconds unknown{};    ///< What would tell is not known: partners, their steps, or what was before them.
  Cost costs;               ///< Made all others wait.

  Cost by_others() const;
};

struct Causes {
  Window window;
  std::vector<RankCauses> ranks;  ///< By rank. Empty: not looked at yet.
};

/// What is learnt of a program before its waits are traced.
struct CauseGround {
  Partners partners;
  bool shares_bandwidth = false;  ///< Work takes longer where others of the domain work as well.
  Nanoseconds typical_step{};
};
/// Costs as infer_partners and Contention, however long the session.
CauseGround cause_ground(const timeline::Timeline& timeline);

/// Of the steps that ended in the window. Costs in proportion to the rank-steps in the window, and as many before it.
Causes find_causes(const timeline::Timeline& timeline, Window window);
Causes find_causes(const timeline::Timeline& timeline, Window window, const CauseGround& ground);

class CauseTally;

/// The same for whoever asks again and again. What it says of a window depends on the session up to the window's end, not
/// on what came later or on who asked when: windows end at whole quarters of a second of session time, with what was known
/// then and what had been learnt of the program by then. No call looks at more than about twenty thousand rank-steps, so a
/// window with more is told some calls later. Owned by one thread; the timeline must outlive it.
class CauseFinder {
 public:
  explicit CauseFinder(const timeline::Timeline& timeline);
  CauseFinder(const CauseFinder&) = delete;
  CauseFinder& operator=(const CauseFinder&) = delete;
  ~CauseFinder();

  /// Learns of the program where there is so much more of the session that it may tell what it did not tell before. To be
  /// called at moments of the session, whoever looks or not.
  void follow();
  /// Of the latest window that has been gone through; empty before anything has been learnt.
  const Causes& observe(Window window);

 private:
  struct Lesson {
    Nanoseconds at{};
    CauseGround ground;
  };
  bool has_grown() const;
  const CauseGround* ground_at(Nanoseconds moment) const;

  const timeline::Timeline& timeline_;
  std::deque<Lesson> lessons_;  ///< Oldest first; their number grows with the logarithm of the steps.
  wire::Step learnt_at_ = wire::kNoStep;
  Rank learnt_ranks_ = 0;
  std::size_t learnt_domains_ = 0;
  std::uint64_t events_ = 0;           ///< That there were when the latest window was begun.
  std::unique_ptr<CauseTally> tally_;  ///< Of the window that is being gone through.
  Causes causes_;
};

}  // namespace idlewave::analysis
