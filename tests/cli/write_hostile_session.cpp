// iw-write-hostile-session FILE: a session in which every text that a stranger can choose holds what a terminal would
// obey.

#include <cstdio>

#include "tests/wire/example_session.h"

namespace idlewave::wire {
namespace {

constexpr const char* kHostile =
    "\x1b]0;owned\x07\x1b[2J\x9b"
    "31m\xc2\x9b"
    "31m\x7f\r\n\u202egpj\u2066\u2028\u200b end";

std::vector<FrameLogEntry> hostile_entries() {
  Roster roster = example_roster();
  roster.machine = roster.program = kHostile;
  roster.domains.front().label = roster.domains.front().note = kHostile;
  roster.phases.front().name = kHostile;
  const Command command{17, {1}, DelayOrder{std::chrono::milliseconds(250), 8}};
  std::vector<FrameLogEntry> entries;
  for (const FrameLogEntry& entry : golden_entries()) {
    Frame frame = *decode(entry.bytes);
    if (!frame.node.empty()) frame.node = kHostile;
    if (std::holds_alternative<Roster>(frame.body)) frame.body = roster;
    if (auto* outcome = std::get_if<Outcome>(&frame.body)) *outcome = {command, outcome->time, false, kHostile};
    entries.push_back({entry.received_at, entry.direction, encode(frame)});
  }
  return entries;
}

Status write_session(const char* path) {
  auto writer = FrameLogWriter::create(path, {kHostile, "demo", kHostile, kHostile, 0});
  if (!writer) return writer.error();
  for (const FrameLogEntry& entry : hostile_entries()) {
    if (const Status status = (*writer)->append(entry.received_at, entry.direction, entry.bytes); !status)
      return status;
  }
  return (*writer)->close();
}

}  // namespace
}  // namespace idlewave::wire

int main(int argc, char** argv) {
  if (argc != 2) return std::fprintf(stderr, "usage: iw-write-hostile-session FILE\n"), 2;
  const auto written = idlewave::wire::write_session(argv[1]);
  if (!written) return std::fprintf(stderr, "%s\n", written.error().message.c_str()), 1;
  return 0;
}
