#include "workloads/sim/network/collective_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <queue>
#include <tuple>

#include "workloads/sim/network/costs.h"
#include "workloads/sim/network/waiting_messages.h"
#include "workloads/support/huge_pages.h"

namespace idlewave::sim {

namespace {

constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t kLongest = std::int64_t{1} << 56;  ///< Nanoseconds; a WaitingMessage holds four times as many.

/// Of one message, nanoseconds.
struct Charges {
  std::int64_t send_cpu = 0;
  std::int64_t receive_cpu = 0;
  std::int64_t nic = 0;
  bool eager = true;
};

Charges charges_of(const Costs& costs, std::uint64_t bytes) {
  return {costs.send_cpu(bytes), costs.receive_cpu(bytes), costs.nic(bytes), costs.is_eager(bytes)};
}

/// Who talks to whom, for the engine's inner loop. The most frequent one is worth a form of its own.
class DisseminationPattern {
 public:
  static constexpr bool kDeep = false;

  DisseminationPattern(const CollectiveCall& call, Rank ranks, const Costs& costs)
      : ranks_(ranks),
        rounds_(CollectiveRounds(call, ranks).count(0)),
        charges_(charges_of(costs, call.algorithm == Collective::kBarrier ? 1 : call.bytes)) {}

  std::uint32_t rounds(Rank) const { return rounds_; }
  bool sends(Rank, std::uint32_t) const { return true; }
  int lane(Rank, std::uint32_t round) const { return int(round); }
  std::pair<Rank, int> target(Rank rank, std::uint32_t round) const {
    const Rank distance = Rank(1) << round;
    return {rank < ranks_ - distance ? rank + distance : rank - (ranks_ - distance), int(round)};
  }
  Rank sender(Rank rank, int lane) const {
    const Rank distance = Rank(1) << lane;
    return rank >= distance ? rank - distance : rank + (ranks_ - distance);
  }
  const Charges& sent(Rank, std::uint32_t) const { return charges_; }
  const Charges& received(Rank, int) const { return charges_; }

 private:
  Rank ranks_;
  std::uint32_t rounds_;
  Charges charges_;
};

class AnyPattern {
 public:
  AnyPattern(const CollectiveCall& call, Rank ranks, const Costs& costs) : rounds_(call, ranks), costs_(costs) {}

  std::uint32_t rounds(Rank rank) const { return rounds_.count(rank); }
  bool sends(Rank rank, std::uint32_t round) const { return rounds_.at(rank, round).to != kNobody; }
  int lane(Rank rank, std::uint32_t round) const {
    const Round what = rounds_.at(rank, round);
    return what.from == kNobody ? kNoLane : what.lane;
  }
  std::pair<Rank, int> target(Rank rank, std::uint32_t round) const {
    const Round what = rounds_.at(rank, round);
    return {what.to, what.to_lane};
  }
  Rank sender(Rank rank, int lane) const { return rounds_.first_of_lane(rank, lane).from; }
  Charges sent(Rank rank, std::uint32_t round) const { return charges_of(costs_, rounds_.at(rank, round).send_bytes); }
  Charges received(Rank rank, int lane) const {
    return charges_of(costs_, rounds_.first_of_lane(rank, lane).receive_bytes);
  }

 private:
  CollectiveRounds rounds_;
  Costs costs_;
};

/// In which a rank may be ahead of a partner by one step at most, since nobody ends one before all have begun it.
class BoundedPattern : public AnyPattern {
 public:
  static constexpr bool kDeep = false;
  using AnyPattern::AnyPattern;
};

/// Rings, in which messages of many rounds may wait, and trees, whose leaves or root may be ahead by many steps.
class DeepPattern : public AnyPattern {
 public:
  static constexpr bool kDeep = true;
  using AnyPattern::AnyPattern;

  DeepPattern(const CollectiveCall& call, Rank ranks, const Costs& costs)
      : AnyPattern(call, ranks, costs),
        by_sender_(call.algorithm == Collective::kReduce || call.algorithm == Collective::kGather) {}

