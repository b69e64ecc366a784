#include <clocale>
#include <csignal>

#include "monitor/cli/arguments.h"
#include "monitor/process/exec.h"

int main(int argc, char** argv) {
  idlewave::process::remember_inherited_signals();
  std::setlocale(LC_CTYPE, "");
  std::signal(SIGXFSZ, SIG_IGN);  // A limit on file sizes ends a recording, with a message, and not us.
  return idlewave::cli::dispatch(argc, argv);
}
