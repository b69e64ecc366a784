#include "monitor/link/carrier.h"

#include <unistd.h>

#include <csignal>
#include <cstdlib>

#include "monitor/cli/paths.h"
#include "monitor/cli/verbs.h"
#include "monitor/host/agent_carrier.h"
#include "probe/signals/stop_signals.h"

namespace idlewave::cli {
namespace {

int carry_agents(const CarryOptions& options) {
  if (!options.directory.empty()) setenv("IDLEWAVE_DIR", options.directory.c_str(), 1);
  std::signal(SIGPIPE, SIG_IGN);
  const signals::StopSignals signals;
  const wire::Status carried = host::carry_agents({.session = options.session, .stop = signals.fd()});
  return carried ? 0 : fail(carried.error().message, 1);
}

}  // namespace

int carry(const CarryOptions& options) {
  if (isatty(STDIN_FILENO) || isatty(STDOUT_FILENO))
    return fail("carry speaks to a program: 'idlewave attach NAME --over \"ssh HOST\"' elsewhere starts it here", 2);
  if (options.agents) return carry_agents(options);
  const auto session = find_session(options.session);
  if (!session) return fail(session.error().message, 2);
  std::signal(SIGPIPE, SIG_IGN);
  const wire::Status carried =
      link::carry({.endpoint = session->endpoint,
                   .key = options.key.empty() ? session->key : options.key,
                   .greeting = {.role = options.view_only ? wire::Role::kSpectator : wire::Role::kOperator,
                                .session = session->name,
                                .label = session->label}});
  return carried ? 0 : fail(carried.error().message, 1);
}

}  // namespace idlewave::cli
