#include "workloads/ranks/noise_flag.h"

#include <fmt/format.h>

#include <array>
#include <limits>
#include <utility>

#include "probe/words/noise.h"
#include "workloads/ranks/flags.h"

namespace idlewave::ranks {
namespace {

using wire::Error;
using wire::Result;

struct Profile {
  std::string_view name;
  NoiseDistribution distribution;
};

/// widener-2016, section 3.
const std::array<Profile, 3>& profiles() {
  static const std::array<Profile, 3> kProfiles{{{"system", support::SystemNoise{}},
                                                 {"daemon", support::kDaemonNoise},
                                                 {"checkpoint", support::kCheckpointNoise}}};
  return kProfiles;
}

}  // namespace

Result<NoiseDistribution> parse_distribution(std::string_view text) {
  for (const Profile& profile : profiles()) {
    if (profile.name == text) return profile.distribution;
  }
  if (words::names_trace(text)) {
    const std::string_view file = words::file_of_trace(text);
    if (file.empty()) return Error{"\"trace:\" names no file; write trace:noise.txt"};
    return NoiseDistribution{support::TraceNoise{std::string{file}}};
  }
  const auto order = words::parse_noise(text);
  if (!order) return Error{fmt::format("{}; or system, daemon, checkpoint, trace:FILE", order.error().message)};
  return support::distribution_of(*order);
}

std::string_view accepted_noise() {
  return "exp:MEAN: exponentially distributed. periodic:2.5ms@10Hz: interruptions at a frequency. system, daemon, "
         "checkpoint: below 35 us, 2.5 ms at 10 Hz, 1 s every 120 s (Widener et al. 2016, sec. 3). trace:FILE: as "
         "iw-selfish measured it.";
}

void add_noise(arguments::CommandLine& app, support::Noise& noise, std::string_view help) {
  add(app, "--noise", noise.distribution, parse_distribution, fmt::format(fmt::runtime(help), accepted_noise()))
      .type_name("NOISE");
  add_seed(app, noise.seed);
}

void add_seed(arguments::CommandLine& app, std::uint64_t& seed) {
  add(app, "--seed", seed, whole<std::uint64_t, 0, std::numeric_limits<std::uint64_t>::max()>,
      "Of the noise; each rank and step draws its own, the same as 'idlewave sim'. [1]")
      .type_name("N");
}

wire::Status take_noise_trace(const support::Noise& noise, support::NoiseTrace& trace) {
  auto read = support::load_noise_trace(noise, {});
  if (!read) return read.error();
  trace = std::move(*read);
  return wire::ok();
}

}  // namespace idlewave::ranks
