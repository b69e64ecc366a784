#pragma once
// The memory that the ranks of a node share with their agent: one header, then room for noise traces, then one slot per
// rank, then one ring per slot, then shorter ones for the threads of each. Made by the agent as a memfd (see
// probe/session/directory.h); pages that no rank uses are never touched. Its size is sealed: a file that somebody
// cuts short would kill whoever looks at it. Header only, lock-free, no dependency but the vocabulary. Both sides check
// magic, version and sizes when they map it and keep a copy: whoever may open the file may also write to it, so what
// stands here later is never taken for a size or an address. clock.h reads the clock; gate.h is how both sides use the
// gates.

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "probe/shm/call_book.h"
#include "probe/shm/partner_book.h"
#include "probe/shm/run.h"
#include "probe/shm/trace_room.h"
#include "probe/wire/vocabulary.h"

namespace idlewave::shm {

inline constexpr std::uint64_t kMagic = 0x65766177656c6469;  // "idlewave", little endian
inline constexpr std::uint32_t kLayoutVersion = 16;
inline constexpr std::uint32_t kDefaultSlots = 1024;  ///< Ranks per node.
/// Events per ring; a power of two. 256 KiB, 1.6 s at 10,000 events/s.
inline constexpr std::uint32_t kDefaultRingEvents = 1 << 14;
/// Of a rank: threads that report at a time, beside the one that the rank reports by.
inline constexpr std::uint32_t kThreadPlaces = 16;
inline constexpr std::uint32_t kCurvePoints = 128;  ///< Of a domain's curve.
inline constexpr int kNameLimit = 32;               ///< User phase names, with NUL.
/// ns. All orders together hold a rank for no longer than this in one session, whoever gives them.
inline constexpr std::int64_t kHoldCap = wire::kLongestHold.count();

static_assert(std::atomic<std::uint64_t>::is_always_lock_free);

/// How a rank turns its counter into the node's clock: ns = ns_base + (((counter - counter_base) * multiplier) >> 32),
/// with 128-bit product.
struct Clock {
  std::uint32_t use_tsc = 0;  ///< 0: clock_gettime(CLOCK_MONOTONIC), and the other fields are unused.
  std::uint32_t reserved = 0;
  std::uint64_t counter_base = 0;
  std::uint64_t multiplier = 0;  ///< ns per tick, 32.32 fixed point.
  std::int64_t ns_base = 0;
};

/// Whether Header::began_ns means something.
enum class Began : std::uint32_t {
  kNotKnown = 0,
  kByAgent = 1,  ///< As the agents of this node know it.
  kSettled = 2,  ///< As the session's monitor has said: it will not be another one.
};

struct alignas(64) Header {
  std::uint64_t magic = 0;
  std::uint32_t version = 0;
  std::uint32_t slots = 0;
  std::uint32_t ring_events = 0;
  /// Who drains the rings and gives the orders: the process whose end lets go of held ranks. Another one may take over.
  std::atomic<std::int32_t> agent_pid{0};
  std::atomic<std::uint64_t> agent_start{0};  ///< session::process_start_time(agent_pid).
  /// Grows whenever the agent has looked after its ranks, some 28 times a second.
  std::atomic<std::uint64_t> sweeps{0};
  // For the one that takes over: slots from here on were never seen taken; what was on its way; no event before this time
  // may follow; when the session began.
  std::atomic<std::uint32_t> slots_used{0};
  /// Of the agent's stream: up to here its frames may hold what no ring holds any more.
  std::atomic<std::uint64_t> last_frame{0};
  std::atomic<std::int64_t> promised_ns{0};
  std::atomic<Began> began_known{Began::kNotKnown};
  std::atomic<std::int64_t> began_ns{0};
  Clock clock;
  /// 1: ranks may join. 0: not ready yet, or the agent is ending. Sequentially consistent on both sides: a rank claims
  /// its slot, then looks at `open` once more and gives the slot back (kFree) if it is 0; an agent that wants to end
  /// stores 0, then looks at all slots once more and stores 1 again if one was taken. So no rank joins an agent that
  /// leaves.
  std::atomic<std::uint32_t> open{0};
};

/// One order for one rank; see gate.h. The agent fills the fields while armed says idle, then stores it armed under a
/// new number (release); the rank obeys at the first step that begins (number >= at_step), or, in a program without
/// steps, the first compute phase, once it has passed by so often (passes >= at_pass); it stores idle (release) at the
/// delay's end. The agent may take an order back by exchanging armed for idle; the rank takes it by exchanging armed for
/// held, so that just one wins. An order that holds the rank already is ended by exchanging held for revoked, which the
/// rank looks for while it sleeps.
struct DelayGate {
  std::atomic<std::uint32_t> armed{0};
  wire::CommandId command = 0;
  std::int64_t duration_ns = 0;
  wire::Step at_step = wire::kNoStep;
  std::uint64_t at_pass = 0;
};

/// A noise trace as one order has it played: a part of the node's TraceRoom, over and over.
struct PlayedTrace {
  std::uint32_t first = 0;
  std::uint32_t count = 0;
  std::int64_t length_ns = 0;  ///< Of a round.
  std::int64_t busy_ns = 0;    ///< Of a round, all detours.
  std::int64_t began_ns = 0;   ///< Node's clock when the order was given, which is where its time begins.
};

/// Noise for one rank; see gate.h. The agent writes the fields, then bumps generation (release) to a new even number;
/// odd while it writes. A periodic order that would never let the rank go on (amount x frequency >= 1) is the agent's
/// to refuse; the rank ignores it.
struct NoiseGate {
  std::atomic<std::uint32_t> generation{0};
  std::uint32_t enabled = 0;
  wire::CommandId command = 0;
  std::uint32_t kind = 0;  ///< wire::NoiseKind.
  std::int64_t amount_ns = 0;
  double frequency = 0;
  std::uint64_t seed = 0;
  PlayedTrace trace;  ///< Of that kind only.
};

enum class SlotState : std::uint32_t {
  kFree = 0,     ///< The agent frees a slot when its ring is drained and its gates are reset. head and tail grow on.
  kClaimed = 1,  ///< A rank took it (compare-exchange from kFree) and is filling it in, its pid first.
  kLive = 2,     ///< The rank's fields are complete; stored with release.
  kStopped = 3,  ///< The rank called stop; its ring may still hold events.
};

/// What the events of a lane go through: a single-producer single-consumer ring, which lies elsewhere; positions only
/// grow, index = position & (events - 1). The writer leaves the last two places free for kDropped and kStop, so that what
/// was lost is always told.
struct Stream {
  /// Writer: next position to write. Stored with release after the event.
  alignas(64) std::atomic<std::uint64_t> head{0};
  /// Writer: events lost and not yet told by a kDropped, for the agent to tell when the process dies so.
  std::atomic<std::uint64_t> dropped{0};
  alignas(64) std::atomic<std::uint64_t> tail{0};  ///< Agent: next position to read.
  SharedRun run;                                   ///< What the writer has summed and not told yet.
};

/// Where a thread reports: one takes it at its first call, another when that has ended, whether its events were read or not
/// (compare-exchange from kFree or kStopped; and so the agent frees it).
struct ThreadPlace : Stream {
  std::atomic<SlotState> state{SlotState::kFree};  ///< Else as that of a slot.
};

struct UserPhase {
  std::uint32_t category = 0;  ///< wire::Phase; 0: not defined. Written last (std::atomic_ref, release).
  char name[kNameLimit] = {};
};

struct alignas(64) Slot : Stream {
  // Written by the rank once, before kLive.
  std::atomic<SlotState> state{SlotState::kFree};
  std::int32_t pid = 0;
  std::int32_t processor = -1;      ///< It ran there when it joined; below 0: not known.
  std::uint64_t process_start = 0;  ///< session::process_start_time(pid).
  wire::Rank rank = 0;
  wire::Rank world_size = 0;
  // Written by the rank now and then; the agent looks at `revision` to learn of a change.
  std::atomic<std::uint32_t> revision{0};               ///< Bumped (release) after a change below.
  std::atomic<wire::DomainId> domain{wire::kNoDomain};  ///< kNoDomain: the agent asks hwloc by the rank's affinity.
  std::atomic<std::uint32_t> domain_virtual{0};         ///< 1: the domain is a virtual socket.
  std::atomic<double> core_bandwidth{0};                ///< b(1), bytes/s; 0: not known.
  std::atomic<double> saturated_bandwidth{0};           ///< b_sat, bytes/s; 0: not known.
  std::atomic<std::uint32_t> curve_points{0};           ///< Of `curve`; 0: not known.
  std::atomic<double> curve[kCurvePoints] = {};         ///< b(1), b(2), ..., bytes/s.
  std::atomic<std::uint32_t> step_source{0};            ///< wire::StepSource.
  UserPhase user_phases[wire::kPhaseLimit] = {};        ///< By phase value.
  char command_line[256] = {};

