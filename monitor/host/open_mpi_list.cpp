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
constexpr const char* kVariable = "OMPI_MCA_mca_base_env_list";

char separator() {
  const char* own = std::getenv("OMPI_MCA_mca_base_env_list_delimiter");
  return own != nullptr && own[0] != '\0' ? own[0] : ';';
}

/// What the list has of the item's name, behind ours; else what the environment has, which ranks here would find as well.
std::string with_the_users(std::string& list, const std::string& item) {
  const std::size_t equals = item.find('=');
  if (equals == std::string::npos) return item;
  const std::string name = item.substr(0, equals);
  const char* others = std::getenv(name.c_str());
  const std::string whole = others != nullptr && others[0] != '\0' ? item + ":" + others : item;
  for (std::size_t at = 0; at < list.size();) {
    const std::size_t end = std::min(list.find(separator(), at), list.size());
    const std::string word = list.substr(at, end - at);
    if (word == name || word.starts_with(name + "=")) {
      const std::size_t from = end == list.size() && at > 0 ? at - 1 : at;
      list.erase(from, word.size() + 1);
      return word == name ? whole : item + ":" + word.substr(equals + 1);
    }
    at = end + 1;
  }
  return whole;
}

/// First: Open MPI heeds nothing behind a name that is not set.
void add(std::string& list, const Words& items) {
  for (const std::string& item : items) {
    const std::string all = with_the_users(list, item);
    list = list.empty() ? all : all + separator() + list;
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
  constexpr const char* kBlank = " \t\r\"'";
  const std::size_t from = text.find_first_not_of(kBlank);
  return from == std::string_view::npos ? "" : std::string(text.substr(from, text.find_last_not_of(kBlank) + 1 - from));
}

/// Who opens a pipe waits for whoever writes into it; that is the launcher's to do.
std::ifstream open_file(const fs::path& path) {
  std::error_code failed;
  return fs::is_regular_file(path, failed) ? std::ifstream(path) : std::ifstream();
}

/// "name = value".
std::optional<std::string> list_in(const fs::path& parameters) {
  std::ifstream lines = open_file(parameters);
  for (std::string line; std::getline(lines, line);) {
    const std::size_t equals = line.find('=');
    if (equals != std::string::npos && trimmed(line.substr(0, equals)) == kParameter)
      return trimmed(line.substr(equals + 1));
  }
  return std::nullopt;
}

/// Flags as they stand in a command.
std::optional<std::string> list_in_flags(const fs::path& tuned) {
  std::ifstream words = open_file(tuned);
  for (std::string word; words >> word;)
    if (word == kParameter && words >> std::ws && std::getline(words, word))
      return trimmed(word.substr(0, word.find(" -")));
  return std::nullopt;
}

/// What stands behind such a flag.
std::string value_of(const Words& command, std::string_view flag, std::string_view parameter = "") {
  const std::size_t end = end_of_flags(command, 1, LauncherKind::kOpenMpi);
  for (std::size_t i = 1; i + 1 < end; ++i) {
    if (!command[i].starts_with('-') || !command[i].ends_with(flag)) continue;
    if (parameter.empty()) return command[i + 1];
    if (command[i + 1] == parameter && i + 2 < end) return command[i + 2];
  }
  return "";
}

/// Those that the user names instead; else the user's, that of the installation which the launcher is of, and Debian's.
Words parameter_files(const Words& command) {
  std::string named = value_of(command, "mca", "mca_base_param_files");
  if (const char* variable = std::getenv("OMPI_MCA_mca_base_param_files"); named.empty() && variable) named = variable;
  if (!named.empty()) return parts_of(named);
  Words files;
  if (const char* home = std::getenv("HOME")) files.push_back(std::string(home) + "/.openmpi/mca-params.conf");
  std::error_code ignored;
  if (const auto program = find_program(command.front()))
    files.push_back(fs::weakly_canonical(*program, ignored).parent_path() / "../etc/openmpi-mca-params.conf");
  files.emplace_back("/etc/openmpi/openmpi-mca-params.conf");
  return files;
}

std::optional<std::string> list_outside(const Words& command) {
  for (const std::string& file : parts_of(value_of(command, "tune")))
    if (auto list = list_in_flags(file)) return list;
  if (const char* variable = std::getenv(kVariable)) return variable;
  for (const std::string& file : parameter_files(command))
    if (auto list = list_in(file)) return list;
  return std::nullopt;
}

}  // namespace

bool add_to_open_mpi_list(std::vector<std::string>& command, const std::vector<std::string>& items,
                          std::vector<std::string>& environment) {
  if (add_in_flags(command, items)) return true;
  const std::string assigned = std::string(kVariable) + "=";
  const auto ours = std::ranges::find_if(environment, [&](const auto& each) { return each.starts_with(assigned); });
  const bool is_known = ours != environment.end();
  auto list = is_known ? std::optional(ours->substr(assigned.size())) : list_outside(command);
  if (!list) return false;
  add(*list, items);
  is_known ? void(*ours = assigned + *list) : environment.push_back(assigned + *list);
  return true;
}

}  // namespace idlewave::host
