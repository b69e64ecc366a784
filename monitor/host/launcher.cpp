#include "monitor/host/launcher.h"

#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <string_view>

#include "monitor/host/open_mpi_list.h"
#include "monitor/host/programs.h"

namespace idlewave::host {
namespace {

/// What mpirun.openmpi 4.1 opens for each rank, and a rank itself starts, measured and rounded up.
constexpr rlim_t kFilesPerRank = 5, kFilesBesides = 100;
constexpr rlim_t kThreadsPerRank = 3, kThreadsBesides = 50;

wire::Status raise_limit(wire::Rank ranks, int resource, rlim_t per_rank, rlim_t besides, const char* of_what) {
  rlimit limit{};
  const rlim_t needed = per_rank * rlim_t(ranks) + besides;
  if (getrlimit(resource, &limit) != 0 || limit.rlim_cur >= needed) return wire::ok();
  limit.rlim_cur = std::min(needed, limit.rlim_max);
  setrlimit(resource, &limit);
  if (limit.rlim_max >= needed) return wire::ok();
  const rlim_t fitting = limit.rlim_max > besides ? (limit.rlim_max - besides) / per_rank : 0;
  return wire::Error{fmt::format("{} ranks need some {} {}, and this account may have {}: use --ranks {} or fewer",
                                 ranks, needed, of_what, limit.rlim_max, fitting)};
}

std::string* last_export(std::vector<std::string>& command) {
  const std::size_t end = end_of_flags(command, 1, LauncherKind::kSlurm);
  std::string* last = nullptr;
  for (std::size_t i = 1; i < end; ++i) {
    if (command[i].starts_with("--export=")) last = &command[i];
    if (command[i] == "--export" && i + 1 < end) last = &command[i + 1];
  }
  return last;
}

/// It may stand in a word of its own.
std::size_t begin_of_list(const std::string& word) {
  constexpr std::string_view kFlag = "--export=";
  return word.starts_with(kFlag) ? kFlag.size() : 0;
}

std::string export_by_variable() {
  const char* list = std::getenv("SLURM_EXPORT_ENV");
  return list != nullptr ? list : "ALL";
}

/// Where "NONE" stands ahead of others srun exports none of them.
std::string with_item(const std::string& list, const std::string& item) {
  return list == "NONE" || list == "NIL" ? item : list + "," + item;
}

bool slurm_exports_all(std::vector<std::string>& command) {
  const std::string* given = last_export(command);
  const std::string list = given != nullptr ? given->substr(begin_of_list(*given)) : export_by_variable();
  return list == "ALL" || list.starts_with("ALL,") || list.find(",ALL,") != std::string::npos || list.ends_with(",ALL");
}

}  // namespace

wire::Status make_room_for(wire::Rank ranks) {
  if (const wire::Status files =
          raise_limit(ranks, RLIMIT_NOFILE, kFilesPerRank, kFilesBesides, "open files (ulimit -n)");
      !files)
    return files;
  if (geteuid() == 0) return wire::ok();
  return raise_limit(ranks, RLIMIT_NPROC, kThreadsPerRank, kThreadsBesides, "processes and threads (ulimit -u)");
}

Environment session_environment(const std::string& session, const std::string& endpoint) {
  return {{"IDLEWAVE_SESSION", session},
          {"IDLEWAVE_ENDPOINT", endpoint},
          {"IDLEWAVE_AGENT", program_folder() / "idlewave-agent"}};
}

Environment demo_environment(LauncherKind kind) {
  if (kind != LauncherKind::kOpenMpi) return {};
  // Open MPI 5 leaves it to PRRTE where ranks go, which reads variables of its own.
  Environment wanted = {{"OMPI_MCA_rmaps_base_oversubscribe", "1"},
                        {"PRTE_MCA_rmaps_default_mapping_policy", ":oversubscribe"},
                        {"OMPI_MCA_mpi_yield_when_idle", "1"}};
  if (geteuid() == 0) {
    wanted["OMPI_ALLOW_RUN_AS_ROOT"] = "1";
    wanted["OMPI_ALLOW_RUN_AS_ROOT_CONFIRM"] = "1";
  }
  std::erase_if(wanted, [](const auto& variable) { return std::getenv(variable.first.c_str()) != nullptr; });
  return wanted;
}

void export_by_slurm(std::vector<std::string>& command, const std::string& item) {
  if (std::string* given = last_export(command)) {
    const std::size_t list = begin_of_list(*given);
    *given = given->substr(0, list) + with_item(given->substr(list), item);
    return;
  }
  command.insert(command.begin() + 1, "--export=" + with_item(export_by_variable(), item));
}

std::vector<std::string> with_environment(std::vector<std::string> command, LauncherKind kind,
                                          const Environment& wanted, std::vector<std::string>& environment) {
  for (const auto& [name, value] : wanted) environment.push_back(name + "=" + value);
  if (kind == LauncherKind::kSlurm && !slurm_exports_all(command))
    for (const auto& [name, value] : wanted) export_by_slurm(command, name);
  if (kind != LauncherKind::kOpenMpi) return command;  // Hydra, and srun unless told otherwise, hand on their own.
  std::vector<std::string> names, flags;
  for (const auto& [name, value] : wanted) {
    names.push_back(name);
    flags.push_back("-x");
    flags.push_back(name);
  }
  if (add_to_open_mpi_list(command, names, environment)) return command;
  // mpirun takes -x for the program that follows; after a ':' comes another.
  for (std::size_t from = command.size(); from > 0; --from)
    if (from == 1 || command[from - 1] == ":")
      command.insert(command.begin() + std::ptrdiff_t(from), flags.begin(), flags.end());
  return command;
}

}  // namespace idlewave::host
