#pragma once
// The ranks of a program of collectives: what each has yet to do, and what follows when it has done it.

#include <algorithm>
#include <cassert>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "workloads/sim/network/collective_program.h"
#include "workloads/sim/network/collective_work.h"
#include "workloads/sim/network/costs.h"
#include "workloads/sim/network/waiting_messages.h"
#include "workloads/support/huge_pages.h"

namespace idlewave::sim::network {

/// When a rank's network interface is free, either way. Ticks.
struct Interface {
  std::int64_t sending = 0;
  std::int64_t receiving = 0;
};

/// The first half is what those who send look at. Times are in ticks (waiting_messages.h).
template <class Message>
struct alignas(64) RankStateOf {
  [[no_unique_address]] WaitingMessages<Message> messages;  ///< With room at its end for the next two.
  std::int8_t awaited = kNoLane;
  std::uint8_t pending = 0;

  alignas(64) std::int64_t cpu = 0;  ///< When it is free.
  Interface interface;
  std::int64_t created = 0;       ///< By the order of creation, what comes first of what is pending of the round.
  std::int64_t work_created = 0;  ///< The same of kWork.
  std::int64_t post_time = 0;
  std::uint32_t arrived = 0;        ///< Lanes of which a message is there.
  std::uint32_t arrived_twice = 0;  ///< And another.
  std::uint32_t step = 0;
  std::uint32_t round = 0;

  std::int64_t free_to_send() const { return std::max(cpu, interface.sending); }
  std::int64_t free_to_receive() const { return std::max(cpu, interface.receiving); }
};
static_assert(sizeof(RankStateOf<WaitingMessage>) == 128);

inline constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::max();

/// The state of all ranks, whoever decides which one goes on. That is the Engine, derived from this, which has
///   bool is_interrupted()                     whether the processor is taken from messages as well
///   std::int64_t creation(std::int64_t time)  the number, in the order of creation, of what is created at that time
///   std::int64_t creation_of(const Message&)  the same of a message
///   void send(Rank, RankState&, time)         a rank's send of its round begins
///   void begin_receive(Rank, RankState&, lane, sends)  the receive of a round that has begun, beside a send or not
///   void end_receive(Rank, RankState&, lane, time)     the message that was awaited is there
///
/// What waits for a processor goes on in the order of creation, and `creation` says what that is among things of one
/// moment. A visit to a rank is one piece of code, without calls for what happens with every message: a tenth of the
/// time. Times are in ticks, but for what CollectiveWork says.
template <class Engine, class Pattern, class Message>
class CollectiveRanks {
 protected:
  using RankState = RankStateOf<Message>;

  /// What a rank has yet to do in its round, and beside it.
  enum Pending : std::uint8_t {
    kSend = 1,     ///< To begin it.
    kRelease = 2,  ///< To be let go of by a rendezvous.
    kPost = 4,     ///< Of a receive.
    kMessage = 8,  ///< To be received.
    kWork = 16,
  };
  static constexpr std::uint8_t kRoundPending = kSend | kRelease | kPost | kMessage;

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

  CollectiveRanks(const CollectiveProgram& program, const Costs& costs, const CollectiveOptions& options)
      : program_(program),
        options_(options),
        pattern_(program.call, program.ranks, costs),
        flight_(costs.flight() * kTicks),
        overhead_(costs.overhead() * kTicks),
        work_(program_, options_, run_),
        ranks_(std::size_t(program.ranks)),
        arrived_(pattern_.is_deep() ? std::size_t(program.ranks) : 0) {}

  void begin_all() {
    for (Rank rank = 0; rank < program_.ranks; ++rank) begin_step(rank, state(rank), 0);
  }

  RankState& state(Rank rank) { return ranks_[std::size_t(rank)]; }
  bool is_stopped() const { return options_.stop && options_.stop->load(std::memory_order_relaxed); }

  CollectiveRun take_run() {
    for (const RankState& rank : ranks_) run_.finish_ns.push_back(rank.cpu / kTicks);
    return std::move(run_);
  }

  // --- What may happen next.

  /// What was created at one moment: first what the rank itself has to do.
  Event first_event(const RankState& s) {
    Event first;
    if (s.pending & kSend) first.set(s.free_to_send(), s.created, kSend);
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
    const std::int64_t time = message.not_before(s.free_to_receive());
    if (time > first.time) return;
    const std::int64_t created = engine().creation_of(message);
    if (time < first.time || created < first.created)
      first.set(time, created, kMessage);
    else if (created == first.created)
      run_.tied = true;
  }

  // --- What happens.

  [[gnu::noinline]] void perform(Rank rank, RankState& s, const Event& event) {
    if (engine().is_interrupted() && event.what != kPost && event.what != kWork && waits_for_noise(rank, s, event.time))
      return;
    switch (event.what) {
      case kSend: return engine().send(rank, s, event.time);
      case kPost: return post(rank, s, event.time);
      case kWork: return work(rank, s, event.time);
    }
    assert(event.what == kMessage);
    receive(rank, s, event.time);
  }

