#include "workloads/ring/work.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <new>
#include <utility>

#include "workloads/kernels/divide.h"
#include "workloads/kernels/lateness.h"
#include "workloads/kernels/stream.h"
#include "workloads/ranks/agreement.h"
#include "workloads/ranks/sharing.h"
#include "workloads/ring/thread_team.h"
#include "workloads/support/last_cache.h"
#include "workloads/support/pause.h"

namespace idlewave::ring {
namespace {

using kernels::BandwidthCurve;
using kernels::Stream;
using kernels::StreamKind;
using kernels::VirtualSocket;
using wire::Error;
using wire::Result;
using wire::Status;

/// As the socket plays it, for as many ranks as may work there at the same time: the threads of one begin and end
/// together, so that each rank is as many members as it has threads.
std::vector<double> points_of(const Options& options, int ranks) {
  const auto of_cores = options.curve.empty()
                            ? BandwidthCurve::saturating(options.core_bandwidth, options.domain_bandwidth)
                            : BandwidthCurve(options.curve);
  std::vector<double> points;
  for (int active = 1; active <= ranks; ++active) points.push_back(of_cores.of_all(active * options.threads));
  return points;
}

std::optional<Work> memory_bound_on_virtual_socket(const Options& options, MPI_Comm ranks,
                                                   const ranks::Domain& domain) {
  const BandwidthCurve curve(points_of(options, domain.group.size));
  auto shared = ranks::share<VirtualSocket>(domain.group, domain.group.size, curve);
  if (!ranks::all_succeeded(ranks, shared ? wire::ok() : Status{shared.error()})) return std::nullopt;
  const auto socket = std::make_shared<VirtualSocket>(std::move(*shared));
  socket->take_seat(domain.group.rank);
  const auto alone = std::chrono::duration<double>(static_cast<double>(options.volume) / curve.of_all(1));
  return Work{
      domain,         [socket, volume = options.volume](Nanoseconds ready) { return socket->move(volume, ready); },
      options.volume, of_virtual_socket(options, domain.group.size),
      socket,         kernels::most_late(std::chrono::duration_cast<Nanoseconds>(alone))};
}

Work core_bound_on_virtual_socket(const Options& options, const ranks::Domain& domain) {
  support::ask_for_prompt_wake_ups();
  const auto wait = [time = options.time](Nanoseconds ready) {
    support::sleep_until(ready + time);
    return ready + time;
  };
  return {domain, wait, 0, {}, nullptr, kernels::most_late(options.time)};
}

Work divide_work(const Options& options, const ranks::Domain& domain) {
  const std::uint64_t divisions = kernels::divisions_lasting(options.time);
  const auto team = std::make_shared<ThreadTeam>(options.threads);
  return {domain,
          [divisions, team](Nanoseconds) {
            team->run([&](int) { [[maybe_unused]] volatile const double kept = kernels::divide_chain(divisions); });
            return support::monotonic_now();
          },
          0,
          {},
          nullptr};
}

/// Of a thread, long enough that together the arrays of a node's ranks exceed its last-level caches several times, and at least one
/// step's work.
std::size_t stream_length(StreamKind kind, const Options& options, const ranks::Group& node) {
  constexpr std::size_t kTimesCache = 4;
  constexpr std::size_t kArrays = 3;
  const std::size_t beyond_cache =
      kTimesCache * support::last_level_caches() /
      (kArrays * sizeof(double) * static_cast<std::size_t>(node.size) * static_cast<std::size_t>(options.threads));
  const std::size_t one_step =
      options.volume / static_cast<std::uint64_t>(options.threads) / kernels::bytes_per_iteration(kind);
  return std::max({one_step, beyond_cache, std::size_t{1}});
}

/// A barrier whose waiting ranks leave cores and memory to those that still work.
void quiet_barrier(MPI_Comm ranks) {
  MPI_Request all_here = MPI_REQUEST_NULL;
  MPI_Ibarrier(ranks, &all_here);
  for (int done = 0; !done;) {
    MPI_Test(&all_here, &done, MPI_STATUS_IGNORE);
    if (!done) support::sleep_until(support::monotonic_now() + std::chrono::microseconds{100});
  }
}

/// The loop of a rank, on all of its threads.
class Streams {
 public:
  Streams(StreamKind kind, std::size_t length, int threads) : team_(threads), parts_(std::size_t(threads)) {
    team_.run([&](int thread) {  // whoever works on memory touches it first
      try {
        parts_[std::size_t(thread)] = std::make_unique<Stream>(kind, length);
      } catch (const std::bad_alloc&) {
      }
    });
    if (std::ranges::any_of(parts_, [](const auto& part) { return !part; })) throw std::bad_alloc();
  }

