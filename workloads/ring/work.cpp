#include "workloads/ring/work.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <new>

#include "workloads/kernels/divide.h"
#include "workloads/kernels/lateness.h"
#include "workloads/kernels/stream.h"
#include "workloads/ranks/agreement.h"
#include "workloads/ranks/sharing.h"
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

/// As the socket plays it, for as many as may work there at the same time.
std::vector<double> points_of(const BandwidthCurve& curve, int ranks) {
  std::vector<double> points;
  for (int active = 1; active <= ranks; ++active) points.push_back(curve.of_all(active));
  return points;
}

std::optional<Work> memory_bound_on_virtual_socket(const Options& options, MPI_Comm ranks,
                                                   const ranks::Domain& domain) {
  const auto curve = options.curve.empty()
                         ? BandwidthCurve::saturating(options.core_bandwidth, options.domain_bandwidth)
                         : BandwidthCurve(options.curve);
  auto shared = ranks::share<VirtualSocket>(domain.group, domain.group.size, curve);
  if (!ranks::all_succeeded(ranks, shared ? wire::ok() : Status{shared.error()})) return std::nullopt;
  const auto socket = std::make_shared<VirtualSocket>(std::move(*shared));
  socket->take_seat(domain.group.rank);
  const auto alone = std::chrono::duration<double>(static_cast<double>(options.volume) / curve.of_all(1));
  return Work{domain,
              [socket, volume = options.volume](Nanoseconds ready) { return socket->move(volume, ready); },
              options.volume,
              {options.core_bandwidth, options.domain_bandwidth,
               options.curve.empty() ? std::vector<double>() : points_of(curve, domain.group.size)},
              socket,
              kernels::most_late(std::chrono::duration_cast<Nanoseconds>(alone))};
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
  return {domain,
          [divisions](Nanoseconds) {
            [[maybe_unused]] volatile const double kept = kernels::divide_chain(divisions);
            return support::monotonic_now();
          },
          0,
          {},
          nullptr};
}

/// Long enough that together the arrays of a node's ranks exceed its last-level cache several times, and at least one
/// step's work.
std::size_t stream_length(StreamKind kind, const Options& options, const ranks::Group& node) {
  constexpr std::size_t kTimesCache = 4;
  constexpr std::size_t kArrays = 3;
  const long cache = std::max(sysconf(_SC_LEVEL3_CACHE_SIZE), 0L);
  const std::size_t beyond_cache =
      kTimesCache * static_cast<std::size_t>(cache) / (kArrays * sizeof(double) * static_cast<std::size_t>(node.size));
  const std::size_t one_step = options.volume / kernels::bytes_per_iteration(kind);
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

/// Bytes per second of this rank's loop, the best of a few trials; 0 unless it `runs`. All ranks of the domain call it
/// together.
double stream_bandwidth(Stream& stream, std::uint64_t bytes, bool runs, MPI_Comm ranks) {
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
Bandwidths measure_bandwidths(Stream& stream, std::uint64_t bytes, const ranks::Group& domain) {
  std::array<double, 2> own{stream_bandwidth(stream, bytes, domain.rank == 0, domain.ranks),
                            stream_bandwidth(stream, bytes, true, domain.ranks)};
  std::array<double, 2> sum{};
  MPI_Allreduce(own.data(), sum.data(), sum.size(), MPI_DOUBLE, MPI_SUM, domain.ranks);
  return {.core = sum[0], .saturated = std::max(sum[0], sum[1])};
}

Result<std::shared_ptr<Stream>> make_stream(StreamKind kind, std::size_t length) {
  try {
    return std::make_shared<Stream>(kind, length);
  } catch (const std::bad_alloc&) {
    return Error{
        fmt::format("no memory for arrays of {} numbers; give a smaller --volume or start fewer ranks", length)};
  }
}

std::optional<Work> stream_work(StreamKind kind, const Options& options, MPI_Comm ranks, const ranks::Domain& domain,
                                const ranks::Group& node) {
  auto made = make_stream(kind, stream_length(kind, options, node));
  if (!ranks::all_succeeded(ranks, made ? wire::ok() : Status{made.error()})) return std::nullopt;
  const std::shared_ptr<Stream> stream = std::move(*made);
  const Bandwidths measured = measure_bandwidths(*stream, options.volume, domain.group);
  const auto move = [stream, volume = options.volume](Nanoseconds) {
    stream->move(volume);
    return support::monotonic_now();
  };
  return Work{domain, move, options.volume, measured, nullptr};
}

}  // namespace

std::optional<Work> prepare_work(const Options& options, MPI_Comm ranks, const ranks::Group& node) {
  if (support::is_model(options.kernel)) {
    const ranks::Domain domain = ranks::virtual_domain(ranks, node, options.ranks_per_domain);
    if (options.volume > 0) return memory_bound_on_virtual_socket(options, ranks, domain);
    return core_bound_on_virtual_socket(options, domain);
  }
  if (options.pin) ranks::pin_in_turn(node);
  const ranks::Domain domain = ranks::numa_domain(node);
  const auto stream = kernels::stream_of(options.kernel);
  return stream ? stream_work(*stream, options, ranks, domain, node) : divide_work(options, domain);
}

}  // namespace idlewave::ring
