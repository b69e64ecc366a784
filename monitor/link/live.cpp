#include <algorithm>
#include <map>
#include <optional>
#include <random>
#include <set>
#include <utility>

#include "monitor/link/link.h"
#include "probe/outlet/mailbox/endpoint.h"
#include "probe/outlet/mailbox/mailbox.h"

namespace idlewave::link {
namespace {

using mailbox::Mailbox;
using mailbox::Message;
using mailbox::Peer;
using mailbox::Sent;
using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr Nanoseconds kAttachAgain = milliseconds(500);  // Until the sender answers.
constexpr Nanoseconds kAttachPause = seconds(2);         // A Hello that comes sooner has crossed our Attach on the way.
constexpr Nanoseconds kKeepalive = seconds(1);           // A sender hears from us at least so often.
constexpr Nanoseconds kLook = milliseconds(50);          // Sleep at most so long while nobody has answered.
constexpr Nanoseconds kLinger = milliseconds(500);
constexpr int kQueueMargin = 64;  // Beyond the credits: greetings and signs of life.
constexpr std::size_t kMaxSenders = 4096;
constexpr std::size_t kMessagesAtOnce = 10'000;  // What one receive() takes, so that a flood can't hold it.
// Of 100,000 ranks a tenth of a second to take in, in which nobody looks at the keys.
constexpr std::size_t kBytesAtOnce = 256u << 10;
constexpr Nanoseconds kBetweenAlerts = seconds(1);  // However many strangers knock, they fill no screen and no file.

struct Sender {
  std::string node;
  std::string refusal;          // Why it does not want us.
  std::uint32_t delivered = 0;  // By the last receive(): acknowledged by the next one.
  std::uint32_t owed = 0;       // Credits that it is to get back.
  bool answered = false;
  bool streamed = false;  // At least one frame of its stream has come.
  bool ended = false;
  bool acknowledged = false;  // ... and it knows that we have its end.
  bool gone = false;          // Of those who came to us: its connection is closed.
  std::optional<Nanoseconds> attached_at;
  Nanoseconds credited_at{};
  Nanoseconds told_pace{};
  Nanoseconds silence{};
};

/// Attach, EndAck and Command are what consumers say; who says that to a monitor is confused.
bool is_from_sender(const wire::Frame& frame) {
  return wire::is_sequenced(frame) || std::holds_alternative<wire::Hello>(frame.body) ||
         std::holds_alternative<wire::Credit>(frame.body) || std::holds_alternative<wire::AskTime>(frame.body);
}

/// Our clock, which those who come to us compare theirs with.
Nanoseconds reference_time() { return std::chrono::steady_clock::now().time_since_epoch(); }

bool may_report(mailbox::Role role) { return role == mailbox::Role::kOwner || role == mailbox::Role::kAgent; }

/// What a relay passes on of its host's doing: commands that were sent, peers that were turned away.
bool is_deed_of_host(const Sender& sender, const wire::Frame& frame) {
  return sender.node == wire::kRelayNode && frame.node != wire::kRelayNode &&
         (std::holds_alternative<wire::Refusal>(frame.body) || std::holds_alternative<wire::Command>(frame.body));
}

class Live final : public Link {
 public:
  Live(const LiveOptions& options, std::unique_ptr<Mailbox> mailbox);
  ~Live() override;

  void receive(Nanoseconds now, std::vector<Delivery>& out) override;
  wire::Status send(Nanoseconds now, const wire::Command& command) override;
  wire::Status ask_to_record(const std::string& path) override;
  void show(const wire::LessonPage& page) override;
  void set_pace(Nanoseconds pace) override;
  void wait(Nanoseconds timeout, int extra_fd) override;
  LinkStatus status() const override;
  const std::string& bound_endpoint() const { return mailbox_->listen_endpoint(); }

 private:
  std::vector<std::byte> encode(decltype(wire::Frame::body) body) const {
    return wire::encode({session_, "", 0, std::move(body)});
  }
  Sent say(const Peer& peer, decltype(wire::Frame::body) body) { return mailbox_->send(peer, encode(std::move(body))); }

