#pragma once
// Idle waves of a session: found, and followed while it goes on.

#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "monitor/analysis/domains/activity.h"
#include "monitor/analysis/look_budget.h"
#include "monitor/analysis/partners/partners.h"
#include "monitor/analysis/waves/late_steps.h"
#include "monitor/analysis/waves/wave.h"

namespace idlewave::analysis::partners {

class PartnerSearch;

}  // namespace idlewave::analysis::partners

namespace idlewave::analysis::waves {

struct Late;

/// Finds waves again and again while a session goes on; each look costs what is new. Owned by whoever looks, always at
/// the same session, which must outlive it; one thread.
class WaveWatch {
 public:
  /// Whom ranks wait for is learnt, where they don't say it, by so many looks at posts a call; waves are traced for as long
  /// in one look. None is begun to be traced any more after `most_work` (rerun.h) in all.
  explicit WaveWatch(std::uint64_t looks_at_once = LookBudget::kAtOnce,
                     std::uint64_t most_work = LookBudget::kUnlimited);
  WaveWatch(const WaveWatch&) = delete;
  WaveWatch& operator=(const WaveWatch&) = delete;
  ~WaveWatch();

  /// One wave for each delay (phase kDelay; noise makes none) that others could notice, and for each step that a rank
  /// was late in without one (late_steps.h) if others waited for that: waits are traced back to it through whoever was
  /// waited for, so that it does not matter how far apart partners are, how ragged the steps are, or who else waits. Of
  /// very many the latest; oldest first. Waves whose fronts have ended stay as they were found, and one that is much work to
  /// trace stays for an eighth of the steps that it has run for. While it is being learnt
  /// whom ranks wait for, others are told by what was known of it before, and as running; where nothing was known delays
  /// alone make waves, which have reached nobody yet. So it is of a wave whose turn to be traced has yet to come.
  std::vector<Wave> look(const timeline::Timeline& timeline);
  /// Learns a little more, between two looks. True while there is more to learn of what was begun.
  bool learn();
  /// The next look takes over what has been learnt until then.
  bool is_learning() const { return search_ != nullptr; }
  /// The latest look had no time for all waves: the next one goes on.
  bool is_behind() const { return is_behind_; }
  /// At the latest look: delays and late steps whose waves were too much work, the shortest ones.
  int not_traced() const { return not_traced_; }
  /// At the latest look: since when delays and late steps were looked at, where there were so many that these are the latest.
  std::optional<Nanoseconds> from() const { return from_; }
  std::uint64_t work() const { return work_; }

 private:
  std::vector<std::size_t> in_turn(const std::vector<Late>& all) const;
  std::vector<Wave> traced(const timeline::Timeline& timeline, const std::vector<Late>& all);
  Wave trace(const timeline::Timeline& timeline, const domains::Contention& contention, const Late& late);
  const Wave* hardly_older(const timeline::Timeline& timeline, const Late& late) const;
  void learn_partners(const timeline::Timeline& timeline, const std::vector<steps::LateMoment>& moments,
                      Nanoseconds typical_step);
  void forget_partners_if_ranks_joined(const timeline::Timeline& timeline);
  bool has_more_to_learn_from(const timeline::Timeline& timeline, const std::vector<steps::LateMoment>& moments) const;

  std::uint64_t looks_at_once_, most_work_;
  std::uint64_t work_ = 0;
  int not_traced_ = 0;
  bool is_behind_ = false;
  std::optional<Nanoseconds> from_;
  LateSteps late_;
  std::vector<Wave>
      known_;  ///< As found at the latest look at which nothing was being learnt; also those that nobody waited for.
  /// Of each wave that runs, by its origin, as it was traced last.
  struct Trace {
    wire::Step latest = wire::kNoStep;  ///< Step that there was.
    std::uint64_t work = 0;
    std::uint64_t turn = 0;   ///< How many had been traced before it.
    bool is_outdated = true;  ///< More has been learnt since of whom ranks wait for.
    bool had_ended = false;   ///< The program.
  };
  std::map<std::pair<Rank, wire::Step>, Trace> traces_;
  std::uint64_t turns_ = 0;
  partners::Partners partners_;
  std::unique_ptr<partners::PartnerSearch> search_;
  std::vector<steps::LateMoment> learnt_from_;
  wire::Step learnt_at_ = wire::kNoStep;  ///< Latest step that there was.
  Rank learnt_ranks_ = 0;
};

/// Those that began in the window, of a session that is looked at once.
std::vector<Wave> find_waves(const timeline::Timeline& timeline, Window window);

struct FoundWaves {
  std::vector<Wave> waves;
  int not_traced = 0;
  std::optional<Nanoseconds> from;  ///< There were so many that these are the latest, from then on.
};
/// Those of the latest 512 delays and late steps, for a report: for some seconds of work the longest delays are traced, and others counted.
FoundWaves find_longest_waves(const timeline::Timeline& timeline);

}  // namespace idlewave::analysis::waves
