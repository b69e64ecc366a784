#include "monitor/cli/watching.h"

#include "monitor/cli/reporting/report.h"
#include "monitor/cli/verbs.h"
#include "probe/signals/stop_signals.h"

namespace idlewave::cli {
namespace {

using std::chrono::milliseconds;
using Clock = std::chrono::steady_clock;

/// A picture is drawn as soon as there is news, so that an event waits for its agent only, but no more often than this.
constexpr Nanoseconds kLeastFramePeriod = milliseconds(25);
constexpr Nanoseconds kIdlePeriod = milliseconds(100);

class Stopwatch {
 public:
  Nanoseconds now() const { return Clock::now() - start_; }

 private:
  Clock::time_point start_ = Clock::now();
};

/// One look at the keyboard; true if something was pressed.
bool read_keys(Monitor& monitor, term::Terminal& terminal, Nanoseconds now) {
  const std::vector<view::Key> keys = terminal.keys();
  for (const view::Key& key : keys) monitor.press(key, terminal.size(), terminal.look(), now);
  return !keys.empty();
}

}  // namespace

void watch_on(Monitor& monitor, term::Terminal& terminal, const Done& done) {
  const Stopwatch watch;
  Nanoseconds next_frame{};
  bool news = true;
  while (monitor.leaving() == Monitor::Leaving::kNo && !terminal.hung_up() && !done(watch.now())) {
    const Nanoseconds now = watch.now();
    news = monitor.work(now) || news;
    const bool pressed = read_keys(monitor, terminal, now);
    if (pressed || (news && now >= next_frame)) {
      news = !terminal.show(monitor.screen(terminal.size(), terminal.look()));
      next_frame = now + kLeastFramePeriod;
    }
    const Nanoseconds nap = monitor.is_loading() ? Nanoseconds{0} : news ? next_frame - watch.now() : kIdlePeriod;
    monitor.wait(std::max(Nanoseconds{0}, nap), terminal.input_fd());
  }
}

int watch_on_screen(Monitor& monitor, const Done& done) {
  signals::StopSignals signals;
  auto terminal = term::open_terminal();
  if (!terminal) return fail(terminal.error().message, 2);
  if (const std::string note = (*terminal)->note(); !note.empty()) monitor.say(note, view::Tone::kWarning);
  watch_on(monitor, **terminal, [&](Nanoseconds now) {
    // Ctrl-C is pressed to leave what one looks at, and must not end a job of hours without a question.
    if (signals.received() == SIGINT && monitor.asks_before_quitting()) {
      signals.forget();
      monitor.press(view::key_of(U'q'), (*terminal)->size(), (*terminal)->look(), now);
    }
    return signals.received() || done(now);
  });
  if (signals.received()) return signals::exit_code_of(*signals.received());
  // The terminal goes before the signal that tells of it, and without one where it was not the controlling one.
  return (*terminal)->hung_up() ? signals::exit_code_of(SIGHUP) : 0;
}

int watch_headless(Monitor& monitor, const Done& done) {
  const signals::StopSignals signals;
  const Stopwatch watch;
  while (!signals.received() && !done(watch.now())) {
    monitor.work(watch.now());
    monitor.wait(monitor.is_loading() ? Nanoseconds{0} : kIdlePeriod, signals.fd());
  }
  monitor.work(watch.now());
  monitor.refresh(watch.now());
  return signals.received() ? signals::exit_code_of(*signals.received()) : 0;
}

int finish_recording(Monitor& monitor, int code) {
  if (!monitor.recorder().failure().empty()) return fail(monitor.recorder().failure(), 1);
  if (!monitor.recorder().recording()) return code;
  const wire::Status stopped = monitor.stop_recording();
  return stopped ? code : fail(stopped.error().message, 1);
}

void print_result(Monitor& monitor, const WatchOptions& options) {
  const view::Look plain{.colours = view::ColourDepth::kNone, .unicode = true, .cheap_scroll = true};
  if (!options.without_screen) say(view::paint::to_text(monitor.last_screen(options.size, plain)));
  if (options.json) print(reporting::report_json(monitor.observer().timeline(), options.window));
}

}  // namespace idlewave::cli
