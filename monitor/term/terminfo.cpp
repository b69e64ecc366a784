#include "monitor/term/terminfo.h"

#include <ncurses.h>
// ncurses.h first
#include <term.h>

#include <algorithm>
#include <cstdlib>

namespace idlewave::term {
namespace {

/// Press and wheel, in decimal (SGR) form: the older form can't say columns beyond 223.
constexpr const char* kMouseOn = "\x1b[?1000h\x1b[?1006h";
constexpr const char* kMouseOff = "\x1b[?1006l\x1b[?1000l";

std::string capability(const char* name) {
  const char* text = ::tigetstr(name);
  return text == nullptr || text == reinterpret_cast<char*>(-1) ? "" : text;
}

/// Capabilities may hold padding, `$<5>`: time that a terminal of 1978 needed.
std::string without_padding(std::string text) {
  for (std::size_t at = text.find("$<"); at != text.npos; at = text.find("$<", at))
    text.erase(at, text.find('>', at) - at + 1);
  return text;
}

wire::Error unusable(const std::string& what) { return {what + ": set TERM=xterm-256color, or use --headless"}; }

/// The terminal that capability() asks while this lives. A screen that is open keeps its own.
class LoadedTerminal {
 public:
  explicit LoadedTerminal(const char* name) : before_(::set_curterm(nullptr)) { ::setupterm(name, 1, &found_); }
  LoadedTerminal(const LoadedTerminal&) = delete;
  LoadedTerminal& operator=(const LoadedTerminal&) = delete;
  ~LoadedTerminal() {
    TERMINAL* loaded = ::set_curterm(before_);
    if (loaded != nullptr) ::del_curterm(loaded);
  }
  bool usable() const { return found_ == 1; }
  bool database_missing() const { return found_ == -1; }

 private:
  TERMINAL* before_;
  int found_ = -1;
};

bool flag(const char* name) { return ::tigetflag(name) == 1; }

bool speaks_escape_sequences() { return capability("cup").rfind("\x1b[", 0) == 0; }

/// What row_shift.h speaks.
bool can_shift_cells() {
  return capability("dch") == "\x1b[%p1%dP" && capability("ich") == "\x1b[%p1%d@" &&
         capability("sc") ==
             "\x1b"
             "7" &&
         capability("rc") ==
             "\x1b"
             "8";
}

TerminalInfo current(const std::string& name) {
  TerminalInfo info;
  info.name = name;
  info.colours = std::max(0, ::tigetnum("colors"));
  info.direct_colours = info.colours > 256;
  info.shifts_cells = can_shift_cells();
  info.erases_in_colour = flag("bce");
  const bool mouse = speaks_escape_sequences();
  info.enter = without_padding(capability("smcup") + capability("civis")) + (mouse ? kMouseOn : "");
  const std::string gone = capability("rmcup").empty() ? capability("clear") : capability("rmcup");
  info.leave =
      (mouse ? kMouseOff : "") + without_padding(capability("sgr0") + capability("op") + capability("cnorm") + gone);
  return info;
}

}  // namespace

wire::Result<TerminalInfo> read_terminfo(const char* name) {
  if (name == nullptr || *name == '\0') return unusable("TERM is not set, so nothing is known of this terminal");
  const LoadedTerminal terminal(name);
  const std::string called = std::string("TERM=") + name;
  if (terminal.database_missing())
    return wire::Error{"no terminal database found: install ncurses-base, or use --headless"};
  if (!terminal.usable()) return unusable(called + " is not in this machine's terminal database");
  if (capability("cup").empty() || capability("clear").empty()) return unusable(called + " can't place the cursor");
  return current(name);
}

std::string leave_sequence() {
  const wire::Result<TerminalInfo> info = read_terminfo(std::getenv("TERM"));
  return info ? info->leave : "";
}

}  // namespace idlewave::term
