// iw-write-golden-session FILE: writes the session of tests/golden anew. Only for a change of format, together with its
// document and version; the file it replaces stays, under its version's name, for the tests of old recordings.

#include <cstdio>

#include "tests/wire/example_session.h"

int main(int argc, char** argv) {
  using namespace idlewave::wire;
  if (argc != 2) return std::fprintf(stderr, "usage: iw-write-golden-session FILE\n"), 2;
  auto writer = FrameLogWriter::create(argv[1], example_header());
  if (!writer) return std::fprintf(stderr, "%s\n", writer.error().message.c_str()), 1;
  std::size_t count = 0;
  Status status = ok();
  for (const FrameLogEntry& entry : golden_entries()) {
    if (status) status = (*writer)->append(entry.received_at, entry.direction, entry.bytes);
    if (status && ++count == kGoldenFirstBlock) status = (*writer)->flush();
  }
  if (status) status = (*writer)->close();
  if (!status) return std::fprintf(stderr, "%s\n", status.error().message.c_str()), 1;
  return 0;
}
