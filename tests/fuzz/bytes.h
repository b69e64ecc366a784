#pragma once
// An input of a fuzzer, taken piece by piece. Where it is used up there are zeros, so that every input means something.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <span>
#include <string>
#include <vector>

namespace idlewave::fuzz {

class Bytes {
 public:
  Bytes(const std::uint8_t* data, std::size_t size) : rest_(data, size) {}

  bool empty() const { return rest_.empty(); }
  std::uint8_t byte() {
    if (rest_.empty()) return 0;
    const std::uint8_t first = rest_.front();
    rest_ = rest_.subspan(1);
    return first;
  }
  std::uint32_t below(std::uint32_t limit) { return limit <= 256 ? byte() % limit : (byte() << 8 | byte()) % limit; }
  bool flag() { return (byte() & 1) != 0; }

  /// Small ones, any, and those at which sums overflow.
  std::int64_t number() {
    constexpr std::int64_t kEdges[] = {-1,
                                       0,
                                       1,
                                       1'000'000'000,
                                       std::int64_t{1} << 31,
                                       std::int64_t{1} << 47,
                                       std::int64_t{1} << 62,
                                       std::numeric_limits<std::int64_t>::max(),
                                       std::numeric_limits<std::int64_t>::min(),
                                       3'000'000'000'000'000'000};
    const std::uint8_t kind = byte();
    if (kind < 160) return kind;
    if (kind < 160 + std::size(kEdges)) return kEdges[kind - 160];
    if (kind < 220) return std::int64_t{byte()} * 1'000'000;
    std::int64_t value = 0;
    for (int i = 0; i < 8; ++i) value = std::int64_t(std::uint64_t(value) << 8 | byte());
    return value;
  }
  double real() {
    const std::uint8_t kind = byte();
    if (kind < 128) return kind * 1e9;
    double value = 0;
    const auto bits = std::uint64_t(number());
    std::memcpy(&value, &bits, sizeof value);
    return value;
  }

  std::span<const std::uint8_t> take(std::size_t size) {
    const auto taken = rest_.first(std::min(size, rest_.size()));
    rest_ = rest_.subspan(taken.size());
    return taken;
  }
  std::span<const std::uint8_t> rest() { return take(rest_.size()); }
  std::string text(std::size_t most) {
    const auto bytes = take(below(std::uint32_t(most) + 1));
    return {bytes.begin(), bytes.end()};
  }

 private:
  std::span<const std::uint8_t> rest_;
};

inline std::vector<std::byte> as_bytes(std::span<const std::uint8_t> bytes) {
  const auto* begin = reinterpret_cast<const std::byte*>(bytes.data());
  return {begin, begin + bytes.size()};
}
inline std::string_view as_text(std::span<const std::uint8_t> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

}  // namespace idlewave::fuzz
