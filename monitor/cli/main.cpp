#include <unistd.h>

#include <clocale>
#include <csignal>
#include <cstdlib>
#include <string_view>

#include "monitor/cli/arguments.h"
#include "monitor/cli/calibration/verb.h"
#include "monitor/cli/lessons/demo.h"
#include "monitor/cli/simulation/verbs.h"
#include "monitor/cli/verbs.h"
#include "monitor/process/exec.h"
#include "probe/wire/last_words.h"

namespace {

/// Before the constructors of globals: one that finds no memory ends in an abort, as no catch is there, and no memory for
/// the exception.
[[gnu::constructor(101)]] void end_without_memory() {
  constexpr std::size_t kLeast = 256 << 10;
  constexpr std::string_view kLine =
      "idlewave: there is not enough memory to start; free some, or raise its limit (ulimit -v)\n";
  void* volatile some = std::malloc(kLeast);  // or the compiler takes it for granted
  if (some == nullptr) {
    [[maybe_unused]] const auto written = write(STDERR_FILENO, kLine.data(), kLine.size());
    _exit(2);
  }
  std::free(some);
}

int call(int argc, char** argv) {
  using namespace idlewave::cli;
  const std::string_view verb = argc > 1 ? argv[1] : "";
  if (verb == "sim") return simulation::simulate(argc - 1, argv + 1);
  if (verb == "study") return simulation::study(argc - 1, argv + 1);
  if (verb == "calibrate") return calibration::calibrate(argc - 1, argv + 1);
  return dispatch(argc, argv, lessons::demo);
}

/// What was printed may lie in a buffer until now. `run` has said so itself, with an exit code of its own.
int end_with(int code, std::string_view verb) {
  const bool printed = std::fflush(stdout) == 0 && !std::ferror(stdout);
  if (printed || code != 0 || verb == "run") return code;
  return idlewave::cli::fail("standard output could not be written: nobody reads it, or the disk is full", 1);
}

}  // namespace

int main(int argc, char** argv) try {
  idlewave::process::occupy_closed_streams();
  idlewave::process::remember_what_was_inherited();
  std::setlocale(LC_CTYPE, "");
  std::signal(SIGXFSZ, SIG_IGN);  // A limit on file sizes ends a recording, with a message, and not us.
  return end_with(call(argc, argv), argc > 1 ? argv[1] : "");
} catch (...) {
  return idlewave::cli::fail(idlewave::wire::last_words(), 2);
}