  bool waits_for_noise(Rank rank, RankState& s, std::int64_t time) {
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

  /// Takes what a send that begins at `time` takes; when its first byte is there.
  [[gnu::always_inline]] std::int64_t occupy_by_send(Rank rank, RankState& s, const Charges& charges,
                                                     std::int64_t time) {
    s.pending &= std::uint8_t(~kSend);
    s.cpu = time + charges.send_cpu;
    s.interface.sending = time + charges.nic;
    if (!engine().is_interrupted()) return time + flight_;
    const std::int64_t overhead = std::min(charges.send_cpu, overhead_);
    const std::int64_t before_flight = interruptions(rank, s, time, overhead);
    s.cpu += charges.send_cpu == overhead ? before_flight : interruptions(rank, s, time, charges.send_cpu);
    return time + flight_ + before_flight;
  }

  std::int64_t interruptions(Rank rank, const RankState& s, std::int64_t begin, std::int64_t length) const {
    return work_.interruptions(rank, s.step, begin / kTicks, length / kTicks) * kTicks;
  }

  void post(Rank rank, RankState& s, std::int64_t time) {
    s.pending &= std::uint8_t(~kPost);
    const int lane = pattern_.lane(rank, s.round);
    if (take_arrived(rank, s, lane))
      engine().end_receive(rank, s, lane, time);
    else
      await(s, lane);
  }

  void post_later(RankState& s) {
    s.pending |= kPost;
    s.post_time = s.cpu;
  }

  void receive(Rank rank, RankState& s, std::int64_t time) {
    const int lane = s.messages.take(overflow_, in_order_of_senders(rank)).lane();
    const Charges& charges = pattern_.received(rank, lane);
    s.cpu = time + charges.receive_cpu;
    s.interface.receiving = time + charges.nic;
    if (engine().is_interrupted()) s.cpu += interruptions(rank, s, time, charges.receive_cpu);
    ++run_.messages;
    if (lane != s.awaited) return count_arrived(rank, s, lane);
    s.awaited = kNoLane;
    s.pending &= std::uint8_t(~kMessage);
    engine().end_receive(rank, s, lane, time);
  }

  void await(RankState& s, int lane) {
    s.pending |= kMessage;
    s.awaited = std::int8_t(lane);
  }

  auto in_order_of_senders(Rank rank) {
    return [this, rank](int lane) {
      run_.tied = true;
      return pattern_.sender(rank, lane);
    };
  }

  // --- What follows.

  [[gnu::always_inline]] void go_on(Rank rank, RankState& s, std::int64_t time) {
    if (!(s.pending & kRoundPending)) begin_round(rank, s, s.round + 1, time);
  }

  [[gnu::always_inline]] void begin_round(Rank rank, RankState& s, std::uint32_t round, std::int64_t time) {
    if (round == pattern_.rounds(rank)) return end_collective(rank, s, time);
    s.round = round;
    s.created = engine().creation(time);
    const bool sends = pattern_.sends(rank, round);
    const int lane = pattern_.lane(rank, round);
    if (sends) s.pending |= kSend;
    if (lane != kNoLane) engine().begin_receive(rank, s, lane, sends);
  }

  [[gnu::noinline]] void end_collective(Rank rank, RankState& s, std::int64_t time) {
    if (!(s.pending & kWork)) end_step(rank, s, time);
  }

  void begin_step(Rank rank, RankState& s, std::int64_t time) {
    s.pending |= kWork;
    if (program_.mode == CollectiveMode::kNonblocking) begin_round(rank, s, 0, time);
    s.work_created = engine().creation(time);
  }

  void end_step(Rank rank, RankState& s, std::int64_t time) {
    ++run_.rank_steps;
    if (++s.step < program_.steps) return begin_step(rank, s, time);
    if (options_.recorder)
      options_.recorder->enters(rank, program_.steps - 1, Phase::kNone, to_seconds(s.cpu / kTicks));
  }

  // --- Messages that came before they were awaited.

  void count_arrived(Rank rank, RankState& s, int lane) {
    if (pattern_.is_deep()) {
      ++arrived_[pattern_.counter(rank, lane)];
    } else {
      const std::uint32_t bit = std::uint32_t{1} << lane;
      s.arrived_twice |= s.arrived & bit;
      s.arrived |= bit;
    }
  }

  bool has_arrived(Rank rank, const RankState& s, int lane) const {
    if (pattern_.is_deep()) return arrived_[pattern_.counter(rank, lane)] > 0;
    return s.arrived >> lane & 1;
  }

  bool take_arrived(Rank rank, RankState& s, int lane) {
    if (!has_arrived(rank, s, lane)) return false;
    if (pattern_.is_deep()) {
      --arrived_[pattern_.counter(rank, lane)];
    } else {
      const std::uint32_t bit = std::uint32_t{1} << lane;
      s.arrived &= ~bit | s.arrived_twice;
      s.arrived_twice &= ~bit;
    }
    return true;
  }

  CollectiveProgram program_;
  CollectiveOptions options_;
  Pattern pattern_;
  std::int64_t flight_;
  std::int64_t overhead_;
  CollectiveRun run_;
  CollectiveWork work_;
  support::HugeVector<RankState> ranks_;
  MessageOverflow<Message> overflow_;

 private:
  Engine& engine() { return static_cast<Engine&>(*this); }

  std::vector<std::uint32_t> arrived_;  ///< Of a deep pattern.
};

}  // namespace idlewave::sim::network
