// One clock for all who watch.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "monitor/ingest/ingest.h"
#include "tests/any_seed.h"
#include "tests/ingest/sender.h"
#include "tests/timeline/builders.h"

namespace idlewave::ingest {
namespace {

using timeline::enter;
using timeline::Loss;
using timeline::LossKind;
using timeline::ms;
using timeline::rank_lane;
using timeline::roster;
using timeline::start;
using timeline::Timeline;
using wire::Direction;
using wire::Event;
using wire::Phase;
using wire::Rank;

/// What a node tells of a session with a delay, from its own clock: rosters say when the session began.
class ToldSession {
 public:
  explicit ToldSession(std::mt19937_64& random) : random_(random), clock_(ms(std::int64_t(random() % 1'000'000'000))) {
    Nanoseconds at = clock_;
    began_ = at;
    roster(at);
    events({{rank_lane(0), {start(at)}}, {rank_lane(1), {start(at + ms(3))}}}, at + ms(4));
    const std::uint64_t steps = 60, held = 50 + random() % 8;
    for (std::uint64_t step = 0; step < steps; ++step) {
      at += ms(20);
      std::vector<Event> lived{timeline::step(at, step, Phase::kCompute)};
      if (step == held) {
        lived.push_back({at + ms(1), 7, wire::EventKind::kDelayBegin, Phase::kDelay});
        lived.push_back({at + ms(9), 7, wire::EventKind::kDelayEnd, Phase::kCompute});
      }
      lived.push_back(enter(at + ms(15), Phase::kWait));
      events({{rank_lane(0), lived}, {rank_lane(1), {timeline::step(at, step, Phase::kWait)}}}, at + ms(16));
    }
  }

  std::size_t frames() const { return bodies_.size(); }
  Nanoseconds clock() const { return clock_; }
  /// As a listener hears it who comes when frame `first` follows: the latest roster, then what follows.
  std::vector<Bytes> heard_from(std::size_t first, std::optional<Nanoseconds> said) const {
    wire::Roster roster = std::get<wire::Roster>(bodies_.front());
    roster.began = said;
    std::vector<Bytes> heard{wire::encode({"s", "n", first, roster})};
    for (std::size_t i = first; i < bodies_.size(); ++i)
      heard.push_back(wire::encode({"s", "n", std::uint64_t(i + 1), bodies_[i]}));
    return heard;
  }
  std::vector<Bytes> heard_from(std::size_t first) const { return heard_from(first, began_); }

 private:
  void roster(Nanoseconds at) {
    wire::Roster made = timeline::roster(2);
    made.agent_pid = 7;
    made.node_time = at;
    made.unix_time_ns = 1'700'000'000'000'000'000 + std::int64_t(random_() % 1'000'000'000'000);
    bodies_.emplace_back(made);
  }
  void events(const Batches& batches, Nanoseconds up_to) {
    std::vector<wire::LaneBatch> borrowed;
    for (const auto& [lane, events] : batches) borrowed.push_back({lane, events});
    wire::Events body{up_to, {}};
    wire::encode_events(borrowed, body.blob);
    bodies_.emplace_back(std::move(body));
  }

  std::mt19937_64& random_;
  Nanoseconds clock_;  ///< Of the node, when the session began.
  Nanoseconds began_{};
  std::vector<decltype(wire::Frame::body)> bodies_;
};

/// One who listens.
struct Listener {
  explicit Listener(const std::vector<Bytes>& heard) {
    for (const Bytes& bytes : heard) take(bytes);
  }
  void take(const Bytes& bytes) { ingest.accept(wire::decode_in_place(bytes), Nanoseconds{}, Direction::kReceived); }
  Nanoseconds delay_began() const { return timeline.delays().at(0).begin; }

  Timeline timeline;
  Ingest ingest{timeline};
};

TEST(OneClock, IsReadByAllWheneverTheyJoined) {
  const std::uint64_t seed = any_seed();
  std::mt19937_64 random(seed);
  for (int round = 0; round < 50; ++round) {
    SCOPED_TRACE("round " + std::to_string(round) + " of seed " + std::to_string(seed));
    const ToldSession session(random);
    const Listener whole(session.heard_from(1));
    EXPECT_EQ(whole.timeline.begin(), ms(0));
    EXPECT_THAT(whole.timeline.losses(), testing::IsEmpty());
    for (int each = 0; each < 5; ++each) {
      const auto first = 2 + random() % 48;
      const Listener late(session.heard_from(first));
      EXPECT_EQ(late.delay_began(), whole.delay_began());
      EXPECT_EQ(late.timeline.now(), whole.timeline.now());
      EXPECT_EQ(late.timeline.begin(), ms(20) * std::int64_t(first - 1));
      const Nanoseconds from = late.timeline.begin(), to = whole.timeline.now();
      EXPECT_EQ(late.timeline.lane(0)->times(from, to), whole.timeline.lane(0)->times(from, to));
      EXPECT_EQ(late.timeline.lane(0)->times(ms(0), from), timeline::Times{}) << "what nobody saw is nothing";
    }
  }
}

TEST(OneClock, SaysFromWhenToWhenNobodyListened) {
  std::mt19937_64 random(7);
  const ToldSession session(random);
  const Listener late(session.heard_from(31));
  ASSERT_EQ(late.timeline.losses().size(), 1u);
  const Loss& loss = late.timeline.losses()[0];
  EXPECT_EQ(loss.kind, LossKind::kBeforeStart);
  EXPECT_EQ(loss.count, 30u);
  EXPECT_EQ(loss.from, ms(0));
  EXPECT_EQ(loss.to, ms(600));
}

TEST(OneClock, BeginsWithTheFirstEventWhereNobodySaysMore) {
  std::mt19937_64 random(7);
  const ToldSession session(random);
  const Listener late(session.heard_from(31, std::nullopt));
  EXPECT_EQ(late.timeline.begin(), ms(0));
  ASSERT_EQ(late.timeline.losses().size(), 1u);
  EXPECT_EQ(late.timeline.losses()[0].to, ms(0));
}

TEST(OneClock, IsNotMovedByAWordThatCanNotBe) {
  const std::uint64_t seed = any_seed();
  std::mt19937_64 random(seed);
  const ToldSession session(random);
  const Nanoseconds clock = session.clock();
  for (const Nanoseconds said : {clock + Nanoseconds(1), clock + ms(3'600'000), Nanoseconds::max(), Nanoseconds::min(),
                                 clock - Nanoseconds(std::int64_t{1} << 58)}) {
    const Listener late(session.heard_from(31, said));
    EXPECT_EQ(late.timeline.begin(), ms(0)) << said.count() << ", seed " << seed;
    EXPECT_EQ(late.timeline.losses().size(), 1u);
  }
}

TEST(OneClock, IsTheFirstWordWhoeverSaysAnother) {
  std::mt19937_64 random(7);
  const ToldSession session(random);
  Listener listener(session.heard_from(31));
  const Nanoseconds delay = listener.delay_began(), now = listener.timeline.now();
  wire::Roster other = roster(2, 4, 4);
  other.agent_pid = 8;
  other.node_time = session.clock() + ms(2000);
  other.unix_time_ns = 1'700'000'000'000'000'000;
  other.began = session.clock() - ms(5000);
  listener.take(wire::encode({"s", "another", 1, other}));
  wire::Roster same = roster(2);
  same.agent_pid = 7;
  same.node_time = session.clock() + ms(3000);
  same.began = session.clock() + ms(700);
  listener.take(wire::encode({"s", "n", session.frames() + 1, same}));
  EXPECT_EQ(listener.delay_began(), delay);
  EXPECT_EQ(listener.timeline.now(), now);
}

/// What nodes say of one moment, each by its own clock.
TEST(OneClock, IsTheSameByTheClockOfEachNode) {
  const std::uint64_t seed = any_seed();
  std::mt19937_64 random(seed);
  for (int round = 0; round < 50; ++round) {
    constexpr std::int64_t kWall = 1'700'000'000'000'000'000;
    const Nanoseconds clocks[] = {ms(std::int64_t(random() % 1'000'000'000)),
                                  ms(std::int64_t(random() % 1'000'000'000))};
    const auto told_by = [&](int node) {
      wire::Roster made = roster(Rank(2 * node), Rank(2 * node + 2), 4);
      made.agent_pid = 7 + node;
      made.node_time = clocks[node] + ms(40'000);
      made.unix_time_ns = kWall + 40'000'000'000;
      made.began = clocks[node];
      const std::vector<Event> lived{start(clocks[node] + ms(41'000)), enter(clocks[node] + ms(42'000), Phase::kWait)};
      const std::array<wire::LaneBatch, 1> batches{{{rank_lane(Rank(2 * node)), lived}}};
      wire::Events body{clocks[node] + ms(43'000), {}};
      wire::encode_events(batches, body.blob);
      const std::string name = "n" + std::to_string(node);
      return std::vector{wire::encode({"s", name, 91, made}), wire::encode({"s", name, 92, body})};
    };
    for (const bool turned : {false, true}) {
      Listener listener(told_by(turned ? 1 : 0));
      for (const Bytes& bytes : told_by(turned ? 0 : 1)) listener.take(bytes);
      for (const Rank rank : {0, 2}) {
        EXPECT_EQ(listener.timeline.lane(rank)->first(), ms(41'000)) << "seed " << seed;
        EXPECT_EQ(listener.timeline.lane(rank)->last(), ms(42'000)) << "seed " << seed;
      }
    }
  }
}

}  // namespace
}  // namespace idlewave::ingest
