#include <cstdio>

#include "monitor/cli/host_record.h"
#include "monitor/cli/paths.h"
#include "monitor/cli/verbs.h"
#include "monitor/cli/watching.h"

namespace idlewave::cli {
namespace {

/// A peer that is not there, refuses or has gone for good ends a headless watch; on a screen it is told there.
bool nothing_will_come(const link::LinkStatus& status) {
  return status.state == link::LinkState::kEnded || status.state == link::LinkState::kLost || status.state == link::LinkState::kRefused;
}

/// What runs here, for whoever wants to join.
int list_sessions() {
  const std::vector<std::string> sessions = running_sessions();
  if (sessions.empty()) return fail("no session runs on this node; start one with 'idlewave run' or 'idlewave demo', or name an endpoint", 2);
  for (const std::string& session : sessions) {
    const auto host = read_host_record(session);
    std::printf("%-24s %s\n", session.c_str(), host ? host->program.c_str() : "");
  }
  return 0;
}

/// A session is best named after its program.
std::string label_of(const std::string& session) {
  const auto host = read_host_record(session);
  return host ? host->label : session;
}

int watch(Monitor& monitor, const AttachOptions& options) {
  if (!options.record.empty()) {
    const wire::Status recording = monitor.start_recording(options.record, Nanoseconds{0});
    if (!recording) return fail(recording.error().message, 2);
  }
  const auto done = [&](Nanoseconds) {
    const bool hopeless = monitor.observer().timeline().empty() && monitor.link_status().state != link::LinkState::kEnded;
    return nothing_will_come(monitor.link_status()) && (options.headless || hopeless);
  };
  const int code = options.headless ? watch_headless(monitor, done) : watch_on_screen(monitor, done);
  const link::LinkStatus status = monitor.link_status();
  if (code == 0 && (status.state == link::LinkState::kLost || status.state == link::LinkState::kRefused)) return fail(status.detail, 1);
  return code;
}

}  // namespace

int attach(const AttachOptions& options) {
  if (options.endpoint.empty()) return list_sessions();
  const auto endpoint = endpoint_of(options.endpoint);
  if (!endpoint) return fail(endpoint.error().message, 2);
  const auto body = [&] {
    auto link = link::open_live({.endpoint = *endpoint, .key = options.key, .role = options.view_only ? wire::Role::kSpectator : wire::Role::kOperator});
    if (!link) return fail(link.error().message, 2);
    Monitor monitor(std::move(*link), {.label = label_of(options.endpoint), .memory = options.memory, .hosted = read_host_record(options.endpoint) ? options.endpoint : ""});
    const int code = finish_recording(monitor, watch(monitor, options));
    if (options.headless) print_result(monitor, options);
    return code;
  };
  return options.headless ? body() : guarded(body);
}

}  // namespace idlewave::cli
