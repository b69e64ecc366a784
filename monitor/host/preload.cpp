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

#include "monitor/host/programs.h"

namespace idlewave::host {
namespace fs = std::filesystem;
namespace {

constexpr const char* kName = "LD_PRELOAD";
constexpr const char* kAssigned = "LD_PRELOAD=";

std::string library_path() {
  for (const char* folder : {"../lib", "../" IDLEWAVE_LIBRARY_FOLDER}) {
    std::error_code ignored;
    const fs::path path = fs::weakly_canonical(program_folder() / folder / "libidlewave-mpi.so", ignored);
    if (fs::is_regular_file(path, ignored)) return path;
  }
  return "";
}

/// The file that the ranks execute, as far as that can be told from the words: a script may start another.
std::optional<fs::path> program_in(const std::vector<std::string>& command) {
  const std::size_t at = end_of_flags(command, 1);
  return find_program(command[at < command.size() ? at : 0]);
}

/// An executable of this machine's word length; what else is there says so by an empty result.
struct Executable {
  bool is_elf = false;
  std::uint16_t machine = 0;
  bool is_dynamic = false;  ///< A dynamic linker loads it.
  bool needs_asan = false;  ///< The library of the address sanitizer, which does not start behind another one.
};

/// In the names that the dynamic linker reads, wherever in the segment they stand.
bool names_asan(std::ifstream& file, const Elf64_Phdr& segment) {
  constexpr std::uint64_t kMost = 256 << 20;
  if ((segment.p_flags & (PF_X | PF_W)) != 0 || segment.p_filesz > kMost) return false;
  std::string bytes(segment.p_filesz, '\0');
  file.seekg(std::streamoff(segment.p_offset));
  file.read(bytes.data(), std::streamsize(bytes.size()));
  const std::string_view name("\0libasan.so.", 12);
  const bool found = file && bytes.find(name) != std::string::npos;
  file.clear();
  return found;
}

Executable look_into(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  Elf64_Ehdr header{};
  file.read(reinterpret_cast<char*>(&header), sizeof header);
  if (!file || std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0) return {};
  Executable found{.is_elf = true, .machine = header.e_machine};
  if (header.e_ident[EI_CLASS] != ELFCLASS64) return {.is_elf = true, .machine = EM_NONE, .is_dynamic = true};
  for (int i = 0; i < header.e_phnum; ++i) {
    Elf64_Phdr segment{};
    file.seekg(std::streamoff(header.e_phoff) + i * std::streamoff(sizeof segment));
    file.read(reinterpret_cast<char*>(&segment), sizeof segment);
    if (file && segment.p_type == PT_INTERP) found.is_dynamic = true;
    if (file && segment.p_type == PT_LOAD && names_asan(file, segment)) found.needs_asan = true;
  }
  return found;
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
  if (program.needs_asan) return link_it("needs the library of -fsanitize=address as the first one");
  if (stat(path.c_str(), &status) == 0 && (status.st_mode & (S_ISUID | S_ISGID)) != 0)
    return link_it("runs with the rights of its owner (set-user-ID)");
  return "";
}

std::string joined(const std::string& library, const char* others) {
  return others != nullptr && *others != '\0' ? library + ":" + others : library;
}

using Words = std::vector<std::string>;

/// Of Hydra's flags with a variable's name; behind those of lists, -genvlist and -envlist, stand names alone.
bool takes_a_value(std::string_view flag) {
  return flag == "-genv" || flag == "-env" || flag == "--genv" || flag == "--env";
}

/// What the user has said of LD_PRELOAD in these flags, with ours before it. False: nothing was said.
bool add_to_the_users(Words& command, std::size_t from, LauncherKind kind, const std::string& library) {
  const std::size_t end = end_of_flags(command, from);
  for (std::size_t i = from; i < end; ++i) {
    std::string& word = command[i];
    const std::size_t at = word.find(kAssigned);
    const bool is_whole = kind == LauncherKind::kOpenMpi ? at == 0 : at != std::string::npos;
    if (is_whole)
      word.insert(at + std::strlen(kAssigned), library + ":");
    else if (word == kName && kind == LauncherKind::kOpenMpi)
      word = kAssigned + joined(library, std::getenv(kName));
    else if (word == kName && kind == LauncherKind::kMpich && i + 1 < end && takes_a_value(command[i - 1]))
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

}  // namespace

Preload choose_preload(const std::vector<std::string>& command) {
  const std::string library = library_path();
  if (library.empty()) return {.why_not = "libidlewave-mpi.so does not lie beside idlewave: build or install again"};
  // What separates one library from the next can't be quoted.
  if (library.find_first_of(" :,;") != std::string::npos)
    return {.why_not = fmt::format("{} can't be preloaded from a folder of that name", library)};
  const auto program = program_in(command);
  const std::string obstacle = program ? obstacle_in(*program) : "";
  return {.library = obstacle.empty() ? library : "", .why_not = obstacle};
}

std::vector<std::string> with_preload(std::vector<std::string> command, LauncherKind kind, const std::string& library,
                                      std::vector<std::string>& environment) {
  const std::string value = joined(library, std::getenv(kName));
  switch (kind) {
    case LauncherKind::kOpenMpi: say_to_open_mpi(command, library, value); break;
    case LauncherKind::kMpich: say_to_hydra(command, library, value); break;
    case LauncherKind::kSlurm: say_to_slurm(command, library, value); break;
    case LauncherKind::kOther: environment.push_back(kAssigned + value); break;
  }
  return command;
}

}  // namespace idlewave::host
