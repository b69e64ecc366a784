#include "workloads/ring/command_line.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include "probe/arguments/command_line.h"
#include "probe/words/quantity.h"
#include "probe/words/text.h"
#include "probe/words/whole.h"
#include "workloads/ranks/flags.h"
#include "workloads/ranks/noise_flag.h"
#include "workloads/ring/scenario_options.h"

namespace idlewave::ring {
namespace {

using arguments::CommandLine;
using ranks::add;
using ranks::add_choice;
using ranks::whole;
using wire::Error;
using wire::Result;
using words::parse_bandwidth;
using words::parse_bytes;
using words::parse_bytes_within;
using words::parse_duration;
using words::parse_whole;
using words::parse_window;
using words::split;

constexpr const char* kAbout =
    "iw-ring: a bulk-synchronous MPI program to watch with idlewave. In each step every rank works and then exchanges "
    "a message with its\nneighbours. Start it with mpirun. Papers: AHW20 = Afzal, Hager, Wellein: Desynchronization "
    "and wave pattern formation in MPI-parallel\nand hybrid memory-bound programs, ISC 2020. AHW19 = the same: "
    "Propagation and decay of injected one-off delays, CLUSTER 2019.\nFigures of AHW20: 1 and 5 by --time or --volume, "
    "--topology, --distances and --delay; 2 by --ranks-per-domain; 3 by --kernel; 4a is active_mean of\n--json; 6 by "
    "--message-size 5MB and real kernels; 7 by --ranks-per-domain 1 and --threads.";

constexpr Step kMaxSteps = Step{1} << 47;

Result<std::vector<Rank>> parse_distances(std::string_view text) {
  constexpr Rank kFarthest = 100'000'000;
  auto distances = words::parse_wholes<Rank>(text, -kFarthest, kFarthest);
  if (!distances) return Error{fmt::format("{}; write distances such as -1,1", distances.error().message)};
  return distances;
}

Result<std::vector<int>> parse_series(std::string_view text) { return words::parse_wholes(text, 1, 1'000'000); }

Result<Delay> parse_delay(std::string_view text) {
  const auto parts = split(text, ':');
  if (parts.size() != 3) return Error{fmt::format("\"{}\" is not RANK:STEP:DURATION, such as 5:100:2.4s", text)};
  const auto rank = parse_whole<Rank>(parts[0], 0, std::numeric_limits<Rank>::max());
  const auto step = parse_whole<Step>(parts[1], 0, kMaxSteps);
  const auto duration = parse_duration(parts[2]);
  if (!rank) return rank.error();
  if (!step) return step.error();
  if (!duration) return duration.error();
  return Delay{*rank, *step, *duration};
}

/// A model, which --time makes core-bound, or a loop.
std::vector<words::Choice<Kernel>> kernels() {
  std::vector<words::Choice<Kernel>> all = {{"virtual", Kernel::kMemory}};
  all.insert(all.end(), support::kLoops.begin(), support::kLoops.end());
  return all;
}

void add_work(CommandLine& app, Options& o) {
  add_choice<Kernel>(app, "--kernel", o.kernel, kernels(),
                     "The work of a step. virtual: wait as long as the work would take on a virtual socket, so that "
                     "any number of ranks fits on any machine. triad: A = B + s C; triad-nt: with non-temporal stores "
                     "(AHW20 sec. 4.1); slow-triad: A = B + cos(C / D), which saturates later (AHW20 sec. 4.2); "
                     "divide: dependent divisions, core-bound (AHW20 sec. 2.2). [virtual]")
      .type_name("NAME");
  add(app, "--volume", o.volume, parse_bytes,
      "Bytes that a rank moves to and from memory in a step: V of AHW20 eq. 1. Makes the work memory-bound. [100 MB]")
      .type_name("SIZE");
  add(app, "--time", o.time, parse_duration,
      "How long the work of a step takes instead, for the kernels divide and virtual: core-bound work (AHW20 sec. "
      "3.1). [10 ms]")
      .type_name("DURATION");
  add(app, "--threads", o.threads, whole<int, 1, 1024>,
      "Threads of a rank, which share out what --volume says; kernel divide: each works for --time. The first one "
      "calls MPI while the others sleep (AHW20 sec. 5). kernel virtual: a rank draws what so many cores do, "
      "b(threads). [1]")
      .type_name("N");
  add(app, "--steps", o.steps, whole<Step, 0, kMaxSteps>,
      "Number of steps; 0: until it is stopped. [200, or no limit with --duration]")
      .type_name("N");
  add(app, "--warmup", o.warm_up, whole<Step, 0, kMaxSteps>,
      "Steps with a barrier before those that count (AHW20 sec. 2.2). [2]")
      .type_name("N");
}

void add_machine(CommandLine& app, Options& o) {
  add(app, "--ranks-per-domain", o.series, parse_series,
      "kernel virtual: ranks on a virtual socket, which is a contention domain (AHW20 sec. 1). Several numbers are run "
      "one after the other, on sockets with room for the largest, of whose ranks the first ones take part; a table of "
      "all is printed (AHW20 Fig. 2). [10]")
      .type_name("N,...");
  add(app, "--core-bandwidth", o.core_bandwidth, parse_bandwidth,
      "kernel virtual: memory bandwidth of a rank that is alone, b(1). [10 GB/s]")
      .type_name("RATE");
  add(app, "--domain-bandwidth", o.domain_bandwidth, parse_bandwidth,
      "kernel virtual: saturated bandwidth of a socket; b(n) = min(n b(1), this), saturation point this / b(1) (AHW20 "
      "eq. 1). [50 GB/s]")
      .type_name("RATE");
  app.add_flag("--pin,!--no-pin", o.pin,
               "Other kernels: pin ranks to cores in turn, unless the launcher has bound them already (AHW20 sec. "
               "2.2). [--pin]");
}

void add_communication(CommandLine& app, Options& o) {
  add_choice<Topology>(app, "--topology", o.topology, {{"ring", Topology::kRing}, {"chain", Topology::kChain}},
                       "ring: periodic boundary; chain: open (AHW20 sec. 4.3). [ring]")
      .type_name("NAME");
  add(app, "--distances", o.distances, parse_distances,
      "For each d: send to rank + d, receive from rank - d; d of AHW20 eq. 2. One that leads outside the chain or to "
      "the rank itself is skipped. [-1,1]")
      .type_name("D,...");
  add(
      app, "--message-size", o.message_size,
      +[](std::string_view text) -> Result<int> {
        const auto bytes = parse_bytes_within(text, 0, std::numeric_limits<int>::max());
        if (!bytes) return bytes.error();
        return static_cast<int>(*bytes);
      },
      "Size of a message. MPI sends small ones eagerly, large ones by rendezvous (AHW20 sec. 1, 3.1). [1 kB]")
      .type_name("SIZE");
  add_choice<Protocol>(app, "--protocol", o.protocol,
                       {{"auto", Protocol::kAuto}, {"eager", Protocol::kEager}, {"rendezvous", Protocol::kRendezvous}},
                       "auto: MPI decides by size. rendezvous: by MPI_Issend. eager: refused for a size that this MPI "
                       "does not send eagerly; decides sigma in AHW20 eq. 2. [auto]")
      .type_name("NAME");
  add_choice<WaitFlavour>(app, "--wait", o.wait, {{"all", WaitFlavour::kAll}, {"split", WaitFlavour::kSplit}},
                          "all: post everything, one MPI_Waitall. split: one distance after the other, each with a "
                          "wait of its own; decides sigma in AHW20 eq. 2. [all]")
      .type_name("NAME");
  add_choice<Waiting>(app, "--waiting", o.waiting, ranks::kWaitings,
                      "polling: inside MPI_Waitall, as any MPI program. asleep: off the core until a neighbour rings a "
                      "bell in shared memory, then MPI_Testsome; else the ranks that wait take the cores from those "
                      "that work. auto: asleep with kernel virtual and with more ranks than cores. [auto]")
      .type_name("NAME");
}

void add_disturbance(CommandLine& app, Options& o) {
  app.add_texts(
         "--delay",
         [&o](const std::vector<std::string>& texts) {
           for (const std::string& text : texts) {
             const auto delay = parse_delay(text);
             if (!delay) arguments::refuse("--delay", delay.error().message);
             o.delays.push_back(*delay);
           }
         },
         "Idle time of one rank before its work in one step, which starts an idle wave (AHW19; AHW20 sec. 2.2). May be "
         "repeated.")
      .type_name("RANK:STEP:DURATION")
      .one_value_each();
  ranks::add_noise(app, o.noise,
                   "Idle time after the work of each step; makes idle waves decay (AHW19; AHW20 sec. 3.2). {} [none]");
}

/// A scenario file instead of the flags that say the same.
struct FromFile {
  std::string path;
  std::string machine;  ///< Of a machine file, beside a scenario or without one.
  std::vector<std::string> settings;
  bool without_delays = false;
};

void add_scenario(CommandLine& app, FromFile& file) {
  arguments::Option scenario =
      app.add("--scenario", file.path,
              "Machine, program, communication, delays and noise from a scenario file, as 'idlewave demo' and "
              "'idlewave sim' read it; start as many ranks as it has. What real ranks can't play is refused.");
  scenario.type_name("FILE");
  app.add("--machine", file.machine,
          "Domains and bandwidths of a machine file, as 'idlewave calibrate' writes it: those of the virtual sockets, "
          "or in the place of the scenario's, before any --set.")
      .type_name("FILE");
  app.add("--set", file.settings, "A value in place of that in the scenario, as in program.steps=50. May be repeated.")
      .type_name("KEY=VALUE")
      .needs(scenario)
      .one_value_each();
  app.add_flag("--without-delays", file.without_delays, "Leave the scenario's delays to an operator.").needs(scenario);
}

/// What the scenario says is said there, and changed by --set.
wire::Status refuse_beside_scenario(const CommandLine& app) {
  constexpr std::array<std::pair<const char*, const char*>, 15> kFlags{
      {{"--kernel", "program.kernel"},
       {"--volume", "program.volume"},
       {"--time", "program.time"},
       {"--steps", "program.steps"},
       {"--ranks-per-domain", "machine.ranks_per_domain"},
       {"--core-bandwidth", "machine.core_bandwidth"},
       {"--domain-bandwidth", "machine.domain_bandwidth"},
       {"--topology", "communication.topology"},
       {"--distances", "communication.distances"},
       {"--message-size", "communication.message_size"},
       {"--protocol", "communication.protocol"},
       {"--wait", "communication.wait"},
       {"--delay", "delay.0.duration"},
       {"--noise", "noise.mean"},
       {"--seed", "noise.seed"}}};
  for (const auto& [flag, key] : kFlags) {
    if (app.count(flag) > 0)
      return Error{fmt::format("{}: the scenario says that; give --set {}=... instead", flag, key)};
  }
  return wire::ok();
}

void add_output(CommandLine& app, Options& o) {
  app.add_flag("--json", o.json,
               "At the end print what happened as one JSON object on stdout; of several --ranks-per-domain with one "
               "for each, in series.");
  add(app, "--window", o.window, parse_window,
      "Fractions of the run over which --json averages the number of ranks that compute (AHW20 Fig. 4a). [0.5:0.95]")
      .type_name("FROM:TO");
}

bool is_core_bound(const Options& o, const CommandLine& app) {
  return o.kernel == Kernel::kDivide || (is_model(o.kernel) && app.count("--time") > 0);
}

/// Each run has waits of its own, by which the probe knows whom ranks wait for.
wire::Status check_series(const Options& o, Rank ranks) {
  constexpr std::size_t kMostWaits = 64;  // as many patterns of partners as a probe keeps
  if (o.series.empty()) return wire::ok();
  if (seats_of(o) > ranks)
    return Error{
        fmt::format("--ranks-per-domain: sockets of {0} ranks need more than the {1} of the job; start it with "
                    "mpirun -n {0}, or a multiple of that",
                    seats_of(o), ranks)};
  const std::size_t waits = o.wait == WaitFlavour::kSplit ? o.distances.size() : 1;
  if (o.series.size() * waits > kMostWaits)
    return Error{fmt::format("--ranks-per-domain: {} runs of {} waits are more than {}; give fewer numbers",
                             o.series.size(), waits, kMostWaits)};
  return wire::ok();
}

wire::Status take_machine(const std::string& file, const CommandLine& app, Options& o) {
  if (file.empty()) return wire::ok();
  if (!is_model(o.kernel)) return Error{"--machine: goes with --kernel virtual only"};
  for (const char* flag : {"--core-bandwidth", "--domain-bandwidth"})
    if (app.count(flag) > 0) return Error{fmt::format("{}: the machine file says that; leave out one of both", flag)};
  return read_machine(file, o);
}

/// What the arguments mean together.
wire::Status settle(Options& o, const CommandLine& app, const std::string& machine, Rank ranks) {
  if (const auto taken = take_machine(machine, app, o); !taken) return taken;
  const bool core_bound = is_core_bound(o, app);
  if (core_bound && is_model(o.kernel)) o.kernel = Kernel::kCore;
  if (app.count(core_bound ? "--volume" : "--time") > 0) {
    return Error{core_bound
                     ? "--volume: this work is core-bound and moves nothing; give --time alone, or another kernel"
                     : "--time: this kernel lasts as long as its memory traffic takes; give --volume"};
  }
  for (const char* flag : {"--ranks-per-domain", "--core-bandwidth", "--domain-bandwidth"}) {
    if (app.count(flag) > 0 && !is_model(o.kernel))
      return Error{fmt::format("{}: goes with --kernel virtual only", flag)};
  }
  if (core_bound && app.count("--time") == 0) o.time = std::chrono::milliseconds{10};
  if (!core_bound && app.count("--volume") == 0) o.volume = 100'000'000;
  if (core_bound ? o.time.count() == 0 : o.volume == 0)
    return Error{core_bound ? "--time: must be above zero" : "--volume: must be above zero"};
  if (app.count("--steps") == 0 && !o.duration) o.steps = 200;
  if (o.series.size() == 1) o.ranks_per_domain = std::exchange(o.series, {}).front();
  if (const auto possible = check_series(o, ranks); !possible) return possible;
  const Rank fewest = o.series.empty() ? ranks : ranks_of_run(o, ranks, *std::ranges::min_element(o.series));
  for (const Delay& delay : o.delays) {
    if (delay.rank < fewest) continue;
    return Error{o.series.empty()
                     ? fmt::format("--delay: there is no rank {}; ranks go from 0 to {}", delay.rank, ranks - 1)
                     : fmt::format("--delay: the run with {} on a socket has no rank {}; its ranks go from 0 to {}",
                                   *std::ranges::min_element(o.series), delay.rank, fewest - 1)};
  }
  for (const Delay& delay : o.delays) {
    if (o.steps > 0 && delay.step >= o.steps)
      return Error{fmt::format("--delay: there is no step {}; steps go from 0 to {}", delay.step, o.steps - 1)};
  }
  return ranks::take_noise_trace(o.noise, o.noise_trace);
}

wire::Status take_scenario(const FromFile& file, const CommandLine& app, Rank ranks, Options& options) {
  if (const auto alone = refuse_beside_scenario(app); !alone) return alone;
  std::vector<std::string> settings;
  if (!file.machine.empty()) {
    const auto machine = support::load_machine(file.machine);
    if (!machine) return machine.error();
    settings = support::settings_of(*machine);
  }
  settings.insert(settings.end(), file.settings.begin(), file.settings.end());
  if (const auto read = read_scenario(file.path, settings, ranks, options); !read) return read;
  if (file.without_delays) options.delays.clear();
  return wire::ok();
}

}  // namespace

Result<std::variant<Options, Text>> parse_options(int argc, const char* const* argv, Rank ranks) {
  Options options;
  CommandLine app{kAbout, "iw-ring"};
  app.put_texts_below();
  app.add_version("iw-ring " IDLEWAVE_VERSION);
  add_work(app, options);
  app.add_text(
         "--duration",
         [&options](const std::string& text) {
           const auto duration = parse_duration(text);
           if (!duration) arguments::refuse("--duration", duration.error().message);
           options.duration = *duration;
         },
         "Stop after this time, all ranks after the same step.")
      .type_name("DURATION");
  add_machine(app, options);
  add_communication(app, options);
  add_disturbance(app, options);
  FromFile file;
  add_scenario(app, file);
  add_output(app, options);
  if (const auto ending = app.parse(argc, argv)) {
    if (ending->refused) return ranks::refusal(*ending, "iw-ring");
    return std::variant<Options, Text>{Text{ending->text}};
  }
  const auto settled =
      file.path.empty() ? settle(options, app, file.machine, ranks) : take_scenario(file, app, ranks, options);
  if (!settled) return settled.error();
  return std::variant<Options, Text>{std::move(options)};
}

}  // namespace idlewave::ring
