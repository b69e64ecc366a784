#include "workloads/contention/measure.h"

#include <fmt/format.h>
#include <idlewave/probe.h>

#include <algorithm>
#include <array>
#include <memory>
#include <new>
#include <optional>
#include <thread>

#include "workloads/kernels/lateness.h"
#include "workloads/kernels/stream.h"
#include "workloads/kernels/virtual_socket.h"
#include "workloads/ranks/agreement.h"
#include "workloads/ranks/ring.h"
#include "workloads/ranks/sharing.h"
#include "workloads/support/last_cache.h"
#include "workloads/support/pause.h"
#include "workloads/theory/shared_memory.h"

namespace idlewave::contention {
namespace {

using kernels::Stream;
using kernels::StreamKind;
using kernels::VirtualSocket;
using support::monotonic_now;
using wire::Nanoseconds;
using wire::seconds;

/// Between two looks at whether the others have ended: some milliseconds at most.
constexpr std::uint64_t kChunk = 16'000'000;  // bytes

/// The arrays of a node's ranks exceed its last-level caches several times together, and a chunk.
std::size_t stream_length(const ranks::Group& node) {
  constexpr std::size_t kTimesCache = 4;
  constexpr std::size_t kArrays = 3;
  const std::size_t beyond_cache =
      kTimesCache * support::last_level_caches() / (kArrays * sizeof(double) * static_cast<std::size_t>(node.size));
  return std::max<std::size_t>(beyond_cache, kChunk / kernels::bytes_per_iteration(StreamKind::kTriad));
}

/// Of what MPI carries.
int message_size(const Options& options) {
  return options.kernel == Kernel::kReal ? options.message_size : int(sizeof(std::uint64_t));
}

/// Ends a measurement on all ranks: those that decide when come to it at their end, the others at once.
class End {
 public:
  explicit End(MPI_Comm ranks) : ranks_(ranks) {}
  void come() { MPI_Ibarrier(ranks_, &all_here_); }
  bool is_here() {
    int done = 0;
    MPI_Test(&all_here_, &done, MPI_STATUS_IGNORE);
    return done != 0;
  }
  /// It does not come before `earliest`. Off the core, which others of the node need.
  void wait(Nanoseconds earliest) {
    idlewave_switch(IDLEWAVE_WAIT);
    support::sleep_until(earliest);
    while (!is_here()) support::sleep_until(monotonic_now() + std::chrono::microseconds{100});
    idlewave_switch(IDLEWAVE_NONE);
  }

 private:
  MPI_Comm ranks_;
  MPI_Request all_here_ = MPI_REQUEST_NULL;
};

/// What one rank does while one point is measured. Bytes per second, 0 for who has no part in it.
class Bench {
 public:
  /// `socket`: null for real work. On a virtual one MPI carries the number of a message alone.
  Bench(const Options& options, MPI_Comm ranks, const ranks::Group& node, const ranks::Domain& domain,
        VirtualSocket* socket)
      : options_(options),
        ranks_(ranks),
        node_(node),
        in_domain_(domain.group.rank),
        socket_(socket),
        asleep_(socket != nullptr || node.size > int(std::thread::hardware_concurrency())) {
    const ranks::Group heads = ranks::part_of(ranks, is_head() ? 0 : 1);
    if (is_head()) {
      ring_.emplace(heads, message_size(options));
    } else if (!socket) {
      stream_.emplace(StreamKind::kTriad, stream_length(node));
    }
  }

  bool is_head() const { return in_domain_ == 0; }

  /// With that many contenders in each domain, who go on for as long as the ring does. Collective.
  double run(int contenders, bool communicate) {
    idlewave_step(step_++);
    End end{ranks_};
    const Nanoseconds start = ranks::start_together(ranks_, node_);
    double bandwidth = 0;
    if (is_head()) {
      bandwidth = communicate ? turn_ring(start) : (support::sleep_until(start + options_.duration), 0.0);
      end.come();
    } else {
      end.come();
      if (in_domain_ <= contenders) bandwidth = run_triad(start, end);
    }
    end.wait(start + options_.duration);
    return bandwidth;
  }

