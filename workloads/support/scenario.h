#pragma once
// A scenario file: machine, program, communication, delays, noise, and the lesson that goes with them. The keys are
// listed and explained in docs and in the files under workloads/scenarios/. The simulator runs a scenario; `idlewave
// demo` runs it with real MPI ranks.

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "probe/wire/noise_order.h"
#include "probe/wire/result.h"
#include "probe/wire/vocabulary.h"
#include "probe/words/choice.h"
#include "workloads/support/lesson.h"
#include "workloads/support/played_program.h"

namespace idlewave::support {

using wire::Nanoseconds;
using wire::Rank;
using wire::Step;

/// What one step of the program works on. The first two are models; the others are real loops and run on real cores
/// only.
enum class Kernel { kMemory, kCore, kTriad, kTriadNt, kSlowTriad, kDivide };
/// The loops, by their words.
inline constexpr words::Choices<Kernel, 4> kLoops{{{"triad", Kernel::kTriad},
                                                   {"triad-nt", Kernel::kTriadNt},
                                                   {"slow-triad", Kernel::kSlowTriad},
                                                   {"divide", Kernel::kDivide}}};
std::string_view name_of(Kernel kernel);  ///< As in the file: "memory", "core", "triad", ...
bool is_model(Kernel kernel);             ///< kMemory, kCore: run on virtual sockets and in the simulator.

struct Machine {
  Rank ranks = 0;               ///< 0: as many as there are cores (not for a model).
  Rank ranks_per_domain = 0;    ///< 0: the hardware's (not for a model). The last domain may have fewer.
  double core_bandwidth = 0;    ///< b(1), bytes/s; 0: not given (not with kMemory).
  double domain_bandwidth = 0;  ///< b(n) = min(n * core_bandwidth, domain_bandwidth), bytes/s.
  std::vector<double> curve;    ///< b(1), b(2), ... instead, bytes/s; beyond its end the last one holds.
};

struct Program {
  Step steps = 0;  ///< At least 1.
  Kernel kernel = Kernel::kMemory;
  std::uint64_t volume = 0;  ///< Bytes per rank and step; for all but kCore and kDivide.
  Nanoseconds time{};        ///< Per step; for kCore and kDivide.
};

enum class Topology { kRing, kChain };
enum class Protocol { kAuto, kEager, kRendezvous };
enum class WaitFlavour { kAll, kSplit };

enum class CollectiveKind { kAllreduce, kAllgather, kBarrier, kBroadcast, kReduce, kGather, kScatter };
enum class CollectiveAlgorithm { kDissemination, kRecursiveDoubling, kRing, kBinomial, kBruck };

/// How a program calls a collective: after the work of a step; started before the work and waited for after it; or as
/// if it cost nothing.
enum class CollectiveMode { kBlocking, kNonblocking, kIdeal };

/// What all ranks call in each step. `algorithm` is one of those that the kind has.
struct CollectiveOfStep {
  CollectiveKind kind = CollectiveKind::kAllreduce;
  CollectiveAlgorithm algorithm = CollectiveAlgorithm::kDissemination;
  CollectiveMode mode = CollectiveMode::kBlocking;
  Rank root = 0;  ///< Of broadcast, reduce, gather and scatter.
};

/// Parameters of the LogGOPS model of a network.
struct LogGops {
  Nanoseconds latency{};              ///< L
  Nanoseconds overhead{};             ///< o, per message, at either side
  Nanoseconds gap{};                  ///< g, between two messages of a rank
  double gap_per_byte = 0;            ///< G, s/B
  double overhead_per_byte = 0;       ///< O, s/B
  std::uint64_t rendezvous_size = 0;  ///< S: larger messages go by rendezvous
};

struct Communication {
  Topology topology = Topology::kRing;
  std::vector<Rank> distances = {-1, 1};  ///< Send to rank + d, receive from rank - d, for each d.
  Protocol protocol = Protocol::kAuto;
  WaitFlavour wait = WaitFlavour::kAll;
  std::uint64_t message_size = 1000;  ///< Bytes.
  Nanoseconds time{};                 ///< Transfer time of a message; unused with `loggops`.
  std::optional<LogGops> loggops;
  /// Instead of messages to neighbours; with `loggops` unless it is ideal.
  std::optional<CollectiveOfStep> collective;
};

/// Idle time before the step's work; draws no bandwidth.
struct Delay {
  Rank rank = 0;
  Step step = 0;
  Nanoseconds duration{};
};

// Noise is idle time after the work of a step. The first four kinds draw it anew for each rank and step, however long
// the work was; the others interrupt the work at moments of simulated time (workloads/sim/noise says how exactly).

struct ExponentialNoise {
  Nanoseconds mean{};
};
/// Anything from 0 to twice the mean is equally likely.
struct UniformNoise {
  Nanoseconds mean{};
};
/// Gamma distribution: standard deviation = mean / sqrt(shape). shape 1 is exponential, a large one nearly normal.
struct GammaNoise {
  double shape = 1;  ///< From kLeastShape to kMostShape.
  Nanoseconds mean{};
};
inline constexpr double kLeastShape = 0.01;
inline constexpr double kMostShape = 1e6;
/// With this probability a phase is hit by an interruption of this length.
struct RareNoise {
  double probability = 0;  ///< [0, 1]
  Nanoseconds duration{};
};

/// When the interruptions of a rank begin: at a moment of its own, or at the same moment on all ranks. Both are drawn
/// from the seed.
enum class NoisePhase { kOwn, kSame };

struct PeriodicNoise {
  Nanoseconds duration{};
  double frequency = 0;  ///< Hz; duration * frequency < 1.
  NoisePhase phase = NoisePhase::kOwn;
};
/// Interruptions by an operating system, none longer than 35 us.
struct SystemNoise {
  NoisePhase phase = NoisePhase::kOwn;
};
struct TraceNoise {
  std::filesystem::path file;  ///< As written in the scenario: relative to its folder. See noise_trace.h.
  NoisePhase phase = NoisePhase::kOwn;
};

/// The synthetic profiles of Widener et al., On noise and the performance benefit of nonblocking collectives,
/// section 3.2: a daemon, and checkpoints that each rank takes when it likes. SystemNoise stands for their third.
inline constexpr PeriodicNoise kDaemonNoise{std::chrono::microseconds{2500}, 10};
inline constexpr PeriodicNoise kCheckpointNoise{std::chrono::seconds{1}, 1.0 / 120};

/// monostate: silent.
using NoiseDistribution = std::variant<std::monostate, ExponentialNoise, UniformNoise, GammaNoise, RareNoise,
                                       PeriodicNoise, SystemNoise, TraceNoise>;
/// What an operator can order, as the noise of a scenario.
NoiseDistribution distribution_of(const wire::NoiseOrder& order);

struct Noise {
  NoiseDistribution distribution;
  std::uint64_t seed = 1;
};

/// One command runs the scenario with many values and compares them.
struct Study {
  std::string summary;             ///< One line, for a list of studies.
  std::vector<std::string> sweep;  ///< As behind `idlewave sim --sweep`.
  std::string against;             ///< As behind --against; empty: none.
};

struct Scenario {
  Machine machine;
  Program program;
  Communication communication;
  std::vector<Delay> delays;
  Noise noise;
  std::optional<Lesson> lesson;
  /// Of a lesson file alone; then of the rest only `machine.ranks` means something.
  std::optional<PlayedProgram> play;
  std::optional<Study> study;
};

/// Reads a scenario. `name` stands before each complaint (`name:line: key: ...`). Each override is `table.key=value`,
/// applied in order: `machine.ranks=4000`, `program.volume=50 MB`, `communication.distances=[-1, 1]`, `delay.0.rank=7`,
/// `loggops.L=2500ns`; with nothing behind `=` the key is taken out. Error: the first unknown key, missing unit, missing
/// key or value out of range, in the file or in an override.
wire::Result<Scenario> parse_scenario(std::string_view text, std::string_view name,
                                      std::span<const std::string> overrides = {});

/// The same from a file.
wire::Result<Scenario> load_scenario(const std::filesystem::path& path, std::span<const std::string> overrides = {});

/// The same for files of which a lesson is made: they may name one of our programs instead of describing one, [play].
wire::Result<Scenario> parse_lesson(std::string_view text, std::string_view name,
                                    std::span<const std::string> overrides = {});
wire::Result<Scenario> load_lesson(const std::filesystem::path& path, std::span<const std::string> overrides = {});

/// A machine file, as `idlewave calibrate` writes it, is a [machine] alone: ranks_per_domain, and a curve or two
/// bandwidths. Error: as above.
wire::Result<Machine> parse_machine(std::string_view text, std::string_view name);
wire::Result<Machine> load_machine(const std::filesystem::path& path);
/// As overrides that put it into a scenario, in the place of the bandwidths that this has.
std::vector<std::string> settings_of(const Machine& machine);

}  // namespace idlewave::support
