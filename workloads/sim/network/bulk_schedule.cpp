#include "workloads/sim/network/bulk_schedule.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <span>
#include <utility>

#include "workloads/sim/network/collectives.h"
#include "workloads/support/neighbour.h"

namespace idlewave::sim::network {
namespace {

using support::Scenario;
using wire::Error;
using wire::Result;
using wire::Step;

/// Of a rank of which no partner is missing, in all steps; the numbers are double since they may be beyond all limits.
struct Size {
  double ops = 0;
  double dependences = 0;
};

bool is_split(const Scenario& scenario) { return scenario.communication.wait == support::WaitFlavour::kSplit; }

/// Most rounds that a rank has in one call.
double most_rounds(const Scenario& scenario) {
  const CollectiveRounds rounds(call_of(scenario.communication), scenario.machine.ranks);
  std::uint32_t most = 0;
  for (Rank rank = 0; rank < scenario.machine.ranks; ++rank) most = std::max(most, rounds.count(rank));
  return most;
}

Size size_of_rank_with_collective(const Scenario& scenario) {
  const double rounds = most_rounds(scenario), steps = double(scenario.program.steps);
  return {steps * (1 + 2 * rounds) + 1, steps * (4 * rounds + 4) + 4};
}

Size size_of_rank(const Scenario& scenario) {
  if (scenario.communication.collective) return size_of_rank_with_collective(scenario);
  const auto distances = double(scenario.communication.distances.size()), steps = double(scenario.program.steps);
  // The first stage waits for the work, the next step for the last stage; in between two wait for two.
  const double waits = is_split(scenario) && distances > 0 ? 4 * distances : 4 * distances + (distances == 0);
  return {steps * (1 + 2 * distances) + 1, steps * waits + 4};
}

Size size_of(const Scenario& scenario) {
  const Size rank = size_of_rank(scenario);
  const auto ranks = double(scenario.machine.ranks), delays = double(scenario.delays.size());
  return {ranks * rank.ops + delays, ranks * rank.dependences + delays};
}

Result<Size> checked_size(const Scenario& scenario) {
  const Size size = size_of(scenario);
  if (size.ops <= double(kMaxOps)) return size;
  return Error{
      fmt::format("with LogGOPS parameters a run of all steps is one schedule, here of {:.3g} operations; at most {} "
                  "are possible: take fewer ranks or steps",
                  size.ops, kMaxOps)};
}

using WholeDelays = std::map<std::pair<Rank, Step>, std::uint64_t>;

WholeDelays delays_of(const Scenario& scenario) {
  WholeDelays delays;
  for (const support::Delay& delay : scenario.delays)
    delays[{delay.rank, delay.step}] += std::uint64_t(delay.duration.count());
  return delays;
}

/// Writes one rank's program after another's.
class Writer {
 public:
  Writer(const Scenario& scenario, const BulkWork& work, GoalBuilder& builder)
      : scenario_(scenario), work_(work), delays_(delays_of(scenario)), builder_(builder) {
    if (scenario.communication.collective) rounds_.emplace(call_of(scenario.communication), scenario.machine.ranks);
  }

  void write(Rank rank) {
    last_.clear();
    auto delay = delays_.lower_bound({rank, 0});
    for (Step step = 0; step < scenario_.program.steps; ++step) {
      if (delay != delays_.end() && delay->first == std::pair{rank, step}) write_delay(rank, step, (delay++)->second);
      if (rounds_)
        work_and_call(rank, step);
      else
        work_and_exchange(rank, step);
    }
    follow(builder_.idle(rank, 0, Tag(scenario_.program.steps)));
  }

 private:
  void write_delay(Rank rank, Step step, std::uint64_t nanoseconds) {
    if (nanoseconds > 0) follow(builder_.idle(rank, nanoseconds, Tag(step)));
  }

  void work(Rank rank, Step step) { follow(builder_.calc(rank, work_.nanoseconds, {}, Tag(step))); }

  void work_and_exchange(Rank rank, Step step) {
    work(rank, step);
    exchange(rank);
  }

  void work_and_call(Rank rank, Step step) {
    switch (scenario_.communication.collective->mode) {
      case support::CollectiveMode::kBlocking: work(rank, step); return call(rank, Tag(step));
      case support::CollectiveMode::kNonblocking: return work_during_call(rank, step);
      case support::CollectiveMode::kIdeal: return work(rank, step);
    }
  }

  /// What comes next waits for both.
  void work_during_call(Rank rank, Step step) {
    const std::vector<OpId> before = last_;
    call(rank, Tag(step));
    std::vector<OpId> called = std::exchange(last_, before);
    work(rank, step);
    if (called != before) last_.insert(last_.end(), called.begin(), called.end());
  }

  void call(Rank rank, Tag tag) {
    for (std::uint32_t i = 0; i < rounds_->count(rank); ++i) {
      const Round round = rounds_->at(rank, i);
      now_.clear();
      if (round.to != kNobody) add(builder_.send(rank, round.send_bytes, round.to, tag));
      if (round.from != kNobody) add(builder_.recv(rank, round.receive_bytes, round.from, tag));
      last_.swap(now_);
    }
  }

