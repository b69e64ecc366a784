#include "probe/wire/varint.h"

#include <gtest/gtest.h>

#include "tests/wire/random_frames.h"

namespace idlewave::wire {
namespace {

// As its definition says, byte by byte.
std::vector<std::byte> slow_varint(std::uint64_t value) {
  std::vector<std::byte> bytes;
  do {
    bytes.push_back(static_cast<std::byte>((value & 0x7F) | (value > 0x7F ? 0x80 : 0)));
    value >>= 7;
  } while (value != 0);
  return bytes;
}

TEST(Varint, IsWhatItsDefinitionSays) {
  Random random(1);
  for (int i = 0; i < 100'000; ++i) {
    const std::uint64_t value = random.any(64);
    std::vector<std::byte> bytes;
    append_varint(bytes, value);
    ASSERT_EQ(bytes, slow_varint(value)) << value;
  }
}

TEST(Varint, ComesBackWhateverFollows) {
  Random random(2);
  for (int i = 0; i < 100'000; ++i) {
    const std::uint64_t value = random.any(64);
    std::vector<std::byte> bytes;
    append_varint(bytes, value);
    const std::size_t behind = random.below(5);
    bytes.resize(bytes.size() + behind, std::byte{0xFF});
    ByteReader in(bytes);
    ASSERT_EQ(in.varint(), value);
    ASSERT_EQ(in.remaining(), behind);
  }
}

TEST(Varint, IsRefusedWhenCut) {
  for (int bits = 8; bits <= 64; ++bits) {
    std::vector<std::byte> bytes;
    append_varint(bytes, ~std::uint64_t{0} >> (64 - bits));
    bytes.pop_back();
    ByteReader in(bytes);
    EXPECT_EQ(in.varint(), 0u);
    EXPECT_FALSE(in.ok()) << bits;
  }
}

TEST(Varint, IsRefusedBeyond64Bits) {
  std::vector<std::byte> bytes(9, std::byte{0xFF});
  bytes.push_back(std::byte{0x02});
  ByteReader in(bytes);
  in.varint();
  EXPECT_FALSE(in.ok());
}

TEST(Zigzag, KeepsSmallNumbersOfBothSignsSmall) {
  EXPECT_EQ(zigzag(0), 0u);
  EXPECT_EQ(zigzag(static_cast<std::uint64_t>(-1)), 1u);
  EXPECT_EQ(zigzag(1), 2u);
  EXPECT_EQ(zigzag(static_cast<std::uint64_t>(INT64_MIN)), UINT64_MAX);
  EXPECT_EQ(unzigzag(zigzag(static_cast<std::uint64_t>(-123456))), static_cast<std::uint64_t>(-123456));
}

}  // namespace
}  // namespace idlewave::wire
