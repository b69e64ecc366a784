#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "probe/wire/crc32c.h"
#include "probe/wire/frame_log.h"
#include "probe/wire/frame_log_format.h"
#include "probe/wire/varint.h"

namespace idlewave::wire {
namespace {

constexpr std::size_t kScanBytes = 64u << 10;

struct DecompressorDeleter {
  void operator()(ZSTD_DCtx* context) const { ZSTD_freeDCtx(context); }
};

struct TableEntry {
  Nanoseconds received_at{};
  Direction direction = Direction::kReceived;
  std::uint64_t size = 0;
};

// Reads the table at the front of a block's content. False if it does not add up with the bytes behind it.
bool read_table(ByteReader& in, std::uint32_t entries, std::vector<TableEntry>& table) {
  if (entries > in.remaining() / 2) return false;
  table.resize(entries);
  std::uint64_t time = 0, total = 0;
  for (TableEntry& entry : table) {
    time += unzigzag(in.varint());
    const std::uint64_t word = in.varint();
    entry = {Nanoseconds(static_cast<std::int64_t>(time)), static_cast<Direction>(word & 1), word >> 1};
    if (entry.size > kMaxFrameBytes) return false;
    total += entry.size;
  }
  return in.ok() && total == in.remaining();
}

}  // namespace

struct FrameLogReader::Impl {
  Impl(std::string file_path, int file) : path(std::move(file_path)), fd(file), decompressor(ZSTD_createDCtx()) {}
  ~Impl() { ::close(fd); }

  bool read(std::uint64_t offset, std::span<std::byte> out);
  void open_blocks(std::uint64_t header_bytes);
  void read_index();
  void rebuild_index();
  bool read_block_header(std::uint64_t offset, BlockHeader& block);
  std::uint64_t find_block(std::uint64_t from);
  bool at_end(std::uint64_t offset);
  bool next_header(BlockHeader& block);
  bool load_payload(const BlockHeader& block);
  bool load_block();
  void note(std::uint64_t offset, const char* what);
  void note_skipped(std::uint64_t first_number, std::uint64_t end_number);
  void note_times(std::int64_t first, std::int64_t last);

  std::string path;
  int fd;
  std::uint64_t file_bytes = 0;
  std::uint64_t blocks_begin = 0;
  std::uint64_t blocks_end = 0;  // Where the index begins; without one the end of the file.
  int version = kFrameLogVersion;
  FrameLogHeader header;
  FrameLogDamage damage;
  std::vector<IndexEntry> index;

  std::uint64_t total_blocks = 0;  // As the index says; 0 if it can't be read.

