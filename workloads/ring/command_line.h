#pragma once
// The command line of iw-ring.

#include <string>
#include <variant>

#include "probe/wire/result.h"
#include "workloads/ring/options.h"

namespace idlewave::ring {

/// What `--help` or `--version` prints.
struct Text {
  std::string text;
};

/// `ranks` is the size of the job, against which delays are checked. Error: the first argument that can't be used, and
/// what could.
wire::Result<std::variant<Options, Text>> parse_options(int argc, const char* const* argv, Rank ranks);

}  // namespace idlewave::ring
