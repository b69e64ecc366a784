// Mutated bytes of every kind this program reads from strangers. Bounded and the same every time; run it under the asan
// preset. More rounds: IDLEWAVE_FUZZ_ROUNDS=1000000.

#include <gtest/gtest.h>

#include <cstdlib>

#include "probe/wire/codec.h"
#include "probe/wire/frame.h"
#include "probe/wire/frame_log.h"
#include "tests/wire/files.h"
#include "tests/wire/random_frames.h"

namespace idlewave::wire {
namespace {

std::uint64_t rounds(std::uint64_t usual) {
  const char* wanted = std::getenv("IDLEWAVE_FUZZ_ROUNDS");
  return wanted == nullptr ? usual : std::strtoull(wanted, nullptr, 10);
}

using Bytes = std::vector<std::byte>;

void mutate_once(Bytes& bytes, Random& random) {
  if (bytes.empty()) return bytes.push_back(static_cast<std::byte>(random.bits(8)));
  const auto at = bytes.begin() + static_cast<std::ptrdiff_t>(random.below(bytes.size()));
  const auto length = static_cast<std::ptrdiff_t>(random.any(5)) % (bytes.end() - at) + 1;
  switch (random.below(6)) {
    case 0: *at ^= std::byte{1} << random.below(8); break;
    case 1: *at = static_cast<std::byte>(random.bits(8)); break;
    case 2: *at = std::byte{random.once_in(2) ? std::uint8_t{0xFF} : std::uint8_t{0x7F}}; break;
    case 3: bytes.erase(at, at + length); break;
    case 4: {
      const Bytes copy(at, at + length);
      bytes.insert(bytes.begin() + static_cast<std::ptrdiff_t>(random.below(bytes.size())), copy.begin(), copy.end());
      break;
    }
    default: bytes.resize(random.below(bytes.size()) + 1); break;
  }
}

Bytes mutated(Bytes bytes, Random& random) {
  for (std::uint64_t i = 1 + random.any(3); i > 0; --i) mutate_once(bytes, random);
  bytes.shrink_to_fit();  // So that a sanitizer sees reads beyond the end.
  return bytes;
}

// Whatever was accepted must be written and read as the same thing again.
void expect_stable_events(std::span<const LaneBatch> batches) {
  const std::vector<OwnedBatch> once = own(batches);
  EventDecoder decoder;
  const auto twice = decoder.decode(encoded(once));
  ASSERT_TRUE(twice) << twice.error().message;
  ASSERT_EQ(own(*twice), once);
}

TEST(WireFuzz, EventBlobsAreRefusedOrStable) {
  EventDecoder decoder;
  for (std::uint64_t seed = 1, last = rounds(30'000); seed <= last; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    const Bytes blob = mutated(encoded(random_batches(random, 4, 20)), random);
    if (const auto batches = decoder.decode(blob)) expect_stable_events(*batches);
  }
}

TEST(WireFuzz, FramesAreRefusedOrStable) {
  for (std::uint64_t seed = 1, last = rounds(30'000); seed <= last; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    const auto frame = decode(mutated(encode(random_frame(random)), random));
    if (!frame) {
      ASSERT_NE(frame.error().message, "");
      continue;
    }
    const auto again = decode(encode(*frame));
    ASSERT_TRUE(again) << again.error().message;
    ASSERT_EQ(*again, *frame);
  }
}

TEST(WireFuzz, SessionFilesAreReadToTheirEnd) {
  const TemporaryFolder folder;
  const std::string path = folder.file("s.iw");
  for (std::uint64_t seed = 1, last = rounds(1'500); seed <= last; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    std::filesystem::remove(path);
    auto writer = FrameLogWriter::create(path, {"0", random.text(20), "", "", 0});
    ASSERT_TRUE(writer);
    for (std::int64_t i = 0; i < 20; ++i) {
      ASSERT_TRUE((*writer)->append(Nanoseconds(i), Direction::kReceived, encode(random_frame(random))));
      const bool block_ends = random.once_in(4);
      ASSERT_TRUE(!block_ends || (*writer)->flush());
    }
    ASSERT_TRUE((*writer)->close());
    write_file(path, mutated(read_file(path), random));
    const auto reader = FrameLogReader::open(path);
    if (!reader) continue;
    FrameLogEntry entry;
    std::size_t entries = 0;
    while ((*reader)->next(entry)) ++entries;
    ASSERT_LE(entries, 40u);
    (*reader)->seek(Nanoseconds(10));
    while ((*reader)->next(entry)) ++entries;
  }
}

}  // namespace
}  // namespace idlewave::wire
