// iw-selfish: what interrupts a processor, and when. See `iw-selfish --help`.

#include <fmt/format.h>
#include <mpi.h>
#include <sched.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <variant>

#include "probe/wire/last_words.h"
#include "workloads/ranks/agreement.h"
#include "workloads/ranks/place.h"
#include "workloads/selfish/detours.h"
#include "workloads/selfish/options.h"
#include "workloads/selfish/report.h"
#include "workloads/support/pause.h"

namespace idlewave::selfish {
namespace {

constexpr int kSuccess = 0;
constexpr int kFailed = 1;
constexpr int kBadInput = 2;

/// Where a rank writes its trace.
struct TraceFile {
  std::string path;
  std::ofstream stream;

  wire::Status state() {
    if (path.empty() || stream) return wire::ok();
    return wire::Error{fmt::format("--trace: can't write {}: {}", path, std::strerror(errno))};
  }
};

TraceFile open_trace(const Options& options, const ranks::Group& world) {
  if (options.trace.empty()) return {};
  const std::string path = world.size == 1 ? options.trace : fmt::format("{}.{}", options.trace, world.rank);
  return {path, std::ofstream{path}};
}

Finding find_detours(const Options& options, MPI_Comm ranks, const ranks::Group& node) {
  constexpr std::uint64_t kToLearnTheRhythm = 2'000'000;
  Finding own;
  own.rhythm = rhythm_of(support::monotonic_now, kToLearnTheRhythm);
  own.threshold = options.threshold.value_or(options.times_shortest * own.rhythm.shortest);
  ranks::start_together(ranks, node);
  own.measured =
      measure(support::monotonic_now, {own.rhythm.shortest, own.threshold, options.duration, options.most_detours});
  own.core = sched_getcpu();
  return own;
}

int run(const Options& options, MPI_Comm ranks, const ranks::Group& world) {
  TraceFile file = open_trace(options, world);
  if (!ranks::all_succeeded(ranks, file.state())) return kBadInput;
  const ranks::Group node = ranks::node_of(ranks);
  if (options.pin) ranks::pin_in_turn(node);
  const Finding own = find_detours(options, ranks, node);
  if (!file.path.empty()) file.stream << support::to_text(own.measured.trace) << std::flush;
  if (!ranks::all_succeeded(ranks, file.state())) return kFailed;
  fmt::print("{}", report(options, ranks, own));
  return kSuccess;
}

int run_program(int argc, char** argv) try {
  const ranks::Group world = ranks::group_of(MPI_COMM_WORLD);
  const auto parsed = parse_options(argc, argv);
  if (!parsed) {
    if (world.rank == 0) ranks::complain(parsed.error());
    MPI_Barrier(MPI_COMM_WORLD);  // the line is out before the first rank that ends makes the launcher end the others
    return kBadInput;
  }
  if (const auto* text = std::get_if<Text>(&*parsed)) {
    if (world.rank == 0) fmt::print("{}", text->text);
    return kSuccess;
  }
  return run(std::get<Options>(*parsed), MPI_COMM_WORLD, world);
} catch (...) {
  ranks::complain({wire::last_words()});
  MPI_Abort(MPI_COMM_WORLD, kBadInput);  // the others wait for this rank
  return kBadInput;
}

}  // namespace
}  // namespace idlewave::selfish

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int status = idlewave::selfish::run_program(argc, argv);
  MPI_Finalize();
  return status;
}
