#pragma once
// What each rank did in the steps that all of them went through: the ground on which partners are found, and on which a
// program is run again by a simulator.

#include <cstdint>
#include <vector>

#include "monitor/analysis/window.h"
#include "monitor/timeline/timeline.h"
#include "probe/wire/result.h"

namespace idlewave::analysis::steps {

using wire::Step;

/// One step of one rank. Session time.
struct RankStep {
  Nanoseconds begin{};
  /// By delays, all told; noise is none.
  Nanoseconds held{};
  /// When it first went to wait for its partners.
  Nanoseconds post{};
  /// When the next step began, or the rank stopped.
  Nanoseconds end{};
  /// Bytes that it declared to move.
  std::uint64_t traffic = 0;
  /// By noise that was told as such.
  Nanoseconds noise{};

  /// Noise that nobody told of is part of it.
  Nanoseconds work() const { return post - begin - held - noise; }
};

/// The longest run of steps that follow each other on every rank and are whole there: each waits, its events are kept,
/// and nothing of it was lost.
struct CommonSteps {
  /// At least two, ascending, as the program counts them: 0, 10, 20 too.
  std::vector<Step> numbers;
  /// [rank][index into numbers]
  std::vector<std::vector<RankStep>> ranks;
  /// By rank: steps before the first of these, or behind the last.
  std::vector<bool> has_earlier, has_later;
  /// Different steps that the ranks went through in all, as far as the timeline remembers.
  std::size_t known = 0;

  std::size_t steps() const { return numbers.size(); }
  /// From the first begin of any rank to the last end; more than 0.
  Nanoseconds begin() const;
  Nanoseconds end() const;
  /// While whatever the ranks in [first, last) do is of these steps; may be empty.
  Window all_of(std::size_t first, std::size_t last) const;
};

/// Costs in proportion to the events that are kept. Error: one line, where ranks are missing or no two steps in a row
/// are whole.
wire::Result<CommonSteps> common_steps(const timeline::Timeline& timeline);
/// Of steps that began and ended within the window; `known` counts those that began there.
wire::Result<CommonSteps> common_steps(const timeline::Timeline& timeline, Window window);

}  // namespace idlewave::analysis::steps
