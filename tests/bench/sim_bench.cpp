// How fast the contention engines are on one core: 10,000 ranks in a ring with two neighbours, 10 on a domain, one
// delay; and a million ranks once. Prints one JSON object; with --table instead how the rates go with ranks and steps,
// as in docs/performance.md (minutes). Usage: iw-bench-sim [--table]
#include <fmt/format.h>
#include <malloc.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <new>
#include <string_view>
#include <vector>

#include "workloads/sim/contention/contention_run.h"

namespace {

std::size_t allocated = 0;
std::size_t peak = 0;

void* counted(void* block) {
  if (!block) throw std::bad_alloc();
  allocated += malloc_usable_size(block);
  peak = std::max(peak, allocated);
  return block;
}

void give_back(void* block) noexcept {
  allocated -= malloc_usable_size(block);
  std::free(block);
}

}  // namespace

void* operator new(std::size_t size) { return counted(std::malloc(size)); }
void* operator new(std::size_t size, std::align_val_t alignment) {
  const auto unit = static_cast<std::size_t>(alignment);
  return counted(std::aligned_alloc(unit, (size + unit - 1) / unit * unit));
}
void operator delete(void* block) noexcept { give_back(block); }
void operator delete(void* block, std::size_t) noexcept { give_back(block); }
void operator delete(void* block, std::align_val_t) noexcept { give_back(block); }
void operator delete(void* block, std::size_t, std::align_val_t) noexcept { give_back(block); }

namespace idlewave::sim::contention {
namespace {

using wire::Rank;
using wire::Step;

constexpr int kRounds = 5;

support::Scenario scenario(support::Kernel kernel, Rank ranks, Step steps) {
  using namespace std::chrono_literals;
  support::Scenario scenario;
  scenario.machine = {.ranks = ranks, .ranks_per_domain = 10, .core_bandwidth = 10e9, .domain_bandwidth = 50e9};
  scenario.program = {.steps = steps, .kernel = kernel, .volume = 300'000'000, .time = 10ms};
  scenario.delays = {{ranks / 2, 5, 2400ms}};
  return scenario;
}

double seconds_to_run(const support::Scenario& scenario) {
  const auto begin = std::chrono::steady_clock::now();
  const auto done = run(scenario, {});
  if (!done || done->rank_steps == 0) std::exit(1);
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

double rank_steps_per_second(const support::Scenario& scenario, int rounds = kRounds) {
  std::vector<double> rates;
  for (int round = 0; round < rounds; ++round) {
    const auto rank_steps = double(scenario.machine.ranks) * double(scenario.program.steps);
    rates.push_back(rank_steps / seconds_to_run(scenario));
  }
  std::nth_element(rates.begin(), rates.begin() + rounds / 2, rates.end());
  return rates[std::size_t(rounds) / 2];
}

/// Every domain out of step from the beginning: each tenth rank is held for a time of its own.
support::Scenario out_of_step(support::Scenario scenario) {
  scenario.delays.clear();
  for (Rank rank = 0; rank < scenario.machine.ranks; rank += 10) {
    scenario.delays.push_back({rank, 0, std::chrono::microseconds(rank * 7919LL % 600'000)});
  }
  return scenario;
}

void print_figures() {
  using support::Kernel;
  const double core = rank_steps_per_second(scenario(Kernel::kCore, 10'000, 2000));
  const double memory = rank_steps_per_second(scenario(Kernel::kMemory, 10'000, 300));
  const double desynchronised = rank_steps_per_second(out_of_step(scenario(Kernel::kMemory, 10'000, 300)));
  const auto million = scenario(Kernel::kMemory, 1'000'000, 100);
  peak = allocated;
  const std::size_t before = allocated;
  const double seconds = seconds_to_run(million);
  fmt::print(
      "{{\"sim_core_rank_steps_per_s\": {:.0f}, \"sim_memory_rank_steps_per_s\": {:.0f}, "
      "\"sim_desynchronised_rank_steps_per_s\": {:.0f}, \"sim_bytes_per_rank\": {:.1f}, \"sim_million_ranks_s\": "
      "{:.2f}}}\n",
      core, memory, desynchronised, double(peak - before) / 1e6, seconds);
}

struct Size {
  Rank ranks;
  Step steps;
};
constexpr Size kTable[] = {{1'000, 10'000},  {10'000, 1'000}, {100'000, 100}, {1'000'000, 10},
                           {1'000'000, 100}, {10'000, 10},    {10'000, 100},  {10'000, 10'000}};

void print_table() {
  fmt::print("| ranks | steps | core-bound | memory-bound |\n|---|---|---|---|\n");
  for (const auto& [ranks, steps] : kTable) {
    const int rounds = double(ranks) * double(steps) < 1e8 ? 5 : 3;
    const double core = rank_steps_per_second(scenario(support::Kernel::kCore, ranks, steps), rounds);
    const double memory = rank_steps_per_second(scenario(support::Kernel::kMemory, ranks, steps), rounds);
    fmt::print("| {} | {} | {:.0f} | {:.1f} |\n", ranks, steps, core * 1e-6, memory * 1e-6);
    std::fflush(stdout);
  }
}

}  // namespace
}  // namespace idlewave::sim::contention

int main(int argc, char** argv) {
  if (argc > 1 && std::string_view(argv[1]) == "--table")
    idlewave::sim::contention::print_table();
  else
    idlewave::sim::contention::print_figures();
}
