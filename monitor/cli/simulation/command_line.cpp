#include "monitor/cli/simulation/command_line.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <span>
#include <string_view>

#include "monitor/cli/memory_size.h"
#include "monitor/cli/verbs.h"
#include "probe/arguments/command_line.h"
#include "probe/arguments/suggestion.h"
#include "probe/words/quantity.h"
#include "probe/words/window.h"

namespace idlewave::cli::simulation {
namespace {

using arguments::CommandLine;
using arguments::Option;
using sim::sweep::add_settings;

constexpr Rank kMostFactor = 100'000'000;

constexpr const char* kAbout =
    "Simulates bulk-synchronous programs on shared memory interfaces, and message schedules on a network, exactly and "
    "reproducibly. The flags say which of six ways is meant:\n";

constexpr const char* kFooter =
    "Ctrl-C ends a run with what it has: its result so far, marked as interrupted; a recording that ends there, if it "
    "was being written; a live session that says that it is over. A sweep, a comparison with a recording and a "
    "schedule end without a result.\n"
    "Exit code: 0, also of a run that Ctrl-C ended with what it had; 1 if a run failed, or was interrupted without a "
    "result or the recording that it was to write (a schedule without --json and --record: 130, by the signal itself); "
    "2 if the input can't be taken, as one line says.\n"
    "Under mpirun or srun the ranks share out the runs of a sweep.\n";

template <class T>
T value_or_refuse(wire::Result<T> result, const std::string& flag) {
  if (!result) arguments::refuse(flag, result.error().message);
  return *result;
}

// --- flags that several ways have ---

void add_scenario(CommandLine& app, std::filesystem::path& scenario, const std::string& help = "Scenario file (TOML)") {
  app.add("scenario", scenario, help).type_name("FILE");
}

void add_window(CommandLine& app, words::Fractions& window) {
  app.add_text(
         "--window",
         [&window](const std::string& text) { window = value_or_refuse(words::parse_window(text), "--window"); },
         "Part of the run for the averages, as fractions of the makespan (0.5:0.95)")
      .type_name("FROM:TO");
}

Option add_memory(CommandLine& app, std::uint64_t& memory, const std::string& help) {
  return app
      .add_text(
          "--memory", [&memory](const std::string& text) { memory = value_or_refuse(parse_memory(text), "--memory"); },
          help)
      .type_name("SIZE");
}

void add_json_with_findings(CommandLine& app, bool& json, std::uint64_t& memory) {
  const Option asked =
      app.add_flag("--json", json, "Print the result as JSON, with what `idlewave report` finds in the run");
  add_memory(app, memory, "With --json: for the history in which it is found (512MB); the oldest detail goes first")
      .needs(asked);
}

template <class Factor>
Option add_extrapolate(CommandLine& app, Factor& factor, const std::string& help) {
  return app
      .add_int(
          "--extrapolate", [&factor](Rank times) { factor = times; }, help)
      .type_name("K")
      .within(Rank{1}, kMostFactor);
}

void add_record(CommandLine& app, std::string& record, std::string& session) {
  const Option file =
      app.add("--record", record, "Write a session file for `idlewave replay` and `report`").type_name("FILE");
  app.add("--session", session, "With --record: name of the session in that file (simulation)")
      .type_name("NAME")
      .needs(file);
}

// --- the ways ---

void add_flags(CommandLine& app, ScenarioOptions& o) {
  add_scenario(app, o.scenario);
  add_settings(app, o.settings);
  app.add_flag("--without-delays", o.without_delays, "Leave out the scenario's delays");
  add_window(app, o.window);
  app.add_int64(
         "--step-start", [&o](wire::Step step) { o.step_start = step; }, "Also tell when each rank began this step")
      .type_name("STEP")
      .not_negative();
  add_record(app, o.record, o.session);
  add_json_with_findings(app, o.json, o.memory);
}

wire::Status check(ScenarioOptions& o) {
  if (!o.scenario.empty()) return wire::ok();
  return wire::Error{"name a scenario file, or a schedule with --goal, or a recording with --from"};
}

wire::Status check(SweepOptions& o) {
  if (const auto fits = sim::sweep::check(o); !fits) return fits;
  if (o.scenario.empty()) return wire::Error{"name the scenario file that is swept"};
  return o.study ? sim::sweep::take_study(o) : wire::ok();
}

void add_stream(CommandLine& app, StreamOptions& o) {
  app.add_flag("--realtime", o.realtime, "As fast as the simulated program would run");
  app.add("--stream", o.listen, "Monitors attach to this endpoint, as in tcp://*:5555").type_name("ENDPOINT");
  app.add("--connect", o.connect, "Of the monitor that listens there").type_name("ENDPOINT");
  app.add("--key", o.key,
          "Key file, for tcp. With --connect: the session's key.agent. With --stream: its key.server; without "
          "one new keys are made, and named on stderr")
      .type_name("FILE");
  app.add("--session", o.session, "Name of the session, by which `idlewave attach` finds it on this node")
      .type_name("NAME");
  app.add_flag("--allow-inject", o.allow_inject,
               "Let whoever watches order delays and noise (not of a run on a LogGOPS network, which takes no orders)");
  app.add_text(
         "--duration",
         [&o](const std::string& text) { o.duration = value_or_refuse(words::parse_duration(text), "--duration"); },
         "End after so long")
      .type_name("TIME");
}

wire::Status check_stream(const StreamOptions& o) {
  if (o.listen.empty() && o.connect.empty())
    return wire::Error{"--realtime: goes with --stream ENDPOINT or --connect ENDPOINT"};
  if (!o.realtime)
    return wire::Error{"--stream, --connect: go with --realtime; to simulate as fast as possible, --record a file"};
  return wire::ok();
}

void add_flags(CommandLine& app, LiveOptions& o) {
  add_scenario(app, o.scenario);
  add_settings(app, o.settings);
  app.add_flag("--without-delays", o.without_delays, "Leave the scenario's delays to whoever watches");
  add_stream(app, o);
}

wire::Status check(LiveOptions& o) {
  if (o.scenario.empty()) return wire::Error{"name the scenario file that is to be watched"};
  return check_stream(o);
}

/// Returns --extrapolate.
Option add_schedule(CommandLine& app, ScheduleSource& o) {
  app.add("--goal", o.schedule, "The schedule, as GOAL text").type_name("FILE").required();
  add_scenario(app, o.scenario,
               "Scenario file (TOML) for the LogGOPS network, memory domains (kernel memory) and noise; without one "
               "--set loggops.L=2500ns, machine.core_bandwidth=..., noise.distribution=... say all");
  add_settings(app, o.settings);
  return add_extrapolate(app, o.extrapolate,
                         "The same program on K times as many ranks: collectives are written anew for all, other "
                         "messages keep their distance");
}

void add_flags(CommandLine& app, ScheduleOptions& o) {
  const Option factor = add_schedule(app, o);
  app.add("-o,--output", o.output, "With --extrapolate: also write that schedule, as GOAL text")
      .type_name("FILE")
      .needs(factor);
  add_record(app, o.record, o.session);
  add_window(app, o.window);
  add_json_with_findings(app, o.json, o.memory);
}

wire::Status check(ScheduleOptions&) { return wire::ok(); }

void add_flags(CommandLine& app, LiveScheduleOptions& o) {
  add_schedule(app, o);
  add_stream(app, o);
}

wire::Status check(LiveScheduleOptions& o) { return check_stream(o); }

void add_flags(CommandLine& app, SessionOptions& o) {
  app.add("--from", o.recording, "The recorded session").type_name("FILE").required();
  add_settings(app, o.settings);
  add_extrapolate(app, o.extrapolate, "The same program on K times as many ranks");
  add_window(app, o.window);
  add_memory(app, o.memory, "For the history of the session (4GB); the oldest steps go first");
  app.add_flag("--json", o.json, "Print the comparison as JSON");
}

wire::Status check(SessionOptions&) { return wire::ok(); }

void add_flags(CommandLine& app, SweepOptions& o) { sim::sweep::add_options(app, o); }

/// One of the ways to simulate. Not copied: its flags point to what they fill.
struct Way {
  std::string name;
  std::string asked_for_by;
  /// One of each choose this way.
  std::vector<std::vector<std::string>> flags;
  CommandLine app;
  /// Once the line has been read.
  std::function<wire::Result<Call>()> call;

