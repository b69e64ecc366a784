#include <langinfo.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <chrono>
#include <clocale>
#include <cstdlib>
#include <string_view>

#include "monitor/term/frame_writer.h"
#include "monitor/term/input_decoder.h"
#include "monitor/term/ncurses_screen.h"
#include "monitor/term/terminal.h"
#include "monitor/term/terminfo.h"
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

bool codeset_is_utf8() { return std::string_view(::nl_langinfo(CODESET)) == "UTF-8"; }

const char* wanted_locale() {
  for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"})
    if (const char* value = std::getenv(name); value != nullptr && *value != '\0') return value;
  return "C";
}

/// Over ssh a wish for UTF-8 often arrives in a language that is not installed here; the characters do not depend on
/// the language.
bool locale_speaks_unicode() {
  std::setlocale(LC_CTYPE, "");
  if (codeset_is_utf8()) return true;
  const std::string wish = wanted_locale();
  const bool wants_utf8 =
      wish.find("UTF-8") != wish.npos || wish.find("utf8") != wish.npos || wish.find("utf-8") != wish.npos;
  return wants_utf8 && std::setlocale(LC_CTYPE, "C.UTF-8") != nullptr && codeset_is_utf8();
}

ColourDepth depth_of(const TerminalInfo& terminal) {
  const char* no_color = std::getenv("NO_COLOR");  // no-color.org: set and not empty
  if (no_color != nullptr && *no_color != '\0') return ColourDepth::kNone;
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

class NcursesTerminal : public Terminal {
 public:
  NcursesTerminal(Tty tty, const TerminalInfo& terminal)
      : terminal_(terminal),
        look_(look_of(terminal)),
        tty_(std::move(tty)),
        size_(tty_.size()),
        screen_(terminal_, look_, size_),
        writer_(tty_.fd()),
        waiter_(tty_.fd(), signals_.fd()) {
    if (usable()) enter();
  }
  ~NcursesTerminal() override {
    if (usable()) leave();
  }

  bool usable() const { return screen_.usable(); }
  view::Size size() const override { return size_; }
  view::Look look() const override { return look_; }
  int input_fd() const override { return waiter_.fd(); }
  bool hung_up() const override { return tty_.hung_up() || writer_.broken(); }
  std::uint64_t bytes_written() const override { return writer_.written(); }

  std::vector<Key> keys() override {
    const std::string bytes = tty_.read();
    std::vector<Key> keys = bytes.empty() && waiter_.time_is_up() ? decoder_.settle() : decoder_.feed(bytes);
    if (!bytes.empty() && decoder_.undecided()) waiter_.wake_after(kEscapeAlone);
    if (heed_signals()) keys.push_back(view::key_of(KeyCode::kResize));
    return keys;
  }

  bool show(const view::Canvas& canvas) override {
    if (!writer_.ready()) return false;
    writer_.write(screen_.draw(canvas));
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
    const view::Size size = tty_.size();
    if (!seen.continued && !seen.resized && size == size_) return false;
    size_ = size;
    screen_.start_over(size_);
    return true;
  }

  void enter() {
    tty_.enter();
    writer_.finish(terminal_.enter, kLastWords);
  }

  void leave() {
    writer_.finish(terminal_.leave, kLastWords);
    tty_.leave();
  }

  TerminalInfo terminal_;
  view::Look look_;
  Tty tty_;
  TtySignals signals_;  // before the size is read, lest a change is missed
  view::Size size_;
  NcursesScreen screen_;
  FrameWriter writer_;
  InputDecoder decoder_;
  Waiter waiter_;
};

}  // namespace

wire::Result<std::unique_ptr<Terminal>> open_ncurses() {
  wire::Result<Tty> tty = Tty::open();
  if (!tty) return tty.error();
  const wire::Result<TerminalInfo> terminal = read_terminfo(std::getenv("TERM"));
  if (!terminal) return terminal.error();
  auto opened = std::make_unique<NcursesTerminal>(std::move(*tty), *terminal);
  if (!opened->usable())
    return wire::Error{"TERM=" + terminal->name +
                       " can't be driven by ncurses: set TERM=xterm-256color, or use --headless"};
  return std::unique_ptr<Terminal>(std::move(opened));
}

}  // namespace idlewave::term
