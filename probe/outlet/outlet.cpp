#include "probe/outlet/outlet.h"

#include <poll.h>

#include <algorithm>
#include <chrono>
#include <iterator>
#include <map>
#include <utility>

#include "probe/outlet/backlog.h"
#include "probe/outlet/clock_questions.h"
#include "probe/outlet/given_noise.h"
#include "probe/outlet/mailbox/mailbox.h"
#include "probe/outlet/past.h"
#include "probe/wire/no_command.h"

namespace idlewave::outlet {
namespace {

bool is_readable(int fd) {
  pollfd look{fd, POLLIN, 0};
  return fd >= 0 && poll(&look, 1, 0) > 0;
}

using mailbox::Mailbox;
using mailbox::Peer;
using mailbox::Sent;
using std::chrono::milliseconds;
using std::chrono::seconds;
using wire::Nanoseconds;
using Clock = std::chrono::steady_clock;

constexpr Nanoseconds kTick = milliseconds(500);   // Greetings and checks of who is still there.
constexpr Nanoseconds kRetry = milliseconds(20);   // Until the connection stands over which the first greeting can go.
constexpr Nanoseconds kAskAfter = seconds(2);      // A consumer that is silent for so long is asked for a sign of life.
constexpr Nanoseconds kGoneAfter = seconds(10);    // ... and is gone after so long.
constexpr Nanoseconds kGoneAfterEnd = seconds(4);  // ... of a relay that has ended: its session's name waits.
constexpr std::uint32_t kMaxCredits = 4096;        // What a consumer may grant at once.
constexpr int kQueue = static_cast<int>(kMaxCredits) + 64;  // Credits are the limit, never the queue.
constexpr std::size_t kMostHeld = 1 << 20;           // Of what a consumer says: the longest is the page of a lesson.
constexpr std::uint32_t kMaxSpectatorCredits = 256;  // Of frames that nobody takes, each may be 16 MiB of our memory.
constexpr Nanoseconds kSlowestPace = seconds(1);     // Whatever somebody has patience for, the live edge moves.
constexpr std::size_t kMaxConsumers = 256;
constexpr std::size_t kMaxSpectators = 240;  // However many look on, an operator gets in.
constexpr int kMessagesAtOnce = 1000;        // Then the consumers get their frames, whoever floods us.
constexpr int kMostRounds = 4;               // Of that in one turn.

struct Consumer {
  wire::Role role = wire::Role::kOperator;
  mailbox::Role proven = mailbox::Role::kOwner;  ///< By its connection.
  std::uint32_t credits = 0;
  std::uint64_t next = 1;  // Number of the frame it gets next.
  Nanoseconds pace{};
  Nanoseconds silence{};
  Nanoseconds since_end{};
  bool gone = false;
  GivenNoise noise;

  std::uint32_t credit_limit() const { return role == wire::Role::kSpectator ? kMaxSpectatorCredits : kMaxCredits; }
};

/// What a peer is, whatever it says: a viewer's key makes a spectator, and so does a role that we don't know.
wire::Role role_of(mailbox::Role proven, const wire::Attach& wish) {
  const bool commands = proven != mailbox::Role::kViewer && wish.role == wire::Role::kOperator;
  return commands ? wire::Role::kOperator : wire::Role::kSpectator;
}

}  // namespace

struct Outlet::Impl {
  Impl(const Options& o, std::unique_ptr<Mailbox> box)
      : options(o),
        mailbox(std::move(box)),
        backlog(o.buffer_bytes, o.is_relay ? past.listener() : Backlog::Forgets()) {}

  std::vector<std::byte> encode(std::uint64_t sequence, decltype(wire::Frame::body) body) const {
    return wire::encode({options.session, options.node, sequence, std::move(body)});
  }
  Sent say(const Peer& peer, decltype(wire::Frame::body) body) {
    return mailbox->send(peer, encode(0, std::move(body)));
  }

