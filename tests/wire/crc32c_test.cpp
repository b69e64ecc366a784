#include "probe/wire/crc32c.h"

#include <gtest/gtest.h>

#include <string_view>
#include <vector>

namespace idlewave::wire {
namespace {

// RFC 3720, section B.4.
TEST(Crc32c, GivesTheChecksumsOfItsStandard) {
  std::vector<std::byte> bytes(32, std::byte{0});
  EXPECT_EQ(crc32c(bytes), 0x8A9136AAu);
  bytes.assign(32, std::byte{0xFF});
  EXPECT_EQ(crc32c(bytes), 0x62A8AB43u);
  for (int i = 0; i < 32; ++i) bytes[static_cast<std::size_t>(i)] = static_cast<std::byte>(i);
  EXPECT_EQ(crc32c(bytes), 0x46DD794Eu);
}

TEST(Crc32c, TakesAnyLength) {
  constexpr std::string_view kDigits = "123456789";
  EXPECT_EQ(crc32c(std::as_bytes(std::span(kDigits))), 0xE3069283u);
  EXPECT_EQ(crc32c({}), 0u);
}

}  // namespace
}  // namespace idlewave::wire
