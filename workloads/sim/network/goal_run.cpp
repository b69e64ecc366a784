#include "workloads/sim/network/goal_run.h"

#include <fmt/format.h>

#include <limits>

#include "workloads/sim/network/goal_check.h"
#include "workloads/sim/network/goal_engine.h"

namespace idlewave::sim::network {

namespace {

std::string name_of(Rank rank) { return rank == kAnySource ? "any rank" : fmt::format("rank {}", rank); }

std::string name_of_tag(Tag tag) { return tag == kAnyTag ? "any tag" : fmt::format("tag {}", tag); }

}  // namespace

std::string describe(const Stuck& stuck) {
  if (stuck.kind == Stuck::Kind::kReceive)
    return fmt::format("rank {} waits for {} B from {}, {}, and no such message comes", stuck.rank, stuck.bytes,
                       name_of(stuck.peer), name_of_tag(stuck.tag));
  return fmt::format("rank {} sent {} B to {}, {}, and no receive takes them{}", stuck.rank, stuck.bytes,
                     name_of(stuck.peer), name_of_tag(stuck.tag), stuck.blocks_sender ? ": it waits in this send" : "");
}

wire::Result<GoalRun> run(const GoalSchedule& schedule, const support::LogGops& network, const GoalOptions& options) {
  const auto engine = make_engine(schedule, network, options);
  if (!engine) return engine.error();
  (*engine)->advance_until(std::numeric_limits<std::int64_t>::max());
  if ((*engine)->is_too_long()) return too_long_with_noise();
  return (*engine)->take_run();
}

}  // namespace idlewave::sim::network