  std::uint64_t position = 0;         // Of the next block.
  std::uint64_t expected_number = 0;  // That the next block should have.
  bool jumped = false;                // It may have any number.
  std::unique_ptr<ZSTD_DCtx, DecompressorDeleter> decompressor;
  std::vector<std::byte> payload;
  std::vector<std::byte> content;
  std::vector<TableEntry> table;
  std::size_t next_entry = 0;
  std::size_t next_byte = 0;
};

bool FrameLogReader::Impl::read(std::uint64_t offset, std::span<std::byte> out) {
  if (offset > file_bytes || out.size() > file_bytes - offset) return false;
  while (!out.empty()) {
    const ssize_t got = ::pread(fd, out.data(), out.size(), static_cast<off_t>(offset));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    out = out.subspan(static_cast<std::size_t>(got));
    offset += static_cast<std::uint64_t>(got);
  }
  return true;
}

void FrameLogReader::Impl::note(std::uint64_t offset, const char* what) {
  if (damage.first.empty()) damage.first = path + ": " + what + " at byte " + std::to_string(offset);
}

void FrameLogReader::Impl::note_times(std::int64_t first, std::int64_t last) {
  damage.from = std::min(damage.from, Nanoseconds(first));
  damage.to = std::max(damage.to, Nanoseconds(last));
}

/// Of blocks without a header the file's index knows the times.
void FrameLogReader::Impl::note_skipped(std::uint64_t first_number, std::uint64_t end_number) {
  damage.blocks_skipped += end_number - first_number;
  if (total_blocks == 0 || end_number > index.size()) return void(damage.has_times = false);
  note_times(index[first_number].first, index[end_number - 1].last);
}

void FrameLogReader::Impl::read_index() {
  std::array<std::byte, kTrailerBytes> tail;
  Trailer trailer;
  if (file_bytes >= kTrailerBytes && read(file_bytes - kTrailerBytes, tail) && decode_trailer(tail, trailer) &&
      trailer.index_offset >= blocks_begin &&
      trailer.index_offset + trailer.index_bytes + kTrailerBytes == file_bytes) {
    std::vector<std::byte> bytes(trailer.index_bytes);
    blocks_end = trailer.index_offset;
    if (read(blocks_end, bytes) && decode_index(bytes, index)) {
      total_blocks = index.size();
      return;
    }
    note(blocks_end, "the index is damaged");
  } else {
    damage.cut = true;
    note(file_bytes, "the recording was not closed or is cut; it ends");
  }
  rebuild_index();
}

void FrameLogReader::Impl::rebuild_index() {
  BlockHeader block;
  std::uint64_t at = find_block(blocks_begin);
  while (read_block_header(at, block)) {
    const std::uint64_t end = at + kBlockHeaderBytes + block.payload_bytes;
    if (end <= blocks_end) index.push_back({at, block.first, block.last});
    at = find_block(end);
  }
}

bool FrameLogReader::Impl::read_block_header(std::uint64_t offset, BlockHeader& block) {
  std::array<std::byte, kBlockHeaderBytes> bytes;
  return offset + kBlockHeaderBytes <= blocks_end && read(offset, bytes) && decode_block_header(bytes, block);
}

// First sound block header at or after `from`; blocks_end if there is none.
std::uint64_t FrameLogReader::Impl::find_block(std::uint64_t from) {
  std::vector<std::byte> chunk;
  BlockHeader block;
  while (from + kBlockHeaderBytes <= blocks_end) {
    chunk.resize(std::min<std::uint64_t>(kScanBytes, blocks_end - from));
    if (!read(from, chunk)) break;
    const std::size_t starts = chunk.size() - sizeof kBlockMagic + 1;
    for (std::size_t i = 0; i < starts; ++i) {
      if (load_u32(chunk.data() + i) == kBlockMagic && read_block_header(from + i, block)) return from + i;
    }
    from += starts;
  }
  return blocks_end;
}

// Nothing but the remains of an index, which hold no frames.
bool FrameLogReader::Impl::at_end(std::uint64_t offset) {
  std::array<std::byte, 4> magic;
  return offset >= blocks_end || (damage.cut && read(offset, magic) && load_u32(magic.data()) == kIndexMagic);
}

// Moves `position` to the next sound block header. False at the end.
bool FrameLogReader::Impl::next_header(BlockHeader& block) {
  if (!at_end(position) && !read_block_header(position, block)) {
    note(position, "damaged");
    const std::uint64_t found = find_block(position + 1);
    damage.bytes_skipped += found - position;
    position = found;
  }
  const bool found = !at_end(position) && read_block_header(position, block);
  const std::uint64_t number = found ? block.number : std::max(total_blocks, expected_number);
  if (number > expected_number && !jumped) note_skipped(expected_number, number);
  expected_number = found ? number + 1 : number;
  jumped = false;
  return found;
}

bool FrameLogReader::Impl::load_payload(const BlockHeader& block) {
  payload.resize(block.payload_bytes);
  if (position + kBlockHeaderBytes + block.payload_bytes > blocks_end) return false;
  if (!read(position + kBlockHeaderBytes, payload) || crc32c(payload) != block.payload_checksum) return false;
  if (ZSTD_getFrameContentSize(payload.data(), payload.size()) != block.content_bytes) return false;
  content.resize(block.content_bytes);
  const std::size_t size =
      ZSTD_decompressDCtx(decompressor.get(), content.data(), content.size(), payload.data(), payload.size());
  if (ZSTD_isError(size) || size != content.size()) return false;
  ByteReader in(content);
  if (!read_table(in, block.entries, table)) return false;
  next_entry = 0;
  next_byte = content.size() - in.remaining();
  return true;
}

bool FrameLogReader::Impl::load_block() {
  BlockHeader block;
  while (next_header(block)) {
    const std::uint64_t end = position + kBlockHeaderBytes + block.payload_bytes;
    const bool sound = load_payload(block);
    if (!sound) {
      note(position, "damaged block");
      ++damage.blocks_skipped;
      note_times(block.first, block.last);
      damage.bytes_skipped += std::min(end, blocks_end) - position;
      table.clear();
      next_entry = 0;
    }
    position = std::min(end, blocks_end);
    if (sound) return true;
  }
  return false;
}

FrameLogReader::FrameLogReader(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
FrameLogReader::~FrameLogReader() = default;

Result<std::unique_ptr<FrameLogReader>> FrameLogReader::open(const std::string& path) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) return Error{"can't open " + system_error(path, errno)};
  auto impl = std::make_unique<Impl>(path, fd);
  struct stat info = {};
  if (::fstat(fd, &info) != 0) return Error{"can't open " + system_error(path, errno)};
  if (!S_ISREG(info.st_mode)) return Error{path + " is not a file"};
  if (info.st_size == 0) return Error{path + " is empty; nothing was recorded"};
  impl->file_bytes = impl->blocks_end = static_cast<std::uint64_t>(info.st_size);

