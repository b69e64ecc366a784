// Recordings of every version so far stay readable.

#include <gtest/gtest.h>

#include "tests/wire/example_session.h"

namespace idlewave::wire {
namespace {

TEST(GoldenSession, OfVersion1IsReadAsItWasWritten) {
  auto reader = FrameLogReader::open(IDLEWAVE_SOURCE_DIR "/tests/golden/session-v1.iw");
  ASSERT_TRUE(reader) << reader.error().message;
  EXPECT_EQ((*reader)->header(), example_header());
  std::vector<FrameLogEntry> entries;
  for (FrameLogEntry entry; (*reader)->next(entry);) entries.push_back(entry);
  EXPECT_EQ(entries, golden_entries());
  EXPECT_EQ((*reader)->damage().first, "");
}

TEST(GoldenSession, HoldsFramesThatCanBeUnderstood) {
  auto reader = FrameLogReader::open(IDLEWAVE_SOURCE_DIR "/tests/golden/session-v1.iw");
  ASSERT_TRUE(reader) << reader.error().message;
  EventDecoder decoder;
  std::size_t events = 0;
  for (FrameLogEntry entry; (*reader)->next(entry);) {
    const auto frame = decode(entry.bytes);
    ASSERT_TRUE(frame) << frame.error().message;
    const auto* body = std::get_if<Events>(&frame->body);
    if (body == nullptr || body->blob.empty()) continue;
    const auto batches = decoder.decode(body->blob);
    ASSERT_TRUE(batches) << batches.error().message;
    for (const LaneBatch& batch : *batches) events += batch.events.size();
  }
  EXPECT_EQ(events, 12u);
}

}  // namespace
}  // namespace idlewave::wire
