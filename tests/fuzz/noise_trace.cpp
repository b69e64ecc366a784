// A noise trace, and the noise that is made of it.

#include "workloads/support/noise_trace.h"
#include "tests/fuzz/road.h"
#include "workloads/sim/noise/make_noise.h"

namespace idlewave::fuzz {

void run_road(Bytes& in) {
  const bool same = in.flag();
  const auto trace = support::parse_noise_trace(as_text(in.rest()), "noise.csv");
  if (!trace) return require(!trace.error().message.empty());
  support::Noise noise;
  noise.distribution = support::TraceNoise{"noise.csv", same ? support::NoisePhase::kSame : support::NoisePhase::kOwn};
  const auto made = sim::noise::make_noise(noise, *trace);
  if (!made || !*made) return;
  for (const double begin : {0.0, 1.5, 1e6, 9e9}) {
    const double idle = (*made)->after(3, 0, begin, begin * 1.25 + 1e-3), from = (*made)->free_from(3, begin);
    require(idle >= 0 && from >= begin && (*made)->next_from(3, begin) >= begin);
  }
}

}  // namespace idlewave::fuzz
