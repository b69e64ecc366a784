#pragma once
// The engine of collective_run.h: each rank is a small state machine, in windows or in the order of time.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <queue>
#include <type_traits>
#include <utility>
#include <vector>

#include "workloads/sim/network/collective_rank.h"
#include "workloads/sim/network/collective_run.h"
#include "workloads/sim/network/collective_work.h"
#include "workloads/sim/network/costs.h"
#include "workloads/sim/network/waiting_messages.h"
#include "workloads/support/huge_pages.h"

namespace idlewave::sim::network {

using wire::Phase;

/// Times are in ticks (waiting_messages.h), but for what CollectiveWork says.
/// A visit to a rank is one piece of code, without calls for what happens with every message: a tenth of the time.
/// kInterrupted: the processor is taken from messages as well. kOrdered: all in the order of time, for rendezvous.
/// kGaps: a message may keep an interface for longer than the processor.
template <class Pattern, bool kInterrupted, bool kOrdered, bool kGaps>
class CollectiveEngine {
 public:
  CollectiveEngine(const CollectiveProgram& program, const Costs& costs, const CollectiveOptions& options)
      : program_(program),
        options_(options),
        pattern_(program.call, program.ranks, costs),
        flight_(costs.flight() * kTicks),
        overhead_(costs.overhead() * kTicks),
        work_length_(program.work_ns * kTicks),
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
    for (const RankState& rank : ranks_) run_.finish_ns.push_back(rank.cpu / kTicks);
    return std::move(run_);
  }

 private:
  /// What a rank has yet to do in its round, and beside it.
  enum Pending : std::uint8_t {
    kSend = 1,     ///< To begin it.
    kRelease = 2,  ///< To be let go of by a rendezvous.
    kPost = 4,     ///< Of a receive.
    kMessage = 8,  ///< To be received.
    kWork = 16,
  };
  static constexpr std::uint8_t kRoundPending = kSend | kRelease | kPost | kMessage;

