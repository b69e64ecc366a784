#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <limits>
#include <memory>

#include "monitor/cli/simulation/announcement.h"
#include "monitor/cli/simulation/operator.h"
#include "monitor/cli/simulation/stream_keys.h"
#include "monitor/cli/simulation/ways.h"
#include "monitor/cli/verbs.h"
#include "monitor/host/names.h"
#include "probe/outlet/mailbox/endpoint.h"
#include "probe/outlet/outlet.h"
#include "workloads/sim/emitter/emitter.h"
#include "workloads/sim/simulator.h"
#include "workloads/sim/sweep/console.h"

namespace idlewave::cli::simulation {
namespace {

using sim::Simulation;
using sim::emitter::Emitter;
using sim::sweep::interrupted;

using Clock = std::chrono::steady_clock;
using Seconds = std::chrono::duration<double>;

constexpr auto kSlice = std::chrono::milliseconds(30);
/// Seconds behind schedule that are not worth a word.
constexpr double kTolerated = 0.25;
/// Seconds.
constexpr double kBetweenComplaints = 5.0;

class OutletStream final : public sim::emitter::Stream {
 public:
  explicit OutletStream(outlet::Outlet& outlet) : outlet_(outlet) {}
  void send(wire::Roster roster) override { outlet_.send(std::move(roster)); }
  void send(wire::Events events) override { outlet_.send(std::move(events)); }

 private:
  outlet::Outlet& outlet_;
};

/// Says how far simulated time lags behind the clock, now and then.
class Schedule {
 public:
  double due() const { return Seconds(Clock::now() - start_).count(); }
  void check(double reached) {
    const double now = due(), behind = now - reached;
    if (behind < kTolerated || now < next_complaint_) return;
    fail(fmt::format("behind schedule by {:.1f} s: this machine simulates fewer ranks in real time", behind), 0);
    next_complaint_ = now + kBetweenComplaints;
  }

 private:
  Clock::time_point start_ = Clock::now();
  double next_complaint_ = 0;
};

void serve(outlet::Outlet& outlet, Operator& op, wire::Nanoseconds now) {
  for (wire::Command& command : outlet.serve(kSlice)) {
    const wire::Status done = op.obey(command);
    outlet.send(wire::Outcome{.command = std::move(command),
                              .time = now,
                              .accepted = bool(done),
                              .reason = done ? "" : done.error().message});
  }
}

int play(Simulation& simulation, Emitter& emitter, outlet::Outlet& outlet, Operator& op, double end) {
  Schedule schedule;
  double told = 0;
  while (told < end && !simulation.finished() && outlet.refusal().empty()) {
    const double target = std::min(schedule.due(), end);
    if (const wire::Status gone = simulation.advance_until(target); !gone) return fail(gone.error().message, 1);
    if (interrupted()) break;
    schedule.check(target);
    emitter.flush(target);
    told = target;
    serve(outlet, op, wire::Nanoseconds(std::int64_t(told * 1e9)));
  }
  emitter.finish(std::max(told, simulation.time()));
  if (!outlet.refusal().empty()) return fail("the monitor does not want this session: " + outlet.refusal(), 1);
  return outlet.finish(std::chrono::seconds(2)) ? 0 : fail("a monitor went away before it had received everything", 1);
}

/// Null where none are needed: those who listen over tcp have keys.
wire::Result<std::unique_ptr<StreamKeys>> make_keys(const LiveOptions& options) {
  const bool has_one = !options.key.empty() && !mailbox::is_tcp(options.connect);
  if (!mailbox::is_tcp(options.listen) || has_one) return std::unique_ptr<StreamKeys>();
  return StreamKeys::make();
}

void tell_how_to_attach(const std::string& endpoint, const mailbox::KeyFiles& keys) {
  fail(fmt::format("to watch: idlewave attach {} --key {} (or, to look on only, {})", endpoint, keys.operators,
                   keys.viewers),
       0);
}

/// Null for a session over tcp, where a name is not enough to join.
wire::Result<std::unique_ptr<Announcement>> announce(const LiveOptions& options) {
  if (mailbox::is_tcp(options.listen)) return std::unique_ptr<Announcement>();
  return Announcement::make(options.session);
}

/// Error: what can't be watched while it runs.
wire::Status check(const support::Scenario& scenario, const sim::core::Model& model) {
  const wire::Status fits = sim::emitter::check_session(scenario, model);
  return fits ? sim::check(scenario, {}) : fits;
}

int stream(const sim::Prepared& prepared, const sim::core::Model& model, const LiveOptions& options) {
  auto made = make_keys(options);
  if (!made) return fail(made.error().message, 2);
  const StreamKeys* own = made->get();
  const auto announcement = announce(options);
  if (!announcement) return fail(announcement.error().message, 2);
  const bool elsewhere = options.listen.empty() && *announcement;
  auto outlet = outlet::Outlet::open({.session = options.session,
                                      .node = sim::emitter::kNode,
                                      .listen = elsewhere ? (*announcement)->endpoint() : options.listen,
                                      .connect = options.connect,
                                      .key = options.key,
                                      .listen_key = own != nullptr ? own->files().server : ""});
  if (!outlet) return fail(outlet.error().message, 2);
  if (own != nullptr) tell_how_to_attach((*outlet)->listen_endpoint(), own->files());
  if (*announcement) {
    if (const wire::Status found = (*announcement)->publish((*outlet)->listen_endpoint()); !found)
      return fail(found.error().message, 2);
  }
  OutletStream stream(**outlet);
  Emitter emitter(prepared.scenario, model, options.scenario.stem(), stream);
  auto simulation = Simulation::create(prepared, emitter, &interrupted());
  if (!simulation) return fail(simulation.error().message, 2);
  const double end = options.duration ? Seconds(*options.duration).count() : std::numeric_limits<double>::infinity();
  Operator op(*simulation, prepared, options.allow_inject);
  return play(*simulation, emitter, **outlet, op, end);
}

}  // namespace

int run(const LiveOptions& asked) {
  LiveOptions options = asked;
  if (options.session.empty()) options.session = host::new_session_name(options.scenario.stem());
  auto prepared = sim::prepare(options.scenario, options.settings);
  if (!prepared) return fail(prepared.error().message, 2);
  if (options.without_delays) prepared->scenario.delays.clear();
  const auto model = sim::model_of(prepared->scenario);
  if (!model) return fail(model.error().message, 2);
  if (const wire::Status can_be_watched = check(prepared->scenario, *model); !can_be_watched)
    return fail(can_be_watched.error().message, 2);
  // From now on Ctrl-C ends what is opened here.
  (void)interrupted();
  const int code = stream(*prepared, *model, options);
  // ZeroMQ leaves its socket files behind.
  (void)mailbox::clear_stale_socket(options.listen);
  return code;
}

}  // namespace idlewave::cli::simulation
