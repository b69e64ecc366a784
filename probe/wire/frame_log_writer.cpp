#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <optional>

#include "probe/wire/crc32c.h"
#include "probe/wire/frame_log.h"
#include "probe/wire/frame_log_format.h"
#include "probe/wire/varint.h"

namespace idlewave::wire {
namespace {

constexpr int kCompressionLevel = 9;

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

}  // namespace

struct FrameLogWriter::Impl {
  Impl(std::string file_path, int file) : path(std::move(file_path)), fd(file), compressor(ZSTD_createCCtx()) {}
  ~Impl() {
    if (fd >= 0) ::close(fd);
  }

  Status write_safely(std::span<const std::byte> head, std::span<const std::byte> tail);
  Status fail(int error);
  Status end_block();
  Status finish();

  std::string path;
  int fd = -1;
  std::uint64_t safe_bytes = 0;  // End of the last complete part of the file.
  std::optional<Error> failure;  // Once set, nothing is written any more.
  std::vector<IndexEntry> index;

  // The block under construction: a table with two numbers per entry, and the entries' bytes.
  std::vector<std::byte> table;
  std::vector<std::byte> data;
  std::vector<std::byte> payload;
  BlockHeader block;
  std::int64_t previous_time = 0;
  std::unique_ptr<ZSTD_CCtx, CompressorDeleter> compressor;
};

Status FrameLogWriter::Impl::fail(int error) {
  // What was written in part goes, so that the file ends with its last complete block.
  const bool truncated = ::ftruncate(fd, static_cast<off_t>(safe_bytes)) == 0;
  std::string message = "can't write " + system_error(path, error);
  message += index.empty() ? "; nothing was recorded" : "; recorded until " + seconds(index.back().last);
  if (!truncated) message += " (the file ends with a damaged block, which readers skip)";
  failure = Error{message};
  return *failure;
}

Status FrameLogWriter::Impl::write_safely(std::span<const std::byte> head, std::span<const std::byte> tail) {
  if (const int error = write_all(fd, head)) return fail(error);
  if (const int error = write_all(fd, tail)) return fail(error);
  safe_bytes += head.size() + tail.size();
  return ok();
}

Status FrameLogWriter::Impl::end_block() {
  if (failure) return *failure;
  if (block.entries == 0) return ok();
  table.insert(table.end(), data.begin(), data.end());
  payload.resize(ZSTD_compressBound(table.size()));
  const std::size_t size = ZSTD_compressCCtx(compressor.get(), payload.data(), payload.size(), table.data(),
                                             table.size(), kCompressionLevel);
  if (ZSTD_isError(size)) return fail(ENOMEM);
  block.content_bytes = static_cast<std::uint32_t>(table.size());
  block.payload_bytes = static_cast<std::uint32_t>(size);
  const std::span<const std::byte> packed(payload.data(), size);
  block.payload_checksum = crc32c(packed);
  const std::uint64_t offset = safe_bytes;
  if (Status status = write_safely(encode_block_header(block), packed); !status) return status;
  index.push_back({offset, block.first, block.last});
  block = {.number = block.number + 1};
  table.clear();
  data.clear();
  previous_time = 0;
  return ok();
}

Status FrameLogWriter::Impl::finish() {
  if (fd < 0) return failure ? Status(*failure) : ok();
  Status status = end_block();
  if (status) status = write_safely(encode_index(index, safe_bytes), {});
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
  if (Status status = impl->write_safely(encode_file_header(header), {}); !status) {
    if (made) ::unlink(path.c_str());
    return status.error();
  }
  return std::unique_ptr<FrameLogWriter>(new FrameLogWriter(std::move(impl)));
}

Status FrameLogWriter::append(Nanoseconds received_at, Direction direction, std::span<const std::byte> bytes) {
  if (impl_->failure) return *impl_->failure;
  assert(impl_->fd >= 0 && "append after close");
  if (bytes.size() > kMaxFrameBytes)
    return Error{"a frame of " + std::to_string(bytes.size()) + " bytes is too large to record"};
  const std::int64_t time = received_at.count();
  BlockHeader& block = impl_->block;
  block.first = block.entries == 0 ? time : std::min(block.first, time);
  block.last = block.entries == 0 ? time : std::max(block.last, time);
  append_varint(impl_->table,
                zigzag(static_cast<std::uint64_t>(time) - static_cast<std::uint64_t>(impl_->previous_time)));
  append_varint(impl_->table, bytes.size() << 1 | static_cast<std::uint64_t>(direction));
  impl_->data.insert(impl_->data.end(), bytes.begin(), bytes.end());
  impl_->previous_time = time;
  ++block.entries;
  return impl_->table.size() + impl_->data.size() >= kBlockTarget ? impl_->end_block() : ok();
}

Status FrameLogWriter::flush() { return impl_->end_block(); }

Status FrameLogWriter::close() { return impl_->finish(); }

std::uint64_t FrameLogWriter::bytes_written() const { return impl_->safe_bytes; }

}  // namespace idlewave::wire
