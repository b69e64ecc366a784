#pragma once
// Where in a run ranks begin to wait for others than before.

#include <cstddef>
#include <span>
#include <vector>

#include "monitor/timeline/timeline.h"

namespace idlewave::analysis::partners {

/// Steps in which ranks begin, one after the other, to wait for others than before.
struct StretchOfSteps {
  wire::Step first = 0, last = 0;
};
/// At most `most`, ascending; those that lie close to each other are one, the closer the fewer there are. `steps`:
/// ascending.
std::vector<StretchOfSteps> stretches_of(std::span<const wire::Step> steps, std::size_t most);

}  // namespace idlewave::analysis::partners