  std::string in_words() const { return name + " (" + asked_for_by + ")"; }
  bool has(const std::string& flag) const { return app.has(flag); }
};

template <class Options>
Way way(std::string name, std::string asked_for_by, std::vector<std::vector<std::string>> flags, std::string help) {
  auto options = std::make_shared<Options>();
  CommandLine app(help, "idlewave sim" + (flags.empty() ? "" : " " + asked_for_by));
  app.without_help_flag();
  app.keep_extras();
  add_flags(app, *options);
  const auto call = [options]() -> wire::Result<Call> {
    if (const wire::Status fits = check(*options); !fits) return fits.error();
    return Call{std::move(*options)};
  };
  return {std::move(name), std::move(asked_for_by), std::move(flags), std::move(app), call};
}

/// Later ones are chosen before earlier ones.
std::vector<Way> all_ways() {
  const std::vector<std::string> live = {"--realtime", "--stream", "--connect"};
  const std::string on_a_network = "A schedule of messages and calculations (GOAL) on a network";
  std::vector<Way> ways;
  ways.push_back(way<ScenarioOptions>("one run of a scenario", "a scenario file alone", {},
                                      "1. A scenario, from its beginning to its end, as fast as it goes."));
  ways.push_back(way<SweepOptions>("a sweep", "--sweep KEY=VALUES, perhaps --against KEY=VALUE, or --study",
                                   {{"--sweep", "--study"}},
                                   "2. A sweep: the scenario again and again, with other values, on all cores."));
  ways.push_back(way<LiveOptions>("a live run", "--realtime with --stream ENDPOINT or --connect ENDPOINT", {live},
                                  "3. A live run: the scenario is watched while it runs."));
  ways.push_back(way<ScheduleOptions>("a schedule", "--goal FILE", {{"--goal"}}, "4. " + on_a_network + "."));
  ways.push_back(way<LiveScheduleOptions>(
      "a live schedule", "--goal FILE with --realtime and --stream ENDPOINT or --connect ENDPOINT", {{"--goal"}, live},
      "5. " + on_a_network + " that is watched while it runs."));
  ways.push_back(way<SessionOptions>(
      "a recorded session", "--from FILE", {{"--from"}},
      "6. A recorded session: derives ranks, domains, work, partners, noise and delays from it, simulates the same "
      "program, with the noise that it had and with noise like it, and prints all side by side."));
  return ways;
}

std::string help_of(const std::vector<Way>& ways) {
  std::string text = arguments::folded(kAbout);
  for (const Way& each : ways) text += "\n" + each.app.help();
  return text + "\n" + arguments::folded(kFooter);
}

/// Words of the line that are flags, without their values.
std::vector<std::string> flags_in(std::span<char* const> words) {
  std::vector<std::string> flags;
  for (const std::string_view word : words) {
    if (word == "--") break;
    if (word.starts_with("--") || word == "-o" || word == "-h") flags.emplace_back(word.substr(0, word.find('=')));
  }
  return flags;
}

bool contains(const std::vector<std::string>& flags, std::string_view flag) {
  return std::ranges::find(flags, flag) != flags.end();
}

const Way& chosen(const std::vector<Way>& ways, const std::vector<std::string>& flags) {
  const auto has_one_of = [&](const std::vector<std::string>& some) {
    return std::ranges::any_of(some, [&](const std::string& flag) { return contains(flags, flag); });
  };
  const auto is_asked_for = [&](const Way& each) {
    return !each.flags.empty() && std::ranges::all_of(each.flags, has_one_of);
  };
  const auto found = std::find_if(ways.rbegin(), ways.rend(), is_asked_for);
  return found == ways.rend() ? ways.front() : *found;
}

/// Of all ways, and those that are looked for before one is chosen.
std::vector<std::string> flags_of(const std::vector<Way>& ways) {
  std::vector<std::string> all = {"--help", "--version"};
  for (const Way& each : ways)
    for (const std::string& flag : each.app.long_flags()) all.push_back(flag);
  return all;
}

/// A flag that belongs to another way than the one that the line was taken for.
wire::Status check_flags(const std::vector<Way>& ways, const Way& taken, const std::vector<std::string>& flags) {
  for (const std::string& flag : flags) {
    if (taken.has(flag)) continue;
    std::string others;
    for (const Way& each : ways) {
      if (each.has(flag)) others += (others.empty() ? "" : ", or with ") + each.in_words();
    }
    if (others.empty()) return wire::Error{arguments::no_such_flag("sim", flag, flags_of(ways))};
    return wire::Error{fmt::format("{}: goes with {}; this was taken for {}", flag, others, taken.in_words())};
  }
  return wire::ok();
}

wire::Result<Call> take(const Way& way, int argc, char** argv) {
  CommandLine line = way.app;
  if (const auto ending = line.parse(argc, argv)) return wire::Error{ending->text};
  const auto words = line.extras();
  if (!words.empty() && words.front().starts_with('-'))
    return wire::Error{arguments::no_such_flag("sim", words.front(), line.long_flags())};
  if (!words.empty())
    return wire::Error{fmt::format("'{}': is one word too many for {}", words.front(), way.in_words())};
  return way.call();
}

}  // namespace

Parsed parse(int argc, char** argv) {
  const std::vector<Way> ways = all_ways();
  const std::vector<std::string> flags = flags_in({argv + 1, argv + argc});
  if (contains(flags, "--help") || contains(flags, "-h")) return print(help_of(ways)), Parsed{};
  if (contains(flags, "--version")) return print("idlewave " IDLEWAVE_VERSION "\n"), Parsed{};
  const Way& way = chosen(ways, flags);
  if (const wire::Status fit = check_flags(ways, way, flags); !fit) return {{}, fail(fit.error().message, 2)};
  auto call = take(way, argc, argv);
  if (!call) return {{}, fail(call.error().message, 2)};
  return {std::move(*call), 0};
}

ParsedStudy parse_study(int argc, char** argv) {
  CommandLine app{"Simulates a scenario with many values and draws what comes out", "idlewave study"};
  StudyOptions options;
  app.add("study", options.name, "Name of the study (noise-and-collectives), or a scenario file with a [study]")
      .type_name("NAME");
  app.add_flag("--list", options.list, "Name the studies");
  add_settings(app, options.settings);
  app.add("--csv", options.csv, "Also write the rows as CSV; - is stdout, without the drawing").type_name("FILE");
  app.add_flag("--json", options.json, "Print the rows as JSON instead of the drawing");
  if (const auto ending = app.parse(argc, argv)) {
    if (ending->refused) return {{}, fail(ending->text, 2)};
    return print(ending->text), ParsedStudy{};
  }
  return {std::move(options), 0};
}

}  // namespace idlewave::cli::simulation
