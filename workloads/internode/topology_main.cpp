// iw-topology: a Cartesian grid on nodes and sockets, mapped in several ways. See `iw-topology --help`.

#include <fmt/format.h>
#include <idlewave/probe.h>
#include <mpi.h>

#include "workloads/internode/topology_measure.h"
#include "workloads/ranks/program.h"
#include "workloads/support/memory_limit.h"

namespace idlewave::internode {
namespace {

using ranks::kBadInput;
using ranks::kFailed;
using ranks::kSuccess;
using wire::Error;
using wire::Status;

Machine machine_of(const TopologyOptions& options, const Seat& seat) {
  return {seat.nodes, seat.own.size, options.ranks_per_socket == 0 ? seat.own.size : options.ranks_per_socket};
}

Status check_machine(const Machine& machine) {
  if (machine.ranks_per_node % machine.ranks_per_socket != 0)
    return Error{fmt::format("--ranks-per-socket: {} does not divide the {} ranks of a node", machine.ranks_per_socket,
                             machine.ranks_per_node)};
  return wire::ok();
}

/// Before anything is allocated: what is sent to and received of each neighbour. Collective.
Status check_sizes(const TopologyOptions& options, const ranks::Group& world) {
  const int processes = ranks::node_of(world.ranks).size;
  const double bytes = 4.0 * double(options.grid.sides.size()) * options.message_size * processes;
  return support::check_memory(std::size_t(bytes), "give a smaller --message-size", processes);
}

Status check_runs(const TopologyOptions& options, const std::vector<MappingRun>& runs) {
  for (const MappingRun& run : runs) {
    if (const Status messages = ranks::check_messages(run.wrong); !messages) return messages;
    if (!agree(run, options.steps))
      return Error{fmt::format("{}: links worked out, counted and seen are not the same", name_of(run.mapping))};
  }
  return wire::ok();
}

int run_topology(const TopologyOptions& options, const ranks::Group& world) {
  const auto seat = take_seat(world, options.ranks_per_node);
  if (!seat) return kBadInput;
  const Machine machine = machine_of(options, *seat);
  const Status possible = ranks::first_failure({check_machine(machine), check_sizes(options, world)});
  if (!ranks::all_succeeded(world.ranks, possible)) return kBadInput;
  const auto network = join_network(options.network, world, *seat);
  if (!network) return kBadInput;
  idlewave_start(world.rank, world.size);
  const int sockets_of_node = machine.ranks_per_node / machine.ranks_per_socket;
  if (options.ranks_per_node > 0 || options.ranks_per_socket > 0)
    idlewave_set_domain(seat->node * sockets_of_node + seat->own.rank / machine.ranks_per_socket, 1, 0, 0);
  std::vector<MappingRun> runs;
  std::int64_t step = 0;
  for (const Mapping mapping : options.mappings)
    runs.push_back(measure_mapping(mapping, options, machine, world, *seat, network->get(), step));
  idlewave_stop();
  const Status right = check_runs(options, runs);
  if (world.rank == 0)
    fmt::print("{}", options.json ? json(options, machine, runs) + "\n" : table(options, machine, runs));
  return ranks::all_succeeded(world.ranks, right) ? kSuccess : kFailed;
}

}  // namespace
}  // namespace idlewave::internode

int main(int argc, char** argv) {
  using namespace idlewave;
  return ranks::program(
      argc, argv,
      [](int count, char** words, const ranks::Group& world) {
        return internode::parse_topology(count, words, world.size);
      },
      [](const internode::TopologyOptions& options, const ranks::Group& world) {
        return internode::run_topology(options, world);
      });
}
