#include "monitor/process/children.h"

#include <unistd.h>

#include <fstream>
#include <string>

namespace idlewave::process {

std::vector<pid_t> children_of_ours() {
  const std::string self = std::to_string(::getpid());
  std::ifstream listed("/proc/" + self + "/task/" + self + "/children");
  std::vector<pid_t> children;
  for (pid_t child = 0; listed >> child;) children.push_back(child);
  return children;
}

}  // namespace idlewave::process
