#include "workloads/sim/network/goal_engine.h"

#include <algorithm>
#include <cstdint>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "workloads/sim/network/busy_cpus.h"
#include "workloads/sim/network/costs.h"
#include "workloads/sim/network/event_queue.h"
#include "workloads/sim/network/goal_check.h"
#include "workloads/sim/network/goal_extension.h"
#include "workloads/sim/network/matching.h"
#include "workloads/sim/network/network_event.h"
#include "workloads/sim/network/rank_clocks.h"
#include "workloads/sim/network/waiting_lines.h"

namespace idlewave::sim::network {
namespace {

// In this namespace, so that the compiler knows all calls.

struct NoGoalExtension {
  NoGoalExtension(const GoalSchedule&, const GoalOptions&) {}
};

/// kExtended: with memory domains, noise or an observer. What it takes for them compiles to nothing without.
template <bool kExtended>
class Engine final : public GoalEngine {
 public:
  Engine(const GoalSchedule& schedule, const Costs& costs, const GoalOptions& options)
      : schedule_(schedule),
        ops_(schedule.ops()),
        costs_(costs),
        clocks_(schedule, options.start_ns),
        matching_(schedule.ranks()),
        waits_(schedule.waits()),
        more_(schedule, options),
        // What ends at a moment comes before everything else then.
        number_(wakes()),
        lines_(kWake | wakes()) {
    begin();
  }

  void advance_until(std::int64_t time) override {
    while (!events_.empty() && !is_over()) {
      const NetworkEvent event =
          events_.pop([this](const NetworkEvent& coming, EventQueue::Soon soon) { expect(coming, soon); });
      if constexpr (kExtended) {
        if (event.time > time) return put_back(event);
      }
      if (!(event.what & kFlag))
        perform(event);
      else if (!(event.what & kPair)) [[likely]]
        arrive(event, event.what & ~kFlag);
      else if (lines_.is_line(event.what))
        go_on_in_line(event);
      else if constexpr (kExtended)
        wake(event, event.what & ~kWake);
    }
  }

  bool finished() const override { return events_.empty(); }
  bool is_too_long() const override { return too_long_; }
  GoalRun take_run() override { return result(); }

 private:
  static constexpr std::uint64_t kLookForStop = 4096;  ///< Events.
  /// In NetworkEvent::what: the message of a send. In a dependent: kWaitsForStart.
  static constexpr OpId kFlag = OpId{1} << 31;
  static constexpr OpId kPair = OpId{1} << 30;  ///< In NetworkEvent::what: this operation, then the next, at one time.
  /// In NetworkEvent::what: of a domain; behind those of a processor; behind those of a line of events that wait.
  static constexpr OpId kWake = kFlag | kPair;
  static constexpr std::uint32_t kFew = 8;  ///< So many may wait for a processor without a line.
  static_assert(kMaxOps < kPair);
  static_assert(kFlag == GoalSchedule::kWaitsForStart);

  /// Of domains and processors.
  std::uint32_t wakes() const {
    if constexpr (kExtended)
      if (more_.memory) return more_.domains() + std::uint32_t(schedule_.ranks()) * more_.cpus_a_rank;
    return 0;
  }

  bool is_over() {
    if constexpr (kExtended) {
      run_.stopped = ++run_.events % kLookForStop == 0 && more_.stop && more_.stop->load(std::memory_order_relaxed);
      return run_.stopped || too_long_;
    }
    return false;
  }

  void put_back(const NetworkEvent& event) {
    --run_.events;
    events_.push(event);
  }

  /// Brings what stands there into the cache. The empty statement keeps GCC from taking callers for functions without
  /// effect and leaving out their calls.
  static void fetch(const void* memory) {
    __builtin_prefetch(memory);
    asm volatile("");
  }

  /// From afar the operation, and when that has come, what it leads to.
  void expect(const NetworkEvent& event, EventQueue::Soon soon) {
    if ((event.what & kWake) == kWake) return;
    const OpId op = event.what & ~(kFlag | kPair);
    soon == EventQueue::Soon::kFar ? fetch_op(op) : fetch_rank(event, ops_[op]);
  }

