#pragma once
// The command line of iw-spmv.

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "probe/wire/result.h"
#include "workloads/ranks/modes.h"
#include "workloads/ranks/reserved.h"
#include "workloads/sparse/holstein_hubbard.h"
#include "workloads/sparse/matrix.h"

namespace idlewave::spmv {

/// How communication and the product go together; schubert-2011, Fig. 5 (a) to (c).
enum class Mode {
  kVector,   ///< Communication, then the product.
  kOverlap,  ///< Nonblocking communication beside the local part, then the nonlocal part.
  kTask,     ///< The same, with a thread that only communicates.
  /// The same, with one of the threads reserved for it: rabenseifner-2007, "funneled & reserved"; kVector is masteronly.
  kReserved,
  kMultiple,  ///< The same, with several of them reserved, each for its share of every message.
};
/// Threads that only communicate while the others multiply the local part.
constexpr bool has_communicating_thread(Mode mode) {
  return mode == Mode::kTask || mode == Mode::kReserved || mode == Mode::kMultiple;
}
std::string_view name_of(Mode mode);

using Way = ranks::Way<Mode>;

enum class Kind { kHmep, kHmEp, kPoisson, kBanded, kFile };
enum class Distribution { kNonzeros, kRows };
using ranks::Kernel;
using ranks::Waiting;

struct Matrix {
  Kind kind = Kind::kHmep;
  sparse::HolsteinHubbard model{.phonons = 5};
  sparse::Index rows = 100'000;  ///< Of kPoisson, which may have fewer, and of kBanded.
  std::string file;
};
/// HMeP, HMEp, poisson, banded, or the path of the file.
std::string name_of(const Matrix& matrix);

struct Options {
  std::vector<Matrix> matrices;  ///< One after the other.
  Distribution distribution = Distribution::kNonzeros;
  std::vector<Mode> modes{Mode::kVector, Mode::kOverlap, Mode::kTask};
  std::vector<int> reserved{2};  ///< kMultiple: threads that communicate; a run of each number.
  int threads = 1;               ///< That compute, in each process.
  std::int64_t products = 100;   ///< In each mode, for each number of processes.
  std::vector<int> processes;    ///< Numbers of them; each at most that of the job.
  Kernel kernel = Kernel::kReal;
  int ranks_per_domain = 10;
  double core_bandwidth = 100e6;
  double domain_bandwidth = 500e6;
  double message_bandwidth = 0;  ///< kVirtual: of what a process sends; 0: what MPI takes.
  Waiting waiting = Waiting::kAuto;
  bool triad = false;  ///< Measure what memory bandwidth there is, for kappa.
  bool json = false;
};

/// In the order of the modes, then of numbers of reserved threads.
std::vector<Way> ways_of(const Options& options);

/// What `--help` or `--version` prints.
struct Text {
  std::string text;
};

/// `ranks`: the size of the job. Error: the first argument that can't be used, and what could.
wire::Result<std::variant<Options, Text>> parse_options(int argc, const char* const* argv, int ranks);

}  // namespace idlewave::spmv
