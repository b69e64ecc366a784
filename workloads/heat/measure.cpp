#include "workloads/heat/measure.h"

#include <idlewave/probe.h>
#include <mpi.h>

#include <algorithm>
#include <array>
#include <thread>

#include "workloads/distributed/threads.h"
#include "workloads/heat/storage.h"
#include "workloads/support/pause.h"

namespace idlewave::heat {
namespace {

using support::monotonic_now;
using wire::Nanoseconds;
using wire::seconds;

/// One process of a run.
class Plate {
 public:
  Plate(const Square& square, Memory memory, const Options& options, const ranks::Group& ranks, bool asleep)
      : square_(square),
        options_(options),
        rows_(rows_of(square, ranks)),
        storage_(make_storage(memory, square, ranks, asleep)) {}

  void take_step() {
    communicate([&] { storage_->begin_step(); });
    idlewave_threads(options_.threads);
    idlewave_switch(phases_.update);
    distributed::in_team(options_.threads, [&](int thread) { update(thread); });
    communicate([&] { storage_->end_step(); });
  }

  Nanoseconds communication() const { return communication_; }
  Traffic traffic() const { return storage_->traffic(); }

  double error(std::int64_t step) {
    storage_->begin_look();
    double largest = 0;
    for (int row = rows_.first; row < rows_.end; ++row)
      largest = std::max(largest, error_of_row(square_, row, step, storage_->now(row)));
    return largest;
  }

 private:
  struct Phases {
    int communication = idlewave_define_phase("communication", IDLEWAVE_WAIT);
    int update = idlewave_define_phase("update", IDLEWAVE_COMPUTE);
  };

  /// While the other threads sleep.
  template <class Exchange>
  void communicate(Exchange exchange) {
    const Nanoseconds begin = monotonic_now();
    idlewave_threads(1);
    idlewave_switch(phases_.communication);
    exchange();
    communication_ += monotonic_now() - begin;
  }

  void update(int thread) {
    const std::int64_t count = rows_.end - rows_.first;
    const auto bound = [&](int part) { return rows_.first + int(count * part / options_.threads); };
    for (int row = bound(thread); row < bound(thread + 1); ++row)
      update_row(square_, storage_->now(row - 1), storage_->now(row), storage_->now(row + 1), storage_->next(row));
  }

  Square square_;
  const Options& options_;
  Rows rows_;
  std::unique_ptr<Storage> storage_;
  Phases phases_;
  Nanoseconds communication_{};
};

/// Collective.
template <std::size_t count>
std::array<double, count> over_all(std::array<double, count> values, MPI_Op operation, MPI_Comm ranks) {
  MPI_Allreduce(MPI_IN_PLACE, values.data(), int(count), MPI_DOUBLE, operation, ranks);
  return values;
}

}  // namespace

Run measure(const Square& square, Memory memory, const Options& options, const ranks::Group& ranks,
            const ranks::Group& node, std::int64_t& step) {
  const bool asleep = node.size * options.threads > int(std::thread::hardware_concurrency());
  Plate plate(square, memory, options, ranks, asleep);
  ranks::start_together(ranks.ranks, node);
  const Nanoseconds begin = monotonic_now();
  for (std::int64_t i = 0; i < options.steps; ++i) {
    idlewave_step(step++);
    plate.take_step();
  }
  const double time = seconds(monotonic_now() - begin);
  idlewave_switch(IDLEWAVE_NONE);
  const Traffic traffic = plate.traffic();
  const auto steps = double(options.steps), all = steps * ranks.size;
  const auto [longest, error] = over_all<2>({time, plate.error(options.steps)}, MPI_MAX, ranks.ranks);
  const auto [whole, communication, messages, bytes] = over_all<4>(
      {time, seconds(plate.communication()), double(traffic.messages), double(traffic.bytes)}, MPI_SUM, ranks.ranks);
  return {square, memory, longest / steps, communication / whole, messages / all, bytes / all, error};
}

}  // namespace idlewave::heat
