// iw-bench-goal: GOAL schedules read and run, and a large collective, and what the core could do before or after,
// whichever is less. Prints one JSON object; with --only-ring without the collective.

#include <fmt/format.h>
#include <time.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include "workloads/sim/network/collective_run.h"
#include "workloads/sim/network/collectives.h"
#include "workloads/sim/network/goal_reader.h"
#include "workloads/sim/network/goal_run.h"
#include "workloads/sim/noise/drawn_noise.h"

namespace {

using namespace idlewave;
using sim::network::GoalSchedule;
using support::Nanoseconds;
using wire::Rank;

const support::LogGops kNetwork{Nanoseconds(2500), Nanoseconds(1500), Nanoseconds(1000), 6e-9, 0, 65535};

/// Of processor time: nothing here waits for anything, and a shared machine takes the processor away in between.
double seconds_of(auto&& work) {
  const auto now = [] {
    timespec time{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return double(time.tv_sec) + double(time.tv_nsec) * 1e-9;
  };
  const double begin = now();
  work();
  return now() - begin;
}

/// What the core can do at the moment: a chain of additions takes a cycle each, and two while somebody else uses the
/// core's other hardware thread.
double additions_per_ns() {
  constexpr int kAdditions = 100'000'000;
  std::uint64_t sum = 0;
  return kAdditions * 1e-9 / seconds_of([&sum] {
           for (int i = 0; i < kAdditions; ++i) {
             ++sum;
             asm volatile("" : "+r"(sum));
           }
         });
}

template <class T>
T value_of(wire::Result<T> result) {
  if (!result) fmt::print(stderr, "iw-bench-goal: {}\n", result.error().message), std::exit(1);
  return std::move(*result);
}

sim::network::GoalRun complete_run(const GoalSchedule& schedule, std::span<const std::int64_t> start = {}) {
  auto run = value_of(sim::network::run(schedule, kNetwork, {start}));
  if (!run.complete())
    fmt::print(stderr, "iw-bench-goal: {}\n", sim::network::describe(run.stuck.front())), std::exit(1);
  return run;
}

/// A ring: compute, send to the right, receive from the left, compute a little; ranks and steps differ.
std::string ring_text(Rank ranks, int steps) {
  std::string text = fmt::format("num_ranks {}\n", ranks);
  auto out = std::back_inserter(text);
  std::uint64_t mix = 1;
  for (Rank rank = 0; rank < ranks; ++rank) {
    fmt::format_to(out, "rank {} {{\n", rank);
    for (int step = 0, l = 0; step < steps; ++step, l += 4) {
      mix = mix * 6364136223846793005u + 1442695040888963407u;
      fmt::format_to(out, "l{}: calc {}\nl{}: send 1000b to {} tag 7\nl{}: recv 1000b from {} tag 7\nl{}: calc 500\n",
                     l, 100'000 + (mix >> 54), l + 1, (rank + 1) % ranks, l + 2, (rank + ranks - 1) % ranks, l + 3);
      if (step > 0) fmt::format_to(out, "l{} requires l{}\n", l, l - 1);
      fmt::format_to(out, "l{} requires l{}\nl{} requires l{}\nl{} requires l{}\nl{} requires l{}\n", l + 1, l, l + 2,
                     l, l + 3, l + 1, l + 3, l + 2);
    }
    text += "}\n";
  }
  return text;
}

double median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + std::ptrdiff_t(values.size() / 2), values.end());
  return values[values.size() / 2];
}

struct RingFigures {
  double read_mb_per_s = 0;
  double ops_per_s = 0;
  double events_per_s = 0;  ///< Operations and messages.
};

RingFigures measure_ring() {
  const std::string text = ring_text(1000, 1000);
  std::vector<double> reads, runs;
  double ops = 0, events = 0;
  for (int round = 0; round < 5; ++round) {
    GoalSchedule schedule;
    reads.push_back(seconds_of([&] { schedule = value_of(sim::network::read_goal(text, "ring")); }));
    runs.push_back(seconds_of([&] {
      const auto run = complete_run(schedule);
      ops = double(run.ops), events = double(run.ops + run.messages);
    }));
  }
  return {double(text.size()) * 1e-6 / median(reads), ops / median(runs), events / median(runs)};
}

struct CollectiveFigures {
  double seconds = 0;
  double ns_per_message = 0;
  double schedule_ns_per_message = 0;  ///< By the event engine, of fewer and silent: one after another in one schedule.
};

double collective_ns_per_message(Rank ranks, int steps, double& seconds, const sim::core::PhaseNoise* noise) {
  const sim::network::CollectiveProgram program{.ranks = ranks,
                                                .steps = steps,
                                                .work_ns = 100'000,
                                                .call = {sim::network::Collective::kAllreduceDissemination, 8}};
  double messages = 0;
  seconds =
      seconds_of([&] { messages = double(value_of(sim::network::run(program, kNetwork, {.noise = noise})).messages); });
  return seconds * 1e9 / messages;
}

double schedule_ns_per_message(Rank ranks, int steps) {
  sim::network::RankPrograms programs(ranks);
  for (int step = 0; step < steps; ++step) {
    programs.calc_all(100'000);
    programs.call({sim::network::Collective::kAllreduceDissemination, 8});
  }
  const GoalSchedule schedule = value_of(std::move(programs).build());
  double messages = 0;
  const double seconds = seconds_of([&] { messages = double(complete_run(schedule).messages); });
  return seconds * 1e9 / messages;
}

CollectiveFigures measure_collectives() {
  const sim::noise::ExponentialNoise noise(5e-6, 1);
  CollectiveFigures figures;
  figures.ns_per_message = collective_ns_per_message(128 * 1024, 100, figures.seconds, &noise);
  figures.schedule_ns_per_message = schedule_ns_per_message(16 * 1024, 10);
  return figures;
}

}  // namespace

int main(int argc, char** argv) {
  const double additions_before = additions_per_ns();
  const RingFigures ring = measure_ring();
  fmt::print("{{\"sim_goal_ops_per_s\": {:.6g}, \"sim_goal_events_per_s\": {:.6g}, \"sim_goal_read_mb_per_s\": {:.6g}",
             ring.ops_per_s, ring.events_per_s, ring.read_mb_per_s);
  if (argc < 2 || std::string_view(argv[1]) != "--only-ring") {
    const CollectiveFigures collectives = measure_collectives();
    fmt::print(", \"sim_collectives_s\": {:.6g}, \"sim_collective_message_ns\": {:.6g}", collectives.seconds,
               collectives.ns_per_message);
    fmt::print(", \"sim_schedule_message_ns\": {:.6g}, \"sim_schedule_over_collective\": {:.6g}",
               collectives.schedule_ns_per_message, collectives.schedule_ns_per_message / collectives.ns_per_message);
  }
  fmt::print(", \"core_additions_per_ns\": {:.3g}}}\n", std::min(additions_before, additions_per_ns()));
  return 0;
}
