// iw-print-frames FILE: the frames of a recording, a line each: whether it was received or sent, and its bytes.

#include <cstdio>

#include "probe/wire/frame_log.h"

int main(int argc, char** argv) {
  using namespace idlewave::wire;
  if (argc != 2) return std::fprintf(stderr, "usage: iw-print-frames FILE\n"), 2;
  auto reader = FrameLogReader::open(argv[1]);
  if (!reader) return std::fprintf(stderr, "%s\n", reader.error().message.c_str()), 2;
  for (FrameLogEntry entry; (*reader)->next(entry);) {
    std::printf("%s ", entry.direction == Direction::kReceived ? "received" : "sent");
    for (const std::byte byte : entry.bytes) std::printf("%02x", unsigned(byte));
    std::printf("\n");
  }
  return 0;
}
