#include <fmt/format.h>

#include <vector>

#include "monitor/cli/paths.h"
#include "monitor/cli/simulation/verbs.h"
#include "monitor/cli/simulation/ways.h"
#include "monitor/cli/verbs.h"
#include "workloads/sim/sweep/launcher.h"
#include "workloads/support/scenario.h"

namespace idlewave::cli::simulation {
namespace {

int list_studies() {
  for (const auto& path : all_studies()) {
    const auto scenario = support::load_scenario(path);
    if (!scenario) return fail(scenario.error().message, 1);
    print(fmt::format("{:24} {}\n", path.stem().string(), scenario->study->summary));
  }
  return 0;
}

/// As the line of `idlewave sim` that does the same, for the program of an MPI launcher.
std::vector<std::string> words_of(const SweepOptions& options) {
  std::vector<std::string> words = {"sim", options.scenario, "--study"};
  for (const std::string& setting : options.settings) words.insert(words.end(), {"--set", setting});
  if (!options.csv.empty()) words.insert(words.end(), {"--csv", options.csv});
  if (options.json) words.push_back("--json");
  return words;
}

int share_out(const sim::sweep::Launch& launch, const SweepOptions& options) {
  std::vector<std::string> words = words_of(options);
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  return sim::sweep::become_mpi_program(launch, argv.data());
}

int sweep_study(const StudyOptions& asked) {
  const auto path = find_study(asked.name);
  if (!path) return fail(path.error().message, 2);
  SweepOptions options;
  options.scenario = *path;
  options.settings = asked.settings;
  options.csv = asked.csv;
  options.json = asked.json;
  options.study = true;
  if (const auto launch = sim::sweep::launch_of_environment(); launch.ranks > 1) return share_out(launch, options);
  if (const wire::Status fits = sim::sweep::check(options); !fits) return fail(fits.error().message, 2);
  if (const wire::Status taken = sim::sweep::take_study(options); !taken) return fail(taken.error().message, 2);
  return run(options);
}

}  // namespace

int study(int argc, char** argv) {
  const ParsedStudy parsed = parse_study(argc, argv);
  if (!parsed.options) return parsed.exit_code;
  return parsed.options->list ? list_studies() : sweep_study(*parsed.options);
}

}  // namespace idlewave::cli::simulation