  /// Total bytes that the rank's virtual socket has moved since it was made, as its model says. The agent takes the
  /// largest of a domain.
  alignas(64) std::atomic<std::uint64_t> domain_bytes{0};
  std::atomic<std::int64_t> domain_bytes_at{0};  ///< When that was so, by the clock of events. 0: not known.

  // The agent writes, the rank looks.
  alignas(64) DelayGate delay;
  NoiseGate noise;
  /// Not 0: look at the gates. The one load in the rank's hot path. The agent stores 1 after every change of a gate;
  /// the rank exchanges it for 0 before it looks, and stores 1 again while a gate still needs it (an order for a later
  /// step, noise that is on).
  std::atomic<std::uint32_t> attention{0};
  /// What earlier processes of this rank were held, which counts against kHoldCap as well. Set when the rank is
  /// admitted, before its first order.
  std::atomic<std::int64_t> held_before_ns{0};

  /// Rank: how long orders have held it, delays and noise together; grows before the gate says idle.
  alignas(64) std::atomic<std::int64_t> held_ns{0};
  /// Rank: the step that it has begun last; kNoStep: none yet. What an order of the agent counts from.
  std::atomic<wire::Step> step{wire::kNoStep};
  /// Rank: how often it has looked at its gates. It does so only while it is called: an order is armed, or noise is on.
  std::atomic<std::uint64_t> passes{0};

