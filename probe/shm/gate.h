#pragma once
// How an agent gives orders to a rank and how the rank takes them: the only code that touches the gates of a slot, for
// both sides. One agent thread, one rank thread; no call blocks. A rank may find at any point that its agent has died, or is
// silent; then it ends its hold as if its time were over (GateKeeper). An agent that comes back to that finds an order
// that was obeyed, or revokes one that is just ending; one that takes over begins with withdraw_all.

#include <atomic>
#include <cstdint>
#include <limits>
#include <tuple>

#include "probe/shm/layout.h"

namespace idlewave::shm {

struct Delay {
  wire::CommandId command = 0;
  std::int64_t duration_ns = 0;
  wire::Step at_step = wire::kNoStep;  ///< kNoStep: the next step that begins.
  std::uint64_t at_pass = 0;           ///< And no sooner than when the rank passes its gates for the n-th time.

  /// Whether the rank is to obey this one first.
  bool is_before(const Delay& other) const {
    return std::tie(at_step, at_pass) < std::tie(other.at_step, other.at_pass);
  }
};

struct Noise {
  std::uint32_t enabled = 0;
  wire::CommandId command = 0;
  std::uint32_t kind = 0;  ///< wire::NoiseKind.
  std::int64_t amount_ns = 0;
  double frequency = 0;  ///< Hz, periodic only.
  std::uint64_t seed = 0;
  PlayedTrace trace{};  ///< Of that kind only.
};

namespace detail {
// The fields of a gate may be read while the other side writes them; what was read so is thrown away by the protocol,
// but has to be whole. Release and acquire keep each access between the two looks at the word that guards it.
template <class T>
void put(T& field, T value) {
  std::atomic_ref<T>(field).store(value, std::memory_order_release);
}
template <class T>
T get(const T& field) {
  return std::atomic_ref<T>(const_cast<T&>(field)).load(std::memory_order_acquire);
}
}  // namespace detail

inline PlayedTrace read_trace(const PlayedTrace& trace) {
  return {detail::get(trace.first), detail::get(trace.count), detail::get(trace.length_ns), detail::get(trace.busy_ns),
          detail::get(trace.began_ns)};
}

/// The word that guards a delay: its lowest two bits say kIdle, kArmed, kHeld or kRevoked, the others number the
/// orders, so that an exchange never takes one order for another.
inline constexpr std::uint32_t kIdle = 0, kArmed = 1, kHeld = 2, kRevoked = 3, kStateBits = 3;

// ---- agent ----

/// For the step that begins as the `count`-th from now (1: the next one); of a rank that has told no step, for the piece of
/// work. The rank may write anything for its step.
inline Delay delay_in_steps(const Slot& slot, wire::CommandId command, std::int64_t duration_ns, std::int32_t count) {
  const wire::Step step = slot.step.load(std::memory_order_acquire);
  if (step < 0)
    return {command, duration_ns, wire::kNoStep, slot.passes.load(std::memory_order_acquire) + std::uint64_t(count)};
  constexpr wire::Step kLast = std::numeric_limits<wire::Step>::max();
  return {command, duration_ns, step < kLast - count ? step + count : kLast};
}

/// False if an order is armed or obeyed now; nothing changes then.
inline bool arm_delay(Slot& slot, const Delay& delay) {
  DelayGate& gate = slot.delay;
  const std::uint32_t word = gate.armed.load(std::memory_order_acquire);
  if ((word & kStateBits) != kIdle) return false;
  detail::put(gate.command, delay.command);
  detail::put(gate.duration_ns, delay.duration_ns);
  detail::put(gate.at_step, delay.at_step);
  detail::put(gate.at_pass, delay.at_pass);
  gate.armed.store((word + kStateBits + 1) | kArmed, std::memory_order_release);
  slot.attention.store(1, std::memory_order_release);
  return true;
}

/// Takes an order back that has not begun. False if there is none, or the rank was faster.
inline bool disarm_delay(Slot& slot) {
  std::uint32_t word = slot.delay.armed.load(std::memory_order_acquire);
  return (word & kStateBits) == kArmed &&
         slot.delay.armed.compare_exchange_strong(word, word & ~kStateBits, std::memory_order_acq_rel);
}

/// Takes an order back wherever it is: one that has not begun is forgotten, one that holds the rank now ends within
/// GateKeeper's interval of looking. False if there is none. More than one turn only if the rank takes the order or
/// finishes it between the look and the exchange, each of which it does once.
inline bool withdraw_delay(Slot& slot) {
  std::uint32_t word = slot.delay.armed.load(std::memory_order_acquire);
  while ((word & kStateBits) == kArmed || (word & kStateBits) == kHeld) {
    const std::uint32_t next = (word & kStateBits) == kArmed ? word & ~kStateBits : word | kRevoked;
    if (slot.delay.armed.compare_exchange_strong(word, next, std::memory_order_acq_rel)) return true;
  }
  return false;
}

/// Replaces the noise of a rank; `enabled` 0 ends it.
inline void set_noise(Slot& slot, const Noise& noise) {
  NoiseGate& gate = slot.noise;
  const std::uint32_t generation = gate.generation.load(std::memory_order_relaxed);
  gate.generation.store(generation + 1, std::memory_order_relaxed);
  detail::put(gate.enabled, noise.enabled);
  detail::put(gate.command, noise.command);
  detail::put(gate.kind, noise.kind);
  detail::put(gate.amount_ns, noise.amount_ns);
  detail::put(gate.frequency, noise.frequency);
  detail::put(gate.seed, noise.seed);
  detail::put(gate.trace.first, noise.trace.first);
  detail::put(gate.trace.count, noise.trace.count);
  detail::put(gate.trace.length_ns, noise.trace.length_ns);
  detail::put(gate.trace.busy_ns, noise.trace.busy_ns);
  detail::put(gate.trace.began_ns, noise.trace.began_ns);
  gate.generation.store(generation + 2, std::memory_order_release);
  slot.attention.store(1, std::memory_order_release);
}

/// The noise of that command stands, which no other has replaced.
inline bool has_noise_of(const Slot& slot, wire::CommandId command) {
  return detail::get(slot.noise.command) == command;
}

/// Ends whatever was ordered, also what holds the rank now.
inline void withdraw_all(Slot& slot) {
  withdraw_delay(slot);
  set_noise(slot, {});
}

/// An order is armed, or holds the rank, or has been revoked and the rank has not noticed yet.
inline bool has_delay(const Slot& slot) {
  return (slot.delay.armed.load(std::memory_order_acquire) & kStateBits) != kIdle;
}

/// For a slot that is about to be freed, whose rank is gone.
inline void reset_gates(Slot& slot) {
  slot.delay.armed.store(0, std::memory_order_release);
  set_noise(slot, {});
  slot.attention.store(0, std::memory_order_release);
}

// ---- rank ----

enum class DelayAnswer { kNone, kLater, kTaken };

/// Passes the gate, where `step` begins or a piece of work, and takes the armed order if it is due. kTaken: `delay` is
/// filled, and the agent can only revoke it; call finish_delay at its end.
inline DelayAnswer take_delay(Slot& slot, wire::Step step, Delay& delay) {
  DelayGate& gate = slot.delay;
  const std::uint64_t passes = slot.passes.load(std::memory_order_relaxed) + 1;
  slot.passes.store(passes, std::memory_order_release);
  std::uint32_t word = gate.armed.load(std::memory_order_acquire);
  if ((word & kStateBits) != kArmed) return DelayAnswer::kNone;
  const Delay seen{detail::get(gate.command), detail::get(gate.duration_ns), detail::get(gate.at_step),
                   detail::get(gate.at_pass)};
  if (seen.at_step > step || seen.at_pass > passes) return DelayAnswer::kLater;
  // Fails if the agent has taken the order back, also when it has armed another one since: that one asks for attention
  // itself.
  if (!gate.armed.compare_exchange_strong(word, (word & ~kStateBits) | kHeld, std::memory_order_acq_rel))
    return DelayAnswer::kNone;
  delay = seen;
  return DelayAnswer::kTaken;
}

/// The order that was taken stands no longer. The word carries its number still, since nothing else is armed before
/// finish_delay.
inline bool is_revoked(const Slot& slot) {
  return (slot.delay.armed.load(std::memory_order_acquire) & kStateBits) != kHeld;
}

/// The order may be revoked between the look and the store: it is over then anyway.
inline void finish_delay(Slot& slot) {
  slot.delay.armed.store(slot.delay.armed.load(std::memory_order_relaxed) & ~kStateBits, std::memory_order_release);
}

/// The noise order that was read as number `generation` is replaced, or is just being replaced.
inline bool is_replaced(const Slot& slot, std::uint32_t generation) {
  return slot.noise.generation.load(std::memory_order_acquire) != generation;
}

/// Reads the noise order into `noise` and its number into `generation`. False, and nothing is touched, if the order is
/// still the one of that number, or is being written: its writer asks for attention again when it is done.
inline bool read_noise(Slot& slot, std::uint32_t& generation, Noise& noise) {
  const NoiseGate& gate = slot.noise;
  const std::uint32_t before = gate.generation.load(std::memory_order_acquire);
  if (before == generation || before % 2 != 0) return false;
  const Noise seen{detail::get(gate.enabled),   detail::get(gate.command),   detail::get(gate.kind),
                   detail::get(gate.amount_ns), detail::get(gate.frequency), detail::get(gate.seed),
                   read_trace(gate.trace)};
  if (gate.generation.load(std::memory_order_relaxed) != before) return false;
  generation = before;
  noise = seen;
  return true;
}

}  // namespace idlewave::shm
