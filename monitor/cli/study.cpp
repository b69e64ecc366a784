#include <fmt/format.h>

#include <vector>

#include "monitor/cli/paths.h"
#include "monitor/cli/verbs.h"
#include "workloads/support/scenario.h"

namespace idlewave::cli {
namespace {

int list_studies() {
  for (const auto& path : all_studies()) {
    const auto scenario = support::load_scenario(path);
    if (!scenario) return fail(scenario.error().message, 1);
    print(fmt::format("{:24} {}\n", path.stem().string(), scenario->study->summary));
  }
  return 0;
}

/// For `idlewave sim`, which shares the runs among the cores.
std::vector<std::string> simulation_words(const StudyOptions& options, const std::string& path) {
  std::vector<std::string> words = {"sim", path, "--study"};
  for (const std::string& setting : options.settings) words.insert(words.end(), {"--set", setting});
  if (!options.csv.empty()) words.insert(words.end(), {"--csv", options.csv});
  if (options.json) words.push_back("--json");
  return words;
}

}  // namespace

int study(const StudyOptions& options) {
  if (options.list) return list_studies();
  const auto path = find_study(options.name);
  if (!path) return fail(path.error().message, 2);
  std::vector<std::string> words = simulation_words(options, *path);
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  return run_companion(arguments.data());
}

}  // namespace idlewave::cli
