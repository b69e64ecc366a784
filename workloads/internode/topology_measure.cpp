#include "workloads/internode/topology_measure.h"

#include <idlewave/probe.h>

#include <algorithm>
#include <array>
#include <thread>

#include "workloads/internode/waiting.h"
#include "workloads/support/pause.h"

namespace idlewave::internode {
namespace {

using support::monotonic_now;
using wire::Nanoseconds;

/// Who sits where: the world's rank of each place of the machine. Collective.
std::vector<int> ranks_by_place(const ranks::Group& world, int own_place) {
  std::vector<int> places(std::size_t(world.size)), found(places.size());
  MPI_Allgather(&own_place, 1, MPI_INT, places.data(), 1, MPI_INT, world.ranks);
  for (std::size_t rank = 0; rank < places.size(); ++rank) found[std::size_t(places[rank])] = int(rank);
  return found;
}

struct Neighbour {
  int rank = 0;
  int place = 0;
  std::vector<std::int64_t> sent;  ///< Begins with the number of the step and the sender.
  std::vector<std::int64_t> received;
};

/// One process of the grid.
class Cell {
 public:
  Cell(Mapping mapping, const TopologyOptions& options, const Machine& machine, const ranks::Group& world,
       const Seat& seat, VirtualNetwork* network)
      : options_(options),
        machine_(machine),
        world_(world),
        place_(seat.node * machine.ranks_per_node + seat.own.rank),
        network_(network),
        pattern_(int(mapping)),
        asleep_(network != nullptr || ranks::node_of(world.ranks).size > int(std::thread::hardware_concurrency())) {
    const std::vector<int> rank_at = ranks_by_place(world, place_);
    const std::vector<std::int64_t> cells = cells_by_place(mapping, options.grid, machine);
    for (const std::int64_t cell : neighbours_of(cells[std::size_t(place_)], options.grid)) {
      const int place = int(std::ranges::find(cells, cell) - cells.begin());
      add_neighbour(rank_at[std::size_t(place)], place);
    }
  }

  void run(std::int64_t& step) {
    for (std::int64_t i = 0; i < options_.steps; ++i) {
      idlewave_step(step);
      exchange(step++);
      look_at_messages(step - 1);
    }
    idlewave_switch(IDLEWAVE_NONE);
  }

  const Links& sent() const { return sent_; }
  std::int64_t wrong() const { return wrong_; }

 private:
  int bytes() const { return options_.message_size; }

  void add_neighbour(int rank, int place) {
    const std::vector<std::int64_t> room((std::size_t(bytes()) + sizeof(std::int64_t) - 1) / sizeof(std::int64_t), -1);
    neighbours_.push_back({rank, place, room, room});
    std::fill(neighbours_.back().sent.begin(), neighbours_.back().sent.end(), world_.rank);
    ranks_.push_back(rank);
    requests_.resize(2 * neighbours_.size(), MPI_REQUEST_NULL);
  }

  void exchange(std::int64_t step) {
    idlewave_switch(IDLEWAVE_COMMUNICATE);
    for (std::size_t i = 0; i < neighbours_.size(); ++i)
      MPI_Irecv(neighbours_[i].received.data(), bytes(), MPI_BYTE, neighbours_[i].rank, pattern_, world_.ranks,
                &requests_[2 * i]);
    if (network_) wait_on_network();
    for (std::size_t i = 0; i < neighbours_.size(); ++i) send(neighbours_[i], step, requests_[2 * i + 1]);
    idlewave_switch(IDLEWAVE_WAIT);
    idlewave_partners(pattern_, ranks_.data(), int(ranks_.size()), ranks_.data(), int(ranks_.size()), 0);
    wait_until([&] { return is_done(); }, asleep_);
  }

  void send(Neighbour& to, std::int64_t step, MPI_Request& request) {
    to.sent[0] = step;
    MPI_Isend(to.sent.data(), bytes(), MPI_BYTE, to.rank, pattern_, world_.ranks, &request);
    idlewave_message(to.rank, std::uint64_t(bytes()));
    ++sent_.all;
    if (leaves_node(to)) ++sent_.across_nodes;
    if (!leaves_node(to) && to.place / machine_.ranks_per_socket != place_ / machine_.ranks_per_socket)
      ++sent_.across_sockets;
  }

  bool leaves_node(const Neighbour& to) const {
    return to.place / machine_.ranks_per_node != place_ / machine_.ranks_per_node;
  }

  void wait_on_network() {
    const auto leave =
        std::size_t(std::ranges::count_if(neighbours_, [&](const Neighbour& to) { return leaves_node(to); }));
    const std::size_t stay = neighbours_.size() - leave, size = std::size_t(bytes());
    if (leave > 0) network_->send_to_other_node(leave * size);
    if (stay > 0) network_->send_within_node(stay * size);
  }

  bool is_done() {
    int done = 0;
    MPI_Testall(int(requests_.size()), requests_.data(), &done, MPI_STATUSES_IGNORE);
    return done != 0;
  }

  void look_at_messages(std::int64_t step) {
    for (const Neighbour& from : neighbours_) {
      const auto begin = from.received.begin();
      const bool whole = bytes() % int(sizeof(std::int64_t)) == 0;
      const bool right = *begin == step && std::all_of(begin + 1, from.received.end() - (whole ? 0 : 1),
                                                       [&](std::int64_t word) { return word == from.rank; });
      wrong_ += !right;
    }
  }

  const TopologyOptions& options_;
  Machine machine_;
  ranks::Group world_;
  int place_;
  VirtualNetwork* network_;
  int pattern_;
  bool asleep_;
  std::vector<Neighbour> neighbours_;
  std::vector<int> ranks_;
  std::vector<MPI_Request> requests_;
  Links sent_;
  std::int64_t wrong_ = 0;
};

/// Collective.
Links sum_of_all(const Links& own, const ranks::Group& world) {
  std::array<std::int64_t, 3> sums{own.all, own.across_nodes, own.across_sockets};
  MPI_Allreduce(MPI_IN_PLACE, sums.data(), int(sums.size()), MPI_INT64_T, MPI_SUM, world.ranks);
  return {sums[0], sums[1], sums[2]};
}

}  // namespace

MappingRun measure_mapping(Mapping mapping, const TopologyOptions& options, const Machine& machine,
                           const ranks::Group& world, const Seat& seat, VirtualNetwork* network, std::int64_t& step) {
  Cell cell(mapping, options, machine, world, seat, network);
  ranks::start_together(world.ranks, ranks::node_of(world.ranks));
  const Nanoseconds begin = monotonic_now();
  cell.run(step);
  MappingRun run{.mapping = mapping, .links = links_of(mapping, options.grid, machine)};
  run.step = std::chrono::duration<double>(monotonic_now() - begin).count() / double(options.steps);
  run.wrong = cell.wrong();
  run.counted = count_links(cells_by_place(mapping, options.grid, machine), options.grid, machine);
  run.sent = sum_of_all(cell.sent(), world);
  MPI_Allreduce(MPI_IN_PLACE, &run.step, 1, MPI_DOUBLE, MPI_MAX, world.ranks);
  MPI_Allreduce(MPI_IN_PLACE, &run.wrong, 1, MPI_INT64_T, MPI_SUM, world.ranks);
  return run;
}

}  // namespace idlewave::internode
