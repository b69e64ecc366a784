#include <filesystem>

#include "monitor/cli/paths.h"
#include "monitor/cli/session.h"
#include "monitor/cli/verbs.h"

namespace idlewave::cli {
namespace {

/// "mpirun -n 4 ./a.out --x" is best named after its program; the first word that is no launcher's and can be run, else the launcher.
std::string program_label(const std::vector<std::string>& command) {
  for (std::size_t i = 1; i < command.size(); ++i) {
    if (!command[i].starts_with('-') && find_program(command[i])) return std::filesystem::path(command[i]).filename();
  }
  return std::filesystem::path(command.front()).filename();
}

int watch(Session& session, const RunOptions& options, LauncherKind kind) {
  Monitor monitor(session.take_link(), {.session = session.name(),
                                          .label = program_label(options.command),
                                          .starting = options.command.front() + " is starting; its ranks are seen once they call idlewave_start",
                                          .memory = options.memory});
  if (!options.record.empty()) {
    const wire::Status recording = monitor.start_recording(options.record, Nanoseconds{0});
    if (!recording) return fail(recording.error().message, 2);
  }
  const wire::Status started = session.start(options.command, kind, !options.headless);
  if (!started) return fail(started.error().message, 1);
  const int code = finish_recording(monitor, watch_program(session, monitor, options.headless, never));
  if (options.headless) print_result(monitor, options);
  return code;
}

}  // namespace

int run(const RunOptions& options) {
  const auto body = [&] {
    const std::string name = options.session.empty() ? new_session_name(program_label(options.command)) : options.session;
    auto session = Session::open(name, options.listen);
    if (!session) return fail(session.error().message, 2);
    return watch(*session, options, launcher_kind(options.command.front(), options.mpi));
  };
  return options.headless ? body() : guarded(body);
}

}  // namespace idlewave::cli
