#include <clocale>
#include <csignal>

#include "monitor/cli/arguments.h"
#include "monitor/cli/verbs.h"
#include "monitor/process/exec.h"
#include "probe/wire/last_words.h"

int main(int argc, char** argv) try {
  idlewave::process::occupy_closed_streams();
  idlewave::process::remember_inherited_signals();
  std::setlocale(LC_CTYPE, "");
  std::signal(SIGXFSZ, SIG_IGN);  // A limit on file sizes ends a recording, with a message, and not us.
  return idlewave::cli::dispatch(argc, argv);
} catch (...) {
  return idlewave::cli::fail(idlewave::wire::last_words(), 2);
}
