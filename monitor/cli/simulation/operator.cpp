#include "monitor/cli/simulation/operator.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <numeric>
#include <variant>

#include "probe/wire/no_command.h"
#include "probe/words/noise.h"
#include "workloads/sim/noise/make_noise.h"

namespace idlewave::cli::simulation {

struct NoiseOfCommand {
  wire::CommandId command = 0;
  std::vector<Rank> ranks;                  ///< Ascending; empty: all.
  std::shared_ptr<const PhaseNoise> noise;  ///< Null: silence.

  bool names(Rank rank) const { return ranks.empty() || std::ranges::binary_search(ranks, rank); }
};

namespace {

using wire::seconds;

/// The program's own noise, and an operator's on top.
class OrderedNoise final : public PhaseNoise {
 public:
  /// The simulation outlives its noise.
  OrderedNoise(std::shared_ptr<const PhaseNoise> own, std::vector<std::shared_ptr<const NoiseOfCommand>> ordered,
               const sim::Simulation& simulation)
      : own_(std::move(own)), ordered_(std::move(ordered)), simulation_(simulation) {}

  double after(Rank rank, Step step, double begin, double end) const override {
    const double idle = own_ ? own_->after(rank, step, begin, end) : 0;
    return idle + ordered_idle(rank, step, begin, end + idle);
  }
  wire::CommandId ordered_by(Rank rank, Step step, double begin, double end) const override {
    const double idle = own_ ? own_->after(rank, step, begin, end) : 0;
    return ordered_idle(rank, step, begin, end + idle) > 0 ? latest_for(rank)->command : 0;
  }

 private:
  const NoiseOfCommand* latest_for(Rank rank) const {
    const auto latest =
        std::find_if(ordered_.rbegin(), ordered_.rend(), [&](const auto& ordered) { return ordered->names(rank); });
    return latest == ordered_.rend() ? nullptr : latest->get();
  }
  double ordered_idle(Rank rank, Step step, double begin, double end) const {
    const NoiseOfCommand* const ordered = latest_for(rank);
    if (!ordered || !ordered->noise) return 0;
    const double left = seconds(wire::kLongestHold) - simulation_.ordered_holds(rank).begun;
    return std::clamp(ordered->noise->after(rank, step, begin, end), 0.0, std::max(left, 0.0));
  }

  std::shared_ptr<const PhaseNoise> own_;
  std::vector<std::shared_ptr<const NoiseOfCommand>> ordered_;
  const sim::Simulation& simulation_;
};

}  // namespace

wire::Status Operator::obey(const wire::Command& command) {
  const bool may_hold = std::holds_alternative<wire::DelayOrder>(command.order) ||
                        std::holds_alternative<wire::NoiseOrder>(command.order);
  if (may_hold && !simulation_.takes_orders()) return wire::Error{wire::to_words(wire::NoCommand::kNoOrders)};
  if (may_hold && !may_inject_) return wire::Error{wire::to_words(wire::NoCommand::kInjectionOff)};
  const Rank ranks = prepared_.scenario.machine.ranks;
  for (const Rank rank : command.ranks) {
    if (rank < 0 || rank >= ranks)
      return wire::Error{fmt::format("rank {}: the program has ranks 0 to {}", rank, ranks - 1)};
  }
  return std::visit([&](const auto& order) { return carry_out(command, order); }, command.order);
}

wire::Status Operator::carry_out(const wire::Command& command, const wire::DelayOrder& order) {
  if (const auto possible = words::check_hold(order.duration); !possible) return possible;
  if (const auto bearable = check_load(command, order.duration); !bearable) return bearable;
  std::vector<std::pair<Rank, Step>> places;
  for (const Rank rank : ranks_of(command)) {
    const auto at = place_of(rank, order);
    if (!at) return at.error();
    places.emplace_back(rank, *at);
  }
  for (const auto& [rank, step] : places) {
    if (const auto done = simulation_.order_delay(rank, step, order.duration, command.id); !done) return done.error();
  }
  return wire::ok();
}

/// As a real rank does it: for a step that it has begun already the next one.
wire::Result<Step> Operator::place_of(Rank rank, const wire::DelayOrder& order) const {
  const auto next = simulation_.step_of_delay(rank, std::nullopt);
  const Step at_step = next && order.in_steps > 0 ? *next + order.in_steps - 1 : order.at_step;
  return next && at_step > *next ? simulation_.step_of_delay(rank, at_step) : next;
}

wire::Status Operator::carry_out(const wire::Command& command, const wire::NoiseOrder& order) {
  if (const auto possible = words::check_order(order); !possible) return possible;
  if (const auto bearable = check_load(command, order.amount); !bearable) return bearable;
  const support::Noise noise{support::distribution_of(order), prepared_.scenario.noise.seed + command.id};
  auto ordered = sim::noise::make_noise(noise, order.trace.detours);
  if (!ordered) return ordered.error();
  return replace_noise(command, std::move(*ordered));
}

wire::Status Operator::carry_out(const wire::Command& command, const wire::ClearOrder& order) {
  if (order.noise_of != 0) return end_noise_of(order.noise_of);
  for (const Rank rank : ranks_of(command)) simulation_.take_back_delays(rank);
  return ordered_.empty() ? wire::ok() : replace_noise(command, nullptr);
}

wire::Status Operator::carry_out(const wire::Command&, const wire::UnknownOrder&) {
  return wire::Error{wire::to_words(wire::NoCommand::kUnknownOrder)};
}

/// The limits of real ranks.
wire::Status Operator::check_load(const wire::Command& command, wire::Nanoseconds wanted) const {
  for (const Rank rank : ranks_of(command)) {
    const auto holds = simulation_.ordered_holds(rank);
    const auto ordered = wire::Nanoseconds(std::llround((holds.begun + holds.waiting) * 1e9));
    const auto left = std::max(wire::kLongestHold - ordered, wire::Nanoseconds(0));
    if (const auto bearable = words::check_load(rank, wanted, left, holds.delays); !bearable) return bearable;
  }
  return wire::ok();
}

/// Each once.
std::vector<Rank> Operator::ranks_of(const wire::Command& command) const {
  if (!command.ranks.empty()) {
    std::vector<Rank> named = command.ranks;
    std::ranges::sort(named);
    named.erase(std::unique(named.begin(), named.end()), named.end());
    return named;
  }
  std::vector<Rank> all(static_cast<std::size_t>(prepared_.scenario.machine.ranks));
  std::iota(all.begin(), all.end(), 0);
  return all;
}

wire::Status Operator::replace_noise(const wire::Command& command, std::shared_ptr<const PhaseNoise> noise) {
  std::vector<Rank> ranks = command.ranks;
  std::ranges::sort(ranks);
  if (ranks.empty()) ordered_.clear();
  if (noise || !ordered_.empty()) {
    ordered_.push_back(
        std::make_shared<NoiseOfCommand>(NoiseOfCommand{command.id, std::move(ranks), std::move(noise)}));
  }
  return apply_noise();
}

/// Silence takes its place: what it had replaced does not come back.
wire::Status Operator::end_noise_of(wire::CommandId command) {
  for (auto& ordered : ordered_)
    if (ordered->command == command)
      ordered = std::make_shared<NoiseOfCommand>(NoiseOfCommand{command, ordered->ranks, nullptr});
  return ordered_.empty() ? wire::ok() : apply_noise();
}

wire::Status Operator::apply_noise() {
  return simulation_.set_noise(
      ordered_.empty() ? prepared_.noise : std::make_shared<OrderedNoise>(prepared_.noise, ordered_, simulation_));
}

}  // namespace idlewave::cli::simulation
