#include "workloads/sim/noise/make_noise.h"

#include <utility>
#include <variant>

#include "workloads/sim/noise/drawn_noise.h"
#include "workloads/sim/noise/interruptions.h"

namespace idlewave::sim::noise {
namespace {

using Made = wire::Result<std::unique_ptr<PhaseNoise>>;
using wire::Error;
using wire::seconds;

Made silence() { return std::unique_ptr<PhaseNoise>{}; }

template <class Kind, class... Arguments>
Made noise_of(Arguments&&... arguments) {
  return std::unique_ptr<PhaseNoise>{std::make_unique<Kind>(std::forward<Arguments>(arguments)...)};
}

struct Maker {
  std::uint64_t seed;
  const support::NoiseTrace& trace;

  Made operator()(std::monostate) const { return silence(); }

  Made operator()(const support::ExponentialNoise& n) const {
    if (n.mean.count() < 0) return Error{"noise.mean: must be at least 0"};
    return n.mean.count() == 0 ? silence() : noise_of<ExponentialNoise>(seconds(n.mean), seed);
  }

  Made operator()(const support::UniformNoise& n) const {
    if (n.mean.count() < 0) return Error{"noise.mean: must be at least 0"};
    return n.mean.count() == 0 ? silence() : noise_of<UniformNoise>(seconds(n.mean), seed);
  }

  Made operator()(const support::GammaNoise& n) const {
    if (n.mean.count() < 0) return Error{"noise.mean: must be at least 0"};
    if (!(n.shape >= support::kLeastShape && n.shape <= support::kMostShape)) {
      return Error{"noise.shape: must be from 0.01 to 1e6"};
    }
    return n.mean.count() == 0 ? silence() : noise_of<GammaNoise>(n.shape, seconds(n.mean), seed);
  }

  Made operator()(const support::RareNoise& n) const {
    if (n.duration.count() < 0) return Error{"noise.duration: must be at least 0"};
    if (!(n.probability >= 0 && n.probability <= 1)) return Error{"noise.probability: must be from 0 to 1"};
    const bool silent = n.duration.count() == 0 || n.probability == 0;
    return silent ? silence() : noise_of<RareNoise>(n.probability, seconds(n.duration), seed);
  }

  Made operator()(const support::PeriodicNoise& n) const {
    if (n.duration.count() < 0) return Error{"noise.duration: must be at least 0"};
    const double duration = seconds(n.duration);
    if (!(n.frequency > 0 && duration < 1 / n.frequency)) {
      return Error{"noise.frequency: must be above 0, and its period longer than noise.duration"};
    }
    if (duration == 0) return silence();
    return noise_of<PeriodicInterruptions>(duration, 1 / n.frequency, Phases{seed, n.phase});
  }

  Made operator()(const support::SystemNoise& n) const {
    return noise_of<SystemInterruptions>(seed, Phases{seed, n.phase});
  }

  Made operator()(const support::TraceNoise& n) const {
    if (trace.empty()) return Error{"noise.file: has not been read, or holds no interruption"};
    return noise_of<TraceInterruptions>(trace, Phases{seed, n.phase});
  }
};

}  // namespace

Made make_noise(const support::Noise& noise, const support::NoiseTrace& trace) {
  return std::visit(Maker{noise.seed, trace}, noise.distribution);
}

}  // namespace idlewave::sim::noise
