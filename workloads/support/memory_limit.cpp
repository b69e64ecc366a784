#include "workloads/support/memory_limit.h"

#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>

#include "probe/words/quantity.h"

namespace idlewave::support {

wire::Status check_memory(std::size_t bytes, const std::string& advice) {
  auto there = std::size_t(sysconf(_SC_PHYS_PAGES)) * std::size_t(sysconf(_SC_PAGESIZE));
  rlimit allowed{};
  if (getrlimit(RLIMIT_AS, &allowed) == 0) there = std::min<std::size_t>(there, allowed.rlim_cur);
  if (bytes <= there) return wire::ok();
  return wire::Error{fmt::format("this run needs {} of memory, and there are {}: {}", words::format_bytes(bytes),
                                 words::format_bytes(there), advice)};
}

}  // namespace idlewave::support
