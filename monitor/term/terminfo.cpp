#include "monitor/term/terminfo.h"

#include <ncurses.h>
// ncurses.h first
#include <term.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <optional>
#include <vector>

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

 private:
  TERMINAL* before_;
  int found_ = -1;
};

bool is_known(const std::string& name) { return LoadedTerminal(name.c_str()).usable(); }

/// What else a terminal may be called, the nearest first. A name grows at its end (xterm-kitty, screen.vte), and the
/// form with 256 colours is the one that is meant today.
std::vector<std::string> relatives(std::string name) {
  const bool is_old = name.size() > 2 && name.starts_with("vt") && std::isdigit(static_cast<unsigned char>(name[2]));
  std::vector<std::string> found;
  for (std::size_t end; (end = name.find_last_of("-.+")) != name.npos && end > 0;) {
    name.resize(end);
    found.insert(found.end(), {name + "-256color", name});
  }
  if (is_old) found.push_back("vt100");
  found.insert(found.end(), {"xterm-256color", "xterm", "vt100"});
  return found;
}

/// `name`, or else its nearest relative in the database; nothing where not even a VT100 is known.
std::optional<std::string> nearest(const std::string& name) {
  if (is_known(name)) return name;
  for (const std::string& relative : relatives(name))
    if (is_known(relative)) return relative;
  return std::nullopt;
}

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
  info.set_margins = without_padding(capability("csr"));
  const bool mouse = speaks_escape_sequences();
  info.enter = without_padding(capability("smcup") + capability("civis")) + (mouse ? kMouseOn : "");
  // What a terminal has grown by meanwhile may lie on its other screen as well.
  // Not by "clear", which in some databases forgets what had been printed before.
  const std::string gone =
      capability("rmcup").empty() ? capability("clear") : capability("home") + capability("ed") + capability("rmcup");
  info.leave =
      (mouse ? kMouseOff : "") + without_padding(capability("sgr0") + capability("op") + capability("cnorm") + gone);
  return info;
}

}  // namespace

wire::Result<TerminalInfo> read_terminfo(const char* name) {
  if (name == nullptr || *name == '\0') return wire::Error{"TERM is not set, so nothing is known of this terminal"};
  const std::string called = std::string("TERM=") + name;
  const std::optional<std::string> known = nearest(name);
  if (!known) return wire::Error{"there is no terminal database (install ncurses-base)"};
  const LoadedTerminal terminal(known->c_str());
  if (capability("cup").empty() || capability("clear").empty()) return wire::Error{called + " can't place the cursor"};
  TerminalInfo info = current(*known);
  if (*known != name) info.note = called + " is not in this machine's terminal database: taken for " + *known;
  return info;
}

bool forbids_colours() {
  const char* const wish = std::getenv("NO_COLOR");
  return wish != nullptr && *wish != '\0';
}

std::string leave_sequence() {
  const wire::Result<TerminalInfo> info = read_terminfo(std::getenv("TERM"));
  return info ? info->leave : "";
}

}  // namespace idlewave::term
