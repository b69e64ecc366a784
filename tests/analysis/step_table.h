#pragma once
// What a simulated program's ranks did, as a table of steps, and as they would tell it.

#include <vector>

#include "monitor/timeline/timeline.h"
#include "tests/analysis/ms.h"
#include "tests/workloads/exact_run.h"

namespace idlewave::test {

using EventsOfRanks = std::vector<std::vector<wire::Event>>;

/// One step of one rank, in its parts: held before the work, noise behind it, and waiting until the end.
struct Times {
  wire::Nanoseconds begin{}, work_begin{}, work_end{}, post{}, end{};
  wire::Nanoseconds own() const { return post - begin; }
};
struct Table {
  std::vector<std::vector<Times>> ranks;  ///< [rank][step]
  wire::Rank ranks_per_domain = 8;
  double core_bandwidth = 0, saturated_bandwidth = 0;
  /// What the work of a step takes a rank that shares its bandwidth with nobody; 0: core-bound.
  wire::Nanoseconds alone{};

  wire::Rank size() const { return wire::Rank(ranks.size()); }
  const Times& at(wire::Rank rank, int step) const { return ranks[std::size_t(rank)][std::size_t(step)]; }
};

/// Without the last step, whose end the simulation does not tell.
Table table_of(const tests::ExactProgram& program, const tests::ExactRun& run);
wire::Roster roster_of(const Table& table);
EventsOfRanks events_of(const Table& table);
timeline::Timeline timeline_of(const Table& table, const EventsOfRanks& events, const wire::Roster& roster);
timeline::Timeline timeline_of(const Table& table, const EventsOfRanks& events);
timeline::Timeline timeline_of(const Table& table);

}  // namespace idlewave::test
