#pragma once
// One idle wave, traced from who was late to whoever waited because of that.

#include <map>
#include <optional>
#include <vector>

#include "monitor/analysis/steps/step_course.h"
#include "monitor/analysis/waves/rerun.h"
#include "monitor/analysis/waves/wave.h"

namespace idlewave::analysis::waves {

/// Beside what was recorded stands a run of the same program without the origin's excess (rerun.h). A rank is later by the
/// difference, and it is reached by the wave in the step in which it waits longer for that. Only those ranks are looked at
/// that the wave may touch. Everything that it is given must outlive it.
class WaveTrace {
 public:
  WaveTrace(const timeline::Timeline& timeline, const partners::Partners& partners,
            const domains::Contention& contention, const Origin& origin, Nanoseconds typical_step);

  WaveDirection up() const { return direction(+1); }
  WaveDirection down() const { return direction(-1); }
  /// What the run beside the recording has cost (rerun.h).
  std::uint64_t work() const { return rerun_.work(); }

 private:
  using Step = wire::Step;

  /// What a rank waited for in one step.
  struct Wait {
    Rank cause = -1;  ///< Who came last; itself where it did not wait.
    Rank hop = 0;     ///< From the cause to this rank.
  };

  void run();
  /// False where nothing is left to look at.
  bool advance(Step step);
  void look_at(Rank rank, Step step);
  bool is_front(Rank rank, Step step, Nanoseconds waits_longer) const;
  Wait wait_of(Rank rank, const steps::StepCourse& mine, Step step) const;
  std::optional<int> behind(const Wait& wait, Rank rank) const;
  bool is_reached(Rank rank) const { return reached_.contains(rank) || beside_.contains(rank); }
  bool lies_above(Rank rank) const;
  void let_go_of_old(Step step);
  bool may_matter(Rank rank, Step step) const;
  bool waits_longer(Rank rank, const steps::StepCourse& course) const;
  bool is_flattened(Step step);
  bool waited_in(Rank rank, Step step) const;
  void reach_all(Step step);
  void sort_by_ends(Step step);
  void take_new_positions();
  Estimate ordinary_step(Rank hop, const WaveDirection& direction) const;
  Nanoseconds message_time(Rank hop, const WaveDirection& direction) const;
  Rank farthest_partner() const;
  Rank farthest_hop(int sign) const;
  bool runs_along_a_line(const WaveDirection& direction, Rank hop) const;
  std::optional<TheorySpeed> theory(const WaveDirection& direction) const;

  /// In the order of causes.
  std::vector<FrontPoint> front(int sign) const;
  WaveDirection direction(int sign) const;
  bool lies_ahead(Rank rank, int sign) const;
  std::vector<Rank> next_of(Rank edge, int sign, Step due) const;
  void settle_end(WaveDirection& direction) const;
  bool has_more_to_tell(Rank rank) const;
  Step stride() const;

  const timeline::Timeline& timeline_;
  const partners::Partners& partners_;
  Origin origin_;
  Nanoseconds typical_step_;
  Nanoseconds threshold_;
  Step stride_ = 1;
  Step latest_ = wire::kNoStep;  ///< In which somebody was reached.
  std::map<Rank, FrontPoint> reached_;
  std::optional<Step> flattened_in_;
  /// Reached not through those whom they wait for, but since others left them less bandwidth, or by a collective; and in
  /// which step.
  std::map<Rank, Step> beside_;
  Rerun rerun_;
  std::vector<Rank> followed_;                 ///< Ranks that are run without the excess, and matter.
  std::size_t joined_ = 0;                     ///< Of those that were touched, so many were taken up.
  std::vector<std::optional<int>> positions_;  ///< By rank, at the step's begin, or when it was looked at.
  std::vector<std::pair<Rank, int>> new_positions_;
};

}  // namespace idlewave::analysis::waves
