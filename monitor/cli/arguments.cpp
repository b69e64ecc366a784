#include "monitor/cli/arguments.h"

#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <functional>
#include <type_traits>

#include "monitor/cli/paths.h"
#include "monitor/cli/verbs.h"
#include "probe/wire/printable.h"
#include "probe/words/noise.h"
#include "probe/words/quantity.h"
#include "probe/words/ranks.h"
#include "probe/words/window.h"

namespace idlewave::cli {
namespace {

using Parsed = std::function<int()>;  ///< What to do once the whole line has been read.

template <class T>
T value_or_throw(wire::Result<T> result, const std::string& flag) {
  if (!result) throw CLI::ValidationError(flag, result.error().message);
  return *result;
}

/// An option that takes one word, read by `parse`.
template <class T>
void add_word(CLI::App& app, const std::string& flag, const char* type_name, const std::string& help,
              wire::Result<T> (*parse)(std::string_view), std::type_identity_t<std::function<void(T)>> store) {
  app.add_option_function<std::string>(
         flag, [=](const std::string& text) { store(value_or_throw(parse(text), flag)); }, help)
      ->type_name(type_name);
}

void add_duration(CLI::App& app, const std::string& flag, const std::string& help,
                  std::function<void(Nanoseconds)> store) {
  add_word(app, flag, "TIME", help, words::parse_duration, store);
}

void add_watch_options(CLI::App& app, WatchOptions& options) {
  add_word(app, "--memory", "SIZE", "Memory for the history (512MB); the oldest detail goes first", words::parse_bytes,
           [&options](std::uint64_t bytes) { options.memory = bytes; });
}

void add_report_options(CLI::App& app, WatchOptions& options) {
  app.add_flag("--json", options.json, "Print the report as JSON to stdout");
  add_word(app, "--window", "FROM:TO", "Part of the run for the averages, as fractions (0.5:0.95)", words::parse_window,
           [&options](words::Fractions window) { options.window = window; });
}

void add_key(CLI::App& app, std::string& key) {
  app.add_option("--key", key,
                 "Key file of the session, for an endpoint over tcp: key.operator, or key.viewer to look on")
      ->type_name("FILE");
}

void add_size(CLI::App& app, WatchOptions& options) {
  add_word(app, "--size", "COLUMNSxROWS", "Size of the printed screen", words::parse_screen_size,
           [&options](words::ScreenSize size) {
             options.size = {size.columns, size.rows};
           });
}

void add_demo(CLI::App& app, DemoOptions& o, Parsed& parsed) {
  CLI::App* verb = app.add_subcommand("demo", "Start a lesson: real MPI ranks, the live monitor, and what to look for");
  verb->add_option("lesson", o.lesson, "Name of the lesson (memory-bound)")->type_name("NAME");
  verb->add_flag("--list", o.list, "Name the lessons");
  verb->add_flag("--simulated", o.simulated,
                 "With simulated ranks instead of MPI ranks: thousands of them, and no MPI is needed");
  verb->add_option_function<Rank>(
          "--ranks", [&o](Rank n) { o.ranks = n; }, "Number of MPI ranks")
      ->check(CLI::Range(1, 100000));
  verb->add_option_function<Rank>(
          "--ranks-per-domain", [&o](Rank n) { o.ranks_per_domain = n; }, "Ranks on each virtual socket")
      ->check(CLI::Range(1, 100000));
  verb->add_option_function<std::int64_t>(
          "--steps", [&o](std::int64_t n) { o.steps = n; }, "End after so many steps")
      ->check(CLI::Range(std::int64_t(1), std::int64_t(1) << 40));
  add_duration(*verb, "--headless", "Run so long without a terminal; the delay of the lesson is injected by itself",
               [&o](Nanoseconds t) { o.headless = t; });
  verb->add_option("--record", o.record, "Record the session")->type_name("FILE");
  add_watch_options(*verb, o);
  add_report_options(*verb, o);
  add_size(*verb, o);
  verb->callback([&] { parsed = [&o] { return demo(o); }; });
}

void add_run(CLI::App& app, RunOptions& o, Parsed& parsed) {
  CLI::App* verb =
      app.add_subcommand("run", "Start an MPI program under the monitor: idlewave run -- mpirun -n 8 ./a.out");
  verb->add_option("command", o.command, "Launcher and program, after --")->required();
  verb->add_flag("--headless", o.headless,
                 "Without a terminal; print the last screen to stderr when the program has ended");
  verb->add_option("--record", o.record, "Record the session")->type_name("FILE");
  const std::map<std::string, MpiChoice> kinds = {
      {"auto", MpiChoice::kAuto}, {"openmpi", MpiChoice::kOpenMpi}, {"mpich", MpiChoice::kMpich}};
  verb->add_option("--mpi", o.mpi, "Whose launcher it is: auto, openmpi, mpich")
      ->transform(CLI::CheckedTransformer(kinds));
  verb->add_option("--listen", o.listen, "Where the agents connect to (a socket of this node), as in tcp://*:5555")
      ->type_name("ENDPOINT");
  verb->add_option("--session", o.session, "Name of the session")->type_name("NAME");
  verb->add_option("--output", o.output, "Write what the program prints into this file")->type_name("FILE");
  verb->add_option("--report", o.report, "Write the report as JSON into this file")->type_name("FILE");
  verb->add_flag("--allow-inject", o.allow_inject, "Let operators hold ranks (keys i, n; idlewave inject)");
  add_watch_options(*verb, o);
  add_report_options(*verb, o);
  add_size(*verb, o);
  verb->footer(
      "The program has its streams, its signals and its exit code as without us; with --json its standard output goes "
      "to standard error. It goes on when this "
      "program is ended or the terminal is closed, and so does the recording. Exit codes: the program's; 125 if it was "
      "fine and something of ours failed; 127 or 126 "
      "if it could not be started.");
  verb->callback([&] { parsed = [&o] { return run(o); }; });
}

void add_attach(CLI::App& app, AttachOptions& o, Parsed& parsed) {
  CLI::App* verb = app.add_subcommand("attach", "Join a session that is already running");
  verb->add_option("endpoint", o.endpoint,
                   "Endpoint of its agent, or its name if it runs on this node; nothing: list what runs here");
  add_key(*verb, o.key);
  verb->add_flag("--view", o.view_only, "As a spectator, who can't inject");
  verb->add_flag("--headless", o.headless, "Without a terminal; until the program has ended");
  verb->add_option("--record", o.record, "Record the session")->type_name("FILE");
  add_watch_options(*verb, o);
  add_report_options(*verb, o);
  add_size(*verb, o);
  verb->callback([&] { parsed = [&o] { return attach(o); }; });
}

void add_replay(CLI::App& app, ReplayOptions& o, Parsed& parsed) {
  CLI::App* verb = app.add_subcommand("replay", "Play a recorded session");
  verb->add_option("file", o.path, "Session file")->required();
  verb->add_option("--speed", o.speed, "How fast (1)")->check(CLI::Range(0.001, 1e6));
  add_duration(*verb, "--from", "Begin at this time", [&o](Nanoseconds t) { o.from = t; });
  verb->add_flag("--once", o.once, "Print one screen as text and exit");
  add_duration(*verb, "--at", "With --once: the time of the screen (the end)", [&o](Nanoseconds t) { o.at = t; });
  verb->add_flag("--colour,--color", o.colour, "With --once: in colours, for a terminal with 256 of them");
  add_watch_options(*verb, o);
  add_size(*verb, o);
  verb->callback([&] {
    if (o.at && !o.once) throw CLI::ValidationError("--at", "goes with --once; --from says where a replay begins");
    parsed = [&o] { return replay(o); };
  });
}

/// What `inject` was told, before it is one command.
struct InjectWords {
  std::vector<Rank> ranks;
  std::optional<wire::DelayOrder> delay;
  std::optional<wire::NoiseOrder> noise;
  std::int64_t at_step = wire::kNoStep;
  bool clear = false;
};

wire::Result<std::vector<Rank>> ranks_in(std::string_view text) {
  const auto ranges = words::parse_ranks(text);
  if (!ranges) return ranges.error();
  return words::each_of(*ranges);
}

wire::Result<wire::DelayOrder> delay_in(std::string_view text) {
  const auto duration = words::parse_hold(text);
  if (!duration) return duration.error();
  return wire::DelayOrder{.duration = *duration};
}

wire::Command command_of(const InjectWords& words) {
  if (int(words.delay.has_value()) + int(words.noise.has_value()) + int(words.clear) != 1) {
    throw CLI::ValidationError("inject", "say one of --delay TIME, --noise KIND or --clear");
  }
  if (words.delay && words.ranks.empty()) throw CLI::ValidationError("--ranks", "a delay needs ranks, as in --ranks 5");
  wire::Command command;
  command.ranks = words.ranks;
  if (words.delay) command.order = wire::DelayOrder{words.delay->duration, words.at_step};
  if (words.noise) command.order = *words.noise;
  if (words.clear) command.order = wire::ClearOrder{};
  return command;
}

void add_inject(CLI::App& app, InjectOptions& o, InjectWords& words, Parsed& parsed) {
  CLI::App* verb = app.add_subcommand("inject", "Hold ranks of a running session, as the keys do");
  verb->add_option("--session", o.session, "Name or endpoint; may be left out if only one runs on this node")
      ->type_name("SESSION");
  add_key(*verb, o.key);
  add_word(*verb, "--ranks", "RANKS", "Ranks, as in 5 or 0-9,20", ranks_in,
           [&words](std::vector<Rank> ranks) { words.ranks = std::move(ranks); });
  add_word(*verb, "--delay", "TIME", "Hold them once for so long", delay_in,
           [&words](wire::DelayOrder delay) { words.delay = delay; });
  verb->add_option("--at-step", words.at_step, "With --delay: before the work of this step")
      ->check(CLI::NonNegativeNumber);
  add_word(*verb, "--noise", "KIND",
           "Noise from now on: exp:0.5ms or periodic:2.5ms@10Hz; all ranks unless --ranks is given",
           words::parse_order_of_noise, [&words](wire::NoiseOrder noise) { words.noise = noise; });
  verb->add_flag("--clear", words.clear, "End all noise and all delays, and let go of ranks that are held now");
  verb->callback([&] {
    o.command = command_of(words);
    parsed = [&o] { return inject(o); };
  });
}

void add_file_verbs(CLI::App& app, FileOptions& o, Parsed& parsed) {
  CLI::App* information = app.add_subcommand("info", "What is in a session file");
  information->add_option("file", o.path, "Session file")->required();
  information->add_flag("--json", o.json, "As JSON");
  information->add_flag("--check", o.check,
                        "Exit with 0 only if the recording is complete; else say what is missing and exit with 1");
  information->callback([&] { parsed = [&o] { return info(o); }; });

  CLI::App* verb = app.add_subcommand("report", "What happened in a recorded session");
  verb->add_option("file", o.path, "Session file")->required();
  add_report_options(*verb, o);
  add_watch_options(*verb, o);
  verb->callback([&] { parsed = [&o] { return report(o); }; });
}

}  // namespace

int dispatch(int argc, char** argv) {
  if (argc > 1 && is_companion(argv[1])) return run_companion(argv + 1);

  CLI::App app{
      "A live terminal monitor for MPI programs: rank against time, active processes against the saturation point, and "
      "delays by a key",
      "idlewave"};
  app.set_version_flag("--version", std::string("idlewave ") + IDLEWAVE_VERSION);
  app.require_subcommand(1);
  app.failure_message([](const CLI::App*, const CLI::Error& error) {
    return fmt::format("idlewave: {}\n", wire::printable(error.what()));
  });
  Parsed parsed;
  DemoOptions demo_options;
  RunOptions run_options;
  AttachOptions attach_options;
  ReplayOptions replay_options;
  InjectOptions inject_options;
  InjectWords inject_words;
  FileOptions file_options;
  add_demo(app, demo_options, parsed);
  add_run(app, run_options, parsed);
  add_attach(app, attach_options, parsed);
  add_replay(app, replay_options, parsed);
  add_inject(app, inject_options, inject_words, parsed);
  add_file_verbs(app, file_options, parsed);
  // Those of `monitor/cli/simulation`, which read their own command lines.
  app.add_subcommand("sim", "Simulate a scenario, a schedule, or the program of a recorded session");
  app.add_subcommand("study", "Simulate a scenario with many values and draw what comes out");
  app.add_subcommand("doctor", "What works here, what does not, and how to mend it")->callback([&] {
    parsed = doctor;
  });

  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  }
  return parsed();
}

}  // namespace idlewave::cli
