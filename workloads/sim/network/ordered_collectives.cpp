#include <algorithm>
#include <queue>
#include <utility>
#include <vector>

#include "workloads/sim/network/collective_engine.h"
#include "workloads/sim/network/collective_pattern.h"
#include "workloads/sim/network/collective_ranks.h"

namespace idlewave::sim::network {
namespace {

class OrderedCollectives final : public CollectiveEngine,
                                 private CollectiveRanks<OrderedCollectives, AnyPattern, NumberedMessage> {
  using Message = NumberedMessage;
  using Ranks = CollectiveRanks<OrderedCollectives, AnyPattern, Message>;
  friend Ranks;

 public:
  OrderedCollectives(const CollectiveProgram& program, const Costs& costs, const CollectiveOptions& options)
      : Ranks(program, costs, options), interrupted_(options.is_interrupted()) {
    begin_all();
    for (Rank rank = 0; rank < program.ranks; ++rank) take_turn(rank);
  }

  void advance_until(std::int64_t time) override {
    const std::int64_t last = std::min(time, kLongestCollective) * kTicks;
    for (; !turns_.empty(); ++moments_) {
      const auto [event, rank] = turns_.top();
      const Event now = first_event(state(rank));
      if (now.is_before(event) || event.is_before(now)) {  // It has changed, and has another turn.
        turns_.pop();
        continue;
      }
      if (event.time > last) break;
      if (moments_ % kLookForStop == 0 && is_stopped()) {
        run_.stopped = true;
        break;
      }
      turns_.pop();
      if (options_.recorder) options_.recorder->nothing_before(to_seconds(event.time / kTicks));
      perform(rank, state(rank), now);
      take_turn(rank);
    }
    if (options_.recorder) options_.recorder->nothing_before(to_seconds(std::min(time, next() / kTicks)));
  }

  bool finished() const override { return turns_.empty(); }
  bool is_too_long() const override { return !turns_.empty() && next() > kLongestCollective * kTicks; }
  CollectiveRun take_run() override { return Ranks::take_run(); }

 private:
  static constexpr std::uint64_t kLookForStop = 1024;  ///< Moments.

  bool is_interrupted() const { return interrupted_; }

  /// Counted, as goal_run.h does.
  std::int64_t creation(std::int64_t) { return created_++; }
  static std::int64_t creation_of(const Message& message) { return message.number(); }

  std::int64_t next() const { return turns_.empty() ? kNever : turns_.top().first.time; }

  using Turn = std::pair<Event, Rank>;
  struct Later {
    bool operator()(const Turn& a, const Turn& b) const {
      return b.first.is_before(a.first) || (!a.first.is_before(b.first) && b.second < a.second);
    }
  };

  void take_turn(Rank rank) {
    const Event event = first_event(state(rank));
    if (event.time != kNever) turns_.push({event, rank});
  }

  void send(Rank rank, RankState& s, std::int64_t time) {
    const Charges charges = pattern_.sent(rank, s.round);
    const std::int64_t arrival = occupy_by_send(rank, s, charges, time);
    if (!charges.eager) s.pending |= kRelease;
    const auto [to, lane] = pattern_.target(rank, s.round);
    state(to).messages.add({arrival, lane, creation(time)}, overflow_, in_order_of_senders(to));
    take_turn(to);
    go_on(rank, s, time);
  }

  void begin_receive(Rank, RankState& s, int, bool) { post_later(s); }

  void end_receive(Rank rank, RankState& s, int lane, std::int64_t time) {
    if (pattern_.received(rank, lane).eager) return go_on(rank, s, time);
    end_rendezvous(rank, s, pattern_.sender(rank, lane), time);
  }

  void end_rendezvous(Rank rank, RankState& s, Rank sender, std::int64_t time) {
    RankState& from = state(sender);
    from.cpu = std::max(from.cpu, time);
    from.interface.sending = std::max(from.interface.sending, time);
    from.pending &= std::uint8_t(~kRelease);
    if (rank < sender) go_on(rank, s, time);
    go_on(sender, from, time);
    if (rank > sender) go_on(rank, s, time);
    take_turn(sender);
  }

  bool interrupted_;
  std::int64_t created_ = 0;
  std::uint64_t moments_ = 0;
  std::priority_queue<Turn, std::vector<Turn>, Later> turns_;
};

}  // namespace

std::unique_ptr<CollectiveEngine> make_ordered(const CollectiveProgram& program, const Costs& costs,
                                               const CollectiveOptions& options) {
  return std::make_unique<OrderedCollectives>(program, costs, options);
}

}  // namespace idlewave::sim::network
