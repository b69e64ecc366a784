#include "workloads/sim/contention/simulation.h"

#include <fmt/format.h>

#include "workloads/sim/contention/event_engine.h"

namespace idlewave::sim::contention {

using wire::Error;
using wire::Result;

struct Simulation::Engine : EventEngine<core::Observed> {
  using EventEngine::EventEngine;
};

Simulation::Simulation(std::unique_ptr<Engine> engine) : engine_(std::move(engine)) {}
Simulation::Simulation(Simulation&&) noexcept = default;
Simulation& Simulation::operator=(Simulation&&) noexcept = default;
Simulation::~Simulation() = default;

Result<Simulation> Simulation::create(const support::Scenario& scenario, Recorder& recorder,
                                      std::shared_ptr<const PhaseNoise> noise) {
  auto model = core::model_of(scenario);
  if (!model) return model.error();
  return Simulation{
      std::make_unique<Engine>(std::move(*model), core::Observed{&recorder}, std::move(noise), std::nullopt)};
}

void Simulation::advance_until(double time, const std::atomic<bool>* stop) { engine_->advance_until(time, stop); }
bool Simulation::finished() const { return engine_->finished(); }
double Simulation::time() const { return engine_->time(); }
void Simulation::set_noise(std::shared_ptr<const PhaseNoise> noise) { engine_->set_noise(std::move(noise)); }

Result<Step> Simulation::step_of_delay(Rank rank, std::optional<Step> step) const {
  if (rank < 0 || rank >= engine_->ranks()) {
    return Error{fmt::format("rank {}: from 0 to {}", rank, engine_->ranks() - 1)};
  }
  const Step next = engine_->step_of(rank) + 1;
  if (next >= engine_->steps()) return Error{fmt::format("rank {}: is in its last step; no delay can be added", rank)};
  const Step at = step.value_or(next);
  if (at < next || at >= engine_->steps()) {
    return Error{fmt::format("step {} of rank {}: from {} to {}", at, rank, next, engine_->steps() - 1)};
  }
  return at;
}

Result<Step> Simulation::order_delay(Rank rank, std::optional<Step> step, support::Nanoseconds duration,
                                     wire::CommandId command) {
  if (duration.count() < 0) return Error{fmt::format("delay of {} ns: must not be below zero", duration.count())};
  const auto at = step_of_delay(rank, step);
  if (at) engine_->add_delay(rank, *at, std::chrono::duration<double>(duration).count(), command);
  return at;
}

std::size_t Simulation::take_back_delays(Rank rank) { return engine_->take_back_delays(rank); }
OrderedHolds Simulation::ordered_holds(Rank rank) const { return engine_->ordered_holds(rank); }

}  // namespace idlewave::sim::contention
