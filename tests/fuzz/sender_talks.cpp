// The sending end in conversation with monitors that say anything, at any time, in any order.

#include "probe/outlet/outlet.h"
#include "tests/fuzz/frames.h"
#include "tests/fuzz/road.h"
#include "tests/fuzz/scripted_mailbox.h"

namespace idlewave::fuzz {
namespace {

using mailbox::Role;
using mailbox::Sent;

class Conversation {
 public:
  explicit Conversation(Bytes& in) : in_(in) {
    script() = {};
    script().sent = [this](const mailbox::Peer&, std::span<const std::byte> bytes) { return hear(bytes); };
    outlet::Options options{.session = "s", .node = "n1", .listen = "ipc:///x"};
    if ((connects_ = in.flag())) options.connect = "ipc:///y";
    if (in.flag()) options.buffer_bytes = 4096;
    if ((relays_ = in.below(4) == 0)) options.is_relay = true, options.node = wire::kRelayNode;
    outlet_ = std::move(*outlet::Outlet::open(options));
  }

  void hold() {
    for (int turns = 0; !in_.empty() && turns < 400; ++turns) act();
    if (in_.flag()) (void)outlet_->finish(std::chrono::seconds(1));
  }

 private:
  void act() {
    switch (in_.below(8)) {
      case 0: return outlet_->send(take_roster(in_));
      case 1: return outlet_->send(take_events(in_));
      case 2:
        return outlet_->send(wire::Outcome{take_command(in_), Nanoseconds(in_.number()), in_.flag(), in_.text(8)});
      case 3: script().now += std::chrono::milliseconds(in_.byte() * 20); return;
      case 4:
        if (relays_) outlet_->relay(take_message(in_, next_));
        return;
      default: return say();
    }
  }

  void say() {
    constexpr const char* kPeers[] = {"a", "b", "c", ""};  // the last is the one we connected to
    mailbox::Message message{kPeers[in_.below(connects_ ? 4 : 3)], Role(in_.below(4)), take_message(in_, next_)};
    script().inbox.push_back(std::move(message));
    for (const wire::Command& command : outlet_->serve(Nanoseconds(0))) require(command.ranks.size() < 100);
  }

  /// What is handed on was wild before; that it fits into a message is the outlet's promise.
  Sent hear(std::span<const std::byte> bytes) {
    require(bytes.size() <= wire::kMaxFrameBytes);
    const std::uint32_t answer = in_.below(16);
    return answer == 0 ? Sent::kFull : answer == 1 ? Sent::kGone : Sent::kYes;
  }

  Bytes& in_;
  bool relays_ = false, connects_ = false;
  std::uint64_t next_ = 0;
  std::unique_ptr<outlet::Outlet> outlet_;
};

}  // namespace

void run_road(Bytes& in) { Conversation(in).hold(); }

}  // namespace idlewave::fuzz
