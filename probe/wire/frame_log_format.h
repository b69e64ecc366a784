#pragma once
// The fixed parts of a session file, shared by its writer and its reader. All numbers are little endian. See
// docs/recording-format.md.
//
//   preamble | header map | checksum | block | block | ... | index | trailer

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "probe/wire/frame.h"
#include "probe/wire/frame_log.h"

namespace idlewave::wire {

inline constexpr std::array<std::uint8_t, 8> kFileMagic = {0x89, 'I', 'W', 'S', 0x0D, 0x0A, 0x1A, 0x0A};
inline constexpr std::uint32_t kBlockMagic = 0x4B4C4277;    // "wBLK"
inline constexpr std::uint32_t kIndexMagic = 0x58444977;    // "wIDX"
inline constexpr std::uint32_t kTrailerMagic = 0x444E4577;  // "wEND"

inline constexpr std::size_t kPreambleBytes = 16;  // magic, version, size of the header map
inline constexpr std::size_t kMaxHeaderBytes = 1u << 16;
inline constexpr std::size_t kBlockHeaderBytes = 44;
inline constexpr std::size_t kIndexEntryBytes = 24;
inline constexpr std::size_t kIndexHeadBytes = 8;        // magic, number of blocks
inline constexpr std::size_t kTrailerBytes = 20;         // index offset, size, checksum of both; magic
inline constexpr std::size_t kBlockTarget = 128u << 10;  // A block ends when its content has grown to this.
inline constexpr std::size_t kMaxBlockBytes = kMaxFrameBytes + (1u << 20);

struct BlockHeader {
  std::uint32_t number = 0;
  std::uint32_t content_bytes = 0;  // before compression
  std::uint32_t payload_bytes = 0;  // in the file
  std::uint32_t entries = 0;
  std::int64_t first = 0;  // smallest and largest received_at, ns
  std::int64_t last = 0;
  std::uint32_t payload_checksum = 0;
};

struct IndexEntry {
  std::uint64_t offset = 0;
  std::int64_t first = 0;
  std::int64_t last = 0;
};

/// Preamble, header map and its checksum.
std::vector<std::byte> encode_file_header(const FrameLogHeader& header);
/// The map alone, as it lies after the preamble.
bool decode_header_map(std::span<const std::byte> map, FrameLogHeader& header);

std::array<std::byte, kBlockHeaderBytes> encode_block_header(const BlockHeader& header);
/// False if magic, checksum or limits don't hold. `bytes` has kBlockHeaderBytes.
bool decode_block_header(std::span<const std::byte> bytes, BlockHeader& header);

/// Index and trailer for an index that begins at `offset`.
std::vector<std::byte> encode_index(const std::vector<IndexEntry>& entries, std::uint64_t offset);

struct Trailer {
  std::uint64_t index_offset = 0;
  std::uint32_t index_bytes = 0;
};
bool decode_trailer(std::span<const std::byte> bytes, Trailer& trailer);
bool decode_index(std::span<const std::byte> bytes, std::vector<IndexEntry>& entries);

std::uint32_t load_u32(const std::byte* from);

/// "recorded.iw: No space left on device"
std::string system_error(const std::string& path, int error);

}  // namespace idlewave::wire
