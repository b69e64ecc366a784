#include "workloads/support/scenario.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <limits>
#include <utility>

#include "probe/words/noise.h"
#include "probe/words/quantity.h"
#include "workloads/support/input_file.h"
#include "workloads/support/toml_document.h"

namespace idlewave::support {
namespace {

using wire::Error;
using wire::Result;

constexpr words::Choices<Kernel, 6> kKernels{
    {{"memory", Kernel::kMemory}, {"core", Kernel::kCore}, kLoops[0], kLoops[1], kLoops[2], kLoops[3]}};
constexpr words::Choices<Topology, 2> kTopologies{{{"ring", Topology::kRing}, {"chain", Topology::kChain}}};
constexpr words::Choices<Protocol, 3> kProtocols{
    {{"auto", Protocol::kAuto}, {"eager", Protocol::kEager}, {"rendezvous", Protocol::kRendezvous}}};
constexpr words::Choices<WaitFlavour, 2> kWaits{{{"all", WaitFlavour::kAll}, {"split", WaitFlavour::kSplit}}};

constexpr words::Choices<CollectiveKind, 7> kCollectives{{{"allreduce", CollectiveKind::kAllreduce},
                                                          {"allgather", CollectiveKind::kAllgather},
                                                          {"barrier", CollectiveKind::kBarrier},
                                                          {"broadcast", CollectiveKind::kBroadcast},
                                                          {"reduce", CollectiveKind::kReduce},
                                                          {"gather", CollectiveKind::kGather},
                                                          {"scatter", CollectiveKind::kScatter}}};
constexpr words::Choices<CollectiveAlgorithm, 5> kAlgorithms{
    {{"dissemination", CollectiveAlgorithm::kDissemination},
     {"recursive-doubling", CollectiveAlgorithm::kRecursiveDoubling},
     {"ring", CollectiveAlgorithm::kRing},
     {"binomial", CollectiveAlgorithm::kBinomial},
     {"bruck", CollectiveAlgorithm::kBruck}}};
constexpr words::Choices<CollectiveMode, 3> kModes{{{"blocking", CollectiveMode::kBlocking},
                                                    {"nonblocking", CollectiveMode::kNonblocking},
                                                    {"ideal", CollectiveMode::kIdeal}}};

using wire::kMaxRanks;

constexpr std::size_t kMostScenarioBytes = 1'000'000;
constexpr Step kMaxSteps = Step{1} << 47;  // what an event can carry, with a bit to spare

Machine read_machine(Section section) {
  Machine machine;
  section.whole<Rank>("ranks", machine.ranks, 1, kMaxRanks);
  section.whole<Rank>("ranks_per_domain", machine.ranks_per_domain, 1, kMaxRanks);
  section.quantity("core_bandwidth", machine.core_bandwidth, words::parse_bandwidth);
  section.quantity("domain_bandwidth", machine.domain_bandwidth, words::parse_bandwidth);
  section.quantities("curve", machine.curve, words::parse_bandwidth);
  section.refuse_other_keys();
  if (machine.curve.empty()) return machine;
  if (machine.core_bandwidth > 0 || machine.domain_bandwidth > 0) {
    section.complain("curve", "says what core_bandwidth and domain_bandwidth say; give either the curve or those two");
  }
  machine.core_bandwidth = machine.curve.front();
  machine.domain_bandwidth = std::ranges::max(machine.curve);
  return machine;
}

void require_machine_of_model(Section section, const Machine& machine, Kernel kernel) {
  section.require("ranks", "40");
  section.require("ranks_per_domain", "10");
  if (kernel == Kernel::kMemory && machine.curve.empty()) {
    section.require("core_bandwidth", "\"10 GB/s\"");
    section.require("domain_bandwidth", "\"50 GB/s\"");
  }
}

Program read_program(Section section) {
  Program program;
  section.require("steps", "200");
  section.require("kernel", "\"memory\"");
  section.whole<Step>("steps", program.steps, 1, kMaxSteps);
  section.choice<Kernel>("kernel", program.kernel, kKernels);
  section.quantity("volume", program.volume, words::parse_bytes);
  section.quantity("time", program.time, words::parse_duration);
  section.refuse_other_keys();
  const bool timed = program.kernel == Kernel::kCore || program.kernel == Kernel::kDivide;
  section.require(timed ? "time" : "volume", timed ? "\"10 ms\"" : "\"50 MB\"");
  if (!timed && program.volume == 0) section.complain("volume", "must be above zero");
  if (timed && program.time <= Nanoseconds::zero()) section.complain("time", "must be above zero");
  return program;
}

void read_network(Section& section, Communication& communication) {
  LogGops network;
  network.rendezvous_size = words::kMaxBytes;
  section.quantity("L", network.latency, words::parse_duration);
  section.quantity("o", network.overhead, words::parse_duration);
  section.quantity("g", network.gap, words::parse_duration);
  section.quantity("G", network.gap_per_byte, words::parse_time_per_byte);
  section.quantity("O", network.overhead_per_byte, words::parse_time_per_byte);
  section.quantity("S", network.rendezvous_size, words::parse_bytes);
  for (const std::string_view key : {"L", "o", "g", "G", "O", "S"}) {
    if (!section.has(key)) continue;
    if (section.has("time")) section.complain("time", "and LogGOPS parameters exclude each other; give one of both");
    communication.loggops = network;
  }
}

/// Those of a kind; the first is taken where the scenario says nothing.
std::span<const CollectiveAlgorithm> algorithms_of(CollectiveKind kind) {
  using enum CollectiveAlgorithm;
  static constexpr std::array kOfAllreduce{kDissemination, kRecursiveDoubling, kRing};
  static constexpr std::array kOfAllgather{kDissemination, kBruck, kRecursiveDoubling, kRing};
  static constexpr std::array kOfBarrier{kDissemination};
  static constexpr std::array kOfTrees{kBinomial};
  switch (kind) {
    case CollectiveKind::kAllreduce: return kOfAllreduce;
    case CollectiveKind::kAllgather: return kOfAllgather;
    case CollectiveKind::kBarrier: return kOfBarrier;
    case CollectiveKind::kBroadcast:
    case CollectiveKind::kReduce:
    case CollectiveKind::kGather:
    case CollectiveKind::kScatter: break;
  }
  return kOfTrees;
}

void read_algorithm(Section& section, CollectiveOfStep& collective) {
  const auto fitting = algorithms_of(collective.kind);
  collective.algorithm = fitting.front();
  section.choice<CollectiveAlgorithm>("algorithm", collective.algorithm, kAlgorithms);
  if (std::ranges::find(fitting, collective.algorithm) != fitting.end()) return;
  std::string names;
  for (const CollectiveAlgorithm algorithm : fitting) {
    names += fmt::format("{}\"{}\"", names.empty() ? "" : ", ", words::word_of(algorithm, kAlgorithms));
  }
  section.complain("algorithm", fmt::format("does not go with this collective; accepted: {}", names));
}

void read_collective(Section& section, Communication& communication, Rank ranks) {
  for (const std::string_view key : {"algorithm", "mode", "root"}) {
    if (!section.has("collective") && section.has(key)) section.complain(key, "goes with a collective; add collective");
  }
  if (!section.has("collective")) return;
  for (const std::string_view key : {"topology", "distances", "protocol", "wait", "time"}) {
    if (section.has(key))
      section.complain(key, "belongs to an exchange with neighbours; leave it out beside a collective");
  }
  CollectiveOfStep& collective = communication.collective.emplace();
  section.choice<CollectiveKind>("collective", collective.kind, kCollectives);
  read_algorithm(section, collective);
  section.choice<CollectiveMode>("mode", collective.mode, kModes);
  section.whole<Rank>("root", collective.root, 0, (ranks > 0 ? ranks : kMaxRanks) - 1);
  if (communication.message_size == 0) section.complain("message_size", "must be above zero with a collective");
  if (collective.mode != CollectiveMode::kIdeal && !communication.loggops) {
    section.complain("collective",
                     "needs the LogGOPS parameters of the network, as in L = \"2500 ns\", o = \"1500 ns\", "
                     "g = \"1000 ns\", G = \"6 ns/B\"; what is left out is 0");
  }
}

Communication read_communication(Section section, Rank ranks) {
  Communication communication;
  constexpr Rank kFarthest = kMaxRanks;
  section.choice<Topology>("topology", communication.topology, kTopologies);
  section.wholes<Rank>("distances", communication.distances, -kFarthest, kFarthest);
  section.choice<Protocol>("protocol", communication.protocol, kProtocols);
  section.choice<WaitFlavour>("wait", communication.wait, kWaits);
  section.quantity("message_size", communication.message_size, words::parse_bytes);
  section.quantity("time", communication.time, words::parse_duration);
  read_network(section, communication);
  read_collective(section, communication, ranks);
  section.refuse_other_keys();
  return communication;
}

Delay read_delay(Section section, Rank ranks, Step steps) {
  Delay delay;
  section.require("rank", "5");
  section.require("step", "5");
  section.require("duration", "\"1.2 s\"");
  section.whole<Rank>("rank", delay.rank, 0, (ranks > 0 ? ranks : kMaxRanks) - 1);
  section.whole<Step>("step", delay.step, 0, std::max<Step>(steps, 1) - 1);
  section.quantity("duration", delay.duration, words::parse_duration);
  section.refuse_other_keys();
  return delay;
}

void read_phase(Section& section, NoisePhase& phase) {
  constexpr words::Choices<NoisePhase, 2> kPhases{{{"own", NoisePhase::kOwn}, {"same", NoisePhase::kSame}}};
  section.choice<NoisePhase>("phase", phase, kPhases);
}

template <class Distribution>
Distribution with_phase(Section& section, Distribution noise) {
  read_phase(section, noise.phase);
  return noise;
}

void read_mean(Section& section, Nanoseconds& mean) {
  section.require("mean", "\"0.5 ms\"");
  section.quantity("mean", mean, words::parse_duration);
}

GammaNoise read_gamma_noise(Section& section) {
  GammaNoise noise;
  section.require("shape", "2.5");
  section.real("shape", noise.shape, kLeastShape, kMostShape);
  read_mean(section, noise.mean);
  return noise;
}

RareNoise read_rare_noise(Section& section) {
  RareNoise noise;
  section.require("probability", "0.001");
  section.require("duration", "\"20 ms\"");
  section.real("probability", noise.probability, 0, 1);
  section.quantity("duration", noise.duration, words::parse_duration);
  return noise;
}

/// How often something begins: as a frequency, or as the time from one beginning to the next.
void read_frequency(Section& section, double& frequency) {
  if (!section.has("interval")) {
    section.require("frequency", "\"10 Hz\"");
    return section.quantity("frequency", frequency, words::parse_frequency);
  }
  if (section.has("frequency")) section.complain("interval", "says what frequency says: give one of them");
  Nanoseconds interval{};
  section.quantity("interval", interval, words::parse_duration);
  if (interval <= Nanoseconds{0}) return section.complain("interval", "must be above 0");
  frequency = 1e9 / double(interval.count());
}

PeriodicNoise read_periodic_noise(Section& section) {
  PeriodicNoise noise;
  section.require("duration", "\"2.5 ms\"");
  section.quantity("duration", noise.duration, words::parse_duration);
  read_frequency(section, noise.frequency);
  read_phase(section, noise.phase);
  const auto status = words::check_leaves_time(noise.duration, noise.frequency);
  if (!status) section.complain("duration", status.error().message);
  return noise;
}

TraceNoise read_trace_noise(Section& section) {
  std::string file;
  section.require("file", "\"noise.csv\"");
  section.text("file", file);
  return with_phase(section, TraceNoise{file});
}

using ReadDistribution = void (*)(Section&, Noise&);

constexpr words::Choices<ReadDistribution, 9> kDistributions{{
    {"exponential",
     [](Section& section, Noise& noise) { read_mean(section, noise.distribution.emplace<ExponentialNoise>().mean); }},
    {"uniform",
     [](Section& section, Noise& noise) { read_mean(section, noise.distribution.emplace<UniformNoise>().mean); }},
    {"gamma", [](Section& section, Noise& noise) { noise.distribution = read_gamma_noise(section); }},
    {"rare", [](Section& section, Noise& noise) { noise.distribution = read_rare_noise(section); }},
    {"periodic", [](Section& section, Noise& noise) { noise.distribution = read_periodic_noise(section); }},
    {"trace", [](Section& section, Noise& noise) { noise.distribution = read_trace_noise(section); }},
    {"system", [](Section& section, Noise& noise) { noise.distribution = with_phase(section, SystemNoise{}); }},
    {"daemon", [](Section& section, Noise& noise) { noise.distribution = with_phase(section, kDaemonNoise); }},
    {"checkpoint", [](Section& section, Noise& noise) { noise.distribution = with_phase(section, kCheckpointNoise); }},
}};

Noise read_noise(Section section) {
  Noise noise;
  ReadDistribution read = nullptr;
  section.require("distribution", "\"exponential\"");
  section.choice<ReadDistribution>("distribution", read, kDistributions);
  section.whole<std::uint64_t>("seed", noise.seed, 0, std::numeric_limits<std::int64_t>::max());
  if (read == nullptr) return noise;
  read(section, noise);
  section.refuse_other_keys();
  return noise;
}

Study read_study(Section section) {
  Study study;
  section.require("summary", "\"One line\"");
  section.require("sweep", "[\"noise.seed=1..5\"]");
  section.text("summary", study.summary);
  section.texts("sweep", study.sweep);
  section.text("against", study.against);
  section.refuse_other_keys();
  return study;
}

Machine read_machine_alone(TomlDocument& document) {
  const Machine machine = read_machine(document.table("machine"));
  Section section = document.table("machine");
  section.require("ranks_per_domain", "10");
  if (machine.curve.empty()) {
    if (!section.has("core_bandwidth")) section.require("curve", "[\"10 GB/s\", \"19 GB/s\"]");
    section.require("domain_bandwidth", "\"50 GB/s\"");
  }
  document.refuse_other_tables();
  return machine;
}

void take_lesson(TomlDocument& document, Scenario& scenario) {
  Section lesson = document.table("lesson");
  if (document.has("lesson")) scenario.lesson = read_lesson(std::move(lesson), scenario.play.has_value());
}

Scenario read_scenario(TomlDocument& document) {
  Scenario scenario;
  if (document.has("play"))
    document.table("play").complain("program", "is played by `idlewave demo` alone; give a scenario without [play]");
  scenario.machine = read_machine(document.table("machine"));
  scenario.program = read_program(document.table("program"));
  if (is_model(scenario.program.kernel)) {
    require_machine_of_model(document.table("machine"), scenario.machine, scenario.program.kernel);
  }
  scenario.communication = read_communication(document.table("communication"), scenario.machine.ranks);
  if (scenario.communication.collective && !is_model(scenario.program.kernel)) {
    document.table("program").complain("kernel", "of a program with a collective is \"core\" or \"memory\"");
  }
  for (Section& delay : document.tables("delay")) {
    scenario.delays.push_back(read_delay(std::move(delay), scenario.machine.ranks, scenario.program.steps));
  }
  Section noise = document.table("noise");
  if (document.has("noise")) scenario.noise = read_noise(std::move(noise));
  take_lesson(document, scenario);
  Section study = document.table("study");
  if (document.has("study")) scenario.study = read_study(std::move(study));
  document.refuse_other_tables();
  return scenario;
}

/// The program has its own words for what the other tables of a scenario say.
Scenario read_played_lesson(TomlDocument& document) {
  Scenario scenario;
  Section play = document.table("play");
  scenario.play = read_played_program(play);
  scenario.machine.ranks = scenario.play->ranks;
  if (!document.has("lesson")) play.complain("program", "is played for a lesson; add [lesson]");
  take_lesson(document, scenario);
  document.refuse_other_tables();
  return scenario;
}

Result<Scenario> parse(std::string_view text, std::string_view name, std::span<const std::string> overrides,
                       bool is_lesson) {
  auto document = TomlDocument::parse(text, name, overrides);
  if (!document) return document.error();
  Scenario scenario = is_lesson && document->has("play") ? read_played_lesson(*document) : read_scenario(*document);
  if (document->complaint()) return *document->complaint();
  return scenario;
}

/// By what every recorded session begins with (docs/recording-format.md).
bool is_recording(const std::filesystem::path& path) {
  constexpr std::string_view kBegin = "\x89IWS\r\n\x1a\n";
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(path, ignored)) return false;
  std::array<char, kBegin.size()> begin{};
  std::ifstream(path, std::ios::binary).read(begin.data(), begin.size());
  return kBegin == std::string_view(begin.data(), begin.size());
}

Result<std::string> read_scenario_file(const std::filesystem::path& path) {
  if (is_recording(path))
    return Error{
        fmt::format("{}: is a recorded session and no scenario; 'idlewave sim --from' reads it", path.string())};
  return read_input_file(path, kMostScenarioBytes, "give the path of a scenario file (.toml)");
}

}  // namespace

