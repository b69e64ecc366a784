#include "workloads/sim/sweep/sweep.h"

#include <fmt/format.h>

#include <chrono>

#include "workloads/sim/sweep/console.h"
#include "workloads/sim/sweep/cores.h"
#include "workloads/sim/sweep/output.h"
#include "workloads/sim/sweep/row_pool.h"

namespace idlewave::sim::sweep {
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

Outcome refusal(std::string why) {
  return {.exit_code = kBadInput, .text = {}, .complaint = std::move(why), .rows = {}};
}
Outcome failure(std::string why) { return {.exit_code = kFailed, .text = {}, .complaint = std::move(why), .rows = {}}; }

/// What a run refused, or that not all were made.
std::optional<Outcome> complaint_of(const Rows& rows) {
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (rows[i] && !*rows[i]) return refusal(rows[i]->error().message);
    if (!rows[i] || (*rows[i])->stopped) return failure(fmt::format("interrupted after {} of {} runs", i, rows.size()));
  }
  return std::nullopt;
}

}  // namespace

Rows run_rows_here(const Options& options, std::size_t count, const std::atomic<bool>& stop) {
  const cpu_set_t usable = usable_cores();
  const int threads = options.threads.value_or(share_cores({&usable, 1}).front());
  RowPool pool(options, int(std::min<std::size_t>(std::size_t(threads), count)), stop);
  pool.add({0, count});
  Rows rows(count);
  while (!pool.is_done() && !stop) {
    for (FinishedRow& row : pool.take(kPatience)) rows[row.number] = std::move(row.row);
  }
  return rows;
}

Outcome run_sweep(const Options& options, const std::function<Rows(std::size_t)>& run_rows) {
  const auto runs = number_of_runs(options.sweep);
  if (!runs)
    return refusal(fmt::format("--sweep: all combinations are more than {} runs; give fewer values", kMostRuns));
  if (const auto first = check_row(options, 0); !first) return refusal(first.error().message);
  const Rows results = run_rows(*runs);
  if (auto complaint = complaint_of(results)) return *complaint;
  std::vector<Row> rows;
  for (const auto& result : results) rows.push_back(**result);
  if (options.csv == "-") {
    std::string text = csv_of(options, rows);
    return {.exit_code = 0, .text = std::move(text), .complaint = {}, .rows = std::move(rows)};
  }
  if (!options.csv.empty()) {
    if (const auto written = write_csv(options, rows); !written) return failure(written.error().message);
  }
  std::string text = text_of(options, rows);
  return {.exit_code = 0, .text = std::move(text), .complaint = {}, .rows = std::move(rows)};
}

}  // namespace idlewave::sim::sweep
