#pragma once
// The words that every part of idlewave shares: what a rank can report, how it is held in memory, and what may be asked
// of it. The name of each value that people read stands beside its enumeration. Header only; no dependency.

#include <chrono>
#include <cstdint>
#include <string_view>
#include <type_traits>

namespace idlewave::wire {

/// A moment or a span on one node's clock. Every event of a node carries the same clock (CLOCK_MONOTONIC as the probe
/// reads it through the invariant TSC); two nodes' clocks are related only by a clock model, which readers apply and
/// writers never do.
using Nanoseconds = std::chrono::nanoseconds;

constexpr double seconds(Nanoseconds span) { return std::chrono::duration<double>(span).count(); }

using Rank = std::int32_t;  ///< Place in MPI_COMM_WORLD, from 0.
using Step = std::int64_t;  ///< Iteration of the bulk-synchronous program, from 0; kNoStep before the first.
/// A memory contention domain (socket, NUMA node, virtual socket), unique within its node.
using DomainId = std::int32_t;
using CommandId = std::uint32_t;  ///< Chosen by whoever sends a command; 0 stands for "the program itself".

inline constexpr Rank kMaxRanks = 1 << 22;  ///< Of a program. A roster or a scenario that announces more is refused.
inline constexpr Step kNoStep = -1;
inline constexpr DomainId kNoDomain = -1;

/// Ranks [first, last).
struct RankRange {
  Rank first = 0;
  Rank last = 0;
  friend bool operator==(const RankRange&, const RankRange&) = default;
};

/// What a rank is doing. Values from kFirstUserPhase are named by the program and belong to one of the categories
/// before it.
enum class Phase : std::uint8_t {
  kNone = 0,         ///< Between phases: running, but nothing was declared.
  kCompute = 1,      ///< Work; counts as active on its contention domain.
  kWait = 2,         ///< Blocked until a partner is ready.
  kCommunicate = 3,  ///< Moving data.
  kDelay = 4,        ///< Held by an ordered or programmed one-off delay; idle, draws no bandwidth.
  kNoise = 5,        ///< Held by injected noise; idle like a delay, but small and repeated.
};
inline constexpr std::uint8_t kFirstUserPhase = 8;
inline constexpr std::uint8_t kPhaseLimit = 64;  ///< Phase values are below this.

enum class EventKind : std::uint8_t {
  kStart = 0,       ///< The rank joined the session. phase: kNone.
  kEnter = 1,       ///< A phase began inside the one before. phase: the new one.
  kLeave = 2,       ///< The innermost phase ended. phase: the one that goes on.
  kSwitch = 3,      ///< The innermost phase was replaced by another of the same depth. phase: the new one.
  kStep = 4,        ///< value: number of the step that begins. phase: the one that goes on.
  kTraffic = 5,     ///< value: bytes that the phase that goes on moves to and from memory.
  kThreads = 6,     ///< value: threads active in this rank from now on.
  kDelayBegin = 7,  ///< phase: kDelay or kNoise. value: CommandId.
  kDelayEnd = 8,    ///< phase: the one that goes on. value: CommandId.
  /// value: events lost between the event before this one and this one's time. phase: the one that goes on.
  kDropped = 9,
  kStop = 10,  ///< The rank left the session properly. phase: kNone.
  kLost = 11,  ///< Written by the agent: the rank's process ended without kStop. phase: kNone.
  /// On a domain's lane. value: bytes moved since the previous kBandwidth (or kStart) of that lane. On a meter's
  /// (Roster::meters): what it has counted since, in units of kMeterStep.
  kBandwidth = 12,
  /// value: number of the cycle of patterns (Roster::cycles, from 1) whose partners the rank has waited for in the step
  /// that is going on, and will in those that follow; 0: it does not say any more. phase: the one that goes on.
  kPartners = 13,
  /// As kSwitch. value: so many phases, each too short to be told by itself, follow one another from here to the next event
  /// of this kind, and are told as sums: each phase once, with the time that the rank was in it altogether. 0: phases are
  /// told one by one again. A run of sums is short itself, and never holds a phase of 50 us or more.
  kSummed = 14,
};
inline constexpr std::uint8_t kEventKindLimit = 15;  ///< What is above it is of newer senders.

/// The one event, from its birth in the probe's ring to the analysis. `phase` is always the phase that goes on after
/// the event, so a reader needs no stack and is right again one event after a loss.
struct Event {
  Nanoseconds time{};            ///< Node's clock. Never decreases within a lane.
  std::uint64_t value : 48 = 0;  ///< By kind; bytes, steps and ids all fit into 48 bits.
  EventKind kind : 8 = EventKind::kStart;
  Phase phase : 8 = Phase::kNone;

