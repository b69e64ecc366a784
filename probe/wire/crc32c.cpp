#include "probe/wire/crc32c.h"

#include <array>

namespace idlewave::wire {
namespace {

constexpr std::uint32_t kReflectedPolynomial = 0x82F63B78;

// Four bytes a round: table[k][b] is the remainder of byte b followed by k zero bytes.
using Tables = std::array<std::array<std::uint32_t, 256>, 4>;

constexpr Tables make_tables() {
  Tables tables{};
  for (std::uint32_t byte = 0; byte < 256; ++byte) {
    std::uint32_t rest = byte;
    for (int bit = 0; bit < 8; ++bit) rest = rest >> 1 ^ ((rest & 1) != 0 ? kReflectedPolynomial : 0);
    tables[0][byte] = rest;
  }
  for (std::size_t k = 1; k < tables.size(); ++k) {
    for (std::size_t byte = 0; byte < 256; ++byte) {
      const std::uint32_t rest = tables[k - 1][byte];
      tables[k][byte] = rest >> 8 ^ tables[0][rest & 0xff];
    }
  }
  return tables;
}

constexpr Tables kTables = make_tables();

}  // namespace

std::uint32_t crc32c(std::span<const std::byte> bytes) {
  const auto at = [&](std::size_t i) { return static_cast<std::uint32_t>(bytes[i]); };
  std::uint32_t rest = 0xFFFFFFFF;
  std::size_t i = 0;
  for (; i + 4 <= bytes.size(); i += 4) {
    rest ^= at(i) | at(i + 1) << 8 | at(i + 2) << 16 | at(i + 3) << 24;
    rest =
        kTables[3][rest & 0xff] ^ kTables[2][rest >> 8 & 0xff] ^ kTables[1][rest >> 16 & 0xff] ^ kTables[0][rest >> 24];
  }
  for (; i < bytes.size(); ++i) rest = rest >> 8 ^ kTables[0][(rest ^ at(i)) & 0xff];
  return ~rest;
}

}  // namespace idlewave::wire
