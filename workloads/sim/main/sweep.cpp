#include "workloads/sim/main/sweep.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <nlohmann/json.hpp>
#include <thread>

#include "workloads/sim/main/chart.h"
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

/// One of a sweep, and the same with the setting of --against.
struct Outcome {
  Run run;
  double against = 0;  ///< Makespan, seconds; 0: not asked for.
  bool stopped = false;

  double speedup() const { return against > 0 ? run.makespan / against : 0; }
};

wire::Result<Run> run_with(const Options& options, const std::vector<std::string>& settings) {
  const auto prepared = prepare(options, settings);
  if (!prepared) return prepared.error();
  const RunOptions asked{.noise = prepared->noise.get(), .stop = &interrupted(), .active_means_of = options.window};
  if (const wire::Status room = check_memory(prepared->scenario, asked); !room) return room.error();
  return simulate(prepared->scenario, asked);
}

wire::Result<Outcome> outcome_of(const Options& options, std::vector<std::string> settings) {
  auto plain = run_with(options, settings);
  if (!plain) return plain.error();
  Outcome outcome{std::move(*plain)};
  outcome.stopped = outcome.run.stopped;
  if (options.against.empty() || outcome.stopped) return outcome;
  settings.push_back(options.against);
  const auto other = run_with(options, settings);
  if (!other) return other.error();
  outcome.against = other->makespan;
  outcome.stopped = other->stopped;
  return outcome;
}

using Outcomes = std::vector<std::optional<wire::Result<Outcome>>>;

/// Runs are handed out one by one, so that a long one keeps no core waiting; each is a function of its settings alone.
Outcomes run_all(const Options& options, std::size_t runs) {
  Outcomes results(runs);
  std::atomic<std::size_t> next{0};
  const auto work = [&] {
    for (std::size_t i = next++; i < runs && !interrupted(); i = next++) results[i] = outcome_of(options, settings_of(options.sweep, i));
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

/// Of each key in turn.
std::vector<std::string> values_of(const Options& options, std::size_t number) {
  std::vector<std::string> values = settings_of(options.sweep, number);
  for (std::size_t i = 0; i < values.size(); ++i) values[i].erase(0, options.sweep[i].key.size() + 1);
  return values;
}

std::string text_of(const Options& options, std::size_t number, const Outcome& outcome) {
  std::string text;
  for (const std::string& setting : settings_of(options.sweep, number)) text += setting + "  ";
  text += fmt::format("makespan {:.6f} s", outcome.run.makespan);
  if (!outcome.run.active_means.empty()) text += fmt::format("  active {:.3f} of a domain", mean(outcome.run.active_means));
  if (outcome.against > 0) text += fmt::format("  with {} {:.6f} s: speedup {:.3f}", options.against, outcome.against, outcome.speedup());
  return text + "\n";
}

std::string quoted(const std::string& cell) {
  if (cell.find_first_of(",\"\n") == std::string::npos) return cell;
  std::string text = "\"";
  for (const char c : cell) text += c == '"' ? std::string("\"\"") : std::string(1, c);
  return text + "\"";
}

std::string csv_of(const Options& options, const std::vector<Outcome>& outcomes) {
  std::string text;
  for (const SweptKey& key : options.sweep) text += quoted(key.key) + ",";
  text += options.against.empty() ? "makespan_s\n" : "makespan_s,against_makespan_s,speedup\n";
  for (std::size_t i = 0; i < outcomes.size(); ++i) {
    for (const std::string& value : values_of(options, i)) text += quoted(value) + ",";
    text += fmt::format("{:.9f}", outcomes[i].run.makespan);
    text += options.against.empty() ? "\n" : fmt::format(",{:.9f},{:.6f}\n", outcomes[i].against, outcomes[i].speedup());
  }
  return text;
}

bool is_number(const std::string& text) {
  char* end = nullptr;
  std::strtod(text.c_str(), &end);
  return end != text.c_str();
}

/// The first key whose values begin with a number; the first of all if there is none.
std::size_t axis_of(const std::vector<SweptKey>& keys) {
  const auto numeric = std::ranges::find_if(keys, [](const SweptKey& key) { return std::ranges::all_of(key.values, is_number); });
  return numeric == keys.end() ? 0 : std::size_t(numeric - keys.begin());
}

/// 1024 as 1Ki.
std::string short_number(const std::string& text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || value < 1024 || value % 1024 != 0) return text;
  return fmt::format("{}Ki", value / 1024);
}

/// A chart for each combination of the keys but the axis and the last other one, whose values are its curves.
std::string charts_of(const Options& options, const std::vector<Outcome>& outcomes) {
  const std::size_t axis = axis_of(options.sweep);
  const auto& places = options.sweep[axis].values;
  std::vector<Chart> charts;
  for (std::size_t number = 0; number < outcomes.size(); ++number) {
    const auto values = values_of(options, number);
    std::string title, name;
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (i == axis) continue;
      if (!name.empty()) title += (title.empty() ? "" : ", ") + name;
      name = options.sweep[i].key + " = " + values[i];
    }
    auto chart = std::ranges::find(charts, title, &Chart::title);
    if (chart == charts.end()) {
      Chart fresh{title, options.sweep[axis].key, {}, fmt::format("speedup with {} (ratio of makespans)", options.against), {}};
      for (const std::string& place : places) fresh.x_labels.push_back(short_number(place));
      chart = charts.insert(charts.end(), std::move(fresh));
    }
    auto curve = std::ranges::find(chart->curves, name, &Curve::name);
    if (curve == chart->curves.end()) curve = chart->curves.insert(chart->curves.end(), {name, std::vector<std::optional<double>>(places.size())});
    curve->values[std::size_t(std::ranges::find(places, values[axis]) - places.begin())] = outcomes[number].speedup();
  }
  std::string text;
  for (const Chart& chart : charts) text += (text.empty() ? "" : "\n") + draw(chart);
  return text;
}

