#include <cstdio>
#include <utility>

#include "monitor/cli/recording.h"
#include "monitor/cli/report.h"
#include "monitor/cli/verbs.h"
#include "monitor/cli/watching.h"
#include "monitor/term/ansi.h"

namespace idlewave::cli {
namespace {

/// A recording is read in steps of its own time, so that what is said on the way does not depend on how fast this
/// machine is.
constexpr Nanoseconds kReadingStep = std::chrono::milliseconds(50);

wire::Result<std::unique_ptr<link::Link>> open(const std::string& path, double speed, Nanoseconds from) {
  return link::open_replay({.path = path, .speed = speed, .from = from});
}

/// When nothing has come for so long, all has been said of what came before.
constexpr Nanoseconds kQuiet = std::chrono::seconds(5);

/// The moments at which a recording is looked at. What it says of its own length may be years: only what is in it takes
/// time to read.
class ReadingClock {
 public:
  explicit ReadingClock(const link::ReplayControl& replay) : replay_(replay), next_entry_(replay.next_at()) {}
  Nanoseconds now() const { return now_; }
  void advance() {
    now_ += kReadingStep;
    const Nanoseconds next = replay_.next_at();
    if (next != std::exchange(next_entry_, next)) quiet_since_ = now_;
    if (now_ - quiet_since_ >= kQuiet && next > now_) now_ += (next - now_) / kReadingStep * kReadingStep;
  }

 private:
  const link::ReplayControl& replay_;
  Nanoseconds now_{};
  Nanoseconds next_entry_;
  Nanoseconds quiet_since_{};
};

const link::ReplayControl& replay_of(const Monitor& monitor) {
  return *link::replay_control(const_cast<link::Recorder&>(monitor.recorder()).inner());
}

/// Plays with a clock of its own until the session has reached `until`, or its end.
void read_until(Monitor& monitor, std::optional<Nanoseconds> until) {
  for (ReadingClock clock(replay_of(monitor)); !monitor.has_ended(); clock.advance()) {
    monitor.work(clock.now());
    if (until && monitor.observer().timeline().now() >= *until) break;
  }
  if (monitor.has_ended()) monitor.observer().note_damage(replay_of(monitor).damage());
  monitor.refresh(monitor.link_status().position);
}

/// When everything up to `session_time` had been received, on the recording's clock. A program that was slow to start,
/// or an agent that was kept from its work, has events that came late: only reading tells.
Nanoseconds received_by(const std::string& path, Nanoseconds session_time) {
  auto link = open(path, 1, {});
  if (!link) return Nanoseconds{0};
  Monitor monitor(std::move(*link), {});
  read_until(monitor, session_time);
  return monitor.link_status().position;
}

void warn_of_damage(const wire::FrameLogDamage& damage, const std::string& path) {
  if (!damage.first.empty()) fail(path + ": " + damage.first, 0);
}

int print_once(Monitor& monitor, const ReplayOptions& options) {
  if (options.at) monitor.stop_at(*options.at);
  read_until(monitor, options.at);
  const view::Look look{.colours = options.colour ? view::ColourDepth::kIndexed256 : view::ColourDepth::kNone,
                        .unicode = true,
                        .cheap_scroll = true};
  const view::Canvas screen = monitor.screen(options.size, look);
  if (options.colour)
    std::fputs(term::to_ansi(screen, look).c_str(), stdout);
  else
    print(view::to_text(screen));
  return 0;
}

/// Plays without a terminal, at its speed.
int play_headless(Monitor& monitor, const ReplayOptions& options) {
  const int code = watch_headless(monitor, [&](Nanoseconds now) {
    return monitor.has_ended() || (options.headless_for && now >= *options.headless_for);
  });
  print_result(monitor, options);
  return code;
}

}  // namespace

int replay(const ReplayOptions& options) {
  auto link = open(options.path, options.once ? 1 : options.speed,
                   options.from > Nanoseconds{0} ? received_by(options.path, options.from) : Nanoseconds{0});
  if (!link) return fail(link.error().message, 2);
  const link::ReplayControl* replay = link::replay_control(**link);
  Monitor::Options monitor_options{.session = replay->header().session,
                                   .label = "recording",
                                   .memory = options.memory,
                                   .replay_speed = options.speed};
  monitor_options.reopen = [&options](Nanoseconds from) { return open(options.path, options.speed, from); };
  const auto body = [&] {
    Monitor monitor(std::move(*link), monitor_options);
    const int code = options.once       ? print_once(monitor, options)
                     : options.headless ? play_headless(monitor, options)
                                        : watch_on_screen(monitor, never);
    warn_of_damage(replay_of(monitor).damage(), options.path);
    return code;
  };
  return options.once || options.headless ? body() : guarded(body);
}

int report(const FileOptions& options) {
  const auto recording = read_recording(options.path, options.memory);
  if (!recording) return fail(recording.error().message, 2);
  const auto& timeline = recording->timeline();
  print(options.json ? report_json(timeline, options.window) : report_text(timeline, options.window));
  warn_of_damage(recording->damage, options.path);
  return 0;
}

}  // namespace idlewave::cli
