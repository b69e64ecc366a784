#pragma once
// Which steps are looked at where it is told who waits for whom.

#include <span>
#include <vector>

#include "monitor/timeline/timeline.h"

namespace idlewave::analysis::steps {

/// When somebody was late, so that others had to wait.
struct LateMoment {
  wire::Rank rank = 0;
  wire::Step step = wire::kNoStep;
  wire::Nanoseconds at{};
  friend bool operator==(const LateMoment&, const LateMoment&) = default;
};

/// One step of ranks from `first` on, round the ring, of the program that they ran at `at`.
struct StepOfSome {
  wire::Rank first = 0;
  wire::Step step = wire::kNoStep;
  wire::Nanoseconds at{};
};

/// Of more ranks those about a late one are looked at.
inline constexpr wire::Rank kMostRanks = 256;
/// Posts of a sample, while a run goes on.
inline constexpr std::size_t kMostLookedLive = 4'000;
inline constexpr std::size_t kFewestRows = 8;
/// Of so many ranks, where so many posts are looked at.
std::size_t most_rows(std::size_t looked, std::size_t width);

/// Around the latest of these moments, each of them once.
std::vector<StepOfSome> steps_about(const timeline::Timeline& timeline, std::span<const LateMoment> moments,
                                    wire::Rank width);
/// Of the same ranks: steps all over the run, and those in which each waited longest. In some of them others are the last of
/// those whom a rank waits for. Costs the events of a few steps of each rank.
void add_steps_of_run(const timeline::Timeline& timeline, wire::Rank width, std::vector<StepOfSome>& rows);

/// All, or half of what there is room for from where ranks are farthest apart, and half evenly; ascending.
std::vector<std::size_t> rows_to_keep(const std::vector<double>& spreads, std::size_t most);

}  // namespace idlewave::analysis::steps
