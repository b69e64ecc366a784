#include "monitor/host/open_mpi_list.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string_view>

#include "monitor/host/launcher_words.h"
#include "monitor/host/programs.h"

namespace idlewave::host {
namespace {

namespace fs = std::filesystem;
using Words = std::vector<std::string>;

constexpr std::string_view kParameter = "mca_base_env_list";
constexpr std::string_view kVariable = "OMPI_MCA_mca_base_env_list=";

char separator() {
  const char* own = std::getenv("OMPI_MCA_mca_base_env_list_delimiter");
  return own != nullptr && own[0] != '\0' ? own[0] : ';';
}

/// What the list has of `name`, behind ours; else what the environment has, which ranks here would find as well.
void add_assigned(std::string& list, const std::string& name, const std::string& item) {
  const char between = separator();
  const char* others = std::getenv(name.c_str());
  const std::string whole = others != nullptr && others[0] != '\0' ? item + ":" + others : item;
  for (std::size_t at = 0; at < list.size();) {
    const std::size_t end = std::min(list.find(between, at), list.size());
    const std::string_view word = std::string_view(list).substr(at, end - at);
    const bool has_value = word.starts_with(name + "=");
    if (word == name || has_value) {
      has_value ? list.replace(at, name.size() + 1, item + ":") : list.replace(at, word.size(), whole);
      return;
    }
    at = end + 1;
  }
  if (!list.empty()) list += between;
  list += whole;
}

void add(std::string& list, const Words& items) {
  for (const std::string& item : items) {
    const std::size_t equals = item.find('=');
    if (equals != std::string::npos) {
      add_assigned(list, item.substr(0, equals), item);
      continue;
    }
    if (!list.empty()) list += separator();
    list += item;
  }
}

bool add_in_flags(Words& command, const Words& items) {
  bool found = false;
  for (std::size_t from = 1; from <= command.size(); ++from) {
    if (from > 1 && command[from - 1] != ":") continue;
    const std::size_t end = end_of_flags(command, from, LauncherKind::kOpenMpi);
    for (std::size_t i = from; i + 1 < end; ++i) {
      if (command[i] != kParameter || !command[i - 1].ends_with("mca")) continue;
      add(command[i + 1], items);
      found = true;
    }
  }
  return found;
}

std::string trimmed(std::string_view text) {
  constexpr const char* kBlank = " \t\r\"";
  const std::size_t from = text.find_first_not_of(kBlank);
  return from == std::string_view::npos ? "" : std::string(text.substr(from, text.find_last_not_of(kBlank) + 1 - from));
}

std::optional<std::string> list_in(const fs::path& file) {
  std::ifstream lines(file);
  for (std::string line; std::getline(lines, line);) {
    const std::size_t equals = line.find('=');
    if (equals != std::string::npos && trimmed(line.substr(0, equals)) == kParameter)
      return trimmed(line.substr(equals + 1));
  }
  return std::nullopt;
}

/// The user's, that of the installation which the launcher is of, and Debian's.
std::vector<fs::path> parameter_files(const std::string& launcher) {
  std::vector<fs::path> files;
  if (const char* home = std::getenv("HOME")) files.push_back(fs::path(home) / ".openmpi/mca-params.conf");
  std::error_code ignored;
  if (const auto program = find_program(launcher))
    files.push_back(fs::weakly_canonical(*program, ignored).parent_path() / "../etc/openmpi-mca-params.conf");
  files.emplace_back("/etc/openmpi/openmpi-mca-params.conf");
  return files;
}

std::optional<std::string> list_outside(const std::string& launcher) {
  if (const char* variable = std::getenv(std::string(kVariable.substr(0, kVariable.size() - 1)).c_str()))
    return variable;
  for (const fs::path& file : parameter_files(launcher))
    if (auto list = list_in(file)) return list;
  return std::nullopt;
}

}  // namespace

bool add_to_open_mpi_list(std::vector<std::string>& command, const std::vector<std::string>& items,
                          std::vector<std::string>& environment) {
  if (add_in_flags(command, items)) return true;
  const auto ours = std::ranges::find_if(environment, [](const auto& each) { return each.starts_with(kVariable); });
  if (ours != environment.end()) {
    std::string list = ours->substr(kVariable.size());
    add(list, items);
    *ours = std::string(kVariable) + list;
    return true;
  }
  auto list = list_outside(command.front());
  if (!list) return false;
  add(*list, items);
  environment.push_back(std::string(kVariable) + *list);
  return true;
}

}  // namespace idlewave::host
