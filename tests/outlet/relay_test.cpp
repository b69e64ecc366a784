// A relay against consumers that come late: what they are told is held against ingest's rules (numbers of a node
// without gaps, its roster first; the node that was heard first, which says when the session began, before all
// others), on streams of several nodes mixed at random.

#include <gmock/gmock.h>

#include <map>
#include <random>

#include "probe/outlet/mailbox/mailbox.h"
#include "probe/outlet/outlet.h"
#include "tests/any_seed.h"
#include "tests/outlet/scratch.h"

namespace idlewave::outlet {
namespace {

using mailbox::Mailbox;
using mailbox::Message;
using std::chrono::milliseconds;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr const char* kSession = "water";

std::unique_ptr<Outlet> relay_at(const std::string& endpoint, std::uint64_t budget) {
  auto relay = Outlet::open(
      {.session = kSession, .node = wire::kRelayNode, .listen = endpoint, .buffer_bytes = budget, .is_relay = true});
  EXPECT_TRUE(relay) << relay.error().message;
  return std::move(*relay);
}

/// Takes everything at once, until nothing more comes.
std::vector<wire::Frame> all_that_is_told(Outlet& relay, const std::string& endpoint, std::size_t at_least) {
  auto mailbox = std::move(*Mailbox::open({.connect = endpoint, .queue_messages = 10'000}));
  std::vector<wire::Frame> heard;
  const auto turn = [&] {
    relay.serve(milliseconds(1));
    for (Message message; mailbox->receive(message);) {
      auto frame = *wire::decode(message.bytes);
      if (wire::is_sequenced(frame)) heard.push_back(std::move(frame));
    }
  };
  const auto attach = wire::encode({kSession, "", 0, wire::Attach{wire::Role::kOperator, 4000}});
  EXPECT_TRUE(run_until(turn, [&] { return mailbox->send("", attach) == mailbox::Sent::kYes; }));
  EXPECT_TRUE(run_until(turn, [&] { return heard.size() >= at_least; }));
  mailbox->send("", wire::encode({kSession, "", 0, wire::EndAck{}}));
  EXPECT_TRUE(run_until(turn, [&] { return relay.consumers() == 0; }));
  return heard;
}

/// Streams of nodes n0 to n2 as agents would send them: each begins with a roster, which comes again now and then.
class Streams {
 public:
  explicit Streams(unsigned seed) : random_(seed) {}

  std::vector<std::byte> next() {
    const int node = int(random_() % 3);
    const std::uint64_t sequence = ++sequences_[node];
    if (first_.empty()) first_ = "n" + std::to_string(node);
    wire::Frame frame{kSession, "n" + std::to_string(node), sequence, wire::Roster{}};
    if (sequence == 1 || random_() % 16 == 0) {
      std::get<wire::Roster>(frame.body).world_size = world_[node] = wire::Rank(1 + random_() % 1000);
    } else {
      frame.body = wire::Events{wire::Nanoseconds(std::int64_t(sequence)), std::vector<std::byte>(random_() % 200)};
    }
    return wire::encode(frame);
  }
  const std::map<int, std::uint64_t>& sequences() const { return sequences_; }
  wire::Rank world_of(int node) const { return world_.at(node); }
  const std::string& first() const { return first_; }

 private:
  std::mt19937 random_;
  std::map<int, std::uint64_t> sequences_;
  std::map<int, wire::Rank> world_;
  std::string first_;
};

/// The first frame of each node is a roster, and every number follows the one before.
void expect_whole(const std::vector<wire::Frame>& heard, const Streams& streams) {
  std::map<std::string, std::uint64_t> latest;
  std::map<std::string, wire::Rank> world;
  EXPECT_EQ(heard.front().node, streams.first());
  for (const wire::Frame& frame : heard) {
    const auto* roster = std::get_if<wire::Roster>(&frame.body);
    if (!latest.contains(frame.node)) {
      EXPECT_NE(roster, nullptr) << frame.node << " begins with another frame";
    } else {
      EXPECT_EQ(frame.sequence, latest[frame.node] + 1) << frame.node;
    }
    latest[frame.node] = frame.sequence;
    if (roster != nullptr) world[frame.node] = roster->world_size;
  }
  for (const auto& [node, sequence] : streams.sequences()) {
    const std::string name = "n" + std::to_string(node);
    EXPECT_EQ(latest[name], sequence) << name;
    EXPECT_EQ(world[name], streams.world_of(node)) << name;
  }
}

class AnyRelay : public ::testing::Test {
 protected:
  const Scratch scratch_;
  const std::string endpoint_ = scratch_.ipc("v");
};

class Relay : public AnyRelay, public ::testing::WithParamInterface<std::uint64_t> {};

TEST_P(Relay, TellsWhoComesLateAWholeStory) {
  const unsigned seed = any_seed();
  SCOPED_TRACE("seed " + std::to_string(seed));
  auto relay = relay_at(endpoint_, GetParam());
  Streams streams(seed);
  for (int round = 0; round < 4; ++round) {
    for (int i = 0; i < 300; ++i) relay->relay(streams.next());
    // Within the budget all of it, else the rosters of what was forgotten and the rest.
    const std::size_t all = std::size_t(300 * (round + 1));
    const auto heard = all_that_is_told(*relay, endpoint_, GetParam() > 1'000'000 ? all : 3);
    expect_whole(heard, streams);
    EXPECT_EQ(heard.size() == all, GetParam() > 1'000'000) << heard.size();
  }
}

INSTANTIATE_TEST_SUITE_P(Budgets, Relay, testing::Values(2'000u, 20'000u, 10'000'000u));

TEST_F(AnyRelay, TakesWishesToRecordFromOperatorsOnly) {
  auto relay = relay_at(endpoint_, 1 << 20);
  auto mailbox = std::move(*Mailbox::open({.connect = endpoint_, .queue_messages = 100}));
  std::vector<wire::Record> wishes;
  bool refused = false;
  const auto turn = [&] {
    relay->serve(milliseconds(1));
    for (auto& wish : relay->take_recordings()) wishes.push_back(std::move(wish));
    for (Message message; mailbox->receive(message);)
      refused = refused || std::holds_alternative<wire::Refusal>(wire::decode(message.bytes)->body);
  };
  const auto say = [&](decltype(wire::Frame::body) body) {
    const auto bytes = wire::encode({kSession, "", 0, std::move(body)});
    EXPECT_TRUE(run_until(turn, [&] { return mailbox->send("", bytes) == mailbox::Sent::kYes; }));
  };
  say(wire::Attach{wire::Role::kSpectator, 10});
  say(wire::Record{"/tmp/a.iw"});
  EXPECT_TRUE(run_until(turn, [&] { return refused; }));
  EXPECT_THAT(wishes, IsEmpty());
  say(wire::EndAck{});
  say(wire::Attach{wire::Role::kOperator, 10});
  say(wire::Record{"/tmp/a.iw"});
  EXPECT_TRUE(run_until(turn, [&] { return !wishes.empty(); }));
  EXPECT_THAT(wishes, ElementsAre(wire::Record{"/tmp/a.iw"}));
}

}  // namespace
}  // namespace idlewave::outlet
