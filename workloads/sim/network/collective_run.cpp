#include "workloads/sim/network/collective_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>

#include "workloads/sim/network/collective_engine.h"
#include "workloads/sim/network/collective_pattern.h"
#include "workloads/sim/network/collective_ranks.h"
#include "workloads/sim/network/collective_work.h"
#include "workloads/sim/network/collectives.h"
#include "workloads/sim/network/costs.h"

namespace idlewave::sim::network {

namespace {

/// Collectives that cost nothing: each rank by itself, all of them step by step.
class IdealCollectives final : public CollectiveEngine {
 public:
  IdealCollectives(const CollectiveProgram& program, const CollectiveOptions& options)
      : program_(program), options_(options), work_(program_, options_, run_) {
    run_.finish_ns.resize(std::size_t(program.ranks));
  }

  void advance_until(std::int64_t time) override {
    for (std::int64_t first = next(); first <= std::min(time, kLongestCollective); first = next()) {
      if (options_.stop && options_.stop->load(std::memory_order_relaxed)) run_.stopped = true;
      if (run_.stopped) break;
      for (Rank rank = 0; rank < program_.ranks; ++rank) {
        std::int64_t& rank_time = run_.finish_ns[std::size_t(rank)];
        rank_time = work_.end(rank, step_, rank_time);
        if (step_ + 1 == program_.steps && options_.recorder)
          options_.recorder->enters(rank, step_, Phase::kNone, to_seconds(rank_time));
      }
      ++step_;
      run_.rank_steps += std::uint64_t(program_.ranks);
    }
    if (options_.recorder) options_.recorder->nothing_before(to_seconds(std::min(time, next())));
  }

  bool finished() const override { return step_ == program_.steps; }
  bool is_too_long() const override { return step_ < program_.steps && next() > kLongestCollective; }
  CollectiveRun take_run() override { return std::move(run_); }

 private:
  /// When the first rank begins its next step.
  std::int64_t next() const { return step_ == program_.steps ? kNever : *std::ranges::min_element(run_.finish_ns); }

  CollectiveProgram program_;
  CollectiveOptions options_;
  CollectiveRun run_;
  CollectiveWork work_;
  Step step_ = 0;
};

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

wire::Result<std::unique_ptr<CollectiveEngine>> make_engine(const CollectiveProgram& program,
                                                            const support::LogGops& network,
                                                            const CollectiveOptions& options) {
  if (auto status = check(program, network); !status) return status.error();
  if (auto status = check_lengths(program, network); !status) return status.error();
  if (program.mode == CollectiveMode::kIdeal)
    return std::unique_ptr<CollectiveEngine>(std::make_unique<IdealCollectives>(program, options));
  const Costs costs(network);
  const bool eager = longest_message(program) <= network.rendezvous_size;
  return eager && costs.flight() > 0 ? make_windowed(program, costs, options) : make_ordered(program, costs, options);
}

wire::Error too_long_collectives() {
  return wire::Error{"the run is longer than 2.3 years: make its work, noise or messages shorter"};
}

wire::Result<CollectiveRun> run(const CollectiveProgram& program, const support::LogGops& network,
                                const CollectiveOptions& options) {
  const auto engine = make_engine(program, network, options);
  if (!engine) return engine.error();
  (*engine)->advance_until(std::numeric_limits<std::int64_t>::max());
  if ((*engine)->is_too_long()) return too_long_collectives();
  return (*engine)->take_run();
}

std::size_t bytes_needed(const CollectiveProgram& program) {
  const std::size_t finish = 8;
  if (program.mode == CollectiveMode::kIdeal) return std::size_t(program.ranks) * finish;
  const std::size_t engine = sizeof(RankStateOf<NumberedMessage>) + sizeof(std::int64_t);
  const std::size_t quiet = sizeof(std::int64_t);
  const std::size_t counter = AnyPattern::is_deep(program.call.algorithm) ? sizeof(std::uint32_t) : 0;
  return std::size_t(program.ranks) * (engine + counter + quiet + finish);
}

}  // namespace idlewave::sim::network
