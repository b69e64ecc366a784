#include "workloads/sim/main/live.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <limits>
#include <variant>
#include <vector>

#include "probe/outlet/outlet.h"
#include "workloads/sim/contention/simulation.h"
#include "workloads/sim/main/collective.h"
#include "workloads/sim/main/emitter.h"
#include "workloads/sim/noise/make_noise.h"

namespace idlewave::sim {
namespace {

using Clock = std::chrono::steady_clock;
using Seconds = std::chrono::duration<double>;

constexpr auto kSlice = std::chrono::milliseconds(30);
constexpr double kTolerated = 0.25;         ///< Seconds behind schedule that are not worth a word.
constexpr double kBetweenComplaints = 5.0;  ///< Seconds.

class OutletStream final : public Stream {
 public:
  explicit OutletStream(outlet::Outlet& outlet) : outlet_(outlet) {}
  void send(wire::Roster roster) override { outlet_.send(std::move(roster)); }
  void send(wire::Events events) override { outlet_.send(std::move(events)); }

 private:
  outlet::Outlet& outlet_;
};

/// The scenario's noise, and on some ranks an operator's on top.
class OrderedNoise final : public PhaseNoise {
 public:
  OrderedNoise(std::shared_ptr<const PhaseNoise> own, std::shared_ptr<const PhaseNoise> ordered, std::vector<Rank> ranks)
      : own_(std::move(own)), ordered_(std::move(ordered)), ranks_(std::move(ranks)) {
    std::ranges::sort(ranks_);
  }
  double after(Rank rank, Step step, double begin, double end) const override {
    const double idle = own_ ? own_->after(rank, step, begin, end) : 0;
    const bool meant = ranks_.empty() || std::ranges::binary_search(ranks_, rank);
    return meant ? idle + ordered_->after(rank, step, begin, end + idle) : idle;
  }

 private:
  std::shared_ptr<const PhaseNoise> own_, ordered_;
  std::vector<Rank> ranks_;  ///< Empty: all.
};

/// Commands become delays and noise of the simulation.
class Operator {
 public:
  Operator(Simulation& simulation, Emitter& emitter, const Prepared& prepared) : simulation_(simulation), emitter_(emitter), prepared_(prepared) {}

  /// Error: why not.
  wire::Status obey(const wire::Command& command) {
    return std::visit([&](const auto& order) { return carry_out(command, order); }, command.order);
  }

 private:
  wire::Status carry_out(const wire::Command& command, const wire::DelayOrder& order) {
    std::vector<Rank> ranks = command.ranks;
    if (ranks.empty()) {
      for (Rank rank = 0; rank < prepared_.scenario.machine.ranks; ++rank) ranks.push_back(rank);
    }
    const std::optional<Step> step = order.at_step == wire::kNoStep ? std::nullopt : std::optional(order.at_step);
    for (const Rank rank : ranks) {
      const auto at = simulation_.order_delay(rank, step, order.duration);
      if (!at) return at.error();
      emitter_.name_delay(rank, *at, command.id);
    }
    return wire::ok();
  }

  wire::Status carry_out(const wire::Command& command, const wire::NoiseOrder& order) {
    support::Noise noise{.distribution = {}, .seed = prepared_.scenario.noise.seed + command.id};
    if (order.kind == wire::NoiseKind::kExponential) noise.distribution = support::ExponentialNoise{order.amount};
    else noise.distribution = support::PeriodicNoise{order.amount, order.frequency};
    auto ordered = make_noise(noise);
    if (!ordered) return ordered.error();
    if (*ordered) simulation_.set_noise(std::make_shared<OrderedNoise>(prepared_.noise, std::move(*ordered), command.ranks));
    return wire::ok();
  }

  wire::Status carry_out(const wire::Command&, const wire::ClearOrder&) {
    simulation_.set_noise(prepared_.noise);
    return wire::ok();
  }

  Simulation& simulation_;
  Emitter& emitter_;
  const Prepared& prepared_;
};

/// Says how far simulated time lags behind the clock, now and then.
class Schedule {
 public:
  double due() const { return Seconds(Clock::now() - start_).count(); }
  void check(double reached) {
    const double now = due(), behind = now - reached;
    if (behind < kTolerated || now < next_complaint_) return;
    complain(fmt::format("behind schedule by {:.1f} s: this machine simulates fewer ranks in real time", behind), kSuccess);
    next_complaint_ = now + kBetweenComplaints;
  }

 private:
  Clock::time_point start_ = Clock::now();
  double next_complaint_ = 0;
};

void serve(outlet::Outlet& outlet, Operator& op, wire::Nanoseconds now) {
  for (wire::Command& command : outlet.serve(kSlice)) {
    const wire::Status done = op.obey(command);
    outlet.send(wire::Outcome{.command = std::move(command), .time = now, .accepted = bool(done), .reason = done ? "" : done.error().message});
  }
}

int play(Simulation& simulation, Emitter& emitter, outlet::Outlet& outlet, const Prepared& prepared, double end) {
  Operator op(simulation, emitter, prepared);
  Schedule schedule;
  double target = 0;
  for (; target < end && !simulation.finished() && !interrupted() && outlet.refusal().empty();) {
    target = std::min(schedule.due(), end);
    simulation.advance_until(target);
    schedule.check(target);
    emitter.flush(target);
    serve(outlet, op, wire::Nanoseconds(std::int64_t(target * 1e9)));
  }
  emitter.finish(std::max(target, simulation.time()));
  if (!outlet.refusal().empty()) return complain("the monitor does not want this session: " + outlet.refusal(), kFailed);
  return outlet.finish(std::chrono::seconds(2)) ? kSuccess : complain("a monitor went away before it had received everything", kFailed);
}

}  // namespace

int run_live(const Prepared& prepared, const Options& options) {
  if (has_collective(prepared.scenario)) return complain("--realtime: goes without a collective; --record a file and replay it", kBadInput);
  const auto model = model_of(prepared.scenario);
  if (!model) return complain(model.error().message, kBadInput);
  if (const wire::Status fits = check_session(prepared.scenario, *model); !fits) return complain(fits.error().message, kBadInput);
  auto outlet = outlet::Outlet::open({.session = options.session, .node = kNode, .listen = options.listen, .connect = options.connect});
  if (!outlet) return complain(outlet.error().message, kBadInput);
  OutletStream stream(**outlet);
  Emitter emitter(prepared.scenario, *model, options.scenario.stem(), stream);
  auto simulation = Simulation::create(prepared.scenario, emitter, prepared.noise);
  if (!simulation) return complain(simulation.error().message, kBadInput);
  const double end = options.duration ? Seconds(*options.duration).count() : std::numeric_limits<double>::infinity();
  return play(*simulation, emitter, **outlet, prepared, end);
}

}  // namespace idlewave::sim
