#include "monitor/cli/lessons/demo.h"

#include <fmt/format.h>

#include <cstdio>

#include "monitor/analysis/plural.h"
#include "monitor/cli/lessons/answers.h"
#include "monitor/cli/lessons/commands.h"
#include "monitor/cli/lessons/list.h"
#include "monitor/cli/lessons/play.h"
#include "monitor/cli/lessons/student.h"
#include "monitor/cli/simulation/simulated_link.h"
#include "monitor/cli/verbs.h"
#include "monitor/cli/watching.h"
#include "monitor/host/launcher.h"
#include "monitor/host/names.h"
#include "monitor/host/programs.h"
#include "monitor/host/session.h"
#include "probe/signals/stop_signals.h"
#include "probe/wire/printable.h"

namespace idlewave::cli::lessons {
namespace {

/// After the launcher has ended, its agents may still have something to say.
constexpr Nanoseconds kPatienceForAgents = std::chrono::seconds(3);
constexpr Nanoseconds kRound = std::chrono::milliseconds(50);
constexpr const char* kNoEndInSight = "program.steps=1000000";

/// Simulated ranks that take no orders are held when their scenario says so; others when they are told.
bool takes_orders(const Play& play, const DemoOptions& options) {
  return !options.simulated || simulation::takes_orders(play.scenario);
}

/// What an operator would do with `i`: without one, the scenario's delays are ordered as soon as all ranks have joined,
/// each for its step.
class LessonDelays {
 public:
  LessonDelays(Monitor& monitor, const support::Scenario& scenario) : monitor_(monitor), scenario_(scenario) {}

  void order_when_ready(Nanoseconds now) {
    if (ordered_ || !all_have_stepped()) return;
    ordered_ = true;
    for (const support::Delay& delay : scenario_.delays) {
      wire::Command command;
      command.ranks = {delay.rank};
      command.order =
          wire::DelayOrder{delay.duration, std::max(delay.step, monitor_.observer().timeline().latest_step() + 1)};
      const auto sent = monitor_.send(std::move(command), now);
      if (!sent) fail("the lesson's delay could not be sent: " + sent.error().message, 0);
    }
  }

 private:
  bool all_have_stepped() const {
    const timeline::Timeline& timeline = monitor_.observer().timeline();
    for (Rank rank = 0; rank < timeline.ranks(); ++rank) {
      const timeline::Lane* lane = timeline.lane(rank);
      if (!lane || lane->steps().empty()) return false;
    }
    return timeline.ranks() > 0;
  }

  Monitor& monitor_;
  const support::Scenario& scenario_;
  bool ordered_ = false;
};

/// MPI can hang while it starts; a machine with few cores takes long for many ranks.
Nanoseconds latest_end(Nanoseconds duration, Rank ranks) {
  return 2 * duration + std::chrono::seconds(60) + ranks * std::chrono::milliseconds(500);
}

/// Watches `monitor` while the session's program runs, on a terminal unless `headless`, and says how it ended.
/// `each_round` may act with time.
int watch_program(host::Session& session, Monitor& monitor, bool headless, const Done& each_round) {
  std::optional<Nanoseconds> ended_at;
  const auto nothing_will_come = [&](Nanoseconds now) {
    if (monitor.has_ended() || !session.exit_code()) return false;
    if (!ended_at) ended_at = now;
    return now - *ended_at > kPatienceForAgents;
  };
  const auto done = [&](Nanoseconds now) {
    if (each_round(now)) return true;
    // On a terminal what was seen stays on the screen until the operator leaves; if nothing was, there is no reason to
    // stay.
    return nothing_will_come(now) && (headless || monitor.observer().timeline().empty());
  };
  const int code = headless ? watch_headless(monitor, done) : watch_on_screen(monitor, done);
  const std::optional<int> program_code = session.exit_code();
  if (code != 0) return code;
  if (program_code.value_or(0) != 0) {
    fail(host::how_it_ended(session.program_name(), *program_code), 1);
    std::fputs(wire::printable_lines(session.epitaph()).c_str(), stderr);
    return 1;
  }
  if (monitor.observer().timeline().empty() && program_code)
    return fail(host::how_it_ended(session.program_name(), 0) + "; it reported nothing", 1);
  return 0;
}

/// What is left of the lesson's program ends with the lesson, and has its last words: with them the session is whole.
/// `now`: the monitor's time.
void end_and_hear(host::Session& session, Monitor& monitor, Nanoseconds now) {
  using Clock = std::chrono::steady_clock;
  const Clock::time_point begin = Clock::now();
  session.end_program();
  const auto waited = [&] { return Nanoseconds(Clock::now() - begin); };
  while (!monitor.has_ended() && !monitor.observer().timeline().empty() && waited() < kPatienceForAgents) {
    monitor.work(now + waited());
    monitor.wait(kRound, -1);
  }
}

/// Keeps the file of answers as new as what was answered.
class AnswerSheet {
 public:
  AnswerSheet(const DemoOptions& options, LessonRun run) : path_(options.answers), run_(std::move(run)) {}

