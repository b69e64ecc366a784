#include <fmt/format.h>

#include <cstdio>

#include "monitor/cli/lesson.h"
#include "monitor/cli/paths.h"
#include "monitor/cli/verbs.h"
#include "monitor/cli/watching.h"
#include "monitor/host/launcher.h"
#include "monitor/host/names.h"
#include "monitor/host/programs.h"
#include "monitor/host/session.h"
#include "probe/wire/printable.h"
#include "workloads/support/real_ranks.h"

namespace idlewave::cli {
namespace {

/// After the launcher has ended, its agents may still have something to say.
constexpr Nanoseconds kPatienceForAgents = std::chrono::seconds(3);
constexpr const char* kNoEndInSight = "program.steps=1000000";

int list_lessons() {
  for (const auto& path : all_lessons()) {
    const auto scenario = support::load_scenario(path);
    if (!scenario) return fail(scenario.error().message, 1);
    print(fmt::format("{:16} {}\n", path.stem().string(), scenario->lesson ? scenario->lesson->summary : ""));
  }
  return 0;
}

/// Delays of a lesson that is played with fewer ranks or steps than it was written for.
void move_delays_inside(const support::Scenario& written, const DemoOptions& options,
                        std::vector<std::string>& overrides) {
  for (std::size_t i = 0; i < written.delays.size(); ++i) {
    const support::Delay& delay = written.delays[i];
    if (options.ranks && delay.rank >= *options.ranks)
      overrides.push_back(fmt::format("delay.{}.rank={}", i, delay.rank % *options.ranks));
    if (options.steps && delay.step >= *options.steps)
      overrides.push_back(fmt::format("delay.{}.step={}", i, *options.steps / 2));
  }
}

/// A lesson as it is to be played.
struct Play {
  std::filesystem::path path;
  std::vector<std::string> overrides;
  support::Scenario scenario;
};

wire::Result<Play> load(const DemoOptions& options) {
  const auto path = find_lesson(options.lesson);
  if (!path) return path.error();
  const auto written = support::load_scenario(*path);
  if (!written) return written.error();
  std::vector<std::string> overrides = options.machine;
  if (options.ranks) overrides.push_back(fmt::format("machine.ranks={}", *options.ranks));
  if (options.ranks_per_domain)
    overrides.push_back(fmt::format("machine.ranks_per_domain={}", *options.ranks_per_domain));
  if (options.steps) overrides.push_back(fmt::format("program.steps={}", *options.steps));
  move_delays_inside(*written, options, overrides);
  auto scenario = support::load_scenario(*path, overrides);
  if (!scenario) return scenario.error();
  const wire::Status playable = options.simulated ? wire::ok() : support::playable_by_real_ranks(*scenario);
  if (!playable) return wire::Error{fmt::format("{}: {}", path->string(), playable.error().message)};
  if (options.simulated && !support::is_model(scenario->program.kernel)) {
    return wire::Error{
        fmt::format("the lesson {} runs a real loop on real cores; --simulated goes with memory-bound and core-bound",
                    options.lesson)};
  }
  if (scenario->machine.ranks == 0) scenario->machine.ranks = ranks_for_this_machine();
  return Play{*path, std::move(overrides), std::move(*scenario)};
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
    if (headless && monitor.has_ended()) return true;
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

int watch(host::Session& session, const DemoOptions& options, const Play& play,
          const std::vector<std::string>& command) {
  const support::Scenario& scenario = play.scenario;
  const Monitor::Options monitor_options{.session = session.name(),
                                         .label = play.path.stem(),
                                         .starting = fmt::format("{} {} ranks are starting", scenario.machine.ranks,
                                                                 options.simulated ? "simulated" : "MPI"),
                                         .lesson = lesson_panel(scenario),
                                         .memory = options.memory};
  Monitor monitor(session.take_link(), monitor_options);
  if (!options.record.empty()) {
    const wire::Status recording = monitor.start_recording(options.record, Nanoseconds{0});
    if (!recording) return fail(recording.error().message, 2);
  }
  const wire::Status started = session.start(
      command,
      options.simulated ? host::LauncherKind::kOther : host::launcher_kind(command.front(), host::MpiChoice::kAuto),
      !options.headless);
  if (!started) return fail(started.error().message, 1);
  LessonDelays delays(monitor, scenario);
  bool overdue = false;
  const auto each_round = [&](Nanoseconds now) {
    if (options.headless) delays.order_when_ready(now);
    overdue = options.headless_for && !options.steps && now > latest_end(*options.headless_for, scenario.machine.ranks);
    return overdue;
  };
  const int code = finish_recording(monitor, watch_program(session, monitor, options.headless, each_round));
  if (overdue)
    return fail(
        fmt::format("the {} ranks did not come to their end in time: try fewer (--ranks)", scenario.machine.ranks), 1);
  if (options.headless) print_result(monitor, options);
  return code;
}

/// What is set in the scenario, for real ranks as for simulated ones: it ends after its steps only where that is wanted.
std::vector<std::string> settings_of(const Play& play, const DemoOptions& options) {
  std::vector<std::string> settings = play.overrides;
  const bool to_its_end = options.steps || (options.headless && !options.headless_for);
  if (!to_its_end) settings.push_back(kNoEndInSight);
  return settings;
}

std::optional<Nanoseconds> duration_of(const DemoOptions& options) {
  return options.steps ? std::nullopt : options.headless_for;
}

wire::Result<std::vector<std::string>> mpi_command(const Play& play, const DemoOptions& options) {
  auto command = launcher_command(play.scenario.machine.ranks);
  if (!command) return command;
  for (std::string& word : ring_command(play.path, settings_of(play, options), duration_of(options)))
    command->push_back(std::move(word));
  return command;
}

/// The delays of the lesson are ordered through the session, as with MPI.
std::vector<std::string> simulation_command(const Play& play, const DemoOptions& options,
                                            const host::Session& session) {
  std::vector<std::string> command = {host::program_folder() / "idlewave",
                                      "sim",
                                      play.path,
                                      "--realtime",
                                      "--without-delays",
                                      "--allow-inject",
                                      "--session",
                                      session.name(),
                                      "--connect",
                                      session.endpoint()};
  for (const std::string& setting : settings_of(play, options)) command.insert(command.end(), {"--set", setting});
  if (const auto duration = duration_of(options))
    command.insert(command.end(), {"--duration", fmt::format("{}ns", duration->count())});
  return command;
}

}  // namespace

int demo(const DemoOptions& options) {
  if (options.list) return list_lessons();
  const auto play = load(options);
  if (!play) return fail(play.error().message, 2);
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

}  // namespace idlewave::cli