  void acknowledge(const Peer& peer, Sender& sender, Nanoseconds now);
  void return_credits(const Peer& peer, Sender& sender, Nanoseconds now);
  void learn_beginning(const wire::Frame& frame, Nanoseconds now);
  void compare_clocks_of_several(Nanoseconds now);
  void tell_everybody(Nanoseconds now);
  void tell_time(const Peer& peer, const wire::AskTime& question, Nanoseconds heard);
  void attach(const Peer& peer, Sender& sender, Nanoseconds now);
  void drain(Nanoseconds now, std::vector<Delivery>& out);
  void handle(Message& message, Nanoseconds now, std::vector<Delivery>& out);
  void handle(Sender& sender, const Peer& peer, Delivery& delivery, std::vector<Delivery>& out);
  void handle_unreadable(Sender* sender, const Peer& peer, Delivery& delivery, std::vector<Delivery>& out);
  std::string objection_to(const Message& message, const wire::Frame& frame, const Sender* sender);
  std::string objection_to(const wire::Frame& frame, const Sender* sender);
  bool is_taken(const std::string& node);
  void turn_away(const Peer& peer, const std::string& node, const std::string& reason, Nanoseconds now,
                 std::vector<Delivery>& out);
  void hand_on(Sender& sender, Delivery& delivery, std::vector<Delivery>& out);
  void tend(const Peer& peer, Sender& sender, Nanoseconds now);
  void forget_replaced();
  bool is_lost(const Sender& sender) const {
    return !sender.ended && (sender.gone || sender.silence > options_.patience || !mailbox_->cut().empty());
  }
  bool is_live(const Sender& sender) const;
  std::string describe_loss(const Sender& sender) const;
  std::optional<wire::NoCommand> why_no_command(LinkState state) const;

