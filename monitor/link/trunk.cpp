#include "monitor/link/trunk.h"

#include <sys/epoll.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include "probe/wire/printable.h"

namespace idlewave::link {
namespace {

constexpr std::size_t kReadOfTrunk = 64u << 10;
constexpr std::size_t kQuotedOfTrunk = 200;

std::string_view text_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

}  // namespace

Watch::Watch() : fd_(epoll_create1(EPOLL_CLOEXEC)) {}
Watch::~Watch() { close(fd_); }

bool Watch::set(int fd, std::uint32_t events) {
  const auto known = wanted_.find(fd);
  if (known == wanted_.end() ? events == 0 : known->second == events) return true;
  epoll_event event{.events = events, .data = {.fd = fd}};
  const int change = events == 0 ? EPOLL_CTL_DEL : known == wanted_.end() ? EPOLL_CTL_ADD : EPOLL_CTL_MOD;
  const bool done = epoll_ctl(fd_, change, fd, &event) == 0;
  if (events == 0)
    wanted_.erase(fd);
  else if (done)
    wanted_[fd] = events;
  return done;
}

void Trunk::let_go() {
  watch_.set(in_, 0);
  watch_.set(out_, 0);
}

void Trunk::cut(const std::string& why) {
  if (cut_.empty()) cut_ = why;
  going_.clear();
  written_ = 0;
}

void Trunk::end(const std::string& why) {
  has_ended_ = has_ended_ || cut_.empty();
  cut(why);
}

void Trunk::greet(const std::string& line) {
  const auto* bytes = reinterpret_cast<const std::byte*>(line.data());
  going_.insert(going_.end(), bytes, bytes + line.size());
}

void Trunk::put(TunnelKind kind, std::uint32_t channel, std::span<const std::byte> body) {
  if (cut_.empty()) append_frame(going_, {kind, channel, body});
}

void Trunk::serve() {
  read();
  flush();
  const bool lives = cut_.empty();
  if (!watch_.set(in_, lives ? EPOLLIN : 0u)) cut("its standard input is none that can be waited for");
}

void Trunk::read() {
  if (!cut_.empty()) return;
  coming_.erase(coming_.begin(), coming_.begin() + std::ptrdiff_t(std::exchange(taken_, 0)));
  std::array<std::byte, kReadOfTrunk> buffer;
  const ssize_t count = ::read(in_, buffer.data(), buffer.size());
  const int reason = errno;
  if (count > 0) coming_.insert(coming_.end(), buffer.begin(), buffer.begin() + count);
  if (count == 0) end("the stream has ended");
  if (count < 0 && reason != EINTR && reason != EAGAIN) cut(std::strerror(reason));
}

void Trunk::flush() {
  while (cut_.empty() && written_ < going_.size()) {
    const ssize_t count = ::write(out_, going_.data() + written_, going_.size() - written_);
    if (count > 0) written_ += std::size_t(count);
    if (count < 0 && errno == EAGAIN) break;
    if (count < 0 && errno != EINTR) end("nobody reads there any more");
  }
  const bool is_over = written_ == going_.size();
  if (is_over) going_.clear(), written_ = 0;
  watch_.set(out_, is_over ? 0u : EPOLLOUT);
}

std::optional<std::vector<std::string>> Trunk::take_greeting(const GreetingKind& kind) {
  const std::string_view text = text_of(coming_);
  auto line = find_greeting_line(kind, text);
  if (line && *line) {
    taken_ = text.find('\n', (*line)->noise.size()) + 1;
    return std::move((*line)->fields);
  }
  if (line) cut(line->error().message);
  if (text.size() > kMostNoise)
    cut("it leads to no idlewave, but said '" + wire::printable(text.substr(0, kQuotedOfTrunk)) + "...'");
  return std::nullopt;
}

std::string_view Trunk::rest() const { return text_of(std::span<const std::byte>(coming_).subspan(taken_)); }

std::optional<TunnelFrame> Trunk::take() {
  if (!cut_.empty()) return std::nullopt;
  auto frame = first_frame(std::span<const std::byte>(coming_).subspan(taken_));
  if (!frame) return std::nullopt;
  if (!*frame) return cut(frame->error().message), std::nullopt;
  taken_ += size_of_frame((*frame)->body.size());
  return **frame;
}

}  // namespace idlewave::link
