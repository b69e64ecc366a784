#include "workloads/kernels/stream_team.h"

#include <fmt/format.h>
#include <sched.h>

#include <algorithm>
#include <atomic>
#include <barrier>
#include <new>
#include <thread>

#include "workloads/support/pause.h"

namespace idlewave::kernels {
namespace {

using support::monotonic_now;
using wire::Error;
using wire::Nanoseconds;
using wire::Result;
using wire::Status;

constexpr std::size_t kChunk = 16384;  ///< Elements between two looks at the clock: some 50 us.

/// What thread i of n has of the arrays.
struct Share {
  std::size_t begin = 0;
  std::size_t length = 0;
};

Share share_of(std::size_t elements, std::size_t thread, std::size_t threads) {
  const std::size_t begin = elements * thread / threads;
  return {begin, elements * (thread + 1) / threads - begin};
}

bool bind_to(int processor) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(processor, &set);
  return sched_setaffinity(0, sizeof set, &set) == 0;
}

/// work(i) in a thread bound to the i-th of the first `threads` processors, for all of them; they begin together.
Status on_each(const std::vector<int>& processors, std::size_t threads, const std::function<void(std::size_t)>& work) {
  std::atomic<int> not_bound{-1};
  std::barrier all_bound(std::ptrdiff_t(threads), []() noexcept {});
  std::vector<std::thread> team;
  for (std::size_t i = 0; i < threads; ++i) {
    team.emplace_back([&, i] {
      if (!bind_to(processors[i])) not_bound = processors[i];
      all_bound.arrive_and_wait();
      if (not_bound < 0) work(i);
    });
  }
  for (std::thread& thread : team) thread.join();
  if (not_bound < 0) return wire::ok();
  return Error{fmt::format("no thread can be bound to processor {}: this process may not use it", not_bound.load())};
}

}  // namespace

Result<StreamTeam> StreamTeam::create(std::vector<int> processors, std::size_t elements, std::size_t arrays) {
  StreamTeam team(std::move(processors), elements);
  const std::size_t bytes = elements * sizeof(double);
  try {
    for (std::size_t i = 0; i < arrays; ++i)
      team.arrays_.emplace_back(static_cast<double*>(support::allocate_huge(bytes)), Free{bytes});
  } catch (const std::bad_alloc&) {
    return Error{fmt::format("no memory for {} arrays of {} numbers; make them smaller", arrays, elements)};
  }
  if (const Status touched = team.touch(); !touched) return touched.error();
  return team;
}

/// With values that no kernel turns into infinities, which some processors are slow with.
Status StreamTeam::touch() {
  return on_each(processors_, processors_.size(), [this](std::size_t i) {
    const Share share = share_of(elements_, i, processors_.size());
    for (std::size_t array = 0; array < arrays_.size(); ++array)
      std::fill_n(arrays_[array].get() + share.begin, share.length, double(array));
  });
}

Result<double> StreamTeam::bandwidth(StreamKind kind, int threads, Nanoseconds time) {
  const auto team = std::size_t(threads);
  std::vector<double> rates(team);
  const Status ran = on_each(processors_, team, [&](std::size_t i) {
    const Share share = share_of(elements_, i, team);
    std::size_t position = positions_[i] % share.length;
    std::size_t done = 0;
    const Nanoseconds begin = monotonic_now();
    Nanoseconds now = begin;
    while (now - begin < time) {
      const std::size_t length = std::min(kChunk, share.length - position);
      run(kind, share.begin + position, length);
      done += length;
      position = (position + length) % share.length;
      now = monotonic_now();
    }
    positions_[i] = position;
    rates[i] = double(done * bytes_per_iteration(kind)) / std::chrono::duration<double>(now - begin).count();
  });
  if (!ran) return ran.error();
  double sum = 0;
  for (const double rate : rates) sum += rate;
  return sum;
}

void StreamTeam::run(StreamKind kind, std::size_t begin, std::size_t length) {
  const auto part = [&](std::size_t array) { return std::span(arrays_[array].get() + begin, length); };
  switch (kind) {
    case StreamKind::kTriad: return triad(part(0), part(1), part(2), kScale);
    case StreamKind::kTriadNt: return triad_nt(part(0), part(1), part(2), kScale);
    case StreamKind::kSlowTriad: return slow_triad(part(0), part(1), part(2), part(3));
  }
}

}  // namespace idlewave::kernels
