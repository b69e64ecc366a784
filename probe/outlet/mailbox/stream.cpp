#include "probe/outlet/mailbox/stream.h"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include "probe/wire/frame.h"
#include "probe/wire/printable.h"

namespace idlewave::mailbox {
namespace {

constexpr std::size_t kLengthBytes = 4;
constexpr std::byte kBehind{'\n'};
constexpr std::size_t kReadAtOnce = 64u << 10;
constexpr std::size_t kQuoted = 60;

std::array<std::byte, kLengthBytes> length_of(std::span<const std::byte> message) {
  std::array<std::byte, kLengthBytes> length;
  for (std::size_t i = 0; i < kLengthBytes; ++i) length[i] = std::byte(message.size() >> (8 * i) & 0xff);
  return length;
}

std::size_t length_in(std::span<const std::byte> bytes) {
  std::size_t length = 0;
  for (std::size_t i = 0; i < kLengthBytes; ++i) length |= std::size_t(bytes[i]) << (8 * i);
  return length;
}

bool is_readable(int fd) {
  pollfd readable{.fd = fd, .events = POLLIN, .revents = 0};
  return ::poll(&readable, 1, 0) > 0;
}

std::string quoted(std::span<const std::byte> bytes) {
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), std::min(bytes.size(), kQuoted));
  return "'" + wire::printable(text) + "'";
}

}  // namespace

Sent Stream::send(std::span<const std::byte> bytes) {
  if (!flush()) return Sent::kFull;
  const auto length = length_of(bytes);
  going_.assign(length.begin(), length.end());
  going_.insert(going_.end(), bytes.begin(), bytes.end());
  going_.push_back(kBehind);
  flush();
  return nobody_reads_ ? Sent::kGone : Sent::kYes;
}

bool Stream::flush() {
  while (written_ < going_.size() && !nobody_reads_) {
    const ssize_t count = ::write(out_, going_.data() + written_, going_.size() - written_);
    if (count > 0) written_ += std::size_t(count);
    if (count < 0 && errno == EAGAIN) return false;
    nobody_reads_ = count < 0 && errno != EINTR;
  }
  going_.clear();
  written_ = 0;
  return true;
}

bool Stream::receive(std::vector<std::byte>& bytes) {
  while (!take(bytes))
    if (!read_more()) return false;
  return true;
}

bool Stream::take(std::vector<std::byte>& bytes) {
  const std::span<const std::byte> rest = std::span(coming_).subspan(taken_);
  if (!cut_.empty() || rest.size() < kLengthBytes) return false;
  const std::size_t length = length_in(rest);
  if (length == 0 || length > wire::kMaxFrameBytes) cut_ = "between two frames came what is none: " + quoted(rest);
  if (!cut_.empty() || rest.size() < kLengthBytes + length + 1) return false;
  if (rest[kLengthBytes + length] != kBehind) {
    cut_ = "behind a frame came what belongs to none: " + quoted(rest.subspan(kLengthBytes + length));
    return false;
  }
  const auto message = rest.subspan(kLengthBytes, length);
  bytes.assign(message.begin(), message.end());
  taken_ += kLengthBytes + length + 1;
  return true;
}

bool Stream::read_more() {
  if (!cut_.empty()) return false;
  if (!is_readable(in_)) {
    if (nobody_reads_) cut_ = "nobody reads there any more";
    return false;
  }
  coming_.erase(coming_.begin(), coming_.begin() + std::ptrdiff_t(std::exchange(taken_, 0)));
  const std::size_t before = coming_.size();
  coming_.resize(before + kReadAtOnce);
  const ssize_t count = ::read(in_, coming_.data() + before, kReadAtOnce);
  const int reason = errno;
  coming_.resize(before + std::size_t(std::max<ssize_t>(count, 0)));
  if (count == 0) cut_ = "the stream has ended";
  if (count < 0 && reason != EINTR && reason != EAGAIN) cut_ = std::strerror(reason);
  return count > 0;
}

}  // namespace idlewave::mailbox
