#pragma once
// What program a session shows: who waits for whom, what a step's work is, and what held whom. From this a simulator
// can run the same program again.

#include <optional>
#include <string>
#include <vector>

#include "monitor/analysis/common_steps.h"

namespace idlewave::analysis {

/// From whom ranks receive, as they say, or as far as the times tell (partners.h). Where all ranks are in step, everybody could be a
/// partner.
struct Pattern {
  /// A rank sends to rank + d and receives from rank - d. Never empty; ascending, unless waits are split.
  std::vector<Rank> distances;
  /// Also across the ends, unless there is evidence against it.
  bool ring = true;
  /// Else nobody was ever late, and the distances are the usual ones, -1 and 1.
  bool certain = false;
  /// Ranks have said it, and what follows.
  bool declared = false;
  bool rendezvous = false;
  bool split = false;  ///< A wait for each distance, in their order.
  /// Of a message: median of what a wait lasted beyond the last post.
  Nanoseconds transfer{};
};
/// Costs in proportion to rank-steps, times two dozen offsets.
Pattern find_pattern(const CommonSteps& steps);

/// What a rank does in a step before it waits.
struct Work {
  /// Median, without delays; at least 1 ns.
  Nanoseconds time{};
  /// Of a program that moves data in domains whose model is known: bytes, and b(1) and b(n) of the first domain.
  struct Memory {
    double volume = 0;
    double core_bandwidth = 0;
    double saturated_bandwidth = 0;
  };
  std::optional<Memory> memory;
};

/// A rank that was held before its work.
struct Hold {
  Rank rank = 0;
  /// Index into CommonSteps::numbers.
  std::size_t step = 0;
  Nanoseconds duration{};
};

struct Program {
  std::string name;
  /// Of the largest domain.
  Rank ranks_per_domain = 0;
  CommonSteps steps;
  Pattern pattern;
  Work work;
  /// By rank, then step; those of 0.1 ms and more.
  std::vector<Hold> holds;

  Rank ranks() const { return Rank(steps.ranks.size()); }
};

/// Error: one line; also for a session of several nodes, whose clocks are not known to the microseconds that partners
/// are told by.
wire::Result<Program> find_program(const timeline::Timeline& timeline);

/// For each group of `ranks_per_domain` neighbouring ranks: how many of them were at work, on average, between two
/// moments of session time.
std::vector<double> mean_at_work(const CommonSteps& steps, Rank ranks_per_domain, Nanoseconds from, Nanoseconds to);

}  // namespace idlewave::analysis