  using Message = std::conditional_t<kOrdered, NumberedMessage, WaitingMessage>;
  using RankState = RankStateOf<Message, kGaps>;
  static constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::max();
  static constexpr std::size_t kBlock = 256;  ///< Ranks.
  static constexpr std::size_t kFetchAhead = 8;
  static constexpr std::size_t kLettersAhead = 32;

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
      if (first > kLongestCollective * kTicks) return false;
      if (is_stopped()) return run_.stopped = true;
      window_end_ = first + flight_;
      for (std::size_t block = 0; block < block_next_.size(); ++block)
        if (block_next_[block] < window_end_) visit(block);
      deliver_mail();
    }
  }

  void visit(std::size_t block) {
    const std::size_t begin = block * kBlock, end = std::min(next_.size(), begin + kBlock);
    std::array<std::uint32_t, kBlock + kFetchAhead> due;
    std::size_t count = 0;
#pragma GCC unroll 8
    for (std::size_t rank = begin; rank < end; ++rank) {
      due[count] = std::uint32_t(rank);
      count += next_[rank] < window_end_;
    }
    block_next_[block] = kNever;
    std::fill_n(due.begin() + std::ptrdiff_t(count), kFetchAhead, due[0]);  // So that there is always one to fetch.
    for (std::size_t i = 0; i < kFetchAhead; ++i) fetch(ranks_[due[i]]);
    for (std::size_t i = 0; i < count; ++i) {
      fetch(ranks_[due[i + kFetchAhead]]);
      next_[due[i]] = advance(Rank(due[i]), ranks_[due[i]]);
    }
    deliver_mail(kLettersAhead);
    std::int64_t next = kNever;
#pragma GCC unroll 8
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
        const std::int64_t time = first_message(s);
        if (time >= window_end_) return next_receive(rank, s);
        receive(rank, s, time);
        continue;
      }
      if (!kInterrupted && (s.pending & ~kMessage) == kSend) {
        const std::int64_t time = s.interface.free_to_send(s.cpu);
        if (s.messages.first().is_after(time)) {
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
    return s.messages.first().not_before(s.interface.free_to_receive(s.cpu));
  }

  /// Not before: from what is pending and what has been sent.
  std::int64_t next_send(Rank rank, const RankState& s) const {
    std::int64_t next = kNever;
    if (s.pending & kSend) return s.interface.free_to_send(s.cpu);
    if (s.pending & kPost) next = s.post_time;
    if (s.pending & kWork) next = std::min(next, s.cpu + work_length_);
    if (s.pending & kMessage) next = std::min(next, next_receive(rank, s));
    return next;
  }

  std::int64_t next_receive(Rank rank, const RankState& s) const {
    const std::int64_t arrival = s.messages.first_arrival(s.awaited);
    if (arrival == kNever) return kNever;
    return std::max(arrival, s.interface.free_to_receive(s.cpu)) + pattern_.received(rank, s.awaited).receive_cpu;
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
      if (event.time > kLongestCollective * kTicks) return false;
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
    if (s.pending & kSend) first.set(s.interface.free_to_send(s.cpu), s.created, kSend);
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
    const Message message = s.messages.first();
    const std::int64_t time = message.not_before(s.interface.free_to_receive(s.cpu));
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

  [[gnu::noinline]] void perform(Rank rank, RankState& s, const Event& event) {
    if constexpr (kInterrupted) {
      if (event.what != kPost && event.what != kWork && is_interrupted(rank, s, event.time)) return;
    }
    switch (event.what) {
      case kSend: return send(rank, s, event.time);
      case kPost: return post(rank, s, event.time);
      case kWork: return work(rank, s, event.time);
      default: return receive(rank, s, event.time);
    }
  }

  bool is_interrupted(Rank rank, RankState& s, std::int64_t time) {
    const std::int64_t free = work_.free_from(rank, time / kTicks) * kTicks;
    if (free <= time) return false;
    s.cpu = free;
    return true;
  }

  void work(Rank rank, RankState& s, std::int64_t time) {
    s.pending &= std::uint8_t(~kWork);
    s.cpu = work_.end(rank, s.step, time / kTicks) * kTicks;
    if (program_.mode == CollectiveMode::kBlocking)
      begin_round(rank, s, 0, time);
    else if (!(s.pending & kRoundPending))
      end_step(rank, s, time);
  }

  [[gnu::always_inline]] void send(Rank rank, RankState& s, std::int64_t time) {
    const Charges& charges = pattern_.sent(rank, s.round);
    s.pending &= std::uint8_t(~kSend);
    std::int64_t arrival = time + flight_;
    s.cpu = time + charges.send_cpu;
    s.interface.send_until(time + charges.nic);
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
    const std::int64_t before_flight = interruptions(rank, s, time, overhead);
    arrival += before_flight;
    s.cpu += cpu == overhead ? before_flight : interruptions(rank, s, time, cpu);
  }

  std::int64_t interruptions(Rank rank, const RankState& s, std::int64_t begin, std::int64_t length) const {
    return work_.interruptions(rank, s.step, begin / kTicks, length / kTicks) * kTicks;
  }

  /// Who gets it is far away in memory. It arrives after the window, so that nobody has missed it.
  void mail(Rank to, Message message) {
    __builtin_prefetch(&state(to), 1);
    mail_.push_back({to, message});
  }

  /// All but the last ones, whose receivers may still be on their way from memory.
  void deliver_mail(std::size_t last = 0) {
    if (mail_.size() <= last) return;
    const auto rest = mail_.end() - std::ptrdiff_t(last);
    for (auto letter = mail_.begin(); letter != rest; ++letter) deliver(letter->to, letter->message);
    mail_.erase(mail_.begin(), rest);
  }

  void deliver(Rank to, Message message) {
    RankState& receiver = state(to);
    receiver.messages.add(message, overflow_, in_order_of_senders(to));
    if constexpr (kOrdered)
      take_turn(to);
    else {
      const std::int64_t end = message.arrival() + pattern_.received(to, message.lane()).receive_cpu;
      // nobody could predict a branch
      const std::int64_t unawaited = -std::int64_t{message.lane() != receiver.awaited};
      put_back(to, (end | unawaited) & kNever);
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
    s.interface.receive_until(time + charges.nic);
    if constexpr (kInterrupted) s.cpu += interruptions(rank, s, time, charges.receive_cpu);
    ++run_.messages;
    if (lane != s.awaited) return count_arrived(rank, s, lane);
    s.awaited = kNoLane;
    s.pending &= std::uint8_t(~kMessage);
    end_receive(rank, s, lane, time);
  }

  void await(RankState& s, int lane) {
    s.pending |= kMessage;
    s.awaited = std::int8_t(lane);
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
    from.interface.send_until(from.interface.free_to_send(time));
    from.pending &= std::uint8_t(~kRelease);
    if (rank < sender) go_on(rank, s, time);
    go_on(sender, from, time);
    if (rank > sender) go_on(rank, s, time);
    take_turn(sender);
  }

  [[gnu::always_inline]] void go_on(Rank rank, RankState& s, std::int64_t time) {
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
    if (options_.recorder)
      options_.recorder->enters(rank, program_.steps - 1, Phase::kNone, to_seconds(s.cpu / kTicks));
  }

  /// A receive that is posted together with a send needs no moment of its own, unless a sender waits for it: it is
  /// posted before the send begins, or at the same time.
  [[gnu::always_inline]] void begin_round(Rank rank, RankState& s, std::uint32_t round, std::int64_t time) {
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

  [[gnu::noinline]] void end_collective(Rank rank, RankState& s, std::int64_t time) {
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
  std::int64_t work_length_;
  CollectiveRun run_;
  CollectiveWork work_;
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
  std::vector<Letter> mail_;
  std::priority_queue<Turn, std::vector<Turn>, Later> turns_;
};

}  // namespace idlewave::sim::network