  void move(std::uint64_t bytes) {
    const auto threads = static_cast<std::uint64_t>(team_.threads());
    const auto bound = [&](std::uint64_t thread) {
      return bytes / threads * thread + bytes % threads * thread / threads;
    };
    team_.run([&](int thread) {
      const auto number = static_cast<std::uint64_t>(thread);
      parts_[number]->move(bound(number + 1) - bound(number));
    });
  }

 private:
  ThreadTeam team_;
  std::vector<std::unique_ptr<Stream>> parts_;
};

/// Bytes per second of this rank's loop, the best of a few trials; 0 unless it `runs`. All ranks of the domain call it
/// together.
double stream_bandwidth(Streams& stream, std::uint64_t bytes, bool runs, MPI_Comm ranks) {
  constexpr int kTrials = 3;
  double best = 0;
  for (int trial = 0; trial < kTrials; ++trial) {
    quiet_barrier(ranks);
    if (!runs) continue;
    const Nanoseconds start = support::monotonic_now();
    stream.move(bytes);
    const double seconds = std::chrono::duration<double>(support::monotonic_now() - start).count();
    best = std::max(best, static_cast<double>(bytes) / seconds);
  }
  quiet_barrier(ranks);
  return best;
}

/// b(1) by one rank of each domain alone, then b of all its ranks together. Collective.
Bandwidths measure_bandwidths(Streams& stream, std::uint64_t bytes, const ranks::Group& domain) {
  std::array<double, 2> own{stream_bandwidth(stream, bytes, domain.rank == 0, domain.ranks),
                            stream_bandwidth(stream, bytes, true, domain.ranks)};
  std::array<double, 2> sum{};
  MPI_Allreduce(own.data(), sum.data(), sum.size(), MPI_DOUBLE, MPI_SUM, domain.ranks);
  return {.core = sum[0], .saturated = std::max(sum[0], sum[1])};
}

Result<std::shared_ptr<Streams>> make_streams(StreamKind kind, std::size_t length, int threads) {
  try {
    return std::make_shared<Streams>(kind, length, threads);
  } catch (const std::bad_alloc&) {
    return Error{
        fmt::format("no memory for arrays of {} numbers; give a smaller --volume or start fewer ranks", length)};
  }
}

std::optional<Work> stream_work(StreamKind kind, const Options& options, MPI_Comm ranks, const ranks::Domain& domain,
                                const ranks::Group& node) {
  auto made = make_streams(kind, stream_length(kind, options, node), options.threads);
  if (!ranks::all_succeeded(ranks, made ? wire::ok() : Status{made.error()})) return std::nullopt;
  const std::shared_ptr<Streams> stream = std::move(*made);
  const Bandwidths measured = measure_bandwidths(*stream, options.volume, domain.group);
  const auto move = [stream, volume = options.volume](Nanoseconds) {
    stream->move(volume);
    return support::monotonic_now();
  };
  return Work{domain, move, options.volume, measured, nullptr};
}

}  // namespace

Bandwidths of_virtual_socket(const Options& options, int ranks) {
  if (options.volume == 0) return {};
  std::vector<double> points = points_of(options, ranks);
  const double core = points.front();
  return {core, options.domain_bandwidth, options.curve.empty() ? std::vector<double>() : std::move(points)};
}

std::size_t memory_of_work(const Options& options, const ranks::Group& node) {
  const auto stream = kernels::stream_of(options.kernel);
  if (!stream) return 0;
  return kernels::memory_of(*stream, stream_length(*stream, options, node)) * std::size_t(options.threads);
}

std::optional<Work> prepare_work(const Options& options, MPI_Comm ranks, const ranks::Group& node) {
  if (support::is_model(options.kernel)) {
    const ranks::Domain domain = ranks::virtual_domain(ranks, node, options.ranks_per_domain);
    if (options.volume > 0) return memory_bound_on_virtual_socket(options, ranks, domain);
    return core_bound_on_virtual_socket(options, domain);
  }
  if (options.pin) ranks::pin_in_turn(node, options.threads);
  const ranks::Domain domain = ranks::numa_domain(node);
  const auto stream = kernels::stream_of(options.kernel);
  return stream ? stream_work(*stream, options, ranks, domain, node) : divide_work(options, domain);
}

}  // namespace idlewave::ring