  /// Error: the file can't be written.
  wire::Status keep(const lesson::Tutor* tutor) {
    if (path_.empty() || !tutor) return wire::ok();
    std::size_t known = 0;
    for (const lesson::PageRecord& record : tutor->records()) known += record.answers.size() + (record.verdict ? 1 : 0);
    if (written_ == known) return wire::ok();
    written_ = known;
    return write_answers(path_, run_, *tutor);
  }

 private:
  std::string path_;
  LessonRun run_;
  std::optional<std::size_t> written_;  ///< How many answers and verdicts the file has.
};

LessonRun run_of(const Play& play, const DemoOptions& options, const std::string& session) {
  return {.lesson = play.path.stem(),
          .session = session,
          .simulated = options.simulated,
          .ranks = play.scenario.machine.ranks};
}

std::string starting_in_words(const Play& play, const DemoOptions& options) {
  const Rank ranks = play.scenario.machine.ranks;
  const char* are = ranks == 1 ? "is" : "are";
  if (play.scenario.play)
    return fmt::format("{} of {} {} starting", analysis::plural(ranks, "rank"), play.scenario.play->name, are);
  return fmt::format("{} {} starting", analysis::plural(ranks, options.simulated ? "simulated rank" : "MPI rank"), are);
}

Monitor::Options monitor_options(const Play& play, const DemoOptions& options, const std::string& session) {
  return {.session = session,
          .label = play.path.stem(),
          .starting = starting_in_words(play, options),
          .lesson = play.course,
          .memory = options.memory};
}

/// With --json stdout is the report's.
void tell(std::vector<std::string> news, const DemoOptions& options) {
  for (const std::string& line : news) {
    if (options.json)
      fail(line, 0);
    else
      print(line + "\n");
  }
}

/// Without a terminal: what became of it.
int conclude(Monitor& monitor, Student& student, const DemoOptions& options, int code) {
  tell(student.news(), options);
  print_result(monitor, options);
  if (code != 0) return code;
  if (!student.failure().empty()) return fail(student.failure(), 1);
  return student.saw_all() ? 0 : fail("not every effect of the lesson was seen", 1);
}

wire::Status start_recording(Monitor& monitor, const DemoOptions& options) {
  return options.record.empty() ? wire::ok() : monitor.start_recording(options.record, Nanoseconds{0});
}

/// What the program of a lesson has measured of itself goes to the lesson, once both have ended: it and its ranks.
class Results {
 public:
  Results(host::Session& session, Monitor& monitor) : session_(session), monitor_(monitor) {}

  void hand_over(Nanoseconds now) {
    const std::optional<int> code = session_.exit_code();
    if (handed_over_ || !code) return;
    if (!ended_at_) ended_at_ = now;
    if (!monitor_.has_ended() && now - *ended_at_ < kPatienceForAgents) return;
    handed_over_ = true;
    monitor_.end_program_of_lesson(*code == 0 ? support::Json::parse(session_.results()).value_or(support::Json())
                                              : support::Json());
  }