  std::atomic<std::uint32_t> thread_places{0};  ///< Of `threads`: from here on none was ever taken.
  ThreadPlace threads[kThreadPlaces];

  alignas(64) PartnerBook partners;  ///< Written by the rank now and then; a kPartners event says when to look.
  alignas(64) CallBook calls;        ///< Written by the rank; the agent looks now and then.
};

constexpr std::size_t round_up(std::size_t bytes, std::size_t to) { return (bytes + to - 1) / to * to; }
inline constexpr std::size_t kPage = 4096;

constexpr std::size_t traces_offset() { return round_up(sizeof(Header), kPage); }
constexpr std::size_t slots_offset() { return traces_offset() + round_up(sizeof(TraceRoom), kPage); }
constexpr std::size_t slot_stride() { return round_up(sizeof(Slot), kPage); }
constexpr std::size_t rings_offset(std::uint32_t slots) { return slots_offset() + slots * slot_stride(); }
constexpr std::size_t ring_stride(std::uint32_t ring_events) {
  return round_up(ring_events * sizeof(wire::Event), kPage);
}
constexpr std::size_t slot_offset(std::uint32_t index) { return slots_offset() + index * slot_stride(); }
constexpr std::size_t ring_offset(std::uint32_t slots, std::uint32_t ring_events, std::uint32_t index) {
  return rings_offset(slots) + index * ring_stride(ring_events);
}
constexpr std::uint32_t thread_ring_events(std::uint32_t ring_events) { return std::max(ring_events / 4, 8u); }
/// Of all threads of a rank.
constexpr std::size_t thread_rings_stride(std::uint32_t ring_events) {
  return kThreadPlaces * ring_stride(thread_ring_events(ring_events));
}
constexpr std::size_t thread_rings_offset(std::uint32_t slots, std::uint32_t ring_events, std::uint32_t index) {
  return ring_offset(slots, ring_events, slots) + index * thread_rings_stride(ring_events);
}
constexpr std::size_t segment_bytes(std::uint32_t slots, std::uint32_t ring_events) {
  return thread_rings_offset(slots, ring_events, slots);
}

/// Whether a file of so many bytes can hold what its header says.
constexpr bool can_hold(std::size_t bytes, std::uint32_t slots, std::uint32_t ring_events) {
  constexpr std::uint32_t kMostSlots = 1 << 20, kMostRingEvents = 1 << 24;
  if (slots == 0 || slots > kMostSlots || ring_events < 8 || ring_events > kMostRingEvents) return false;
  return (ring_events & (ring_events - 1)) == 0 && segment_bytes(slots, ring_events) <= bytes;
}

inline TraceRoom& traces_at(void* segment) {
  return *reinterpret_cast<TraceRoom*>(static_cast<std::byte*>(segment) + traces_offset());
}
inline Slot& slot_at(void* segment, std::uint32_t index) {
  return *reinterpret_cast<Slot*>(static_cast<std::byte*>(segment) + slot_offset(index));
}
/// `slots` and `ring_events` as they were checked when the segment was mapped.
inline wire::Event* ring_at(void* segment, std::uint32_t slots, std::uint32_t ring_events, std::uint32_t index) {
  return reinterpret_cast<wire::Event*>(static_cast<std::byte*>(segment) + ring_offset(slots, ring_events, index));
}
/// `rings`: of the rank's threads.
inline wire::Event* thread_ring_at(void* rings, std::uint32_t ring_events, std::uint32_t place) {
  const std::size_t offset = place * ring_stride(thread_ring_events(ring_events));
  return reinterpret_cast<wire::Event*>(static_cast<std::byte*>(rings) + offset);
}
inline void* thread_rings_at(void* segment, std::uint32_t slots, std::uint32_t ring_events, std::uint32_t index) {
  return static_cast<std::byte*>(segment) + thread_rings_offset(slots, ring_events, index);
}

}  // namespace idlewave::shm
