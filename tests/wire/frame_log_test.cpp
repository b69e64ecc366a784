#include "probe/wire/frame_log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>

#include "tests/wire/files.h"
#include "tests/wire/random_frames.h"

namespace idlewave::wire {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

const FrameLogHeader kHeader = {"0.1.0", "lesson-1", "node17, 2 cores", "idlewave run --record s.iw",
                                1'700'000'000'000'000'000};

// What a file holds, and the number of entries after which each block ended.
struct Recording {
  std::vector<FrameLogEntry> entries;
  std::vector<std::size_t> block_ends;
  std::vector<std::uint64_t> block_offsets;  // Where each block ends in the file.
};

FrameLogEntry random_entry(Random& random, std::int64_t time) {
  const auto direction = random.once_in(10) ? Direction::kSent : Direction::kReceived;
  return {Nanoseconds(time), direction, random_bytes(random, random.any(9))};
}

Recording write_recording(const std::string& path, std::uint64_t seed, int blocks, int most_entries) {
  Random random(seed);
  auto writer = FrameLogWriter::create(path, kHeader);
  EXPECT_TRUE(writer) << writer.error().message;
  Recording recording;
  std::int64_t time = 0;
  for (int block = 0; block < blocks; ++block) {
    for (std::uint64_t i = 1 + random.below(static_cast<std::uint64_t>(most_entries)); i > 0; --i) {
      time += static_cast<std::int64_t>(random.any(30));
      recording.entries.push_back(random_entry(random, time));
      const FrameLogEntry& entry = recording.entries.back();
      EXPECT_TRUE((*writer)->append(entry.received_at, entry.direction, entry.bytes));
    }
    EXPECT_TRUE((*writer)->flush());
    recording.block_ends.push_back(recording.entries.size());
    recording.block_offsets.push_back((*writer)->bytes_written());
  }
  EXPECT_TRUE((*writer)->close());
  return recording;
}

std::unique_ptr<FrameLogReader> open_sound(const std::string& path) {
  auto reader = FrameLogReader::open(path);
  EXPECT_TRUE(reader) << reader.error().message;
  return std::move(*reader);
}

std::vector<FrameLogEntry> rest_of(FrameLogReader& reader) {
  std::vector<FrameLogEntry> entries;
  for (FrameLogEntry entry; reader.next(entry);) entries.push_back(entry);
  return entries;
}

std::string open_error(const std::string& path) {
  const auto reader = FrameLogReader::open(path);
  return reader ? "no error" : reader.error().message;
}

std::vector<FrameLogEntry> first(const std::vector<FrameLogEntry>& entries, std::size_t count) {
  return {entries.begin(), entries.begin() + static_cast<std::ptrdiff_t>(count)};
}

TEST(FrameLog, GivesBackEveryEntryByteForByte) {
  const TemporaryFolder folder;
  const Recording written = write_recording(folder.file("s.iw"), 1, 20, 30);
  const auto reader = open_sound(folder.file("s.iw"));
  EXPECT_EQ(reader->header(), kHeader);
  EXPECT_EQ(rest_of(*reader), written.entries);
  EXPECT_EQ(reader->damage().blocks_skipped, 0u);
  EXPECT_EQ(reader->damage().bytes_skipped, 0u);
  EXPECT_FALSE(reader->damage().cut);
  EXPECT_EQ(reader->damage().first, "");
}

TEST(FrameLog, HoldsAFrameOfTheLargestSize) {
  const TemporaryFolder folder;
  Random random(5);
  const FrameLogEntry entry{Nanoseconds(7), Direction::kReceived, random_bytes(random, kMaxFrameBytes)};
  auto writer = FrameLogWriter::create(folder.file("s.iw"), kHeader);
  ASSERT_TRUE(writer);
  EXPECT_TRUE((*writer)->append(entry.received_at, entry.direction, entry.bytes));
  EXPECT_FALSE((*writer)->append(entry.received_at, entry.direction, std::vector<std::byte>(kMaxFrameBytes + 1)));
  EXPECT_TRUE((*writer)->close());
  EXPECT_EQ(rest_of(*open_sound(folder.file("s.iw"))), std::vector<FrameLogEntry>{entry});
}

TEST(FrameLog, TakesTimesThatGoBack) {
  const TemporaryFolder folder;
  auto writer = FrameLogWriter::create(folder.file("s.iw"), kHeader);
  ASSERT_TRUE(writer);
  for (const std::int64_t time : {5L, INT64_MAX, INT64_MIN, 3L})
    EXPECT_TRUE((*writer)->append(Nanoseconds(time), Direction::kSent, {}));
  EXPECT_TRUE((*writer)->close());
  std::vector<std::int64_t> times;
  for (const FrameLogEntry& entry : rest_of(*open_sound(folder.file("s.iw"))))
    times.push_back(entry.received_at.count());
  EXPECT_THAT(times, testing::ElementsAre(5, INT64_MAX, INT64_MIN, 3));
}

TEST(FrameLog, IsReadableWhileItIsWritten) {
  const TemporaryFolder folder;
  auto writer = FrameLogWriter::create(folder.file("s.iw"), kHeader);
  ASSERT_TRUE(writer);
  EXPECT_TRUE((*writer)->append(Nanoseconds(1), Direction::kSent, {}));
  EXPECT_TRUE((*writer)->flush());
  EXPECT_TRUE((*writer)->append(Nanoseconds(2), Direction::kSent, {}));
  const auto reader = open_sound(folder.file("s.iw"));
  EXPECT_EQ(rest_of(*reader).size(), 1u);
  EXPECT_TRUE(reader->damage().cut);
}

TEST(FrameLog, OfNothingIsReadAsNothing) {
  const TemporaryFolder folder;
  { ASSERT_TRUE(FrameLogWriter::create(folder.file("s.iw"), kHeader)); }
  const auto reader = open_sound(folder.file("s.iw"));
  EXPECT_TRUE(rest_of(*reader).empty());
  EXPECT_EQ(reader->duration(), Nanoseconds(0));
  EXPECT_FALSE(reader->damage().cut);
}

// ---- seeking

void expect_seeks_like_a_scan(const std::string& path, const Recording& written) {
  const auto reader = open_sound(path);
  EXPECT_EQ(reader->duration(), written.entries.back().received_at);
  for (std::size_t i = 0; i < written.entries.size(); i += 7) {
    const Nanoseconds time = written.entries[i].received_at;
    std::size_t block = 0;
    while (written.entries[written.block_ends[block] - 1].received_at < time) ++block;
    const std::size_t skipped = block == 0 ? 0 : written.block_ends[block - 1];
    reader->seek(time);
    EXPECT_EQ(rest_of(*reader).size(), written.entries.size() - skipped) << i;
  }
  reader->seek(reader->duration() + Nanoseconds(1));
  EXPECT_TRUE(rest_of(*reader).empty());
  reader->seek(Nanoseconds(0));
  EXPECT_EQ(rest_of(*reader), written.entries);
  EXPECT_EQ(reader->damage().blocks_skipped, 0u);
}

TEST(FrameLogReader, SeeksToTheBlockThatHoldsATime) {
  const TemporaryFolder folder;
  const Recording written = write_recording(folder.file("s.iw"), 2, 20, 10);
  expect_seeks_like_a_scan(folder.file("s.iw"), written);
}

TEST(FrameLogReader, SeeksWithoutAnIndex) {
  const TemporaryFolder folder;
  const Recording written = write_recording(folder.file("s.iw"), 3, 20, 10);
  std::filesystem::resize_file(folder.file("s.iw"), written.block_offsets.back());
  expect_seeks_like_a_scan(folder.file("s.iw"), written);
}

// ---- damage

TEST(FrameLogReader, LosesAtMostTheLastBlockOfAFileCutAnywhere) {
  const TemporaryFolder folder;
  const Recording written = write_recording(folder.file("whole.iw"), 4, 5, 4);
  const std::vector<std::byte> whole = read_file(folder.file("whole.iw"));
  const std::string path = folder.file("cut.iw");
  for (std::size_t size = 16; size < whole.size(); ++size) {
    SCOPED_TRACE(size);
    write_file(path, std::span(whole).first(size));
    std::size_t survivors = 0;
    for (std::size_t block = 0; block < written.block_ends.size(); ++block) {
      if (written.block_offsets[block] <= size) survivors = written.block_ends[block];
    }
    const auto reader = open_sound(path);
    ASSERT_EQ(rest_of(*reader), first(written.entries, survivors));
    EXPECT_TRUE(reader->damage().cut);
    EXPECT_NE(reader->damage().first, "");
  }
}

// True if `part` can be made from `whole` by leaving out entries.
bool is_part_of(const std::vector<FrameLogEntry>& part, const std::vector<FrameLogEntry>& whole) {
  std::size_t found = 0;
  for (const FrameLogEntry& entry : whole) found += found < part.size() && part[found] == entry;
  return found == part.size();
}

TEST(FrameLogReader, LosesOneBlockPerFlippedBitAndInventsNothing) {
  const TemporaryFolder folder;
  const Recording written = write_recording(folder.file("whole.iw"), 5, 40, 20);
  const std::vector<std::byte> whole = read_file(folder.file("whole.iw"));
  std::size_t most = 0, placed = 0;
  for (std::size_t i = 1; i < written.block_ends.size(); ++i)
    most = std::max(most, written.block_ends[i] - written.block_ends[i - 1]);
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    std::vector<std::byte> flipped = whole;
    const std::size_t at = 12 + random.below(whole.size() - 12);
    flipped[at] ^= std::byte{1} << random.below(8);
    write_file(folder.file("flipped.iw"), flipped);
    const auto reader = open_sound(folder.file("flipped.iw"));
    const std::vector<FrameLogEntry> left = rest_of(*reader);
    ASSERT_TRUE(is_part_of(left, written.entries));
    ASSERT_GE(left.size() + most, written.entries.size());
    ASSERT_NE(reader->damage().first, "");
    ASSERT_EQ(reader->damage().blocks_skipped, left.size() < written.entries.size() ? 1u : 0u);
    const std::size_t lost = written.entries.size() - left.size();
    if (lost == 0 || !reader->damage().has_times) continue;
    std::size_t first = 0;
    while (first < left.size() && left[first] == written.entries[first]) ++first;
    EXPECT_LE(reader->damage().from, written.entries[first].received_at);
    EXPECT_GE(reader->damage().to, written.entries[first + lost - 1].received_at);
    ++placed;
  }
  EXPECT_GT(placed, 200u);
}

