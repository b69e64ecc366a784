#pragma once
// How long the steps of a program are, where they are alike: what the map's columns are locked to.

#include "monitor/analysis/domains/activity.h"
#include "monitor/timeline/timeline.h"

namespace idlewave::view::map {

using wire::Nanoseconds;

/// Mean length of the steps that ended within the window, without those that some event has made longer or shorter by a
/// quarter; 0 if too few have ended, or if less than three in four are alike. Of many ranks a few dozen are asked.
Nanoseconds rhythm_in(const timeline::Timeline& timeline, analysis::Window window);

/// The step that columns are locked to. As columns of another width are another picture, it changes only after a length
/// that is truly another one has settled: two looks in a row tell the same.
class Rhythm {
 public:
  void observe(Nanoseconds step);             ///< What rhythm_in() tells now; 0 changes nothing.
  Nanoseconds step() const { return step_; }  ///< 0: none yet.

 private:
  Nanoseconds step_{};
  Nanoseconds seen_{};
};

}  // namespace idlewave::view::map
