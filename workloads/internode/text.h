#pragma once

#include <string>

namespace idlewave::internode {

/// What `--help` or `--version` prints.
struct Text {
  std::string text;
};

}  // namespace idlewave::internode
