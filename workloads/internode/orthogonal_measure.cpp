#include "workloads/internode/orthogonal_measure.h"

#include <idlewave/probe.h>

#include <array>
#include <thread>

#include "workloads/internode/waiting.h"
#include "workloads/ranks/ring.h"
#include "workloads/support/pause.h"

namespace idlewave::internode {
namespace {

using ranks::Ring;
using support::monotonic_now;
using wire::Nanoseconds;
using wire::seconds;

/// World ranks of the neighbours in a ring of `members`.
std::array<int, 2> neighbours_in(const ranks::Group& members, const ranks::Group& world, const Ring& ring) {
  MPI_Group own = MPI_GROUP_NULL, all = MPI_GROUP_NULL;
  MPI_Comm_group(members.ranks, &own);
  MPI_Comm_group(world.ranks, &all);
  const std::array<int, 2> places{ring.before(), ring.next()};
  std::array<int, 2> found{};
  MPI_Group_translate_ranks(own, int(places.size()), places.data(), all, found.data());
  MPI_Group_free(&own);
  MPI_Group_free(&all);
  return found;
}

/// One process in all ways.
class Bench {
 public:
  Bench(const OrthogonalOptions& options, const ranks::Group& world, const Seat& seat, VirtualNetwork* network)
      : options_(options),
        world_(world),
        node_(ranks::node_of(world.ranks)),
        seat_(seat),
        network_(network),
        vertical_(seat.column, options.sizes.back() * seat.own.size),
        horizontal_(seat.own, options.sizes.back()),
        vertical_to_(neighbours_in(seat.column, world, vertical_)),
        horizontal_to_(neighbours_in(seat.own, world, horizontal_)),
        asleep_(network != nullptr || node_.size > int(std::thread::hardware_concurrency())) {}

  Point run(int size, const Way& way) {
    ranks::start_together(world_.ranks, node_);
    std::array<double, 2> times{};
    if (seat_.own.rank < way.communicating) times = exchange(size, way);
    wait_for_all();
    MPI_Allreduce(MPI_IN_PLACE, times.data(), int(times.size()), MPI_DOUBLE, MPI_MAX, world_.ranks);
    return {std::size_t(size), way, times[0], times[1]};
  }

  /// Collective.
  std::int64_t wrong() const {
    std::int64_t all = vertical_.wrong() + horizontal_.wrong();
    MPI_Allreduce(MPI_IN_PLACE, &all, 1, MPI_INT64_T, MPI_SUM, world_.ranks);
    return all;
  }

 private:
  struct Phases {
    int vertical = idlewave_define_phase("to the next node", IDLEWAVE_COMMUNICATE);
    int horizontal = idlewave_define_phase("within the node", IDLEWAVE_COMMUNICATE);
  };

  /// Seconds of a round, and of its vertical messages.
  std::array<double, 2> exchange(int size, const Way& way) {
    const Nanoseconds begin = monotonic_now();
    Nanoseconds vertical{};
    for (std::int64_t round = 0; round < options_.rounds; ++round) {
      const Nanoseconds from = monotonic_now();
      idlewave_step(step_++);
      send_vertically(share_of_node(size, way.communicating));
      vertical += monotonic_now() - from;
      if (way.horizontal) send_horizontally(size);
    }
    idlewave_switch(IDLEWAVE_NONE);
    const auto rounds = double(options_.rounds);
    return {seconds(monotonic_now() - begin) / rounds, seconds(vertical) / rounds};
  }

  /// What this process sends of the node's messages.
  int share_of_node(std::int64_t size, int communicating) const {
    const std::int64_t all = size * seat_.own.size, place = seat_.own.rank;
    return int(all * (place + 1) / communicating - all * place / communicating);
  }

  void send_vertically(int bytes) {
    idlewave_switch(phases_.vertical);
    if (network_) network_->send_to_other_node(std::size_t(bytes));
    turn(vertical_, bytes, vertical_to_, 0);
  }

  void send_horizontally(int bytes) {
    idlewave_switch(phases_.horizontal);
    if (network_) network_->send_within_node(std::size_t(bytes));
    turn(horizontal_, bytes, horizontal_to_, 1);
  }

  void turn(Ring& ring, int bytes, const std::array<int, 2>& neighbours, int pattern) {
    ring.post(bytes);
    idlewave_message(neighbours[1], std::uint64_t(bytes));
    idlewave_switch(IDLEWAVE_WAIT);
    idlewave_partners(pattern, neighbours.data(), 1, neighbours.data() + 1, 1, 0);
    wait_until([&] { return ring.is_done(); }, asleep_);
  }

  /// Off the core, as threads that sleep while another one communicates.
  void wait_for_all() {
    MPI_Request all_here = MPI_REQUEST_NULL;
    MPI_Ibarrier(world_.ranks, &all_here);
    const auto is_done = [&] {
      int done = 0;
      MPI_Test(&all_here, &done, MPI_STATUS_IGNORE);
      return done != 0;
    };
    wait_until(is_done, true);
  }

  const OrthogonalOptions& options_;
  ranks::Group world_;
  ranks::Group node_;
  Seat seat_;
  VirtualNetwork* network_;
  Ring vertical_;
  Ring horizontal_;
  std::array<int, 2> vertical_to_;
  std::array<int, 2> horizontal_to_;
  bool asleep_;
  std::int64_t step_ = 0;
  Phases phases_;
};

}  // namespace

Figures measure_orthogonal(const OrthogonalOptions& options, const ranks::Group& world, const Seat& seat,
                           VirtualNetwork* network) {
  Bench bench(options, world, seat, network);
  Figures figures{seat.nodes, seat.own.size, {}, 0};
  bench.run(options.sizes.front(), {seat.own.size, true});  // warms up: pages, connections
  for (const int size : options.sizes)
    for (const Way& way : ways_of(options, seat.own.size)) figures.points.push_back(bench.run(size, way));
  figures.wrong = bench.wrong();
  return figures;
}

}  // namespace idlewave::internode
