// idlewave-agent: one for each node and session. Collects what ranks report through shared memory, and streams it to
// monitors.

#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include <atomic>
#include <charconv>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <string>

#include "probe/agent/agent.h"
#include "probe/agent/background.h"
#include "probe/agent/deposit.h"
#include "probe/agent/keeper.h"
#include "probe/arguments/command_line.h"
#include "probe/machine/memory.h"
#include "probe/session/trouble_log.h"
#include "probe/wire/printable.h"
#include "probe/words/quantity.h"

namespace {

using idlewave::agent::Agent;
using idlewave::agent::Background;
using idlewave::agent::Keeper;
using idlewave::agent::leave_with_host;
using idlewave::agent::Options;
using idlewave::agent::Post;
using idlewave::agent::Segment;
using idlewave::arguments::CommandLine;

constexpr int kBadUsage = 2;
constexpr std::uint64_t kLeastBuffer = 1'000'000;
constexpr std::uint64_t kMostBuffer = 1'000'000'000'000;
/// A rank that starts an agent gives up after 5 s, and joins at once where it succeeds.
constexpr auto kPatienceForStarter = std::chrono::seconds(6);

std::atomic<bool> g_stop{false};
std::atomic<bool> g_no_more_ranks{false};

struct Arguments {
  idlewave::agent::Options options;
  std::string buffer = "256MB";
  std::string clock;
  int processor = -1;
  bool detach = false;
};

/// SIGTERM ends the stream properly; SIGURG, by which nobody is harmed who does not know it, says that the program is over
/// and no rank will come any more. What a terminal or a closed connection sends is not for us: the agent ends when
/// its ranks do. Memory that is larger than files may be is refused, and there is less of it then.
void set_signals() {
  struct sigaction action {};
  action.sa_handler = [](int) { g_stop = true; };
  sigaction(SIGTERM, &action, nullptr);
  action.sa_handler = [](int) { g_no_more_ranks = true; };
  sigaction(SIGURG, &action, nullptr);
  for (const int number : {SIGINT, SIGHUP, SIGPIPE, SIGXFSZ}) signal(number, SIG_IGN);
}

/// The first rank starts the agent, and may have limits for itself: as far as a process may, none of them is the agent's.
void lift_limits() {
  for (const auto resource : {RLIMIT_AS, RLIMIT_CPU, RLIMIT_DATA, RLIMIT_FSIZE, RLIMIT_NOFILE}) {
    rlimit limit{};
    if (getrlimit(resource, &limit) != 0 || limit.rlim_cur == limit.rlim_max) continue;
    limit.rlim_cur = limit.rlim_max;
    setrlimit(resource, &limit);
  }
}

std::string beside_this_program(const char* name) {
  std::string path(4096, '\0');
  const ssize_t length = readlink("/proc/self/exe", path.data(), path.size());
  path.resize(length > 0 ? std::size_t(length) : 0);
  return path.substr(0, path.rfind('/') + 1) + name;
}

/// Empty if it is understood, as the check of an option wants it.
std::string read_buffer_size(const std::string& text, std::uint64_t& bytes) {
  const auto size = idlewave::words::parse_bytes_within(text, kLeastBuffer, kMostBuffer);
  if (!size) return size.error().message;
  bytes = *size;
  return {};
}

/// Empty if it is understood, as the check of an option wants it.
std::string read_clock(const std::string& text, std::optional<idlewave::shm::ClockReading>& clock) {
  idlewave::shm::ClockReading reading;
  const char* const end = text.data() + text.size();
  const auto [counter_end, counter_error] = std::from_chars(text.data(), end, reading.counter);
  if (counter_error != std::errc() || counter_end == end || *counter_end != ':') return "COUNTER:NANOSECONDS";
  const auto [ns_end, ns_error] = std::from_chars(counter_end + 1, end, reading.ns);
  if (ns_error != std::errc() || ns_end != end) return "COUNTER:NANOSECONDS";
  clock = reading;
  return {};
}

void describe(CommandLine& app, Arguments& arguments) {
  auto& options = arguments.options;
  app.add("--session", options.session, "Name of the session (IDLEWAVE_SESSION of its ranks)")
      .type_name("NAME")
      .required();
  app.add("--connect", options.connect,
          "Endpoint of a monitor that listens, as tcp://login1:7000; at-hand: what listens in the session's folder")
      .type_name("ENDPOINT");
  app.add("--listen", options.listen, "Endpoint where monitors attach (a socket in the session's folder)")
      .type_name("ENDPOINT");
  app.add_flag("--detach", arguments.detach, "Go into the background when ranks can join");
  app.add_flag("--allow-inject", options.allow_inject, "Let operators order delays and noise");
  app.add("--cpu", arguments.processor, "Run on this processor only (any)").type_name("N").within(0, 8191);
  app.add("--slots", options.slots,
          "Most ranks on this node (" + std::to_string(options.slots) +
              "); fewer where there are no addresses for them (ulimit -v)")
      .type_name("N")
      .within(1, 1 << 20);
  app.add("--ring-events", options.ring_events,
          "Events kept for each rank until the agent looks (" + std::to_string(options.ring_events) +
              "); a power of two")
      .type_name("N")
      .within(64, 1 << 24)
      .check([](const std::string& text) {
        return (std::stoul(text) & (std::stoul(text) - 1)) == 0 ? "" : "a power of two";
      });
  app.add("--buffer", arguments.buffer, "Memory for monitors that read slowly (" + arguments.buffer + ")")
      .type_name("SIZE")
      .check([&options](const std::string& text) { return read_buffer_size(text, options.buffer_bytes); });
  app.add("--key", options.key, "Key file, for tcp: the session's key.agent to --connect, its key.server to --listen")
      .type_name("FILE");
  app.add("--listen-key", options.listen_key, "Its key.server, where --key is taken by --connect").type_name("FILE");
  app.add("--clock", arguments.clock, "Both clocks of this machine at an earlier moment; ranks say it")
      .type_name("COUNTER:NANOSECONDS")
      .check([&options](const std::string& text) { return read_clock(text, options.clock); });
  app.add("--resctrl", options.bandwidth.resctrl,
          "Where the resctrl file system is mounted (" + options.bandwidth.resctrl + ")")
      .type_name("FOLDER");
  app.add("--powercap", options.bandwidth.rapl,
          "Where the kernel shows energy counters (" + options.bandwidth.rapl + ")")
      .type_name("FOLDER");
  app.add("--left-by", options.left_by,
          "Tell what an agent left that was ended with all its ranks, for the node of this name: its memory is our "
          "standard input")
      .type_name("NODE");
}

int fail(Background& starter, const std::string& message) {
  starter.report(EXIT_FAILURE, "idlewave-agent: " + message);
  return EXIT_FAILURE;
}

int collect(const idlewave::agent::Options& options, Post post, Background starter) {
  auto agent = Agent::open(options, std::move(post));
  if (!agent) return fail(starter, agent.error().message);
  starter.report(EXIT_SUCCESS, "");
  (*agent)->run(g_stop, g_no_more_ranks);
  return EXIT_SUCCESS;
}

int work(const Arguments& arguments, Background starter) {
  const idlewave::agent::Options& options = arguments.options;
  auto post = Post::take(options);
  if (!post) return fail(starter, post.error().message);
  if (*post == nullptr) {
    starter.report(EXIT_SUCCESS, "idlewave-agent: session " + options.session + " has an agent already");
    return EXIT_SUCCESS;
  }
  leave_with_host(options, *(*post)->segment);
  if (!arguments.detach) return collect(options, std::move(**post), starter);
  Keeper keeper(options.session, std::move(*post), [&](Post of_keeper, Background of_starter) {
    return collect(options, std::move(of_keeper), of_starter);
  });
  return keeper.run(starter);
}

int tell_what_is_left(const Options& options) {
  auto segment = Segment::take(STDIN_FILENO);
  const auto told = segment ? Agent::tell_what_is_left(options, std::move(*segment)) : segment.error();
  if (told) return EXIT_SUCCESS;
  const std::string line = "what node " + options.left_by + " left can't be told: " + told.error().message;
  idlewave::session::note_trouble(options.session.c_str(), line.c_str());
  return EXIT_FAILURE;
}

/// What a library throws, such as for want of memory, is told to whoever waits for the agent to start.
int run(const Arguments& arguments) {
  Background starter = arguments.detach ? Background::enter() : Background::stay();
  try {
    if (!arguments.options.left_by.empty()) return tell_what_is_left(arguments.options);
    return work(arguments, starter);
  } catch (const std::exception& error) {
    starter.report(kBadUsage, std::string("idlewave-agent: ") + error.what());
    return kBadUsage;
  }
}

/// -1: go on.
int parse(CommandLine& app, int argc, char** argv, Arguments& arguments) {
  describe(app, arguments);
  if (const auto ending = app.parse(argc, argv)) {
    if (ending->refused)
      std::fprintf(stderr, "idlewave-agent: %s\n", idlewave::wire::printable(ending->text).c_str());
    else
      std::fputs(ending->text.c_str(), stdout);
    return ending->refused ? kBadUsage : EXIT_SUCCESS;
  }
  if (!idlewave::agent::set_processor(arguments.processor) && arguments.processor >= 0) {
    std::fprintf(stderr, "idlewave-agent: --cpu %d: this process may not run there\n", arguments.processor);
    return kBadUsage;
  }
  return -1;
}

}  // namespace

int main(int argc, char** argv) try {
  Arguments arguments;
  CommandLine app(
      "Collects the events of one node's ranks and streams them to monitors; usually started when the first rank "
      "begins.",
      "idlewave-agent");
  if (const int code = parse(app, argc, argv, arguments); code >= 0) return code;
  arguments.options.bandwidth.likwid_reader = beside_this_program("idlewave-likwid-reader");
  if (const char* group = std::getenv("IDLEWAVE_LIKWID_GROUP")) arguments.options.bandwidth.likwid_group = group;
  if (const char* curve = std::getenv("IDLEWAVE_DOMAIN_CURVE"))
    if (const auto calibrated = idlewave::words::parse_domain_curve(curve)) arguments.options.calibrated = *calibrated;
  if (arguments.detach) arguments.options.patience = kPatienceForStarter;
  set_signals();
  lift_limits();
  idlewave::machine::be_first_without_memory();
  return run(arguments);
} catch (const std::exception& error) {
  std::fprintf(stderr, "idlewave-agent: %s\n", error.what());
  return kBadUsage;
}