  /// What waits for it is often the next one or the one after that.
  void fetch_op(OpId op) {
    fetch(&ops_[op]);
    fetch(&ops_[std::min<std::size_t>(op + 2, ops_.size() - 1)]);
    fetch(waits_.place_of(op));
  }

  void fetch_rank(const NetworkEvent& event, const PlacedOp& what) {
    const Rank rank = event.what & kFlag ? what.peer : what.rank;
    fetch(&clocks_.cpu(rank, {}));
    matching_.expect(rank, fetch);
  }

  void begin() {
    const auto roots = schedule_.roots();
    for (std::size_t i = 0; i < roots.size();) {
      const Rank rank = ops_[roots[i]].rank;
      for (; i < roots.size() && ops_[roots[i]].rank == rank; ++i) ready_.push_back(roots[i]);
      issue(rank, ready_);
    }
  }

  /// One operation, or a pair that stands for two events of one moment with numbers one after the other. No event can
  /// lie between these, but what the first lets begin may begin earlier than now: on another processor of its rank, which
  /// has been free for longer. Then the second goes back to the queue, behind that.
  void perform(NetworkEvent event) {
    bool pair = event.what & kPair;
    event.what &= ~kPair;
    for (;;) {
      perform_one(event);
      if (!pair) return;
      pair = false;
      ++event.what, ++event.number;
      if (events_.is_overtaken()) return events_.push(event);
    }
  }

  void perform_one(const NetworkEvent& event) {
    const OpId op = event.what;
    const PlacedOp& what = ops_[op];
    switch (what.kind) {
      case OpKind::kSend: return send(event, op, what);
      case OpKind::kRecv: return post(event.time, op, what);
      case OpKind::kCalc: return calculate(event, op, what);
    }
  }

  void calculate(const NetworkEvent& event, OpId op, const PlacedOp& what) {
    std::int64_t& cpu = clocks_.cpu(what.rank, what.units);
    if (cpu > event.time) return put_off(event, what.rank, cpu);
    if constexpr (kExtended) {
      if (!what.idle && is_interrupted(event, what.rank)) return;
      cpu = end_of_calc(event.time, op, what);
    } else {
      cpu = event.time + std::int64_t(what.amount);
    }
    ++run_.ops;
    go_on<For::kBoth>(what.rank, what);
  }

  void send(const NetworkEvent& event, OpId op, const PlacedOp& what) {
    std::int64_t& cpu = clocks_.cpu(what.rank, what.units);
    std::int64_t& nic = clocks_.sending(what.rank, what.units);
    if (!take(event, what.rank, cpu, nic, costs_.send_cpu(what.amount), costs_.nic(what.amount))) return;
    ++run_.ops;
    events_.push({event.time + costs_.flight(), number_++, op | kFlag});
    costs_.is_eager(what.amount) ? go_on<For::kBoth>(what.rank, what) : go_on<For::kStart>(what.rank, what);
  }

  void post(std::int64_t time, OpId op, const PlacedOp& what) {
    ++run_.ops;
    const auto message = matching_.post(op, what);
    if (!message) return go_on<For::kStart>(what.rank, what);
    const PlacedOp& sent = ops_[*message];
    if (costs_.is_eager(sent.amount)) return go_on<For::kBoth>(what.rank, what);
    satisfy<For::kStart>(what, ready_);
    release_sender(time, sent, what.units, what.rank);
    satisfy<For::kEnd>(what, ready_);
    issue_both(what.rank, sent.rank);
  }

  void arrive(const NetworkEvent& event, OpId op) {
    const PlacedOp& sent = ops_[op];
    std::int64_t& cpu = clocks_.cpu(sent.peer, sent.units);
    std::int64_t& nic = clocks_.receiving(sent.peer, sent.units);
    if (!take(event, sent.peer, cpu, nic, costs_.receive_cpu(sent.amount), costs_.nic(sent.amount))) return;
    ++run_.messages;
    const auto receive = matching_.arrive(op, sent);
    if (!receive) return;
    if (costs_.is_eager(sent.amount)) return go_on<For::kEnd>(sent.peer, ops_[*receive]);
    release_sender(event.time, sent, sent.units, sent.peer);
    satisfy<For::kEnd>(ops_[*receive], ready_);
    issue_both(sent.peer, sent.rank);
  }