json row(const Options& options, std::size_t number, const Outcome& outcome) {
  const Run& run = outcome.run;
  json object;
  const auto values = values_of(options, number);
  for (std::size_t i = 0; i < values.size(); ++i) object["set"][options.sweep[i].key] = values[i];
  object["makespan_s"] = run.makespan;
  object["rank_steps"] = run.rank_steps;
  if (!run.active_means.empty()) object["active_means"] = run.active_means;
  if (outcome.against > 0) {
    object["against_makespan_s"] = outcome.against;
    object["speedup"] = outcome.speedup();
  }
  return object;
}

/// Error: what a run refused; exit code kFailed where it was interrupted.
std::optional<int> complaint_of(const Outcomes& results) {
  for (std::size_t i = 0; i < results.size(); ++i) {
    if (results[i] && !*results[i]) return complain(results[i]->error().message, kBadInput);
    if (!results[i] || (*results[i])->stopped) return complain(fmt::format("interrupted after {} of {} runs", i, results.size()), kFailed);
  }
  return std::nullopt;
}

int write_csv(const Options& options, const std::vector<Outcome>& outcomes) {
  const std::string text = csv_of(options, outcomes);
  if (options.csv == "-") return std::fputs(text.c_str(), stdout), kSuccess;
  std::FILE* const file = std::fopen(options.csv.c_str(), "w");
  const bool written = file && std::fwrite(text.data(), 1, text.size(), file) == text.size();
  const bool closed = file && std::fclose(file) == 0;
  return written && closed ? kSuccess : complain(fmt::format("{}: {}", options.csv, std::strerror(errno)), kFailed);
}

void print(const Options& options, const std::vector<Outcome>& outcomes) {
  std::string text;
  json rows = json::array();
  for (std::size_t i = 0; i < outcomes.size(); ++i) {
    if (options.json) rows.push_back(row(options, i, outcomes[i]));
    else text += text_of(options, i, outcomes[i]);
  }
  if (options.json) text = rows.dump(2) + "\n";
  else if (options.chart) text = charts_of(options, outcomes);
  std::fputs(text.c_str(), stdout);
}

}  // namespace

wire::Status take_study(Options& options) {
  const auto scenario = support::load_scenario(options.scenario, options.settings);
  if (!scenario) return scenario.error();
  if (!scenario->study) return wire::Error{options.scenario.string() + ": has no [study]"};
  for (const std::string& text : scenario->study->sweep) {
    auto key = parse_sweep(text);
    if (!key) return wire::Error{fmt::format("{}: study.sweep: {}", options.scenario.string(), key.error().message)};
    options.sweep.push_back(std::move(*key));
  }
  options.against = scenario->study->against;
  options.chart = !options.json && options.csv != "-" && !options.against.empty();
  return wire::ok();
}

int run_sweep(const Options& options) {
  const auto runs = number_of_runs(options.sweep);
  if (!runs) return complain(fmt::format("--sweep: all combinations are more than {} runs; give fewer values", kMostRuns), kBadInput);
  if (const auto first = prepare(options, settings_of(options.sweep, 0)); !first) return complain(first.error().message, kBadInput);
  (void)interrupted();
  const Outcomes results = run_all(options, *runs);
  if (const auto code = complaint_of(results)) return *code;
  std::vector<Outcome> outcomes;
  for (const auto& result : results) outcomes.push_back(**result);
  if (!options.csv.empty()) {
    if (const int code = write_csv(options, outcomes); code != kSuccess || options.csv == "-") return code;
  }
  print(options, outcomes);
  return kSuccess;
}

}  // namespace idlewave::sim