  friend bool operator==(const Event&, const Event&) = default;
};
static_assert(sizeof(Event) == 16 && std::is_trivially_copyable_v<Event>);
inline constexpr std::uint64_t kMaxEventValue = (std::uint64_t{1} << 48) - 1;

/// True for the kinds after which `phase` may differ from what it was.
constexpr bool changes_phase(EventKind kind) {
  return kind <= EventKind::kSwitch || kind == EventKind::kDelayBegin || kind == EventKind::kDelayEnd ||
         kind == EventKind::kDropped || kind == EventKind::kStop || kind == EventKind::kLost ||
         kind == EventKind::kSummed;
}

/// Whose events: a rank's, or a contention domain's (bandwidth samples).
struct LaneId {
  enum class Kind : std::uint8_t { kRank = 0, kDomain = 1 };
  Kind kind = Kind::kRank;
  std::int32_t index = 0;  ///< Rank or DomainId.
  friend auto operator<=>(const LaneId&, const LaneId&) = default;
};

/// A thread of a rank beside the one that the rank's lane tells of, by its place among those that are there at a time:
/// when one has ended, another may take its place.
struct ThreadId {
  Rank rank = 0;
  std::int32_t thread = 1;  ///< From 1.
  friend auto operator<=>(const ThreadId&, const ThreadId&) = default;
};
inline constexpr std::int32_t kMostThreads = 511;  ///< Of a rank, that have a lane.

/// Lanes of threads are told apart from those of ranks, and among themselves numbered so.
constexpr LaneId lane_of(ThreadId id) { return {LaneId::Kind::kRank, id.rank + id.thread * kMaxRanks}; }
constexpr ThreadId thread_of(LaneId lane) { return {lane.index % kMaxRanks, lane.index / kMaxRanks}; }
static_assert(thread_of(lane_of({kMaxRanks - 1, kMostThreads})) == ThreadId{kMaxRanks - 1, kMostThreads});

/// How long orders may hold a rank: one of them, and all of a session together.
inline constexpr Nanoseconds kLongestHold = std::chrono::hours(1);

/// How the idle times of ordered noise are spread. A newer sender may know kinds that are not among these: a reader
/// keeps their value and calls them unknown; a rank plays none of them.
enum class NoiseKind : std::uint8_t { kExponential = 0, kPeriodic = 1, kTrace = 2 };
inline constexpr std::uint32_t kMaxDetours = 1 << 14;  ///< Of a trace that an order carries.

constexpr std::string_view name_of(NoiseKind kind) {
  switch (kind) {
    case NoiseKind::kExponential: return "exponential";
    case NoiseKind::kPeriodic: return "periodic";
    case NoiseKind::kTrace: return "trace";
  }
  return "unknown";
}

/// Who says where the steps of a rank begin. A newer sender may know others than these: a reader keeps their value.
enum class StepSource : std::uint8_t {
  kNotSaid = 0,
  kProgram = 1,  ///< The program, by idlewave_step of probe.h.
  kControl = 2,  ///< The program, by MPI_Pcontrol(1).
  kCall = 3,     ///< Whoever started it: behind each call of a certain function of MPI (--step-at).
  kFound = 4,    ///< Nobody: they are the cycles in which its MPI calls repeat.
};

/// "steps ..."; empty: nothing is to be said.
constexpr std::string_view name_of(StepSource source) {
  switch (source) {
    case StepSource::kNotSaid: return "";
    case StepSource::kProgram: return "as the program says";
    case StepSource::kControl: return "by MPI_Pcontrol";
    case StepSource::kCall: return "by --step-at";
    case StepSource::kFound: return "found in MPI calls";
  }
  return "unknown";
}

/// Where a bandwidth figure comes from; never shown without it. A newer sender may know sources that are not among
/// these: a reader keeps their value, and calls them unknown.
enum class BandwidthSource : std::uint8_t { kNone = 0, kLikwid = 1, kDeclared = 2, kVirtual = 3, kResctrl = 4 };

constexpr std::string_view name_of(BandwidthSource source) {
  switch (source) {
    case BandwidthSource::kNone: return "none";
    case BandwidthSource::kLikwid: return "LIKWID";
    case BandwidthSource::kDeclared: return "declared";
    case BandwidthSource::kVirtual: return "virtual";
    case BandwidthSource::kResctrl: return "resctrl";
  }
  return "unknown";
}

}  // namespace idlewave::wire
