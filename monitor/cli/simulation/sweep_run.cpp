#include <fmt/format.h>

#include "monitor/cli/simulation/ways.h"
#include "monitor/cli/verbs.h"
#include "probe/signals/interrupted.h"
#include "workloads/sim/sweep/sweep.h"
#include "workloads/theory/overlap.h"

namespace idlewave::cli::simulation {
namespace {

constexpr std::size_t kValuesWide = 52;

/// "allreduce  1024"
std::string values_of(const SweepOptions& options, std::size_t number) {
  std::string values;
  for (const std::string& setting : sim::sweep::settings_of(options.sweep, number))
    values += (values.empty() ? "" : "  ") + setting.substr(setting.find('=') + 1);
  return values;
}

/// Where a row was also run with collectives that cost nothing: what remains of that if each may overlap with one
/// stretch of work only (widener-2016, eqs. 3 to 7). Then the program does nothing but work, and what blocking made it
/// longer is communication, with what noise adds to it: beta / inflation of theory/overlap.h is the one over the other.
std::string bounds_of(const SweepOptions& options, const std::vector<sim::sweep::Row>& rows) {
  std::string text = fmt::format("\n{:{}} {:>9} {:>14}\n", "", kValuesWide, "speedup", "by overlap <=");
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const double work = rows[i].against, communication = rows[i].makespan - work;
    const std::string bound =
        communication > 0 ? fmt::format("{:.3f}", theory::overlap_bound(work / communication)) : "-";
    text += fmt::format("{:{}} {:>9.3f} {:>14}\n", values_of(options, i), kValuesWide, rows[i].speedup(), bound);
  }
  return text;
}

}  // namespace

int run(const SweepOptions& options) {
  const std::atomic<bool>& stop = signals::interrupted();
  const auto outcome = sim::sweep::run_sweep(
      options, [&](std::size_t count) { return sim::sweep::run_rows_here(options, count, stop); });
  if (!outcome.complaint.empty()) return fail(outcome.complaint, outcome.exit_code);
  print(outcome.text);
  if (options.study && options.chart && options.against == "communication.mode=ideal")
    print(bounds_of(options, outcome.rows));
  return outcome.exit_code;
}

}  // namespace idlewave::cli::simulation
