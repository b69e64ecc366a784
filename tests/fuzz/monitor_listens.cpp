// The receiving end in conversation with senders that say anything: what they say goes through the recorder's seam into
// ingest and timeline, and is drawn.

#include "monitor/cli/observer.h"
#include "monitor/link/link.h"
#include "monitor/view/screen/screen.h"
#include "monitor/view/state.h"
#include "tests/fuzz/frames.h"
#include "tests/fuzz/road.h"
#include "tests/fuzz/scripted_mailbox.h"

namespace idlewave::fuzz {
namespace {

using mailbox::Role;
using mailbox::Sent;

class Conversation {
 public:
  explicit Conversation(Bytes& in) : in_(in), listens_(in.flag()), observer_(in.flag() ? "s" : "", 1 << 20) {
    script() = {};
    script().sent = [this](const mailbox::Peer&, std::span<const std::byte> bytes) { return hear(bytes); };
    link_ = std::move(*link::open_live({.session = in.flag() ? "s" : "",
                                        .endpoint = "ipc:///x",
                                        .listen = listens_,
                                        .role = wire::Role(in.below(2)),
                                        .credits = 1u + in.byte()}));
  }

  void hold() {
    for (int turns = 0; !in_.empty() && turns < 300; ++turns) act();
    observer_.refresh(now_, observer_.timeline().now(), std::chrono::seconds(5));
    view::SessionInfo session;
    const view::Model model{observer_.timeline(), observer_.findings(), observer_.narrator().remarks(), session};
    (void)view::screen::draw({}, model, {60, 20}, {});
    link_.reset();
  }

 private:
  void act() {
    const std::uint32_t what = in_.below(8);
    if (what == 0) now_ += std::chrono::milliseconds(in_.byte() * 40);
    if (what == 1) order(take_command(in_));
    if (what == 2) observer_.refresh(now_, observer_.timeline().now(), std::chrono::seconds(5));
    if (what > 2) say();
    take();
  }

  void say() {
    constexpr const char* kPeers[] = {"", "a", "b", "c"};  // who connects has one peer, without a name
    const std::uint32_t peer = listens_ ? 1 + in_.below(3) : 0;
    script().inbox.push_back({kPeers[peer], Role(in_.below(4)), take_message(in_, next_[peer])});
  }

  /// Only what an operator can ask for: the link takes our own words as they are.
  void order(const wire::Command& command) {
    if (wire::decode(wire::encode({"s", "", 0, command}))) (void)link_->send(now_, command);
  }

  void take() {
    deliveries_.clear();
    link_->receive(now_, deliveries_);
    for (const link::Delivery& delivery : deliveries_) observer_.accept(delivery);
  }

  Sent hear(std::span<const std::byte> bytes) {
    require(bool(wire::decode(bytes)));
    const std::uint32_t answer = in_.below(16);
    return answer == 0 ? Sent::kFull : answer == 1 ? Sent::kGone : Sent::kYes;
  }

  Bytes& in_;
  bool listens_;
  cli::Observer observer_;
  Nanoseconds now_{};
  std::uint64_t next_[4] = {};
  std::vector<link::Delivery> deliveries_;
  std::unique_ptr<link::Link> link_;
};

}  // namespace

void run_road(Bytes& in) { Conversation(in).hold(); }

}  // namespace idlewave::fuzz
