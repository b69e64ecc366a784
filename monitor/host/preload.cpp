#include "monitor/host/preload.h"

#include <elf.h>
#include <fmt/format.h>
#include <sys/stat.h>

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

constexpr const char* kName = "LD_PRELOAD";
constexpr const char* kAssigned = "LD_PRELOAD=";
/// A link to where the library lies. The library of -fsanitize=address ends a program in which another one comes first,
/// unless that lies, by its name, in a path of such libraries.
constexpr const char* kFolder = "beside-libasan.so";

/// Of the ranks that this starts. Of a script, srun or a rank alone it is not known: the one whose launcher is found first.
bool has_large_counts(LauncherKind kind) {
  const bool tells = kind == LauncherKind::kOpenMpi || kind == LauncherKind::kMpich;
  return (tells ? kind : launcher_kind("mpirun", MpiChoice::kAuto)) == LauncherKind::kMpich;
}

/// Open MPI has no functions of large counts (before its version 6), and no program of its may find any: there it would end with
/// the first call. Where they are there and not found, such calls go unseen and nothing else.
std::string library_path(LauncherKind kind) {
  const char* const name = has_large_counts(kind) ? "libidlewave-mpi.so" : "libidlewave-mpi-small-counts.so";
  for (const char* folder : {"../lib", "../" IDLEWAVE_LIBRARY_FOLDER}) {
    std::error_code ignored;
    const fs::path place = fs::weakly_canonical(program_folder() / folder, ignored);
    for (const fs::path& path : {place / kFolder / name, place / name})
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

std::string joined(const std::string& library, const char* others) {
  return others != nullptr && *others != '\0' ? library + ":" + others : library;
}

using Words = std::vector<std::string>;

constexpr std::size_t kNowhere = std::string::npos;

/// Where it is assigned in a list, as srun's --export has one.
std::size_t place_in_list(const std::string& word) {
  for (std::size_t at = word.find(kAssigned); at != kNowhere; at = word.find(kAssigned, at + 1))
    if (at == 0 || word[at - 1] == ',' || (word[at - 1] == '=' && word.starts_with("--export="))) return at;
  return kNowhere;
}

/// Behind that flag stands one, with its value; behind Hydra's -genvlist and -envlist stand names alone.
bool names_a_variable(LauncherKind kind, std::string_view flag) {
  if (kind == LauncherKind::kOpenMpi) return flag == "-x" || flag == "--x";
  return kind == LauncherKind::kMpich && (flag == "-genv" || flag == "-env" || flag == "--genv" || flag == "--env");
}

/// What the user has said of LD_PRELOAD in these flags, with ours before it. False: nothing was said.
bool add_to_the_users(Words& command, std::size_t from, LauncherKind kind, const std::string& library) {
  const std::size_t end = end_of_flags(command, from, kind);
  for (std::size_t i = from; i < end; ++i) {
    std::string& word = command[i];
    const bool is_named = names_a_variable(kind, command[i - 1]);
    const std::size_t at = kind == LauncherKind::kSlurm              ? place_in_list(word)
                           : is_named && word.starts_with(kAssigned) ? 0
                                                                     : kNowhere;
    if (at != kNowhere)
      word.insert(at + std::strlen(kAssigned), library + ":");
    else if (is_named && word == kName && kind == LauncherKind::kOpenMpi)
      word = kAssigned + joined(library, std::getenv(kName));
    else if (is_named && word == kName && kind == LauncherKind::kMpich && i + 1 < end)
      command[i + 1].insert(0, library + ":");
    else
      continue;
    return true;
  }
  return false;
}

/// mpirun takes -x for the program that follows; after a ':' comes another.
void say_to_open_mpi(Words& command, const std::string& library, const std::string& value) {
  for (std::size_t from = 1; from <= command.size(); ++from) {
    if (from > 1 && command[from - 1] != ":") continue;
    if (add_to_the_users(command, from, LauncherKind::kOpenMpi, library)) continue;
    const Words flags = {"-x", kAssigned + value};
    command.insert(command.begin() + std::ptrdiff_t(from), flags.begin(), flags.end());
  }
}

void say_to_hydra(Words& command, const std::string& library, const std::string& value) {
  if (add_to_the_users(command, 1, LauncherKind::kMpich, library)) return;
  const Words flags = {"-genv", kName, value};
  command.insert(command.begin() + 1, flags.begin(), flags.end());
}

void say_to_slurm(Words& command, const std::string& library, const std::string& value) {
  if (add_to_the_users(command, 1, LauncherKind::kSlurm, library)) return;
  export_by_slurm(command, kAssigned + value);
}

/// What `env` assigns, should it stand there, would take the place of ours.
void add_behind_env(Words& command, std::size_t at, const std::string& library) {
  if (at >= command.size() || fs::path(command[at]).filename() != "env") return;
  for (++at; at < command.size() && command[at].find('=') != kNowhere && command[at][0] != '-'; ++at)
    if (command[at].starts_with(kAssigned)) command[at].insert(std::strlen(kAssigned), library + ":");
}

/// In front of the launcher, or of each program.
void add_behind_each_env(Words& command, LauncherKind kind, const std::string& library) {
  if (kind == LauncherKind::kOther) return add_behind_env(command, 0, library);
  for (std::size_t from = 1; from <= command.size(); ++from)
    if (from == 1 || command[from - 1] == ":") add_behind_env(command, end_of_flags(command, from, kind), library);
}

}  // namespace

Preload choose_preload(const std::vector<std::string>& command, LauncherKind kind) {
  const std::string library = library_path(kind);
  if (library.empty())
    return {.why_not =
                "libidlewave-mpi.so does not lie beside idlewave: './scripts/build release programs' builds it, or "
                "install again"};
  // What separates one library from the next can't be quoted.
  if (library.find_first_of(" :,;") != std::string::npos)
    return {.why_not = fmt::format("{} can't be preloaded from a folder of that name", library)};
  const auto program = program_in(command, kind);
  const std::string obstacle = program ? obstacle_in(*program) : "";
  return {.library = obstacle.empty() ? library : "", .why_not = obstacle};
}

std::vector<std::string> with_preload(std::vector<std::string> command, LauncherKind kind, const std::string& library,
                                      std::vector<std::string>& environment) {
  const std::string value = joined(library, std::getenv(kName));
  add_behind_each_env(command, kind, library);
  switch (kind) {
    case LauncherKind::kOpenMpi:
      if (!add_to_open_mpi_list(command, {kAssigned + library}, environment)) say_to_open_mpi(command, library, value);
      break;
    case LauncherKind::kMpich: say_to_hydra(command, library, value); break;
    case LauncherKind::kSlurm: say_to_slurm(command, library, value); break;
    case LauncherKind::kOther: environment.push_back(kAssigned + value); break;
  }
  return command;
}

}  // namespace idlewave::host