std::string_view name_of(Kernel kernel) { return words::word_of(kernel, kKernels); }

bool is_model(Kernel kernel) { return kernel == Kernel::kMemory || kernel == Kernel::kCore; }

NoiseDistribution distribution_of(const wire::NoiseOrder& order) {
  switch (order.kind) {
    case wire::NoiseKind::kExponential: return ExponentialNoise{order.amount};
    case wire::NoiseKind::kPeriodic: return PeriodicNoise{order.amount, order.frequency};
    case wire::NoiseKind::kTrace: return TraceNoise{order.trace.file};
  }
  return std::monostate();
}

Result<Scenario> parse_scenario(std::string_view text, std::string_view name, std::span<const std::string> overrides) {
  return parse(text, name, overrides, false);
}

Result<Scenario> load_scenario(const std::filesystem::path& path, std::span<const std::string> overrides) {
  const auto text = read_scenario_file(path);
  return text ? parse_scenario(*text, path.string(), overrides) : text.error();
}

Result<Scenario> parse_lesson(std::string_view text, std::string_view name, std::span<const std::string> overrides) {
  return parse(text, name, overrides, true);
}

Result<Scenario> load_lesson(const std::filesystem::path& path, std::span<const std::string> overrides) {
  const auto text = read_scenario_file(path);
  return text ? parse_lesson(*text, path.string(), overrides) : text.error();
}

