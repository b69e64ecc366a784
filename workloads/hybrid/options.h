#pragma once
// The command line of iw-hybrid.

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "probe/wire/result.h"
#include "probe/wire/vocabulary.h"
#include "workloads/hybrid/slab.h"
#include "workloads/ranks/modes.h"
#include "workloads/ranks/reserved.h"

namespace idlewave::hybrid {

/// Who calls MPI while who works; rabenseifner-2007, "Overlapping computation & communication".
enum class Mode {
  kMasteronly,  ///< The first thread communicates, and all others sleep.
  kFunneled,    ///< One thread is reserved for the communication, the others work beside it.
  kMultiple,    ///< Several threads are, each for its share of every message.
};
std::string_view name_of(Mode mode);

using ranks::Kernel;

struct Options {
  Box box;
  std::vector<Mode> modes{Mode::kMasteronly, Mode::kFunneled};
  std::vector<int> reserved{2};  ///< kMultiple: threads that communicate; a run of each number.
  int threads = 2;               ///< Of each process; 1 is pure MPI.
  std::int64_t steps = 200;      ///< In each mode.
  Kernel kernel = Kernel::kReal;
  wire::Nanoseconds point_time{1000};  ///< kVirtual: of one point on one thread.
  double message_bandwidth = 20e6;     ///< kVirtual: bytes per second of a thread that communicates.
  bool json = false;
};

using Way = ranks::Way<Mode>;
/// In the order of the modes, then of numbers of reserved threads.
std::vector<Way> ways_of(const Options& options);

/// What `--help` or `--version` prints.
struct Text {
  std::string text;
};

/// `ranks`: the size of the job. Error: the first argument that can't be used, and what could.
wire::Result<std::variant<Options, Text>> parse_options(int argc, const char* const* argv, int ranks);

}  // namespace idlewave::hybrid