  /// Seconds of the middle one of some time steps, the same on all ranks: the head sends a message, if it is to, and each
  /// of the contenders moves its share of `volume`. Collective.
  double step_time(int contenders, std::uint64_t volume, bool communicate) {
    Nanoseconds ready = ranks::start_together(ranks_, node_);
    std::vector<double> lengths;
    for (int i = 0; i <= options_.steps; ++i) {
      const Nanoseconds begin = ready;
      ready += kernels::time_of([&] { idlewave_step(step_++); });
      ready = kernels::ready_for(VirtualSocket::kMostLate, ready);
      if (is_head() && communicate) ready = send_message(ready);
      if (!is_head() && in_domain_ <= contenders && volume > 0) ready = move(volume / std::uint64_t(contenders), ready);
      ready = wait_for_all(ready);
      if (i > 0) lengths.push_back(seconds(ready - begin));  // the first one warms up
    }
    idlewave_switch(IDLEWAVE_NONE);
    const auto middle = lengths.begin() + std::ptrdiff_t(lengths.size() / 2);
    std::ranges::nth_element(lengths, middle);
    MPI_Bcast(&*middle, 1, MPI_DOUBLE, 0, ranks_);
    return *middle;
  }

  std::int64_t wrong() const { return ring_ ? ring_->wrong() : 0; }

 private:
  /// By one that was ready then. Gives the moment when it was done (see kernels/lateness.h).
  Nanoseconds send_message(Nanoseconds ready) {
    ready += kernels::time_of([] { idlewave_switch(IDLEWAVE_COMMUNICATE); });
    const Nanoseconds done = socket_ ? socket_->move(std::uint64_t(options_.message_size), ready) : Nanoseconds{};
    ring_->turn();
    return socket_ ? done : monotonic_now();
  }

  Nanoseconds move(std::uint64_t bytes, Nanoseconds ready) {
    ready += kernels::time_of([] { idlewave_switch(IDLEWAVE_COMPUTE); });
    idlewave_traffic(bytes);
    if (!socket_) {
      stream_->move(bytes);
      return monotonic_now();
    }
    const Nanoseconds done = socket_->move(bytes, ready);
    idlewave_domain_bytes(socket_->bytes_moved());
    return done;
  }

  /// Gives the moment when the last one was done: on real cores, and of ranks with several clocks, that is now.
  Nanoseconds wait_for_all(Nanoseconds done) {
    idlewave_switch(IDLEWAVE_WAIT);
    idlewave_partners(0, nullptr, 0, nullptr, 0, IDLEWAVE_COLLECTIVE);
    if (!asleep_) {
      MPI_Barrier(ranks_);
      return monotonic_now();
    }
    Nanoseconds last{};
    MPI_Request all_here = MPI_REQUEST_NULL;
    MPI_Iallreduce(&done, &last, 1, MPI_INT64_T, MPI_MAX, ranks_, &all_here);
    for (int here = 0; MPI_Test(&all_here, &here, MPI_STATUS_IGNORE) == MPI_SUCCESS && !here;)
      support::sleep_until(monotonic_now() + std::chrono::microseconds{50});
    return socket_ && node_.size == ranks::group_of(ranks_).size ? last : monotonic_now();
  }

  /// For the time of a measurement by the clock of any member.
  double turn_ring(Nanoseconds start) {
    std::int64_t turns = 0;
    const Nanoseconds begin = monotonic_now();
    do {
      send_message(monotonic_now());
      ++turns;
    } while (ring_->any_goes_on(monotonic_now() < start + options_.duration));
    return static_cast<double>(turns) * options_.message_size / seconds(monotonic_now() - begin);
  }

  /// Measured while the ring turns for certain, and gone on with until it has stopped.
  double run_triad(Nanoseconds start, End& end) {
    std::uint64_t moved = 0;
    const Nanoseconds begin = monotonic_now();
    Nanoseconds now = begin;
    for (; now < start + options_.duration; now = monotonic_now()) {
      move(kChunk, now);
      moved += kChunk;
    }
    while (!end.is_here()) move(kChunk, monotonic_now());
    return moved == 0 ? 0 : static_cast<double>(moved) / seconds(now - begin);
  }

