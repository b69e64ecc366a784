// A noise trace, and the noise that is made of it.

#include "tests/fuzz/road.h"
#include "workloads/sim/noise/make_noise.h"
#include "workloads/support/noise_trace.h"

namespace idlewave::fuzz {

void run_road(Bytes& in) {
  const bool same = in.flag();
  const auto trace = support::parse_noise_trace(as_text(in.rest()), "noise.csv");
  if (!trace) return require(!trace.error().message.empty());
  support::Noise noise;
  noise.distribution = support::TraceNoise{"noise.csv", same ? support::NoisePhase::kSame : support::NoisePhase::kOwn};
  (void)sim::make_noise(noise, *trace);
}

}  // namespace idlewave::fuzz
