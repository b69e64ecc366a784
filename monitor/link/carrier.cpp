#include "monitor/link/carrier.h"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <memory>
#include <vector>

#include "monitor/link/greeting.h"
#include "probe/outlet/mailbox/endpoint.h"
#include "probe/outlet/mailbox/mailbox.h"
#include "probe/wire/frame.h"

namespace idlewave::link {
namespace {

using mailbox::Mailbox;
using mailbox::Stream;
using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;
using wire::Nanoseconds;
using CarrierClock = std::chrono::steady_clock;

constexpr GreetingKind kOfStream{.word = "idlewave-stream", .version = "2", .fields = 3};
constexpr std::string_view kOperator = "operator", kSpectator = "spectator";

constexpr int kCarriedQueue = 512;  // A link grants half as many credits.
constexpr int kCarriedAtOnce = 100;
constexpr Nanoseconds kCarrierLinger = milliseconds(500);
constexpr Nanoseconds kCarrierTick = seconds(1);
/// A session that is there says something every second.
constexpr Nanoseconds kDesertedSession = seconds(10);
/// So does a reader. Where its network is gone nothing else tells; one that was stopped by a key may come back.
constexpr Nanoseconds kQuietReader = minutes(5);

void wait_until_writable(int fd) {
  pollfd writable{.fd = fd, .events = POLLOUT, .revents = 0};
  ::poll(&writable, 1, -1);
}

wire::Status write_line(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t count = ::write(fd, text.data(), text.size());
    if (count < 0 && errno == EAGAIN)
      wait_until_writable(fd);
    else if (count < 0 && errno != EINTR)
      return wire::Error{std::string("nobody reads what is said here: ") + std::strerror(errno)};
    text.remove_prefix(std::size_t(std::max<ssize_t>(count, 0)));
  }
  return wire::ok();
}

/// How long somebody has said nothing, by a clock that stands still while we were stopped ourselves.
class Silence {
 public:
  void grow(Nanoseconds by) { lasts_ += std::min<Nanoseconds>(by, kCarrierTick); }
  void end() { lasts_ = Nanoseconds(0); }
  bool exceeds(Nanoseconds limit) const { return lasts_ > limit; }

 private:
  Nanoseconds lasts_{};
};

class Carrier {
 public:
  Carrier(const CarryOptions& options, std::unique_ptr<Mailbox> session)
      : options_(options), session_(std::move(session)), stream_(options.in, options.out) {}

  wire::Status carry();

 private:
  wire::Status carry_up();
  wire::Status restrain();
  void carry_down();
  bool is_over();
  void rest();

  const CarryOptions& options_;
  std::unique_ptr<Mailbox> session_;
  Stream stream_;
  std::vector<std::byte> held_;  ///< On its way up; empty: none.
  Silence of_session_, of_reader_;
  CarrierClock::time_point rested_at_ = CarrierClock::now();
};

wire::Status Carrier::carry() {
  while (!is_over()) {
    rest();
    if (auto carried = carry_up(); !carried) return carried;
    carry_down();
    if (!session_->refusal().empty()) return wire::Error{session_->refusal()};
  }
  return wire::ok();
}

/// What is held is handed over late where the session was not there. A session that does not know us takes no command.
wire::Status Carrier::carry_up() {
  while (!held_.empty() || stream_.receive(held_)) {
    of_reader_.end();
    if (auto restrained = restrain(); !restrained) return restrained;
    if (session_->send("", held_) == mailbox::Sent::kFull) break;
    held_.clear();
  }
  return wire::ok();
}

wire::Status Carrier::restrain() {
  if (options_.greeting.role == wire::Role::kOperator) return wire::ok();
  auto frame = wire::decode(held_);
  if (!frame) return frame.error();
  auto* attach = std::get_if<wire::Attach>(&frame->body);
  if (attach == nullptr) return wire::ok();
  attach->role = wire::Role::kSpectator;
  held_ = wire::encode(*frame);
  return wire::ok();
}

void Carrier::carry_down() {
  mailbox::Message message;
  for (int i = 0; i < kCarriedAtOnce && session_->receive(message); ++i) {
    of_session_.end();
    if (message.bytes.empty()) continue;
    stream_.send(message.bytes);
    while (!stream_.flush()) wait_until_writable(stream_.out());
  }
}

bool Carrier::is_over() {
  const CarrierClock::time_point now = CarrierClock::now();
  const Nanoseconds elapsed = now - std::exchange(rested_at_, now);
  of_session_.grow(elapsed);
  of_reader_.grow(elapsed);
  if (!stream_.cut().empty() || of_reader_.exceeds(kQuietReader)) return true;
  return of_session_.exceeds(kDesertedSession) && mailbox::is_deserted(options_.endpoint);
}

void Carrier::rest() {
  if (held_.empty())
    session_->wait(kCarrierTick, stream_.in());
  else
    session_->wait(milliseconds(20), -1);
}

}  // namespace

std::string line_of(const Greeting& greeting) {
  return greeting_line(
      kOfStream, {greeting.role == wire::Role::kOperator ? kOperator : kSpectator, greeting.session, greeting.label});
}

std::optional<wire::Result<Greeted>> find_greeting(std::string_view text) {
  auto line = find_greeting_line(kOfStream, text);
  if (!line) return std::nullopt;
  if (!*line) return line->error();
  const std::vector<std::string>& fields = (*line)->fields;
  if (fields[0] != kOperator && fields[0] != kSpectator) return damaged_greeting(fields[0]);
  return Greeted{{.role = fields[0] == kOperator ? wire::Role::kOperator : wire::Role::kSpectator,
                  .session = fields[1],
                  .label = fields[2]},
                 std::move((*line)->noise)};
}

wire::Status carry(CarryOptions options) {
  if (!options.key.empty()) {
    const auto key = mailbox::read_client_key(options.key);
    if (!key) return key.error();
    if (key->role == mailbox::Role::kViewer) options.greeting.role = wire::Role::kSpectator;
  }
  auto session = Mailbox::open({.connect = options.endpoint,
                                .queue_messages = kCarriedQueue,
                                .linger = kCarrierLinger,
                                .connect_key = options.key});
  if (!session) return session.error();
  if (auto greeted = write_line(options.out, line_of(options.greeting)); !greeted) return greeted;
  return Carrier(options, std::move(*session)).carry();
}

}  // namespace idlewave::link
