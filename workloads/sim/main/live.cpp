#include "workloads/sim/main/live.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <limits>

#include "probe/outlet/mailbox/endpoint.h"
#include "probe/outlet/outlet.h"
#include "workloads/sim/contention/simulation.h"
#include "workloads/sim/emitter/emitter.h"
#include "workloads/sim/main/operator.h"
#include "workloads/sim/main/stream_keys.h"
#include "workloads/sim/simulator.h"

namespace idlewave::sim {
namespace {

using contention::Simulation;
using emitter::Emitter;
using emitter::kNode;
using emitter::Stream;

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

/// Says how far simulated time lags behind the clock, now and then.
class Schedule {
 public:
  double due() const { return Seconds(Clock::now() - start_).count(); }
  void check(double reached) {
    const double now = due(), behind = now - reached;
    if (behind < kTolerated || now < next_complaint_) return;
    complain(fmt::format("behind schedule by {:.1f} s: this machine simulates fewer ranks in real time", behind),
             kSuccess);
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
    simulation.advance_until(target, &interrupted());
    if (interrupted()) break;
    schedule.check(target);
    emitter.flush(target);
    told = target;
    serve(outlet, op, wire::Nanoseconds(std::int64_t(told * 1e9)));
  }
  emitter.finish(std::max(told, simulation.time()));
  if (!outlet.refusal().empty())
    return complain("the monitor does not want this session: " + outlet.refusal(), kFailed);
  return outlet.finish(std::chrono::seconds(2))
             ? kSuccess
             : complain("a monitor went away before it had received everything", kFailed);
}

/// Null where none are needed: those who listen over tcp have keys.
wire::Result<std::unique_ptr<StreamKeys>> make_keys(const Options& options) {
  const bool has_one = !options.key.empty() && !mailbox::is_tcp(options.connect);
  if (!mailbox::is_tcp(options.listen) || has_one) return std::unique_ptr<StreamKeys>();
  return StreamKeys::make();
}

void tell_how_to_attach(const std::string& endpoint, const mailbox::KeyFiles& keys) {
  complain(fmt::format("to watch: idlewave attach {} --key {} (or, to look on only, {})", endpoint, keys.operators,
                       keys.viewers),
           kSuccess);
}

int stream(const Prepared& prepared, const Options& options) {
  if (prepared.scenario.communication.collective)
    return complain("--realtime: goes without a collective; --record a file and replay it", kBadInput);
  if (prepared.scenario.communication.loggops)
    return complain(
        "--stream and --connect: not with LogGOPS parameters; give the transfer time of messages as "
        "communication.time, or --record the run",
        kBadInput);
  const auto model = model_of(prepared.scenario);
  if (!model) return complain(model.error().message, kBadInput);
  if (const wire::Status fits = emitter::check_session(prepared.scenario, *model); !fits)
    return complain(fits.error().message, kBadInput);
  if (const wire::Status room = check_memory(prepared.scenario, RunOptions{}); !room)
    return complain(room.error().message, kBadInput);
  auto made = make_keys(options);
  if (!made) return complain(made.error().message, kBadInput);
  const StreamKeys* own = made->get();
  auto outlet = outlet::Outlet::open({.session = options.session,
                                      .node = kNode,
                                      .listen = options.listen,
                                      .connect = options.connect,
                                      .key = options.key,
                                      .listen_key = own != nullptr ? own->files().server : ""});
  if (!outlet) return complain(outlet.error().message, kBadInput);
  if (own != nullptr) tell_how_to_attach((*outlet)->listen_endpoint(), own->files());
  OutletStream stream(**outlet);
  Emitter emitter(prepared.scenario, *model, options.scenario.stem(), stream);
  auto simulation = Simulation::create(prepared.scenario, emitter, prepared.noise);
  if (!simulation) return complain(simulation.error().message, kBadInput);
  const double end = options.duration ? Seconds(*options.duration).count() : std::numeric_limits<double>::infinity();
  Operator op(*simulation, prepared, options.allow_inject);
  return play(*simulation, emitter, **outlet, op, end);
}

}  // namespace

int run_live(const Prepared& prepared, const Options& options) {
  (void)interrupted();  // from now on Ctrl-C ends what is opened here
  const int code = stream(prepared, options);
  (void)mailbox::clear_stale_socket(options.listen);  // ZeroMQ leaves its socket files behind
  return code;
}

}  // namespace idlewave::sim
