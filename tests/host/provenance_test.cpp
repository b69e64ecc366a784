#include "monitor/host/provenance.h"

#include <gtest/gtest.h>

#include <chrono>

namespace idlewave::host {
namespace {

std::int64_t wall_clock_ns() {
  return std::chrono::nanoseconds(std::chrono::system_clock::now().time_since_epoch()).count();
}

/// However long the session had gone on before.
TEST(RecordingHeader, SaysTheWallClockAtTheBeginningOfTheRecording) {
  const std::int64_t before = wall_clock_ns();
  const std::int64_t said = recording_header("session").unix_time_ns;
  EXPECT_GE(said, before);
  EXPECT_LE(said, wall_clock_ns());
}

}  // namespace
}  // namespace idlewave::host
