#include "monitor/host/programs.h"

#include <fmt/format.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>

namespace idlewave::host {
namespace fs = std::filesystem;
namespace {

/// Whatever keeps us from looking at it keeps us from running it.
bool can_run(const fs::path& path) {
  std::error_code ignored;
  return fs::is_regular_file(path, ignored) && access(path.c_str(), X_OK) == 0;
}

}  // namespace

fs::path program_folder() {
  std::error_code ignored;
  return fs::read_symlink("/proc/self/exe", ignored).parent_path();
}

std::optional<fs::path> find_program(const std::string& name) {
  if (name.find('/') != std::string::npos) return can_run(name) ? std::optional<fs::path>(name) : std::nullopt;
  const char* path = std::getenv("PATH");
  std::string rest = path ? path : "/usr/local/bin:/usr/bin:/bin";
  while (!rest.empty()) {
    const std::size_t colon = rest.find(':');
    const fs::path candidate = fs::path(rest.substr(0, colon)) / name;
    if (can_run(candidate)) return candidate;
    rest = colon == std::string::npos ? "" : rest.substr(colon + 1);
  }
  return std::nullopt;
}

std::string how_it_ended(const std::string& program, int code) {
  const std::string name = std::filesystem::path(program.substr(0, program.find(' '))).filename();
  return fmt::format("{} ended with code {}{}", name, code,
                     code > 128 && code < 128 + NSIG ? fmt::format(", as by signal {}", code - 128) : "");
}

}  // namespace idlewave::host
