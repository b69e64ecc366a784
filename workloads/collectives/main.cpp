// iw-collectives: what noise does to blocking and nonblocking collectives. See `iw-collectives --help`.

#include <fmt/format.h>
#include <idlewave/probe.h>
#include <mpi.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "workloads/collectives/options.h"
#include "workloads/collectives/report.h"
#include "workloads/collectives/steps.h"
#include "workloads/ranks/agreement.h"
#include "workloads/ranks/place.h"
#include "workloads/ranks/program.h"
#include "workloads/sim/noise/make_noise.h"
#include "workloads/support/memory_limit.h"
#include "workloads/support/pause.h"

namespace idlewave::collectives {
namespace {

using ranks::kBadInput;
using ranks::kFailed;
using ranks::kSuccess;

/// Null: silence.
struct Played {
  std::string name;
  std::unique_ptr<sim::core::PhaseNoise> noise;
};

wire::Result<std::vector<Played>> make_noises(const Options& options) {
  std::vector<Played> played;
  played.push_back({"none", nullptr});
  for (const NamedNoise& named : options.noises) {
    auto noise = sim::noise::make_noise(named.noise, named.trace);
    if (!noise) return noise.error();
    played.push_back({named.name, std::move(*noise)});
  }
  return played;
}

/// With each noise; silence comes first, and is what the others are compared with.
void compare(Collective collective, const std::vector<Played>& noises, Steps& steps, MPI_Comm ranks,
             std::vector<Comparison>& comparisons) {
  const std::size_t silence = comparisons.size();
  for (const Played& played : noises) {
    Comparison each{std::string{name_of(collective)}, played.name, {}, {}};
    each.blocking = outcome_of(steps.run({collective, false, played.noise.get()}), ranks);
    each.nonblocking = outcome_of(steps.run({collective, true, played.noise.get()}), ranks);
    comparisons.push_back(each);
    const Comparison& silent = comparisons[silence];
    comparisons.back().slowdown_blocking = each.blocking.makespan / silent.blocking.makespan;
    comparisons.back().slowdown_nonblocking = each.nonblocking.makespan / silent.nonblocking.makespan;
  }
}

/// Nobody has to see what was computed wrongly to hear of it.
int check(const std::vector<Comparison>& comparisons, bool complains) {
  for (const Comparison& each : comparisons) {
    const std::uint64_t wrong = each.blocking.wrong + each.nonblocking.wrong;
    if (wrong == 0) continue;
    if (complains) {
      ranks::complain(
          {fmt::format("{} with noise {}: {} elements of the results are wrong", each.collective, each.noise, wrong)});
    }
    return kFailed;
  }
  return kSuccess;
}

/// Before anything is allocated: the blocks that this node's ranks send and receive at a time.
wire::Status check_memory(const Options& options, const ranks::Group& world, const ranks::Group& node) {
  const bool all_have_all = std::ranges::count(options.collectives, Collective::kAllgather) > 0;
  const double blocks = all_have_all ? (1.0 + world.size) * node.size : 1.0 * world.size + node.size;
  return support::check_memory(std::size_t(blocks * double(options.size)),
                               "give a smaller --size, or start fewer ranks on a node", node.size);
}

int run(const Options& options, MPI_Comm ranks, const ranks::Group& world) {
  if (!ranks::all_succeeded(ranks, check_memory(options, world, ranks::node_of(ranks)))) return kBadInput;
  const auto noises = make_noises(options);
  if (!ranks::all_succeeded(ranks, noises ? wire::ok() : wire::Status{noises.error()})) return kBadInput;
  support::ask_for_prompt_wake_ups();
  idlewave_start(world.rank, world.size);
  idlewave_set_domain(world.rank / options.ranks_per_domain, 1, 0, 0);
  Steps steps{options, ranks};
  std::vector<Comparison> comparisons;
  for (const Collective collective : options.collectives) compare(collective, *noises, steps, ranks, comparisons);
  idlewave_stop();
  if (world.rank == 0) fmt::print("{}", report(options, world.size, steps.waits_asleep(), comparisons));
  return check(comparisons, world.rank == 0);
}

}  // namespace
}  // namespace idlewave::collectives

int main(int argc, char** argv) {
  using namespace idlewave;
  return ranks::program(
      argc, argv,
      [](int count, char** words, const ranks::Group& world) {
        return collectives::parse_options(count, words, world.size);
      },
      [](const collectives::Options& options, const ranks::Group& world) {
        return collectives::run(options, MPI_COMM_WORLD, world);
      });
}
