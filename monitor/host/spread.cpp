#include "monitor/host/spread.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "monitor/host/launcher_words.h"
#include "monitor/host/node_list.h"
#include "probe/session/node_name.h"

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
  char name[session::kNodeNameLimit];
  session::node_name(name);
  const std::string_view here(name);
  return host == "localhost" || host.starts_with("127.") || host == here || host == here.substr(0, here.find('.'));
}

/// "a:4,b" without how many ranks each may take.
std::vector<std::string> hosts_in(const std::string& list) {
  std::vector<std::string> hosts;
  for (const std::string& part : parts_of(list)) hosts.push_back(part.substr(0, part.find(':')));
  return hosts;
}

std::vector<std::string> without_this_node(std::vector<std::string> hosts) {
  std::erase_if(hosts, is_here);
  return hosts;
}

std::vector<std::string> each_once(const std::vector<std::string>& names) {
  std::vector<std::string> once;
  std::set<std::string_view> seen;
  for (const std::string& name : names)
    if (seen.insert(name).second) once.push_back(name);
  return once;
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

/// That are named to mpirun, by flags and in files. Error: none is, or a file can't be read.
wire::Result<std::vector<std::string>> hosts_named(const std::vector<std::string>& command, LauncherKind kind) {
  const HostFlags flags = flags_of(kind);
  const std::size_t end = end_of_flags(command, 1, kind);
  std::vector<std::string> all;
  for (std::size_t i = 1; i + 1 < end; ++i) {
    wire::Result<std::vector<std::string>> some = std::vector<std::string>();
    if (contains(flags.hosts, command[i])) some = hosts_in(command[i + 1]);
    if (contains(flags.files, command[i])) some = nodes_in_host_file(command[i + 1]);
    if (!some) return some.error();
    all.insert(all.end(), some->begin(), some->end());
  }
  if (!all.empty()) return all;
  return wire::Error{
      "on which nodes its ranks will be can't be told: this is no Slurm job, and no hosts are named to mpirun (-H, "
      "--hostfile)"};
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
    if (auto others = without_this_node(hosts_in(command[i + 1])); !others.empty())
      return {fmt::format("{} names {}", command[i], others.front()), others};
  }
  return {};
}

wire::Result<std::vector<std::string>> other_nodes(const std::vector<std::string>& command, LauncherKind kind) {
  const std::string list = variable("SLURM_JOB_NODELIST");
  if (list.empty() && (kind == LauncherKind::kSlurm || starts_jobs(command.front())))
    return wire::Error{
        "on which nodes its ranks will be is known inside of a Slurm job only: start it by salloc or sbatch"};
  auto nodes = list.empty() ? hosts_named(command, kind) : expand_node_list(list);
  if (!nodes) return nodes;
  for (const std::string& node : *nodes)
    if (!is_node_name(node)) return wire::Error{fmt::format("'{}' is no name of a node", node)};
  return each_once(without_this_node(std::move(*nodes)));
}

}  // namespace idlewave::host
