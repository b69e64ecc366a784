#include "monitor/cli/verbs.h"

namespace idlewave::cli {
namespace {

template <class Options>
Options silently(const std::string& path) {
  Options options;
  options.record = path;
  options.headless = true;
  options.without_screen = true;
  return options;
}

}  // namespace

int record(const RecordOptions& options) {
  if (options.command.empty()) {
    auto joined = silently<AttachOptions>(options.path);
    joined.endpoint = options.session;
    joined.over = options.over;
    return attach(joined);
  }
  auto started = silently<RunOptions>(options.path);
  started.session = options.session;
  started.agents_over = options.agents_over;
  started.command = options.command;
  return run(started);
}

}  // namespace idlewave::cli
