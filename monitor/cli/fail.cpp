#include <cstdio>

#include "monitor/cli/verbs.h"

namespace idlewave::cli {

int fail(const std::string& message, int code) {
  std::fprintf(stderr, "idlewave: %s\n", message.c_str());
  return code;
}

}  // namespace idlewave::cli
