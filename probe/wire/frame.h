#pragma once
// What travels between an agent (or the simulator) and a monitor. One msgpack map per message; see docs/wire-format.md.
//
// Sequenced frames (Roster, Events, Outcome, End) are the stream: every consumer of a sender sees the same frames with
// the same numbers, and they are what a recording holds. Attach, Credit and EndAck are the conversation about the
// stream and carry no number.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "probe/wire/noise_order.h"
#include "probe/wire/result.h"
#include "probe/wire/vocabulary.h"

namespace idlewave::wire {

inline constexpr int kWireVersion = 2;
inline constexpr int kOldestWireVersion =
    1;  ///< That is read. A frame of it is one of today that leaves something out.
inline constexpr std::size_t kMaxFrameBytes = 16u << 20;  ///< ZMQ_MAXMSGSIZE, and the limit of a frame in a recording.

inline constexpr std::size_t kMaxCurve = 4096;  ///< Points of a domain's curve; a writer cuts longer ones.

inline constexpr std::size_t kMaxPatterns = 1u << 16;  ///< Of a roster; as many cycles.
/// Of all patterns and cycles of a roster together: distances, patterns of steps, and steps.
inline constexpr std::size_t kMaxPatternEntries = 1u << 20;

/// Whom one wait of a rank depends on. Partners are told as distances from the rank, the shorter way round the program's
/// ranks, so that many ranks share a pattern: each list ascends, within half of the world, and has no 0.
struct WaitPattern {
  bool rendezvous = false;  ///< Its sends end only when their receivers are there.
  bool collective = false;  ///< Nobody of a group goes on before all of it have come: `from` is the rest of the group.
  std::vector<Rank> from;   ///< It receives from those. Empty in a collective of all ranks of the program.
  std::vector<Rank> to;     ///< It sends to those. Empty in a collective.
  bool uncertain = false;   ///< Whether its sends do so is not known; with `rendezvous` all go to some of `from`.
  friend bool operator==(const WaitPattern&, const WaitPattern&) = default;
};

/// What a rank that repeats itself waits for: in step s the patterns of steps[s mod length], one wait after the other.
struct WaitCycle {
  std::vector<std::vector<std::uint32_t>> steps;  ///< Indices into Roster::patterns. At least one step.
  friend bool operator==(const WaitCycle&, const WaitCycle&) = default;
};

struct RankInfo {
  Rank rank = 0;
  std::int32_t pid = 0;
  DomainId domain = kNoDomain;
  std::uint32_t cycle =
      0;  ///< That it follows when the roster is made: its place in Roster::cycles, from 1. 0: not said.
  StepSource steps = StepSource::kNotSaid;  ///< If it tells any.
  friend bool operator==(const RankInfo&, const RankInfo&) = default;
};

struct DomainInfo {
  DomainId id = 0;
  std::string label;               ///< "socket 0", "virtual socket 3", "NUMA 1".
  double core_bandwidth = 0;       ///< b(1), bytes per second; 0: not known.
  double saturated_bandwidth = 0;  ///< b_sat, bytes per second; 0: not known.
  BandwidthSource source = BandwidthSource::kNone;
  /// Why the source is not a better one, and what to ask for; empty if there is nothing to say.
  std::string note;
  /// b(1), b(2), ... where more is known than those two figures; bytes per second. At most kMaxCurve points.
  std::vector<double> curve;
  bool calibrated = false;  ///< These bandwidths were measured beforehand: nobody who runs there said any.
  friend bool operator==(const DomainInfo&, const DomainInfo&) = default;
};

/// Something else that the hardware of a domain tells over time: power, cycles per instruction.
struct MeterInfo {
  DomainId domain = 0;
  std::string name;    ///< "package power", "CPI".
  std::string unit;    ///< "W", "MFLOP/s"; empty of a mere number.
  std::string source;  ///< "RAPL", "LIKWID MEM_DP".
  friend bool operator==(const MeterInfo&, const MeterInfo&) = default;
};
inline constexpr std::size_t kMaxMeters = 1u << 16;  ///< Of a roster.
/// What meters count is told in millionths of their unit, times seconds: of watts, microjoules.
inline constexpr double kMeterStep = 1e-6;

struct PhaseInfo {
  Phase phase = Phase::kNone;     ///< At least kFirstUserPhase.
  Phase category = Phase::kNone;  ///< kCompute, kWait or kCommunicate.
  std::string name;
  friend bool operator==(const PhaseInfo&, const PhaseInfo&) = default;
};

/// What a page has measured, beside what it was before, where it had one, and what theory says; each with its unit. Bars
/// are parts of the longest of the three, 0 where one is none.
struct LessonFigure {
  std::string label;  ///< "Active ranks on socket 1"
  std::string before, now, theory;
  double before_bar = 0, now_bar = 0, theory_bar = 0;
  friend bool operator==(const LessonFigure&, const LessonFigure&) = default;
};
inline constexpr std::size_t kMaxLessonFigures = 16;  ///< Of a page; a writer leaves out what is more.

/// The page of a lesson that is open where it is given, for all who watch. Texts are paragraphs; any may be empty.
struct LessonPage {
  std::uint64_t number = 0;  ///< Of what has been shown so far: a page with a smaller one is an older one.
  std::int32_t page = 1;     ///< From 1.
  std::int32_t pages = 1;
  std::string title;
  std::string text;                     ///< What to look for.
  std::string now;                      ///< What is asked, to be done, watched, or was found.
  std::string figure;                   ///< Which figure of which paper.
  std::string source;                   ///< The paper.
  bool asks = false;                    ///< `now` is a question.
  std::vector<LessonFigure> figures{};  ///< Once something was measured.
  std::string verdict{};                ///< `now` without them.
  friend bool operator==(const LessonPage&, const LessonPage&) = default;
};

/// Whose place an agent took that died before it had said its end.
struct TakenOver {
  std::int32_t agent_pid = 0;
  /// Of its frames up to this one something may be missing where it has not come; the rest was still in the rings.
  std::uint64_t last_frame = 0;
  friend bool operator==(const TakenOver&, const TakenOver&) = default;
};

/// Everything about a node that changes slowly. Sent first, again whenever something in it changed, and again when a consumer attaches;
/// the latest replaces all before it.
struct Roster {
  /// Ranks of the whole program, also those on other nodes. Rank numbers are below it.
  Rank world_size = 0;
  std::int32_t agent_pid = 0;     ///< 0 for the simulator.
  std::int64_t unix_time_ns = 0;  ///< Wall clock at `node_time`.
  Nanoseconds node_time{};        ///< The node's clock when this roster was made.
  /// The node's clock when the session began, which is time 0 of all who watch; nothing: not known. See beginning_of().
  std::optional<Nanoseconds> began;
  std::string machine;                ///< Processor and number of cores, for the record.
  std::string program;                ///< Command line of the lowest local rank.
  std::vector<RankInfo> ranks;        ///< Local ranks, ascending.
  std::vector<DomainInfo> domains;    ///< Ascending by id.
  std::vector<PhaseInfo> phases;      ///< User-named phases, ascending.
  std::vector<WaitPattern> patterns;  ///< Of waits; new ones are added behind, so that their numbers stay.
  std::vector<WaitCycle> cycles;      ///< The same.
  std::vector<MeterInfo> meters;      ///< The same.
  std::optional<LessonPage> lesson;   ///< What an operator shows to all who watch.
  std::optional<TakenOver> taken_over;
  friend bool operator==(const Roster&, const Roster&) = default;
};

/// A question for the time and its answer, as who asked has seen them; the four readings of NTP (RFC 5905, section 8).
struct RoundTrip {
  Nanoseconds asked{};          ///< Clock of the node that asked.
  Nanoseconds heard{};          ///< Clock of the one who was asked: when the question came.
  Nanoseconds told{};           ///< The same clock: when the answer went.
  Nanoseconds back{};           ///< Clock of the node that asked.
  std::uint32_t reference = 0;  ///< Whose clock was asked for; another number is another clock.
  friend bool operator==(const RoundTrip&, const RoundTrip&) = default;
};
inline constexpr std::size_t kMaxRoundTrips = 64;  ///< Of an Events frame.

/// What a rank has done in one function of MPI.
struct FunctionSums {
  std::string name;  ///< "MPI_Send".
  std::uint64_t calls = 0;
  std::uint64_t bytes = 0;    ///< That they had MPI carry, as far as their arguments tell.
  std::uint64_t unsized = 0;  ///< Calls whose arguments don't tell.
  Nanoseconds time{};         ///< Inside, of all of them; what orders held the rank there is left out.
  Nanoseconds longest{};
  friend bool operator==(const FunctionSums&, const FunctionSums&) = default;
};

/// What a rank has sent to one other, point to point.
struct PairSums {
  Rank to = 0;
  std::uint64_t messages = 0;
  std::uint64_t bytes = 0;
  friend bool operator==(const PairSums&, const PairSums&) = default;
};

/// What a process has done in MPI as a rank, since it began. A later one of the same process replaces it.
struct RankCalls {
  Rank rank = 0;
  std::int32_t pid = 0;
  std::vector<FunctionSums> functions;  ///< In the order in which the rank came to them.
  std::vector<PairSums> pairs;          ///< Ascending by `to`.
  /// To ranks that did not find room among the pairs, and to processes that are no ranks of the program.
  std::uint64_t other_messages = 0;
  std::uint64_t other_bytes = 0;
  std::uint64_t unseen = 0;  ///< Calls of threads of which nothing more is known.
  friend bool operator==(const RankCalls&, const RankCalls&) = default;
};

/// Events of many lanes since the frame before. `up_to`: every event of this node with time < up_to has been sent.
struct Events {
  Nanoseconds up_to{};
  std::vector<std::byte> blob;     ///< See codec.h.
  std::vector<RankCalls> calls{};  ///< Of ranks of which there is something new.
  /// That ended since the frame before, in their order. At most kMaxRoundTrips.
  std::vector<RoundTrip> round_trips{};
  std::vector<std::byte> threads{};  ///< As `blob`, of threads (lane_of). Empty if there is nothing of them.
  std::vector<std::byte>
      meters{};  ///< As `blob`: lanes of domains, whose index is a place in Roster::meters. The same.
  friend bool operator==(const Events&, const Events&) = default;
};

/// Holds ranks before the work of a step. In a program without steps each piece of work, as between two calls of MPI,
/// counts as a step.
struct DelayOrder {
  Nanoseconds duration{};
  Step at_step = kNoStep;     ///< kNoStep: the next step that begins, or the one that in_steps says.
  std::int32_t in_steps = 0;  ///< The n-th that begins from now (1: the next), with at_step kNoStep. 0: not said.
  friend bool operator==(const DelayOrder&, const DelayOrder&) = default;
};
/// Ends all noise and every delay, also one that holds a rank now.
struct ClearOrder {
  /// Not 0: ends only the noise of that command, where it has not been replaced, since who gave it has gone.
  CommandId noise_of = 0;
  friend bool operator==(const ClearOrder&, const ClearOrder&) = default;
};

/// Of the number of a command that ends the noise of another, which else has the number of that one. Monitors give none
/// that has it.
inline constexpr CommandId kEndsNoise = CommandId{1} << 31;

/// One that only a newer version knows. Nobody of ours carries it out: it is answered by NoCommand::kUnknownOrder.
struct UnknownOrder {
  std::string name;  ///< As its sender calls it; what else the sender said of it is not kept.
  friend bool operator==(const UnknownOrder&, const UnknownOrder&) = default;
};

/// What an operator asks of some ranks. `ranks` empty: all of them.
struct Command {
  CommandId id = 0;
  std::vector<Rank> ranks;
  std::variant<DelayOrder, NoiseOrder, ClearOrder, UnknownOrder> order;
  friend bool operator==(const Command&, const Command&) = default;
};

/// The command as those are told of it who only watch: without the detours of a trace.
inline Command without_detours(Command command) {
  if (auto* noise = std::get_if<NoiseOrder>(&command.order)) noise->trace.detours = {};
  return command;
}

/// The sender's answer to a command: armed, or why not. That it took effect is told by kDelayBegin and kDelayEnd events
/// with its id.
struct Outcome {
  Command command;
  Nanoseconds time{};  ///< Node's clock, when it was armed or refused.
  bool accepted = false;
  std::string reason;  ///< One line, when refused.
  friend bool operator==(const Outcome&, const Outcome&) = default;
};

/// The stream is complete: nothing follows. Every consumer answers EndAck once it has all frames up to and including
/// this one.
struct End {
  friend bool operator==(const End&, const End&) = default;
};

enum class Role : std::uint8_t { kOperator = 0, kSpectator = 1 };

/// First message of a consumer, and repeated after a reconnection. A wrong session or version is answered by a Refusal.
struct Attach {
  Role role = Role::kOperator;
  std::uint32_t credits = 0;  ///< Frames that the sender may send before it hears a Credit.
  friend bool operator==(const Attach&, const Attach&) = default;
};
struct Credit {
  std::uint32_t frames = 0;
  /// Wall clock (ns since 1970) when the session began. Said by the monitor that senders connect to, once it has learnt
  /// that from one of them, for the others.
  std::optional<std::int64_t> began = std::nullopt;
  /// The monitor that senders connect to hears several nodes: each may ask it for the time (AskTime).
  bool compares_clocks = false;
  /// So far apart frames may be for who says this, where nobody looks on; 0: as soon as there is something to say.
  Nanoseconds pace{};
  friend bool operator==(const Credit&, const Credit&) = default;
};
struct EndAck {
  friend bool operator==(const EndAck&, const EndAck&) = default;
};
struct Refusal {
  std::string reason;
  friend bool operator==(const Refusal&, const Refusal&) = default;
};
/// First message of a sender that connects to a listening monitor; the monitor answers Attach.
struct Hello {
  friend bool operator==(const Hello&, const Hello&) = default;
};

/// A sender that was told to compare clocks asks the monitor that it connects to for the time.
struct AskTime {
  Nanoseconds asked{};  ///< Node's clock.
  friend bool operator==(const AskTime&, const AskTime&) = default;
};
/// The answer, at once.
struct TellTime {
  Nanoseconds asked{};  ///< As in the question.
  Nanoseconds heard{};  ///< Clock of the one who answers, as the next.
  Nanoseconds told{};
  std::uint32_t reference = 0;  ///< Of that clock, as in RoundTrip.
  friend bool operator==(const TellTime&, const TellTime&) = default;
};

/// Node name of a relay, which passes on the streams of a session's nodes over one connection. What it says for itself
/// carries this name: its signs of life, and the End after which no node's stream goes on.
inline constexpr const char* kRelayNode = "*";

/// Asks a relay to record the session from now on into a file on its node; an empty path ends the recording. Who
/// watches learns what became of it where the relay's host says so.
struct Record {
  std::string path;  ///< Absolute.
  friend bool operator==(const Record&, const Record&) = default;
};

struct Frame {
  std::string session;         ///< Both sides drop what belongs to another session.
  std::string node;            ///< Host name of the sender; empty in messages from a consumer.
  std::uint64_t sequence = 0;  ///< From 1, without gaps, for the sequenced kinds; 0 for the others.
  std::variant<Roster, Events, Outcome, End, Attach, Credit, EndAck, Refusal, Hello, Command, Record, AskTime, TellTime,
               LessonPage>
      body;
  friend bool operator==(const Frame&, const Frame&) = default;
};

/// When the session began, on the clock of the node that made this roster, if it says so and that can be: not after the
/// roster was made, nor more than nine years before.
std::optional<Nanoseconds> beginning_of(const Roster& roster);
/// The same by the wall clock; ns since 1970.
std::optional<std::int64_t> wall_beginning_of(const Roster& roster);

/// True for the kinds that carry a number and belong into a recording.
bool is_sequenced(const Frame& frame);

std::vector<std::byte> encode(const Frame& frame);

/// Never trusts a byte: limits on nesting, counts and sizes apply before anything is allocated. The error says what is
/// wrong ("frame of wire version 9; this program reads 1 and 2"). `oldest`: of the versions that are taken.
Result<Frame> decode(std::span<const std::byte> bytes, int oldest = kOldestWireVersion);

/// A frame that lies in somebody else's bytes.
struct FrameInPlace {
  Frame frame;                      ///< If Events, without their blob.
  std::span<const std::byte> blob;  ///< Of Events; it is there for as long as those bytes stay.
};
/// The same without a copy of the blob.
Result<FrameInPlace> decode_in_place(std::span<const std::byte> bytes, int oldest = kOldestWireVersion);

}  // namespace idlewave::wire
