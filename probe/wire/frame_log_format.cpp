#include "probe/wire/frame_log_format.h"

#include <cassert>
#include <limits>
#include <system_error>

#include "probe/wire/crc32c.h"
#include "probe/wire/packed.h"

namespace idlewave::wire {
namespace {

constexpr std::size_t kMaxHeaderText = 4096;

template <class T>
std::byte* put(std::byte* to, T value) {
  auto rest = static_cast<std::make_unsigned_t<T>>(value);
  for (std::size_t i = 0; i < sizeof(T); ++i) *to++ = static_cast<std::byte>(rest >> 8 * i);
  return to;
}

template <class T>
const std::byte* get(const std::byte* from, T& value) {
  std::make_unsigned_t<T> rest = 0;
  for (std::size_t i = 0; i < sizeof(T); ++i) rest |= static_cast<std::make_unsigned_t<T>>(*from++) << 8 * i;
  value = static_cast<T>(rest);
  return from;
}

}  // namespace

std::uint32_t load_u32(const std::byte* from) {
  std::uint32_t value = 0;
  get(from, value);
  return value;
}

std::string system_error(const std::string& path, int error) {
  return path + ": " + std::generic_category().message(error);
}

std::vector<std::byte> encode_file_header(const FrameLogHeader& header) {
  std::vector<std::byte> map;
  PackWriter out(map);
  out.map(5);
  out.text("program_version", header.program_version, kMaxHeaderText);
  out.text("session", header.session, kMaxHeaderText);
  out.text("machine", header.machine, kMaxHeaderText);
  out.text("command_line", header.command_line, kMaxHeaderText);
  out.integer("unix_time_ns", header.unix_time_ns);

  std::vector<std::byte> bytes(kPreambleBytes + map.size() + sizeof(std::uint32_t));
  std::byte* to = bytes.data();
  for (const std::uint8_t byte : kFileMagic) *to++ = static_cast<std::byte>(byte);
  to = put(to, std::uint32_t{kFrameLogVersion});
  to = put(to, static_cast<std::uint32_t>(map.size()));
  to = std::copy(map.begin(), map.end(), to);
  put(to, crc32c(map));
  return bytes;
}

bool decode_header_map(std::span<const std::byte> map, FrameLogHeader& header) {
  Packed packed;
  if (!packed.parse(map)) return false;
  std::string error;
  MapReader in(packed.root(), "header", error);
  header.program_version = in.text("program_version", kMaxHeaderText);
  header.session = in.text("session", kMaxHeaderText);
  header.machine = in.text("machine", kMaxHeaderText);
  header.command_line = in.text("command_line", kMaxHeaderText);
  header.unix_time_ns =
      in.integer("unix_time_ns", std::numeric_limits<std::int64_t>::min(), std::numeric_limits<std::int64_t>::max());
  return in.ok();
}

std::array<std::byte, kBlockHeaderBytes> encode_block_header(const BlockHeader& header) {
  std::array<std::byte, kBlockHeaderBytes> bytes;
  std::byte* to = put(bytes.data(), kBlockMagic);
  to = put(to, header.number);
  to = put(to, header.content_bytes);
  to = put(to, header.payload_bytes);
  to = put(to, header.entries);
  to = put(to, header.first);
  to = put(to, header.last);
  to = put(to, header.payload_checksum);
  put(to, crc32c(std::span(bytes).first(kBlockHeaderBytes - sizeof(std::uint32_t))));
  return bytes;
}

bool decode_block_header(std::span<const std::byte> bytes, BlockHeader& header) {
  assert(bytes.size() == kBlockHeaderBytes);
  std::uint32_t magic = 0, checksum = 0;
  const std::byte* from = get(bytes.data(), magic);
  from = get(from, header.number);
  from = get(from, header.content_bytes);
  from = get(from, header.payload_bytes);
  from = get(from, header.entries);
  from = get(from, header.first);
  from = get(from, header.last);
  from = get(from, header.payload_checksum);
  get(from, checksum);
  return magic == kBlockMagic && checksum == crc32c(bytes.first(kBlockHeaderBytes - sizeof checksum)) &&
         header.content_bytes <= kMaxBlockBytes && header.payload_bytes <= kMaxBlockBytes;
}

std::vector<std::byte> encode_index(const std::vector<IndexEntry>& entries, std::uint64_t offset) {
  const std::size_t index_bytes = kIndexHeadBytes + entries.size() * kIndexEntryBytes + sizeof(std::uint32_t);
  std::vector<std::byte> bytes(index_bytes + kTrailerBytes);
  std::byte* to = put(bytes.data(), kIndexMagic);
  to = put(to, static_cast<std::uint32_t>(entries.size()));
  for (const IndexEntry& entry : entries) to = put(put(put(to, entry.offset), entry.first), entry.last);
  to = put(to, crc32c(std::span(bytes).first(index_bytes - sizeof(std::uint32_t))));
  std::byte* const trailer = to;
  to = put(put(to, offset), static_cast<std::uint32_t>(index_bytes));
  put(put(to, crc32c({trailer, to})), kTrailerMagic);
  return bytes;
}

bool decode_trailer(std::span<const std::byte> bytes, Trailer& trailer) {
  assert(bytes.size() == kTrailerBytes);
  std::uint32_t checksum = 0, magic = 0;
  const std::byte* from = get(bytes.data(), trailer.index_offset);
  from = get(from, trailer.index_bytes);
  get(get(from, checksum), magic);
  return magic == kTrailerMagic && checksum == crc32c({bytes.data(), from});
}

bool decode_index(std::span<const std::byte> bytes, std::vector<IndexEntry>& entries) {
  if (bytes.size() < kIndexHeadBytes + sizeof(std::uint32_t)) return false;
  const std::span<const std::byte> checked = bytes.first(bytes.size() - sizeof(std::uint32_t));
  std::uint32_t magic = 0, count = 0;
  const std::byte* from = get(get(bytes.data(), magic), count);
  if (magic != kIndexMagic || checked.size() - kIndexHeadBytes != std::uint64_t{count} * kIndexEntryBytes) return false;
  if (load_u32(checked.data() + checked.size()) != crc32c(checked)) return false;
  entries.resize(count);
  for (IndexEntry& entry : entries) from = get(get(get(from, entry.offset), entry.first), entry.last);
  return true;
}

}  // namespace idlewave::wire
