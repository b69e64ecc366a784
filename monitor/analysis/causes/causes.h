#pragma once
// Who made whom wait, and why: each rank's waiting, traced to whoever was late by its own doing. docs/report.md has the
// definition, and what differs from the root-cause analysis of Böhme et al. (ICPP 2010).

#include <deque>
#include <memory>

#include "monitor/analysis/causes/cause_ground.h"
#include "monitor/analysis/causes/rank_causes.h"
#include "monitor/analysis/look_budget.h"

namespace idlewave::analysis::causes {

/// Of the steps that ended in the window. Costs in proportion to the rank-steps in the window, and as many before it.
Causes find_causes(const timeline::Timeline& timeline, Window window);
Causes find_causes(const timeline::Timeline& timeline, Window window, const CauseGround& ground);

class GroundSearch;
class Tally;

/// The same for whoever asks again and again. What it says of a window depends on the session up to the window's end, not
/// on what came later or on who asked when: windows end at whole quarters of a second of session time, with what was known
/// then and what had been learnt of the program by then. No call looks at more than about twenty thousand rank-steps, so a
/// window with more is told some calls later; and none learns for longer than `looks_at_once` take. What takes longer to
/// learn is learnt of the session as it was when that began, and holds from the moment on at which it is done. Owned by one
/// thread; the timeline must outlive it.
class CauseFinder {
 public:
  explicit CauseFinder(const timeline::Timeline& timeline, std::uint64_t looks_at_once = LookBudget::kAtOnce);
  CauseFinder(const CauseFinder&) = delete;
  CauseFinder& operator=(const CauseFinder&) = delete;
  ~CauseFinder();

  /// Begins to learn of the program where there is so much more of the session that it may tell what it did not tell
  /// before, and takes over what has been learnt. To be called at moments of the session, whoever looks or not.
  void follow();
  /// Learns a little more, between such moments. True while there is more to learn of what was begun.
  bool learn();
  bool is_learning() const { return search_ != nullptr; }
  /// The latest that was learnt.
  CauseGround ground() const { return lessons_.empty() ? CauseGround{} : lessons_.back().ground; }
  /// Of the latest window that has been gone through; empty before anything has been learnt.
  const Causes& observe(Window window);

 private:
  struct Lesson {
    Nanoseconds at{};
    CauseGround ground;
  };
  bool has_joined() const;
  bool has_grown() const;
  void begin_to_learn();
  const CauseGround* ground_at(Nanoseconds moment) const;

  const timeline::Timeline& timeline_;
  std::deque<Lesson> lessons_;  ///< Oldest first; their number grows with the logarithm of the steps.
  std::uint64_t looks_at_once_;
  std::unique_ptr<GroundSearch> search_;  ///< Of the lesson that is being learnt.
  wire::Step learnt_at_ = wire::kNoStep;  ///< The latest when it began, or the last one did.
  Rank learnt_ranks_ = 0;
  std::size_t learnt_domains_ = 0;
  std::uint64_t events_ = 0;      ///< That there were when the latest window was begun.
  std::unique_ptr<Tally> tally_;  ///< Of the window that is being gone through.
  Causes causes_;
};

}  // namespace idlewave::analysis::causes
