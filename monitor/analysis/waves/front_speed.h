#pragma once
// How fast a front runs, by the ranks that it has come to.

#include <vector>

#include "monitor/analysis/partners/partners.h"
#include "monitor/analysis/waves/wave.h"
#include "monitor/timeline/timeline.h"

namespace idlewave::analysis::waves {

/// For each point of a front a number that it shares with the points beside it. Where the number changes, the front has come
/// to ranks that another wave had reached before, or has left them: it was held up there, or they were late already. Behind
/// that it runs on as before, so its stretches are straight lines of one slope, shifted in time.
struct Stretches {
  std::vector<unsigned> of_arrivals;
  std::vector<unsigned> of_departures;  ///< Also of the steps in which it came, and of idle time.
};

/// Fits the edges of a direction that has its front and its theory; without the latter the front runs along no line, and has
/// no speed. Neither has one that stood still in most of the steps in which it could have gone on: of it, or of the longest
/// part of most that it came to where it did not, the edges are fitted.
void measure_speed(const timeline::Timeline& timeline, const partners::Partners& partners, Rank origin,
                   const Stretches& stretches, WaveDirection& direction);
/// Where no other wave was.
void measure_speed(const timeline::Timeline& timeline, const partners::Partners& partners, Rank origin,
                   WaveDirection& direction);

}  // namespace idlewave::analysis::waves
