#include "probe/client/gate_keeper.h"

#include <errno.h>
#include <math.h>
#include <time.h>

#include "probe/session/agent_record.h"
#include "probe/shm/clock.h"
#include "probe/shm/run.h"

namespace idlewave::client {
namespace {

/// ns. What is shorter is spun: a sleep ends tens of microseconds late.
constexpr std::int64_t kShortestSleep = 100'000;
constexpr std::int64_t kNoiseLookInterval = 1'000'000'000;  ///< ns
/// ns. Between two looks at the agent no more than this counts as its silence: the rank may have been stopped with it.
constexpr std::int64_t kLongestLook = 1'000'000'000;

/// By the kernel's clock: the counter of a machine that was asleep may have begun anew.
void spin_until_monotonic(std::int64_t end_ns) {
  while (shm::monotonic_now().count() < end_ns) {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#endif
  }
}

void sleep_until_monotonic(std::int64_t end_ns) {
  const timespec end{end_ns / 1'000'000'000, end_ns % 1'000'000'000};
  while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &end, nullptr) == EINTR) {
  }
}

wire::NoiseKind kind_of(const shm::Noise& noise) { return static_cast<wire::NoiseKind>(noise.kind); }

bool is_possible(const shm::Noise& noise) {
  if (noise.amount_ns <= 0 || noise.kind > UINT8_MAX) return false;
  switch (kind_of(noise)) {
    case wire::NoiseKind::kExponential: return true;
    case wire::NoiseKind::kPeriodic:
      return noise.frequency > 1e-9 && static_cast<double>(noise.amount_ns) * noise.frequency < 1e9;
    case wire::NoiseKind::kTrace: return true;  // The player looks.
  }
  return false;
}

}  // namespace

std::uint64_t Random::next() {
  state_ += 0x9e3779b97f4a7c15;
  std::uint64_t mixed = state_;
  mixed = (mixed ^ mixed >> 30) * 0xbf58476d1ce4e5b9;
  mixed = (mixed ^ mixed >> 27) * 0x94d049bb133111eb;
  return mixed ^ mixed >> 31;
}

double Random::unit() { return static_cast<double>((next() >> 11) + 1) * 0x1p-53; }

void GateKeeper::attach(shm::Slot& slot, LaneWriter& lane, const PhaseTable& phases, const shm::Header& header,
                        const shm::TraceRoom& traces) {
  slot_ = &slot;
  lane_ = &lane;
  phases_ = &phases;
  header_ = &header;
  traces_ = &traces;
  looked_ns_ = 0;
  sweeps_ = 0;
  silent_ns_ = 0;
  noise_generation_ = 0;
  noise_ = {};
  held_ = {};
}

void GateKeeper::obey(wire::Step step) {
  if (held_.frame != nullptr) {
    // A signal handler of a rank that is held; or one has left a hold by longjmp.
    if (__builtin_frame_address(0) < held_.frame) return;
    end_hold();
  }
  const int error = errno;
  // Set back before the look: what the agent changes after it asks for attention again.
  slot_->attention.exchange(0, std::memory_order_acq_rel);
  const bool delay_is_later = obey_delay(step);
  const bool noise_is_on = obey_noise();
  if (delay_is_later || noise_is_on) slot_->attention.store(1, std::memory_order_relaxed);
  errno = error;
}

/// True if an order for a later step stands.
bool GateKeeper::obey_delay(wire::Step step) {
  shm::Delay delay;
  const shm::DelayAnswer answer = shm::take_delay(*slot_, step, delay);
  if (answer != shm::DelayAnswer::kTaken) return answer == shm::DelayAnswer::kLater;
  hold(wire::Phase::kDelay, delay.command, delay.duration_ns);
  return false;
}

/// True while noise is on.
bool GateKeeper::obey_noise() {
  if (shm::read_noise(*slot_, noise_generation_, noise_)) begin_noise();
  if (!noise_.enabled) return false;
  if (may_hold() <= 0 || !agent_was_there_lately()) noise_.enabled = 0;
  if (!noise_.enabled) return false;
  const std::int64_t duration_ns = draw();
  if (duration_ns > 0) hold(wire::Phase::kNoise, noise_.command, duration_ns);
  return true;
}

void GateKeeper::begin_noise() {
  if (!is_possible(noise_)) noise_.enabled = 0;
  if (!noise_.enabled) return;
  looked_ns_ = lane_->now().count();
  random_ = Random(Random(noise_.seed).next() ^ static_cast<std::uint64_t>(slot_->rank));
  if (kind_of(noise_) == wire::NoiseKind::kTrace) return begin_trace();
  if (kind_of(noise_) != wire::NoiseKind::kPeriodic) return;
  period_ns_ = static_cast<std::int64_t>(1e9 / noise_.frequency);
  next_interruption_ns_ =
      lane_->now().count() + static_cast<std::int64_t>(random_.unit() * static_cast<double>(period_ns_));
}

void GateKeeper::begin_trace() {
  noise_.enabled = player_.begin(*traces_, noise_.trace, random_.unit());
  looked_at_ = lane_->ring().position();
  looked_until_ = lane_->now();
  goes_on_ = lane_->current();
  due_ns_ = 0;
}

std::int64_t GateKeeper::draw() {
  switch (kind_of(noise_)) {
    case wire::NoiseKind::kExponential: return draw_exponential();
    case wire::NoiseKind::kPeriodic: return draw_periodic();
    case wire::NoiseKind::kTrace: return draw_trace();
  }
  return 0;
}

std::int64_t GateKeeper::draw_exponential() {
  const double drawn = -static_cast<double>(noise_.amount_ns) * log(random_.unit());
  return static_cast<std::int64_t>(fmin(drawn, static_cast<double>(shm::kHoldCap)));
}

