#include "workloads/sim/sweep/row.h"

#include "workloads/sim/simulator.h"

namespace idlewave::sim::sweep {
namespace {

wire::Result<Prepared> prepare_with(const Options& options, const std::vector<std::string>& more) {
  std::vector<std::string> settings = options.settings;
  settings.insert(settings.end(), more.begin(), more.end());
  auto prepared = prepare(options.scenario, settings);
  if (prepared && options.without_delays) prepared->scenario.delays.clear();
  return prepared;
}

wire::Result<core::Run> run_with(const Options& options, const std::vector<std::string>& settings,
                                 const std::atomic<bool>& stop) {
  const auto prepared = prepare_with(options, settings);
  if (!prepared) return prepared.error();
  const core::RunOptions asked{.noise = prepared->noise.get(), .stop = &stop, .active_means_of = options.window};
  if (const wire::Status room = check_memory(prepared->scenario, asked); !room) return room.error();
  return run(prepared->scenario, asked);
}

}  // namespace

std::vector<std::string> settings_of(const std::vector<SweptKey>& keys, std::size_t number) {
  std::vector<std::string> settings(keys.size());
  for (std::size_t i = keys.size(); i-- > 0; number /= keys[i].values.size())
    settings[i] = keys[i].key + "=" + keys[i].values[number % keys[i].values.size()];
  return settings;
}

wire::Result<Row> run_row(const Options& options, std::size_t number, const std::atomic<bool>& stop) {
  std::vector<std::string> settings = settings_of(options.sweep, number);
  auto run = run_with(options, settings, stop);
  if (!run) return run.error();
  Row row{std::move(*run)};
  if (options.against.empty() || row.stopped) return row;
  settings.push_back(options.against);
  const auto other = run_with(options, settings, stop);
  if (!other) return other.error();
  row.against = other->makespan;
  row.stopped = other->stopped;
  return row;
}

wire::Status check_row(const Options& options, std::size_t number) {
  const auto prepared = prepare_with(options, settings_of(options.sweep, number));
  if (!prepared) return prepared.error();
  return wire::ok();
}

}  // namespace idlewave::sim::sweep
