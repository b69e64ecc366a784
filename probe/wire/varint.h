#pragma once
// Whole numbers in few bytes: LEB128, least significant seven bits first, the highest bit set on all bytes but the
// last; signed numbers by zigzag. Shared by the event blob, the rank lists of a frame and the blocks of a recording.

#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace idlewave::wire {

inline constexpr std::size_t kMaxVarintBytes = 10;

constexpr std::uint64_t zigzag(std::uint64_t difference) { return difference << 1 ^ -(difference >> 63); }
constexpr std::uint64_t unzigzag(std::uint64_t coded) { return coded >> 1 ^ -(coded & 1); }

/// Writes to memory that has room for kMaxVarintBytes, and returns the new end. One byte is the usual case; between two
/// and four, where noise makes the length unpredictable, there is no branch on it.
inline std::byte* put_varint(std::byte* to, std::uint64_t value) {
  if (value < 0x80) {
    *to = static_cast<std::byte>(value);
    return to + 1;
  }
  for (; value >> 28 != 0; value >>= 7) *to++ = static_cast<std::byte>(value | 0x80);
  const auto narrow = static_cast<std::uint32_t>(value);
  const unsigned second = narrow >> 7 != 0, third = narrow >> 14 != 0, fourth = narrow >> 21 != 0;
  std::uint32_t spread = (narrow & 0x00003FFF) | (narrow & 0x0FFFC000) << 2;
  spread = (spread & 0x007F007F) | (spread & 0x3F803F80) << 1;
  spread |= second << 7 | third << 15 | fourth << 23;
  for (int i = 0; i < 4; ++i) to[i] = static_cast<std::byte>(spread >> 8 * i);
  return to + 1 + second + third + fourth;
}

inline void append_varint(std::vector<std::byte>& out, std::uint64_t value) {
  std::byte bytes[kMaxVarintBytes + 3];
  out.insert(out.end(), bytes, put_varint(bytes, value));
}

/// Reads bytes from front to back and never beyond the end. What fails stays failed: reads after it give 0, so that a
/// caller may check once.
class ByteReader {
 public:
  explicit ByteReader(std::span<const std::byte> bytes)
      : at_(bytes.empty() ? &kNothing : bytes.data()), end_(at_ + bytes.size()) {}

  bool ok() const { return at_ != nullptr; }
  std::size_t remaining() const { return static_cast<std::size_t>(end_ - at_); }

  std::uint8_t byte() {
    if (at_ == end_) return fail();
    return static_cast<std::uint8_t>(*at_++);
  }

  /// Refuses what does not fit into 64 bits. Made for the same lengths as put_varint.
  [[gnu::always_inline]] std::uint64_t varint() {
    if (remaining() < 4) return long_varint();
    const auto at = [&](int i) { return static_cast<std::uint32_t>(at_[i]); };
    const std::uint32_t word = at(0) | at(1) << 8 | at(2) << 16 | at(3) << 24;
    if ((word & 0x80) == 0) return ++at_, word & 0x7F;
    const std::uint32_t ends = ~word & 0x80808080;
    if (ends == 0) return long_varint();
    at_ += (static_cast<unsigned>(std::countr_zero(ends)) + 1) / 8;
    std::uint32_t packed = word & (ends ^ (ends - 1)) & 0x7F7F7F7F;
    packed = (packed & 0x007F007F) | (packed & 0x7F007F00) >> 1;
    return (packed & 0x00003FFF) | (packed & 0x3FFF0000) >> 2;
  }

  std::span<const std::byte> bytes(std::uint64_t size) {
    if (size > remaining()) return fail(), std::span<const std::byte>{};
    const std::span<const std::byte> taken(at_, static_cast<std::size_t>(size));
    at_ += size;
    return taken;
  }

 private:
  static constexpr std::byte kNothing{};  // Where a reader of no bytes stands; a failed one stands nowhere.

  [[gnu::noinline]] std::uint64_t long_varint() {
    std::uint64_t value = 0;
    for (int shift = 0; shift < 64 && at_ != end_; shift += 7) {
      const auto next = static_cast<std::uint8_t>(*at_++);
      if (shift == 63 && next > 1) break;
      value |= std::uint64_t{next & 0x7fu} << shift;
      if (next < 0x80) return value;
    }
    return fail();
  }

  std::uint8_t fail() {
    at_ = end_ = nullptr;
    return 0;
  }

  const std::byte* at_;
  const std::byte* end_;
};

}  // namespace idlewave::wire