 private:
  host::Session& session_;
  Monitor& monitor_;
  std::optional<Nanoseconds> ended_at_;
  bool handed_over_ = false;
};

wire::Status start(host::Session& session, const DemoOptions& options, const Play& play,
                   const std::vector<std::string>& command) {
  const host::LauncherKind kind =
      options.simulated ? host::LauncherKind::kOther : host::launcher_kind(command.front(), host::MpiChoice::kAuto);
  return session.start(command, kind, !options.headless, play.scenario.play.has_value());
}

/// A program that is played knows no time at which it is to end.
bool has_had_its_time(const DemoOptions& options, const Play& play, Nanoseconds now) {
  return play.scenario.play && options.headless_for && now > *options.headless_for;
}

int watch(host::Session& session, const DemoOptions& options, const Play& play,
          const std::vector<std::string>& command) {
  const support::Scenario& scenario = play.scenario;
  Monitor monitor(session.take_link(), monitor_options(play, options, session.name()));
  AnswerSheet answers(options, run_of(play, options, session.name()));
  if (const wire::Status writable = answers.keep(monitor.tutor()); !writable) return fail(writable.error().message, 2);
  if (const wire::Status recording = start_recording(monitor, options); !recording)
    return fail(recording.error().message, 2);
  if (const wire::Status started = start(session, options, play, command); !started) {
    monitor.discard_recording();
    return fail(started.error().message, 1);
  }
  LessonDelays delays(monitor, scenario);
  Student student(monitor);
  Results results(session, monitor);
  const bool has_student = plays_student(options, play);
  bool overdue = false;
  Nanoseconds latest{};
  const auto each_round = [&](Nanoseconds now) {
    latest = now;
    if (const wire::Status kept = answers.keep(monitor.tutor()); !kept)
      monitor.say(kept.error().message, view::Tone::kError);
    if (scenario.play) results.hand_over(now);
    if (has_student) {
      tell(student.news(), options);
      return student.go_on(now);
    }
    if (!options.headless) return false;
    if (takes_orders(play, options)) delays.order_when_ready(now);
    overdue = options.headless_for && now > latest_end(*options.headless_for, scenario.machine.ranks);
    return overdue || monitor.has_ended() || has_had_its_time(options, play, now);
  };
  const int watched = watch_program(session, monitor, options.headless, each_round);
  end_and_hear(session, monitor, latest);
  const int code = finish_recording(monitor, watched);
  if (const wire::Status kept = answers.keep(monitor.tutor()); !kept) return fail(kept.error().message, 1);
  if (overdue)
    return fail(
        fmt::format("the {} ranks did not come to their end in time: try fewer (--ranks)", scenario.machine.ranks), 1);
  if (has_student) return conclude(monitor, student, options, code);
  if (options.headless) print_result(monitor, options);
  return code;
}

/// What is set in the scenario, for real ranks as for simulated ones: it ends after its steps only where that is wanted.
std::vector<std::string> settings_of(const Play& play, const DemoOptions& options) {
  std::vector<std::string> settings = play.overrides;
  const bool to_its_end = options.steps || (options.headless && !options.headless_for && !plays_student(options, play));
  if (!to_its_end) settings.push_back(kNoEndInSight);
  return settings;
}

wire::Result<std::vector<std::string>> mpi_command(const Play& play, const DemoOptions& options) {
  if (play.scenario.play) return played_command(*play.scenario.play, play.scenario.machine.ranks);
  auto command = launcher_command(play.scenario.machine.ranks);
  if (!command) return command;
  for (std::string& word : ring_command(play.path, settings_of(play, options), options.headless_for))
    command->push_back(std::move(word));
  return command;
}

/// The delays of the lesson are ordered through the session, as with MPI, where that takes orders.
std::vector<std::string> simulation_command(const Play& play, const DemoOptions& options,
                                            const host::Session& session) {
  std::vector<std::string> command = {host::program_folder() / "idlewave",
                                      "sim",
                                      play.path,
                                      "--realtime",
                                      "--allow-inject",
                                      "--session",
                                      session.name(),
                                      "--connect",
                                      session.endpoint()};
  if (takes_orders(play, options)) command.push_back("--without-delays");
  for (const std::string& setting : settings_of(play, options)) command.insert(command.end(), {"--set", setting});
  if (options.headless_for)
    command.insert(command.end(), {"--duration", fmt::format("{}ns", options.headless_for->count())});
  return command;
}

/// As fast as it goes: simulated time is the only one, so the same lesson comes to the same figures on every machine.
int play_in_simulated_time(const DemoOptions& options, const Play& play) {
  const std::string name = host::new_session_name(play.path.stem());
  auto link = simulation::open_simulation(play.path, settings_of(play, options), name);
  if (!link) return fail(link.error().message, 2);
  simulation::SimulatedLink& played = **link;
  Monitor monitor(std::move(*link), monitor_options(play, options, name));
  AnswerSheet answers(options, run_of(play, options, name));
  if (const wire::Status writable = answers.keep(monitor.tutor()); !writable) return fail(writable.error().message, 2);
  if (const wire::Status recording = start_recording(monitor, options); !recording)
    return fail(recording.error().message, 2);
  const signals::StopSignals signals;
  Student student(monitor);
  Nanoseconds now{0};
  for (; !signals.received() && !student.go_on(now); now += kRound) {
    monitor.work(now);
    tell(student.news(), options);
    if (monitor.link_status().state == link::LinkState::kLost) return fail(monitor.link_status().detail, 1);
  }
  played.end();
  monitor.work(now);
  const int code = finish_recording(monitor, signals.received() ? signals::exit_code_of(*signals.received()) : 0);
  if (const wire::Status kept = answers.keep(monitor.tutor()); !kept) return fail(kept.error().message, 1);
  return conclude(monitor, student, options, code);
}

}  // namespace

int demo(const DemoOptions& options) {
  if (options.list) return list_lessons();
  const auto play = load(options);
  if (!play) return fail(play.error().message, 2);
  if (!options.answers.empty() && !play->course)
    return fail(fmt::format("--answers: the lesson {} asks nothing: it has no [[lesson.page]]", options.lesson), 2);
  if (options.simulated && plays_student(options, *play)) return play_in_simulated_time(options, *play);
  wire::Result<std::vector<std::string>> command = std::vector<std::string>();
  if (!options.simulated) command = mpi_command(*play, options);
  if (!command) return fail(command.error().message, 1);
  const wire::Status room = options.simulated ? wire::ok() : host::make_room_for(play->scenario.machine.ranks);
  if (!room) return fail(room.error().message, 2);
  const auto body = [&] {
    auto session = host::Session::open(host::new_session_name(play->path.stem()), "");
    if (!session) return fail(session.error().message, 1);
    if (options.simulated) command = simulation_command(*play, options, *session);
    return watch(*session, options, *play, *command);
  };
  return options.headless ? body() : guarded(body);
}

}  // namespace idlewave::cli::lessons
