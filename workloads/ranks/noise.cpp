#include "workloads/ranks/noise.h"

#include <idlewave/probe.h>

#include <algorithm>

#include "workloads/support/pause.h"

namespace idlewave::ranks {
namespace {

using wire::Nanoseconds;
using wire::seconds;

}  // namespace

Nanoseconds hold_noise(const sim::core::PhaseNoise& noise, wire::Rank rank, wire::Step step, const Span& work,
                       Nanoseconds start) {
  constexpr double kForever = 1e9;
  const double idle = noise.after(rank, step, seconds(work.from - start), seconds(work.to - start));
  if (idle <= 0) return work.to;
  idlewave_switch(IDLEWAVE_NONE);
  const Nanoseconds end = work.to + Nanoseconds{static_cast<std::int64_t>(std::min(idle, kForever) * 1e9)};
  support::sleep_until(end);
  return end;
}

}  // namespace idlewave::ranks
