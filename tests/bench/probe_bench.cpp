// What a call of the probe costs, beside a pair of rdtsc, which is the floor for two stamps. This process is the agent
// too: it makes the segment and takes the events out, so that the rings never fill. The tables are Google Benchmark's;
// --json prints the figures of scripts/bench: of many short, shuffled repetitions the fastest, since on a shared
// machine everything else is somebody else's time.

#include <benchmark/benchmark.h>
#include <idlewave/probe.h>
#include <stdlib.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include "probe/shm/clock.h"
#include "tests/bench/played_node.h"

namespace {

namespace shm = idlewave::shm;
using idlewave::bench::PlayedNode;

constexpr int kBatch = 1000;       // Two events each,
constexpr int kRingEvents = 2048;  // in a ring so small that no phases are summed.

PlayedNode node;

void rdtsc_pair(benchmark::State& state) {
  for (auto _ : state) {
    for (int i = 0; i < kBatch; ++i) {
      std::uint64_t begin = shm::read_counter();
      std::uint64_t end = shm::read_counter();
      benchmark::DoNotOptimize(begin);
      benchmark::DoNotOptimize(end);
    }
  }
}

void off(benchmark::State& state) {
  for (auto _ : state) {
    for (int i = 0; i < kBatch; ++i) {
      idlewave_begin(IDLEWAVE_COMPUTE);
      idlewave_end();
    }
  }
}

void begin_and_end(benchmark::State& state) {
  for (auto _ : state) {
    for (int i = 0; i < kBatch; ++i) {
      idlewave_begin(IDLEWAVE_COMPUTE);
      idlewave_end();
    }
    node.drain();
  }
}

void switch_phase(benchmark::State& state) {
  for (auto _ : state) {
    for (int i = 0; i < kBatch; ++i) idlewave_switch(1 + i % 2);
    node.drain();
  }
}

void traffic(benchmark::State& state) {
  for (auto _ : state) {
    for (int i = 0; i < kBatch; ++i) idlewave_traffic(1000);
    node.drain();
  }
}

void step(benchmark::State& state) {
  for (auto _ : state) {
    for (int i = 0; i < kBatch; ++i) idlewave_step(i);
    node.drain();
  }
}

/// A step that says whom its wait depends on, as every step before it did.
void step_with_partners(benchmark::State& state) {
  constexpr int kPartners[] = {1, 2};
  static int next = 0;
  for (auto _ : state) {
    for (int i = 0; i < kBatch; ++i) {
      idlewave_step(next++);
      idlewave_partners(0, kPartners, 2, kPartners, 2, 0);
    }
    node.drain();
  }
}

/// Keeps the best repetition of each benchmark, in ns a call.
class Best : public benchmark::BenchmarkReporter {
 public:
  bool ReportContext(const Context&) override { return true; }
  void ReportRuns(const std::vector<Run>& runs) override {
    for (const Run& run : runs) {
      if (run.run_type != Run::RT_Iteration) continue;  // Means and deviations.
      const double ns = run.real_accumulated_time * 1e9 / static_cast<double>(run.iterations) / kBatch;
      auto& best = ns_.try_emplace(run.run_name.function_name, std::numeric_limits<double>::infinity()).first->second;
      best = std::min(best, ns);
    }
  }
  double operator[](const char* name) const { return ns_.at(name); }

 private:
  std::map<std::string, double> ns_;
};

/// A batch takes some 0.1 ms: most fall between two interruptions by others, the best of many is nobody's but ours.
void add(const char* name, benchmark::internal::Function* function, bool as_single_batches) {
  auto* added = benchmark::RegisterBenchmark(name, function);
  if (as_single_batches) added->Iterations(1)->Repetitions(1000);
}

/// All states of the probe within one process: off comes first, and last a rank that says whom it waits for.
bool run(benchmark::BenchmarkReporter& reporter, bool as_single_batches) {
  add("off", off, as_single_batches);
  benchmark::RunSpecifiedBenchmarks(&reporter);
  benchmark::ClearRegisteredBenchmarks();
  if (!node.open(kRingEvents) || !idlewave_start(0, 1)) return false;
  add("rdtsc_pair", rdtsc_pair, as_single_batches);
  add("begin_and_end", begin_and_end, as_single_batches);
  add("switch", switch_phase, as_single_batches);
  add("traffic", traffic, as_single_batches);
  add("step", step, as_single_batches);
  benchmark::RunSpecifiedBenchmarks(&reporter);
  benchmark::ClearRegisteredBenchmarks();
  add("step_with_partners", step_with_partners, as_single_batches);
  benchmark::RunSpecifiedBenchmarks(&reporter);
  return !node.has_lost();
}

int print_json() {
  Best best;
  if (!run(best, true)) return 1;
  const double floor = best["rdtsc_pair"];
  std::printf(
      "{\"rdtsc_pair_ns\": %.2f, \"probe_pair_over_rdtsc_pair\": %.3f, \"probe_switch_over_rdtsc_pair\": %.3f, "
      "\"probe_off_ns\": %.2f, \"probe_traffic_ns\": %.2f, \"probe_step_ns\": %.2f, \"probe_step_with_partners_ns\": "
      "%.2f}\n",
      floor, best["begin_and_end"] / floor, best["switch"] / floor, best["off"], best["traffic"], best["step"],
      best["step_with_partners"]);
  return 0;
}

int print_tables() {
  benchmark::ConsoleReporter tables(benchmark::ConsoleReporter::OO_Tabular);
  return run(tables, false) ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  unsetenv("IDLEWAVE_SESSION");
  const bool json = argc > 1 && std::strcmp(argv[1], "--json") == 0;
  std::vector<std::string> texts(argv, argv + argc);
  if (json) texts = {argv[0], "--benchmark_enable_random_interleaving=true"};
  std::vector<char*> arguments;
  for (std::string& text : texts) arguments.push_back(text.data());
  int count = static_cast<int>(arguments.size());
  benchmark::Initialize(&count, arguments.data());
  if (benchmark::ReportUnrecognizedArguments(count, arguments.data())) return 2;
  return json ? print_json() : print_tables();
}
