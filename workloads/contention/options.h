#pragma once
// The command line of iw-contention.

#include <string>
#include <variant>

#include "probe/wire/result.h"
#include "probe/wire/vocabulary.h"

namespace idlewave::contention {

struct Options {
  int message_size = 4'000'000;                                 ///< Bytes; at least what holds the number of a round.
  wire::Nanoseconds duration = std::chrono::milliseconds{500};  ///< Of one measurement.
  int ranks_per_domain = 0;                                     ///< 0: the NUMA node on which a rank runs.
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
