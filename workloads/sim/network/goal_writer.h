#pragma once
// A GOAL schedule as text that read_goal and LogGOPSim's txt2bin take.

#include <string>

#include "workloads/sim/network/goal_schedule.h"

namespace idlewave::sim::network {

/// The first line; behind it stand the ranks' blocks. Read again it is the same schedule, but for what the language has
/// no word for: idle calculations become calculations, and calculations lose their tags.
std::string goal_head(const GoalSchedule& schedule);

/// Hands out the blocks in the order of ranks, since all of the text may be more than the memory holds. `schedule`
/// outlives it.
class GoalWriter {
 public:
  explicit GoalWriter(const GoalSchedule& schedule) : schedule_(schedule) {}
  bool is_done() const { return rank_ == schedule_.ranks(); }
  void write_rank(std::string& text);  ///< Appends the next one. Not when done.

 private:
  const GoalSchedule& schedule_;
  Rank rank_ = 0;
  OpId next_ = 0;  ///< First operation of rank_.
};

}  // namespace idlewave::sim::network
