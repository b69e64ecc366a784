#include "monitor/cli/verbs.h"
#include "monitor/term/terminfo.h"

namespace idlewave::cli {

int guarded(const std::function<int()>& body, process::GuardOptions options) {
  options.program = "idlewave";
  options.terminal_reset = term::leave_sequence();
  return process::run_guarded(options, body);
}

}  // namespace idlewave::cli
