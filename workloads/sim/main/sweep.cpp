#include "workloads/sim/main/sweep.h"

#include <fmt/format.h>

#include <chrono>

#include "workloads/sim/main/cores.h"
#include "workloads/sim/main/engines.h"
#include "workloads/sim/main/parts.h"
#include "workloads/sim/main/row_pool.h"
#include "workloads/sim/main/sweep_output.h"

namespace idlewave::sim {
namespace {

constexpr std::size_t kMostRuns = 1'000'000;
constexpr std::chrono::milliseconds kPatience{100};  ///< Until an interrupt is noticed.

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
  return run_scenario(prepared->scenario, asked);
}

/// What a run refused, or that not all were made: exit code.
std::optional<int> complaint_of(const Rows& rows) {
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (rows[i] && !*rows[i]) return complain(rows[i]->error().message, kBadInput);
    if (!rows[i] || (*rows[i])->stopped)
      return complain(fmt::format("interrupted after {} of {} runs", i, rows.size()), kFailed);
  }
  return std::nullopt;
}

}  // namespace

std::vector<std::string> settings_of(const std::vector<SweptKey>& keys, std::size_t number) {
  std::vector<std::string> settings(keys.size());
  for (std::size_t i = keys.size(); i-- > 0; number /= keys[i].values.size())
    settings[i] = keys[i].key + "=" + keys[i].values[number % keys[i].values.size()];
  return settings;
}

wire::Result<Row> run_row(const Options& options, std::size_t number) {
  std::vector<std::string> settings = settings_of(options.sweep, number);
  auto run = run_with(options, settings);
  if (!run) return run.error();
  Row row{std::move(*run)};
  if (options.against.empty() || row.stopped) return row;
  settings.push_back(options.against);
  const auto other = run_with(options, settings);
  if (!other) return other.error();
  row.against = other->makespan;
  row.stopped = other->stopped;
  return row;
}

Rows run_rows_here(const Options& options, std::size_t count) {
  const cpu_set_t usable = usable_cores();
  const int threads = options.threads.value_or(share_cores({&usable, 1}).front());
  RowPool pool(options, int(std::min<std::size_t>(std::size_t(threads), count)));
  pool.add({0, count});
  Rows rows(count);
  while (!pool.is_done() && !interrupted()) {
    for (FinishedRow& row : pool.take(kPatience)) rows[row.number] = std::move(row.row);
  }
  return rows;
}

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

int run_sweep(const Options& options, const std::function<Rows(std::size_t)>& run_rows) {
  const auto runs = number_of_runs(options.sweep);
  if (!runs)
    return complain(fmt::format("--sweep: all combinations are more than {} runs; give fewer values", kMostRuns),
                    kBadInput);
  if (const auto first = prepare(options, settings_of(options.sweep, 0)); !first)
    return complain(first.error().message, kBadInput);
  (void)interrupted();
  const Rows results = run_rows(*runs);
  if (const auto code = complaint_of(results)) return *code;
  std::vector<Row> rows;
  for (const auto& result : results) rows.push_back(**result);
  if (!options.csv.empty()) {
    if (const int code = write_csv(options, rows); code != kSuccess || options.csv == "-") return code;
  }
  print(options, rows);
  return kSuccess;
}

}  // namespace idlewave::sim