  /// Where to count what `rank` has received through a lane: each rank is one child, or has one lane.
  std::size_t counter(Rank rank, int lane) const { return std::size_t(by_sender_ ? sender(rank, lane) : rank); }

 private:
  bool by_sender_;
};

/// What a rank has yet to do in its round, and beside it.
enum Pending : std::uint8_t {
  kSend = 1,     ///< To begin it.
  kRelease = 2,  ///< To be let go of by a rendezvous.
  kPost = 4,     ///< Of a receive.
  kMessage = 8,  ///< To be received.
  kWork = 16,
};
constexpr std::uint8_t kRoundPending = kSend | kRelease | kPost | kMessage;

/// The first half is what those who send look at.
template <class Message>
struct alignas(64) RankStateOf {
  WaitingMessages<Message> messages;
  std::uint8_t pending = 0;
  std::uint32_t round = 0;

  alignas(64) std::int64_t cpu = 0;  ///< When it is free, as the next two.
  std::int64_t sending = 0;
  std::int64_t receiving = 0;
  std::int64_t created = 0;       ///< By what comes first of what is pending of the round; see Engine::creation.
  std::int64_t work_created = 0;  ///< The same of kWork.
  std::int64_t post_time = 0;
  std::uint32_t arrived = 0;        ///< Lanes of which a message is there.
  std::uint32_t arrived_twice = 0;  ///< And another.
  std::uint32_t step = 0;
};
static_assert(sizeof(RankStateOf<WaitingMessage>) == 128);

std::int64_t to_ns(double seconds) { return std::int64_t(std::llround(std::min(seconds * 1e9, double(kLongest)))); }
double to_seconds(std::int64_t ns) { return double(ns) * 1e-9; }

/// What the noise makes of work and of idle time before it.
class Work {
 public:
  Work(const CollectiveProgram& program, const CollectiveOptions& options, CollectiveRun& run)
      : program_(program), options_(options), run_(run), delays_(program.delays) {
    std::ranges::sort(delays_, {}, [](const Idle& idle) { return std::pair(idle.rank, idle.step); });
    if (options.interrupts) quiet_until_.resize(std::size_t(program.ranks), -1);
    if (options.starts_of) run.starts_ns.resize(std::size_t(program.ranks));
  }

  /// From when on an interrupted processor is free. Times of a rank do not decrease.
  std::int64_t free_from(Rank rank, std::int64_t time) {
    std::int64_t& quiet = quiet_until_[std::size_t(rank)];
    if (time <= quiet) return time;
    const double seconds = to_seconds(time), free = options_.noise->free_from(rank, seconds);
    const std::int64_t free_ns = free > seconds ? std::max(time, std::int64_t(std::ceil(free * 1e9 - 1e-3))) : time;
    // Less the nanosecond by which roundings may be off.
    if (free_ns == time) quiet = to_ns(options_.noise->next_from(rank, seconds)) - 2;
    return free_ns;
  }

  /// What interruptions add to what takes so long.
  std::int64_t interruptions(Rank rank, Step step, std::int64_t begin, std::int64_t length) const {
    return begin + length <= quiet_until_[std::size_t(rank)] ? 0 : noise(rank, step, begin, length);
  }

  std::int64_t noise(Rank rank, Step step, std::int64_t begin, std::int64_t length) const {
    return to_ns(options_.noise->after(rank, step, to_seconds(begin), to_seconds(begin + length)));
  }

  /// When the work of a step that begins at `time` ends, delay and noise with it.
  std::int64_t end(Rank rank, Step step, std::int64_t time) {
    if (options_.starts_of == step) run_.starts_ns[std::size_t(rank)] = time;
    const std::int64_t delayed = time + delay(rank, step);
    const std::int64_t begin = options_.interrupts ? free_from(rank, delayed) : delayed;
    const std::int64_t idle = options_.noise ? noise(rank, step, begin, program_.work_ns) : 0;
    if (options_.recorder) record(rank, step, {time, delayed, begin, begin + program_.work_ns}, idle);
    return begin + program_.work_ns + idle;
  }

