#include <fmt/format.h>

#include <cstdio>
#include <optional>
#include <string_view>
#include <utility>

#include "monitor/cli/progress.h"
#include "monitor/cli/reading_clock.h"
#include "monitor/cli/recording.h"
#include "monitor/cli/reporting/ghost.h"
#include "monitor/cli/reporting/report.h"
#include "monitor/cli/verbs.h"
#include "monitor/cli/watching.h"
#include "monitor/term/ansi.h"
#include "monitor/view/paint/figures.h"

namespace idlewave::cli {
namespace {

wire::Result<std::unique_ptr<link::Link>> open_recording(const std::string& path, double speed) {
  return link::open_replay({.path = path, .speed = speed});
}

const link::ReplayControl& replay_of(const Monitor& monitor) {
  return *link::replay_control(const_cast<link::Recorder&>(monitor.recorder()).inner());
}

/// Plays with a clock of its own until the session has reached `until`, or its end.
void read_until(Monitor& monitor, std::optional<Nanoseconds> until, const std::string& path) {
  Progress progress("reading " + path);
  for (ReadingClock clock(replay_of(monitor)); !monitor.has_ended(); clock.advance()) {
    monitor.work(clock.now());
    const Nanoseconds reached = monitor.observer().timeline().now();
    if (until && reached >= *until) break;
    const link::LinkStatus status = monitor.link_status();
    const Nanoseconds begin = monitor.observer().timeline().begin();
    progress.reached(
        std::max(share_of(status.position, status.duration), until ? share_of(reached - begin, *until - begin) : 0.0));
  }
  if (monitor.has_ended()) monitor.observer().note_damage(replay_of(monitor).damage());
  monitor.refresh(monitor.link_status().position);
}

/// The flag that asks for a moment past the end of the recording, and that moment.
struct PastEnd {
  std::string_view flag;
  Nanoseconds moment{};
};

/// The screen tells its moments in tenths of a second: one that was read there is not past the end.
std::optional<PastEnd> past_end(const Monitor& monitor, const ReplayOptions& options) {
  constexpr Nanoseconds kAsTold = std::chrono::milliseconds(50);
  if (!monitor.has_ended()) return std::nullopt;
  const Nanoseconds end = monitor.observer().timeline().now() + kAsTold;
  if (options.at && *options.at > end) return PastEnd{"--at", *options.at};
  if (options.from > end) return PastEnd{"--from", options.from};
  return std::nullopt;
}

std::string in_milliseconds(Nanoseconds at) { return view::paint::to_moment(at, std::chrono::milliseconds(1)); }

/// Says which moments there are.
int refuse(const PastEnd& asked, const timeline::Timeline& timeline) {
  const std::string from = timeline.begin() > Nanoseconds{0} ? "from " + in_milliseconds(timeline.begin()) + " " : "";
  return fail(fmt::format("{}: {} is past the end; the recording goes {}to {}", asked.flag,
                          in_milliseconds(asked.moment), from, in_milliseconds(timeline.now())),
              2);
}

void warn_of(const wire::FrameLogDamage& damage) {
  if (!damage.first.empty()) fail(damage.first, 0);
}

int print_once(Monitor& monitor, const ReplayOptions& options) {
  if (options.at) monitor.stop_at(*options.at);
  read_until(monitor, options.at, options.path);
  if (const auto asked = past_end(monitor, options)) return refuse(*asked, monitor.observer().timeline());
  const view::Look look{.colours = options.colour ? view::ColourDepth::kIndexed256 : view::ColourDepth::kNone,
                        .unicode = true,
                        .cheap_scroll = true};
  const view::paint::Canvas screen = monitor.last_screen(options.size, look);
  if (options.colour)
    std::fputs(term::to_ansi(screen, look).c_str(), stdout);
  else
    print(view::paint::to_text(screen));
  return 0;
}

/// Plays without a terminal, at its speed.
int play_headless(Monitor& monitor, const ReplayOptions& options) {
  std::optional<Nanoseconds> plays_since;
  const int code = watch_headless(monitor, [&](Nanoseconds now) {
    if (monitor.is_loading()) return false;
    if (past_end(monitor, options)) return true;
    if (!plays_since) plays_since = now;
    return monitor.has_ended() || (options.headless_for && now - *plays_since >= *options.headless_for);
  });
  if (const auto asked = past_end(monitor, options)) return refuse(*asked, monitor.observer().timeline());
  print_result(monitor, options);
  return code;
}

/// Leaves the screen where there is nothing to begin with.
int play_on_screen(Monitor& monitor, const ReplayOptions& options) {
  const auto is_past_end = [&](Nanoseconds) { return past_end(monitor, options).has_value(); };
  const int code = watch_on_screen(monitor, is_past_end);
  const auto asked = past_end(monitor, options);
  return asked && code == 0 ? refuse(*asked, monitor.observer().timeline()) : code;
}

std::string json_of(const timeline::Timeline& timeline, const FileOptions& options) {
  support::Json report = reporting::report_of(timeline, options.window);
  if (options.ghost) report["ghost"] = reporting::ghost_json(timeline);
  return report.text() + "\n";
}

std::string text_of(const timeline::Timeline& timeline, const FileOptions& options) {
  return reporting::report_text(timeline, options.window) + (options.ghost ? reporting::ghost_text(timeline) : "");
}

}  // namespace

int replay(const ReplayOptions& options) {
  auto link = open_recording(options.path, options.once ? 1 : options.speed);
  if (!link) return fail(link.error().message, 2);
  const link::ReplayControl* replay = link::replay_control(**link);
  Monitor::Options monitor_options{.session = replay->header().session,
                                   .label = "recording",
                                   .memory = options.memory,
                                   .replay_speed = options.speed,
                                   .ghost = options.ghost};
  monitor_options.reopen = [&options] { return open_recording(options.path, options.speed); };
  const auto body = [&] {
    Monitor monitor(std::move(*link), monitor_options);
    if (!options.once) monitor.load_until(options.from);
    const int code = options.once       ? print_once(monitor, options)
                     : options.headless ? play_headless(monitor, options)
                                        : play_on_screen(monitor, options);
    warn_of(replay_of(monitor).damage());
    return code;
  };
  return options.once || options.headless ? body() : guarded(body);
}

int report(const FileOptions& options) {
  // Never taken apart: the process is about to end, and that would cost a fiftieth of all that the report does.
  static const auto& recording = *new wire::Result<Recording>(read_recording(options.path, options.memory));
  if (!recording) return fail(recording.error().message, 2);
  const auto& timeline = recording->timeline();
  print(options.json ? json_of(timeline, options) : text_of(timeline, options));
  warn_of(recording->damage);
  return 0;
}

}  // namespace idlewave::cli
