// idlewave-agent: one for each node and session. Collects what ranks report through shared memory, and streams it to
// monitors.

#include <signal.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <atomic>
#include <cstdio>
#include <string>

#include "probe/agent/agent.h"
#include "probe/agent/background.h"
#include "probe/wire/printable.h"

namespace {

using idlewave::agent::Agent;
using idlewave::agent::Background;

constexpr int kBadUsage = 2;

std::atomic<bool> g_stop{false};

struct Arguments {
  idlewave::agent::Options options;
  std::string buffer = "256MB";
  std::string key;
  int processor = -1;
  bool detach = false;
};

/// SIGTERM ends the stream properly. What a terminal or a closed connection sends is not for us: the agent ends when
/// its ranks do.
void set_signals() {
  struct sigaction action {};
  action.sa_handler = [](int) { g_stop = true; };
  sigaction(SIGTERM, &action, nullptr);
  for (const int number : {SIGINT, SIGHUP, SIGPIPE}) signal(number, SIG_IGN);
}

std::string beside_this_program(const char* name) {
  std::string path(4096, '\0');
  const ssize_t length = readlink("/proc/self/exe", path.data(), path.size());
  path.resize(length > 0 ? std::size_t(length) : 0);
  return path.substr(0, path.rfind('/') + 1) + name;
}

/// "256MB", "1.5 GB"; empty if it is understood, as CLI11 wants it.
std::string parse_size(const std::string& text, std::uint64_t& bytes) {
  const char* wanted = "a size with its unit, as 256MB (KB, MB or GB), from 1 MB to 1000 GB";
  double number = 0;
  int used = 0;
  if (std::sscanf(text.c_str(), "%lf %n", &number, &used) != 1) return wanted;
  const std::string unit = text.substr(std::size_t(used));
  const double scale = unit == "KB" ? 1e3 : unit == "MB" ? 1e6 : unit == "GB" ? 1e9 : 0;
  if (!(number * scale >= 1e6 && number * scale <= 1e12)) return wanted;
  bytes = std::uint64_t(number * scale);
  return {};
}

void describe(CLI::App& app, Arguments& arguments) {
  auto& options = arguments.options;
  app.add_option("--session", options.session, "name of the session (IDLEWAVE_SESSION of its ranks)")->required();
  app.add_option("--connect", options.connect, "endpoint of a monitor that listens, as tcp://login1:7000");
  app.add_option("--listen", options.listen,
                 "endpoint where monitors attach (default: a socket in the session's folder)");
  app.add_flag("--detach", arguments.detach, "go into the background when ranks can join");
  app.add_option("--cpu", arguments.processor, "run on this processor only (default: any)")->check(CLI::Range(0, 8191));
  app.add_option("--slots", options.slots, "most ranks on this node")
      ->check(CLI::Range(1, 1 << 20))
      ->capture_default_str();
  app.add_option("--ring-events", options.ring_events,
                 "events kept for each rank until the agent looks; a power of two")
      ->check(CLI::Range(64, 1 << 24))
      ->check([](const std::string& text) {
        return (std::stoul(text) & (std::stoul(text) - 1)) == 0 ? "" : "a power of two";
      })
      ->capture_default_str();
  app.add_option("--buffer", arguments.buffer, "memory for monitors that read slowly")
      ->check([&options](const std::string& text) { return parse_size(text, options.buffer_bytes); })
      ->capture_default_str();
  app.add_option("--key", arguments.key, "key file: not supported");
}

int run(const Arguments& arguments, Background& background) {
  auto agent = Agent::open(arguments.options);
  if (!agent) {
    background.report(EXIT_FAILURE, "idlewave-agent: " + agent.error().message);
    return EXIT_FAILURE;
  }
  if (*agent == nullptr) {
    background.report(EXIT_SUCCESS, "idlewave-agent: session " + arguments.options.session + " has an agent already");
    return EXIT_SUCCESS;
  }
  background.report(EXIT_SUCCESS, "");
  (*agent)->run(g_stop);
  return EXIT_SUCCESS;
}

}  // namespace

int main(int argc, char** argv) {
  Arguments arguments;
  CLI::App app(
      "Collects the events of one node's ranks and streams them to monitors; usually started by the first rank.",
      "idlewave-agent");
  describe(app, arguments);
  app.failure_message([](const CLI::App*, const CLI::Error& error) {
    return "idlewave-agent: " + idlewave::wire::printable(error.what()) + "\n";
  });
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? EXIT_SUCCESS : kBadUsage;
  }
  if (!arguments.key.empty()) {
    std::fprintf(stderr,
                 "idlewave-agent: --key: keys are not supported; without one, the session's folder and its sockets are "
                 "this user's alone\n");
    return kBadUsage;
  }
  if (!idlewave::agent::set_processor(arguments.processor) && arguments.processor >= 0) {
    std::fprintf(stderr, "idlewave-agent: --cpu %d: this process may not run there\n", arguments.processor);
    return kBadUsage;
  }
  arguments.options.likwid_reader = beside_this_program("idlewave-likwid-reader");
  set_signals();
  Background background = arguments.detach ? Background::enter() : Background::stay();
  return run(arguments, background);
}