 private:
  std::int64_t delay(Rank rank, Step step) const {
    if (delays_.empty()) return 0;
    const auto found = std::ranges::equal_range(delays_, std::pair(rank, step), {},
                                                [](const Idle& idle) { return std::pair(idle.rank, idle.step); });
    std::int64_t sum = 0;
    for (const Idle& idle : found) sum += idle.ns;
    return sum;
  }

  struct Moments {
    std::int64_t step, delayed, begin, end;
  };

  void record(Rank rank, Step step, const Moments& at, std::int64_t idle) const {
    Recorder& recorder = *options_.recorder;
    recorder.step_begins(rank, step, to_seconds(at.step));
    if (at.delayed > at.step) recorder.enters(rank, step, Phase::kDelay, to_seconds(at.step));
    if (at.begin > at.delayed) recorder.enters(rank, step, Phase::kNoise, to_seconds(at.delayed));
    recorder.enters(rank, step, Phase::kCompute, to_seconds(at.begin));
    if (idle > 0) recorder.enters(rank, step, Phase::kNoise, to_seconds(at.end));
    recorder.enters(rank, step, Phase::kWait, to_seconds(at.end + idle));
  }

  const CollectiveProgram& program_;
  const CollectiveOptions& options_;
  CollectiveRun& run_;
  std::vector<Idle> delays_;
  std::vector<std::int64_t> quiet_until_;  ///< By rank: nothing interrupts it before, from the last question on.
};

/// kInterrupted: the processor is taken from messages as well. kOrdered: all in the order of time, for rendezvous.
template <class Pattern, bool kInterrupted, bool kOrdered>
class Engine {
 public:
  Engine(const CollectiveProgram& program, const Costs& costs, const CollectiveOptions& options)
      : program_(program),
        options_(options),
        pattern_(program.call, program.ranks, costs),
        flight_(costs.flight()),
        overhead_(costs.overhead()),
        work_(program, options, run_),
        ranks_(std::size_t(program.ranks)),
        next_(std::size_t(program.ranks), kNever),
        block_next_((std::size_t(program.ranks) + kBlock - 1) / kBlock, kNever) {
    if constexpr (Pattern::kDeep) arrived_.resize(std::size_t(program.ranks));
    for (Rank rank = 0; rank < program.ranks; ++rank) begin_step(rank, state(rank), 0);
  }

  wire::Result<CollectiveRun> run() {
    const bool in_range = kOrdered ? run_ordered() : run_windows();
    if (!in_range) return wire::Error{"the run is longer than 2.3 years: make its work, noise or messages shorter"};
    for (const RankState& rank : ranks_) run_.finish_ns.push_back(rank.cpu);
    return std::move(run_);
  }

 private:
  using Message = std::conditional_t<kOrdered, NumberedMessage, WaitingMessage>;
  using RankState = RankStateOf<Message>;
  static constexpr std::size_t kBlock = 256;  ///< Ranks.
  static constexpr std::size_t kFetchAhead = 8;

  /// What a rank may do next: kSend, kPost, kMessage, kWork or, at kNever, nothing.
  struct Event {
    std::int64_t time = kNever;
    std::int64_t created = 0;
    std::uint8_t what = 0;

    bool is_before(const Event& other) const {
      return time != other.time ? time < other.time : created < other.created;
    }

    void set(std::int64_t new_time, std::int64_t new_created, std::uint8_t new_what) {
      time = new_time, created = new_created, what = new_what;
    }
  };

  RankState& state(Rank rank) { return ranks_[std::size_t(rank)]; }
  bool is_stopped() const { return options_.stop && options_.stop->load(std::memory_order_relaxed); }

  // --- Windows.

  /// next_[rank]: before when it does not send, unless something comes that has not been sent yet. That comes a flight
  /// after the earliest of them or later: all that happens before then is known.
  bool run_windows() {
    for (Rank rank = 0; rank < program_.ranks; ++rank) put_back(rank, next_send(rank, state(rank)));
    for (;;) {
      const std::int64_t first = *std::ranges::min_element(block_next_);
      if (first == kNever) return true;
      if (first > kLongest) return false;
      if (is_stopped()) return run_.stopped = true;
      window_end_ = first + flight_;
      for (std::size_t block = 0; block < block_next_.size(); ++block)
        if (block_next_[block] < window_end_) visit(block);
      deliver_mail();
    }
  }

