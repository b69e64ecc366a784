#pragma once
// CRC-32C (Castagnoli), as in RFC 3720 section B.4: reflected, polynomial 0x1EDC6F41, initial value and final
// exclusive-or 0xFFFFFFFF.

#include <cstddef>
#include <cstdint>
#include <span>

namespace idlewave::wire {

std::uint32_t crc32c(std::span<const std::byte> bytes);

}  // namespace idlewave::wire
