#include "monitor/cli/lessons/play.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "monitor/cli/lessons/commands.h"
#include "monitor/cli/lessons/list.h"
#include "monitor/cli/paths.h"
#include "probe/words/quantity.h"
#include "workloads/support/real_ranks.h"

namespace idlewave::cli::lessons {
namespace {

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

std::vector<std::string> overrides_of(const support::Scenario& written, const DemoOptions& options) {
  std::vector<std::string> overrides = options.machine;
  const char* ranks = written.play ? "play.ranks" : "machine.ranks";
  if (options.ranks) overrides.push_back(fmt::format("{}={}", ranks, *options.ranks));
  if (options.ranks && written.play) overrides.push_back("play.ranks_per_core=");
  if (options.ranks_per_domain)
    overrides.push_back(fmt::format("machine.ranks_per_domain={}", *options.ranks_per_domain));
  if (options.steps) overrides.push_back(fmt::format("program.steps={}", *options.steps));
  move_delays_inside(written, options, overrides);
  return overrides;
}

wire::Status check_playable(const support::Scenario& scenario, const DemoOptions& options, const std::string& path) {
  if (scenario.play) return wire::ok();
  const wire::Status playable = options.simulated ? wire::ok() : support::playable_by_real_ranks(scenario);
  if (!playable) return wire::Error{fmt::format("{}: {}, with --simulated", path, playable.error().message)};
  if (!options.simulated || support::is_model(scenario.program.kernel)) return wire::ok();
  return wire::Error{fmt::format("the lesson {} runs a real loop on real cores; --simulated goes with {}",
                                 options.lesson, fmt::join(simulated_lessons(), ", "))};
}

/// What the command line says of a scenario says nothing to another program than iw-ring.
wire::Status check_played(const std::string& program, const DemoOptions& options, const std::string& path) {
  if (options.simulated)
    return wire::Error{fmt::format(
        "--simulated: {} has no simulation; leave it out, or play a lesson that has one, as memory-bound", program)};
  const char* flag = !options.machine.empty()   ? "--machine"
                     : options.ranks_per_domain ? "--ranks-per-domain"
                     : options.steps            ? "--steps"
                                                : nullptr;
  if (flag == nullptr) return wire::ok();
  return wire::Error{
      fmt::format("{}: goes with lessons that iw-ring plays; {} is told by play.arguments in {}", flag, program, path)};
}

bool has_pages(const support::Scenario& scenario) { return scenario.lesson && !scenario.lesson->pages.empty(); }

/// A machine by one of Lesson::fixed.
std::string machine_in_words(const std::string& key, const support::Machine& machine) {
  if (key == "ranks")
    return machine.ranks > 0 ? fmt::format("{} ranks", machine.ranks) : "ranks by the cores there are";
  if (key == "ranks_per_domain") return fmt::format("{} ranks on a socket", machine.ranks_per_domain);
  if (key == "saturated")
    return lesson::saturation_of(machine) < machine.ranks_per_domain ? "sockets that have more ranks than they can feed"
                                                                     : "sockets that can feed all their ranks";
  const bool two = machine.curve.empty();
  const std::vector<double> all = two ? std::vector{machine.core_bandwidth, machine.domain_bandwidth} : machine.curve;
  std::vector<std::string> bandwidths;
  for (const double each : all) bandwidths.push_back(words::format_bandwidth(each));
  return fmt::format("bandwidths of {}", fmt::join(bandwidths, ", "));
}

/// What a lesson says of some sizes is not so of others.
wire::Status check_sizes(const support::Scenario& written, const support::Scenario& scenario, const std::string& path) {
  for (const std::string& key : written.lesson->fixed) {
    const bool by_cores = key == "ranks" && written.machine.ranks == 0 && scenario.play && scenario.play->ranks == 0;
    if (by_cores) continue;
    const std::string as_written = machine_in_words(key, written.machine);
    const std::string played = machine_in_words(key, scenario.machine);
    if (as_written != played)
      return wire::Error{
          fmt::format("{}: is about {}, and can't be played with {}: leave that out", path, as_written, played)};
  }
  if (scenario.machine.ranks >= written.lesson->least_ranks) return wire::ok();
  return wire::Error{fmt::format("{}: needs {} ranks or more, and there are {}: give more by --ranks", path,
                                 written.lesson->least_ranks, scenario.machine.ranks)};
}

/// What the command line set of the sizes: "--ranks 3".
std::string sizes_set(const DemoOptions& options) {
  std::vector<std::string> flags;
  if (!options.machine.empty()) flags.push_back("--machine");
  if (options.ranks) flags.push_back(fmt::format("--ranks {}", *options.ranks));
  if (options.ranks_per_domain) flags.push_back(fmt::format("--ranks-per-domain {}", *options.ranks_per_domain));
  return fmt::format("{}", fmt::join(flags, " "));
}

/// What the file gets wrong by itself is wrong whatever is set.
wire::Status check_pages(const support::Scenario& written) {
  if (!has_pages(written)) return wire::ok();
  const auto course = lesson::make_course(written, true);
  return course ? wire::ok() : course.error();
}

/// Where ranks are real, but not those of a program that is played: its pages know what disturbs it.
std::string advice_on(const support::Scenario& scenario, const DemoOptions& options) {
  if (options.simulated || scenario.play || !support::is_model(scenario.program.kernel)) return "";
  return "Other load on this machine disturbs real ranks: try again when it is quieter, or with --simulated.";
}

/// Error: it can't be given by these numbers.
wire::Result<std::optional<lesson::Course>> course_of(const support::Scenario& written,
                                                      const support::Scenario& scenario, const DemoOptions& options,
                                                      const std::string& path) {
  if (!has_pages(written)) return std::optional<lesson::Course>();
  if (const wire::Status fits = check_sizes(written, scenario, path); !fits) return fits.error();
  auto course = lesson::make_course(scenario, false);
  // The file was sound by itself.
  if (!course) return wire::Error{fmt::format("{}; that comes of {}", course.error().message, sizes_set(options))};
  course->advice = advice_on(scenario, options);
  return std::optional(std::move(*course));
}

/// Its pages are read, by somebody or by a student that is played; else it is its scenario alone that is played.
bool is_given(const DemoOptions& options) { return !options.headless || (!options.headless_for && !options.steps); }

}  // namespace

wire::Result<Play> load(const DemoOptions& options) {
  const auto path = find_lesson(options.lesson);
  if (!path) return path.error();
  const auto written = support::load_lesson(*path);
  if (!written) return written.error();
  if (written->play) {
    const wire::Status playable = check_played(written->play->name, options, path->string());
    if (!playable) return playable.error();
  }
  std::vector<std::string> overrides = overrides_of(*written, options);
  auto scenario = support::load_lesson(*path, overrides);
  if (!scenario) return scenario.error();
  if (const wire::Status playable = check_playable(*scenario, options, path->string()); !playable)
    return playable.error();
  if (scenario->machine.ranks == 0)
    scenario->machine.ranks = ranks_for_this_machine(scenario->play ? scenario->play->ranks_per_core : 1);
  if (const wire::Status sound = check_pages(*written); !sound) return sound.error();
  auto course = course_of(*written, *scenario, options, path->string());
  if (!course && is_given(options)) return course.error();
  return Play{*path, std::move(overrides), std::move(*scenario), course ? std::move(*course) : std::nullopt};
}

bool plays_student(const DemoOptions& options, const Play& play) {
  return options.headless && !options.headless_for && !options.steps && play.course.has_value();
}

}  // namespace idlewave::cli::lessons
