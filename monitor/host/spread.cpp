#include "monitor/host/spread.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string_view>

#include "monitor/host/launcher_words.h"
#include "probe/wire/node_name.h"

namespace idlewave::host {
namespace {

std::string variable(const char* name) {
  const char* text = std::getenv(name);
  return text != nullptr ? text : "";
}

/// What mpirun calls the words that name hosts, or a file that does.
struct HostFlags {
  std::vector<std::string_view> hosts;
  std::vector<std::string_view> files;
};

HostFlags flags_of(LauncherKind kind) {
  if (kind == LauncherKind::kOpenMpi)
    return {{"-H", "-host", "--host"},
            {"-hostfile", "--hostfile", "-machinefile", "--machinefile", "--default-hostfile"}};
  if (kind == LauncherKind::kMpich) return {{"-hosts", "--hosts", "-host"}, {"-f", "-hostfile", "-machinefile"}};
  return {};
}

bool is_here(std::string_view host) {
  char name[wire::kNodeNameLimit];
  wire::node_name(name);
  const std::string_view here(name);
  return host == "localhost" || host.starts_with("127.") || host == here || host == here.substr(0, here.find('.'));
}

/// "a:4,b" without how many ranks each may take.
std::vector<std::string> other_hosts(const std::string& list) {
  std::vector<std::string> others;
  for (const std::string& part : parts_of(list)) {
    const std::string host = part.substr(0, part.find(':'));
    if (!is_here(host)) others.push_back(host);
  }
  return others;
}

bool contains(const std::vector<std::string_view>& words, std::string_view word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

/// `run` may stand on one of its nodes or where salloc was called; who attaches to it stands elsewhere even where it has
/// one node.
std::optional<Spread> spread_of_job() {
  const std::string job = variable("SLURM_JOB_ID"), nodes = variable("SLURM_JOB_NUM_NODES");
  if (job.empty() || nodes.empty()) return std::nullopt;
  return Spread{fmt::format("this is Slurm job {}, of {} node{}", job, nodes, nodes == "1" ? "" : "s"),
                ends_of_node_list(variable("SLURM_JOB_NODELIST"))};
}

bool starts_jobs(const std::string& launcher) {
  const std::string name = std::filesystem::path(launcher).filename();
  return name == "salloc" || name == "sbatch";
}

}  // namespace

std::vector<std::string> ends_of_node_list(const std::string& list) {
  constexpr const char* kDigits = "0123456789";
  const std::string_view first = std::string_view(list).substr(0, list.find_first_of(",["));
  const std::string_view rest = std::string_view(list).substr(first.size());
  if (first.empty() || first.find(']') != std::string_view::npos) return {};
  if (!rest.starts_with('[')) return {std::string(first)};
  const std::size_t close = rest.find(']');
  if (close == std::string_view::npos || (close + 1 < rest.size() && rest[close + 1] != ',')) return {};
  const std::string_view numbers = rest.substr(1, close - 1);
  const std::string_view lowest = numbers.substr(0, numbers.find_first_not_of(kDigits));
  const std::string_view highest = numbers.substr(numbers.find_last_not_of(kDigits) + 1);
  if (lowest.empty() || highest.empty() || numbers.find_first_not_of("0123456789-,") != std::string_view::npos)
    return {};
  std::vector<std::string> names = {fmt::format("{}{}", first, lowest)};
  if (lowest.size() < numbers.size()) names.push_back(fmt::format("{}{}", first, highest));
  return names;
}

Spread spread_of(const std::vector<std::string>& command, LauncherKind kind) {
  if (auto spread = spread_of_job()) return *spread;
  if (kind == LauncherKind::kSlurm || starts_jobs(command.front()))
    return {fmt::format("{} starts it on nodes of Slurm", std::filesystem::path(command.front()).filename().string()),
            {}};
  const HostFlags flags = flags_of(kind);
  const std::size_t end = end_of_flags(command, 1, kind);
  for (std::size_t i = 1; i + 1 < end; ++i) {
    if (contains(flags.files, command[i])) return {fmt::format("{} names hosts", command[i]), {}};
    if (!contains(flags.hosts, command[i])) continue;
    if (auto others = other_hosts(command[i + 1]); !others.empty())
      return {fmt::format("{} names {}", command[i], others.front()), others};
  }
  return {};
}

}  // namespace idlewave::host
