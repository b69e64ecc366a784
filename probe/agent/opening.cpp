// How an agent comes to its memory: to its own, or to what another one left; and to its outlet.

#include <unistd.h>

#include <chrono>
#include <string>
#include <utility>

#include "probe/agent/agent.h"
#include "probe/agent/calibration.h"
#include "probe/session/directory.h"
#include "probe/session/node_name.h"
#include "probe/shm/clock.h"

namespace idlewave::agent {

namespace {

/// Of what is left, for whoever has started us to take it.
constexpr wire::Nanoseconds kPatienceForHost = std::chrono::seconds(2);

/// Once the session has its folder here.
Options with_endpoint(Options options) {
  char socket[session::kSessionFileLimit];
  if (options.connect == session::kAtHand && session::session_file(options.session.c_str(), "monitor.sock", socket))
    options.connect = std::string("ipc://") + socket;
  return options;
}

wire::Result<std::unique_ptr<outlet::Outlet>> open_outlet(const Options& options, const std::string& node,
                                                          const Post& post) {
  return outlet::Outlet::open({.session = options.session,
                               .node = node,
                               .listen = post.listen,
                               .connect = options.connect,
                               .buffer_bytes = options.buffer_bytes,
                               .key = options.key,
                               .listen_key = options.listen_key,
                               .node_clock = [clock = post.segment->clock()] { return shm::now(clock); }});
}

}  // namespace

wire::Result<std::unique_ptr<Post>> Post::take(const Options& options) {
  auto claim = Claim::take(options.session);
  if (!claim) return claim.error();
  if (*claim == nullptr) return std::unique_ptr<Post>();
  auto segment = Segment::make_as_large_as_fits(options.slots, options.ring_events, calibrate_clock(options.clock));
  if (!segment) return segment.error();
  std::string listen = options.listen.empty() ? (*claim)->default_endpoint() : options.listen;
  return std::make_unique<Post>(Post{std::move(*claim), std::move(*segment), std::move(listen)});
}

wire::Result<std::unique_ptr<Agent>> Agent::open(const Options& wanted, Post post) {
  const Options options = with_endpoint(wanted);
  char node[session::kNodeNameLimit];
  session::node_name(node);
  auto outlet = open_outlet(options, node, post);
  if (!outlet) return outlet.error();
  std::unique_ptr<Agent> agent(new Agent(options, std::move(post), std::move(*outlet)));
  const pid_t found_by = agent->keeper_ != 0 ? agent->keeper_ : getpid();
  const wire::Status published =
      agent->claim_->publish(agent->outlet_->listen_endpoint(), agent->segment_->fd(), found_by);
  if (!published) return published.error();
  return agent;
}

bool Agent::somebody_waits() const {
  for (std::uint32_t i = 0; i < slots_used_; ++i) {
    const shm::SlotState state = segment_->slot(i).state.load(std::memory_order_acquire);
    const bool is_filled_in = state != shm::SlotState::kFree && state != shm::SlotState::kClaimed;
    if (is_filled_in && in_slot_[i] == nullptr && can_admit(Newcomer::in(segment_->slot(i)))) return true;
  }
  return false;
}

/// A process that came as a rank which another one had is looked at when that one's end has been told.
wire::Status Agent::tell_what_is_left(const Options& options, std::unique_ptr<Segment> segment) {
  const bool has_said_its_end = segment->header().open.load() != 1;
  if (has_said_its_end) return wire::ok();
  Post post{nullptr, std::move(segment), {}};
  auto outlet = open_outlet(options, options.left_by, post);
  if (!outlet) return outlet.error();
  Agent agent(options, std::move(post), std::move(*outlet));
  do agent.sweep();
  while (agent.somebody_waits());
  agent.outlet_->finish(kPatienceForHost);
  return wire::ok();
}

}  // namespace idlewave::agent