  /// Takes a rank's processor and one side of its interface for as long as a message needs them; if they are not free,
  /// the event comes again.
  bool take(const NetworkEvent& event, Rank rank, std::int64_t& cpu, std::int64_t& nic, std::int64_t overhead,
            std::int64_t gap) {
    if (const std::int64_t free = std::max(cpu, nic); free > event.time) return put_off(event, rank, free), false;
    if (is_interrupted(event, rank)) return false;
    cpu = end_of_overhead(rank, event.time, overhead);
    nic = event.time + gap;
    return true;
  }

  /// `units`: of whichever came last, the receive or the message.
  void release_sender(std::int64_t time, const PlacedOp& sent, Units units, Rank receiver) {
    satisfy<For::kEnd>(sent, sent.rank == receiver ? ready_ : ready_at_sender_);
    std::int64_t& cpu = clocks_.cpu(sent.rank, units);
    std::int64_t& nic = clocks_.sending(sent.rank, units);
    if constexpr (kExtended)
      if (BusyCpus::is_busy(cpu)) {
        auto& not_before = more_.busy[BusyCpus::cpu_of(cpu)].not_before;
        not_before = std::max(not_before, time);
      }
    cpu = std::max(cpu, time);
    nic = std::max(nic, time);
  }

  /// What it needs is not free before `time`: alone it comes again then; else the first of those that need the same.
  void put_off(const NetworkEvent& event, Rank rank, std::int64_t time) {
    if constexpr (kExtended)
      if (BusyCpus::is_busy(time))
        return more_.busy[BusyCpus::cpu_of(time)].parked < kFew ? again(event, time) : stand_in_line(event, time);
    if (clocks_.put_off(rank, event.number, event.time, time)) [[unlikely]]
      return stand_in_line(event, time);
    again(event, time);
  }

  [[gnu::noinline]] void stand_in_line(NetworkEvent event, std::int64_t time) {
    if (const auto coming = lines_.join(line_key(event.what), event, time)) again(*coming, time);
  }

  /// Operations and messages of one key need the same processor and the same side of an interface.
  std::uint64_t line_key(std::uint32_t what) const {
    const PlacedOp& op = ops_[what & ~kFlag];
    const bool arrives = what & kFlag, calculates = op.kind == OpKind::kCalc;
    const std::uint64_t kind = arrives ? 0 : calculates ? 1 + op.idle : 3;
    const std::uint64_t rank = std::uint32_t(arrives ? op.peer : op.rank);
    return rank << 32 | kind << 16 | std::uint64_t(op.units.cpu) << 8 | (calculates ? 0 : op.units.nic);
  }

  /// The first of the line becomes an event of its own as soon as it may go on; the others look again behind it.
  [[gnu::noinline]] void go_on_in_line(NetworkEvent event) {
    const NetworkEvent first = lines_.first(event.what);
    if (const std::int64_t time = may_go(first.what, event.time); time > event.time)
      return again(lines_.next(event.what, event.time, time), time);
    const bool others = lines_.take_first(event.what);
    events_.push({event.time, first.number, first.what});
    if (others) events_.push(lines_.next(event.what, event.time, event.time));
  }

  /// When the operation or message may go on, from `time` on, as far as that is known now.
  std::int64_t may_go(std::uint32_t what, std::int64_t time) {
    const PlacedOp& op = ops_[what & ~kFlag];
    const bool arrives = what & kFlag;
    const Rank rank = arrives ? op.peer : op.rank;
    std::int64_t free = clocks_.cpu(rank, op.units);
    if (arrives) free = std::max(free, clocks_.receiving(rank, op.units));
    if (!arrives && op.kind == OpKind::kSend) free = std::max(free, clocks_.sending(rank, op.units));
    return free > time ? free : op.idle ? time : after_interruption(rank, time);
  }

  /// The same event, with its number, when what it needs is free. Earlier does no harm: it looks once more.
  void again(NetworkEvent event, std::int64_t time) {
    if constexpr (kExtended)
      if (BusyCpus::is_busy(time)) return more_.busy.park(BusyCpus::cpu_of(time), event);
    event.time = time;
    events_.push(event);
  }

