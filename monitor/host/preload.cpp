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

/// A file of this machine's word length, read piece by piece.
class Elf {
 public:
  explicit Elf(const fs::path& path) : file_(path, std::ios::binary), header_(at<Elf64_Ehdr>(0)) {
    const bool is_one = file_ && std::memcmp(header_.e_ident, ELFMAG, SELFMAG) == 0;
    if (!is_one) header_ = {};
    for (int i = 0; is_64_bit() && i < header_.e_phnum; ++i)
      segments_.push_back(at<Elf64_Phdr>(header_.e_phoff + std::uint64_t(i) * sizeof(Elf64_Phdr)));
  }
  bool is_elf() const { return header_.e_ident[EI_MAG0] != 0; }
  bool is_64_bit() const { return header_.e_ident[EI_CLASS] == ELFCLASS64; }
  std::uint16_t machine() const { return header_.e_machine; }
  bool has(std::uint32_t type) const {
    return std::ranges::any_of(segments_, [&](const Elf64_Phdr& each) { return each.p_type == type; });
  }

  /// Whether the dynamic linker loads a library of a name that begins so.
  bool needs(std::string_view library) {
    const std::vector<Elf64_Dyn> entries = dynamic_entries();
    const auto names = std::ranges::find(entries, DT_STRTAB, &Elf64_Dyn::d_tag);
    if (names == entries.end()) return false;
    const std::uint64_t base = place_of(names->d_un.d_ptr);
    return std::ranges::any_of(entries, [&](const Elf64_Dyn& each) {
      return each.d_tag == DT_NEEDED && text(base + each.d_un.d_val, library.size()) == library;
    });
  }

 private:
  template <class Piece>
  Piece at(std::uint64_t place) {
    Piece piece{};
    file_.seekg(std::streamoff(place));
    file_.read(reinterpret_cast<char*>(&piece), sizeof piece);
    return file_ ? piece : Piece{};
  }
  std::string text(std::uint64_t place, std::size_t length) {
    std::string text(length, '\0');
    file_.seekg(std::streamoff(place));
    file_.read(text.data(), std::streamsize(length));
    return file_ ? text : "";
  }
  std::vector<Elf64_Dyn> dynamic_entries() {
    constexpr std::uint64_t kMost = 4096;
    std::vector<Elf64_Dyn> entries;
    const auto dynamic = std::ranges::find(segments_, std::uint32_t{PT_DYNAMIC}, &Elf64_Phdr::p_type);
    const std::uint64_t count = dynamic == segments_.end() ? 0 : dynamic->p_filesz / sizeof(Elf64_Dyn);
    for (std::uint64_t i = 0; i < std::min(count, kMost); ++i)
      entries.push_back(at<Elf64_Dyn>(dynamic->p_offset + i * sizeof(Elf64_Dyn)));
    return entries;
  }
  /// In the file, of an address.
  std::uint64_t place_of(std::uint64_t address) const {
    for (const Elf64_Phdr& each : segments_)
      if (each.p_type == PT_LOAD && address >= each.p_vaddr && address - each.p_vaddr < each.p_filesz)
        return each.p_offset + (address - each.p_vaddr);
    return 0;
  }

  std::ifstream file_;
  Elf64_Ehdr header_;
  std::vector<Elf64_Phdr> segments_;
};

/// An executable of this machine's word length; what else is there says so by an empty result.
struct Executable {
  bool is_elf = false;
  std::uint16_t machine = 0;
  bool is_dynamic = false;  ///< A dynamic linker loads it.
  bool needs_asan = false;  ///< The library of the address sanitizer, which does not start behind another one.
};

Executable look_into(const fs::path& path) {
  Elf elf(path);
  if (!elf.is_elf()) return {};
  if (!elf.is_64_bit()) return {.is_elf = true, .machine = EM_NONE, .is_dynamic = true};
  return {.is_elf = true,
          .machine = elf.machine(),
          .is_dynamic = elf.has(PT_INTERP),
          .needs_asan = elf.needs("libasan.so.")};
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
