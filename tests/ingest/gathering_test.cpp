// Frames that are taken in together against frames that are taken in one by one.

#include <gtest/gtest.h>

#include <random>
#include <string>

#include "monitor/ingest/ingest.h"
#include "tests/any_seed.h"
#include "tests/timeline/builders.h"
#include "tests/timeline/same_history.h"

namespace idlewave::ingest {
namespace {

using timeline::ms;
using timeline::rank_lane;
using timeline::Timeline;
using wire::Event;
using wire::EventKind;
using wire::Phase;
using wire::Rank;
using Bytes = std::vector<std::byte>;

/// Frames of two nodes with clocks of their own, of which some are missing, come twice, are damaged, announce the node
/// anew, or say what became of a command.
class Frames {
 public:
  explicit Frames(std::mt19937_64& random) : random_(random) {
    for (int frame = 0; frame < 400; ++frame) add(nodes_[random_() % 2]);
    for (Node& node : nodes_)
      if (random_() % 2 == 0) send(node, wire::End{});
  }
  const std::vector<Bytes>& all() const { return frames_; }

 private:
  struct Node {
    std::string name;
    Rank first;
    Nanoseconds clock;
    std::uint64_t sequence = 0;
    wire::Step step = 0;
    bool is_announced = false;
  };
  bool one_in(std::uint64_t n) { return random_() % n == 0; }

  void add(Node& node) {
    node.clock += ms(std::int64_t(random_() % 5));
    if ((!node.is_announced && !one_in(20)) || one_in(80)) return announce(node);
    if (one_in(50)) ++node.sequence;
    if (one_in(50))
      send(node, wire::Outcome{{wire::CommandId(1 + random_() % 3), {}, wire::NoiseOrder{}}, node.clock, true, ""});
    send(node, events(node));
    if (one_in(50)) frames_.push_back(frames_.back());
    if (one_in(50)) frames_.back()[random_() % frames_.back().size()] = std::byte(random_());
  }
  void announce(Node& node) {
    wire::Roster roster = timeline::roster(node.first, node.first + 3, 6);
    roster.agent_pid = 7 + std::int32_t(one_in(10));
    roster.node_time = node.clock;
    roster.unix_time_ns = 1'700'000'000'000'000'000 + std::int64_t(random_() % 1'000'000'000);
    node.is_announced = true;
    send(node, roster);
  }
  wire::Events events(Node& node) {
    std::vector<std::vector<Event>> lived(4);
    const Nanoseconds began = node.clock;
    for (auto& life : lived) {
      node.clock = began;
      for (std::uint64_t count = random_() % 6; count > 0; --count) {
        node.clock += Nanoseconds(std::int64_t(random_() % 1'000'000));
        const auto kind = EventKind(random_() % (one_in(4) ? wire::kEventKindLimit : 5));
        const auto value = kind == EventKind::kStep ? std::uint64_t(++node.step) : random_() % 3;
        life.push_back({node.clock, value, kind, Phase(random_() % 6)});
      }
      if (one_in(60)) node.clock -= ms(20);
    }
    node.clock += ms(3);
    std::vector<wire::LaneBatch> batches;
    for (Rank rank = 0; rank < 3; ++rank) batches.push_back({rank_lane(node.first + rank), lived[std::size_t(rank)]});
    batches.push_back({timeline::domain_lane(0), lived[3]});
    wire::Events body{node.clock, {}};
    wire::encode_events(batches, body.blob);
    return body;
  }
  void send(Node& node, decltype(wire::Frame::body) body) {
    frames_.push_back(wire::encode({"s", node.name, ++node.sequence, std::move(body)}));
  }

  std::mt19937_64& random_;
  Node nodes_[2] = {{"a", 0, ms(std::int64_t(random_() % 1'000'000))},
                    {"b", 3, ms(std::int64_t(random_() % 1'000'000))}};
  std::vector<Bytes> frames_;
};

void take(Ingest& ingest, const Bytes& bytes) {
  ingest.accept(wire::decode_in_place(bytes), Nanoseconds{}, wire::Direction::kReceived);
}

TEST(Gathering, MakesTheSameOfFrames) {
  const std::uint64_t seed = any_seed();
  std::mt19937_64 random(seed);
  for (int round = 0; round < 30; ++round) {
    SCOPED_TRACE("round " + std::to_string(round) + " of seed " + std::to_string(seed));
    const Frames frames(random);
    Timeline expected, timeline;
    Ingest one_by_one(expected), many(timeline);
    for (std::size_t next = 0; next < frames.all().size();) {
      const Ingest::Gathering gathering(many);
      for (std::size_t count = random() % 50; count > 0 && next < frames.all().size(); --count, ++next) {
        take(one_by_one, frames.all()[next]);
        take(many, frames.all()[next]);
      }
    }
    timeline::expect_same_history(timeline, expected);
    EXPECT_EQ(many.stats().bad, one_by_one.stats().bad);
    timeline::expect_same_detail(timeline, expected);
  }
}

/// An event of rank 1.
Bytes told(std::uint64_t sequence, Nanoseconds at) {
  const std::vector<Event> lived{timeline::enter(at, Phase::kCompute)};
  const std::array<wire::LaneBatch, 1> batches{{{rank_lane(1), lived}}};
  wire::Events body{at, {}};
  wire::encode_events(batches, body.blob);
  return wire::encode({"s", "n", sequence, body});
}

TEST(Gathering, LeavesNothingBehindWhenItIsOver) {
  Timeline timeline;
  Ingest ingest(timeline);
  take(ingest, wire::encode({"s", "n", 1, timeline::roster(2)}));
  {
    const Ingest::Gathering gathering(ingest);
    take(ingest, told(2, ms(1)));
    take(ingest, told(3, ms(2)));
    EXPECT_EQ(timeline.now(), ms(1)) << "how far a node has told is known at once";
  }
  EXPECT_EQ(timeline.events(), 2u);
  take(ingest, told(4, ms(3)));
  EXPECT_EQ(timeline.events(), 3u);
}

TEST(Gathering, IsBehindByAFewThousandFramesAtMostHoweverLongItGoesOn) {
  constexpr std::uint64_t kFrames = 10'000;
  Timeline timeline;
  Ingest ingest(timeline);
  take(ingest, wire::encode({"s", "n", 1, timeline::roster(2)}));
  {
    const Ingest::Gathering gathering(ingest);
    for (std::uint64_t frame = 0; frame < kFrames; ++frame) {
      take(ingest, told(2 + frame, ms(std::int64_t(frame))));
      EXPECT_LT(frame + 1 - timeline.events(), 5'000u);
    }
    EXPECT_LT(timeline.events(), kFrames);
  }
  EXPECT_EQ(timeline.events(), kFrames);
}

}  // namespace
}  // namespace idlewave::ingest
