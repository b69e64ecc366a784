#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <optional>
#include <utility>

#include "probe/wire/crc32c.h"
#include "probe/wire/frame_log.h"
#include "probe/wire/frame_log_format.h"
#include "probe/wire/varint.h"

namespace idlewave::wire {
namespace {

constexpr int kCompressionLevel = 3;  // At 9 files are 4 % smaller, for five times the processor time.

// 0, or the error number that ended it. Short writes go on; so do interrupted ones.
int write_all(int fd, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(fd, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return written < 0 ? errno : EIO;
    bytes = bytes.subspan(static_cast<std::size_t>(written));
  }
  return 0;
}

std::string seconds(std::int64_t ns) {
  char text[32];
  std::snprintf(text, sizeof text, "%.1f s", static_cast<double>(ns) / 1e9);
  return text;
}

struct CompressorDeleter {
  void operator()(ZSTD_CCtx* context) const { ZSTD_freeCCtx(context); }
};

/// An entry of the block under construction; its bytes lie in the block's data, one behind the other.
struct Pending {
  std::int64_t time = 0;
  std::size_t size = 0;
  Direction direction = Direction::kReceived;
};

constexpr std::size_t kTableBytesAnEntry = 5;  // About: two short numbers.

/// The table with two numbers for each entry.
std::vector<std::byte> encode_table(std::span<const Pending> entries) {
  std::vector<std::byte> table;
  std::uint64_t previous = 0;
  for (const Pending& entry : entries) {
    const auto time = static_cast<std::uint64_t>(entry.time);
    append_varint(table, zigzag(time - std::exchange(previous, time)));
    append_varint(table, entry.size << 1 | static_cast<std::uint64_t>(entry.direction));
  }
  return table;
}

bool is_same_file(const struct stat& one, int fd) {
  struct stat other = {};
  return ::fstat(fd, &other) == 0 && one.st_dev == other.st_dev && one.st_ino == other.st_ino;
}

bool is_lack_of_space(int error) { return error == ENOSPC || error == EDQUOT || error == EFBIG; }

}  // namespace

struct FrameLogWriter::Impl {
  Impl(std::string file_path, int file) : path(std::move(file_path)), fd(file), compressor(ZSTD_createCCtx()) {}
  ~Impl() {
    if (fd >= 0) ::close(fd);
  }

  int write_whole(std::span<const std::byte> head, std::span<const std::byte> tail);
  int write_block(std::span<const Pending> block, std::span<const std::byte> block_data);
  int write_blocks(std::span<const Pending> block, std::span<const std::byte> block_data);
  Status fail(int error);
  Status look_for_others();
  Status end_block();
  Status finish();

  std::string path;
  int fd = -1;
  bool had_name = false;         // When it was opened, as memory (memfd_create) has none.
  std::uint64_t safe_bytes = 0;  // End of the last complete part of the file.
  bool ragged = false;           // A part that was not written whole could not be taken back.
  std::optional<Error> failure;  // Once set, nothing is written any more.
  std::vector<IndexEntry> index;

