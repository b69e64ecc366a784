#include "probe/agent/agent.h"

#include <poll.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <fstream>

#include "probe/agent/calibration.h"
#include "probe/agent/orders.h"
#include "probe/shm/clock.h"

namespace idlewave::agent {

using shm::SlotState;
using std::chrono::milliseconds;
using std::chrono::seconds;
using wire::Nanoseconds;
using wire::Rank;

namespace {

constexpr Nanoseconds kSweepInterval = milliseconds(36);  // a picture is drawn for each frame; a frame costs some 20 B of a recording
constexpr Nanoseconds kFrameInterval = milliseconds(100);    // at least so often, for the live edge moves by frames
constexpr Nanoseconds kProcessInterval = milliseconds(200);  // where a process has no descriptor to watch
constexpr Nanoseconds kAfterLastRank = milliseconds(500);
constexpr Nanoseconds kClaimLimit = seconds(10);  // a rank needs milliseconds to fill in its slot
constexpr Nanoseconds kFinishPatience = seconds(2);
/// How far a frame's promise (no older event follows) stays behind the clock. A rank reads the clock and publishes its
/// event some nanoseconds later, so an event older than the margin is in its ring when the sweep looks, unless its rank
/// was preempted between the two. For that rare case, and for a rank that declares traffic late (which carries the time
/// of the event before), the promise is kept by raising the event's time to the promised one.
constexpr Nanoseconds kPromiseMargin = milliseconds(1);

std::string host_name() {
  utsname names{};
  return uname(&names) == 0 ? names.nodename : "localhost";
}

/// Processor and number of cores, for the record.
std::string describe_machine() {
  std::ifstream facts("/proc/cpuinfo");
  std::string processor = "unknown processor";
  for (std::string line; std::getline(facts, line);) {
    const std::size_t colon = line.find(": ");
    if (line.rfind("model name", 0) != 0 || colon == std::string::npos) continue;
    processor = line.substr(colon + 2);
    break;
  }
  return processor + ", " + std::to_string(sysconf(_SC_NPROCESSORS_ONLN)) + " cores";
}

std::int64_t unix_time_ns() {
  timespec time{};
  clock_gettime(CLOCK_REALTIME, &time);
  return time.tv_sec * std::int64_t{1'000'000'000} + time.tv_nsec;
}

/// A promise to a millisecond or so takes two bytes fewer in every frame.
Nanoseconds rounded_down(Nanoseconds time) { return Nanoseconds(time.count() & ~((std::int64_t{1} << 20) - 1)); }

bool is_plausible(const shm::Slot& slot) {
  return slot.rank >= 0 && slot.rank < slot.world_size && slot.world_size <= wire::kMaxRanks && slot.pid > 0;
}

bool process_runs(const shm::Slot& slot) {
  return slot.pid > 0 && wire::process_start_time(slot.pid) == slot.process_start;
}

}  // namespace

wire::Result<std::unique_ptr<Agent>> Agent::open(const Options& options) {
  auto claim = Claim::take(options.session);
  if (!claim) return claim.error();
  if (*claim == nullptr) return std::unique_ptr<Agent>();
  auto segment = Segment::make(options.slots, options.ring_events, calibrate_clock());
  if (!segment) return segment.error();
  const std::string listen = options.listen.empty() ? (*claim)->default_endpoint() : options.listen;
  auto outlet = outlet::Outlet::open({.session = options.session,
                                      .node = host_name(),
                                      .listen = listen,
                                      .connect = options.connect,
                                      .buffer_bytes = options.buffer_bytes,
                                      .key = options.key,
                                      .listen_key = options.listen_key});
  if (!outlet) return outlet.error();
  const std::string endpoint = (*outlet)->listen_endpoint();
  const int memory = (*segment)->fd();
  (*segment)->header().open = 1;
  if (const wire::Status published = (*claim)->publish(endpoint, memory); !published) return published.error();
  return std::unique_ptr<Agent>(new Agent(options, std::move(*claim), std::move(*segment), std::move(*outlet)));
}

Agent::Agent(const Options& options, std::unique_ptr<Claim> claim, std::unique_ptr<Segment> segment,
             std::unique_ptr<outlet::Outlet> outlet)
    : options_(options),
      claim_(std::move(claim)),
      segment_(std::move(segment)),
      outlet_(std::move(outlet)),
      domains_(options.likwid_reader),
      in_slot_(options.slots, nullptr) {
  roster_.agent_pid = getpid();
  roster_.machine = describe_machine();
  busy_at_ = now();
}

Nanoseconds Agent::now() const { return shm::now(segment_->header().clock); }

void Agent::run(const std::atomic<bool>& stop) {
  while (!stop && !may_end(now())) {
    const Nanoseconds began = now();
    sweep();
    serve_until(began + kSweepInterval, stop);
  }
  claim_->retire(segment_->header(), [] { return false; });
  sweep();
  if (!outlet_->finish(kFinishPatience)) claim_->log("a monitor went away before it had received everything");
  if (!outlet_->refusal().empty()) claim_->log("the monitor did not want this session: " + outlet_->refusal());
}

/// Commands are obeyed as they come; rings are looked at in fixed intervals, so that a chatty monitor makes no work.
void Agent::serve_until(Nanoseconds next_sweep, const std::atomic<bool>& stop) {
  for (Nanoseconds left = next_sweep - now(); left.count() > 0 && !stop; left = next_sweep - now()) {
    for (const wire::Command& command : outlet_->serve(left)) {
      auto outcome = obey(command, {residents_, roster_.ranks, roster_.world_size}, now());
      if (outcome) outlet_->send(std::move(*outcome));
    }
  }
}

void Agent::sweep() {
  const Nanoseconds began = now();
  admit_newcomers(began);
  watch_processes(began);
  for (auto& [rank, resident] : residents_) drain(*resident, began);
  roster_changed_ = domains_.sample(std::max(began, frames_.promised()), frames_) || roster_changed_;
  if (roster_changed_ || !frames_.empty() || began - frame_sent_at_ >= kFrameInterval) {
    send_frames(rounded_down(began - kPromiseMargin));
    frame_sent_at_ = began;
  }
  dismiss_ended();
}

void Agent::admit_newcomers(Nanoseconds now) {
  const std::uint32_t slots = segment_->header().slots;
  for (std::uint32_t i = 0; i < slots && i <= slots_used_; ++i) {
    const SlotState state = segment_->slot(i).state.load(std::memory_order_acquire);
    if (state == SlotState::kFree) continue;
    slots_used_ = std::max(slots_used_, i + 1);
    busy_at_ = now;
    if (in_slot_[i] != nullptr) continue;
    const bool filled_in = state != SlotState::kClaimed && is_plausible(segment_->slot(i));
    filled_in ? admit(i, now) : free_if_abandoned(i, now);
  }
}

/// Takes the rank in, unless another process still holds its number: then it waits, and its ring with it.
void Agent::admit(std::uint32_t index, Nanoseconds now) {
  shm::Slot& slot = segment_->slot(index);
  claimed_since_.erase(index);
  const Rank rank = slot.rank;
  if (residents_.contains(rank)) return;
  Known& known = known_[rank];
  known.info = {rank, slot.pid, wire::kNoDomain};
  known.world_size = slot.world_size;
  known.command_line.assign(slot.command_line, strnlen(slot.command_line, sizeof slot.command_line));
  domains_.forget(rank);
  auto resident = std::make_unique<Resident>(slot, segment_->ring(index), segment_->header(), now, known.last);
  in_slot_[index] = resident.get();
  residents_[rank] = std::move(resident);
  roster_changed_ = true;
}

/// A process may have died between taking a slot and filling it in, or have filled it with nonsense.
void Agent::free_if_abandoned(std::uint32_t index, Nanoseconds now) {
  shm::Slot& slot = segment_->slot(index);
  const Nanoseconds since = claimed_since_.emplace(index, now).first->second;
  if (now - since < kClaimLimit || process_runs(slot)) return;
  slot.pid = 0;
  slot.state.store(SlotState::kFree, std::memory_order_release);
  claimed_since_.erase(index);
}

void Agent::watch_processes(Nanoseconds now) {
  const bool look = now - processes_checked_at_ >= kProcessInterval;
  if (look) processes_checked_at_ = now;
  std::vector<pollfd> watched;
  std::vector<Resident*> owners;
  for (auto& [rank, resident] : residents_) {
    if (resident->process_fd() >= 0) {
      watched.push_back({resident->process_fd(), POLLIN, 0});
      owners.push_back(resident.get());
    } else if (look && !resident->process_runs()) {
      resident->note_process_end();
    }
  }
  if (watched.empty() || poll(watched.data(), watched.size(), 0) <= 0) return;
  for (std::size_t i = 0; i < watched.size(); ++i) {
    if (watched[i].revents != 0) owners[i]->note_process_end();
  }
}

void Agent::drain(Resident& resident, Nanoseconds began) {
  const bool over = resident.is_over();
  note_news(resident, began);
  for (const std::uint64_t end = resident.published(); !drain_some(resident, end);) continue;
  if (over) {
    resident.append_end(now(), frames_, read_);
    domains_.observe(resident.rank(), read_);
    ended_.push_back(resident.rank());
  }
  domains_.observe_model(resident);
  resident.orders().pump(resident.slot());
}

bool Agent::drain_some(Resident& resident, std::uint64_t end) {
  const bool all = resident.drain(end, phases_, frames_, read_);
  domains_.observe(resident.rank(), read_);
  // All lanes are not in it yet, so this frame can't promise more than the one before.
  if (frames_.full()) send_frames(frames_.promised());
  return all;
}

void Agent::note_news(Resident& resident, Nanoseconds now) {
  const bool unplaced = domains_.of(resident.rank()) == wire::kNoDomain;
  if (!resident.has_news() && !unplaced) return;
  if (!domains_.place(resident, now)) return;
  known_[resident.rank()].info.domain = domains_.of(resident.rank());
  roster_changed_ = true;
}

void Agent::send_frames(Nanoseconds up_to) {
  // Before the events, which may speak of a new rank or of a new name.
  if (roster_changed_ || roster_.phases != phases_.all()) send_roster(now());
  outlet_->send(frames_.take(up_to));
}

void Agent::send_roster(Nanoseconds now) {
  roster_.ranks.clear();
  for (const auto& [rank, known] : known_) {
    roster_.ranks.push_back(known.info);
    roster_.world_size = std::max(roster_.world_size, known.world_size);
  }
  if (!known_.empty()) roster_.program = known_.begin()->second.command_line;
  roster_.domains = domains_.describe();
  roster_.phases = phases_.all();
  roster_.unix_time_ns = unix_time_ns();
  roster_.node_time = now;
  outlet_->send(roster_);
  roster_changed_ = false;
}

void Agent::dismiss_ended() {
  for (const Rank rank : ended_) {
    const auto found = residents_.find(rank);
    Resident& resident = *found->second;
    known_[rank].last = resident.last_event_at();
    *std::find(in_slot_.begin(), in_slot_.end(), &resident) = nullptr;
    resident.free_slot();
    residents_.erase(found);
  }
  ended_.clear();
}

bool Agent::somebody_is_in() {
  const std::uint32_t slots = segment_->header().slots;
  for (std::uint32_t i = 0; i < slots && i <= slots_used_; ++i) {
    if (segment_->slot(i).state.load() == SlotState::kFree) continue;
    slots_used_ = std::max(slots_used_, i + 1);
    return true;
  }
  return false;
}

bool Agent::may_end(Nanoseconds now) {
  const Nanoseconds patience = known_.empty() ? options_.patience : kAfterLastRank;
  if (now - busy_at_ < patience) return false;
  return claim_->retire(segment_->header(), [this] { return somebody_is_in(); });
}

}  // namespace idlewave::agent