  std::array<std::byte, kPreambleBytes> preamble;
  if (!impl->read(0, preamble) || std::memcmp(preamble.data(), kFileMagic.data(), kFileMagic.size()) != 0) {
    return Error{path + " is not an idlewave session file"};
  }
  const std::uint32_t version = load_u32(preamble.data() + 8);
  if (version < kOldestFrameLogVersion || version > kFrameLogVersion) {
    return Error{path + " was written by format version " + std::to_string(version) + "; this program reads " +
                 std::to_string(kOldestFrameLogVersion) + " and " + std::to_string(kFrameLogVersion)};
  }
  impl->version = static_cast<int>(version);
  impl->open_blocks(load_u32(preamble.data() + 12));
  return std::unique_ptr<FrameLogReader>(new FrameLogReader(std::move(impl)));
}

void FrameLogReader::Impl::open_blocks(std::uint64_t header_bytes) {
  std::vector<std::byte> bytes(std::min<std::uint64_t>(header_bytes, kMaxHeaderBytes) + sizeof(std::uint32_t));
  const std::span<const std::byte> map(bytes.data(), bytes.size() - sizeof(std::uint32_t));
  if (header_bytes <= kMaxHeaderBytes && read(kPreambleBytes, bytes) &&
      load_u32(map.data() + map.size()) == crc32c(map) && decode_header_map(map, header)) {
    blocks_begin = kPreambleBytes + bytes.size();
  } else {
    note(kPreambleBytes, "damaged header");
    blocks_begin = find_block(kPreambleBytes);
  }
  position = blocks_begin;
  read_index();
}

const FrameLogHeader& FrameLogReader::header() const { return impl_->header; }
int FrameLogReader::format_version() const { return impl_->version; }
const FrameLogDamage& FrameLogReader::damage() const { return impl_->damage; }

bool FrameLogReader::next(FrameLogEntry& entry) {
  while (impl_->next_entry == impl_->table.size()) {
    if (!impl_->load_block()) return false;
  }
  const TableEntry& found = impl_->table[impl_->next_entry++];
  const std::byte* const begin = impl_->content.data() + impl_->next_byte;
  entry.received_at = found.received_at;
  entry.direction = found.direction;
  entry.bytes.assign(begin, begin + found.size);
  impl_->next_byte += found.size;
  return true;
}

void FrameLogReader::seek(Nanoseconds time) {
  const auto late_enough = [&](const IndexEntry& block) { return block.last >= time.count(); };
  const auto found = std::find_if(impl_->index.begin(), impl_->index.end(), late_enough);
  impl_->position = found == impl_->index.end() ? impl_->blocks_end : found->offset;
  impl_->jumped = true;
  impl_->table.clear();
  impl_->next_entry = 0;
}

Nanoseconds FrameLogReader::duration() const {
  std::int64_t last = 0;
  for (const IndexEntry& block : impl_->index) last = std::max(last, block.last);
  return Nanoseconds(last);
}

}  // namespace idlewave::wire