  // The block under construction.
  std::vector<Pending> entries;
  std::vector<std::byte> data;
  std::unique_ptr<ZSTD_CCtx, CompressorDeleter> compressor;
  std::vector<std::byte> payload;
};

Status FrameLogWriter::Impl::fail(int error) {
  std::string message = "can't write " + system_error(path, error);
  message += index.empty() ? "; nothing was recorded" : "; recorded until " + seconds(index.back().last);
  if (ragged) message += " (the file ends with a damaged block, which readers skip)";
  failure = Error{message};
  return *failure;
}

/// Who cleans up may have taken the file away, or cut it: written is then to nowhere, or behind a hole.
Status FrameLogWriter::Impl::look_for_others() {
  struct stat info = {};
  if (failure || fd < 0 || ragged || ::fstat(fd, &info) != 0) return ok();
  if (had_name && info.st_nlink == 0)
    failure = Error{path + " was deleted while it was written; nothing is left of the recording"};
  else if (static_cast<std::uint64_t>(info.st_size) != safe_bytes)
    failure = Error{path + " was changed by another program while it was written; 'idlewave info --check " + path +
                    "' says what is left"};
  return failure ? Status(*failure) : ok();
}

/// Both parts or none: the file always ends with its last complete part. 0, or the error number.
int FrameLogWriter::Impl::write_whole(std::span<const std::byte> head, std::span<const std::byte> tail) {
  int error = write_all(fd, head);
  if (error == 0) error = write_all(fd, tail);
  if (error == 0) {
    safe_bytes += head.size() + tail.size();
  } else {
    const auto end = static_cast<off_t>(safe_bytes);
    ragged = ::ftruncate(fd, end) != 0 || ::lseek(fd, end, SEEK_SET) != end;
  }
  return error;
}

int FrameLogWriter::Impl::write_block(std::span<const Pending> block, std::span<const std::byte> block_data) {
  std::vector<std::byte> content = encode_table(block);
  content.insert(content.end(), block_data.begin(), block_data.end());
  payload.resize(ZSTD_compressBound(content.size()));
  const std::size_t size = ZSTD_compressCCtx(compressor.get(), payload.data(), payload.size(), content.data(),
                                             content.size(), kCompressionLevel);
  if (ZSTD_isError(size)) return ENOMEM;
  const std::span<const std::byte> packed(payload.data(), size);
  const auto [first, last] = std::ranges::minmax(block, {}, &Pending::time);
  const BlockHeader header = {.number = static_cast<std::uint32_t>(index.size()),
                              .content_bytes = static_cast<std::uint32_t>(content.size()),
                              .payload_bytes = static_cast<std::uint32_t>(size),
                              .entries = static_cast<std::uint32_t>(block.size()),
                              .first = first.time,
                              .last = last.time,
                              .payload_checksum = crc32c(packed)};
  const std::uint64_t offset = safe_bytes;
  if (const int error = write_whole(encode_block_header(header), packed)) return error;
  index.push_back({offset, header.first, header.last});
  return 0;
}

/// Where the disk has no room for the whole, as much from the front as fits.
int FrameLogWriter::Impl::write_blocks(std::span<const Pending> block, std::span<const std::byte> block_data) {
  const int error = write_block(block, block_data);
  if (!is_lack_of_space(error) || ragged || block.size() == 1) return error;
  const auto front = block.first(block.size() / 2);
  std::size_t front_bytes = 0;
  for (const Pending& entry : front) front_bytes += entry.size;
  if (const int still = write_blocks(front, block_data.first(front_bytes))) return still;
  return write_blocks(block.subspan(front.size()), block_data.subspan(front_bytes));
}

Status FrameLogWriter::Impl::end_block() {
  if (auto alone = look_for_others(); !alone) return alone;
  if (failure) return *failure;
  if (entries.empty()) return ok();
  if (const int error = write_blocks(entries, data)) return fail(error);
  entries.clear();
  data.clear();
  return ok();
}

Status FrameLogWriter::Impl::finish() {
  if (fd < 0) return failure ? Status(*failure) : ok();
  Status status = end_block();
  if (status) {
    if (const int error = write_whole(encode_index(index, safe_bytes), {})) status = fail(error);
  }
  const int closed = ::close(std::exchange(fd, -1));
  if (status && closed != 0) failure = Error{"can't finish " + system_error(path, errno)};
  return failure ? Status(*failure) : ok();
}

FrameLogWriter::FrameLogWriter(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

FrameLogWriter::~FrameLogWriter() { static_cast<void>(close()); }

Result<std::unique_ptr<FrameLogWriter>> FrameLogWriter::create(const std::string& path, const FrameLogHeader& header) {
  int fd = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  const bool made = fd >= 0;
  if (fd < 0 && errno == EEXIST) fd = ::open(path.c_str(), O_WRONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) return Error{"can't make " + system_error(path, errno)};
  auto impl = std::make_unique<Impl>(path, fd);
  struct stat info = {};
  if (::fstat(fd, &info) != 0 || !S_ISREG(info.st_mode)) return Error{path + " is not a regular file"};
  if (info.st_size != 0) return Error{path + " exists; choose another name"};
  // What is printed there and the recording would overwrite each other.
  if (is_same_file(info, STDOUT_FILENO) || is_same_file(info, STDERR_FILENO))
    return Error{path + " is where this prints to; choose another name"};
  impl->had_name = info.st_nlink > 0;
  if (const int error = impl->write_whole(encode_file_header(header), {})) {
    if (made) ::unlink(path.c_str());
    return impl->fail(error).error();
  }
  return std::unique_ptr<FrameLogWriter>(new FrameLogWriter(std::move(impl)));
}

Status FrameLogWriter::append(Nanoseconds received_at, Direction direction, std::span<const std::byte> bytes) {
  if (impl_->failure) return *impl_->failure;
  assert(impl_->fd >= 0 && "append after close");
  if (bytes.size() > kMaxFrameBytes)
    return Error{"a frame of " + std::to_string(bytes.size()) + " bytes is too large to record"};
  impl_->entries.push_back({received_at.count(), bytes.size(), direction});
  impl_->data.insert(impl_->data.end(), bytes.begin(), bytes.end());
  const std::size_t content = impl_->data.size() + impl_->entries.size() * kTableBytesAnEntry;
  return content >= kBlockTarget ? impl_->end_block() : ok();
}

Status FrameLogWriter::flush() { return impl_->end_block(); }

Status FrameLogWriter::close() { return impl_->finish(); }

std::uint64_t FrameLogWriter::bytes_written() const { return impl_->safe_bytes; }

}  // namespace idlewave::wire
