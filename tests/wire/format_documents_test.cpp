// The worked examples of the format documents are what the code writes and reads.

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "tests/wire/example_session.h"
#include "tests/wire/files.h"

namespace idlewave::wire {
namespace {

// The bytes in the document's fenced block "hex": of each line what stands before ';'.
std::vector<std::byte> example_of(const std::string& document) {
  std::ifstream in(IDLEWAVE_SOURCE_DIR "/docs/" + document);
  EXPECT_TRUE(in) << document;
  std::vector<std::byte> bytes;
  bool inside = false;
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with("```")) {
      inside = line == "```hex";
      continue;
    }
    std::istringstream words(inside ? line.substr(0, line.find(';')) : "");
    for (std::string word; words >> word;) bytes.push_back(static_cast<std::byte>(std::stoi(word, nullptr, 16)));
  }
  return bytes;
}

TEST(WireFormatDocument, ShowsAFrameAsItIsWritten) {
  EXPECT_EQ(example_of("wire-format.md"), encode(example_events_frame()));
}

TEST(WireFormatDocument, ShowsAFrameThatIsRead) {
  const auto frame = decode(example_of("wire-format.md"));
  ASSERT_TRUE(frame) << frame.error().message;
  EXPECT_EQ(*frame, example_events_frame());
  EXPECT_TRUE(EventDecoder().decode(std::get<Events>(frame->body).blob));
}

TEST(RecordingFormatDocument, ShowsAFileAsItIsWritten) {
  const TemporaryFolder folder;
  auto writer = FrameLogWriter::create(folder.file("s.iw"), example_header());
  ASSERT_TRUE(writer) << writer.error().message;
  const FrameLogEntry entry = example_entry(301, example_end_frame());
  EXPECT_TRUE((*writer)->append(entry.received_at, entry.direction, entry.bytes));
  EXPECT_TRUE((*writer)->close());
  EXPECT_EQ(example_of("recording-format.md"), read_file(folder.file("s.iw")));
}

TEST(RecordingFormatDocument, ShowsAFileThatIsRead) {
  const TemporaryFolder folder;
  write_file(folder.file("s.iw"), example_of("recording-format.md"));
  auto reader = FrameLogReader::open(folder.file("s.iw"));
  ASSERT_TRUE(reader) << reader.error().message;
  EXPECT_EQ((*reader)->header(), example_header());
  FrameLogEntry entry;
  ASSERT_TRUE((*reader)->next(entry));
  EXPECT_EQ(entry, example_entry(301, example_end_frame()));
  EXPECT_FALSE((*reader)->next(entry));
  EXPECT_EQ((*reader)->damage().first, "");
}

}  // namespace
}  // namespace idlewave::wire
