#include "workloads/sim/network/goal_run.h"

#include <fmt/format.h>

#include <algorithm>

#include "workloads/sim/network/costs.h"
#include "workloads/sim/network/event_queue.h"
#include "workloads/sim/network/match_queue.h"

namespace idlewave::sim {

namespace {

/// Brings what stands there into the cache. The empty statement keeps GCC from taking callers for functions without
/// effect and leaving out their calls.
inline void fetch(const void* memory) {
  __builtin_prefetch(memory);
  asm volatile("");
}

/// When each rank's processors and interfaces are free.
class Clocks {
 public:
  Clocks(const GoalSchedule& schedule, std::span<const std::int64_t> start)
      : cpus_(std::size_t(schedule.cpus())),
        stride_(cpus_ + 2 * std::size_t(schedule.nics())),
        free_(stride_ * std::size_t(schedule.ranks())) {
    for (std::size_t rank = 0; rank < start.size(); ++rank)
      std::fill_n(free_.begin() + std::ptrdiff_t(rank * stride_), stride_, start[rank]);
  }

  std::int64_t& cpu(Rank rank, Units units) { return free_[std::size_t(rank) * stride_ + units.cpu]; }
  std::int64_t& sending(Rank rank, Units units) { return free_[std::size_t(rank) * stride_ + cpus_ + 2u * units.nic]; }
  std::int64_t& receiving(Rank rank, Units units) {
    return free_[std::size_t(rank) * stride_ + cpus_ + 2u * units.nic + 1];
  }

  std::int64_t last_cpu(Rank rank) const {
    const auto first = free_.begin() + std::ptrdiff_t(std::size_t(rank) * stride_);
    return std::max(std::int64_t{0}, *std::max_element(first, first + std::ptrdiff_t(cpus_)));
  }

 private:
  std::size_t cpus_;
  std::size_t stride_;
  std::vector<std::int64_t> free_;
};

class Engine {
 public:
  Engine(const GoalSchedule& schedule, const Costs& costs, std::span<const std::int64_t> start)
      : schedule_(schedule),
        ops_(schedule.ops()),
        costs_(costs),
        clocks_(schedule, start),
        receives_(std::size_t(schedule.ranks())),
        unexpected_(std::size_t(schedule.ranks())),
        waits_(schedule.waits()) {}

  GoalRun run() {
    begin();
    while (!events_.empty()) {
      const NetworkEvent event =
          events_.pop([this](const NetworkEvent& coming, EventQueue::Soon soon) { expect(coming, soon); });
      if (event.what & kFlag)
        arrive(event, event.what & ~kFlag);
      else if (event.what & kPair)
        perform_both(event, event.what & ~kPair);
      else
        perform(event, event.what);
    }
    return result();
  }

 private:
  static constexpr OpId kFlag =
      OpId{1} << 31;  ///< In NetworkEvent::what: the message of a send. In a dependent: kWaitsForStart.
  static constexpr OpId kPair = OpId{1} << 30;  ///< In NetworkEvent::what: this operation, then the next, at one time.
  static_assert(kMaxOps < kPair);
  static_assert(kFlag == GoalSchedule::kWaitsForStart);

  /// From afar the operation, and when that has come, what it leads to.
  void expect(const NetworkEvent& event, EventQueue::Soon soon) {
    const OpId op = event.what & ~(kFlag | kPair);
    soon == EventQueue::Soon::kFar ? fetch_op(op) : fetch_rank(event, ops_[op]);
  }

  /// What waits for it is often the next one or the one after that.
  void fetch_op(OpId op) {
    fetch(&ops_[op]);
    fetch(&ops_[std::min<std::size_t>(op + 2, ops_.size() - 1)]);
    fetch(&waits_[op]);
  }

  void fetch_rank(const NetworkEvent& event, const PlacedOp& what) {
    const Rank rank = event.what & kFlag ? what.peer : what.rank;
    fetch(&clocks_.cpu(rank, {}));
    fetch(&receives_[std::size_t(rank)]);
    fetch(&unexpected_[std::size_t(rank)]);
  }

  void begin() {
    const auto roots = schedule_.roots();
    for (std::size_t i = 0; i < roots.size();) {
      const Rank rank = ops_[roots[i]].rank;
      for (; i < roots.size() && ops_[roots[i]].rank == rank; ++i) ready_.push_back(roots[i]);
      issue(rank, ready_);
    }
  }

  /// A run goes through the ranks' operations side by side, each in order: more streams than the processor follows.
  void fetch_behind(OpId op) {
    const std::size_t last = ops_.size() - 1;
    fetch(&ops_[std::min<std::size_t>(op + 8, last)]);
    fetch(&waits_[std::min<std::size_t>(op + 16, last)]);
  }

  /// Nothing comes between the two, but what the first lets begin on another processor that was free before.
  void perform_both(NetworkEvent event, OpId op) {
    event.what = op;
    perform(event, op);
    ++event.what, ++event.number;
    if (events_.is_overtaken())
      events_.push(event);
    else
      perform(event, op + 1);
  }

