#include "probe/agent/agent.h"

#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "probe/agent/orders.h"
#include "probe/agent/reach.h"
#include "probe/machine/processor.h"
#include "probe/session/directory.h"
#include "probe/session/trouble_log.h"
#include "probe/shm/clock.h"

namespace idlewave::agent {

using shm::SlotState;
using std::chrono::milliseconds;
using std::chrono::seconds;
using wire::Nanoseconds;
using wire::Rank;

namespace {

// a picture is drawn for each frame; a frame costs some 20 B of a recording
constexpr Nanoseconds kSweepInterval = milliseconds(36);
// where nobody is in a hurry: between two looks at the rings, and the part of one that is taken all the same: what is
// left has to hold until an agent that got no core gets one
constexpr Nanoseconds kPatientLook = milliseconds(100);
constexpr std::uint64_t kFullEnough = 16;
constexpr Nanoseconds kFrameInterval = milliseconds(100);    // at least so often, for the live edge moves by frames
constexpr Nanoseconds kCallsInterval = seconds(2);           // sums of MPI calls, some 10 B a function or receiver
constexpr Nanoseconds kProcessInterval = milliseconds(200);  // where a process has no descriptor to watch
constexpr Nanoseconds kAfterLastRank = milliseconds(500);
constexpr Nanoseconds kClaimLimit = seconds(10);  // a rank needs milliseconds to fill in its slot
constexpr Nanoseconds kSuccession = seconds(1);   // a program's end and the next one's beginning may overlap
constexpr Nanoseconds kSaid = Nanoseconds::max();
constexpr Nanoseconds kFinishPatience = seconds(2);
// for somebody who starts an agent; then it goes without asking
constexpr Nanoseconds kLockPatience = seconds(6);
constexpr Nanoseconds kMeeting = milliseconds(500), kMeetingLook = milliseconds(10);  // a monitor that is there answers
constexpr Nanoseconds kMonitorPatience = seconds(5);   // then somebody is told why there is none
constexpr Nanoseconds kNoticeTime = milliseconds(60);  // a rank that is held looks every 10 ms
constexpr Nanoseconds kRanksEndWithUs = seconds(1);    // where one signal is for all
constexpr std::size_t kMostCallEntries = 1 << 17;      // of a frame, which stays below 4 MB
constexpr std::size_t kMostKnown = 1 << 16;            // ranks of one node, those that left included
/// How far a frame's promise (no older event follows) stays behind the clock. A rank reads the clock and publishes its
/// event some nanoseconds later, so an event older than the margin is in its ring when the sweep looks, unless its rank
/// was preempted between the two. For that rare case, and for a rank that declares traffic late (which carries the time
/// of the event before), the promise is kept by raising the event's time to the promised one.
constexpr Nanoseconds kPromiseMargin = milliseconds(1);

std::int64_t unix_time_ns() {
  timespec time{};
  clock_gettime(CLOCK_REALTIME, &time);
  return time.tv_sec * std::int64_t{1'000'000'000} + time.tv_nsec;
}

/// A promise to a millisecond or so takes two bytes fewer in every frame.
Nanoseconds rounded_down(Nanoseconds time) { return Nanoseconds(time.count() & ~((std::int64_t{1} << 20) - 1)); }

std::string text_of(const char (&field)[256]) {
  char copy[sizeof field];  // It may change while it is read.
  std::memcpy(copy, field, sizeof field);
  return {copy, strnlen(copy, sizeof copy)};
}

}  // namespace

Agent::Agent(const Options& options, Post post, std::unique_ptr<outlet::Outlet> outlet)
    : options_(options),
      claim_(std::move(post.claim)),
      segment_(std::move(post.segment)),
      traces_(segment_->traces()),
      keeper_(post.keeper),
      outlet_(std::move(outlet)),
      domains_(options.left_by.empty() ? Domains(options.bandwidth, options.calibrated)
                                       : Domains::of_the_dead(options.calibrated)),
      frames_(Nanoseconds(segment_->header().promised_ns.load())),
      beginning_(segment_->header(), now()),
      in_slot_(segment_->slots(), nullptr) {
  roster_.agent_pid = getpid();
  roster_.machine = machine::describe_processors();
  busy_at_ = now();
  explain_at_ = busy_at_ + kMonitorPatience;
  take_over();
}

/// Finds nobody in memory that was just made. Orders of the agent before are withdrawn before this one says that it
/// lives, so that no rank goes on being held for the other.
void Agent::take_over() {
  shm::Header& header = segment_->header();
  if (const std::int32_t before = header.agent_pid.load(); before > 0)
    roster_.taken_over = {before, header.last_frame.load()};
  slots_used_ = std::min(header.slots_used.load(), segment_->slots());
  for (std::uint32_t i = 0; i < slots_used_; ++i) {
    if (segment_->slot(i).state.load() != SlotState::kFree) shm::withdraw_all(segment_->slot(i));
  }
  header.agent_start.store(session::process_start_time(getpid()));
  header.agent_pid.store(getpid());
  header.last_frame.store(0);
  header.open.store(1);
}

/// Ranks must find the agent when its keeper was killed.
void Agent::stand_in_for_keeper() {
  if (keeper_ == 0 || getppid() == keeper_) return;
  keeper_ = 0;
  claim_->log("the agent's keeper is gone; the agent goes on without one");
  const wire::Status published = claim_->publish(outlet_->listen_endpoint(), segment_->fd(), getpid());
  if (!published) claim_->log(published.error().message);
}

/// True if a rank is held that has to notice it yet.
bool Agent::let_go() {
  bool held = false;
  for (auto& [rank, resident] : residents_) {
    resident->let_go();
    held = held || shm::has_delay(resident->slot());
  }
  return held;
}

/// Nobody can clear an order any more when the monitor that this session belongs to has gone, and no other is there.
void Agent::watch_monitor(Nanoseconds now) {
  if (options_.connect.empty()) return;
  const bool watched = outlet_->consumers() > 0;
  if (was_watched_ && !watched) let_go();
  was_watched_ = watched;
  if (watched) explain_at_ = {};
  if (explain_at_ == Nanoseconds{} || now < explain_at_) return;
  explain_at_ = {};
  if (outlet_->refusal().empty()) return explain_silence(options_.session, options_.connect);
  const std::string line = "the agent was not let in: " + outlet_->refusal();
  session::note_trouble(options_.session.c_str(), line.c_str());
}

/// Ranks of other nodes may have been first.
void Agent::learn_beginning() {
  const auto told = outlet_->told_beginning();
  if (told && beginning_.settle(*told, unix_time_ns(), now())) roster_changed_ = true;
}

Nanoseconds Agent::now() const { return shm::now(segment_->clock()); }

/// By ranks that have not been admitted yet; they take one slot after the other.
bool Agent::is_some_ring_filled() const {
  for (std::uint32_t i = 0; i < segment_->slots(); ++i) {
    const shm::Slot& slot = segment_->slot(i);
    if (slot.state.load(std::memory_order_acquire) == SlotState::kFree) return false;
    const std::uint64_t written = slot.head.load(std::memory_order_relaxed) - slot.tail.load(std::memory_order_relaxed);
    if (slot.thread_places.load() > 0 || written >= segment_->ring_events() / kFullEnough) return true;
  }
  return false;
}

/// What is taken from the rings while nobody is there to hear it goes with us, and what lies in them does not.
void Agent::meet_monitor(const std::atomic<bool>& stop) {
  const Nanoseconds until = now() + kMeeting;
  while (!options_.connect.empty() && outlet_->consumers() == 0 && !stop && now() < until && !is_some_ring_filled())
    serve_until(now() + kMeetingLook, stop);
}

void Agent::run(const std::atomic<bool>& stop, const std::atomic<bool>& no_more_ranks) {
  domains_.begin(now());
  meet_monitor(stop);
  while (!stop && !may_end(now(), no_more_ranks)) {
    const Nanoseconds began = now();
    sweep();
    Nanoseconds look = began;
    do {
      look += std::clamp(pace(), kSweepInterval, kPatientLook);
      serve_until(look, stop);
    } while (!stop && !no_more_ranks && !is_time_to_sweep(began));
  }
  const std::atomic<bool> undisturbed{false};
  if (let_go()) serve_until(now() + kNoticeTime, undisturbed);
  if (stop) see_ranks_end();
  if (stop)
    claim_->retire(
        segment_->header(), [] { return false; }, true);
  sweep();
  if (!outlet_->finish(kFinishPatience)) claim_->log("a monitor went away before it had received everything");
  if (!outlet_->refusal().empty()) claim_->log("the monitor did not want this session: " + outlet_->refusal());
}

/// What ends us ends the ranks as well, more often than not, as where a job is cancelled.
void Agent::see_ranks_end() {
  const std::atomic<bool> undisturbed{false};
  const auto all_are_over = [&] {
    return std::ranges::all_of(residents_, [](const auto& entry) { return entry.second->is_over(); });
  };
  for (const Nanoseconds until = now() + kRanksEndWithUs; !all_are_over() && now() < until; sweep())
    serve_until(now() + kSweepInterval, undisturbed);
}

/// Commands are obeyed as they come; rings are looked at in fixed intervals, so that a chatty monitor makes no work. Once
/// at least, however late it is.
void Agent::serve_until(Nanoseconds next_look, const std::atomic<bool>& stop) {
  do {
    for (const wire::Command& command : outlet_->serve(std::max(Nanoseconds(0), next_look - now()), deaths_.fd())) {
      const Crew crew{residents_, roster_.ranks, roster_.world_size, options_.allow_inject, traces_};
      auto outcome = obey(command, crew, now());
      if (outcome) outlet_->send(std::move(*outcome));
    }
    note_deaths(now());
  } while (!stop && now() < next_look);
}

Nanoseconds Agent::pace() const { return outlet_->pace().value_or(Nanoseconds(0)); }

/// Where nobody looks on, what there is to tell may gather in the rings: each sweep wakes everybody who passes it on,
/// beside the ranks.
bool Agent::is_time_to_sweep(Nanoseconds swept_at) const { return now() - swept_at >= pace() || somebody_needs_us(); }

/// A rank comes or goes, or writes so much that its ring might overflow.
bool Agent::somebody_needs_us() const {
  for (std::uint32_t i = 0; i < segment_->slots() && i <= slots_used_; ++i) {
    if (segment_->slot(i).state.load(std::memory_order_relaxed) == SlotState::kFree) continue;
    const Resident* resident = in_slot_[i];
    if (resident == nullptr || resident->is_over() || resident->is_filled(kFullEnough)) return true;
  }
  return false;
}

void Agent::sweep() {
  const Nanoseconds began = now();
  stand_in_for_keeper();
  watch_monitor(began);
  learn_beginning();
  note_frames(1);
  admit_newcomers(began);
  watch_processes(began);
  Nanoseconds promise = rounded_down(began - kPromiseMargin);
  for (auto& [rank, resident] : residents_) promise = std::min(promise, drain(*resident, began));
  collect_calls(began);
  roster_changed_ = domains_.sample(std::max(began, frames_.promised()), frames_) || roster_changed_;
  if (roster_changed_ || !frames_.empty() || !calls_.empty() || began - frame_sent_at_ >= kFrameInterval) {
    send_frames(promise);
    frame_sent_at_ = began;
  }
  note_frames(0);
  dismiss_ended();
  segment_->header().sweeps.fetch_add(1, std::memory_order_relaxed);
}

void Agent::admit_newcomers(Nanoseconds now) {
  const std::uint32_t slots = segment_->slots();
  for (std::uint32_t i = 0; i < slots && i <= slots_used_; ++i) {
    const SlotState state = segment_->slot(i).state.load(std::memory_order_acquire);
    if (state == SlotState::kFree) continue;
    note_used(i);
    busy_at_ = now;
    if (in_slot_[i] != nullptr) continue;
    const Newcomer who = Newcomer::in(segment_->slot(i));
    const bool filled_in = state != SlotState::kClaimed && can_admit(who);
    filled_in ? admit(i, who, now) : free_if_abandoned(i, who, now);
  }
}

void Agent::note_used(std::uint32_t index) {
  if (index < slots_used_) return;
  slots_used_ = index + 1;
  segment_->header().slots_used.store(slots_used_);
}

bool Agent::can_admit(const Newcomer& who) const {
  return who.is_plausible() && (known_.size() < kMostKnown || known_.contains(who.rank));
}

/// Takes the rank in, unless another process still holds its number: then it waits, and its ring with it.
void Agent::admit(std::uint32_t index, const Newcomer& who, Nanoseconds now) {
  claimed_since_.erase(index);
  if (const auto first = residents_.find(who.rank); first != residents_.end())
    return let_wait(index, who, *first->second, now);
  waits_since_.erase(index);
  const shm::Slot& slot = segment_->slot(index);
  Known& known = known_[who.rank];
  known.info = {who.rank, who.pid, wire::kNoDomain, 0};
  known.world_size = who.world_size;
  known.command_line = text_of(slot.command_line);
  domains_.forget(who.rank);
  // An agent before this one may have known of more.
  const Nanoseconds held_before = std::max(known.held, Nanoseconds(slot.held_before_ns.load()));
  auto resident = std::make_unique<Resident>(*segment_, index, who, now, known.last, held_before, names_);
  in_slot_[index] = resident.get();
  const bool is_dead = !options_.left_by.empty();  // And its number another's.
  if (is_dead) resident->note_process_end(now);
  if (is_dead || !deaths_.watch(*resident)) resident->forget_process_fd();
  residents_[who.rank] = std::move(resident);
  roster_changed_ = true;
}

/// Said when it is not only that the one before has just ended.
void Agent::let_wait(std::uint32_t index, const Newcomer& who, Resident& first, Nanoseconds now) {
  // What the process was before an exec will say nothing more.
  if (first.is_process_of(who)) return first.note_process_end(now);
  Nanoseconds& since = waits_since_.emplace(index, now).first->second;
  if (since == kSaid || now - since < kSuccession) return;
  since = kSaid;
  const std::string line = "process " + std::to_string(who.pid) + " calls itself rank " + std::to_string(who.rank) +
                           ", as process " + std::to_string(first.pid()) +
                           " does, which was first; it is shown from when that one has ended";
  session::note_trouble(options_.session.c_str(), line.c_str());
}

/// A process may have died between taking a slot and filling it in, or have filled it with nonsense.
void Agent::free_if_abandoned(std::uint32_t index, const Newcomer& who, Nanoseconds now) {
  shm::Slot& slot = segment_->slot(index);
  const Nanoseconds since = claimed_since_.emplace(index, now).first->second;
  const bool took_too_long = now - since >= kClaimLimit && !who.runs();
  if (!took_too_long && !who.has_ended()) return;
  slot.pid = 0;
  slot.state.store(SlotState::kFree, std::memory_order_release);
  claimed_since_.erase(index);
}

void Agent::watch_processes(Nanoseconds now) {
  note_deaths(now);
  if (now - processes_checked_at_ < kProcessInterval) return;
  processes_checked_at_ = now;
  for (auto& [rank, resident] : residents_)
    if (resident->process_fd() < 0 && !resident->process_runs()) resident->note_process_end(now);
}

/// In one look one after the other, so that the order can be told.
void Agent::note_deaths(Nanoseconds now) {
  for (const Deaths::Death& death : deaths_.take()) {
    const auto found = residents_.find(death.rank);
    if (found != residents_.end() && found->second->pid() == death.pid) found->second->note_process_end(now++);
  }
}

/// No event of this rank will come that is earlier than the time returned.
Nanoseconds Agent::drain(Resident& resident, Nanoseconds began) {
  const bool over = resident.is_over();
  note_news(resident, began);
  for (const std::uint64_t end = resident.published(); !drain_some(resident, end);) continue;
  const Nanoseconds due = over ? began : began - kPromiseMargin;
  Nanoseconds earliest = resident.catch_up(due, names_, frames_, read_);
  domains_.observe(resident.rank(), read_);
  for (std::uint32_t place = 0; place < resident.thread_places(); ++place)
    earliest = std::min(earliest, drain_thread(resident, place, due));
  if (over) {
    resident.append_end(now(), frames_, read_);
    domains_.observe(resident.rank(), read_);
    ended_.push_back(resident.rank());
  }
  domains_.observe_model(resident);
  resident.orders().pump(resident.slot());
  return earliest;
}

bool Agent::drain_some(Resident& resident, std::uint64_t end) {
  const bool all = resident.drain(end, names_, frames_, read_);
  domains_.observe(resident.rank(), read_);
  // All lanes are not in it yet, so this frame can't promise more than the one before.
  if (frames_.full()) send_frames(frames_.promised());
  return all;
}

/// The same of a thread.
Nanoseconds Agent::drain_thread(Resident& resident, std::uint32_t place, Nanoseconds due) {
  const std::uint64_t end = resident.published(place);
  while (!resident.drain_thread(place, end, names_, frames_, read_))
    if (frames_.full()) send_frames(frames_.promised());
  if (frames_.full()) send_frames(frames_.promised());
  return resident.catch_up_thread(place, due, names_, frames_, read_);
}

void Agent::note_news(Resident& resident, Nanoseconds now) {
  const bool unplaced = domains_.of(resident.rank()) == wire::kNoDomain;
  if (!resident.has_news() && !unplaced) return;
  if (!domains_.place(resident, now)) return;
  known_[resident.rank()].info.domain = domains_.of(resident.rank());
  roster_changed_ = true;
}

/// Sums, not events: now and then is enough, and the last word when a rank is over. Who comes late has to hear also of
/// ranks that make no calls now, and whom all of them wait for.
void Agent::collect_calls(Nanoseconds now) {
  const int listeners = outlet_->consumers();
  const bool somebody_came = listeners > std::exchange(listeners_, listeners);
  if (somebody_came)
    for (auto& [rank, resident] : residents_) resident->tell_calls_again();
  const bool is_time = now - calls_read_at_ >= kCallsInterval;
  if (is_time) calls_read_at_ = now;
  if (is_time || somebody_came) roster_changed_ = roster_changed_ || somebody_follows_another();
  for (auto& [rank, resident] : residents_) {
    if (!is_time && !std::ranges::count(ended_, rank)) continue;
    auto calls = resident->new_calls();
    if (!calls) continue;
    call_entries_ += calls->functions.size() + calls->pairs.size();
    calls_.push_back(std::move(*calls));
    if (call_entries_ >= kMostCallEntries) send_frames(frames_.promised());
  }
}

void Agent::send_frames(Nanoseconds up_to) {
  // Before the events, which may speak of a new rank or of a new name, or be the session's first.
  if (const auto first = frames_.earliest()) roster_changed_ = beginning_.note_first(*first) || roster_changed_;
  if (roster_changed_ || roster_.phases != names_.phases.all() ||
      roster_.cycles.size() != names_.partners.cycles().size() || somebody_began_to_follow())
    send_roster();
  wire::Events events = frames_.take(up_to);
  events.round_trips = outlet_->take_round_trips();
  events.calls = std::exchange(calls_, {});
  call_entries_ = 0;
  outlet_->send(std::move(events));
  segment_->header().promised_ns.store(frames_.promised().count());
  note_frames(1);
}

/// `begun`: one more may be made of what is taken from the rings now.
void Agent::note_frames(std::uint64_t begun) { segment_->header().last_frame.store(outlet_->frames() + begun); }

/// Who comes late, or records from some moment on, learns from the latest roster alone whom a rank waits for that said
/// it once.
bool Agent::somebody_began_to_follow() const {
  return std::ranges::any_of(residents_, [this](const auto& entry) {
    return entry.second->cycle() != 0 && known_.at(entry.first).info.cycle == 0;
  });
}

/// Than the latest roster says. It may go to and fro, so that is told now and then.
bool Agent::somebody_follows_another() const {
  return std::ranges::any_of(
      residents_, [this](const auto& entry) { return entry.second->cycle() != known_.at(entry.first).info.cycle; });
}

void Agent::send_roster() {
  for (const auto& [rank, resident] : residents_) {
    known_[rank].info.cycle = resident->cycle();
    known_[rank].info.steps = resident->step_source();
  }
  roster_.ranks.clear();
  for (const auto& [rank, known] : known_) {
    roster_.ranks.push_back(known.info);
    roster_.world_size = std::max(roster_.world_size, known.world_size);
  }
  if (!known_.empty()) roster_.program = known_.begin()->second.command_line;
  roster_.domains = domains_.describe();
  roster_.meters = domains_.meters();
  roster_.phases = names_.phases.all();
  roster_.patterns = names_.partners.patterns();
  roster_.cycles = names_.partners.cycles();
  roster_.began = beginning_.at();
  // One after the other: clocks of nodes are compared by them.
  roster_.unix_time_ns = unix_time_ns();
  roster_.node_time = now();
  outlet_->send(roster_);
  roster_changed_ = false;
}

void Agent::dismiss_ended() {
  for (const Rank rank : ended_) {
    const auto found = residents_.find(rank);
    Resident& resident = *found->second;
    Known& known = known_[rank];
    known.last = resident.last_event_at();
    known.held = resident.held();
    roster_changed_ = std::exchange(known.info.cycle, resident.cycle()) != resident.cycle() || roster_changed_;
    *std::find(in_slot_.begin(), in_slot_.end(), &resident) = nullptr;
    resident.free_slot();
    residents_.erase(found);
  }
  ended_.clear();
}

bool Agent::somebody_is_in() {
  const std::uint32_t slots = segment_->slots();
  for (std::uint32_t i = 0; i < slots && i <= slots_used_; ++i) {
    if (segment_->slot(i).state.load() == SlotState::kFree) continue;
    note_used(i);
    return true;
  }
  return false;
}

bool Agent::may_end(Nanoseconds now, bool no_more_ranks) {
  const Nanoseconds patience = no_more_ranks ? Nanoseconds(0) : known_.empty() ? options_.patience : kAfterLastRank;
  if (now - busy_at_ < patience) return false;
  const bool insist = now - busy_at_ >= patience + kLockPatience;
  return claim_->retire(
      segment_->header(), [this] { return somebody_is_in(); }, insist);
}

}  // namespace idlewave::agent