  void visit(std::size_t block) {
    const std::size_t begin = block * kBlock, end = std::min(next_.size(), begin + kBlock);
    std::array<std::uint32_t, kBlock> due;
    std::size_t count = 0;
    for (std::size_t rank = begin; rank < end; ++rank) {
      due[count] = std::uint32_t(rank);
      count += next_[rank] < window_end_;
    }
    block_next_[block] = kNever;
    for (std::size_t i = 0; i < std::min(kFetchAhead, count); ++i) fetch(ranks_[due[i]]);
    for (std::size_t i = 0; i < count; ++i) {
      if (i + kFetchAhead < count) fetch(ranks_[due[i + kFetchAhead]]);
      next_[due[i]] = advance(Rank(due[i]), ranks_[due[i]]);
    }
    std::int64_t next = kNever;
    for (std::size_t rank = begin; rank < end; ++rank) next = std::min(next, next_[rank]);
    block_next_[block] = next;
  }

  static void fetch(const RankState& ahead) {
    __builtin_prefetch(&ahead, 1);
    __builtin_prefetch(&ahead.cpu, 1);
  }

  void put_back(Rank rank, std::int64_t next) {
    next_[std::size_t(rank)] = std::min(next_[std::size_t(rank)], next);
    std::int64_t& block = block_next_[std::size_t(rank) / kBlock];
    block = std::min(block, next);
  }

  /// Nearly every visit finds a rank that waits for a message only, or that sends one before anything else can happen:
  /// then what comes first needs no comparison of all that may.
  std::int64_t advance(Rank rank, RankState& s) {
    for (;;) {
      if (!kInterrupted && s.pending == kMessage) {
        if (s.messages.empty()) return kNever;
        const std::int64_t time = first_message(s);
        if (time >= window_end_) return next_send(rank, s);
        receive(rank, s, time);
        continue;
      }
      if (!kInterrupted && (s.pending & kSend) && !(s.pending & (kPost | kWork))) {
        const std::int64_t time = std::max(s.cpu, s.sending);
        if (s.messages.empty() || s.messages.first(overflow_).arrival() > time) {
          if (time >= window_end_) return time;
          send(rank, s, time);
          continue;
        }
      }
      const Event event = first_event(s);
      if (event.time >= window_end_) return next_send(rank, s);
      perform(rank, s, event);
    }
  }

  std::int64_t first_message(const RankState& s) const {
    return std::max({s.messages.first(overflow_).arrival(), s.cpu, s.receiving});
  }

  /// Not before: from what is pending and what has been sent.
  std::int64_t next_send(Rank rank, const RankState& s) const {
    std::int64_t next = kNever;
    if (s.pending & kSend) return std::max(s.cpu, s.sending);
    if (s.pending & kPost) next = s.post_time;
    if (s.pending & kWork) next = std::min(next, s.cpu + program_.work_ns);
    if (s.pending & kMessage) {
      const std::int64_t arrival = s.messages.awaited_from(overflow_);
      if (arrival != kNever) next = std::min(next, end_of_receive(rank, s, arrival));
    }
    return next;
  }

  std::int64_t end_of_receive(Rank rank, const RankState& s, std::int64_t arrival) const {
    return std::max({arrival, s.cpu, s.receiving}) + pattern_.received(rank, s.messages.awaited).receive_cpu;
  }

  // --- In the order of time.

  using Turn = std::pair<Event, Rank>;
  struct Later {
    bool operator()(const Turn& a, const Turn& b) const {
      return b.first.is_before(a.first) || (!a.first.is_before(b.first) && b.second < a.second);
    }
  };

  bool run_ordered() {
    for (Rank rank = 0; rank < program_.ranks; ++rank) take_turn(rank);
    for (std::uint64_t n = 0; !turns_.empty(); ++n) {
      const auto [event, rank] = turns_.top();
      turns_.pop();
      const Event now = first_event(state(rank));
      if (now.is_before(event) || event.is_before(now)) continue;  // It has changed, and has another turn.
      if (event.time > kLongest) return false;
      if (n % 1024 == 0 && is_stopped()) return run_.stopped = true;
      perform(rank, state(rank), now);
      take_turn(rank);
    }
    return true;
  }

