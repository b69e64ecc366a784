// The agents of many nodes, played: to be started under `idlewave run --listen tcp://...`, whose host hears them all. Each
// connects by itself, tells of its ranks, and sends their events ten times a second. At its end it prints what the host has
// taken meanwhile. Usage: iw-bench-nodes NODES RANKS-OF-A-NODE EVENTS-PER-RANK-AND-SECOND SECONDS
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <thread>

#include "probe/outlet/outlet.h"
#include "probe/wire/codec.h"

namespace idlewave::bench {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using wire::Nanoseconds;

constexpr int kNodesOfAProcess = 50;
constexpr Nanoseconds kFramePeriod = milliseconds(100);

struct Size {
  int nodes = 0;
  int ranks = 0;   ///< Of a node.
  int events = 0;  ///< Of a rank, a second.
  int seconds = 0;
};

Nanoseconds node_clock() { return std::chrono::steady_clock::now().time_since_epoch(); }

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

class PlayedAgent {
 public:
  PlayedAgent(int node, const Size& size) : node_(node), size_(size) {
    auto outlet = outlet::Outlet::open({.session = variable("IDLEWAVE_SESSION"),
                                        .node = fmt::format("n{}", node),
                                        .connect = variable("IDLEWAVE_ENDPOINT"),
                                        .key = variable("IDLEWAVE_KEY"),
                                        .node_clock = node_clock});
    if (!outlet) {
      std::fprintf(stderr, "iw-bench-nodes: %s\n", outlet.error().message.c_str());
      std::exit(1);
    }
    outlet_ = std::move(*outlet);
    outlet_->send(roster());
  }

  void tell(Nanoseconds from, Nanoseconds to, bool last) {
    wire::Events told{to, {}};
    const int events = std::max(1, int(size_.events * (to - from).count() / 1'000'000'000));
    std::vector<std::vector<wire::Event>> of_ranks(std::size_t(size_.ranks));
    std::vector<wire::LaneBatch> batches;
    for (int rank = 0; rank < size_.ranks; ++rank) {
      auto& lane = of_ranks[std::size_t(rank)];
      for (int i = 0; i < events; ++i)
        lane.push_back({.time = from + (to - from) * i / events,
                        .value = 0,
                        .kind = wire::EventKind::kSwitch,
                        .phase = i % 2 == 0 ? wire::Phase::kCompute : wire::Phase::kWait});
      if (last) lane.push_back({.time = to, .kind = wire::EventKind::kStop});
      batches.push_back({{wire::LaneId::Kind::kRank, node_ * size_.ranks + rank}, lane});
    }
    wire::encode_events(batches, told.blob);
    told.round_trips = outlet_->take_round_trips();
    outlet_->send(std::move(told));
  }
  void serve() { outlet_->serve(Nanoseconds(0)); }
  bool finish() { return outlet_->finish(seconds(10)); }

 private:
  wire::Roster roster() const {
    wire::Roster roster{.world_size = size_.nodes * size_.ranks, .agent_pid = 1000 + node_};
    roster.unix_time_ns =
        std::chrono::duration_cast<Nanoseconds>(std::chrono::system_clock::now().time_since_epoch()).count();
    roster.node_time = node_clock();
    for (int rank = 0; rank < size_.ranks; ++rank) roster.ranks.push_back({node_ * size_.ranks + rank, 1 + rank});
    return roster;
  }

  int node_;
  Size size_;
  std::unique_ptr<outlet::Outlet> outlet_;
};

/// Some of the agents. They answer as often as real ones do, and tell at the same moments.
int play(int first, int last, const Size& size) {
  std::vector<std::unique_ptr<PlayedAgent>> agents;
  for (int node = first; node < last; ++node) agents.push_back(std::make_unique<PlayedAgent>(node, size));
  const Nanoseconds end = node_clock() + seconds(size.seconds);
  for (Nanoseconds from = node_clock(), to; from < end; from = to) {
    for (const auto& agent : agents) agent->serve();
    std::this_thread::sleep_for(milliseconds(20));
    to = from;
    if (node_clock() - from < kFramePeriod) continue;
    to = node_clock();
    for (const auto& agent : agents) agent->tell(from, to, to >= end);
  }
  std::vector<std::thread> endings;
  std::atomic<int> unheard = 0;
  for (const auto& agent : agents) endings.emplace_back([&] { unheard += agent->finish() ? 0 : 1; });
  for (std::thread& ending : endings) ending.join();
  if (unheard > 0) std::fprintf(stderr, "iw-bench-nodes: the end of %d nodes was not taken\n", unheard.load());
  return unheard == 0 ? 0 : 1;
}

/// Of the host, which has started us: processor time in seconds, and its most memory in MB.
std::pair<double, double> taken_by_host() {
  std::string stat, word;
  std::getline(std::ifstream(fmt::format("/proc/{}/stat", getppid())), stat);
  std::istringstream fields(stat.substr(stat.rfind(')') + 2));
  for (int i = 0; i < 11; ++i) fields >> word;
  double user = 0, system = 0, peak = 0;
  fields >> user >> system;
  std::ifstream status(fmt::format("/proc/{}/status", getppid()));
  while (status >> word)
    if (word == "VmHWM:") status >> peak;
  return {(user + system) / double(sysconf(_SC_CLK_TCK)), peak / 1024};
}

int play_all(const Size& size) {
  std::vector<pid_t> players;
  for (int first = 0; first < size.nodes; first += kNodesOfAProcess) {
    const pid_t player = fork();
    if (player == 0) _exit(play(first, std::min(first + kNodesOfAProcess, size.nodes), size));
    players.push_back(player);
  }
  int failed = 0;
  for (const pid_t player : players) {
    int status = 0;
    waitpid(player, &status, 0);
    failed += status != 0;
  }
  const auto [busy, peak] = taken_by_host();
  fmt::print(
      "{{\"nodes\": {}, \"events_per_s\": {}, \"host_cpu_share\": {:.3f}, \"host_peak_mb\": {:.0f}, \"unheard\": "
      "{}}}\n",
      size.nodes, std::int64_t(size.nodes) * size.ranks * size.events, busy / size.seconds, peak, failed);
  return failed == 0 ? 0 : 1;
}

}  // namespace
}  // namespace idlewave::bench

int main(int argc, char** argv) {
  if (argc != 5) return std::fprintf(stderr, "usage: iw-bench-nodes NODES RANKS EVENTS-PER-S SECONDS\n"), 2;
  return idlewave::bench::play_all({std::atoi(argv[1]), std::atoi(argv[2]), std::atoi(argv[3]), std::atoi(argv[4])});
}
