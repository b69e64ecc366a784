#include <algorithm>
#include <array>
#include <vector>

#include "workloads/sim/network/collective_engine.h"
#include "workloads/sim/network/collective_pattern.h"
#include "workloads/sim/network/collective_ranks.h"

namespace idlewave::sim::network {
namespace {

// In this namespace, so that the compiler knows all calls.

constexpr std::size_t kBlock = 256;  ///< Ranks.
constexpr std::size_t kFetchAhead = 8;
constexpr std::size_t kLettersAhead = 32;

/// kInterrupted: the processor is taken from messages as well.
template <class Pattern, bool kInterrupted>
class WindowedCollectives final
    : public CollectiveEngine,
      private CollectiveRanks<WindowedCollectives<Pattern, kInterrupted>, Pattern, WaitingMessage> {
  using Message = WaitingMessage;
  using Ranks = CollectiveRanks<WindowedCollectives, Pattern, Message>;
  friend Ranks;
  using Ranks::flight_;
  using Ranks::kMessage;
  using Ranks::kPost;
  using Ranks::kSend;
  using Ranks::kWork;
  using Ranks::options_;
  using Ranks::pattern_;
  using Ranks::program_;
  using Ranks::ranks_;
  using Ranks::run_;
  using Ranks::state;
  using typename Ranks::Event;
  using typename Ranks::RankState;

 public:
  WindowedCollectives(const CollectiveProgram& program, const Costs& costs, const CollectiveOptions& options)
      : Ranks(program, costs, options),
        // A recorder hears of work when it begins, so it may not begin unseen, long before its rank is visited.
        work_length_(options.recorder ? 0 : program.work_ns * kTicks),
        next_(std::size_t(program.ranks), kNever),
        block_next_((std::size_t(program.ranks) + kBlock - 1) / kBlock, kNever) {
    this->begin_all();
    for (Rank rank = 0; rank < program.ranks; ++rank) put_back(rank, next_send(rank, state(rank)));
  }

  /// Window by window. next_[rank] is a moment before which the rank sends nothing, by what it has to do and by what is
  /// on its way to it. A message that nobody has sent yet will be sent at the least of these moments, over all ranks, or
  /// later, and reaches its receiver a flight (L + o) after that at the earliest: there the window ends. Up to there all
  /// that reaches a rank is known, so ranks are advanced one after another.
  void advance_until(std::int64_t time) override {
    const std::int64_t last = std::min(time, kLongestCollective) * kTicks;
    for (;;) {
      first_ = *std::ranges::min_element(block_next_);
      if (options_.recorder) options_.recorder->nothing_before(to_seconds(std::min(first_ / kTicks, time)));
      if (first_ > last) return;
      if (this->is_stopped()) run_.stopped = true;
      if (run_.stopped) return;
      window_end_ = first_ + flight_;
      for (std::size_t block = 0; block < block_next_.size(); ++block)
        if (block_next_[block] < window_end_) visit(block);
      deliver_mail();
    }
  }

  bool finished() const override { return first_ == kNever; }
  bool is_too_long() const override { return first_ != kNever && first_ > kLongestCollective * kTicks; }
  CollectiveRun take_run() override { return Ranks::take_run(); }

 private:
  static constexpr bool is_interrupted() { return kInterrupted; }

  /// Of one moment all is created at once: then a rank's own comes first, and messages in the order of their senders.
  static std::int64_t creation(std::int64_t time) { return time; }
  std::int64_t creation_of(const Message& message) const { return message.arrival() - flight_; }

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
        const std::int64_t time = s.messages.first().not_before(s.free_to_receive());
        if (time >= window_end_) return next_receive(rank, s);
        this->receive(rank, s, time);
        continue;
      }
      if (!kInterrupted && (s.pending & ~kMessage) == kSend) {
        const std::int64_t time = s.free_to_send();
        if (s.messages.first().is_after(time)) {
          if (time >= window_end_) return time;
          send(rank, s, time);
          continue;
        }
      }
      const Event event = this->first_event(s);
      if (event.time >= window_end_) return next_send(rank, s);
      this->perform(rank, s, event);
    }
  }

  /// Not before: from what is pending and what has been sent. With a recorder no work begins before either.
  std::int64_t next_send(Rank rank, const RankState& s) const {
    const std::int64_t work = s.pending & kWork ? s.cpu + work_length_ : kNever;
    if (s.pending & kSend) return options_.recorder ? std::min(work, s.free_to_send()) : s.free_to_send();
    std::int64_t next = work;
    if (s.pending & kPost) next = std::min(next, s.post_time);
    if (s.pending & kMessage) next = std::min(next, next_receive(rank, s));
    return next;
  }

  std::int64_t next_receive(Rank rank, const RankState& s) const {
    const std::int64_t arrival = s.messages.first_arrival(s.awaited);
    if (arrival == kNever) return kNever;
    return std::max(arrival, s.free_to_receive()) + pattern_.received(rank, s.awaited).receive_cpu;
  }

  [[gnu::always_inline]] void send(Rank rank, RankState& s, std::int64_t time) {
    const std::int64_t arrival = this->occupy_by_send(rank, s, pattern_.sent(rank, s.round), time);
    const auto [to, lane] = pattern_.target(rank, s.round);
    mail(to, {arrival, lane});
    this->go_on(rank, s, time);
  }

  /// A receive that is posted together with a send needs no moment of its own: it is posted before the send begins, or
  /// at the same time.
  [[gnu::always_inline]] void begin_receive(Rank rank, RankState& s, int lane, bool sends) {
    if (sends) {
      if (!this->take_arrived(rank, s, lane)) this->await(s, lane);
    } else if (!this->has_arrived(rank, s, lane)) {
      this->await(s, lane);
    } else {
      this->post_later(s);
    }
  }

  [[gnu::always_inline]] void end_receive(Rank rank, RankState& s, int, std::int64_t time) {
    this->go_on(rank, s, time);
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
    receiver.messages.add(message, this->overflow_, this->in_order_of_senders(to));
    const std::int64_t end = message.arrival() + pattern_.received(to, message.lane()).receive_cpu;
    // nobody could predict a branch
    const std::int64_t unawaited = -std::int64_t{message.lane() != receiver.awaited};
    put_back(to, (end | unawaited) & kNever);
  }

  struct Letter {
    Rank to = 0;
    Message message;
  };

  std::int64_t work_length_;
  std::vector<std::int64_t> next_;        ///< Of each rank.
  std::vector<std::int64_t> block_next_;  ///< The least of kBlock ranks, or less.
  std::int64_t first_ = 0;                ///< The least of all.
  std::int64_t window_end_ = 0;
  std::vector<Letter> mail_;
};

template <class Pattern>
std::unique_ptr<CollectiveEngine> make(const CollectiveProgram& program, const Costs& costs,
                                       const CollectiveOptions& options) {
  if (options.is_interrupted()) return std::make_unique<WindowedCollectives<Pattern, true>>(program, costs, options);
  return std::make_unique<WindowedCollectives<Pattern, false>>(program, costs, options);
}

}  // namespace

std::unique_ptr<CollectiveEngine> make_windowed(const CollectiveProgram& program, const Costs& costs,
                                                const CollectiveOptions& options) {
  if (DisseminationPattern::fits(program.call.algorithm)) return make<DisseminationPattern>(program, costs, options);
  return make<AnyPattern>(program, costs, options);
}

}  // namespace idlewave::sim::network
