#include "monitor/cli/simulation/simulated_link.h"

#include <optional>
#include <utility>

#include "monitor/cli/simulation/operator.h"
#include "probe/wire/codec.h"
#include "workloads/sim/emitter/emitter.h"

namespace idlewave::cli::simulation {
namespace {

using link::Delivery;
using wire::Nanoseconds;

/// Frames as they would have come, until they are fetched.
class Received final : public sim::emitter::Stream {
 public:
  explicit Received(std::string session) : session_(std::move(session)) {}
  void send(wire::Roster roster) override {
    roster_ = std::move(roster);
    roster_->lesson = lesson_;
    add(*roster_);
  }
  void send(wire::Events events) override { add(std::move(events)); }
  void send(wire::Outcome outcome) { add(std::move(outcome)); }
  void send(wire::End end) { add(std::move(end)); }
  void show(const wire::LessonPage& page) {
    lesson_ = page;
    if (roster_) send(*std::move(roster_));
  }
  void keep(const wire::Command& command) {
    waiting_.emplace_back(wire::Direction::kSent, wire::encode({session_, "", 0, command}));
  }
  void fetch(Nanoseconds now, std::vector<Delivery>& out) {
    for (auto& [direction, bytes] : waiting_) out.emplace_back(now, direction, std::move(bytes));
    waiting_.clear();
  }

 private:
  template <class Body>
  void add(Body body) {
    waiting_.emplace_back(wire::Direction::kReceived,
                          wire::encode({session_, sim::emitter::kNode, ++sequence_, std::move(body)}));
  }

  std::string session_;
  std::uint64_t sequence_ = 0;
  std::optional<wire::Roster> roster_;  ///< The latest.
  std::optional<wire::LessonPage> lesson_;
  std::vector<std::pair<wire::Direction, std::vector<std::byte>>> waiting_;
};

class Played final : public SimulatedLink {
 public:
  static wire::Result<std::unique_ptr<SimulatedLink>> open(sim::Prepared prepared, const std::string& program,
                                                           const std::string& session) {
    std::unique_ptr<Played> link(new Played(std::move(prepared), session));
    const auto model = sim::model_of(link->prepared_.scenario);
    if (!model) return model.error();
    const sim::core::WaitTable waits = sim::waits_of(link->prepared_.scenario, *model);
    const wire::Status fits = sim::emitter::check_session(link->prepared_.scenario, *model, waits);
    if (!fits) return fits.error();
    if (const wire::Status runs = sim::check(link->prepared_.scenario, {}); !runs) return runs.error();
    link->emitter_.emplace(link->prepared_.scenario, *model, waits, program, link->received_);
    auto simulation = sim::Simulation::create(link->prepared_, *link->emitter_);
    if (!simulation) return simulation.error();
    link->simulation_.emplace(std::move(*simulation));
    link->operator_.emplace(*link->simulation_, link->prepared_, true);
    return std::unique_ptr<SimulatedLink>(std::move(link));
  }

  void receive(Nanoseconds now, std::vector<Delivery>& out) override {
    if (!ended_) advance_to(now);
    received_.fetch(now, out);
  }

  wire::Status send(Nanoseconds now, const wire::Command& command) override {
    if (ended_) return wire::Error{wire::to_words(wire::NoCommand::kEnded)};
    received_.keep(command);
    const wire::Status done = operator_->obey(command);
    received_.send(wire::Outcome{.command = wire::without_detours(command),
                                 .time = now,
                                 .accepted = bool(done),
                                 .reason = done ? "" : done.error().message});
    return wire::ok();
  }

  void show(const wire::LessonPage& page) override {
    if (!ended_) received_.show(page);
  }

  void wait(Nanoseconds, int) override {}

  void end() override {
    if (!std::exchange(ended_, true)) say_the_end();
  }

  link::LinkStatus status() const override {
    if (!failure_.empty()) return {.state = link::LinkState::kLost, .detail = failure_};
    return {.state = ended_ ? link::LinkState::kEnded : link::LinkState::kLive, .no_command = why_no_command()};
  }

 private:
  Played(sim::Prepared prepared, const std::string& session) : prepared_(std::move(prepared)), received_(session) {}

  std::optional<wire::NoCommand> why_no_command() const {
    if (ended_) return wire::NoCommand::kEnded;
    return simulation_->takes_orders() ? std::nullopt : std::optional(wire::NoCommand::kNoOrders);
  }

  void advance_to(Nanoseconds now) {
    const double target = std::chrono::duration<double>(now).count();
    if (const wire::Status gone = simulation_->advance_until(target); !gone) failure_ = gone.error().message;
    ended_ = simulation_->finished() || !failure_.empty();
    if (!ended_) {
      emitter_->flush(target);
      told_ = target;
      return;
    }
    say_the_end();
  }

  void say_the_end() {
    emitter_->finish(std::max(told_, simulation_->time()));
    received_.send(wire::End{});
  }

  sim::Prepared prepared_;
  Received received_;
  std::optional<sim::emitter::Emitter> emitter_;
  std::optional<sim::Simulation> simulation_;
  std::optional<Operator> operator_;
  double told_ = 0;  ///< Seconds up to which frames were made.
  bool ended_ = false;
  std::string failure_;
};

}  // namespace

bool takes_orders(const support::Scenario& scenario) { return sim::takes_orders(scenario); }

wire::Result<std::unique_ptr<SimulatedLink>> open_simulation(const std::filesystem::path& scenario,
                                                             const std::vector<std::string>& settings,
                                                             const std::string& session) {
  auto prepared = sim::prepare(scenario, settings);
  if (!prepared) return prepared.error();
  if (takes_orders(prepared->scenario)) prepared->scenario.delays.clear();
  return Played::open(std::move(*prepared), scenario.stem(), session);
}

}  // namespace idlewave::cli::simulation
