#include "monitor/cli/verbs.h"
#include "monitor/process/guard.h"
#include "monitor/term/terminfo.h"

namespace idlewave::cli {

int guarded(const std::function<int()>& body) { return process::run_guarded({.program = "idlewave", .terminal_reset = term::leave_sequence()}, body); }

}  // namespace idlewave::cli
