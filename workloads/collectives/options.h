#pragma once
// The command line of iw-collectives.

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "probe/wire/result.h"
#include "workloads/ranks/modes.h"
#include "workloads/support/noise_trace.h"
#include "workloads/support/scenario.h"

namespace idlewave::collectives {

using wire::Nanoseconds;
using wire::Rank;
using wire::Step;

/// Rank 0 is the root of the last two.
enum class Collective { kAllreduce, kAllgather, kGather, kScatter };
std::string_view name_of(Collective collective);

/// For a collective.
using ranks::Waiting;

/// A noise as it was named.
struct NamedNoise {
  std::string name;
  support::Noise noise;
  support::NoiseTrace trace;  ///< That of a TraceNoise.
};

struct Options {
  std::vector<Collective> collectives;
  Step steps = 20;
  Nanoseconds work = std::chrono::milliseconds{10};
  std::uint64_t size = 8;  ///< Bytes of each rank's block; a multiple of 8.
  int tests = 8;           ///< MPI_Test during the work beside a nonblocking collective.
  Waiting waiting = Waiting::kAuto;
  std::vector<NamedNoise> noises;  ///< Each beside silence, which is measured first.
  int ranks_per_domain = 10;
  bool json = false;
};

/// What `--help` or `--version` prints.
struct Text {
  std::string text;
};

/// `ranks`: the size of the job. Error: the first argument that can't be used, and what could.
wire::Result<std::variant<Options, Text>> parse_options(int argc, const char* const* argv, Rank ranks);

}  // namespace idlewave::collectives
