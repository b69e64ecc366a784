#include "monitor/host/kept_output.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <utility>

#include "monitor/host/host_record.h"
#include "monitor/host/names.h"

namespace idlewave::host {
namespace {

namespace fs = std::filesystem;

constexpr off_t kRoom = 16 << 20;  ///< Of disk.

}  // namespace

wire::Result<KeptOutput> KeptOutput::open(const std::string& session) {
  const std::string path = kept_output_path(session);
  KeptOutput output(path, ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0600));
  if (output.fd_ < 0) return wire::Error{fmt::format("{}: {}", path, std::strerror(errno))};
  if (const wire::Status room = output.make_room(); !room) return room.error();
  return output;
}

KeptOutput::KeptOutput(KeptOutput&& other) noexcept
    : path_(std::move(other.path_)), fd_(std::exchange(other.fd_, -1)), room_(other.room_) {}

KeptOutput::~KeptOutput() {
  if (fd_ >= 0) close(fd_);
}

/// File systems that can't set any aside have what they have.
wire::Status KeptOutput::make_room() {
  if (room_ < 0) return wire::ok();
  const off_t size = lseek(fd_, 0, SEEK_END);
  if (size + kRoom / 2 < room_) return wire::ok();
  if (fallocate(fd_, FALLOC_FL_KEEP_SIZE, size, kRoom) != 0 && errno != EOPNOTSUPP) {
    room_ = -1;
    return wire::Error{fmt::format("{}: no room to keep what the program prints ({}); --output FILE puts it elsewhere",
                                   path_, std::strerror(errno))};
  }
  room_ = size + kRoom;
  return wire::ok();
}

void KeptOutput::leave_copy(const std::string& session) const {
  std::error_code failed;
  if (fs::file_size(path_, failed) == 0 || failed) return;
  for (const fs::path& folder : {fs::current_path(failed), fs::path(std::getenv("HOME") ? std::getenv("HOME") : "/")}) {
    if (fs::copy_file(path_, folder / free_file_name(session, ".out"), failed); !failed) return;
  }
}

}  // namespace idlewave::host
