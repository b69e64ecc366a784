#include "tests/fuzz/scripted_mailbox.h"

#include <chrono>

namespace idlewave::fuzz {

Script& script() {
  static Script the_one;
  return the_one;
}

}  // namespace idlewave::fuzz

std::chrono::steady_clock::time_point std::chrono::steady_clock::now() noexcept {
  return time_point(idlewave::fuzz::script().now);
}

namespace idlewave::mailbox {

struct Mailbox::Impl {
  std::string endpoint, refusal, cut;
};

Mailbox::Mailbox(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Mailbox::~Mailbox() = default;

wire::Result<std::unique_ptr<Mailbox>> Mailbox::open(const Options& options) {
  return std::unique_ptr<Mailbox>(new Mailbox(std::make_unique<Impl>(Impl{options.listen, ""})));
}

Sent Mailbox::send(const Peer& peer, std::span<const std::byte> bytes) { return fuzz::script().sent(peer, bytes); }

bool Mailbox::receive(Message& message) {
  auto& inbox = fuzz::script().inbox;
  if (inbox.empty()) return false;
  message = std::move(inbox.front());
  inbox.pop_front();
  return true;
}

bool Mailbox::wait(wire::Nanoseconds timeout, int) {
  fuzz::script().now += std::max(timeout, wire::Nanoseconds(1'000'000));
  return true;
}

int Mailbox::fd() const { return -1; }
const std::string& Mailbox::refusal() const { return impl_->refusal; }
const std::string& Mailbox::cut() const { return impl_->cut; }
const std::string& Mailbox::listen_endpoint() const { return impl_->endpoint; }

}  // namespace idlewave::mailbox