/// One interruption for each period that has passed, those included in which the rank was held or waited.
std::int64_t GateKeeper::draw_periodic() {
  const std::int64_t late = lane_->now().count() - next_interruption_ns_;
  if (late < 0) return 0;
  const std::int64_t interruptions = late / period_ns_ + 1;
  next_interruption_ns_ += interruptions * period_ns_;
  const double all = static_cast<double>(interruptions) * static_cast<double>(noise_.amount_ns);
  return static_cast<std::int64_t>(fmin(all, static_cast<double>(shm::kHoldCap)));
}

/// What has become due in the work that was told since.
std::int64_t GateKeeper::draw_trace() {
  follow_work();
  const std::int64_t due_ns = due_ns_;
  due_ns_ = 0;
  // Another trace may lie in its place by now.
  return shm::is_replaced(*slot_, noise_generation_) ? 0 : due_ns;
}

/// From what the rank has told itself, which is in its ring still, so that no event costs more while no trace is played.
void GateKeeper::follow_work() {
  if (!noise_.enabled || kind_of(noise_) != wire::NoiseKind::kTrace) return;
  const RingWriter& ring = lane_->ring();
  if (ring.position() - looked_at_ > ring.capacity()) {
    looked_at_ = ring.position() - ring.capacity();
    goes_on_ = wire::Phase::kNone;
  }
  for (; looked_at_ != ring.position(); ++looked_at_) follow(ring.told(looked_at_));
}

/// Phases of a run are taken as whoever reads them takes them: each once, one behind the other.
void GateKeeper::follow(const wire::Event& event) {
  if (event.kind == shm::kRunTime) {
    const wire::Nanoseconds end = looked_until_ + wire::Nanoseconds(static_cast<std::int64_t>(event.value));
    return follow(event.phase, end);
  }
  const bool is_known = event.kind != shm::kRunEnd && event.kind != wire::EventKind::kDropped;
  follow(is_known ? goes_on_ : wire::Phase::kNone, event.time);
  goes_on_ = event.phase;
}

void GateKeeper::follow(wire::Phase phase, wire::Nanoseconds until) {
  if (phases_->is_work(phase)) due_ns_ += player_.after(looked_until_.count(), until.count());
  if (due_ns_ > shm::kHoldCap) due_ns_ = shm::kHoldCap;
  looked_until_ = until;
}

/// What is left of kHoldCap, in ns.
std::int64_t GateKeeper::may_hold() const {
  const std::int64_t before = slot_->held_before_ns.load(std::memory_order_relaxed);
  const std::int64_t held = slot_->held_ns.load(std::memory_order_relaxed);
  if (before < 0 || held < 0 || before > shm::kHoldCap || held > shm::kHoldCap) return 0;
  return shm::kHoldCap - before - held;
}

/// Some 10 us of system calls.
bool GateKeeper::agent_is_there() {
  const std::uint64_t start = header_->agent_start.load(std::memory_order_acquire);
  const bool lives =
      start != 0 && session::process_start_time(header_->agent_pid.load(std::memory_order_acquire)) == start;
  return lives && !agent_is_silent();
}

bool GateKeeper::agent_is_silent() {
  const std::uint64_t sweeps = header_->sweeps.load(std::memory_order_relaxed);
  const std::int64_t now_ns = lane_->now().count();
  const std::int64_t since_look = now_ns - looked_ns_;
  silent_ns_ = sweeps != sweeps_ ? 0 : silent_ns_ + (since_look < kLongestLook ? since_look : kLongestLook);
  sweeps_ = sweeps;
  looked_ns_ = now_ns;
  return silent_ns_ > kSilenceLimit;
}

/// For noise, most of which is too short to look during each piece of it.
bool GateKeeper::agent_was_there_lately() {
  const bool looked_lately = lane_->now().count() - looked_ns_ < kNoiseLookInterval;
  return (looked_lately && silent_ns_ <= kSilenceLimit) || agent_is_there();
}

bool GateKeeper::stands(wire::Phase phase) {
  const bool withdrawn =
      phase == wire::Phase::kDelay ? shm::is_revoked(*slot_) : shm::is_replaced(*slot_, noise_generation_);
  return !withdrawn && agent_is_there();
}

void GateKeeper::sleep_until(wire::Phase phase, std::int64_t end_ns) {
  for (std::int64_t now_ns = shm::monotonic_now().count(); now_ns < end_ns && stands(phase);
       now_ns = shm::monotonic_now().count()) {
    sleep_until_monotonic(end_ns - now_ns > kLookInterval ? now_ns + kLookInterval : end_ns);
  }
}

void GateKeeper::hold(wire::Phase phase, wire::CommandId command, std::int64_t duration_ns) {
  const std::int64_t allowed_ns = may_hold();
  lane_->begin_hold(phase, command);
  const std::int64_t began_ns = lane_->now().count();
  held_ = {phase, command, began_ns, __builtin_frame_address(0)};
  std::atomic_signal_fence(std::memory_order_seq_cst);
  // For a hold that is left, so that the next step ends it.
  slot_->attention.store(1, std::memory_order_relaxed);
  if (duration_ns > allowed_ns) duration_ns = allowed_ns;
  const std::int64_t end_ns = shm::monotonic_now().count() + duration_ns;
  if (duration_ns < kShortestSleep)
    spin_until_monotonic(end_ns);
  else
    sleep_until(phase, end_ns);
  end_hold();
}

void GateKeeper::end_hold() {
  lane_->end_hold(held_.phase, held_.command);
  slot_->held_ns.fetch_add(lane_->now().count() - held_.began_ns, std::memory_order_release);
  if (held_.phase == wire::Phase::kDelay) shm::finish_delay(*slot_);
  held_ = {};
}

}  // namespace idlewave::client
