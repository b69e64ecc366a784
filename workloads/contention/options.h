#pragma once
// The command line of iw-contention.

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "probe/wire/result.h"
#include "probe/wire/vocabulary.h"
#include "workloads/ranks/modes.h"

namespace idlewave::contention {

/// kVirtual: memory is moved on a virtual socket, and so is what messages move there.
using ranks::Kernel;

struct Options {
  int message_size = 4'000'000;                                 ///< Bytes; at least what holds the number of a round.
  wire::Nanoseconds duration = std::chrono::milliseconds{500};  ///< Of one measurement.
  int ranks_per_domain = 0;                                     ///< 0: the NUMA node on which a rank runs.
  std::vector<std::uint64_t> step_volumes{64'000'000, 32'000'000, 16'000'000, 8'000'000, 4'000'000, 2'000'000};
  int steps = 20;  ///< Of each volume, three times; 0: none.
  Kernel kernel = Kernel::kReal;
  double core_bandwidth = 1e9;    ///< kVirtual; bytes per second.
  double domain_bandwidth = 5e9;  ///< kVirtual.
  bool pin = true;
  bool json = false;
};

/// What `--help` or `--version` prints.
struct Text {
  std::string text;
};

/// Error: the first argument that can't be used, and what could.
wire::Result<std::variant<Options, Text>> parse_options(int argc, const char* const* argv);

}  // namespace idlewave::contention