  LiveOptions options_;
  std::unique_ptr<Mailbox> mailbox_;
  std::string session_;
  std::optional<std::int64_t> began_;  // The session; wall clock. Known only to whom the senders connect to.
  bool compares_clocks_ = false;       // Several nodes have come to us.
  Nanoseconds pace_{};
  std::uint32_t reference_ = std::random_device()();  // Names our clock to them.
  Nanoseconds message_came_{};                        // The one that is handled, by our clock.
  std::map<Peer, Sender> senders_;
  std::optional<wire::LessonPage> shown_;
  std::vector<Delivery> sent_;           // Commands, for the next receive().
  std::string stranger_;                 // What was wrong with the first message, if it was no frame.
  std::optional<Nanoseconds> previous_;  // receive()
  std::uint64_t turned_away_ = 0;
  std::string last_turned_away_;
  std::optional<Nanoseconds> alerted_at_;
};

Live::Live(const LiveOptions& options, std::unique_ptr<Mailbox> mailbox)
    : options_(options), mailbox_(std::move(mailbox)), session_(options.session) {
  if (!options.listen) senders_[Peer()] = {};
}

Live::~Live() {
  for (auto& [peer, sender] : senders_)
    if (sender.answered && !sender.acknowledged) say(peer, wire::EndAck{});
}

void Live::receive(Nanoseconds now, std::vector<Delivery>& out) {
  // While this process itself was stopped it could not hear anybody: that is nobody's silence.
  const Nanoseconds elapsed = std::clamp<Nanoseconds>(now - previous_.value_or(now), Nanoseconds(0), kKeepalive);
  previous_ = now;
  for (auto& [peer, sender] : senders_) {
    sender.silence += elapsed;
    acknowledge(peer, sender, now);
  }
  std::move(sent_.begin(), sent_.end(), std::back_inserter(out));
  sent_.clear();
  drain(now, out);
  for (auto& [peer, sender] : senders_) tend(peer, sender, now);
  forget_replaced();
}

void Live::acknowledge(const Peer& peer, Sender& sender, Nanoseconds now) {
  sender.owed += std::exchange(sender.delivered, 0);
  // One that has gone will not ask for it any more.
  if (sender.ended && !sender.acknowledged) sender.acknowledged = say(peer, wire::EndAck{}) != Sent::kFull;
  if (!sender.ended && sender.owed > options_.credits / 8) return_credits(peer, sender, now);
}

void Live::return_credits(const Peer& peer, Sender& sender, Nanoseconds now) {
  const Sent sent = say(peer, wire::Credit{sender.owed, began_, compares_clocks_, pace_});
  if (sent == Sent::kYes) sender.owed = 0;
  sender.gone = options_.listen && sent == Sent::kGone;
  sender.credited_at = now;
  sender.told_pace = pace_;
}

/// What the first sender says of when the session began holds for all, and for those that come later.
void Live::learn_beginning(const wire::Frame& frame, Nanoseconds now) {
  const auto* roster = std::get_if<wire::Roster>(&frame.body);
  if (roster == nullptr || !options_.listen || began_) return;
  began_ = wire::wall_beginning_of(*roster);
  if (began_) tell_everybody(now);
}

/// What credits say beside their number. Who joins without knowing the session's name is not heard before it does.
void Live::tell_everybody(Nanoseconds now) {
  if (session_.empty()) return;
  for (auto& [peer, sender] : senders_)
    if (sender.attached_at && !sender.ended) return_credits(peer, sender, now);
}

/// Those that come later hear it when they have answered.
void Live::set_pace(Nanoseconds pace) {
  if (std::exchange(pace_, pace) != pace) tell_everybody(previous_.value_or(Nanoseconds(0)));
}

/// One node alone has nothing to compare its clock with, and is not asked to.
void Live::compare_clocks_of_several(Nanoseconds now) {
  if (!options_.listen || compares_clocks_) return;
  std::set<std::string> nodes;
  for (const auto& [peer, sender] : senders_)
    if (sender.streamed) nodes.insert(sender.node);
  if (nodes.size() < 2) return;
  compares_clocks_ = true;
  tell_everybody(now);
}

void Live::tell_time(const Peer& peer, const wire::AskTime& question, Nanoseconds heard) {
  say(peer, wire::TellTime{question.asked, heard, reference_time(), reference_});
}

void Live::attach(const Peer& peer, Sender& sender, Nanoseconds now) {
  if (say(peer, wire::Attach{options_.role, options_.credits}) != Sent::kYes) return;
  sender.attached_at = sender.credited_at = now;
  sender.owed = sender.delivered = 0;
  sender.told_pace = {};
  if (began_ || compares_clocks_) return_credits(peer, sender, now);
  if (shown_) say(peer, *shown_);
}

void Live::drain(Nanoseconds now, std::vector<Delivery>& out) {
  Message message;
  std::size_t bytes = 0;
  for (std::size_t i = 0; i < kMessagesAtOnce && bytes < kBytesAtOnce && mailbox_->receive(message); ++i) {
    message_came_ = reference_time();
    bytes += message.bytes.size();
    handle(message, now, out);
  }
}

void Live::handle(Message& message, Nanoseconds now, std::vector<Delivery>& out) {
  const auto known = senders_.find(message.peer);
  Sender* sender = known == senders_.end() ? nullptr : &known->second;
  Delivery delivery(now, wire::Direction::kReceived, std::move(message.bytes));
  if (!delivery.frame) return handle_unreadable(sender, message.peer, delivery, out);
  const wire::Frame& frame = delivery.frame->frame;
  if (sender != nullptr && is_deed_of_host(*sender, frame)) {
    delivery.direction = wire::Direction::kSent;
    return hand_on(*sender, delivery, out);
  }
  if (session_.empty() && may_report(message.role) && is_from_sender(frame)) session_ = frame.session;
  const std::string objection = objection_to(message, frame, sender);
  if (!objection.empty()) {
    if (!options_.listen && frame.session != session_) sender->refusal = objection;  // We are at the wrong place.
    return turn_away(message.peer, frame.node, objection, now, out);
  }
  handle(sender != nullptr ? *sender : senders_[message.peer], message.peer, delivery, out);
}

/// Of a sender it counts, whatever it was: it took a credit, and part of the stream may have been lost with it.
void Live::handle_unreadable(Sender* sender, const Peer& peer, Delivery& delivery, std::vector<Delivery>& out) {
  const std::string& why = delivery.frame.error().message;
  if (stranger_.empty()) stranger_ = why;
  if (sender == nullptr) return turn_away(peer, "", why, delivery.received_at, out);
  hand_on(*sender, delivery, out);
}

/// Why this frame is none of ours; empty if it is. `sender`: who said it, null if it is somebody new.
std::string Live::objection_to(const Message& message, const wire::Frame& frame, const Sender* sender) {
  if (!may_report(message.role)) return "this key does not let anybody report";
  if (std::holds_alternative<wire::Refusal>(frame.body) && sender != nullptr) return {};
  if (!is_from_sender(frame)) return "what is heard here are senders";
  // The name of this session is for those to find out who know it.
  if (frame.session != session_) return "this is another session than '" + frame.session + "'";
  return objection_to(frame, sender);
}

/// A node's stream belongs to the connection over which it began.
std::string Live::objection_to(const wire::Frame& frame, const Sender* sender) {
  if (options_.listen && (frame.node.empty() || frame.node == wire::kRelayNode)) return "this is no node's name";
  if (sender == nullptr) {
    if (is_taken(frame.node)) return "this node reports over another connection";
    return senders_.size() < kMaxSenders ? "" : "too many senders";
  }
  if (sender->node.empty() || sender->node == frame.node || sender->node == wire::kRelayNode) return {};
  // Another program may take the place of the one to which we are connected, and greets us then.
  if (!options_.listen && std::holds_alternative<wire::Hello>(frame.body)) return {};
  return "this connection is that of another node";
}

/// An agent that was started anew does not wait for the patience with the one that died: the connection of that one is
/// closed.
bool Live::is_taken(const std::string& node) {
  const auto owner = std::ranges::find_if(senders_, [&](const auto& entry) {
    return entry.second.node == node && !entry.second.ended && !is_lost(entry.second);
  });
  if (owner == senders_.end()) return false;
  if (say(owner->first, wire::Credit{0}) != Sent::kGone) return true;
  senders_.erase(owner);
  return false;
}

void Live::turn_away(const Peer& peer, const std::string& node, const std::string& reason, Nanoseconds now,
                     std::vector<Delivery>& out) {
  ++turned_away_;
  last_turned_away_ = reason;
  mailbox_->send(peer, wire::encode({"", "", 0, wire::Refusal{reason}}));
  if (session_.empty() || (alerted_at_ && now - *alerted_at_ < kBetweenAlerts)) return;
  alerted_at_ = now;
  out.emplace_back(now, wire::Direction::kSent, wire::encode({session_, node, 0, wire::Refusal{reason}}));
}

void Live::hand_on(Sender& sender, Delivery& delivery, std::vector<Delivery>& out) {
  ++sender.delivered;
  out.push_back(std::move(delivery));
}

void Live::handle(Sender& sender, const Peer& peer, Delivery& delivery, std::vector<Delivery>& out) {
  const Nanoseconds now = delivery.received_at;
  const wire::Frame& frame = delivery.frame->frame;
  sender.answered = true;
  sender.silence = Nanoseconds(0);
  if (const auto* no = std::get_if<wire::Refusal>(&frame.body)) {
    if (!options_.listen) sender.refusal = no->reason;  // Of many who came to us one can't refuse the session.
    return;
  }
  // Only a greeting can name another node than before, see objection_to().
  if (sender.node != wire::kRelayNode) sender.node = frame.node;
  if (!sender.attached_at) return attach(peer, sender, now);
  // We said Attach and it says Hello: it does not know us (any longer), unless the two have crossed on the way.
  if (std::holds_alternative<wire::Hello>(frame.body) && (!options_.listen || now - *sender.attached_at > kAttachPause))
    return attach(peer, sender, now);
  if (const auto* question = std::get_if<wire::AskTime>(&frame.body))
    return options_.listen ? tell_time(peer, *question, message_came_) : void();
  if (!wire::is_sequenced(frame)) return;
  sender.refusal.clear();
  const bool is_first = !std::exchange(sender.streamed, true);
  learn_beginning(frame, now);
  if (is_first) compare_clocks_of_several(now);
  // Over a relay's connection the streams of single nodes end before its own does, which is nobody's but ours to know.
  sender.ended = std::holds_alternative<wire::End>(frame.body) && frame.node == sender.node;
  if (frame.node == wire::kRelayNode) return static_cast<void>(++sender.delivered);
  hand_on(sender, delivery, out);
}

void Live::tend(const Peer& peer, Sender& sender, Nanoseconds now) {
  if (sender.ended) return;
  if (!sender.attached_at || (!sender.answered && now - *sender.attached_at >= kAttachAgain))
    return attach(peer, sender, now);
  if (sender.answered && (now - sender.credited_at >= kKeepalive || sender.told_pace != pace_))
    return_credits(peer, sender, now);
}

/// Forgets those who came to us, fell silent, and either never streamed or came again over a new connection; and those
/// whose stream has ended, when another one of their node has begun.
void Live::forget_replaced() {
  if (!options_.listen) return;
  const auto is_over = [this](const Sender& sender) {
    return is_lost(sender) || (sender.ended && sender.acknowledged);
  };
  std::set<std::string_view> present;
  for (const auto& [peer, sender] : senders_)
    if (!is_over(sender)) present.insert(sender.node);
  const auto came_again = [&](const Sender& gone) { return present.contains(gone.node); };
  std::erase_if(senders_, [&](const auto& entry) {
    const Sender& sender = entry.second;
    return is_over(sender) && ((!sender.streamed && !sender.ended) || came_again(sender));
  });
}

wire::Error nobody_takes_it(const LinkStatus& status) {
  return {std::string(wire::to_words(wire::NoCommand::kNobodyThere)) + ": " + status.detail};
}

wire::Status Live::send(Nanoseconds now, const wire::Command& command) {
  const LinkStatus before = status();
  if (before.no_command == wire::NoCommand::kNobodyThere) return nobody_takes_it(before);
  if (before.no_command) return wire::Error{wire::to_words(*before.no_command)};
  const std::vector<std::byte> bytes = encode(command);
  bool sent = false;
  for (const auto& [peer, sender] : senders_)
    if (is_live(sender)) sent = mailbox_->send(peer, bytes) == Sent::kYes || sent;
  if (!sent) return nobody_takes_it(before);
  sent_.emplace_back(now, wire::Direction::kSent, encode(wire::without_detours(command)));
  return wire::ok();
}

wire::Status Live::ask_to_record(const std::string& path) {
  if (options_.role == wire::Role::kSpectator)
    return wire::Error{"a spectator can't record with the session's host; attach --view --record FILE does it here"};
  for (const auto& [peer, sender] : senders_)
    if (sender.node == wire::kRelayNode && is_live(sender) && say(peer, wire::Record{path}) == Sent::kYes)
      return wire::ok();
  return wire::Error{"the session's host does not answer"};
}

void Live::show(const wire::LessonPage& page) {
  shown_ = page;
  for (const auto& [peer, sender] : senders_)
    if (is_live(sender)) say(peer, page);
}

void Live::wait(Nanoseconds timeout, int extra_fd) {
  timeout = std::min(timeout, kKeepalive);
  for (const auto& [peer, sender] : senders_) {
    if (!sender.answered || (sender.ended && !sender.acknowledged)) timeout = std::min(timeout, kLook);
    // It may stand still for want of the credits that the next receive() returns.
    if (sender.delivered > options_.credits / 2) timeout = Nanoseconds(0);
  }
  mailbox_->wait(timeout, extra_fd);
}

bool Live::is_live(const Sender& sender) const {
  return sender.answered && sender.refusal.empty() && !sender.ended && !is_lost(sender);
}

std::string Live::describe_loss(const Sender& sender) const {
  if (!mailbox_->cut().empty()) return options_.endpoint + ": " + mailbox_->cut();
  if (!sender.answered) return "nobody answers at " + options_.endpoint + ": is the program running there?";
  const auto silent = std::chrono::duration_cast<seconds>(sender.silence).count();
  const std::string who = sender.node == wire::kRelayNode ? "the session's host" : "node " + sender.node;
  if (sender.gone) return who + " has closed its connection: it was ended, or its network is down";
  return who + " has not answered for " + std::to_string(silent) + " s: it was ended, or its network is down";
}

std::optional<wire::NoCommand> Live::why_no_command(LinkState state) const {
  if (state == LinkState::kEnded) return wire::NoCommand::kEnded;
  if (options_.role == wire::Role::kSpectator) return wire::NoCommand::kSpectator;
  if (state != LinkState::kLive) return wire::NoCommand::kNobodyThere;
  return std::nullopt;
}

LinkStatus Live::status() const {
  std::string loss, refusal = mailbox_->refusal();
  // On this machine a connection is closed by who ends, and who comes after that comes as another one.
  bool live = false, ended = false, for_good = !mailbox_->cut().empty() || options_.endpoint.starts_with("ipc:");
  for (const auto& [peer, sender] : senders_) {
    live = live || is_live(sender);
    ended = ended || sender.ended;
    if (!sender.refusal.empty())
      refusal = sender.refusal;
    else if (!sender.answered && !stranger_.empty())
      refusal = options_.endpoint + " is no idlewave session: " + stranger_;
    else if (is_lost(sender)) {
      loss = describe_loss(sender);
      for_good = for_good && (sender.gone || !mailbox_->cut().empty());
    }
  }
  LinkStatus status;
  if (live)
    status = {.state = LinkState::kLive, .detail = loss};
  else if (!refusal.empty())
    status = {.state = LinkState::kRefused, .detail = refusal};
  else if (!loss.empty())
    status = {.state = LinkState::kLost, .detail = loss, .for_good = for_good};
  else if (ended)
    status = {.state = LinkState::kEnded, .detail = "the program has ended"};
  else
    status = {.state = LinkState::kWaiting, .detail = "waiting for " + options_.endpoint};
  status.no_command = why_no_command(status.state);
  status.turned_away = turned_away_;
  status.last_turned_away = last_turned_away_;
  return status;
}

}  // namespace

wire::Result<SessionKeys> make_session_keys(const std::string& folder) {
  auto files = mailbox::make_session_keys(folder);
  if (!files) return files.error();
  return SessionKeys{files->server, files->operators, files->viewers, files->agents};
}

wire::Result<std::unique_ptr<Link>> open_live(const LiveOptions& options) {
  LiveOptions effective = options;
  if (!options.listen && !options.key.empty()) {
    const auto key = mailbox::read_client_key(options.key);
    if (!key) return key.error();
    if (key->role == mailbox::Role::kViewer) effective.role = wire::Role::kSpectator;
  }
  const bool over_streams = options.in >= 0;
  auto mailbox =
      Mailbox::open({.listen = options.listen ? options.endpoint : "",
                     .connect = options.listen || over_streams ? "" : options.endpoint,
                     .over = over_streams ? std::optional(mailbox::Stream(options.in, options.out)) : std::nullopt,
                     .queue_messages = static_cast<int>(options.credits) + kQueueMargin,
                     .linger = kLinger,
                     .listen_key = options.listen ? options.key : "",
                     .connect_key = options.listen ? "" : options.key});
  if (!mailbox) return mailbox.error();
  return std::unique_ptr<Link>(new Live(effective, std::move(*mailbox)));
}

bool is_deserted(const std::string& endpoint) { return mailbox::is_deserted(endpoint); }

std::string bound_endpoint(const Link& live) {
  if (const auto* recorder = dynamic_cast<const Recorder*>(&live)) return bound_endpoint(recorder->inner());
  const auto* link = dynamic_cast<const Live*>(&live);
  return link == nullptr ? std::string() : link->bound_endpoint();
}

}  // namespace idlewave::link