  void append(decltype(wire::Frame::body) body);
  void append_roster(wire::Roster roster);
  void show(wire::LessonPage page);
  bool waits_to_greet() const { return !options.connect.empty() && !greeted && !consumers.contains(Peer()); }
  void greet();
  void attach(const Peer& peer, const Consumer& wish);
  std::string objection_to(const mailbox::Message& message, const wire::Frame& frame) const;
  std::string objection_to(const Consumer& newcomer) const;
  void credit(const Peer& peer, Consumer& consumer, std::uint32_t frames);
  void refuse(const Peer& peer, const std::string& reason);
  void handle(const mailbox::Message& message);
  void ask_time();
  Nanoseconds node_time() const {
    return compares_clocks && options.node_clock ? options.node_clock() : Nanoseconds(0);
  }
  void handle(const Peer& peer, Consumer& consumer, wire::Frame& frame);
  bool drain();
  void deliver();
  bool deliver(const Peer& peer, Consumer& consumer);
  std::vector<std::vector<std::byte>> lost_rosters(const Consumer& consumer) const;
  Sent skip_lost(const Peer& peer, Consumer& consumer);
  bool still_there(const Peer& peer, Consumer& consumer, Nanoseconds elapsed);
  void tick();
  bool turn(Nanoseconds timeout, int extra_fd = -1);
  void part_with(const Peer& peer);
  void end_noise_of(Consumer& consumer) {
    std::ranges::move(consumer.noise.take_endings(), std::back_inserter(commands));
  }
  void drop_gone();

