#include "workloads/sim/core/run.h"

#include <fmt/format.h>

namespace idlewave::sim::core {

using wire::Error;

wire::Status check(const RunOptions& options, Step steps) {
  if (const auto step = options.starts_of; step && (*step < 0 || *step >= steps)) {
    return Error{fmt::format("--step-start: {}; from 0 to {}", *step, steps - 1)};
  }
  const auto window = options.active_means_of;
  if (window && !(0 <= window->from && window->from < window->to && window->to <= 1)) {
    return Error{fmt::format("window: {}:{}; two fractions of the run, the first below the second, from 0 to 1",
                             window->from, window->to)};
  }
  return wire::ok();
}

}  // namespace idlewave::sim::core
