#pragma once
// What the cells of the map hold, as shares of time.

#include <span>

#include "monitor/timeline/timeline.h"
#include "monitor/view/layout/step_window.h"
#include "monitor/view/layout/time_window.h"
#include "monitor/view/state.h"

namespace idlewave::view::map {

/// Shares of the first `columns` columns of a window, for each row of ranks: out[row * columns + column].
/// A rank's step that takes less than three columns is told as a whole: each column holds the shares of the steps that
/// lie in it, in proportion. So a column narrower than a step, or one of a step and a half, shows how much of its steps
/// ranks wait, not at which moment of a step it happens to stand; else lockstep would be striped by the beat of columns
/// and steps. Longer steps are shown as they went on. Nothing that ends after `until` is told as a whole.
/// Of more ranks and steps than can be asked in a millisecond Timeline::picture is taken, whose buckets, a quarter of a
/// column or one for more than 2000 ranks, leave a beat of about half a shade, or one.
void shares_over_time(const timeline::Timeline& timeline, std::span<const RankRange> rows,
                      const layout::TimeWindow& window, int columns, Nanoseconds until,
                      std::span<timeline::Shares> out);

/// What the ranks of a row did in the steps of a column.
struct StepShares {
  timeline::Shares shares;
  bool begun = false;  ///< By one of them, or it would have been if it had not been lost.
};
/// Of more steps of ranks than can be asked in a few milliseconds, one in so many is.
struct StepSample {
  int steps_apart = 1;
  int ranks_apart = 1;
};
StepSample sample_of(std::span<const timeline::Timeline::RankRange> rows, const layout::StepWindow& window);
/// The same for columns of steps, as far as they are in the sample.
void shares_over_steps(const timeline::Timeline& timeline, std::span<const RankRange> rows,
                       const layout::StepWindow& window, Nanoseconds until, std::span<StepShares> out);

}  // namespace idlewave::view::map