  /// Noise has the rank at the moment: the same event afterwards.
  bool is_interrupted(const NetworkEvent& event, Rank rank) {
    const std::int64_t free = after_interruption(rank, event.time);
    return free > event.time && (again(event, free), true);
  }

  /// `time`, or the end of the noise that has the rank then.
  std::int64_t after_interruption(Rank rank, std::int64_t time) {
    if constexpr (kExtended)
      if (more_.interrupts) {
        const std::int64_t free = more_.free_from(rank, time);
        too_long_ |= free > kLongestExtended;
        return std::max(time, free);
      }
    return time;
  }

  std::int64_t end_of_overhead(Rank rank, std::int64_t time, std::int64_t overhead) {
    if constexpr (kExtended) return time + overhead + checked(more_.interruption(rank, time, time + overhead), time);
    return time + overhead;
  }

  /// When the processor is free, or its clock as long as nobody knows.
  std::int64_t end_of_calc(std::int64_t time, OpId op, const GoalOp& what) {
    const std::int64_t work = std::int64_t(what.amount);
    if (more_.observer) more_.observer->begins(what, time);
    if (what.idle) return time + work;
    const std::uint32_t cpu = more_.cpu_number(what.rank, what.units), number = more_.next_number(what.rank);
    std::int64_t end = time + work;
    if (more_.memory) {
      const auto past = more_.memory->begin(what.rank, cpu, time, work);
      if (!past) {
        auto& busy = more_.busy[cpu];
        busy.not_before = busy.begin = time, busy.op = op, busy.number = number;
        expect_ends(std::uint32_t(more_.memory->domain_of(what.rank)));
        return BusyCpus::clock_of(cpu);
      }
      end = *past;
      if (more_.observer) more_.observer->ends(what, end);
    }
    return end + idle_after(what.rank, number, time, end);
  }

  std::int64_t idle_after(Rank rank, std::uint32_t number, std::int64_t begin, std::int64_t end) {
    return more_.noise ? checked(more_.idle_after(rank, number, begin, end), end) : 0;
  }

  /// 0 instead of noise that lets the run last too long, which then is over.
  std::int64_t checked(std::int64_t noise, std::int64_t time) {
    const bool too_long = time > kLongestExtended || noise > kLongestExtended - std::max(std::int64_t{0}, time);
    too_long_ |= too_long;
    return too_long ? 0 : noise;
  }

  void expect_ends(std::uint32_t domain) {
    const std::int64_t next = more_.memory->next_end(domain);
    if (next >= more_.wakes[domain]) return;
    more_.wakes[domain] = next;
    events_.push({next, domain, domain | kWake});
  }

  /// Of a domain, unless an earlier one has come: the next end, which may be later than thought. Of a processor: its
  /// noise is over.
  void wake(const NetworkEvent& event, std::uint32_t what) {
    if (what >= more_.domains()) return release(what - more_.domains(), event.time);
    if (event.time != more_.wakes[what]) return;
    more_.wakes[what] = SharedMemory::kNever;
    if (event.time == more_.memory->next_end(what))
      more_.memory->end(what, [&](std::uint32_t cpu) { end_calc(cpu, event.time); });
    if (more_.memory->next_end(what) < SharedMemory::kNever) expect_ends(what);
  }

  void end_calc(std::uint32_t cpu, std::int64_t time) {
    const auto& busy = more_.busy[cpu];
    const PlacedOp& calc = ops_[busy.op];
    const std::int64_t idle = idle_after(calc.rank, busy.number, busy.begin, time);
    if (idle <= 0) return release(cpu, time);
    if (more_.observer) more_.observer->noise_begins(calc, time);
    const std::uint32_t what = more_.domains() + cpu;
    events_.push({time + idle, what, what | kWake});
  }

  void release(std::uint32_t cpu, std::int64_t time) {
    const auto& busy = more_.busy[cpu];
    const PlacedOp& calc = ops_[busy.op];
    if (more_.observer) more_.observer->ends(calc, time);
    clocks_.cpu(calc.rank, calc.units) = std::max(time, busy.not_before);
    more_.busy.release(cpu, [&](NetworkEvent event) {
      event.time = std::max(event.time, time);
      if (lines_.is_line(event.what)) lines_.move(event.what, event.time);
      events_.push(event);
    });
  }