TEST(FrameLogReader, CountsABlockThatIsMissing) {
  const TemporaryFolder folder;
  const Recording written = write_recording(folder.file("whole.iw"), 6, 5, 4);
  const std::vector<std::byte> whole = read_file(folder.file("whole.iw"));
  std::vector<std::byte> without(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(written.block_offsets[1]));
  without.insert(without.end(), whole.begin() + static_cast<std::ptrdiff_t>(written.block_offsets[2]), whole.end());
  write_file(folder.file("without.iw"), without);
  const auto reader = open_sound(folder.file("without.iw"));
  EXPECT_EQ(rest_of(*reader).size(), written.entries.size() - (written.block_ends[2] - written.block_ends[1]));
  EXPECT_EQ(reader->damage().blocks_skipped, 1u);
}

TEST(FrameLogReader, ReadsOnAfterRandomBytesBetweenBlocks) {
  const TemporaryFolder folder;
  const Recording written = write_recording(folder.file("whole.iw"), 7, 5, 4);
  const std::vector<std::byte> whole = read_file(folder.file("whole.iw"));
  Random random(7);
  const std::vector<std::byte> noise = random_bytes(random, 200'000);
  std::vector<std::byte> mixed(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(written.block_offsets[1]));
  mixed.insert(mixed.end(), noise.begin(), noise.end());
  mixed.insert(mixed.end(), whole.begin() + static_cast<std::ptrdiff_t>(written.block_offsets[1]), whole.end());
  write_file(folder.file("mixed.iw"), mixed);
  const auto reader = open_sound(folder.file("mixed.iw"));
  EXPECT_EQ(rest_of(*reader), written.entries);
  EXPECT_EQ(reader->damage().bytes_skipped, noise.size());
}

TEST(FrameLogReader, ReadsTheBlocksBehindADamagedHeader) {
  const TemporaryFolder folder;
  const Recording written = write_recording(folder.file("s.iw"), 8, 5, 4);
  std::vector<std::byte> bytes = read_file(folder.file("s.iw"));
  bytes[14] ^= std::byte{0x40};  // the header's size
  write_file(folder.file("s.iw"), bytes);
  const auto reader = open_sound(folder.file("s.iw"));
  EXPECT_EQ(rest_of(*reader), written.entries);
  EXPECT_EQ(reader->header(), FrameLogHeader{});
  EXPECT_THAT(reader->damage().first, HasSubstr("damaged header"));
}

// ---- refusals, each one clear line

TEST(FrameLogReader, RefusesAFileThatIsNoSession) {
  const TemporaryFolder folder;
  const std::string path = folder.file("x");
  for (const std::size_t size : {1u, 15u, 16u, 5000u}) {
    write_file(path, std::vector<std::byte>(size, std::byte{'x'}));
    EXPECT_EQ(open_error(path), path + " is not an idlewave session file");
  }
}

TEST(FrameLogReader, RefusesAnEmptyFile) {
  const TemporaryFolder folder;
  write_file(folder.file("x"), {});
  EXPECT_EQ(open_error(folder.file("x")), folder.file("x") + " is empty; nothing was recorded");
}

TEST(FrameLogReader, RefusesAnotherVersionByItsNumber) {
  const TemporaryFolder folder;
  write_recording(folder.file("s.iw"), 9, 2, 2);
  std::vector<std::byte> bytes = read_file(folder.file("s.iw"));
  bytes[8] = std::byte{9};
  write_file(folder.file("s.iw"), bytes);
  EXPECT_EQ(open_error(folder.file("s.iw")),
            folder.file("s.iw") + " was written by format version 9; this program reads 1 and 2");
}

TEST(FrameLogReader, RefusesWhatIsMissing) {
  EXPECT_EQ(open_error("/nowhere/s.iw"), "can't open /nowhere/s.iw: No such file or directory");
}

TEST(FrameLogReader, RefusesAFolder) {
  const TemporaryFolder folder;
  EXPECT_EQ(open_error(folder.file("")), folder.file("") + " is not a file");
}

TEST(FrameLogReader, RefusesAPipeWithoutWaitingForIt) {
  const TemporaryFolder folder;
  ASSERT_EQ(::mkfifo(folder.file("pipe").c_str(), 0600), 0);
  EXPECT_EQ(open_error(folder.file("pipe")), folder.file("pipe") + " is not a file");
}

TEST(FrameLogWriter, LeavesAnExistingFileAlone) {
  const TemporaryFolder folder;
  const std::vector<std::byte> precious(3, std::byte{42});
  write_file(folder.file("s.iw"), precious);
  const auto writer = FrameLogWriter::create(folder.file("s.iw"), kHeader);
  ASSERT_FALSE(writer);
  EXPECT_EQ(writer.error().message, folder.file("s.iw") + " exists; choose another name");
  EXPECT_EQ(read_file(folder.file("s.iw")), precious);
}

TEST(FrameLogWriter, FillsAnEmptyFile) {
  const TemporaryFolder folder;
  write_file(folder.file("s.iw"), {});
  EXPECT_TRUE(FrameLogWriter::create(folder.file("s.iw"), kHeader));
}

TEST(FrameLogWriter, RefusesAFolderThatIsMissing) {
  const auto writer = FrameLogWriter::create("/nowhere/s.iw", kHeader);
  ASSERT_FALSE(writer);
  EXPECT_EQ(writer.error().message, "can't make /nowhere/s.iw: No such file or directory");
}

TEST(FrameLogWriter, RefusesADevice) {
  const auto writer = FrameLogWriter::create("/dev/full", kHeader);
  ASSERT_FALSE(writer);
  EXPECT_EQ(writer.error().message, "/dev/full is not a regular file");
}

// ---- a full disk

// While it lives, no file of this process grows beyond `bytes`; the signal that would end the process is ignored.
class FileSizeLimit {
 public:
  explicit FileSizeLimit(std::uint64_t bytes) : handler_(std::signal(SIGXFSZ, SIG_IGN)) {
    ::getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit limit{bytes, before_.rlim_max};
    EXPECT_EQ(::setrlimit(RLIMIT_FSIZE, &limit), 0);
  }
  ~FileSizeLimit() {
    ::setrlimit(RLIMIT_FSIZE, &before_);
    std::signal(SIGXFSZ, handler_);
  }

 private:
  void (*handler_)(int);
  rlimit before_ = {};
};

TEST(FrameLogWriter, KeepsWhatWasWrittenWhenTheDiskIsFull) {
  const TemporaryFolder folder;
  const std::string path = folder.file("s.iw");
  for (std::uint64_t seed = 1; seed <= 30; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    std::filesystem::remove(path);
    std::vector<FrameLogEntry> safe, pending;
    Status status = ok();
    {
      const FileSizeLimit limit(300 + random.below(20'000));
      auto writer = FrameLogWriter::create(path, kHeader);
      ASSERT_TRUE(writer) << writer.error().message;
      for (std::int64_t time = 0; status; ++time) {
        pending.push_back(random_entry(random, time));
        status = (*writer)->append(pending.back().received_at, pending.back().direction, pending.back().bytes);
        if (status && random.once_in(10) && (status = (*writer)->flush())) {
          safe.insert(safe.end(), pending.begin(), pending.end());
          pending.clear();
        }
      }
      EXPECT_THAT(status.error().message, StartsWith("can't write " + path + ": File too large; "));
      EXPECT_EQ((*writer)->append(Nanoseconds(0), Direction::kSent, {}).error().message, status.error().message);
      EXPECT_EQ((*writer)->close().error().message, status.error().message);
      EXPECT_EQ((*writer)->bytes_written(), std::filesystem::file_size(path));
    }
    const auto reader = open_sound(path);
    const std::vector<FrameLogEntry> read = rest_of(*reader);
    ASSERT_GE(read.size(), safe.size());
    ASSERT_LT(read.size(), safe.size() + pending.size());
    safe.insert(safe.end(), pending.begin(), pending.begin() + static_cast<std::ptrdiff_t>(read.size() - safe.size()));
    ASSERT_EQ(read, safe);
    EXPECT_EQ(reader->damage().blocks_skipped, 0u);
    EXPECT_EQ(reader->damage().bytes_skipped, 0u);
  }
}

TEST(FrameLogWriter, WritesAsMuchOfABlockAsFits) {
  const TemporaryFolder folder;
  const std::string path = folder.file("s.iw");
  Random random(7);
  std::vector<FrameLogEntry> entries;
  {
    const FileSizeLimit limit(50'000);
    auto writer = FrameLogWriter::create(path, kHeader);
    ASSERT_TRUE(writer);
    for (int i = 0; i < 100; ++i) {
      entries.push_back({std::chrono::seconds(i), Direction::kReceived, random_bytes(random, 1000)});
      ASSERT_TRUE((*writer)->append(entries.back().received_at, Direction::kReceived, entries.back().bytes));
    }
    const Status status = (*writer)->flush();
    ASSERT_FALSE(status);
    EXPECT_THAT(status.error().message, HasSubstr("File too large; recorded until 4"));
  }
  const std::vector<FrameLogEntry> read = rest_of(*open_sound(path));
  ASSERT_GE(read.size(), 46u);  // Each takes 1000 bytes, a block's header 44.
  entries.resize(read.size());
  EXPECT_EQ(read, entries);
}

TEST(FrameLogWriter, SaysUntilWhenTheRecordingIsSafe) {
  const TemporaryFolder folder;
  const FileSizeLimit limit(1000);
  auto writer = FrameLogWriter::create(folder.file("s.iw"), kHeader);
  ASSERT_TRUE(writer);
  Random random(1);
  EXPECT_TRUE((*writer)->append(std::chrono::milliseconds(12'300), Direction::kReceived, random_bytes(random, 10)));
  EXPECT_TRUE((*writer)->flush());
  EXPECT_TRUE((*writer)->append(std::chrono::seconds(20), Direction::kReceived, random_bytes(random, 2000)));
  EXPECT_THAT((*writer)->flush().error().message, HasSubstr("; recorded until 12.3 s"));
}

TEST(FrameLogWriter, SaysWhatOthersHaveDoneToTheFile) {
  const TemporaryFolder folder;
  const std::string path = folder.file("s.iw"), elsewhere = folder.file("t.iw");
  const auto after = [&](auto done) {
    auto writer = FrameLogWriter::create(path, kHeader);
    Random random(1);
    EXPECT_TRUE((*writer)->append(std::chrono::seconds(1), Direction::kReceived, random_bytes(random, 10)));
    EXPECT_TRUE((*writer)->flush());
    done();
    const auto closed = (*writer)->close();
    std::filesystem::remove(path);
    return closed ? "" : closed.error().message;
  };
  EXPECT_THAT(after([&] { std::filesystem::remove(path); }), HasSubstr("was deleted while it was written"));
  for (const std::uintmax_t size : {0, 20, 100'000})
    EXPECT_THAT(after([&] { std::filesystem::resize_file(path, size); }), HasSubstr("was changed by another program"));
  EXPECT_EQ(after([&] { std::filesystem::rename(path, elsewhere); }), "") << "it is whole there";
  EXPECT_EQ(rest_of(*open_sound(elsewhere)).size(), 1u);
}

TEST(FrameLogWriter, LeavesNoFileBehindThatCouldNotEvenBegin) {
  const TemporaryFolder folder;
  const FileSizeLimit limit(10);
  EXPECT_FALSE(FrameLogWriter::create(folder.file("s.iw"), kHeader));
  EXPECT_FALSE(std::filesystem::exists(folder.file("s.iw")));
}

}  // namespace
}  // namespace idlewave::wire
