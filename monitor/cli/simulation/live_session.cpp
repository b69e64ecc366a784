#include "monitor/cli/simulation/live_session.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <limits>

#include "monitor/cli/verbs.h"
#include "probe/outlet/mailbox/endpoint.h"
#include "probe/signals/interrupted.h"

namespace idlewave::cli::simulation {
namespace {

using signals::interrupted;

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

/// Null where none are needed: those who listen over tcp have keys.
wire::Result<std::unique_ptr<StreamKeys>> make_keys(const StreamOptions& options) {
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
wire::Result<std::unique_ptr<Announcement>> announce(const StreamOptions& options) {
  if (mailbox::is_tcp(options.listen)) return std::unique_ptr<Announcement>();
  return Announcement::make(options.session);
}

}  // namespace

wire::Result<std::unique_ptr<LiveSession>> LiveSession::open(const StreamOptions& options,
                                                             const support::Scenario& scenario,
                                                             const sim::core::Model& model,
                                                             const sim::core::WaitTable& waits,
                                                             const std::string& program) {
  // From now on Ctrl-C ends what is opened here.
  (void)interrupted();
  std::unique_ptr<LiveSession> session(new LiveSession(options));
  if (const wire::Status listens = session->listen(); !listens) return listens.error();
  session->stream_ = std::make_unique<OutletStream>(*session->outlet_);
  session->emitter_ = std::make_unique<sim::emitter::Emitter>(scenario, model, waits, program, *session->stream_);
  return session;
}

wire::Status LiveSession::listen() {
  auto keys = make_keys(options_);
  if (!keys) return keys.error();
  keys_ = std::move(*keys);
  auto announcement = announce(options_);
  if (!announcement) return announcement.error();
  announcement_ = std::move(*announcement);
  const bool elsewhere = options_.listen.empty() && announcement_;
  auto outlet = outlet::Outlet::open({.session = options_.session,
                                      .node = sim::emitter::kNode,
                                      .listen = elsewhere ? announcement_->endpoint() : options_.listen,
                                      .connect = options_.connect,
                                      .key = options_.key,
                                      .listen_key = keys_ ? keys_->files().server : ""});
  if (!outlet) return outlet.error();
  outlet_ = std::move(*outlet);
  if (keys_) tell_how_to_attach(outlet_->listen_endpoint(), keys_->files());
  return announcement_ ? announcement_->publish(outlet_->listen_endpoint()) : wire::ok();
}

LiveSession::~LiveSession() {
  emitter_.reset();
  stream_.reset();
  outlet_.reset();
  announcement_.reset();
  keys_.reset();
  // ZeroMQ leaves its socket files behind.
  (void)mailbox::clear_stale_socket(options_.listen);
}

void LiveSession::serve(Operator& op, wire::Nanoseconds now) {
  for (wire::Command& command : outlet_->serve(kSlice)) {
    const wire::Status done = op.obey(command);
    outlet_->send(wire::Outcome{.command = wire::without_detours(std::move(command)),
                                .time = now,
                                .accepted = bool(done),
                                .reason = done ? "" : done.error().message});
  }
}

int LiveSession::play(sim::Simulation& simulation, Operator& op) {
  const double end = options_.duration ? Seconds(*options_.duration).count() : std::numeric_limits<double>::infinity();
  Schedule schedule;
  double told = 0;
  while (told < end && !simulation.finished() && outlet_->refusal().empty()) {
    const double target = std::min(schedule.due(), end);
    if (const wire::Status gone = simulation.advance_until(target); !gone) return fail(gone.error().message, 1);
    if (interrupted()) break;
    schedule.check(target);
    // A session ends with its run, not with a slice.
    told = simulation.finished() ? std::max(told, simulation.time()) : target;
    emitter_->flush(told);
    serve(op, wire::Nanoseconds(std::int64_t(told * 1e9)));
  }
  emitter_->finish(std::max(told, simulation.time()));
  if (!outlet_->refusal().empty()) return fail("the monitor does not want this session: " + outlet_->refusal(), 1);
  return outlet_->finish(std::chrono::seconds(2)) ? 0
                                                  : fail("a monitor went away before it had received everything", 1);
}

}  // namespace idlewave::cli::simulation
