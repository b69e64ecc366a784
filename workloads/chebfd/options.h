#pragma once
// The command line of iw-chebfd.

#include <string>
#include <variant>

#include "probe/wire/result.h"
#include "workloads/chebfd/filter.h"
#include "workloads/chebfd/insulator.h"
#include "workloads/ranks/modes.h"

namespace idlewave::chebfd {

/// When the scalar products of all ranks are added up: behind the last step, or in each, as algorithm 1 has them before
/// they are postponed.
enum class Reduction { kEnd, kStep };

using ranks::Kernel;
using ranks::Waiting;

struct Options {
  Insulator insulator;
  Window window;
  int vectors = 4;   ///< n_s; a multiple of block.
  int block = 2;     ///< n_b: 1, 2, 4, 8, 16 or 32.
  int degree = 100;  ///< n_p
  int repeat = 1;    ///< The whole filter, so many times.
  Reduction reduction = Reduction::kEnd;
  int threads = 1;
  Kernel kernel = Kernel::kReal;
  int ranks_per_domain = 10;
  double core_bandwidth = 9.5e6;  ///< Of a rank alone, with n_b = 1.
  double domain_bandwidth = 40e6;
  Waiting waiting = Waiting::kAuto;
  bool json = false;

  int blocks() const { return vectors / block; }
};

/// Of a rank alone, in bytes per second: for the same work it needs less with larger blocks.
double core_bandwidth_of(const Options& options);

/// What `--help` or `--version` prints.
struct Text {
  std::string text;
};

/// `ranks`: the size of the job. Error: the first argument that can't be used, and what could.
wire::Result<std::variant<Options, Text>> parse_options(int argc, const char* const* argv, int ranks);

}  // namespace idlewave::chebfd
