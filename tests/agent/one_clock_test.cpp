// One clock for all who watch a session: whoever attaches, wherever and whenever, reads the same moment for the same
// step. With real agents and ranks, also such whose machine has another name and another clock, a relay that has
// forgotten, and listeners that come at random moments.

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <random>

#include "monitor/ingest/ingest.h"
#include "probe/outlet/outlet.h"
#include "tests/agent/stage.h"
#include "tests/any_seed.h"
#include "tests/remove_folder.h"

namespace idlewave::test {
namespace {

using std::chrono::milliseconds;

/// Between the clocks of two nodes, which are compared by the wall clock: two readings by a process that may lose its
/// core in between.
constexpr Nanoseconds kBetweenNodes = milliseconds(100);

class Folder {
 public:
  Folder() {
    if (mkdtemp(path_) == nullptr) std::abort();
  }
  ~Folder() { remove_folder(path_); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  const char* path() const { return path_; }

 private:
  char path_[32] = "/tmp/idlewave-test-XXXXXX";
};

/// One who looks on, with a timeline as a screen, a recording or a report has it.
class Spectator {
 public:
  explicit Spectator(const std::string& endpoint, wire::Role role = wire::Role::kSpectator) {
    link::LiveOptions options;
    options.endpoint = endpoint;
    options.role = role;
    link_ = open_link(options);
  }

  void look() {
    std::vector<link::Delivery> deliveries;
    link_->receive(now(), deliveries);
    for (const link::Delivery& delivery : deliveries)
      ingest_.accept(delivery.frame, delivery.received_at, delivery.direction);
  }
  bool knows(Rank rank, wire::Step step) const {
    const timeline::Lane* lane = timeline_.lane(rank);
    return lane != nullptr && lane->step(step).has_value();
  }
  Nanoseconds begin_of(Rank rank, wire::Step step) const { return timeline_.lane(rank)->step(step)->begin; }
  wire::Step latest(Rank rank) const {
    const timeline::Lane* lane = timeline_.lane(rank);
    return lane == nullptr || lane->steps().empty() ? wire::kNoStep : lane->steps().back().step;
  }
  const timeline::Timeline& timeline() const { return timeline_; }

 private:
  std::unique_ptr<link::Link> link_;
  timeline::Timeline timeline_;
  ingest::Ingest ingest_{timeline_};
};

/// What stands behind a session that `run` starts: agents connect to it, and it passes on to screens what it hears.
class Host {
 public:
  explicit Host(std::uint64_t history)
      : endpoint_(fmt::format("ipc://{}/monitor.sock", folder_.path())),
        view_(fmt::format("ipc://{}/view.sock", folder_.path())) {
    link::LiveOptions options;
    options.session = "play";
    options.endpoint = endpoint_;
    options.listen = true;
    auto opened = link::open_live(options);
    EXPECT_TRUE(opened);
    link_ = std::move(*opened);
    auto relay = outlet::Outlet::open(
        {.session = "play", .node = wire::kRelayNode, .listen = view_, .buffer_bytes = history, .is_relay = true});
    EXPECT_TRUE(relay);
    relay_ = std::move(*relay);
  }

  void turn() {
    std::vector<link::Delivery> deliveries;
    link_->receive(now(), deliveries);
    for (link::Delivery& delivery : deliveries) {
      if (const auto* roster = delivery.frame ? std::get_if<wire::Roster>(&delivery.frame->frame.body) : nullptr)
        rosters_[delivery.frame->frame.node].push_back(*roster);
      ingest_.accept(delivery.frame, delivery.received_at, delivery.direction);
      relay_->relay(std::move(delivery.bytes));
    }
    relay_->serve(Nanoseconds(0));
    usleep(1000);
  }
  const std::string& endpoint() const { return endpoint_; }
  const std::string& view() const { return view_; }
  const timeline::Timeline& timeline() const { return timeline_; }
  /// All that a node has said.
  const std::vector<wire::Roster>& rosters(const std::string& node) { return rosters_[node]; }
  bool has_ended() const { return link_->status().state == link::LinkState::kEnded; }