Result<Machine> parse_machine(std::string_view text, std::string_view name) {
  auto document = TomlDocument::parse(text, name, {});
  if (!document) return document.error();
  Machine machine = read_machine_alone(*document);
  if (document->complaint()) return *document->complaint();
  return machine;
}

Result<Machine> load_machine(const std::filesystem::path& path) {
  const auto text = read_input_file(path, kMostScenarioBytes,
                                    "give the path of a machine file, as `idlewave calibrate -o` writes it");
  return text ? parse_machine(*text, path.string()) : text.error();
}

/// "machine.curve=[...]" and so on; a key that stands for the same is taken out.
std::vector<std::string> settings_of(const Machine& machine) {
  std::vector<std::string> settings = {fmt::format("machine.ranks_per_domain={}", machine.ranks_per_domain)};
  if (machine.ranks > 0) settings.push_back(fmt::format("machine.ranks={}", machine.ranks));
  std::string curve;
  for (const double bandwidth : machine.curve)
    curve += fmt::format("{}\"{}\"", curve.empty() ? "" : ", ", words::exact_bandwidth(bandwidth));
  const bool two = curve.empty();
  settings.push_back("machine.curve=" + (two ? "" : "[" + curve + "]"));
  settings.push_back("machine.core_bandwidth=" + (two ? words::exact_bandwidth(machine.core_bandwidth) : ""));
  settings.push_back("machine.domain_bandwidth=" + (two ? words::exact_bandwidth(machine.domain_bandwidth) : ""));
  return settings;
}

}  // namespace idlewave::support
