#include "monitor/term/terminal.h"

#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <utility>

#include "monitor/term/charset.h"
#include "monitor/term/frame_writer.h"
#include "monitor/term/input_decoder.h"
#include "monitor/term/ncurses_screen.h"
#include "monitor/term/terminfo.h"
#include "monitor/term/text_screen.h"
#include "monitor/term/tty.h"
#include "monitor/term/tty_signals.h"

namespace idlewave::term {
namespace {

using namespace std::chrono_literals;
using view::ColourDepth;
using view::Key;
using view::KeyCode;

constexpr auto kEscapeAlone = 25ms;  ///< A terminal sends the rest of a sequence sooner, a person never does.
constexpr auto kLastWords = 1000ms;  ///< For a terminal that is slow to take the sequence that leaves it.

ColourDepth depth_of(const TerminalInfo& terminal) {
  if (forbids_colours()) return ColourDepth::kNone;
  if (terminal.colours >= 256) return ColourDepth::kIndexed256;
  return terminal.colours >= 8 ? ColourDepth::kEight : ColourDepth::kNone;
}

view::Look look_of(const TerminalInfo& terminal) {
  return {.colours = depth_of(terminal),
          .unicode = locale_speaks_unicode(),
          .cheap_scroll = terminal.erases_in_colour && terminal.shifts_cells};
}

/// One descriptor that is readable when the terminal, a signal or the clock has something: an epoll set, and a timer in
/// it.
class Waiter {
 public:
  Waiter(int terminal, int signals)
      : set_(::epoll_create1(EPOLL_CLOEXEC)), timer_(::timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK)) {
    for (const int fd : {terminal, signals, timer_}) add(fd);
  }
  Waiter(const Waiter&) = delete;
  Waiter& operator=(const Waiter&) = delete;
  ~Waiter() {
    ::close(timer_);
    ::close(set_);
  }

  int fd() const { return set_; }
  void wake_after(std::chrono::nanoseconds delay) const {
    const itimerspec once{.it_interval = {}, .it_value = {.tv_sec = 0, .tv_nsec = delay.count()}};
    ::timerfd_settime(timer_, 0, &once, nullptr);
  }
  bool time_is_up() const {
    std::uint64_t expirations = 0;
    return ::read(timer_, &expirations, sizeof expirations) > 0;
  }

 private:
  void add(int fd) const {
    epoll_event event{.events = EPOLLIN, .data = {}};
    ::epoll_ctl(set_, EPOLL_CTL_ADD, fd, &event);
  }

  int set_;
  int timer_;
};

/// A terminal device, and a screen that knows what to send to it.
class TtyTerminal : public Terminal {
 public:
  struct How {
    std::unique_ptr<Screen> screen;
    view::Look look;
    std::string enter;  ///< Sent before the first picture, and again when the process is continued.
    std::string leave;  ///< Sent after the last one.
    std::string note;
  };

  TtyTerminal(Tty tty, How how)
      : how_(std::move(how)), tty_(std::move(tty)), writer_(tty_.fd()), waiter_(tty_.fd(), signals_.fd()) {
    start_over();
    enter();
  }
  ~TtyTerminal() override { leave(); }

  view::paint::Size size() const override { return size_; }
  view::Look look() const override { return how_.look; }
  int input_fd() const override { return waiter_.fd(); }
  bool hung_up() const override { return tty_.hung_up() || writer_.broken(); }
  std::uint64_t bytes_written() const override { return writer_.written(); }
  std::string note() const override { return how_.note; }

  std::vector<Key> keys() override {
    const std::string bytes = tty_.read();
    std::vector<Key> keys = bytes.empty() && waiter_.time_is_up() ? decoder_.settle() : decoder_.feed(bytes);
    if (!bytes.empty() && decoder_.undecided()) waiter_.wake_after(kEscapeAlone);
    if (!keys.empty()) how_.screen->hurry();
    if (heed_signals()) keys.push_back(view::key_of(KeyCode::kResize));
    return keys;
  }

  bool show(const view::paint::Canvas& canvas) override {
    if (!writer_.ready()) return false;
    writer_.write(how_.screen->draw(canvas));
    return !writer_.broken();
  }

 private:
  /// True when the picture has to be drawn anew.
  bool heed_signals() {
    TtySignals::Seen seen = signals_.take();
    if (seen.stop_asked) {
      leave();
      signals_.stop_here();
      seen.continued = true;
      signals_.take();
    }
    if (seen.continued) enter();
    if (!seen.continued && !seen.resized && tty_.size() == size_) return false;
    start_over();
    return true;
  }

  void start_over() {
    size_ = tty_.size();
    how_.screen->start_over(size_);
  }

  void enter() {
    tty_.enter();
    writer_.finish(how_.enter, kLastWords);
  }

  void leave() {
    writer_.finish(how_.leave, kLastWords);
    tty_.leave();
  }

  How how_;
  Tty tty_;
  TtySignals signals_;  // before the size is read, lest a change is missed
  view::paint::Size size_;
  FrameWriter writer_;
  InputDecoder decoder_;
  Waiter waiter_;
};

std::chrono::nanoseconds steady_time() { return std::chrono::steady_clock::now().time_since_epoch(); }

TtyTerminal::How as_text(const std::string& reason) {
  return {.screen = std::make_unique<TextScreen>(steady_time),
          .look = {.colours = ColourDepth::kNone, .unicode = locale_speaks_unicode(), .cheap_scroll = true},
          .leave = "\r\n",
          .note = reason + ": printed as text, every 10 s and at a key; TERM=xterm-256color shows it live"};
}

TtyTerminal::How by_ncurses(const TerminalInfo& terminal, view::paint::Size size) {
  const view::Look look = look_of(terminal);
  auto screen = std::make_unique<NcursesScreen>(terminal, look, size);
  if (!screen->usable()) return as_text("TERM=" + terminal.name + " can't be driven by ncurses");
  return {.screen = std::move(screen),
          .look = look,
          .enter = terminal.enter,
          .leave = terminal.leave,
          .note = terminal.note};
}

}  // namespace

wire::Result<std::unique_ptr<Terminal>> open_terminal() {
  wire::Result<Tty> tty = Tty::open();
  if (!tty) return tty.error();
  const wire::Result<TerminalInfo> terminal = read_terminfo(std::getenv("TERM"));
  TtyTerminal::How how = terminal ? by_ncurses(*terminal, tty->size()) : as_text(terminal.error().message);
  return std::unique_ptr<Terminal>(std::make_unique<TtyTerminal>(std::move(*tty), std::move(how)));
}

}  // namespace idlewave::term
