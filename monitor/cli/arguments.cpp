#include "monitor/cli/arguments.h"

#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <functional>

#include "monitor/cli/paths.h"
#include "monitor/cli/verbs.h"
#include "probe/wire/printable.h"
#include "workloads/support/quantity.h"

namespace idlewave::cli {
namespace {

using Parsed = std::function<int()>;  ///< What to do once the whole line has been read.

template <class T>
T value_or_throw(wire::Result<T> result, const std::string& flag) {
  if (!result) throw CLI::ValidationError(flag, result.error().message);
  return *result;
}

void add_duration(CLI::App& app, const std::string& flag, const std::string& help,
                  std::function<void(Nanoseconds)> store) {
  app.add_option_function<std::string>(
         flag, [flag, store](const std::string& text) { store(value_or_throw(support::parse_duration(text), flag)); },
         help)
      ->type_name("TIME");
}

view::Size parse_size(const std::string& text) {
  int columns = 0, rows = 0, used = 0;
  const bool good =
      std::sscanf(text.c_str(), "%dx%d%n", &columns, &rows, &used) == 2 && std::size_t(used) == text.size();
  if (!good || columns < 1 || rows < 1 || columns > 1000 || rows > 1000) {
    throw CLI::ValidationError("--size",
                               fmt::format("'{}': accepted is COLUMNSxROWS from 1x1 to 1000x1000, as in 160x48", text));
  }
  return {columns, rows};
}

std::vector<Rank> parse_ranks(const std::string& text) {
  std::vector<Rank> ranks;
  for (const std::string& part : CLI::detail::split(text, ',')) {
    Rank first = 0, last = 0;
    int used = 0;
    const bool range =
        std::sscanf(part.c_str(), "%d-%d%n", &first, &last, &used) == 2 && std::size_t(used) == part.size();
    if (!range) {
      used = 0;
      if (std::sscanf(part.c_str(), "%d%n", &first, &used) != 1 || std::size_t(used) != part.size()) used = 0;
      last = first;
    }
    if (used == 0 || first < 0 || last < first || last >= wire::kMaxRanks) {
      throw CLI::ValidationError("--ranks",
                                 fmt::format("'{}': accepted are ranks and ranges, as in 5 or 0-9,20", text));
    }
    if (ranks.size() + std::size_t(last - first) >= std::size_t(wire::kMaxRanks)) {
      throw CLI::ValidationError("--ranks", fmt::format("more than {} ranks; name each once", wire::kMaxRanks));
    }
    for (Rank rank = first; rank <= last; ++rank) ranks.push_back(rank);
  }
  return ranks;
}

wire::NoiseOrder parse_noise(const std::string& text) {
  const std::size_t colon = text.find(':'), at = text.find('@');
  const std::string kind = text.substr(0, colon);
  if (colon != std::string::npos && kind == "exp") {
    return {wire::NoiseKind::kExponential, value_or_throw(support::parse_duration(text.substr(colon + 1)), "--noise"),
            0};
  }
  if (colon != std::string::npos && kind == "periodic" && at != std::string::npos && at > colon) {
    return {wire::NoiseKind::kPeriodic,
            value_or_throw(support::parse_duration(text.substr(colon + 1, at - colon - 1)), "--noise"),
            value_or_throw(support::parse_frequency(text.substr(at + 1)), "--noise")};
  }
  throw CLI::ValidationError(
      "--noise",
      fmt::format("'{}': accepted are exp:MEAN and periodic:DURATION@FREQUENCY, as in exp:0.5ms or periodic:2.5ms@10Hz",
                  text));
}

void add_watch_options(CLI::App& app, WatchOptions& options) {
  app.add_option_function<std::string>(
         "--memory",
         [&options](const std::string& text) {
           options.memory = value_or_throw(support::parse_bytes(text), "--memory");
         },
         "Memory for the history (512MB); the oldest detail goes first")
      ->type_name("SIZE");
}

void add_report_options(CLI::App& app, WatchOptions& options) {
  app.add_flag("--json", options.json, "Print the report as JSON to stdout");
  app.add_option_function<std::string>(
         "--window",
         [&options](const std::string& text) { options.window = value_or_throw(parse_window(text), "--window"); },
         "Part of the run for the averages, as fractions (0.5:0.95)")
      ->type_name("FROM:TO");
}

void add_key(CLI::App& app, std::string& key) {
  app.add_option("--key", key,
                 "Key file of the session, for an endpoint over tcp: key.operator, or key.viewer to look on")
      ->type_name("FILE");
}

void add_size(CLI::App& app, WatchOptions& options) {
  app.add_option_function<std::string>(
         "--size", [&options](const std::string& text) { options.size = parse_size(text); },
         "Size of the printed screen")
      ->type_name("COLUMNSxROWS");
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
  verb->add_option_function<std::string>(
          "--ranks", [&words](const std::string& text) { words.ranks = parse_ranks(text); }, "Ranks, as in 5 or 0-9,20")
      ->type_name("RANKS");
  add_duration(*verb, "--delay", "Hold them once for so long", [&words](Nanoseconds t) {
    words.delay = wire::DelayOrder{t, wire::kNoStep};
  });
  verb->add_option("--at-step", words.at_step, "With --delay: before the work of this step")
      ->check(CLI::NonNegativeNumber);
  verb->add_option_function<std::string>(
          "--noise", [&words](const std::string& text) { words.noise = parse_noise(text); },
          "Noise from now on: exp:0.5ms or periodic:2.5ms@10Hz; all ranks unless --ranks is given")
      ->type_name("KIND");
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