  void take_turn(Rank rank) {
    const Event event = first_event(state(rank));
    if (event.time != kNever) turns_.push({event, rank});
  }

  // --- One rank.

  /// What was created at one moment: first what the rank itself has to do.
  Event first_event(const RankState& s) {
    Event first;
    if (s.pending & kSend) first.set(std::max(s.cpu, s.sending), s.created, kSend);
    if ((s.pending & kPost) && s.post_time < first.time) first.set(s.post_time, s.created, kPost);
    // The first round is begun before the work, at the same time.
    if ((s.pending & kWork) && (s.cpu < first.time || (s.cpu == first.time && is_work_first(s))))
      first.set(s.cpu, s.work_created, kWork);
    if (!s.messages.empty()) consider_message(s, first);
    return first;
  }

  bool is_work_first(const RankState& s) const {
    return s.work_created < s.created || (s.work_created == s.created && s.round > 0);
  }

  void consider_message(const RankState& s, Event& first) {
    const Message message = s.messages.first(overflow_);
    const std::int64_t time = std::max({message.arrival(), s.cpu, s.receiving});
    if (time > first.time) return;
    const std::int64_t created = creation_of(message);
    if (time < first.time || created < first.created)
      first.set(time, created, kMessage);
    else if (created == first.created)
      run_.tied = true;
  }

  /// Decides between events of one moment. In the order of time they can be counted, as goal_run.h does.
  std::int64_t creation(std::int64_t time) {
    if constexpr (kOrdered) return created_++;
    return time;
  }
  std::int64_t creation_of(const Message& message) const {
    if constexpr (kOrdered)
      return message.number();
    else
      return message.arrival() - flight_;
  }

  void perform(Rank rank, RankState& s, const Event& event) {
    if constexpr (kInterrupted) {
      if (event.what != kPost && event.what != kWork && is_interrupted(rank, s, event.time)) return;
    }
    switch (event.what) {
      case kSend:
        return send(rank, s, event.time);
      case kPost:
        return post(rank, s, event.time);
      case kWork:
        return work(rank, s, event.time);
      default:
        return receive(rank, s, event.time);
    }
  }

  bool is_interrupted(Rank rank, RankState& s, std::int64_t time) {
    const std::int64_t free = work_.free_from(rank, time);
    if (free <= time) return false;
    s.cpu = free;
    return true;
  }

  void work(Rank rank, RankState& s, std::int64_t time) {
    s.pending &= std::uint8_t(~kWork);
    s.cpu = work_.end(rank, s.step, time);
    if (program_.mode == CollectiveMode::kBlocking)
      begin_round(rank, s, 0, time);
    else if (!(s.pending & kRoundPending))
      end_step(rank, s, time);
  }

  void send(Rank rank, RankState& s, std::int64_t time) {
    const Charges& charges = pattern_.sent(rank, s.round);
    s.pending &= std::uint8_t(~kSend);
    std::int64_t arrival = time + flight_;
    s.cpu = time + charges.send_cpu;
    s.sending = time + charges.nic;
    if constexpr (kInterrupted) extend_send(rank, s, time, charges.send_cpu, arrival);
    if (kOrdered && !charges.eager) s.pending |= kRelease;
    const auto [to, lane] = pattern_.target(rank, s.round);
    if constexpr (kOrdered)
      deliver(to, {arrival, lane, creation(time)});
    else
      mail(to, {arrival, lane});
    go_on(rank, s, time);
  }

  void extend_send(Rank rank, RankState& s, std::int64_t time, std::int64_t cpu, std::int64_t& arrival) const {
    const std::int64_t overhead = std::min(cpu, overhead_);
    const std::int64_t before_flight = work_.interruptions(rank, s.step, time, overhead);
    arrival += before_flight;
    s.cpu += cpu == overhead ? before_flight : work_.interruptions(rank, s.step, time, cpu);
  }