  void perform(const NetworkEvent& event, OpId op) {
    const PlacedOp& what = ops_[op];
    fetch_behind(op);
    switch (what.kind) {
      case OpKind::kSend:
        return send(event, op, what);
      case OpKind::kRecv:
        return post(event.time, op, what);
      case OpKind::kCalc:
        return calculate(event, op, what);
    }
  }

  void calculate(const NetworkEvent& event, OpId op, const GoalOp& what) {
    std::int64_t& cpu = clocks_.cpu(what.rank, what.units);
    if (cpu > event.time) return again(event, cpu);
    cpu = event.time + std::int64_t(what.amount);
    ++run_.ops;
    end(start(op, ready_), op, ready_);
    issue(what.rank, ready_);
  }

  void send(const NetworkEvent& event, OpId op, const GoalOp& what) {
    std::int64_t& cpu = clocks_.cpu(what.rank, what.units);
    std::int64_t& nic = clocks_.sending(what.rank, what.units);
    if (const std::int64_t free = std::max(cpu, nic); free > event.time) return again(event, free);
    cpu = event.time + costs_.send_cpu(what.amount);
    nic = event.time + costs_.nic(what.amount);
    ++run_.ops;
    events_.push({event.time + costs_.flight(), number_++, op | kFlag});
    const OpId* const rest = start(op, ready_);
    if (costs_.is_eager(what.amount)) end(rest, op, ready_);
    issue(what.rank, ready_);
  }

  void post(std::int64_t time, OpId op, const GoalOp& what) {
    ++run_.ops;
    const OpId* const rest = start(op, ready_);
    const auto message = unexpected_[std::size_t(what.rank)].take(what.peer, what.tag);
    if (message) {
      release_sender(time, *message, what.units, what.rank);
      end(rest, op, ready_);
    } else {
      receives_[std::size_t(what.rank)].add({what.peer, what.tag, op});
    }
    issue_both(what.rank, message ? ops_[*message].rank : what.rank);
  }

  void arrive(const NetworkEvent& event, OpId op) {
    const PlacedOp& sent = ops_[op];
    std::int64_t& cpu = clocks_.cpu(sent.peer, sent.units);
    std::int64_t& nic = clocks_.receiving(sent.peer, sent.units);
    if (const std::int64_t free = std::max(cpu, nic); free > event.time) return again(event, free);
    cpu = event.time + costs_.receive_cpu(sent.amount);
    nic = event.time + costs_.nic(sent.amount);
    ++run_.messages;
    const auto receive = receives_[std::size_t(sent.peer)].take(sent.rank, sent.tag);
    if (!receive) return unexpected_[std::size_t(sent.peer)].add({sent.rank, sent.tag, op});
    release_sender(event.time, op, sent.units, sent.peer);
    end(*receive, ready_);
    issue_both(sent.peer, sent.rank);
  }

  /// `units`: of whichever came last, the receive or the message.
  void release_sender(std::int64_t time, OpId message, Units units, Rank receiver) {
    const GoalOp& sent = ops_[message];
    if (costs_.is_eager(sent.amount)) return;
    end(message, sent.rank == receiver ? ready_ : ready_at_sender_);
    std::int64_t& cpu = clocks_.cpu(sent.rank, units);
    std::int64_t& nic = clocks_.sending(sent.rank, units);
    cpu = std::max(cpu, time);
    nic = std::max(nic, time);
  }

  /// The same event, with its number, when what it needs is free.
  void again(NetworkEvent event, std::int64_t time) {
    event.time = time;
    events_.push(event);
  }

  /// Returns where the dependents begin that wait for the end.
  const OpId* start(OpId op, std::vector<OpId>& ready) {
    const auto dependents = schedule_.dependents(op);
    const OpId* next = dependents.data();
    for (const OpId* const stop = next + dependents.size(); next != stop && (*next & kFlag); ++next)
      satisfy(*next & ~kFlag, ready);
    return next;
  }

  void end(const OpId* rest, OpId op, std::vector<OpId>& ready) {
    const auto dependents = schedule_.dependents(op);
    for (const OpId* const stop = dependents.data() + dependents.size(); rest != stop; ++rest) satisfy(*rest, ready);
  }

  void end(OpId op, std::vector<OpId>& ready) {
    for (const OpId dependent : schedule_.dependents(op))
      if (!(dependent & kFlag)) satisfy(dependent, ready);
  }

  void satisfy(OpId op, std::vector<OpId>& ready) {
    if (--waits_[op] == 0) ready.push_back(op);
  }

  /// Numbers are given in the order of ranks.
  void issue_both(Rank receiver, Rank sender) {
    if (receiver < sender) issue(receiver, ready_);
    if (!ready_at_sender_.empty()) issue(sender, ready_at_sender_);
    issue(receiver, ready_);
  }

