#include "monitor/host/launcher_words.h"

#include <elf.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <initializer_list>
#include <string_view>

#include "monitor/host/programs.h"

namespace idlewave::host {
namespace {

bool mentions(const std::string& text, std::initializer_list<const char*> words) {
  for (const char* word : words) {
    if (text.find(word) != std::string::npos) return true;
  }
  return false;
}

/// One of the names, or one of them with more behind a sign that is no letter: mpirun, mpirun.openmpi, mpiexec-hydra.
bool is_called(const std::string& program, std::initializer_list<std::string_view> names) {
  return std::any_of(names.begin(), names.end(), [&](std::string_view name) {
    return program.starts_with(name) &&
           (program.size() == name.size() || std::isalnum(static_cast<unsigned char>(program[name.size()])) == 0);
  });
}

/// Wrappers (time, numactl) stand in the first words. A program may have a hundred thousand of its own, and each would be
/// looked for in PATH.
constexpr std::size_t kWordsOfAWrapper = 16;

// Flags whose value stands in a word of its own, as their manuals have them, without the dashes, a blank before and behind
// each. A value may be called as a program is: node (--map-by), as that of JavaScript.

constexpr std::string_view kOfOpenMpi =
    " am app bind-to c cartofile cf cpu-list cpu-set cpus-per-proc cpus-per-rank debugger "
    "default-hostfile display H hnp host hostfile launch-agent machinefile map-by max-restarts "
    "max-vm-size N n np npernode npersocket ompi-server output output-filename path personality ppr "
    "prefix preload-files rank-by rankfile rf stdin timeout tune wd wdir x ";

constexpr std::string_view kPairsOfOpenMpi = " gmca mca omca pmixmca prtemca ";

constexpr std::string_view kOfHydra =
    " bind-to configfile demux envlist errfile-pattern f genvlist gpus-per-proc host hostfile hosts iface "
    "launcher launcher-exec localhost machinefile map-by membind n nameserver np order-nodes "
    "outfile-pattern path pmi-port ppn prepend-pattern rmk topolib usize wd wdir ";

constexpr std::string_view kPairsOfHydra = " env genv ";

constexpr std::string_view kOfSrun =
    " A B C D G J L M N P S T W c d e i m n o p q r t w x account acctg-freq bb bbf begin chdir "
    "cluster-constraint clusters comment constraint container core-spec cores-per-socket cpu-bind "
    "cpu-freq cpus-per-gpu cpus-per-task deadline delay-boot dependency distribution epilog error "
    "exclude export export-file extra-node-info gid gpu-bind gpu-freq gpus gpus-per-node gpus-per-socket "
    "gpus-per-task gres gres-flags hint input job-name jobid licenses mem mem-bind mem-per-cpu "
    "mem-per-gpu mincpus mpi msg-timeout network nodefile nodelist nodes ntasks ntasks-per-core "
    "ntasks-per-gpu ntasks-per-node ntasks-per-socket open-mode output partition profile prolog qos "
    "relative reservation signal switches task-epilog task-prolog time uid wait wckey ";

bool is_one_of(std::string_view names, std::string_view name) {
  return names.find(fmt::format(" {} ", name)) != std::string_view::npos;
}

struct Flags {
  std::string_view with_one;  ///< Word behind them.
  std::string_view with_two;
};

Flags flags_with_values(LauncherKind kind) {
  switch (kind) {
    case LauncherKind::kOpenMpi: return {kOfOpenMpi, kPairsOfOpenMpi};
    case LauncherKind::kMpich: return {kOfHydra, kPairsOfHydra};
    case LauncherKind::kSlurm: return {kOfSrun, {}};
    case LauncherKind::kOther: break;
  }
  return {};
}

/// Words behind the flag at that place. Hydra takes a name and its value, or both in one word.
std::size_t values_of(const Flags& flags, const std::vector<std::string>& command, std::size_t at) {
  const std::string_view word = command[at];
  const std::string_view name = word.substr(std::min(word.find_first_not_of('-'), word.size()));
  if (is_one_of(flags.with_one, name)) return 1;
  if (!is_one_of(flags.with_two, name)) return 0;
  const bool is_assigned = at + 1 < command.size() && command[at + 1].find('=') != std::string::npos;
  return is_assigned && flags.with_two == kPairsOfHydra ? 1 : 2;
}

/// Not a script of somebody's, who may have called it like a launcher.
bool is_executable(const std::filesystem::path& file) {
  std::array<char, SELFMAG> begin{};
  return std::ifstream(file, std::ios::binary).read(begin.data(), begin.size()) &&
         std::memcmp(begin.data(), ELFMAG, SELFMAG) == 0;
}

/// Of a launcher that has nothing in its name, as those of Open MPI 5 and of MPIs that pip installs: by what its MPI starts
/// it with, which lies beside it.
LauncherKind kind_by_neighbours(const std::filesystem::path& launcher) {
  const auto has = [&](const char* name) {
    std::error_code ignored;
    return std::filesystem::exists(launcher.parent_path() / name, ignored);
  };
  const bool has_open_mpi = has("prterun") || has("orterun"), has_hydra = has("hydra_pmi_proxy");
  if (has_open_mpi == has_hydra || !is_executable(launcher)) return LauncherKind::kOther;
  return has_open_mpi ? LauncherKind::kOpenMpi : LauncherKind::kMpich;
}

}  // namespace

/// By what it is called, whole words at its beginning: a program of the user's may have any of these names in its own.
LauncherKind launcher_kind(const std::string& launcher, MpiChoice choice) {
  if (choice == MpiChoice::kOpenMpi) return LauncherKind::kOpenMpi;
  if (choice == MpiChoice::kMpich) return LauncherKind::kMpich;
  const auto program = find_program(launcher);
  std::error_code ignored;
  const std::filesystem::path file =
      program ? std::filesystem::canonical(*program, ignored) : std::filesystem::path(launcher);
  const std::string target = file.filename();
  const bool is_mpirun = is_called(target, {"mpirun", "mpiexec"});
  if (is_called(target, {"orterun", "prterun", "prte"}) || (is_mpirun && mentions(target, {"openmpi"})))
    return LauncherKind::kOpenMpi;
  if (is_mpirun && mentions(target, {"hydra", "mpich"})) return LauncherKind::kMpich;
  if (program && (target == "mpirun" || target == "mpiexec")) return kind_by_neighbours(file);
  return target == "srun" ? LauncherKind::kSlurm : LauncherKind::kOther;
}

std::vector<std::string> parts_of(const std::string& list) {
  std::vector<std::string> parts;
  for (std::size_t at = 0; at < list.size();) {
    const std::size_t comma = std::min(list.find(',', at), list.size());
    if (comma > at) parts.push_back(list.substr(at, comma - at));
    at = comma + 1;
  }
  return parts;
}

std::size_t end_of_flags(const std::vector<std::string>& command, std::size_t from, LauncherKind kind) {
  const Flags flags = flags_with_values(kind);
  const std::size_t most = kind == LauncherKind::kOther ? std::min(command.size(), kWordsOfAWrapper) : command.size();
  for (std::size_t at = from; at < most; ++at) {
    if (command[at].starts_with('-'))
      at += values_of(flags, command, at);
    else if (find_program(command[at]))
      return at;
  }
  return command.size();
}

std::string program_label(const std::vector<std::string>& command, LauncherKind kind) {
  const std::size_t program = end_of_flags(command, 1, kind);
  return std::filesystem::path(command[program < command.size() ? program : 0]).filename();
}

}  // namespace idlewave::host
