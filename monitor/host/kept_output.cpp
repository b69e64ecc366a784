#include "monitor/host/kept_output.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <utility>

#include "monitor/host/host_record.h"
#include "monitor/host/names.h"
#include "probe/session/files.h"

namespace idlewave::host {
namespace {

namespace fs = std::filesystem;

constexpr off_t kRoom = 16 << 20;   ///< Of disk, ahead of what is printed.
constexpr off_t kLeast = 4 << 20;   ///< Of the latest that stays where there is no more room.
constexpr off_t kMost = 256 << 20;  ///< Of the latest that stays: the folder may lie in memory, which is the program's.
constexpr off_t kAligned = 1 << 20;  ///< Pieces of files begin at such places.

}  // namespace

wire::Result<KeptOutput> KeptOutput::open(const std::string& session) {
  const std::string path = kept_output_path(session);
  KeptOutput output(path, ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0600));
  if (output.fd_ < 0) return wire::Error{fmt::format("{}: {}", path, std::strerror(errno))};
  if (const wire::Status room = output.make_room(); !room) return room.error();
  return output;
}

KeptOutput::KeptOutput(KeptOutput&& other) noexcept
    : path_(std::move(other.path_)), fd_(std::exchange(other.fd_, -1)), room_(other.room_), dropped_(other.dropped_) {}

KeptOutput::~KeptOutput() {
  if (fd_ >= 0) close(fd_);
}

/// File systems that can't set any aside have what they have.
wire::Status KeptOutput::make_room() {
  if (room_ < 0) return wire::ok();
  const off_t size = lseek(fd_, 0, SEEK_END);
  grown_ = size - std::exchange(seen_, size);
  if (size + kRoom / 2 < room_) return wire::ok();
  drop_up_to(size - kMost);
  while (fallocate(fd_, FALLOC_FL_KEEP_SIZE, size, kRoom) != 0 && errno != EOPNOTSUPP) {
    const int why = errno;
    if (drop_up_to(std::min(dropped_ + kRoom / 2, size - kLeast))) continue;
    room_ = -1;
    errno = why;
    return wire::Error{fmt::format("{}: no room to keep what the program prints ({}); --output FILE puts it elsewhere",
                                   path_, std::strerror(errno))};
  }
  room_ = size + kRoom;
  return wire::ok();
}

/// The oldest, of which the file keeps no more than the length.
bool KeptOutput::drop_up_to(off_t end) {
  end -= end % kAligned;
  if (end <= dropped_) return false;
  if (fallocate(fd_, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, dropped_, end - dropped_) != 0) return false;
  dropped_ = end;
  return true;
}

void KeptOutput::leave_copy(const std::string& session) const {
  std::error_code failed;
  if (fs::file_size(path_, failed) == 0 || failed) return;
  for (const fs::path& folder : {fs::current_path(failed), fs::path(std::getenv("HOME") ? std::getenv("HOME") : "/")}) {
    if (copy_to(folder / free_file_name(session, ".out"))) return;
  }
}

/// Of a copy that could not be finished nothing stays.
bool KeptOutput::copy_to(const std::string& path) const {
  const int copy = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (copy < 0) return false;
  const int kept = ::open(path_.c_str(), O_RDONLY | O_CLOEXEC);
  const bool whole = kept >= 0 && read_kept(kept, [copy](std::string_view piece) {
                       return session::write_all(copy, piece.data(), piece.size());
                     });
  if (kept >= 0) close(kept);
  close(copy);
  if (!whole) unlink(path.c_str());
  return whole;
}

off_t first_kept(int fd) { return std::max<off_t>(lseek(fd, 0, SEEK_DATA), 0); }

bool read_kept(int fd, const std::function<bool(std::string_view)>& take) {
  std::array<char, 1 << 16> bytes{};
  off_t at = first_kept(fd);
  for (ssize_t got = 0; (got = pread(fd, bytes.data(), bytes.size(), at)) > 0; at += got)
    if (!take({bytes.data(), std::size_t(got)})) return false;
  return true;
}

}  // namespace idlewave::host