  /// Who gets it is far away in memory, and must not know before the window is over.
  void mail(Rank to, Message message) {
    __builtin_prefetch(&state(to), 1);
    Letter& letter = mail_[mailed_++ % mail_.size()];
    if (mailed_ > mail_.size()) deliver(letter.to, letter.message);
    letter = {to, message};
  }

  void deliver_mail() {
    for (std::size_t i = mailed_ - std::min(mailed_, mail_.size()); i < mailed_; ++i)
      deliver(mail_[i % mail_.size()].to, mail_[i % mail_.size()].message);
    mailed_ = 0;
  }

  void deliver(Rank to, Message message) {
    RankState& receiver = state(to);
    receiver.messages.add(message, overflow_, in_order_of_senders(to));
    if constexpr (kOrdered)
      take_turn(to);
    else {
      const std::int64_t end = message.arrival() + pattern_.received(to, message.lane()).receive_cpu;
      put_back(to, message.lane() == receiver.messages.awaited ? end : kNever);
    }
  }

  auto in_order_of_senders(Rank rank) {
    return [this, rank](int lane) {
      run_.tied = true;
      return pattern_.sender(rank, lane);
    };
  }

  void post(Rank rank, RankState& s, std::int64_t time) {
    s.pending &= std::uint8_t(~kPost);
    const int lane = pattern_.lane(rank, s.round);
    if (take_arrived(rank, s, lane))
      end_receive(rank, s, lane, time);
    else
      await(s, lane);
  }

  void receive(Rank rank, RankState& s, std::int64_t time) {
    const int lane = s.messages.take(overflow_, in_order_of_senders(rank)).lane();
    const Charges& charges = pattern_.received(rank, lane);
    s.cpu = time + charges.receive_cpu;
    s.receiving = time + charges.nic;
    if constexpr (kInterrupted) s.cpu += work_.interruptions(rank, s.step, time, charges.receive_cpu);
    ++run_.messages;
    if (lane != s.messages.awaited) return count_arrived(rank, s, lane);
    s.messages.awaited = kNoLane;
    s.pending &= std::uint8_t(~kMessage);
    end_receive(rank, s, lane, time);
  }

  void await(RankState& s, int lane) {
    s.pending |= kMessage;
    s.messages.awaited = std::int8_t(lane);
  }

  void end_receive(Rank rank, RankState& s, int lane, std::int64_t time) {
    if (kOrdered && !pattern_.received(rank, lane).eager)
      end_rendezvous(rank, s, pattern_.sender(rank, lane), time);
    else
      go_on(rank, s, time);
  }

  void end_rendezvous(Rank rank, RankState& s, Rank sender, std::int64_t time) {
    RankState& from = state(sender);
    from.cpu = std::max(from.cpu, time);
    from.sending = std::max(from.sending, time);
    from.pending &= std::uint8_t(~kRelease);
    if (rank < sender) go_on(rank, s, time);
    go_on(sender, from, time);
    if (rank > sender) go_on(rank, s, time);
    take_turn(sender);
  }

  void go_on(Rank rank, RankState& s, std::int64_t time) {
    if (!(s.pending & kRoundPending)) begin_round(rank, s, s.round + 1, time);
  }

  void begin_step(Rank rank, RankState& s, std::int64_t time) {
    s.pending |= kWork;
    if (program_.mode == CollectiveMode::kNonblocking) begin_round(rank, s, 0, time);
    s.work_created = creation(time);
  }

  void end_step(Rank rank, RankState& s, std::int64_t time) {
    ++run_.rank_steps;
    if (++s.step < program_.steps) return begin_step(rank, s, time);
    if (options_.recorder) options_.recorder->enters(rank, program_.steps - 1, Phase::kNone, to_seconds(s.cpu));
  }

  /// A receive that is posted together with a send needs no moment of its own, unless a sender waits for it: it is
  /// posted before the send begins, or at the same time.
  void begin_round(Rank rank, RankState& s, std::uint32_t round, std::int64_t time) {
    if (round == pattern_.rounds(rank)) return end_collective(rank, s, time);
    s.round = round;
    s.created = creation(time);
    const bool sends = pattern_.sends(rank, round);
    const int lane = pattern_.lane(rank, round);
    if (sends) s.pending |= kSend;
    if (lane == kNoLane) return;
    if (!kOrdered && sends) {
      if (!take_arrived(rank, s, lane)) await(s, lane);
    } else if (!kOrdered && !has_arrived(rank, s, lane)) {
      await(s, lane);
    } else {
      s.pending |= kPost;
      s.post_time = s.cpu;
    }
  }

