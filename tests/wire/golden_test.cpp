// Recordings of every version so far stay readable.

#include <gtest/gtest.h>

#include "tests/wire/example_session.h"

namespace idlewave::wire {
namespace {

class GoldenSession : public testing::TestWithParam<int> {
 public:
  static std::unique_ptr<FrameLogReader> open() {
    auto reader =
        FrameLogReader::open(IDLEWAVE_SOURCE_DIR "/tests/golden/session-v" + std::to_string(GetParam()) + ".iw");
    EXPECT_TRUE(reader) << reader.error().message;
    return reader ? std::move(*reader) : nullptr;
  }
};

TEST_P(GoldenSession, IsReadAsItWasWritten) {
  const auto reader = open();
  ASSERT_TRUE(reader);
  EXPECT_EQ(reader->header(), example_header());
  EXPECT_EQ(reader->format_version(), GetParam());
  std::vector<FrameLogEntry> entries;
  for (FrameLogEntry entry; reader->next(entry);) entries.push_back(entry);
  EXPECT_EQ(entries, golden_entries(GetParam()));
  EXPECT_EQ(reader->damage().first, "");
}

TEST_P(GoldenSession, HoldsFramesThatCanBeUnderstood) {
  const auto reader = open();
  ASSERT_TRUE(reader);
  EventDecoder decoder;
  std::size_t events = 0, cycles = 0, said = 0;
  for (FrameLogEntry entry; reader->next(entry);) {
    const auto frame = decode(entry.bytes);
    ASSERT_TRUE(frame) << frame.error().message;
    if (const auto* roster = std::get_if<Roster>(&frame->body)) cycles += roster->cycles.size();
    const auto* body = std::get_if<Events>(&frame->body);
    if (body == nullptr || body->blob.empty()) continue;
    const auto batches = decoder.decode(body->blob);
    ASSERT_TRUE(batches) << batches.error().message;
    for (const LaneBatch& batch : *batches) {
      events += batch.events.size();
      for (const Event& event : batch.events) said += event.kind == EventKind::kPartners;
    }
  }
  const bool says_partners = GetParam() > 1;
  EXPECT_EQ(events, says_partners ? 13u : 12u);
  EXPECT_EQ(cycles, says_partners ? 2u : 0u);
  EXPECT_EQ(said, says_partners ? 1u : 0u);
}

INSTANTIATE_TEST_SUITE_P(OfVersion, GoldenSession, testing::Range(1, kFrameLogVersion + 1));

}  // namespace
}  // namespace idlewave::wire
