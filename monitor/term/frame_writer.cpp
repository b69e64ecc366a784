#include "monitor/term/frame_writer.h"

#include <poll.h>
#include <unistd.h>

#include <cassert>
#include <cerrno>

namespace idlewave::term {
namespace {

// CAN ends an escape sequence that was cut (ECMA-48, and every terminal since the VT100)
constexpr std::string_view kCancel = "\x18";

bool takes_more(int fd, std::chrono::milliseconds patience) {
  pollfd poller{.fd = fd, .events = POLLOUT, .revents = 0};
  return ::poll(&poller, 1, static_cast<int>(patience.count())) == 1 && (poller.revents & POLLOUT) != 0;
}

}  // namespace

std::size_t FrameWriter::put(std::string_view bytes) {
  const ssize_t taken = ::write(fd_, bytes.data(), bytes.size());
  if (taken < 0) {
    broken_ = errno != EAGAIN && errno != EINTR;
    return 0;
  }
  written_ += static_cast<std::uint64_t>(taken);
  return static_cast<std::size_t>(taken);
}

bool FrameWriter::ready() {
  if (broken_ || !takes_more(fd_, {})) return false;
  if (rest_.empty()) return true;
  rest_.erase(0, put(rest_));
  return rest_.empty() && takes_more(fd_, {});
}

void FrameWriter::write(std::string_view frame) {
  assert(rest_.empty());
  if (frame.empty()) return;
  rest_ = frame.substr(put(frame));
}

void FrameWriter::finish(std::string_view bytes, std::chrono::milliseconds patience) {
  std::string last(rest_.empty() ? "" : kCancel);
  last += bytes;
  rest_.clear();
  while (!last.empty() && !broken_ && takes_more(fd_, patience)) last.erase(0, put(last));
}

}  // namespace idlewave::term
