#include "workloads/support/memory_limit.h"

#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <limits>

#include "probe/words/quantity.h"

namespace idlewave::support {
namespace {

constexpr std::uint64_t kNoLimit = std::numeric_limits<std::uint64_t>::max();

/// Of a group and all that it is in, by the file that has it in each; a group that can't be seen has none.
std::uint64_t least_limit(const std::filesystem::path& mount, std::filesystem::path group, const char* file) {
  std::uint64_t least = kNoLimit;
  for (;; group = group.parent_path()) {
    std::uint64_t limit = 0;
    if (std::ifstream(mount / group / file) >> limit) least = std::min(least, limit);  // or "max"
    if (group.empty()) return least;
  }
}

}  // namespace

/// Lines as "4:memory:/job/step"; of version 2 the one without controllers, "0::/job/step".
std::uint64_t memory_of_control_groups(const std::filesystem::path& root) {
  const std::filesystem::path mount = root / "sys/fs/cgroup";
  std::uint64_t least = kNoLimit;
  std::ifstream groups(root / "proc/self/cgroup");
  for (std::string line; std::getline(groups, line);) {
    const std::size_t first = line.find(':'), second = line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string controllers = "," + line.substr(first + 1, second - first - 1) + ",";
    const std::filesystem::path group = std::filesystem::path(line.substr(second + 1)).relative_path();
    if (controllers == ",,")
      least = std::min(least, least_limit(mount, group, "memory.max"));
    else if (controllers.find(",memory,") != std::string::npos)
      least = std::min(least, least_limit(mount / "memory", group, "memory.limit_in_bytes"));
  }
  return least;
}

wire::Status check_memory(std::size_t bytes, const std::string& advice, int processes) {
  auto there = std::size_t(sysconf(_SC_PHYS_PAGES)) * std::size_t(sysconf(_SC_PAGESIZE));
  rlimit allowed{};  // of each process
  if (getrlimit(RLIMIT_AS, &allowed) == 0 && allowed.rlim_cur < there / std::size_t(processes))
    there = allowed.rlim_cur * std::size_t(processes);
  there = std::min<std::size_t>(there, memory_of_control_groups("/"));
  if (bytes <= there) return wire::ok();
  return wire::Error{fmt::format("this run needs {} of memory, and there are {}: {}", words::format_bytes(bytes),
                                 words::format_bytes(there), advice)};
}

}  // namespace idlewave::support
