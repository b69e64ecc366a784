#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "monitor/cli/paths.h"
#include "monitor/cli/verbs.h"
#include "monitor/host/names.h"
#include "monitor/host/programs.h"
#include "monitor/link/link.h"
#include "monitor/term/charset.h"
#include "monitor/term/terminfo.h"
#include "probe/sampler/rapl.h"
#include "probe/sampler/resctrl.h"
#include "probe/sampler/sources.h"
#include "probe/session/directory.h"
#include "probe/session/sweep.h"
#include "probe/wire/printable.h"

namespace idlewave::cli {
namespace {

enum class Health { kGood, kLimited, kBroken };

/// One line of the diagnosis: what was looked at, what was found, and how to mend it.
struct Finding {
  Health health = Health::kGood;
  const char* what = "";
  std::string text;
};

Finding check_terminal() {
  if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO)) {
    return {Health::kLimited, "terminal", "not a terminal: --headless, replay --once, report and inject work"};
  }
  const auto terminal = term::read_terminfo(std::getenv("TERM"));
  if (!terminal)
    return {Health::kLimited, "terminal",
            terminal.error().message + ": the screen is printed as text; try TERM=xterm-256color"};
  if (!terminal->note.empty()) return {Health::kLimited, "terminal", terminal->note};
  if (term::forbids_colours())
    return {Health::kLimited, "terminal",
            fmt::format("{}, NO_COLOR is set: glyphs instead of colours", terminal->name)};
  if (terminal->colours < 256) {
    return {Health::kLimited, "terminal",
            fmt::format("{} has {} colours; with 256 the map shows shares (try TERM=xterm-256color)", terminal->name,
                        terminal->colours)};
  }
  return {Health::kGood, "terminal",
          fmt::format("{}, {} colours{}", terminal->name, terminal->colours,
                      terminal->erases_in_colour ? ", scrolls smoothly" : ", scrolls in jumps")};
}

Finding check_characters() {
  if (term::locale_speaks_unicode()) return {Health::kGood, "characters", "UTF-8"};
  return {Health::kLimited, "characters", "not UTF-8, so the screen is ASCII: set LC_ALL=C.UTF-8"};
}

Finding check_launcher() {
  std::string found;
  for (const char* name : {"mpirun.openmpi", "mpirun.mpich", "mpirun", "srun"}) {
    if (const auto path = host::find_program(name)) found += (found.empty() ? "" : ", ") + path->string();
  }
  if (found.empty())
    return {Health::kBroken, "MPI",
            "no mpirun and no srun in PATH: apt-get install openmpi-bin; recordings can be replayed all the same"};
  return {Health::kGood, "MPI", found};
}

Finding check_ring() {
  if (host::find_program(host::program_folder() / "iw-ring"))
    return {Health::kGood, "lessons", fmt::format("{} of them; see 'idlewave demo --list'", all_lessons().size())};
  return {Health::kBroken, "lessons",
          "iw-ring was not built, since MPI was missing: run scripts/setup and scripts/build"};
}

Finding check_agent() {
  if (host::find_program(host::program_folder() / "idlewave-agent"))
    return {Health::kGood, "agent", (host::program_folder() / "idlewave-agent").string()};
  return {Health::kBroken, "agent",
          "idlewave-agent does not lie beside idlewave: ranks can't report; run scripts/build"};
}

Finding check_shared_memory() {
  const int memory = memfd_create("idlewave-doctor", MFD_CLOEXEC);
  const int again = memory < 0 ? -1 : open(fmt::format("/proc/{}/fd/{}", getpid(), memory).c_str(), O_RDWR | O_CLOEXEC);
  const bool works = again >= 0 && ftruncate(again, 1 << 20) == 0;
  if (again >= 0) close(again);
  if (memory >= 0) close(memory);
  if (works) return {Health::kGood, "shared memory", "memfd through /proc works"};
  return {Health::kBroken, "shared memory",
          "memfd_create and /proc/<pid>/fd are needed; mount /proc in this container"};
}

Finding check_session_folder() {
  const std::string name = host::new_session_name("doctor");
  char path[session::kSessionPathLimit];
  if (!session::session_path(name.c_str(), path) || !session::make_session_directory(name.c_str())) {
    return {Health::kBroken, "session folder",
            "can't be made or is open to others; remove it, or set IDLEWAVE_DIR to a folder of your own"};
  }
  session::remove_session_directory(name.c_str());
  return {Health::kGood, "session folder", std::string(path).substr(0, std::string(path).rfind('/'))};
}

wire::Status try_port(const std::string& folder) {
  const auto keys = link::make_session_keys(folder);
  if (!keys) return keys.error();
  const auto link = link::open_live({.endpoint = "tcp://127.0.0.1:*", .listen = true, .key = keys->server});
  return link ? wire::ok() : link.error();
}

Finding check_ports() {
  const std::string name = host::new_session_name("doctor");
  char path[session::kSessionPathLimit];
  if (!session::session_path(name.c_str(), path) || !session::make_session_directory(name.c_str()))
    return {Health::kLimited, "ports", "not tried without a session folder"};
  const wire::Status tried = try_port(path);
  session::remove_session_directory(name.c_str());
  if (tried) return {Health::kGood, "ports", "tcp can be listened on, with keys"};
  return {Health::kLimited, "ports", tried.error().message + "; sessions on one node work without"};
}

Finding check_likwid() {
  const auto reader = host::program_folder() / "idlewave-likwid-reader";
  if (!host::find_program(reader))
    return {Health::kLimited, "LIKWID",
            "built without it (apt-get install likwid, scripts/build): no bandwidth from its counters"};
  FILE* output = popen(fmt::format("'{}' 0:0 2>/dev/null", reader.string()).c_str(), "r");
  std::array<char, 512> line{};
  const bool answered = output && std::fgets(line.data(), line.size(), output);
  if (output) pclose(output);
  const std::string text(line.data(), std::strcspn(line.data(), "\n"));
  if (answered && text.starts_with("group "))
    return {Health::kGood, "LIKWID", "memory bandwidth from group " + text.substr(6)};
  return {Health::kLimited, "LIKWID", text.starts_with("error ") ? text.substr(6) : "the reader does not answer"};
}

Finding check_resctrl() {
  const std::string why_not = sampler::why_no_resctrl(sampler::Places().resctrl);
  if (why_not.empty()) return {Health::kGood, "resctrl", "memory bandwidth from mbm_total_bytes of each L3 cache"};
  return {Health::kLimited, "resctrl", why_not};
}

Finding check_power() {
  const std::string why_not = sampler::why_no_rapl(sampler::Places().rapl);
  if (why_not.empty()) return {Health::kGood, "power", "from the kernel's energy counters (RAPL)"};
  return {Health::kLimited, "power", why_not};
}

const char* to_words(Health health) {
  switch (health) {
    case Health::kGood: return "ok";
    case Health::kLimited: return "limited";
    case Health::kBroken: return "broken";
  }
  return "";
}

void print(const Finding& finding) {
  cli::print(fmt::format("{:7}  {:14}  {}\n", to_words(finding.health), finding.what, wire::printable(finding.text)));
}

}  // namespace

int doctor() {
  bool broken = false;
  for (const auto check :
       {check_terminal, check_characters, check_launcher, check_ring, check_agent, check_shared_memory,
        check_session_folder, check_ports, check_likwid, check_resctrl, check_power}) {
    const Finding finding = check();
    print(finding);
    broken = broken || finding.health == Health::kBroken;
  }
  return broken ? 1 : 0;
}

}  // namespace idlewave::cli
