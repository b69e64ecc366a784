#include "monitor/host/preload.h"

#include <elf.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <optional>

#include "monitor/host/launcher_words.h"
#include "monitor/host/open_mpi_list.h"
#include "monitor/host/programs.h"

namespace idlewave::host {
namespace fs = std::filesystem;
namespace {

constexpr const char* kPreloadName = "LD_PRELOAD";

std::string library_path() {
  for (const char* folder : {"../lib", "../" IDLEWAVE_LIBRARY_FOLDER}) {
    std::error_code ignored;
    const fs::path path = fs::weakly_canonical(program_folder() / folder / "libidlewave-mpi.so", ignored);
    if (fs::is_regular_file(path, ignored)) return path;
  }
  return "";
}

/// The file that the ranks execute, as far as that can be told from the words: a script may start another.
std::optional<fs::path> program_in(const std::vector<std::string>& command, LauncherKind kind) {
  const std::size_t at = kind == LauncherKind::kOther ? 0 : end_of_flags(command, 1, kind);
  return find_program(command[at < command.size() ? at : 0]);
}

/// An executable of this machine's word length; what else is there says so by an empty result.
struct Executable {
  bool is_elf = false;
  std::uint16_t machine = 0;
  bool is_dynamic = false;  ///< A dynamic linker loads it.
};

Executable look_into(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  Elf64_Ehdr header{};
  if (!file.read(reinterpret_cast<char*>(&header), sizeof header) || std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0)
    return {};
  if (header.e_ident[EI_CLASS] != ELFCLASS64) return {.is_elf = true, .machine = EM_NONE, .is_dynamic = true};
  Executable executable{.is_elf = true, .machine = header.e_machine};
  file.seekg(std::streamoff(header.e_phoff));
  for (int i = 0; i < header.e_phnum && !executable.is_dynamic; ++i) {
    Elf64_Phdr segment{};
    if (!file.read(reinterpret_cast<char*>(&segment), sizeof segment)) break;
    executable.is_dynamic = segment.p_type == PT_INTERP;
  }
  return executable;
}

/// Why nothing can be loaded into it; empty: nothing speaks against it.
std::string obstacle_in(const fs::path& path) {
  const std::string name = path.filename();
  const auto link_it = [&](const char* why) {
    return fmt::format("{} {}, so nothing can be loaded into it; let it call idlewave_start (probe.h)", name, why);
  };
  struct stat status {};
  const Executable program = look_into(path);
  if (!program.is_elf) return "";
  if (program.machine != look_into("/proc/self/exe").machine) return link_it("is of another architecture");
  if (!program.is_dynamic) return link_it("is linked statically");
  if (stat(path.c_str(), &status) == 0 && (status.st_mode & (S_ISUID | S_ISGID)) != 0)
    return link_it("runs with the rights of its owner (set-user-ID)");
  return "";
}

/// For ranks, ahead of what the user has of the same name.
struct Variable {
  const char* name;
  std::string ours;
  std::string with(const char* theirs) const {
    return theirs != nullptr && *theirs != '\0' ? ours + ":" + theirs : ours;
  }
  std::string assigned(const std::string& value) const { return std::string(name) + "=" + value; }
};

/// A program built with -fsanitize=address ends where any library is loaded ahead of that of the sanitizer, unless it is
/// told that this is meant. None of the sanitizer's functions is in ours.
constexpr const char* kSanitizersName = "ASAN_OPTIONS";
constexpr const char* kAnyOrder = "verify_asan_link_order=0";

using Words = std::vector<std::string>;

/// Of Hydra's flags with a variable's name; behind those of lists, -genvlist and -envlist, stand names alone.
bool takes_a_value(std::string_view flag) {
  return flag == "-genv" || flag == "-env" || flag == "--genv" || flag == "--env";
}

/// What the user has said of the variable in these flags, with ours before it. False: nothing was said.
bool add_to_the_users(Words& command, std::size_t from, LauncherKind kind, const Variable& variable) {
  const std::size_t end = end_of_flags(command, from, kind);
  const std::string assigned = variable.assigned("");
  for (std::size_t i = from; i < end; ++i) {
    std::string& word = command[i];
    const std::size_t at = word.find(assigned);
    const bool is_whole = kind == LauncherKind::kOpenMpi ? at == 0 : at != std::string::npos;
    if (is_whole)
      word.insert(at + assigned.size(), variable.ours + ":");
    else if (word == variable.name && kind == LauncherKind::kOpenMpi)
      word = variable.assigned(variable.with(std::getenv(variable.name)));
    else if (word == variable.name && kind == LauncherKind::kMpich && i + 1 < end && takes_a_value(command[i - 1]))
      command[i + 1].insert(0, variable.ours + ":");
    else
      continue;
    return true;
  }
  return false;
}

/// mpirun takes -x for the program that follows; after a ':' comes another.
void say_to_open_mpi(Words& command, const Variable& variable, Words& environment) {
  if (add_to_open_mpi_list(command, {variable.assigned(variable.ours)}, environment)) return;
  for (std::size_t from = 1; from <= command.size(); ++from) {
    if (from > 1 && command[from - 1] != ":") continue;
    if (add_to_the_users(command, from, LauncherKind::kOpenMpi, variable)) continue;
    const Words flags = {"-x", variable.assigned(variable.with(std::getenv(variable.name)))};
    command.insert(command.begin() + std::ptrdiff_t(from), flags.begin(), flags.end());
  }
}

void say_to_hydra(Words& command, const Variable& variable) {
  if (add_to_the_users(command, 1, LauncherKind::kMpich, variable)) return;
  const Words flags = {"-genv", variable.name, variable.with(std::getenv(variable.name))};
  command.insert(command.begin() + 1, flags.begin(), flags.end());
}

/// Between variables stands a comma, which both of ours may do without.
void say_to_slurm(Words& command, const Variable& variable) {
  if (add_to_the_users(command, 1, LauncherKind::kSlurm, variable)) return;
  std::string value = variable.with(std::getenv(variable.name));
  std::ranges::replace(value, ',', ':');
  export_by_slurm(command, variable.assigned(value));
}

void say(Words& command, LauncherKind kind, const Variable& variable, Words& environment) {
  switch (kind) {
    case LauncherKind::kOpenMpi: return say_to_open_mpi(command, variable, environment);
    case LauncherKind::kMpich: return say_to_hydra(command, variable);
    case LauncherKind::kSlurm: return say_to_slurm(command, variable);
    case LauncherKind::kOther: environment.push_back(variable.assigned(variable.with(std::getenv(variable.name))));
  }
}

}  // namespace

Preload choose_preload(const std::vector<std::string>& command, LauncherKind kind) {
  const std::string library = library_path();
  if (library.empty()) return {.why_not = "libidlewave-mpi.so does not lie beside idlewave: build or install again"};
  // What separates one library from the next can't be quoted.
  if (library.find_first_of(" :,;") != std::string::npos)
    return {.why_not = fmt::format("{} can't be preloaded from a folder of that name", library)};
  const auto program = program_in(command, kind);
  const std::string obstacle = program ? obstacle_in(*program) : "";
  return {.library = obstacle.empty() ? library : "", .why_not = obstacle};
}

std::vector<std::string> with_preload(std::vector<std::string> command, LauncherKind kind, const std::string& library,
                                      std::vector<std::string>& environment) {
  say(command, kind, {kSanitizersName, kAnyOrder}, environment);
  say(command, kind, {kPreloadName, library}, environment);
  return command;
}

}  // namespace idlewave::host
