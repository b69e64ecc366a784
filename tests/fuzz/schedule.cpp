// A GOAL schedule as text: read, run, and written again, which has to read as the same.

#include "tests/fuzz/road.h"
#include "workloads/sim/network/extrapolate.h"
#include "workloads/sim/network/goal_reader.h"
#include "workloads/sim/network/goal_run.h"
#include "workloads/sim/network/goal_writer.h"

namespace idlewave::fuzz {
namespace {

std::string written(const sim::network::GoalSchedule& schedule) {
  sim::network::GoalWriter writer(schedule);
  std::string text = sim::network::goal_head(schedule);
  while (!writer.is_done()) writer.write_rank(text);
  return text;
}

}  // namespace

void run_road(Bytes& in) {
  const auto schedule = sim::network::read_goal(as_text(in.rest()), "s.goal");
  if (!schedule) return require(!schedule.error().message.empty());
  const auto again = sim::network::read_goal(written(*schedule), "again.goal");
  require(again && written(*again) == written(*schedule));
  (void)sim::network::run(*schedule, support::LogGops{}, {});
  const auto found = sim::network::find_collectives(*schedule);
  if (sim::network::ops_of_extrapolation(*schedule, found, 3) < 10'000)
    (void)sim::network::extrapolate(*schedule, found, 3);
}

}  // namespace idlewave::fuzz