  const Options& options_;
  MPI_Comm ranks_;
  ranks::Group node_;
  int in_domain_;
  VirtualSocket* socket_;
  bool asleep_;
  std::int64_t step_ = 0;
  std::optional<ranks::Ring> ring_;
  std::optional<Stream> stream_;
};

wire::Result<Bench> make_bench(const Options& options, MPI_Comm ranks, const ranks::Group& node,
                               const ranks::Domain& domain, VirtualSocket* socket) {
  try {
    return Bench{options, ranks, node, domain, socket};
  } catch (const std::bad_alloc&) {
    return wire::Error{"no memory for the arrays and messages; start fewer ranks or give a smaller --message-size"};
  }
}

/// Ranks of the smallest domain. Collective.
int smallest_domain(MPI_Comm ranks, const ranks::Domain& domain) {
  int smallest = domain.group.size;
  MPI_Allreduce(MPI_IN_PLACE, &smallest, 1, MPI_INT, MPI_MIN, ranks);
  return smallest;
}

Point measure_point(Bench& bench, int contenders, int domains, MPI_Comm ranks) {
  const double together = bench.run(contenders, true);
  const double alone = contenders > 0 ? bench.run(contenders, false) : 0;
  std::array<double, 3> sums{bench.is_head() ? together : 0, bench.is_head() ? 0 : together, alone};
  MPI_Allreduce(MPI_IN_PLACE, sums.data(), sums.size(), MPI_DOUBLE, MPI_SUM, ranks);
  for (double& sum : sums) sum /= domains;
  return {contenders, sums[0], sums[1], sums[2]};
}

/// Null for real work. Nothing after a failure, which has been reported. Collective.
std::optional<std::shared_ptr<VirtualSocket>> take_socket(const Options& options, MPI_Comm ranks,
                                                          const ranks::Domain& domain) {
  if (options.kernel == Kernel::kReal) return nullptr;
  const auto curve = kernels::BandwidthCurve::saturating(options.core_bandwidth, options.domain_bandwidth);
  auto socket = ranks::share<VirtualSocket>(domain.group, domain.group.size, curve);
  if (!ranks::all_succeeded(ranks, socket ? wire::ok() : wire::Status{socket.error()})) return std::nullopt;
  socket->take_seat(domain.group.rank);
  idlewave_set_domain(domain.id, 1, options.core_bandwidth, options.domain_bandwidth);
  return std::make_shared<VirtualSocket>(std::move(*socket));
}

/// Without what it takes to wait for each other, which the model leaves out.
std::vector<StepTimes> measure_steps(Bench& bench, const Options& options, int contenders) {
  if (options.steps == 0 || contenders == 0) return {};
  std::vector<StepTimes> steps;
  const double waiting = bench.step_time(contenders, 0, false);
  const auto work = [&](std::uint64_t volume, bool communicate) {
    const double step = bench.step_time(contenders, volume, communicate);
    return waiting < step / 2 ? std::optional(step - waiting) : std::nullopt;
  };
  for (const std::uint64_t volume : options.step_volumes)
    steps.push_back({volume, work(volume, false), work(0, true), work(volume, true)});
  return steps;
}

}  // namespace

std::uint64_t memory_of(const Options& options, const ranks::Group& node, const ranks::Domain& domain) {
  if (domain.group.rank == 0) return 2 * std::uint64_t(message_size(options));
  return options.kernel == Kernel::kReal ? kernels::memory_of(StreamKind::kTriad, stream_length(node)) : 0;
}

Losses losses_of(const std::vector<Point>& points) {
  const Point& last = points.back();
  Losses losses{.network = points.front().communication / last.communication, .memory = std::nullopt};
  if (last.memory > 0 && last.memory_alone > 0) losses.memory = last.memory_alone / last.memory;
  return losses;
}

std::optional<double> modelled(const StepTimes& step, const Losses& losses) {
  if (!losses.memory || !step.memory || !step.network) return std::nullopt;
  return theory::step_time({*step.memory, *step.network, std::max(1.0, *losses.memory), std::max(1.0, losses.network)});
}

std::optional<Measured> measure(const Options& options, MPI_Comm ranks, const ranks::Group& node,
                                const ranks::Domain& domain, int domains) {
  const auto socket = take_socket(options, ranks, domain);
  if (!socket) return std::nullopt;
  auto bench = make_bench(options, ranks, node, domain, socket->get());
  if (!ranks::all_succeeded(ranks, bench ? wire::ok() : wire::Status{bench.error()})) return std::nullopt;
  const int smallest = smallest_domain(ranks, domain);
  bench->run(smallest - 1, true);  // warms up: pages, connections
  Measured measured;
  for (int contenders = 0; contenders < smallest; ++contenders) {
    measured.points.push_back(measure_point(*bench, contenders, domains, ranks));
  }
  measured.steps = measure_steps(*bench, options, smallest - 1);
  if (!ranks::all_succeeded(ranks, ranks::check_messages(bench->wrong()))) return std::nullopt;
  return measured;
}

}  // namespace idlewave::contention
