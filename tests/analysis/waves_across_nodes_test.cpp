// Waves that run from node to node, whose clocks are known as well as they are.

#include <gmock/gmock.h>

#include <cmath>
#include <cstdlib>
#include <random>
#include <set>

#include "monitor/analysis/session/findings.h"
#include "monitor/analysis/waves/waves.h"
#include "tests/analysis/ring_model.h"
#include "tests/any_seed.h"

namespace idlewave::analysis {
namespace {

using test::ms;
using test::RingModel;
using testing::SizeIs;
using timeline::ClockCurve;

constexpr Window kAll{Nanoseconds{0}, Nanoseconds::max()};
constexpr double kDrift = 30e-6;

/// The clock of the second node: an hour ahead, and fast.
Nanoseconds by_clock_of_second(Nanoseconds time) {
  return time + std::chrono::hours(1) + Nanoseconds(std::llround(kDrift * double(time.count())));
}

ClockCurve curve_of_second(Nanoseconds error, Nanoseconds off = {}) {
  ClockCurve curve{{}, error};
  for (const Nanoseconds at : {ms(0), ms(10'000)}) {
    const Nanoseconds there = by_clock_of_second(at);
    curve.knots.push_back({there, there - at + off});
  }
  return curve;
}

/// A ring whose upper half runs on a second node.
class TwoNodes {
 public:
  explicit TwoNodes(RingModel model) : model_(std::move(model)) {
    model_.run();
    for (int node = 0; node < 2; ++node) {
      wire::Roster roster = model_.roster();
      roster.agent_pid = 4711 + node;
      std::erase_if(roster.ranks, [&](const wire::RankInfo& info) { return node_of(info.rank) != node; });
      timeline.apply_roster(name(node), roster);
    }
    timeline.begin_at("n1", Nanoseconds{0});
  }

  /// What happened in [from, to), each told by its node's clock.
  void tell(Nanoseconds from, Nanoseconds to) {
    for (Rank rank = 0; rank < model_.ranks; ++rank) {
      std::vector<wire::Event> events = model_.events_of(rank);
      std::erase_if(events, [&](const wire::Event& event) { return event.time < from || event.time >= to; });
      if (!events.empty()) last_ = std::max(last_, events.back().time);
      if (node_of(rank) == 1)
        for (wire::Event& event : events) event.time = by_clock_of_second(event.time);
      timeline.append(name(node_of(rank)), {wire::LaneId::Kind::kRank, rank}, events);
    }
    timeline.advance("n1", std::min(to, last_));
    timeline.advance("n2", by_clock_of_second(std::min(to, last_)));
  }
  int node_of(Rank rank) const { return rank < model_.ranks / 2 ? 0 : 1; }
  static std::string name(int node) { return node == 0 ? "n1" : "n2"; }

  timeline::Timeline timeline;

 private:
  RingModel model_;
  Nanoseconds last_{};
};

RingModel one_delay() {
  RingModel model;
  model.delays = {{5, 20, ms(300)}};
  return model;
}

TEST(WavesAcrossNodes, AreMeasuredOnTheAlignedAxis) {
  RingModel model = one_delay();
  TwoNodes nodes(model);
  nodes.tell(ms(0), ms(100'000));
  nodes.timeline.set_clock("n1", {{{}}, std::chrono::microseconds(30)});
  nodes.timeline.set_clock("n2", curve_of_second(std::chrono::microseconds(30)));
  const auto waves = waves::find_waves(nodes.timeline, kAll);
  model.run();
  timeline::Timeline one;
  model.fill(one);
  const auto on_one_node = waves::find_waves(one, kAll);
  ASSERT_THAT(waves, SizeIs(1));
  ASSERT_THAT(on_one_node, SizeIs(1));
  for (const auto direction : {&waves::Wave::up, &waves::Wave::down}) {
    const waves::WaveDirection& measured = waves[0].*direction;
    const waves::WaveDirection& truth = on_one_node[0].*direction;
    EXPECT_EQ(measured.reach_ranks, truth.reach_ranks);
    EXPECT_EQ(measured.end, truth.end);
    EXPECT_FALSE(measured.blur);
    ASSERT_TRUE(measured.leading.ranks_per_s && truth.leading.ranks_per_s);
    EXPECT_NEAR(measured.leading.ranks_per_s->value / truth.leading.ranks_per_s->value, 1, 1e-3);
  }
}

TEST(WavesAcrossNodes, HaveNoSpeedBelowWhatTheClocksAreKnownTo) {
  TwoNodes nodes(one_delay());
  nodes.tell(ms(0), ms(100'000));
  nodes.timeline.set_clock("n1", {{{}}, ms(1)});
  nodes.timeline.set_clock("n2", curve_of_second(ms(500)));
  const auto waves = waves::find_waves(nodes.timeline, kAll);
  ASSERT_THAT(waves, SizeIs(1));
  const waves::WaveDirection& up = waves[0].up;
  ASSERT_TRUE(up.blur);
  EXPECT_EQ(up.blur->clock_error, ms(501));
  EXPECT_LT(up.blur->per_rank, ms(501));
  EXPECT_FALSE(up.leading.ranks_per_s);
  EXPECT_FALSE(up.trailing.ranks_per_s);
  EXPECT_TRUE(up.leading.ranks_per_step) << "steps are counted, by whatever clock";
}

TEST(WavesAcrossNodes, HaveNoSpeedWhereNobodyHasComparedTheClocks) {
  TwoNodes nodes(one_delay());
  nodes.tell(ms(0), ms(100'000));
  nodes.timeline.set_clock("n2", [] {
    ClockCurve curve = curve_of_second({});
    curve.error.reset();
    return curve;
  }());
  const auto waves = waves::find_waves(nodes.timeline, kAll);
  ASSERT_THAT(waves, SizeIs(1));
  ASSERT_TRUE(waves[0].up.blur);
  EXPECT_EQ(waves[0].up.blur->clock_error, std::nullopt);
  EXPECT_FALSE(waves[0].up.leading.ranks_per_s);
}

TEST(WavesAcrossNodes, AreToldOnceHoweverOftenMoreBecomesKnownOfTheClocks) {
  const std::uint64_t seed = any_seed();
  SCOPED_TRACE("IDLEWAVE_TEST_SEED=" + std::to_string(seed));
  std::mt19937_64 random(seed);
  RingModel model = one_delay();
  model.delays.push_back({30, 60, ms(200)});
  TwoNodes nodes(model);
  waves::WaveWatch watch;
  domains::DomainStates states;
  session::Narrator narrator;
  std::vector<waves::Wave> waves;
  const Nanoseconds slice = ms(70);
  for (Nanoseconds at{}; at < ms(3000); at += slice) {
    nodes.tell(at, at + slice);
    const Nanoseconds off(std::int64_t(random() % 40'000) - 20'000);
    nodes.timeline.set_clock("n2", curve_of_second(std::chrono::microseconds(30), off));
    waves = watch.look(nodes.timeline);
    narrator.observe_waves(waves);
    states.follow(nodes.timeline);
    narrator.observe(nodes.timeline, {}, states, nodes.timeline.now());
  }
  std::set<std::pair<Rank, wire::Step>> origins;
  for (const waves::Wave& wave : waves) EXPECT_TRUE(origins.emplace(wave.origin_rank, wave.origin_step).second);
  EXPECT_EQ(origins, (std::set<std::pair<Rank, wire::Step>>{{5, 20}, {30, 60}}));
  std::multiset<std::string> words;
  for (const session::Remark& remark : narrator.remarks())
    if (remark.kind == session::Remark::Kind::kWave || remark.kind == session::Remark::Kind::kDelay)
      words.insert(remark.text);
  EXPECT_GE(words.size(), 4u) << "two delays, each begun and over";
  for (const std::string& each : words) EXPECT_EQ(words.count(each), 1u) << each;
}

}  // namespace
}  // namespace idlewave::analysis