  Options options;
  std::unique_ptr<Mailbox> mailbox;
  Past past;  // Of a relay.
  Backlog backlog;
  std::map<std::uint64_t, wire::Roster> rosters;  // Of our own, by number: those in the backlog, and the one before.
  std::map<Peer, Consumer> consumers;
  std::vector<wire::Command> commands;
  std::vector<wire::Record> recordings;
  std::optional<wire::LessonPage> lesson;
  bool ever_attached = false;
  bool ended = false;         // End is in the backlog.
  bool lost_someone = false;  // A consumer went without having acknowledged the end.
  std::uint64_t bytes_sent = 0;
  std::uint64_t strange = 0;
  std::string refusal;
  std::optional<std::int64_t> told_beginning;
  bool compares_clocks = false;  // The monitor that we connect to wants that.
  ClockQuestions questions;
  Nanoseconds message_came{};  // The one that is handled; node's clock, if that is compared.
  bool greeted = false;        // Since the last tick.
  Clock::time_point last_tick = Clock::now();
};

void Outlet::Impl::append(decltype(wire::Frame::body) body) {
  std::vector<std::byte> frame = encode(backlog.next(), std::move(body));
  if (frame.size() > wire::kMaxFrameBytes) frame.clear();
  backlog.append(std::move(frame));
}

void Outlet::Impl::append_roster(wire::Roster roster) {
  roster.lesson = lesson;
  rosters[backlog.next()] = roster;
  append(std::move(roster));
  const auto kept = rosters.lower_bound(backlog.first());
  if (kept != rosters.begin()) rosters.erase(rosters.begin(), std::prev(kept));
}

/// In a roster, which whoever joins later gets as well.
void Outlet::Impl::show(wire::LessonPage page) {
  if (lesson == page || ended) return;
  lesson = std::move(page);
  if (!rosters.empty()) append_roster(rosters.rbegin()->second);
}

/// Asks the monitor that listens for us, if there is one, to attach.
void Outlet::Impl::greet() {
  if (waits_to_greet()) greeted = say(Peer(), wire::Hello{}) == Sent::kYes;
}

/// The name of the session is for those to know whom we serve.
void Outlet::Impl::refuse(const Peer& peer, const std::string& reason) {
  ++strange;
  const std::string session = consumers.contains(peer) ? options.session : "";
  mailbox->send(peer, wire::encode({session, options.node, 0, wire::Refusal{reason}}));
}

/// Why a newcomer is not served; empty if it is.
std::string Outlet::Impl::objection_to(const Consumer& newcomer) const {
  if (ever_attached && ended) return "the program has ended";
  const bool looks_on = newcomer.role == wire::Role::kSpectator;
  const auto spectators =
      std::ranges::count_if(consumers, [](const auto& entry) { return entry.second.role == wire::Role::kSpectator; });
  if (looks_on && std::size_t(spectators) >= kMaxSpectators) return "too many spectators";
  return consumers.size() < kMaxConsumers ? "" : "too many monitors";
}

void Outlet::Impl::part_with(const Peer& peer) {
  const auto found = consumers.find(peer);
  if (found == consumers.end()) return;
  end_noise_of(found->second);
  consumers.erase(found);
}

void Outlet::Impl::attach(const Peer& peer, const Consumer& wish) {
  Consumer consumer = wish;
  // Over the connection that we made it is mostly the same monitor, after a break.
  if (auto before = consumers.extract(peer)) consumer.noise = std::move(before.mapped().noise);
  if (const std::string objection = objection_to(wish); !objection.empty()) {
    end_noise_of(consumer);
    return refuse(peer, objection);
  }
  const bool is_first = !std::exchange(ever_attached, true);
  consumer.credits = std::min(wish.credits, wish.credit_limit());
  if (!is_first && !options.is_relay) {
    consumer.next = backlog.next();
    if (!rosters.empty()) append_roster(rosters.rbegin()->second);
  }
  if (peer.empty()) refusal.clear();
  consumers[peer] = consumer;
  say(peer, wire::Credit{0});
}

/// A consumer that says something is always answered: by the frames that follow or, where none can, by a sign of life.
void Outlet::Impl::credit(const Peer& peer, Consumer& consumer, std::uint32_t frames) {
  consumer.credits = std::min(consumer.credit_limit(), consumer.credits + std::min(frames, kMaxCredits));
  if (consumer.credits == 0 || consumer.next == backlog.next()) say(peer, wire::Credit{0});
}

/// Why somebody is not heard; empty if he is.
std::string Outlet::Impl::objection_to(const mailbox::Message& message, const wire::Frame& frame) const {
  if (message.role == mailbox::Role::kAgent) return "this key does not let anybody watch";
  const bool any_session = std::holds_alternative<wire::Attach>(frame.body) && frame.session.empty();
  if (any_session || frame.session == options.session) return {};
  return "this is another session than '" + frame.session + "'";
}

/// Whoever speaks an older version could not read what he would get.
void Outlet::Impl::handle(const mailbox::Message& message) {
  auto frame = wire::decode(message.bytes, wire::kWireVersion);
  if (!frame) return refuse(message.peer, frame.error().message);
  if (const auto* no = std::get_if<wire::Refusal>(&frame->body)) {
    if (message.peer.empty()) refusal = no->reason;
    return;
  }
  if (const std::string objection = objection_to(message, *frame); !objection.empty())
    return refuse(message.peer, objection);
  const auto* wish = std::get_if<wire::Attach>(&frame->body);
  auto known = consumers.find(message.peer);
  // A connection may choose its name, and take that of one that is gone: what that one was it is not.
  if (known != consumers.end() && known->second.proven != message.role)
    known = (part_with(message.peer), consumers.end());
  // Over the connection that we made, a second Attach is another monitor, or the same one after a break. Of those who
  // came to us every connection has a name of its own, and a second Attach under the same name only means that our
  // answer was not there yet.
  if (wish != nullptr && (known == consumers.end() || message.peer.empty()))
    return attach(message.peer,
                  {.role = role_of(message.role, *wish), .proven = message.role, .credits = wish->credits});
  if (known != consumers.end()) return handle(message.peer, known->second, *frame);
  if (!ended) say(message.peer, wire::Hello{});
}

void Outlet::Impl::handle(const Peer& peer, Consumer& consumer, wire::Frame& frame) {
  const auto* credits = std::get_if<wire::Credit>(&frame.body);
  // Once the end is on its way, only progress counts as life: nobody may hold up the sender by just being there.
  if (!ended || credits == nullptr || credits->frames > 0) consumer.silence = Nanoseconds(0);
  if (credits != nullptr) {
    // Nobody else's word counts, be it an operator's.
    if (peer.empty() && credits->began) told_beginning = credits->began;
    if (peer.empty()) compares_clocks = credits->compares_clocks;
    consumer.pace = std::min(credits->pace, kSlowestPace);
    return credit(peer, consumer, credits->frames);
  }
  if (std::holds_alternative<wire::Attach>(frame.body)) return credit(peer, consumer, 0);
  if (std::holds_alternative<wire::EndAck>(frame.body)) return part_with(peer);
  if (const auto* told = std::get_if<wire::TellTime>(&frame.body); told != nullptr && peer.empty())
    return questions.answer(*told, message_came);
  auto* command = std::get_if<wire::Command>(&frame.body);
  auto* record = options.is_relay ? std::get_if<wire::Record>(&frame.body) : nullptr;
  auto* page = options.is_relay ? nullptr : std::get_if<wire::LessonPage>(&frame.body);
  if (command == nullptr && record == nullptr && page == nullptr) return static_cast<void>(++strange);
  if (consumer.role == wire::Role::kSpectator) return refuse(peer, wire::to_words(wire::NoCommand::kSpectator));
  if (command != nullptr) {
    consumer.noise.note(*command);
    commands.push_back(std::move(*command));
  }
  if (record != nullptr) recordings.push_back(std::move(*record));
  if (page != nullptr) show(std::move(*page));
}

/// False if nothing was there.
bool Outlet::Impl::drain() {
  mailbox::Message message;
  int heard = 0;
  for (; heard < kMessagesAtOnce && mailbox->receive(message); ++heard) {
    message_came = node_time();  // Before it is read, which takes time that is nobody's way.
    handle(message);
  }
  return heard > 0;
}

void Outlet::Impl::drop_gone() {
  if (std::ranges::none_of(consumers, [](const auto& entry) { return entry.second.gone; })) return;
  // Who left by itself has said so, and that may not have been read yet.
  for (int round = 0; round < kMostRounds && drain(); ++round) continue;
  // Who only looks on can't make a run look as if it had failed.
  lost_someone = lost_someone || (ended && std::ranges::any_of(consumers, [](const auto& entry) {
                                    return entry.second.gone && entry.second.role == wire::Role::kOperator;
                                  }));
  for (auto& [peer, consumer] : consumers)
    if (consumer.gone) end_noise_of(consumer);
  std::erase_if(consumers, [](const auto& entry) { return entry.second.gone; });
}

/// What a consumer that goes on at the oldest frame kept would know there, under the numbers of the last frames lost.
std::vector<std::vector<std::byte>> Outlet::Impl::lost_rosters(const Consumer& consumer) const {
  if (options.is_relay) return past.summary();
  const auto kept = rosters.lower_bound(backlog.first());
  if (kept == rosters.begin() || std::prev(kept)->first < consumer.next) return {};
  return {encode(backlog.first() - 1, std::prev(kept)->second)};
}

Sent Outlet::Impl::skip_lost(const Peer& peer, Consumer& consumer) {
  for (const auto& roster : lost_rosters(consumer)) {
    if (const Sent sent = mailbox->send(peer, roster); sent != Sent::kYes) return sent;
    if (consumer.credits > 0) --consumer.credits;
  }
  consumer.next = backlog.first();
  return Sent::kYes;
}

/// False if the consumer is gone.
bool Outlet::Impl::deliver(const Peer& peer, Consumer& consumer) {
  if (consumer.credits > 0 && consumer.next < backlog.first()) {
    if (const Sent sent = skip_lost(peer, consumer); sent != Sent::kYes) return sent == Sent::kFull;
  }
  for (; consumer.credits > 0 && consumer.next < backlog.next(); ++consumer.next) {
    const auto frame = backlog.frame(consumer.next);
    if (frame.empty()) continue;
    const Sent sent = mailbox->send(peer, frame);
    if (sent != Sent::kYes) return sent == Sent::kFull;
    --consumer.credits;
    bytes_sent += frame.size();
  }
  return true;
}

void Outlet::Impl::deliver() {
  for (auto& [peer, consumer] : consumers) consumer.gone = !deliver(peer, consumer);
  drop_gone();
  if (!ever_attached || options.is_relay) return;
  std::uint64_t needed = backlog.next();
  for (const auto& [peer, consumer] : consumers) needed = std::min(needed, consumer.next);
  backlog.drop_below(needed);
}

bool Outlet::Impl::still_there(const Peer& peer, Consumer& consumer, Nanoseconds elapsed) {
  consumer.silence += elapsed;
  if (ended) consumer.since_end += elapsed;
  // Who only looks on can't hold up the end by taking it frame by frame.
  const bool dawdles = consumer.role == wire::Role::kSpectator && consumer.since_end > kGoneAfter;
  if (consumer.silence > (ended && options.is_relay ? kGoneAfterEnd : kGoneAfter) || dawdles) return false;
  // Its queue has room for all its credits and more: what can't even be asked has no connection any longer.
  return consumer.silence < kAskAfter || say(peer, wire::Credit{0}) == Sent::kYes;
}

void Outlet::Impl::tick() {
  const Clock::time_point now = Clock::now();
  if (now - last_tick < kTick) return;
  // While this process itself was stopped it could not hear anybody: that is nobody's silence.
  const Nanoseconds elapsed = std::min<Nanoseconds>(now - last_tick, 2 * kTick);
  last_tick = now;
  greeted = false;
  for (auto& [peer, consumer] : consumers) consumer.gone = !still_there(peer, consumer, elapsed);
  drop_gone();
}

void Outlet::Impl::ask_time() {
  if (!compares_clocks || !options.node_clock || !consumers.contains(Peer())) return;
  if (const auto question = questions.ask(node_time())) say(Peer(), *question);
}

/// Once round: deliver, sleep, listen. False if a signal ended the sleep.
bool Outlet::Impl::turn(Nanoseconds timeout, int extra_fd) {
  greet();
  deliver();
  ask_time();
  const bool undisturbed =
      mailbox->wait(std::clamp(timeout, Nanoseconds(0), waits_to_greet() ? kRetry : kTick), extra_fd);
  tick();
  // What comes while we speak has given its sign by then, and would lie there until somebody looks.
  for (int round = 0; round < kMostRounds && drain(); ++round) deliver();
  return undisturbed;
}

wire::Result<std::unique_ptr<Outlet>> Outlet::open(const Options& options) {
  auto mailbox = Mailbox::open({.listen = options.listen,
                                .connect = options.connect,
                                .queue_messages = kQueue,
                                .listen_key = options.listen_key.empty() ? options.key : options.listen_key,
                                .connect_key = options.key,
                                .most_held = kMostHeld});
  if (!mailbox) return mailbox.error();
  return std::unique_ptr<Outlet>(new Outlet(std::make_unique<Impl>(options, std::move(*mailbox))));
}

Outlet::Outlet(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Outlet::~Outlet() = default;

void Outlet::send(wire::Roster roster) { impl_->append_roster(std::move(roster)); }
void Outlet::send(wire::Events events) { impl_->append(std::move(events)); }
void Outlet::send(wire::Outcome outcome) { impl_->append(std::move(outcome)); }

void Outlet::relay(std::vector<std::byte> frame) { impl_->backlog.append(std::move(frame)); }

std::vector<wire::Command> Outlet::serve(Nanoseconds timeout, int extra_fd) {
  const Clock::time_point until = Clock::now() + timeout;
  Nanoseconds left = timeout;
  while (impl_->turn(left, extra_fd) && impl_->commands.empty() && left > Nanoseconds(0) && !is_readable(extra_fd))
    left = until - Clock::now();
  return std::exchange(impl_->commands, {});
}

std::vector<wire::Record> Outlet::take_recordings() { return std::exchange(impl_->recordings, {}); }

bool Outlet::finish(Nanoseconds patience) {
  const Clock::time_point until = Clock::now() + patience;
  impl_->append(wire::End{});
  impl_->ended = true;
  while (!impl_->consumers.empty() || (!impl_->ever_attached && Clock::now() < until)) impl_->turn(kTick);
  return !impl_->lost_someone;
}

int Outlet::fd() const { return impl_->mailbox->fd(); }
int Outlet::consumers() const { return static_cast<int>(impl_->consumers.size()); }
std::optional<Nanoseconds> Outlet::pace() const {
  const auto hastier = [](const auto& a, const auto& b) { return a.second.pace < b.second.pace; };
  const auto hastiest = std::ranges::min_element(impl_->consumers, hastier);
  return hastiest == impl_->consumers.end() ? std::nullopt : std::optional(hastiest->second.pace);
}
std::uint64_t Outlet::frames() const { return impl_->backlog.next() - 1; }
std::uint64_t Outlet::bytes_sent() const { return impl_->bytes_sent; }
std::string Outlet::listen_endpoint() const { return impl_->mailbox->listen_endpoint(); }
std::optional<std::int64_t> Outlet::told_beginning() const { return impl_->told_beginning; }
std::vector<wire::RoundTrip> Outlet::take_round_trips() {
  return impl_->compares_clocks ? impl_->questions.take(impl_->node_time()) : std::vector<wire::RoundTrip>();
}
const std::string& Outlet::refusal() const {
  return impl_->refusal.empty() ? impl_->mailbox->refusal() : impl_->refusal;
}
std::uint64_t Outlet::strange_messages() const { return impl_->strange; }

}  // namespace idlewave::outlet
