// What a second core gives to a sweep of 16 runs, and what it gives to threads that share nothing, in turns. Fails if a row
// depends on the number of threads. Prints one JSON object. Usage: iw-bench-sweep
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>
#include <thread>
#include <vector>

#include "workloads/sim/main/sweep.h"

namespace idlewave::sim {
namespace {

constexpr int kRounds = 9;
constexpr std::size_t kRuns = 16;

template <class Work>
double seconds_of(Work work) {
  const auto begin = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
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

double seconds_of_sweep(Options options, int threads, Rows& rows) {
  options.threads = threads;
  return seconds_of([&] { rows = run_rows_here(options, kRuns); });
}

/// A chain of multiplications: needs nothing but a core.
void calculate() {
  volatile double seed = 1.0000001;
  double value = seed;
  for (int i = 0; i < 60'000'000; ++i) value = value * seed + 1e-9;
  seed = value;
}

double speedup_without_sharing() {
  const double one = seconds_of(calculate);
  const double two = seconds_of([] {
    const std::jthread other(calculate);
    calculate();
  });
  return 2 * one / two;
}

int print_figures() {
  const Options options = sweep_of_delayed_ranks();
  std::vector<double> speedups, floors;
  for (int round = 0; round < kRounds; ++round) {
    Rows by_one, by_two;
    // Who comes first takes turns too: a machine that grows busier would favour the first.
    double one = 0, two = 0;
    if (round % 2 == 0) one = seconds_of_sweep(options, 1, by_one), two = seconds_of_sweep(options, 2, by_two);
    else two = seconds_of_sweep(options, 2, by_two), one = seconds_of_sweep(options, 1, by_one);
    if (!same(by_one, by_two)) return fmt::print(stderr, "iw-bench-sweep: rows differ\n"), 1;
    speedups.push_back(one / two);
    floors.push_back(speedup_without_sharing());
  }
  fmt::print("{{\"sim_sweep_speedup\": {:.3f}, \"sim_two_cores_speedup\": {:.3f}}}\n", median(speedups), median(floors));
  return 0;
}

}  // namespace
}  // namespace idlewave::sim

int main() { return idlewave::sim::print_figures(); }
