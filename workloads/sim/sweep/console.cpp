#include "workloads/sim/sweep/console.h"

#include <fmt/format.h>

#include <cstdio>

#include "probe/wire/printable.h"

namespace idlewave::sim::sweep {

int complain(const std::string& message, int code) {
  std::fputs(fmt::format("idlewave: {}\n", wire::printable(message)).c_str(), stderr);
  return code;
}

void tell(const std::string& result) { std::fputs(wire::printable_lines(result).c_str(), stdout); }

}  // namespace idlewave::sim::sweep