  void exchange(Rank rank) {
    const std::span distances(scenario_.communication.distances);
    if (!is_split(scenario_)) return exchange(rank, distances, 0);
    for (std::size_t i = 0; i < distances.size(); ++i) exchange(rank, distances.subspan(i, 1), Tag(i));
  }

  void exchange(Rank rank, std::span<const Rank> distances, Tag tag) {
    now_.clear();
    const auto bytes = std::max<std::uint64_t>(1, scenario_.communication.message_size);
    const auto partner = [&](Rank distance) {
      return support::neighbour(scenario_.communication.topology, builder_.ranks(), rank, distance);
    };
    for (const Rank distance : distances) {
      if (const auto to = partner(distance)) add(builder_.send(rank, bytes, *to, tag));
      if (const auto from = partner(-distance)) add(builder_.recv(rank, bytes, *from, tag));
      ++tag;
    }
    if (!now_.empty()) last_.swap(now_);
  }

  void add(OpId op) {
    for (const OpId earlier : last_) builder_.after(op, earlier);
    now_.push_back(op);
  }

  void follow(OpId op) {
    now_.clear();
    add(op);
    last_.swap(now_);
  }

  const Scenario& scenario_;
  const BulkWork& work_;
  WholeDelays delays_;
  GoalBuilder& builder_;
  std::optional<CollectiveRounds> rounds_;
  std::vector<OpId> last_;  ///< What the next operation of the rank waits for.
  std::vector<OpId> now_;
};

}  // namespace

Result<Model> model_beside_network(const Scenario& scenario) {
  Scenario beside = scenario;
  if (beside.communication.collective) beside.communication = {};
  beside.communication.loggops.reset();
  return core::model_of(beside);
}

support::LogGops network_of(const support::Communication& communication) {
  support::LogGops network = communication.loggops.value_or(support::LogGops{});  // An ideal collective needs none.
  if (communication.protocol == support::Protocol::kEager) network.rendezvous_size = kMaxMessageBytes;
  if (communication.protocol == support::Protocol::kRendezvous) network.rendezvous_size = 0;
  return network;
}

Result<BulkWork> work_of(const Scenario& scenario, const Model& model) {
  const double alone = model.core_bound ? double(scenario.program.time.count()) : model.seconds[1] * 1e9;
  if (alone > double(kMaxCalcNs))
    return Error{
        fmt::format("program: {:.3g} s of work in a step; with LogGOPS parameters at most {:.3g} s are possible",
                    alone * 1e-9, double(kMaxCalcNs) * 1e-9)};
  for (const support::Delay& delay : scenario.delays)
    if (double(delay.duration.count()) * double(scenario.delays.size()) > double(kMaxCalcNs))
      return Error{fmt::format("delay.duration: {:.3g} s; with LogGOPS parameters all of a rank may take {:.3g} s",
                               double(delay.duration.count()) * 1e-9, double(kMaxCalcNs) * 1e-9)};
  if (scenario.communication.message_size > kMaxMessageBytes)
    return Error{fmt::format("communication.message_size: {} B; with LogGOPS parameters at most {} B",
                             scenario.communication.message_size, kMaxMessageBytes)};
  BulkWork work{std::uint64_t(std::ceil(alone)), {model.ranks_per_domain, {0}}};
  for (std::size_t n = 1; n < model.seconds.size(); ++n) {
    const double speed = model.core_bound ? 1 : double(work.nanoseconds) / (model.seconds[n] * 1e9);
    // Less than a nanosecond of work takes one, whoever else is there.
    work.memory.speed.push_back(work.nanoseconds > 1 ? speed : std::min(speed, 1.0));
  }
  return work;
}

Result<GoalSchedule> bulk_schedule(const Scenario& scenario, const BulkWork& work) {
  const auto size = checked_size(scenario);
  if (!size) return size.error();
  GoalBuilder builder(scenario.machine.ranks);
  builder.reserve(std::size_t(size->ops), std::size_t(size->dependences));
  Writer writer(scenario, work, builder);
  for (Rank rank = 0; rank < scenario.machine.ranks; ++rank) writer.write(rank);
  return std::move(builder).build();
}

Result<std::size_t> bytes_for_bulk(const Scenario& scenario, const BulkWork& work) {
  const auto size = checked_size(scenario);
  if (!size) return size.error();
  // An operation's place, what it waits for twice, and how many wait for it while that is counted; of those for which
  // more than two wait, the others. A rank's clocks, queues and events.
  constexpr double kOp = sizeof(PlacedOp) + 3 * sizeof(OpId), kRank = 250;
  const double bytes = kOp * size->ops + (sizeof(Dependence) + sizeof(OpId)) * size->dependences +
                       kRank * double(scenario.machine.ranks);
  return std::size_t(bytes) + SharedMemory::bytes_for(work.memory, scenario.machine.ranks, 1);
}

}  // namespace idlewave::sim::network
