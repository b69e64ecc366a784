#include <cstdio>

#include "monitor/cli/verbs.h"
#include "probe/wire/printable.h"

namespace idlewave::cli {

int fail(const std::string& message, int code) {
  std::fprintf(stderr, "idlewave: %s\n", wire::printable(message).c_str());
  return code;
}

void print(const std::string& text) { std::fputs(wire::printable_lines(text).c_str(), stdout); }

}  // namespace idlewave::cli
