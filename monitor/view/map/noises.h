#pragma once
// Noise that operators ordered: since when, until when.

#include <string>
#include <vector>

#include "monitor/timeline/timeline.h"

namespace idlewave::view::map {

using wire::Nanoseconds;
using wire::Rank;

struct Noise {
  std::string words;  ///< "noise exp:0.5ms", "noise exp:0.5ms in ranks 0-3".
  Nanoseconds from{};
  Nanoseconds to = Nanoseconds::max();  ///< max(): it goes on.
  Rank rank = 0;                        ///< One that it disturbs.
};

/// Those that were accepted, in the order in which they were seen.
std::vector<Noise> noises(const timeline::Timeline& timeline);

}  // namespace idlewave::view::map