  /// What of an operation its dependents wait for.
  enum class For { kStart, kEnd, kBoth };

  /// Lets those begin that waited for nothing else. Without a call where there are none, which is often; what issues is
  /// too large to stand in each place.
  template <For kWhat>
  [[gnu::always_inline]] void go_on(Rank rank, const PlacedOp& op) {
    if (op.second == PlacedOp::kListed) [[unlikely]] {
      satisfy<kWhat>(op, ready_);
      return issue(rank, ready_);
    }
    const bool first = satisfies<kWhat>(op.first), second = satisfies<kWhat>(op.second);
    if (first && second) return issue_two(rank, op.first & ~kFlag, op.second & ~kFlag);
    if (first || second) issue_one(rank, (first ? op.first : op.second) & ~kFlag);
  }

  template <For kWhat>
  void satisfy(const PlacedOp& op, std::vector<OpId>& ready) {
    for (const OpId dependent : schedule_.dependents(op))
      if (satisfies<kWhat>(dependent)) ready.push_back(dependent & ~kFlag);
  }

  /// Whether the dependent waited for this and nothing else.
  template <For kWhat>
  bool satisfies(OpId dependent) {
    if (dependent == PlacedOp::kNone) return false;
    if (kWhat != For::kBoth && (dependent & kFlag) != (kWhat == For::kStart ? kFlag : 0)) return false;
    return waits_.take(dependent & ~kFlag);
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
    std::size_t i = 0;
    for (; i + 1 < ready.size(); ++i) i += issue_pair(rank, ready[i], ready[i + 1]);
    if (i < ready.size()) issue_one(rank, ready[i]);
    ready.clear();
  }

  [[gnu::noinline]] void issue_two(Rank rank, OpId first, OpId second) {
    if (ops_[second].kind < ops_[first].kind) std::swap(first, second);
    if (!issue_pair(rank, first, second)) issue_one(rank, second);
  }

  /// The first, and the second with it if they are neighbours and begin at one time.
  bool issue_pair(Rank rank, OpId first, OpId second) {
    const std::int64_t time = earliest(rank, ops_[first]);
    const bool pair = second == first + 1 && earliest(rank, ops_[second]) == time;
    again({0, number_, pair ? first | kPair : first}, time);
    number_ += 1 + pair;
    return pair;
  }

  [[gnu::noinline]] void issue_one(Rank rank, OpId op) { again({0, number_++, op}, earliest(rank, ops_[op])); }

  std::int64_t earliest(Rank rank, const GoalOp& op) {
    const std::int64_t cpu = clocks_.cpu(rank, op.units);
    return op.kind == OpKind::kSend ? std::max(cpu, clocks_.sending(rank, op.units)) : cpu;
  }

  GoalRun result() {
    for (Rank rank = 0; rank < schedule_.ranks(); ++rank) run_.finish_ns.push_back(clocks_.last_cpu(rank));
    if (!run_.stopped) run_.stuck = matching_.left(ops_, costs_);
    return std::move(run_);
  }

  const GoalSchedule& schedule_;
  std::span<const PlacedOp> ops_;
  Costs costs_;
  RankClocks clocks_;
  EventQueue events_;
  Matching matching_;
  WaitCounts waits_;
  std::vector<OpId> ready_;            ///< Of the rank at hand; empty between events.
  std::vector<OpId> ready_at_sender_;  ///< Of the sender whose rendezvous succeeded; empty between events.
  [[no_unique_address]] std::conditional_t<kExtended, GoalExtension, NoGoalExtension> more_;
  std::uint32_t number_;
  bool too_long_ = false;
  GoalRun run_;
  WaitingLines lines_;
};

}  // namespace

wire::Result<std::unique_ptr<GoalEngine>> make_engine(const GoalSchedule& schedule, const support::LogGops& network,
                                                      const GoalOptions& options) {
  if (auto status = check(schedule, network, options); !status) return status.error();
  const Costs costs(network);
  if (is_extended(options))
    return std::unique_ptr<GoalEngine>(std::make_unique<Engine<true>>(schedule, costs, options));
  return std::unique_ptr<GoalEngine>(std::make_unique<Engine<false>>(schedule, costs, options));
}

}  // namespace idlewave::sim::network