  void issue(Rank rank, std::vector<OpId>& ready) {
    // The order of many that are of one kind is that of std::sort, as in LogGOPSim: it is not stable.
    if (ready.size() > 1)
      std::sort(ready.begin(), ready.end(), [&](OpId a, OpId b) { return ops_[a].kind < ops_[b].kind; });
    for (std::size_t i = 0; i < ready.size(); ++i) {
      const std::int64_t time = earliest(rank, ops_[ready[i]]);
      const bool pair =
          i + 1 < ready.size() && ready[i + 1] == ready[i] + 1 && earliest(rank, ops_[ready[i + 1]]) == time;
      events_.push({time, number_, pair ? ready[i] | kPair : ready[i]});
      number_ += 1 + pair;
      i += pair;
    }
    ready.clear();
  }

  std::int64_t earliest(Rank rank, const GoalOp& op) {
    const std::int64_t cpu = clocks_.cpu(rank, op.units);
    return op.kind == OpKind::kSend ? std::max(cpu, clocks_.sending(rank, op.units)) : cpu;
  }

  GoalRun result() {
    for (Rank rank = 0; rank < schedule_.ranks(); ++rank) run_.finish_ns.push_back(clocks_.last_cpu(rank));
    for (std::size_t rank = 0; rank < receives_.size(); ++rank) {
      report_left(receives_[rank].entries());
      report_left(unexpected_[rank].entries());
    }
    return std::move(run_);
  }

  void report_left(std::span<const MatchQueue::Entry> entries) {
    for (const auto& entry : entries) {
      if (entry.op == MatchQueue::kTaken) continue;
      const GoalOp& op = ops_[entry.op];
      const bool receive = op.kind == OpKind::kRecv;
      run_.stuck.push_back({receive ? Stuck::Kind::kReceive : Stuck::Kind::kMessage, op.rank, op.peer, op.tag,
                            op.amount, !receive && !costs_.is_eager(op.amount)});
    }
  }

  const GoalSchedule& schedule_;
  std::span<const PlacedOp> ops_;
  Costs costs_;
  Clocks clocks_;
  EventQueue events_;
  std::vector<MatchQueue> receives_;    ///< By rank: posted, no message yet.
  std::vector<MatchQueue> unexpected_;  ///< By rank: messages that arrived before their receive; by their send.
  GoalSchedule::Waits waits_;           ///< By operation: for how many others.
  std::vector<OpId> ready_;             ///< Of the rank at hand; empty between events.
  std::vector<OpId> ready_at_sender_;   ///< Of the sender whose rendezvous succeeded; empty between events.
  std::uint32_t number_ = 0;
  GoalRun run_;
};

/// No run is longer than all of its operations one after another.
double longest(const GoalSchedule& schedule, const support::LogGops& network) {
  const double message = double(network.latency.count()) + 2 * double(network.overhead.count() + network.gap.count());
  const double byte = 2e9 * (network.gap_per_byte + network.overhead_per_byte);
  const auto& sums = schedule.amounts();
  return sums.calc_ns + message * sums.messages + byte * sums.bytes;
}

wire::Status check(const GoalSchedule& schedule, const support::LogGops& network, std::span<const std::int64_t> start) {
  if (auto status = check_costs(network); !status) return status;
  if (!start.empty() && start.size() != std::size_t(schedule.ranks()))
    return wire::Error{fmt::format("start times: {} given for {} ranks", start.size(), schedule.ranks())};
  const auto [first, last] = std::minmax_element(start.begin(), start.end());
  if (!start.empty() && *first < 0) return wire::Error{"start times: they must not be negative"};
  if (longest(schedule, network) + (start.empty() ? 0.0 : double(*last)) > double(std::int64_t{1} << 62))
    return wire::Error{
        "schedule: it may run for more than 2^62 ns (146 years); make its calculations or messages smaller"};
  return wire::ok();
}

std::string name_of(Rank rank) { return rank == kAnySource ? "any rank" : fmt::format("rank {}", rank); }

std::string name_of_tag(Tag tag) { return tag == kAnyTag ? "any tag" : fmt::format("tag {}", tag); }

}  // namespace

std::string describe(const Stuck& stuck) {
  if (stuck.kind == Stuck::Kind::kReceive)
    return fmt::format("rank {} waits for {} B from {}, {}, and no such message comes", stuck.rank, stuck.bytes,
                       name_of(stuck.peer), name_of_tag(stuck.tag));
  return fmt::format("rank {} sent {} B to {}, {}, and no receive takes them{}", stuck.rank, stuck.bytes,
                     name_of(stuck.peer), name_of_tag(stuck.tag), stuck.blocks_sender ? ": it waits in this send" : "");
}

wire::Result<GoalRun> run(const GoalSchedule& schedule, const support::LogGops& network, const GoalOptions& options) {
  if (auto status = check(schedule, network, options.start_ns); !status) return wire::Error{status.error()};
  return Engine(schedule, Costs(network), options.start_ns).run();
}

}  // namespace idlewave::sim
