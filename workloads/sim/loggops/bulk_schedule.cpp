#include "workloads/sim/loggops/bulk_schedule.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <span>
#include <utility>

#include "workloads/support/neighbour.h"

namespace idlewave::sim {
namespace {

using support::Scenario;
using wire::Error;
using wire::Result;

/// Of a rank of which no partner is missing, in all steps; the numbers are double since they may be beyond all limits.
struct Size {
  double ops = 0;
  double dependences = 0;
};

bool is_split(const Scenario& scenario) { return scenario.communication.wait == support::WaitFlavour::kSplit; }

Size size_of_rank(const Scenario& scenario) {
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
      : scenario_(scenario), work_(work), delays_(delays_of(scenario)), builder_(builder) {}

  void write(Rank rank) {
    last_.clear();
    auto delay = delays_.lower_bound({rank, 0});
    for (Step step = 0; step < scenario_.program.steps; ++step) {
      if (delay != delays_.end() && delay->first == std::pair{rank, step}) write_delay(rank, step, (delay++)->second);
      follow(builder_.calc(rank, work_.nanoseconds, {}, Tag(step)));
      exchange(rank);
    }
    follow(builder_.idle(rank, 0, Tag(scenario_.program.steps)));
  }

 private:
  void write_delay(Rank rank, Step step, std::uint64_t nanoseconds) {
    if (nanoseconds > 0) follow(builder_.idle(rank, nanoseconds, Tag(step)));
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
  std::vector<OpId> last_;  ///< What the next operation of the rank waits for.
  std::vector<OpId> now_;
};

}  // namespace

Result<Model> model_beside_network(const Scenario& scenario) {
  Scenario beside = scenario;
  beside.communication.loggops.reset();
  return model_of(beside);
}

support::LogGops network_of(const support::Communication& communication) {
  support::LogGops network = *communication.loggops;
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

}  // namespace idlewave::sim
