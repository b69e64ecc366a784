#pragma once
// One idle wave, traced from who was late to whoever waited because of that.

#include <map>
#include <optional>
#include <vector>

#include "monitor/analysis/contention.h"
#include "monitor/analysis/partners.h"
#include "monitor/analysis/step_course.h"
#include "monitor/analysis/waves.h"

namespace idlewave::analysis {

/// Who was late by its own doing, and by how much.
struct Origin {
  Rank rank = 0;
  wire::Step step = wire::kNoStep;
  Nanoseconds begin{};
  Nanoseconds excess{};
  /// It was at work for so much longer; else it was held beside its work.
  bool in_work = false;
};

/// Runs the program once more beside what was recorded, without the origin's excess: a rank goes on when it and all whom
/// it waits for have done their own part; what everybody did by itself stays as it was, but for what the wave changed by
/// leaving others more or less of the memory bandwidth. A rank is later by the difference, and it is reached by the wave
/// where that difference first shows in its waiting. Only those ranks are looked at that the wave may touch. Everything
/// that it is given must outlive it.
class WaveTrace {
 public:
  WaveTrace(const timeline::Timeline& timeline, const Partners& partners, const Contention& contention,
            const Origin& origin, Nanoseconds typical_step);

  WaveDirection up() const { return direction(+1); }
  WaveDirection down() const { return direction(-1); }

 private:
  using Step = wire::Step;

  /// Before the wave.
  struct OrdinaryWork {
    double slowdown = 1;  ///< How many times as long as alone it took; median.
    double alone = 0;     ///< Nanoseconds, with little noise.
    double noise = 0;     ///< Nanoseconds: half of the times lie within it.
  };
  /// What is known of a rank in the step that is looked at.
  struct Look {
    /// How late the wave has made it, at the step's begin; less than 0 where it is early.
    Nanoseconds late{};
    /// Along the way that the wave took; nothing where it has changed only the bandwidth.
    std::optional<int> position;
    bool touched = false;
    std::optional<StepCourse> course;
    Nanoseconds late_post{};
    Step looked_in = wire::kNoStep;
    std::optional<OrdinaryWork> ordinary;  ///< Once it was looked up.
  };
  /// What a rank waited for in one step.
  struct Wait {
    Nanoseconds late{};  ///< At the step's end.
    Rank cause = -1;     ///< Who came last; itself where it did not wait.
    Rank hop = 0;        ///< From the cause to this rank.
  };
  /// What the wave has made of a rank at the step's end.
  struct Touch {
    Rank rank = 0;
    Nanoseconds late{};
    std::optional<int> position;
  };

  void run();
  /// False where nothing is left to look at.
  bool advance(Step step);
  void add_candidate(Rank rank, Step step);
  void find_candidates(Step step);
  const Look& look(Rank rank, Step step);
  Wait wait_of(Rank rank, Step step);
  std::optional<Touch> touch_of(Rank rank, Step step);
  void enter(Rank rank, const Wait& wait, Step step);
  Nanoseconds gained_work(Rank rank, Look& look) const;
  OrdinaryWork ordinary_work(Rank rank, Step until) const;
  bool waits_more_than_usual(Rank rank) const;
  bool may_matter(Rank rank, Step step) const;
  bool is_flattened(Step step);
  void reach_all(Step step);
  Nanoseconds ordinary_step() const;
  std::optional<TheorySpeed> theory(const WaveDirection& direction) const;

  double noise() const;
  void drop_doubtful(int sign);
  /// In the order of causes.
  std::vector<FrontPoint> front(int sign) const;
  WaveDirection direction(int sign) const;
  void settle_end(WaveDirection& direction) const;
  bool has_more_to_tell(Rank rank) const;
  Step stride() const;

  const timeline::Timeline& timeline_;
  const Partners& partners_;
  const Contention& contention_;
  Origin origin_;
  Nanoseconds typical_step_;
  Nanoseconds threshold_;
  Step stride_ = 1;
  Step latest_ = wire::kNoStep;  ///< In which somebody was reached.
  std::map<Rank, FrontPoint> reached_;
  std::optional<Step> flattened_in_;
  int reached_at_once_up_ = 0, reached_at_once_down_ = 0;
  std::vector<Look> looks_;       ///< By rank, while the wave is traced.
  std::vector<Rank> touched_;     ///< Whose look says so.
  std::vector<Rank> candidates_;  ///< Whom the wave may touch in this step.
  std::vector<Step> candidate_in_;
};

}  // namespace idlewave::analysis
