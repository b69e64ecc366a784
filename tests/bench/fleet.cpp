// iw-bench-fleet NODES RANKS-A-NODE EVENTS-A-SECOND SECONDS FILE: the agents of so many nodes, each with its own stream
// to the session that this was started in. Their ranks are those of one memory-bound program, whose events are so many
// a second in all; it is simulated beforehand and told as fast as it would run. When the first event goes, FILE is
// made; how many there were stands in it at the end.

#include <fmt/format.h>
#include <time.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "probe/outlet/outlet.h"
#include "probe/wire/codec.h"
#include "workloads/sim/emitter/emitter.h"
#include "workloads/sim/simulator.h"

namespace {

using namespace idlewave;
using wire::Nanoseconds;
using Clock = std::chrono::steady_clock;

constexpr int kRanksOnDomain = 10;
constexpr double kEventsOfStep = 4;  ///< Of a rank: a step, work, waiting, and traffic.

support::Scenario program_of(wire::Rank ranks, double events_per_second, double seconds) {
  support::Scenario scenario;
  scenario.machine = {.ranks = ranks, .ranks_per_domain = kRanksOnDomain};
  scenario.machine.core_bandwidth = 10e9;
  scenario.machine.domain_bandwidth = 50e9;
  const double step = kEventsOfStep * double(ranks) / events_per_second;
  scenario.program = {.steps = wire::Step(seconds / step), .kernel = support::Kernel::kMemory};
  scenario.program.volume = std::uint64_t(step * scenario.machine.domain_bandwidth / kRanksOnDomain);
  scenario.communication.distances = {-1, 1};
  scenario.communication.topology = support::Topology::kRing;
  scenario.noise.distribution = support::ExponentialNoise{std::chrono::microseconds(100)};
  scenario.noise.seed = 1;
  return scenario;
}

/// What one node says, in its order.
struct Script {
  wire::Roster roster;
  std::vector<wire::Events> frames;
};

/// Shares out among nodes what the simulator says as one.
class Nodes final : public sim::emitter::Stream {
 public:
  Nodes(int nodes, wire::Rank ranks_on_node) : ranks_on_node_(ranks_on_node), scripts_(std::size_t(nodes)) {}

  const std::vector<Script>& scripts() const { return scripts_; }
  std::uint64_t events() const { return events_; }

 private:
  std::size_t node_of(wire::LaneId lane) const {
    const int rank = lane.kind == wire::LaneId::Kind::kRank ? lane.index : lane.index * kRanksOnDomain;
    return std::size_t(rank / ranks_on_node_);
  }
  void send(wire::Roster roster) override {
    for (Script& script : scripts_) {
      script.roster = roster;
      script.roster.ranks.clear();
      script.roster.domains.clear();
    }
    for (const wire::RankInfo& rank : roster.ranks)
      scripts_[node_of({wire::LaneId::Kind::kRank, rank.rank})].roster.ranks.push_back(rank);
    for (const wire::DomainInfo& domain : roster.domains)
      scripts_[node_of({wire::LaneId::Kind::kDomain, domain.id})].roster.domains.push_back(domain);
  }
  void send(wire::Events events) override {
    std::vector<std::vector<wire::LaneBatch>> shares(scripts_.size());
    const auto batches = decoder_.decode(events.blob);
    for (const wire::LaneBatch& batch : *batches) {
      shares[node_of(batch.lane)].push_back(batch);
      events_ += batch.events.size();
    }
    for (std::size_t node = 0; node < shares.size(); ++node) {
      wire::Events share{.up_to = events.up_to, .blob = {}};
      wire::encode_events(shares[node], share.blob);
      scripts_[node].frames.push_back(std::move(share));
    }
  }

  wire::Rank ranks_on_node_;
  std::vector<Script> scripts_;
  wire::EventDecoder decoder_;
  std::uint64_t events_ = 0;
};

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

std::vector<std::unique_ptr<outlet::Outlet>> open_outlets(std::size_t nodes, Clock::time_point begin) {
  std::vector<std::unique_ptr<outlet::Outlet>> outlets;
  for (std::size_t node = 0; node < nodes; ++node) {
    outlet::Options options;
    options.session = variable("IDLEWAVE_SESSION");
    options.connect = variable("IDLEWAVE_ENDPOINT");
    options.key = variable("IDLEWAVE_KEY");
    options.node = fmt::format("n{:03}", node);
    options.node_clock = [begin] { return Nanoseconds(Clock::now() - begin); };
    auto outlet = outlet::Outlet::open(options);
    if (!outlet) {
      std::fprintf(stderr, "iw-bench-fleet: %s\n", outlet.error().message.c_str());
      std::exit(1);
    }
    outlets.push_back(std::move(*outlet));
  }
  return outlets;
}

std::int64_t wall_clock_ns() {
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  return std::int64_t(now.tv_sec) * 1'000'000'000 + now.tv_nsec;
}

/// Each frame when its last event has happened, as an agent sends it.
void tell(const Nodes& nodes, const std::string& file) {
  const Clock::time_point begin = Clock::now();
  const auto outlets = open_outlets(nodes.scripts().size(), begin);
  for (std::size_t node = 0; node < outlets.size(); ++node) {
    wire::Roster roster = nodes.scripts()[node].roster;
    roster.unix_time_ns = wall_clock_ns();
    roster.node_time = Nanoseconds(Clock::now() - begin);
    roster.began = Nanoseconds{0};
    outlets[node]->send(std::move(roster));
  }
  std::ofstream(file).flush();
  const std::size_t frames = nodes.scripts().front().frames.size();
  for (std::size_t frame = 0; frame < frames; ++frame) {
    const Clock::time_point due = begin + nodes.scripts().front().frames[frame].up_to;
    do
      for (const auto& outlet : outlets) outlet->serve(Nanoseconds{0});
    while (Clock::now() < due && (std::this_thread::sleep_for(std::chrono::milliseconds(5)), true));
    for (std::size_t node = 0; node < outlets.size(); ++node) outlets[node]->send(nodes.scripts()[node].frames[frame]);
  }
  for (const auto& outlet : outlets) outlet->finish(std::chrono::seconds(20));
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 6) {
    std::fputs("usage: iw-bench-fleet NODES RANKS-A-NODE EVENTS-A-SECOND SECONDS FILE\n", stderr);
    return 2;
  }
  const int nodes = std::atoi(argv[1]), ranks = std::atoi(argv[2]);
  if (nodes < 1 || ranks < 1 || ranks % kRanksOnDomain != 0) {
    std::fprintf(stderr, "iw-bench-fleet: at least a node, and ranks of one in tens, as in 100 nodes with 100 each\n");
    return 2;
  }
  const support::Scenario scenario = program_of(nodes * ranks, std::atof(argv[3]), std::atof(argv[4]));
  if (scenario.program.steps < 1) {
    std::fprintf(stderr, "iw-bench-fleet: %s events a second of all ranks are not a step of each in %s s\n", argv[3],
                 argv[4]);
    return 2;
  }
  const auto prepared = sim::prepare(scenario, {});
  const auto model = sim::model_of(scenario);
  Nodes fleet(nodes, ranks);
  sim::emitter::Emitter emitter(scenario, *model, sim::waits_of(scenario, *model), "fleet", fleet);
  emitter.finish(sim::play(*prepared, emitter, nullptr)->until);
  tell(fleet, argv[5]);
  std::ofstream(argv[5]) << "events " << fleet.events() << '\n';
}
