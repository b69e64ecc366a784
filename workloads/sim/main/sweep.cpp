#include "workloads/sim/main/sweep.h"

#include <fmt/format.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <thread>

#include "workloads/sim/main/parts.h"

namespace idlewave::sim {
namespace {

using json = nlohmann::ordered_json;

constexpr std::size_t kMostRuns = 1'000'000;

/// Settings of run `number`: the last key changes fastest.
std::vector<std::string> settings_of(const std::vector<SweptKey>& keys, std::size_t number) {
  std::vector<std::string> settings(keys.size());
  for (std::size_t i = keys.size(); i-- > 0; number /= keys[i].values.size()) settings[i] = keys[i].key + "=" + keys[i].values[number % keys[i].values.size()];
  return settings;
}

/// None: more than kMostRuns.
std::optional<std::size_t> number_of_runs(const std::vector<SweptKey>& keys) {
  std::size_t runs = 1;
  for (const SweptKey& key : keys) {
    runs *= key.values.size();
    if (runs > kMostRuns) return std::nullopt;
  }
  return runs;
}

wire::Result<Run> run_with(const Options& options, const std::vector<std::string>& settings) {
  const auto prepared = prepare(options, settings);
  if (!prepared) return prepared.error();
  const RunOptions asked{.noise = prepared->noise.get(), .stop = &interrupted(), .active_means_of = options.window};
  if (const wire::Status room = check_memory(prepared->scenario, asked); !room) return room.error();
  return simulate(prepared->scenario, asked);
}

/// Runs are handed out one by one, so that a long one keeps no core waiting; each is a function of its settings alone.
std::vector<std::optional<wire::Result<Run>>> run_all(const Options& options, std::size_t runs) {
  std::vector<std::optional<wire::Result<Run>>> results(runs);
  std::atomic<std::size_t> next{0};
  const auto work = [&] {
    for (std::size_t i = next++; i < runs && !interrupted(); i = next++) results[i] = run_with(options, settings_of(options.sweep, i));
  };
  std::vector<std::jthread> workers(std::min<std::size_t>(std::max(1u, std::thread::hardware_concurrency()), runs) - 1);
  for (std::jthread& worker : workers) worker = std::jthread(work);
  work();
  workers.clear();
  return results;
}

double mean(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += value;
  return values.empty() ? 0 : sum / double(values.size());
}

void print_text(const Options& options, std::size_t number, const Run& run) {
  for (const std::string& setting : settings_of(options.sweep, number)) std::fputs(fmt::format("{}  ", setting).c_str(), stdout);
  std::fputs(fmt::format("makespan {:.6f} s  active {:.3f} of a domain\n", run.makespan, mean(run.active_means)).c_str(), stdout);
}

json row(const Options& options, std::size_t number, const Run& run) {
  json object;
  for (std::size_t i = 0; i < options.sweep.size(); ++i) {
    const std::string setting = settings_of(options.sweep, number)[i];
    object["set"][options.sweep[i].key] = setting.substr(options.sweep[i].key.size() + 1);
  }
  object["makespan_s"] = run.makespan;
  object["rank_steps"] = run.rank_steps;
  object["active_means"] = run.active_means;
  return object;
}

}  // namespace

int run_sweep(const Options& options) {
  const auto runs = number_of_runs(options.sweep);
  if (!runs) return complain(fmt::format("--sweep: all combinations are more than {} runs; give fewer values", kMostRuns), kBadInput);
  if (const auto first = prepare(options, settings_of(options.sweep, 0)); !first) return complain(first.error().message, kBadInput);
  (void)interrupted();
  const auto results = run_all(options, *runs);
  json rows = json::array();
  for (std::size_t i = 0; i < *runs; ++i) {
    if (results[i] && !*results[i]) return complain(results[i]->error().message, kBadInput);
    if (!results[i] || (*results[i])->stopped) return complain(fmt::format("interrupted after {} of {} runs", i, *runs), kFailed);
    if (options.json) rows.push_back(row(options, i, **results[i]));
    else print_text(options, i, **results[i]);
  }
  if (options.json) std::fputs((rows.dump(2) + "\n").c_str(), stdout);
  return kSuccess;
}

}  // namespace idlewave::sim
