// iw-progress: whether nonblocking communication goes on while its caller works. See `iw-progress --help`.

#include <fmt/format.h>
#include <idlewave/probe.h>
#include <mpi.h>

#include <algorithm>
#include <array>

#include "workloads/kernels/divide.h"
#include "workloads/progress/measure.h"
#include "workloads/progress/options.h"
#include "workloads/progress/report.h"
#include "workloads/ranks/agreement.h"
#include "workloads/ranks/place.h"
#include "workloads/ranks/program.h"
#include "workloads/support/memory_limit.h"

namespace idlewave::progress {
namespace {

using ranks::kBadInput;
using ranks::kFailed;
using ranks::kSuccess;

std::vector<Direction> directions_of(const Options& options) {
  switch (options.directions) {
    case Directions::kReceive: return {Direction::kReceive};
    case Directions::kSend: return {Direction::kSend};
    case Directions::kBoth: break;
  }
  return {Direction::kReceive, Direction::kSend};
}

/// Its first words: the rest of what some libraries say is where and how they were built.
std::string name_of_mpi() {
  std::array<char, MPI_MAX_LIBRARY_VERSION_STRING> text{};
  int length = 0;
  MPI_Get_library_version(text.data(), &length);
  const std::string_view all{text.data(), static_cast<std::size_t>(length)};
  return std::string{all.substr(0, all.find_first_of(",\n"))};
}

/// How many divisions one second of this rank's work is. Rank 0 alone works.
double divisions_per_second(int rank) {
  return rank == 0 ? static_cast<double>(kernels::divisions_lasting(std::chrono::seconds{1})) : 0;
}

/// Before anything is allocated: what each process of this node sends and receives.
wire::Status check_memory(const Options& options, const ranks::Group& node) {
  const auto largest = std::size_t(std::ranges::max(options.sizes));
  return support::check_memory(2 * largest * std::size_t(node.size), "give a smaller --message-size", node.size);
}

/// Each table as soon as it is known. Collective; nothing after a failure, which has been reported.
int measure_all(const Options& options, const ranks::Group& world) {
  const double speed = divisions_per_second(world.rank);
  std::vector<Measurement> measurements;
  if (world.rank == 0 && !options.json) fmt::print("{}\n", name_of_mpi());
  for (const Direction direction : directions_of(options)) {
    for (const int size : options.sizes) {
      const auto measured = measure(options, direction, size, speed, world.ranks);
      const bool right = ranks::all_succeeded(world.ranks, measured ? wire::ok() : wire::Status{measured.error()});
      if (!right) return kFailed;
      if (world.rank == 0 && !options.json) fmt::print("\n{}", table(*measured));
      if (world.rank == 0) measurements.push_back(*measured);
    }
  }
  if (world.rank == 0 && options.json) fmt::print("{}\n", json(measurements, name_of_mpi()));
  return kSuccess;
}

int run_progress(const Options& options, const ranks::Group& world) {
  const ranks::Group node = ranks::node_of(world.ranks);
  if (!ranks::all_succeeded(world.ranks, check_memory(options, node))) return kBadInput;
  ranks::pin_in_turn(node);
  idlewave_start(world.rank, world.size);
  const int status = measure_all(options, world);
  idlewave_stop();
  return status;
}

}  // namespace
}  // namespace idlewave::progress

int main(int argc, char** argv) {
  using namespace idlewave;
  return ranks::program(
      argc, argv,
      [](int count, char** words, const ranks::Group& world) {
        return progress::parse_options(count, words, world.size);
      },
      [](const progress::Options& options, const ranks::Group& world) {
        return progress::run_progress(options, world);
      });
}
