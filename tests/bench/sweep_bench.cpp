// What a second core gives to a sweep of 16 runs, and what it gives to threads that share nothing, in turns; and, which
// other people's programs disturb less, the processor time of two threads over that of one: what they lose by sharing
// caches, memory and locks. Fails if a row depends on the number of threads. Prints one JSON object.
// Usage: iw-bench-sweep
#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <thread>
#include <vector>

#include "workloads/sim/sweep/sweep.h"

namespace idlewave::sim::sweep {
namespace {

constexpr int kRounds = 9;
constexpr std::size_t kRuns = 16;

struct Cost {
  double seconds = 0;
  double processor_seconds = 0;  ///< Of all threads together.
};

double processor_seconds() {
  rusage used{};
  getrusage(RUSAGE_SELF, &used);
  return double(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
         1e-6 * double(used.ru_utime.tv_usec + used.ru_stime.tv_usec);
}

template <class Work>
Cost cost_of(Work work) {
  const auto begin = std::chrono::steady_clock::now();
  const double before = processor_seconds();
  work();
  return {std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count(),
          processor_seconds() - before};
}

double median(std::vector<double> values) {
  std::ranges::nth_element(values, values.begin() + kRounds / 2);
  return values[kRounds / 2];
}

bool same(const Rows& a, const Rows& b) {
  const auto equal = [](const auto& x, const auto& y) {
    return x && y && *x && *y && (**x).makespan == (**y).makespan && (**x).rank_steps == (**y).rank_steps &&
           (**x).events == (**y).events && (**x).active_means == (**y).active_means;
  };
  return std::ranges::equal(a, b, equal);
}

Options sweep_of_delayed_ranks() {
  Options options;
  options.scenario = IDLEWAVE_SCENARIO;
  options.settings = {"machine.ranks=4000", "program.steps=100"};
  options.sweep.push_back({"delay.0.rank", {}});
  for (std::size_t rank = 0; rank < kRuns; ++rank) options.sweep.front().values.push_back(std::to_string(rank));
  return options;
}

Cost cost_of_sweep(Options options, int threads, Rows& rows) {
  options.threads = threads;
  return cost_of([&] { rows = run_rows_here(options, kRuns, std::atomic<bool>(false)); });
}

/// A chain of multiplications: needs nothing but a core.
void calculate() {
  volatile double seed = 1.0000001;
  double value = seed;
  for (int i = 0; i < 60'000'000; ++i) value = value * seed + 1e-9;
  seed = value;
}

double speedup_without_sharing() {
  const Cost one = cost_of(calculate);
  const Cost two = cost_of([] {
    const std::jthread other(calculate);
    calculate();
  });
  return 2 * one.seconds / two.seconds;
}

int print_figures() {
  const Options options = sweep_of_delayed_ranks();
  std::vector<double> speedups, processor_times, floors;
  for (int round = 0; round < kRounds; ++round) {
    Rows by_one, by_two;
    // Who comes first takes turns too: a machine that grows busier would favour the first.
    Cost one, two;
    if (round % 2 == 0)
      one = cost_of_sweep(options, 1, by_one), two = cost_of_sweep(options, 2, by_two);
    else
      two = cost_of_sweep(options, 2, by_two), one = cost_of_sweep(options, 1, by_one);
    if (!same(by_one, by_two)) return fmt::print(stderr, "iw-bench-sweep: rows differ\n"), 1;
    speedups.push_back(one.seconds / two.seconds);
    processor_times.push_back(two.processor_seconds / one.processor_seconds);
    floors.push_back(speedup_without_sharing());
  }
  fmt::print(
      "{{\"sim_sweep_speedup\": {:.3f}, \"sim_two_cores_speedup\": {:.3f}, \"sim_sweep_processor_time_ratio\": "
      "{:.3f}}}\n",
      median(speedups), median(floors), median(processor_times));
  return 0;
}

}  // namespace
}  // namespace idlewave::sim::sweep

int main() { return idlewave::sim::sweep::print_figures(); }
