#include "monitor/host/provenance.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <iterator>

#include "probe/machine/processor.h"

namespace idlewave::host {
std::string machine_description() {
  char host[256] = {};
  gethostname(host, sizeof host - 1);
  return fmt::format("{}, {}", host, machine::describe_processors());
}

std::string own_command_line() {
  std::ifstream file("/proc/self/cmdline", std::ios::binary);
  std::string text{std::istreambuf_iterator<char>(file), {}};
  while (!text.empty() && text.back() == '\0') text.pop_back();
  std::replace(text.begin(), text.end(), '\0', ' ');
  return text;
}

wire::FrameLogHeader recording_header(const std::string& session) {
  wire::FrameLogHeader header;
  header.program_version = IDLEWAVE_VERSION;
  header.session = session;
  header.machine = machine_description();
  header.command_line = own_command_line();
  header.unix_time_ns =
      std::chrono::duration_cast<wire::Nanoseconds>(std::chrono::system_clock::now().time_since_epoch()).count();
  return header;
}

}  // namespace idlewave::host
