#include "probe/machine/processor.h"

#include <unistd.h>

#include <fstream>

namespace idlewave::machine {
namespace {

std::string model_name(const char* facts) {
  std::ifstream file(facts);
  for (std::string line; std::getline(file, line);) {
    const std::size_t colon = line.find(": ");
    if (line.starts_with("model name") && colon != std::string::npos) return line.substr(colon + 2);
  }
  return "unknown processor";
}

}  // namespace

std::string describe_processors(const char* facts) {
  return model_name(facts) + ", " + std::to_string(sysconf(_SC_NPROCESSORS_ONLN)) + " processors";
}

}  // namespace idlewave::machine
