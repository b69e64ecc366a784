#include "workloads/sim/network/collective_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "workloads/sim/network/collective_engine.h"
#include "workloads/sim/network/collective_rank.h"
#include "workloads/sim/network/collective_work.h"
#include "workloads/sim/network/collectives.h"
#include "workloads/sim/network/costs.h"
#include "workloads/sim/network/waiting_messages.h"

namespace idlewave::sim::network {

namespace {

// In this namespace, so that the compiler knows all calls of the engines that are made of them.

Charges ticks_of(const Costs& costs, std::uint64_t bytes) {
  const Charges charges = charges_of(costs, bytes);
  return {charges.send_cpu * kTicks, charges.receive_cpu * kTicks, charges.nic * kTicks, charges.eager};
}

/// Who talks to whom, for the engine's inner loop. The most frequent one is worth a form of its own.
class DisseminationPattern {
 public:
  static constexpr bool kDeep = false;

  static Charges charges(const CollectiveCall& call, const Costs& costs) {
    return ticks_of(costs, call.algorithm == Collective::kBarrier ? 1 : call.bytes);
  }

  DisseminationPattern(const CollectiveCall& call, Rank ranks, const Costs& costs)
      : ranks_(ranks), rounds_(CollectiveRounds(call, ranks).count(0)), charges_(charges(call, costs)) {}

  std::uint32_t rounds(Rank) const { return rounds_; }
  bool sends(Rank, std::uint32_t) const { return true; }
  int lane(Rank, std::uint32_t round) const { return int(round); }
  std::pair<Rank, int> target(Rank rank, std::uint32_t round) const {
    const std::uint32_t to = std::uint32_t(rank) + (std::uint32_t{1} << round);
    return {Rank(std::min(to, to - std::uint32_t(ranks_))), int(round)};
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
  Charges sent(Rank rank, std::uint32_t round) const { return ticks_of(costs_, rounds_.at(rank, round).send_bytes); }
  Charges received(Rank rank, int lane) const {
    return ticks_of(costs_, rounds_.first_of_lane(rank, lane).receive_bytes);
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

/// Each rank by itself.
CollectiveRun run_ideal(const CollectiveProgram& program, const CollectiveOptions& options) {
  CollectiveRun run;
  CollectiveWork work(program, options, run);
  for (Rank rank = 0; rank < program.ranks; ++rank) {
    std::int64_t time = 0;
    for (Step step = 0; step < program.steps && time <= kLongestCollective; ++step, ++run.rank_steps) {
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
    case Collective::kScatter: return true;
    default: return false;
  }
}

bool is_plain_dissemination(Collective algorithm) {
  return algorithm == Collective::kBarrier || algorithm == Collective::kAllreduceDissemination ||
         algorithm == Collective::kAllgatherDissemination;
}

bool has_gaps(const Charges& charges) { return charges.nic > std::min(charges.send_cpu, charges.receive_cpu); }

template <class Pattern, bool kOrdered, bool kGaps = true>
wire::Result<CollectiveRun> run_with(const CollectiveProgram& program, const Costs& costs,
                                     const CollectiveOptions& options) {
  if (options.noise && options.interrupts)
    return CollectiveEngine<Pattern, true, kOrdered, kGaps>(program, costs, options).run();
  return CollectiveEngine<Pattern, false, kOrdered, kGaps>(program, costs, options).run();
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
  if (program.work_ns >= 0 && longest <= double(kLongestCollective / 4)) return wire::ok();
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
  if (is_plain_dissemination(program.call.algorithm)) {
    if (has_gaps(DisseminationPattern::charges(program.call, costs)))
      return run_with<DisseminationPattern, false>(program, costs, options);
    return run_with<DisseminationPattern, false, false>(program, costs, options);
  }
  return run_with<BoundedPattern, false>(program, costs, options);
}

std::size_t bytes_needed(const CollectiveProgram& program) {
  const std::size_t finish = 8;
  if (program.mode == CollectiveMode::kIdeal) return std::size_t(program.ranks) * finish;
  const std::size_t engine = sizeof(RankStateOf<NumberedMessage, true>) + sizeof(std::int64_t);
  const std::size_t quiet = sizeof(std::int64_t);
  const std::size_t counter = is_deep(program.call.algorithm) ? sizeof(std::uint32_t) : 0;
  return std::size_t(program.ranks) * (engine + counter + quiet + finish);
}

}  // namespace idlewave::sim::network