  void end_collective(Rank rank, RankState& s, std::int64_t time) {
    if (!(s.pending & kWork)) end_step(rank, s, time);
  }

  // --- Messages that came before they were awaited.

  void count_arrived(Rank rank, RankState& s, int lane) {
    if constexpr (Pattern::kDeep) {
      ++arrived_[pattern_.counter(rank, lane)];
    } else {
      const std::uint32_t bit = std::uint32_t{1} << lane;
      s.arrived_twice |= s.arrived & bit;
      s.arrived |= bit;
    }
  }

  bool has_arrived(Rank rank, const RankState& s, int lane) const {
    if constexpr (Pattern::kDeep) return arrived_[pattern_.counter(rank, lane)] > 0;
    return s.arrived >> lane & 1;
  }

  bool take_arrived(Rank rank, RankState& s, int lane) {
    if (!has_arrived(rank, s, lane)) return false;
    if constexpr (Pattern::kDeep) {
      --arrived_[pattern_.counter(rank, lane)];
    } else {
      const std::uint32_t bit = std::uint32_t{1} << lane;
      s.arrived &= ~bit | s.arrived_twice;
      s.arrived_twice &= ~bit;
    }
    return true;
  }

  const CollectiveProgram& program_;
  const CollectiveOptions& options_;
  Pattern pattern_;
  std::int64_t flight_;
  std::int64_t overhead_;
  CollectiveRun run_;
  Work work_;
  support::HugeVector<RankState> ranks_;
  std::vector<std::int64_t> next_;        ///< Of each rank.
  std::vector<std::int64_t> block_next_;  ///< The least of kBlock ranks, or less.
  std::int64_t window_end_ = 0;
  std::vector<std::uint32_t> arrived_;
  MessageOverflow<Message> overflow_;
  std::int64_t created_ = 0;
  struct Letter {
    Rank to = 0;
    Message message;
  };
  std::array<Letter, 32> mail_;
  std::size_t mailed_ = 0;
  std::priority_queue<Turn, std::vector<Turn>, Later> turns_;
};

/// Each rank by itself.
CollectiveRun run_ideal(const CollectiveProgram& program, const CollectiveOptions& options) {
  CollectiveRun run;
  Work work(program, options, run);
  for (Rank rank = 0; rank < program.ranks; ++rank) {
    std::int64_t time = 0;
    for (Step step = 0; step < program.steps && time <= kLongest; ++step, ++run.rank_steps) {
      if (options.stop && run.rank_steps % 1024 == 0 && options.stop->load(std::memory_order_relaxed))
        run.stopped = true;
      if (run.stopped) break;
      time = work.end(rank, step, time);
    }
    if (options.recorder) options.recorder->enters(rank, program.steps - 1, Phase::kNone, to_seconds(time));
    run.finish_ns.push_back(time);
  }
  return run;
}

bool is_deep(Collective algorithm) {
  switch (algorithm) {
    case Collective::kAllreduceRing:
    case Collective::kAllgatherRing:
    case Collective::kBroadcast:
    case Collective::kReduce:
    case Collective::kGather:
    case Collective::kScatter:
      return true;
    default:
      return false;
  }
}

bool is_plain_dissemination(Collective algorithm) {
  return algorithm == Collective::kBarrier || algorithm == Collective::kAllreduceDissemination ||
         algorithm == Collective::kAllgatherDissemination;
}

template <class Pattern, bool kOrdered>
wire::Result<CollectiveRun> run_with(const CollectiveProgram& program, const Costs& costs,
                                     const CollectiveOptions& options) {
  if (options.noise && options.interrupts) return Engine<Pattern, true, kOrdered>(program, costs, options).run();
  return Engine<Pattern, false, kOrdered>(program, costs, options).run();
}

/// The longest messages are those of the root, or of the first rank where there is none.
std::uint64_t longest_message(const CollectiveProgram& program) {
  const CollectiveRounds rounds(program.call, program.ranks);
  std::uint64_t longest = 0;
  for (const Rank rank : {Rank(0), program.call.root})
    for (std::uint32_t i = 0; i < std::min<std::uint32_t>(rounds.count(rank), CollectiveRounds::kMostLanes); ++i) {
      const Round round = rounds.at(rank, i);
      longest = std::max({longest, round.send_bytes, round.receive_bytes});
    }
  return longest;
}

wire::Status check(const CollectiveProgram& program, const support::LogGops& network) {
  if (auto status = check_costs(network); !status) return status;
  const auto& call = program.call;
  if (program.ranks < 1) return wire::Error{fmt::format("collective: {} ranks; at least 1", program.ranks)};
  if (program.steps < 1 || program.steps > kMostCollectiveSteps)
    return wire::Error{fmt::format("collective: {} steps; from 1 to {}", program.steps, kMostCollectiveSteps)};
  if (call.root < 0 || call.root >= program.ranks)
    return wire::Error{fmt::format("collective: root {}; from 0 to {}", call.root, program.ranks - 1)};
  if (call.bytes < 1 || call.bytes > kMaxMessageBytes / std::uint64_t(program.ranks))
    return wire::Error{fmt::format("collective: {} B of each rank; from 1 to 2^48 of all ranks together", call.bytes)};
  for (const Idle& idle : program.delays)
    if (idle.rank < 0 || idle.rank >= program.ranks || idle.step < 0 || idle.step >= program.steps || idle.ns < 0)
      return wire::Error{
          fmt::format("collective: delay of {} ns before step {} of rank {}", idle.ns, idle.step, idle.rank)};
  return wire::ok();
}

/// So that no sum overflows before the run is found to be too long.
wire::Status check_lengths(const CollectiveProgram& program, const support::LogGops& network) {
  double longest = double(program.work_ns) + double(network.latency.count()) + 2 * double(network.overhead.count()) +
                   double(network.gap.count()) +
                   double(longest_message(program)) * 1e9 * (network.gap_per_byte + network.overhead_per_byte);
  for (const Idle& idle : program.delays) longest += double(idle.ns);
  if (program.work_ns >= 0 && longest <= double(kLongest / 4)) return wire::ok();
  return wire::Error{"collective: work, delays and messages must be from 0 to 2^54 ns (208 days)"};
}

}  // namespace

wire::Result<CollectiveRun> run(const CollectiveProgram& program, const support::LogGops& network,
                                const CollectiveOptions& options) {
  if (auto status = check(program, network); !status) return wire::Error{status.error()};
  if (auto status = check_lengths(program, network); !status) return wire::Error{status.error()};
  if (program.mode == CollectiveMode::kIdeal) return run_ideal(program, options);
  const Costs costs(network);
  const bool eager = longest_message(program) <= network.rendezvous_size;
  if (is_deep(program.call.algorithm)) {
    if (eager && costs.flight() > 0) return run_with<DeepPattern, false>(program, costs, options);
    return run_with<DeepPattern, true>(program, costs, options);
  }
  if (!eager || costs.flight() == 0) return run_with<BoundedPattern, true>(program, costs, options);
  if (is_plain_dissemination(program.call.algorithm))
    return run_with<DisseminationPattern, false>(program, costs, options);
  return run_with<BoundedPattern, false>(program, costs, options);
}

std::size_t bytes_needed(const CollectiveProgram& program) {
  const std::size_t finish = 8;
  if (program.mode == CollectiveMode::kIdeal) return std::size_t(program.ranks) * finish;
  const std::size_t engine = sizeof(RankStateOf<NumberedMessage>) + sizeof(std::int64_t);
  const std::size_t quiet = sizeof(std::int64_t);
  const std::size_t counter = is_deep(program.call.algorithm) ? sizeof(std::uint32_t) : 0;
  return std::size_t(program.ranks) * (engine + counter + quiet + finish);
}

}  // namespace idlewave::sim