 private:
  Folder folder_;
  std::string endpoint_, view_;
  std::unique_ptr<link::Link> link_;
  std::unique_ptr<outlet::Outlet> relay_;
  timeline::Timeline timeline_;
  ingest::Ingest ingest_{timeline_};
  std::map<std::string, std::vector<wire::Roster>> rosters_;
};

std::string name_of_this_node() {
  char name[256] = {};
  gethostname(name, sizeof name - 1);
  return name;
}

/// A rank on a node of its own: another name, another folder for sessions, and a clock that is far ahead.
class FarRank : public Process {
 public:
  FarRank(const std::string& folder, std::int64_t ahead_s, Rank rank, Rank size)
      : Process({"/usr/bin/unshare", "--uts", "--time", "--monotonic", std::to_string(ahead_s), "--fork", "/bin/sh",
                 "-c",
                 fmt::format("hostname far && IDLEWAVE_DIR={} exec {} step {} {}", folder, PLAYED_RANK_PROGRAM, rank,
                             size)}) {
    joined_ = line() == "1";
  }
  bool joined() const { return joined_; }

 private:
  bool joined_ = false;
};

bool may_make_nodes() {
  Process trial({"/usr/bin/unshare", "--uts", "--time", "--monotonic", "5", "--fork", "/bin/true"});
  return trial.exit_code() == 0;
}

TEST(OneClock, IsReadFromAnAgentByWhoeverAttachesToItAtAnyMoment) {
  const unsigned seed = any_seed();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 random(seed);
  const SessionRoot root;
  AgentProcess agent;
  session::AgentRecord record;
  ASSERT_TRUE(session::read_agent_record("play", record));
  std::vector<std::unique_ptr<Spectator>> all;
  all.push_back(std::make_unique<Spectator>(record.endpoint, wire::Role::kOperator));
  PlayedRank rank("step", 0, 1);
  ASSERT_TRUE(rank.joined());
  const auto look_until = [&](auto holds) {
    return eventually([&] {
      for (const auto& each : all) each->look();
      return holds();
    });
  };
  for (int late = 0; late < 3; ++late) {
    const wire::Step joins_at = all.front()->latest(0) + 20 + wire::Step(random() % 300);
    ASSERT_TRUE(look_until([&] { return all.front()->latest(0) >= joins_at; }));
    all.push_back(std::make_unique<Spectator>(record.endpoint));
    ASSERT_TRUE(look_until([&] { return all.back()->latest(0) != wire::kNoStep; }));
  }
  const wire::Step step = all.back()->latest(0) + 50;
  ASSERT_TRUE(look_until([&] { return std::ranges::all_of(all, [&](auto& each) { return each->knows(0, step); }); }));
  EXPECT_EQ(all.front()->timeline().begin(), Nanoseconds(0));
  for (const auto& each : all) {
    EXPECT_EQ(each->begin_of(0, step), all.front()->begin_of(0, step));
    EXPECT_EQ(each->timeline().begin() > milliseconds(10), each != all.front());
  }
  rank.leave();
}

TEST(OneClock, OutlivesTheAgent) {
  const SessionRoot root;
  PlayedRank rank("step", 0, 1);
  ASSERT_TRUE(rank.joined());
  session::AgentRecord record;
  ASSERT_TRUE(session::read_agent_record("play", record));
  const auto beginning_said_by_another_than = [&](pid_t agent) {
    std::optional<Nanoseconds> said;
    pid_t by = agent;
    EXPECT_TRUE(eventually([&] {
      Monitor monitor(Monitor::Joins::kLate);
      const Nanoseconds limit = now() + std::chrono::seconds(2);
      while (now() < limit && (monitor.frames() < 3 || monitor.roster().agent_pid == agent)) monitor.look();
      if (monitor.rosters().empty() || monitor.roster().agent_pid == agent) return false;
      said = monitor.roster().began;
      by = monitor.roster().agent_pid;
      return true;
    }));
    return std::pair(said, by);
  };
  const auto [first, agent] = beginning_said_by_another_than(0);
  ASSERT_TRUE(first);
  ::kill(agent, SIGKILL);
  EXPECT_EQ(beginning_said_by_another_than(agent).first, first);
  rank.leave();
}

TEST(OneClock, IsTheHostsForNodesThatJoinLaterAndForWhoeverComesWhenItsHistoryIsOver) {
  if (!may_make_nodes()) GTEST_SKIP() << "no right to make nodes with a clock of their own (unshare --uts --time)";
  const unsigned seed = any_seed();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 random(seed);
  const SessionRoot root;
  const Folder far;
  Host host(10'000);
  setenv("IDLEWAVE_ENDPOINT", host.endpoint().c_str(), 1);
  std::vector<std::unique_ptr<Spectator>> late;
  const auto turn_until = [&](auto holds) {
    return eventually([&] {
      host.turn();
      for (const auto& each : late) each->look();
      return holds();
    });
  };
  const auto steps_of = [&](Rank rank) {
    const timeline::Lane* lane = host.timeline().lane(rank);
    return lane == nullptr || lane->steps().empty() ? wire::kNoStep : lane->steps().back().step;
  };
  PlayedRank first("step", 0, 2);
  ASSERT_TRUE(first.joined());
  const wire::Step alone = 1500 + wire::Step(random() % 1000);
  ASSERT_TRUE(turn_until([&] { return steps_of(0) > alone; }));
  FarRank second(far.path(), std::int64_t(random() % 1'000'000) + 100, 1, 2);
  ASSERT_TRUE(second.joined());
  const std::optional<std::int64_t> began = wire::wall_beginning_of(host.rosters(name_of_this_node()).back());
  ASSERT_TRUE(began);
  const auto has_been_told = [&] {
    const auto& said = host.rosters("far");
    const auto its = said.empty() ? std::nullopt : wire::wall_beginning_of(said.back());
    return its && std::abs(*its - *began) < kBetweenNodes.count();
  };
  ASSERT_TRUE(turn_until(has_been_told)) << "the node that came later keeps a clock of its own";
  ASSERT_TRUE(turn_until([&] { return steps_of(1) > 300; }));

  late.push_back(std::make_unique<Spectator>(host.view()));
  setenv("IDLEWAVE_DIR", far.path(), 1);
  setenv("SLURMD_NODENAME", "far", 1);  // each node has a folder of its own
  session::AgentRecord record;
  ASSERT_TRUE(session::read_agent_record("play", record));
  unsetenv("SLURMD_NODENAME");
  late.push_back(std::make_unique<Spectator>(record.endpoint));
  const wire::Step least = steps_of(1) + 300;
  // None in particular: the host keeps so little that one who was slow for a moment never hears of some.
  wire::Step step = wire::kNoStep;
  ASSERT_TRUE(turn_until([&] {
    step = std::min(late[0]->latest(1), late[1]->latest(1));
    return step > least && steps_of(1) > step && host.timeline().lane(1)->step(step) &&
           std::ranges::all_of(late, [&](const auto& each) { return each->knows(1, step); });
  }));
  const Nanoseconds truth = host.timeline().lane(1)->step(step)->begin;
  EXPECT_GT(late[0]->timeline().begin(), milliseconds(100)) << "the history was to be over";
  EXPECT_GT(truth, late[0]->timeline().begin());
  for (const auto& each : late) {
    const Nanoseconds off = each->begin_of(1, step) - truth;
    EXPECT_LT(std::abs(off.count()), kBetweenNodes.count()) << (each == late[0] ? "by the host" : "by the far agent");
  }
  first.close_input();
  second.close_input();
  EXPECT_TRUE(turn_until([&] { return host.has_ended(); }));
}

}  // namespace
}  // namespace idlewave::test
