#include "monitor/cli/arguments.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <functional>
#include <map>
#include <type_traits>

#include "monitor/cli/inject_words.h"
#include "monitor/cli/memory_size.h"
#include "monitor/cli/order_of_noise.h"
#include "monitor/cli/paths.h"
#include "monitor/cli/run_words.h"
#include "monitor/cli/theory_sheets.h"
#include "monitor/cli/verb_table.h"
#include "monitor/cli/verbs.h"
#include "probe/arguments/command_line.h"
#include "probe/arguments/suggestion.h"
#include "probe/words/quantity.h"
#include "probe/words/window.h"
#include "workloads/support/scenario.h"

namespace idlewave::cli {
namespace {

using arguments::CommandLine;
using arguments::Option;

constexpr const char* kHeadlessFor = "--headless-for";

using Parsed = std::function<int()>;  ///< What to do once the whole line has been read.

template <class T>
T value_or_refuse(wire::Result<T> result, const std::string& flag) {
  if (!result) arguments::refuse(flag, result.error().message);
  return *result;
}

/// An option that takes one word, read by `parse`.
template <class T>
Option add_word(CommandLine& app, const std::string& flag, const char* type_name, const std::string& help,
                wire::Result<T> (*parse)(std::string_view), std::type_identity_t<std::function<void(T)>> store) {
  return app
      .add_text(
          flag, [=](const std::string& text) { store(value_or_refuse(parse(text), flag)); }, help)
      .type_name(type_name);
}

void add_duration(CommandLine& app, const std::string& flag, const std::string& help,
                  std::function<void(Nanoseconds)> store) {
  add_word(app, flag, "TIME", help, words::parse_duration, store);
}

void add_watch_options(CommandLine& app, WatchOptions& options) {
  add_word(app, "--memory", "SIZE", "Memory for the history (512MB); the oldest detail goes first", parse_memory,
           [&options](std::uint64_t bytes) { options.memory = bytes; });
}

void add_window(CommandLine& app, WatchOptions& options) {
  add_word(app, "--window", "FROM:TO", "Part of the run for the averages, as fractions (0.5:0.95)", words::parse_window,
           [&options](words::Fractions window) { options.window = window; });
}

/// Of a session that is watched.
void add_report_options(CommandLine& app, WatchOptions& options) {
  app.add_flag("--json", options.json, "With --headless: print the report as JSON to stdout");
  add_window(app, options);
}

/// A screen has stdout to itself.
void require_no_screen(const WatchOptions& options) {
  if (options.json && !options.headless) arguments::refuse("--json", "goes with --headless");
}

void add_key(CommandLine& app, std::string& key, const std::string& which) {
  app.add("--key", key, "Key file of the session, for an endpoint over tcp: " + which).type_name("FILE");
}

constexpr const char* kToWatchOrLookOn = "key.operator, or key.viewer to look on";

void add_over(CommandLine& app, std::string& over) {
  app.add(
         "--over", over,
         "Command that leads to where the session is, as in 'ssh login2' or 'srun --jobid=17 --overlap -N1 -n1'; names "
         "and key files are those over there")
      .type_name("COMMAND")
      .check([](const std::string& text) { return text.empty() ? "is empty: 'ssh login2' is accepted" : ""; });
}

void add_agents_over(CommandLine& app, std::string& over) {
  app.add(
         "--agents-over", over,
         "Where agents on other nodes can't reach a port here: command that leads to one of them, as in 'ssh' or 'srun "
         "--overlap -N1 -n1 -w {}'; {} is the node, else it is put behind")
      .type_name("COMMAND")
      .check([](const std::string& text) { return text.empty() ? "is empty: 'ssh' is accepted" : ""; });
}

constexpr const char* kWhereItIsFound =
    "With --over the command is started with `idlewave carry` behind it: idlewave is found over there by PATH, or "
    "where the command says, which may end with its path (--over 'ssh login2 /opt/idlewave/bin/idlewave').";

void add_size(CommandLine& app, WatchOptions& options) {
  add_word(app, "--size", "COLUMNSxROWS", "Size of the printed screen", words::parse_screen_size,
           [&options](words::ScreenSize size) {
             options.size = {size.columns, size.rows};
           });
}

/// The same for every verb that watches. `--headless 10s` arrives as `--headless-for 10s`: words_of().
void add_headless(CommandLine& app, WatchOptions& options) {
  app.add_flag(
      "--headless", options.headless,
      "Without a terminal, until the session ends or for so long (--headless 10s); then the last screen goes to "
      "stderr");
  app.add_text(
         kHeadlessFor,
         [&options](const std::string& text) {
           options.headless = true;
           options.headless_for = value_or_refuse(words::parse_duration(text), "--headless");
         },
         "")
      .hide();
}

wire::Result<support::Machine> load_machine(std::string_view path) { return support::load_machine(path); }

void add_demo(CommandLine& app, DemoOptions& o, int (*demo)(const DemoOptions&), Parsed& parsed) {
  CommandLine verb = app.verb("demo");
  verb.add("lesson", o.lesson, "Name of the lesson (memory-bound)").type_name("NAME");
  verb.add_flag("--list", o.list, "Name the lessons");
  verb.add_flag("--simulated", o.simulated,
                "With simulated ranks instead of MPI ranks: thousands of them, and no MPI is needed");
  add_word(verb, "--machine", "FILE",
           "On domains and bandwidths of this file, which `idlewave calibrate` writes, instead of the lesson's",
           load_machine, [&o](const support::Machine& machine) { o.machine = support::settings_of(machine); });
  verb.add_int(
          "--ranks", [&o](Rank n) { o.ranks = n; }, "Number of ranks")
      .within(1, 100000);
  verb.add_int(
          "--ranks-per-domain", [&o](Rank n) { o.ranks_per_domain = n; }, "Ranks on each virtual socket")
      .within(1, 100000);
  verb.add_int64(
          "--steps", [&o](std::int64_t n) { o.steps = n; }, "End after so many steps")
      .within(std::int64_t(1), std::int64_t(1) << 40);
  add_headless(verb, o);
  verb.add("--record", o.record, "Record the session").type_name("FILE");
  add_watch_options(verb, o);
  add_report_options(verb, o);
  add_size(verb, o);
  verb.add("--answers", o.answers, "Write what was answered and measured into this file, as JSON").type_name("FILE");
  verb.footer(
      "On a screen the lesson asks, and you press the keys. With --headless it answers and orders by itself, as theory "
      "has it, and exits with 0 only if every effect was seen; with a time (--headless 10s) or --steps the delays of "
      "the scenario are ordered, and nothing is asked.");
  verb.then([&o, &parsed, demo] {
    require_no_screen(o);
    parsed = [&o, demo] { return demo(o); };
  });
}

/// What goes to the ranks and their agents.
void add_what_ranks_are_told(CommandLine& verb, RunOptions& o) {
  add_word(verb, "--step-at", "CALL",
           "In programs that do not name their steps a step begins when this MPI function returns, as in MPI_Allreduce",
           waiting_call, [&o](const std::string& call) { o.step_at = call; });
  add_word(verb, "--likwid-group", "NAME",
           "Where counters can be read: tell what this group of LIKWID counts, as in MEM_DP, FLOPS_DP (memory "
           "bandwidth alone); none: leave the counters to others",
           likwid_group, [&o](const std::string& group) { o.likwid_group = group; });
  add_word(verb, "--machine", "FILE",
           "Where ranks do not say what their sockets can do: as this file, which `idlewave calibrate` writes",
           domain_curve_of, [&o](const std::string& curve) { o.domain_curve = curve; });
  verb.add_flag("--no-preload", o.no_preload, "Do not watch programs that never call idlewave_start");
  verb.add_flag("--allow-inject", o.allow_inject, "Let operators hold ranks (keys i, n; idlewave inject)");
}

void add_run(CommandLine& app, RunOptions& o, Parsed& parsed) {
  CommandLine verb = app.verb("run");
  verb.add("command", o.command, "Launcher and program, after --").required();
  add_headless(verb, o);
  verb.add("--record", o.record, "Record the session").type_name("FILE");
  const std::map<std::string, int> kinds = {{"auto", int(host::MpiChoice::kAuto)},
                                            {"openmpi", int(host::MpiChoice::kOpenMpi)},
                                            {"mpich", int(host::MpiChoice::kMpich)}};
  verb.add_choice(
      "--mpi", kinds, [&o](int kind) { o.mpi = host::MpiChoice(kind); }, "Whose launcher it is");
  verb.add("--listen", o.listen,
           "Where the agents connect to, as in tcp://*:5555 (a socket of this node; any port over tcp where the "
           "launcher starts ranks on others)")
      .type_name("ENDPOINT");
  add_agents_over(verb, o.agents_over);
  verb.add("--session", o.session, "Name of the session").type_name("NAME");
  verb.add("--output", o.output, "Write what the program prints into this file").type_name("FILE");
  verb.add("--report", o.report, "Write the report as JSON into this file").type_name("FILE");
  add_what_ranks_are_told(verb, o);
  const Option selftest = verb.add_flag(
      "--selftest", o.selftest,
      "Instead: say what watching costs, by runs without us and with us in turns; the program reads nothing, "
      "and what it prints goes to --output or nowhere");
  verb.add("--turns", o.turns, "Of --selftest: so many runs of each (5)")
      .type_name("N")
      .needs(selftest)
      .within(1, 10'000);
  add_watch_options(verb, o);
  add_report_options(verb, o);
  add_size(verb, o);
  verb.footer(
      "The program has its streams, its signals and its exit code as without us; with --headless --json its standard "
      "output goes to standard error, unless --report or --output says where. It goes on when this program is ended or "
      "the terminal is closed, and so does the recording. Exit codes: the program's; 125 if it was fine and something "
      "of ours failed; 127 or 126 if it could not be started.");
  verb.then([&] {
    if (!o.selftest) require_no_screen(o);
    if (!o.selftest && !o.report.empty()) o.json = false;  // It goes into the file instead.
    if (!o.agents_over.empty() && !o.listen.empty())
      arguments::refuse("--agents-over", "needs no port, and --listen opens one: say one of them");
    parsed = [&o] { return run(o); };
  });
}

void add_attach(CommandLine& app, AttachOptions& o, Parsed& parsed) {
  CommandLine verb = app.verb("attach");
  verb.add(
      "endpoint", o.endpoint,
      "Its name, if it runs on this node or has said in your home where it runs, or an endpoint; nothing: list them");
  add_key(verb, o.key, kToWatchOrLookOn);
  add_over(verb, o.over);
  verb.add_flag("--view", o.view_only, "As a spectator, who can't inject");
  add_headless(verb, o);
  verb.add("--record", o.record, "Record the session").type_name("FILE");
  add_watch_options(verb, o);
  add_report_options(verb, o);
  add_size(verb, o);
  verb.footer(fmt::format(
      "{}\n\nExit code with --headless: 0; 1 if the session is lost, or has ended and something of it is missing "
      "since it was joined.",
      kWhereItIsFound));
  verb.then([&] {
    require_no_screen(o);
    parsed = [&o] { return attach(o); };
  });
}

void add_carry(CommandLine& app, CarryOptions& o, Parsed& parsed) {
  CommandLine verb = app.verb("carry");
  verb.add("session", o.session, "Name or endpoint; may be left out if only one runs on this node")
      .type_name("SESSION");
  add_key(verb, o.key, kToWatchOrLookOn);
  verb.add_flag("--view", o.view_only, "Whoever is at the other end may only look on");
  verb.add_flag("--agents", o.agents, "").hide();
  verb.add("--dir", o.directory, "").hide();
  verb.footer("Standard input and output are those of 'idlewave attach --over', 'record --over' or 'inject --over'.");
  verb.then([&] {
    if (o.agents && o.session.empty()) arguments::refuse("--agents", "goes with the name of the session");
    parsed = [&o] { return carry(o); };
  });
}

void add_record(CommandLine& app, RecordOptions& o, Parsed& parsed) {
  CommandLine verb = app.verb("record");
  verb.add("file", o.path, "Where to").type_name("FILE").required();
  verb.add("command", o.command, "Launcher and program, after --; nothing: a session that runs is joined");
  verb.add("--session", o.session, "Name of the session; of one that runs, where no program is started")
      .type_name("NAME");
  add_over(verb, o.over);
  add_agents_over(verb, o.agents_over);
  verb.footer(
      "Until the program, or the session, has ended; for batch scripts and steps of a job. Exit codes are those of "
      "run --headless, or of attach --headless.");
  verb.then([&] {
    if (!o.command.empty() && !o.over.empty())
      arguments::refuse("--over", "leads to a session that runs, named by --session; a program is started here");
    if (o.command.empty() && !o.agents_over.empty())
      arguments::refuse("--agents-over", "leads to nodes of a program that is started here, after --");
    if (o.command.empty() && o.session.empty())
      arguments::refuse("record", "say what: --session NAME for one that runs, or a launcher and its program after --");
    parsed = [&o] { return record(o); };
  });
}

void add_replay(CommandLine& app, ReplayOptions& o, Parsed& parsed) {
  CommandLine verb = app.verb("replay");
  verb.add("file", o.path, "Session file").required();
  verb.add("--speed", o.speed, "How fast (1)").within(0.001, 1e6);
  add_duration(verb, "--from", "Begin at this time", [&o](Nanoseconds t) { o.from = t; });
  add_headless(verb, o);
  const Option once = verb.add_flag("--once", o.once, "Print one screen as text and exit");
  add_duration(verb, "--at", "With --once: the time of the screen (the end)", [&o](Nanoseconds t) { o.at = t; });
  verb.add_flag("--colour,--color", o.colour, "With --once: in colours, for a terminal with 256 of them").needs(once);
  verb.add_flag("--ghost", o.ghost, "Begin with the map of where ranks leave the program's model (key G)");
  add_watch_options(verb, o);
  add_size(verb, o);
  verb.then([&] {
    if (o.at && !o.once) arguments::refuse("--at", "goes with --once; --from says where a replay begins");
    parsed = [&o] { return replay(o); };
  });
}

void add_inject(CommandLine& app, InjectOptions& o, InjectWords& words, Parsed& parsed) {
  CommandLine verb = app.verb("inject");
  verb.add("--session", o.session, "Name or endpoint; may be left out if only one runs on this node")
      .type_name("SESSION");
  add_key(verb, o.key, "key.operator");
  add_over(verb, o.over);
  add_word(verb, "--ranks", "RANKS", "Ranks, as in 5 or 0-9,20", ranks_in,
           [&words](std::vector<Rank> ranks) { words.ranks = std::move(ranks); });
  const Option delay = add_word(verb, "--delay", "TIME", "Hold them once for so long", delay_in,
                                [&words](wire::DelayOrder order) { words.delay = order; });
  verb.add("--at-step", words.at_step, "With --delay: before the work of this step")
      .needs(delay)
      .within(wire::Step(0), wire::Step(wire::kMaxEventValue));
  verb.add("--in-steps", words.in_steps,
           "With --delay: before the work of the n-th step from now (1: the next); without steps, at the "
           "n-th return to its work")
      .needs(delay)
      .within(1, std::numeric_limits<std::int32_t>::max());
  add_word(verb, "--noise", "KIND",
           "Noise from now on: exp:0.5ms, periodic:2.5ms@10Hz or trace:FILE; all ranks unless --ranks is given",
           read_order_of_noise, [&words](wire::NoiseOrder noise) { words.noise = std::move(noise); });
  verb.add_flag("--clear", words.clear,
                "End noise and delays, and let go of ranks that are held now; all ranks unless --ranks is given");
  verb.footer(
      "Exit code: 0 if the order was accepted; 1 if it was refused, or not answered within 5 s; 2 for a wrong call.");
  verb.then([&] {
    o.command = command_of(words);
    parsed = [&o] { return inject(o); };
  });
}

void add_file_verbs(CommandLine& app, FileOptions& o, Parsed& parsed) {
  CommandLine information = app.verb("info");
  information.add("file", o.path, "Session file").required();
  information.add_flag("--json", o.json, "As JSON");
  information.add_flag("--check", o.check,
                       "Exit with 0 only if the recording is complete; else say what is missing and exit with 1");
  information.then([&] { parsed = [&o] { return info(o); }; });

  CommandLine verb = app.verb("report");
  verb.add("file", o.path, "Session file").required();
  verb.add_flag("--ghost", o.ghost, "Also where ranks left the program's model, and what it would have taken");
  verb.add_flag("--json", o.json, "Print the report as JSON to stdout");
  add_window(verb, o);
  add_watch_options(verb, o);
  verb.then([&] { parsed = [&o] { return report(o); }; });
}

void add_theory(CommandLine& app, TheoryOptions& o, Parsed& parsed) {
  CommandLine verb = app.verb("theory");
  verb.add("name", o.name,
           fmt::format("Which formula: {}; nothing: say what each is, and its other name", sheet_names()))
      .type_name("NAME");
  verb.add_texts(
          "given",
          [&o](const std::vector<std::string>& words) {
            for (const std::string& word : words) {
              const auto equals = word.find('=');
              if (equals == std::string::npos)
                arguments::refuse("given", fmt::format("\"{}\" gives nothing: KEY=VALUE is what is accepted", word));
              const std::string key = word.substr(0, equals), value = word.substr(equals + 1);
              const auto [given, is_first] = o.given.emplace(key, value);
              if (!is_first) arguments::refuse(key, fmt::format("is given twice, as {} and {}", given->second, value));
            }
          },
          "Other figures than the paper's")
      .type_name("KEY=VALUE");
  verb.add_flag("--json", o.json, "As JSON, in seconds, bytes and flop");
  verb.then([&] { parsed = [&o] { return theory(o); }; });
}

bool is_verb_or_flag(std::string_view word) {
  const auto all = verb_table();
  return word.starts_with('-') ||
         std::any_of(all.begin(), all.end(), [word](const Verb& verb) { return verb.name == word; });
}

/// The words of the line, last first. What stands behind --headless is its time if it begins like one, else
/// the name of something.
std::vector<std::string> words_of(int argc, char** argv) {
  std::vector<std::string> words(argv + 1, argv + argc);
  const auto end = std::find(words.begin(), words.end(), "--");
  for (auto word = words.begin(); word != end; ++word) {
    const auto next = word + 1;
    const bool has_time = next != end && !next->empty() && std::isdigit(static_cast<unsigned char>(next->front()));
    if (word->starts_with("--headless=") || (*word == "--headless" && has_time))
      word->replace(0, std::string_view("--headless").size(), kHeadlessFor);
  }
  std::reverse(words.begin(), words.end());
  return words;
}

/// A refusal of --headless-for, which has no name where the help does not show it.
std::string as_typed(std::string refusal) {
  const bool is_named = refusal.starts_with(kHeadlessFor);
  if (is_named) refusal.erase(0, std::string_view(kHeadlessFor).size());
  return is_named || refusal.starts_with(":") ? "--headless" + refusal : refusal;
}

/// What the verb can't do without; empty if that is there.
std::string missing_word(const CommandLine& app, const std::string& refusal) {
  const auto given = app.verbs_given();
  if (given.empty() || !refusal.ends_with(" is required")) return "";
  return fmt::format("{}: {}; 'idlewave {} --help' says what that is", given.front().name(), refusal,
                     given.front().name());
}

/// Where a flag that is like none of ours may belong, or what there is.
std::string place_of_strange_flags(const CommandLine& app) {
  const auto given = app.verbs_given();
  if (given.empty()) return "; 'idlewave --help' lists what can be done";
  const std::string verb = given.front().name();
  return verb == "run" || verb == "record" ? "; the program and its own flags stand after --" : "";
}

/// Of all verbs; those of one that is not given stay as they are.
struct Options {
  DemoOptions demo;
  RunOptions run;
  AttachOptions attach;
  RecordOptions record;
  CarryOptions carry;
  ReplayOptions replay;
  InjectOptions inject;
  InjectWords inject_words;
  FileOptions file;
  TheoryOptions theory;
};

void add_verbs(CommandLine& app, Options& o, int (*demo)(const DemoOptions&), Parsed& parsed) {
  for (const Verb& verb : verb_table()) app.add_verb(verb.name, verb.does);
  add_demo(app, o.demo, demo, parsed);
  add_run(app, o.run, parsed);
  add_attach(app, o.attach, parsed);
  add_record(app, o.record, parsed);
  add_carry(app, o.carry, parsed);
  add_replay(app, o.replay, parsed);
  add_inject(app, o.inject, o.inject_words, parsed);
  add_file_verbs(app, o.file, parsed);
  add_theory(app, o.theory, parsed);
  CommandLine diagnosis = app.verb("doctor");
  diagnosis.footer("Exit code: 0; 1 if something is broken.");
  diagnosis.then([&] { parsed = doctor; });
}

/// Where the line is not to be followed: help was asked for, or it is refused.
int end_without_verb(const CommandLine& app, const arguments::Ending& ending) {
  if (!ending.refused) return print(ending.text), 0;
  if (ending.is_strange) return fail(ending.text + place_of_strange_flags(app), 2);
  const std::string missing = missing_word(app, ending.text);
  return fail(!missing.empty() ? missing : as_typed(ending.text), 2);
}

}  // namespace

int dispatch(int argc, char** argv, int (*demo)(const DemoOptions&)) {
  if (argc < 2)
    return fail("say what to do: 'idlewave demo' starts a lesson, 'idlewave --help' lists all that can be done", 2);
  if (is_companion(argv[1])) return run_companion(argv + 1);
  if (!is_verb_or_flag(argv[1]))
    return fail(fmt::format("there is no verb '{}'{}; 'idlewave --help' lists them", argv[1], verb_meant_by(argv[1])),
                2);

  CommandLine app{
      "A live terminal monitor for MPI programs: rank against time, active processes against the saturation point, and "
      "delays by a key",
      "idlewave"};
  app.add_version(std::string("idlewave ") + IDLEWAVE_VERSION);
  app.require_one_verb();
  Parsed parsed;
  Options options;
  add_verbs(app, options, demo, parsed);
  if (const auto ending = app.parse(words_of(argc, argv))) return end_without_verb(app, *ending);
  // A program of its own has no flags here, and was not found.
  if (!parsed) return fail(fmt::format("idlewave-{} does not lie beside idlewave: run scripts/build", argv[1]), 1);
  return parsed();
}

}  // namespace idlewave::cli
