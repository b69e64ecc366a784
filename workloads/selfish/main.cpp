// iw-selfish: what interrupts a processor, and when. See `iw-selfish --help`.

#include <fmt/format.h>
#include <idlewave/probe.h>
#include <mpi.h>
#include <sched.h>

#include <cerrno>
#include <cstring>
#include <fstream>

#include "workloads/ranks/agreement.h"
#include "workloads/ranks/place.h"
#include "workloads/ranks/program.h"
#include "workloads/selfish/detours.h"
#include "workloads/selfish/options.h"
#include "workloads/selfish/report.h"
#include "workloads/support/pause.h"

namespace idlewave::selfish {
namespace {

using ranks::kBadInput;
using ranks::kFailed;
using ranks::kSuccess;

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
  idlewave_step(0);
  idlewave_switch(IDLEWAVE_COMPUTE);
  own.rhythm = rhythm_of(support::monotonic_now, kToLearnTheRhythm);
  own.threshold = options.threshold.value_or(options.times_shortest * own.rhythm.shortest);
  ranks::start_together(ranks, node);
  own.measured =
      measure(support::monotonic_now, {own.rhythm.shortest, own.threshold, options.duration, options.most_detours});
  idlewave_switch(IDLEWAVE_NONE);
  own.core = sched_getcpu();
  return own;
}

int run(const Options& options, MPI_Comm ranks, const ranks::Group& world) {
  TraceFile file = open_trace(options, world);
  if (!ranks::all_succeeded(ranks, file.state())) return kBadInput;
  const ranks::Group node = ranks::node_of(ranks);
  if (options.pin) ranks::pin_in_turn(node);
  idlewave_start(world.rank, world.size);
  const Finding own = find_detours(options, ranks, node);
  idlewave_stop();
  if (!file.path.empty()) file.stream << support::to_text(own.measured.trace) << std::flush;
  if (!ranks::all_succeeded(ranks, file.state())) return kFailed;
  fmt::print("{}", report(options, ranks, own));
  return kSuccess;
}

}  // namespace
}  // namespace idlewave::selfish

int main(int argc, char** argv) {
  using namespace idlewave;
  return ranks::program(
      argc, argv, [](int count, char** words, const ranks::Group&) { return selfish::parse_options(count, words); },
      [](const selfish::Options& options, const ranks::Group& world) {
        return selfish::run(options, MPI_COMM_WORLD, world);
      });
}
