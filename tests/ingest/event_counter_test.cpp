#include "monitor/ingest/event_counter.h"

#include <gtest/gtest.h>

#include <map>

#include "monitor/ingest/ingest.h"
#include "tests/any_seed.h"
#include "tests/timeline/builders.h"

namespace idlewave::ingest {
namespace {

using timeline::domain_lane;
using timeline::ms;
using timeline::rank_lane;
using wire::Event;
using wire::EventKind;
using wire::LaneId;
using wire::Phase;

using Bytes = std::vector<std::byte>;

/// What was written, counted while it was written: by kind, and delays by themselves, ordered or told by their phase.
struct Written {
  std::uint64_t events = 0, delays = 0;
  std::map<EventKind, std::uint64_t> of_kind;
  std::map<LaneId, bool> held;  ///< By its program, which says so by the phase.

  void add(LaneId lane, const Event& event) {
    ++events;
    ++of_kind[event.kind];
    if (lane.kind != LaneId::Kind::kRank || !wire::changes_phase(event.kind)) return;
    const bool is_order = event.kind == EventKind::kDelayBegin, was_held = held[lane];
    held[lane] = event.phase == Phase::kDelay && !is_order && (was_held || event.kind != EventKind::kDropped);
    delays += (is_order && event.phase == Phase::kDelay) || (held[lane] && !was_held);
  }
};

/// Frames of one node: its roster, and random lives of its ranks and domains, cut into frames at random.
class RandomNode {
 public:
  RandomNode(std::string name, wire::Rank first, wire::Rank last, wire::Rank world, std::mt19937_64& random)
      : name_(std::move(name)), random_(random) {
    frames_.push_back(frame(timeline::roster(first, last, world)));
    for (wire::Rank rank = first; rank < last; ++rank) live(rank);
    for (wire::DomainId id = first / 10; id < last / 10; ++id) measure(id);
    cut();
    frames_.push_back(frame(wire::End{}));
  }
  const std::vector<Bytes>& frames() const { return frames_; }
  const Written& written() const { return written_; }

 private:
  void live(wire::Rank rank) {
    std::vector<Event>& events = lanes_[rank_lane(rank)];
    events = timeline::random_life(random_, 300 + random_() % 300, ms(0), 1e6);
    for (Event& event : events) {
      if (random_() % 20 != 0 || event.kind != EventKind::kSwitch) continue;
      event.kind = random_() % 2 == 0 ? EventKind::kDelayBegin : EventKind::kDelayEnd;
    }
  }
  void measure(wire::DomainId id) {
    std::vector<Event>& events = lanes_[domain_lane(id)];
    events.push_back(timeline::start(ms(0)));
    for (std::uint64_t i = 1; i < 20 + random_() % 50; ++i)
      events.push_back({ms(std::int64_t(20 * i)), 1000 * i, EventKind::kBandwidth, Phase::kNone});
  }
  void cut() {
    std::map<LaneId, std::size_t> sent;
    for (bool more = true; more;) {
      more = false;
      std::vector<wire::LaneBatch> batches;
      for (const auto& [lane, events] : lanes_) {
        const std::size_t length = std::min<std::size_t>(random_() % 40, events.size() - sent[lane]);
        batches.push_back({lane, std::span(events).subspan(sent[lane], length)});
        for (const Event& event : batches.back().events) written_.add(lane, event);
        sent[lane] += length;
        more |= sent[lane] < events.size();
      }
      wire::Events body{ms(0), {}};
      wire::encode_events(batches, body.blob);
      frames_.push_back(frame(std::move(body)));
    }
  }
  Bytes frame(decltype(wire::Frame::body) body) { return wire::encode({"s", name_, ++sequence_, std::move(body)}); }

  std::string name_;
  std::mt19937_64& random_;
  std::map<LaneId, std::vector<Event>> lanes_;
  std::vector<Bytes> frames_;
  Written written_;
  std::uint64_t sequence_ = 0;
};

void hand_in(Ingest& ingest, const RandomNode& node) {
  for (const Bytes& bytes : node.frames())
    ingest.accept(wire::decode_in_place(bytes), Nanoseconds{}, wire::Direction::kReceived);
}

TEST(EventCounter, CountsEveryEventOfARandomSessionWhateverTheMemory) {
  const std::uint64_t seed = any_seed();
  std::mt19937_64 random(seed);
  for (const std::uint64_t budget : {std::uint64_t{1}, std::uint64_t{40'000}, std::uint64_t{64} << 20}) {
    timeline::Timeline timeline(budget);
    Ingest ingest(timeline);
    EventCounter counter;
    ingest.add(counter);
    Written written;
    for (const auto& [name, first] : {std::pair{"a", 0}, std::pair{"b", 10}}) {
      const RandomNode node(name, first, first + 10, 20, random);
      hand_in(ingest, node);
      for (const auto& [kind, count] : node.written().of_kind) written.of_kind[kind] += count;
      written.events += node.written().events;
      written.delays += node.written().delays;
    }
    const EventCounts& counts = counter.counts();
    EXPECT_EQ(counts.events, written.events) << "seed " << seed << ", budget " << budget;
    EXPECT_EQ(counts.rank_steps, written.of_kind[EventKind::kStep]) << "seed " << seed << ", budget " << budget;
    EXPECT_EQ(counts.delays, written.delays) << "seed " << seed << ", budget " << budget;
    EXPECT_EQ(counts.samples, written.of_kind[EventKind::kBandwidth]) << "seed " << seed << ", budget " << budget;
    EXPECT_GT(counts.delays, written.of_kind[EventKind::kDelayBegin]) << "seed " << seed;
  }
}

TEST(EventCounter, CountsWhatComesTwiceOnce) {
  std::mt19937_64 random(1);
  const RandomNode node("a", 0, 10, 10, random);
  timeline::Timeline timeline;
  Ingest ingest(timeline);
  EventCounter counter;
  ingest.add(counter);
  hand_in(ingest, node);
  hand_in(ingest, node);
  EXPECT_EQ(counter.counts().events, node.written().events);
}

/// Refuses every roster.
class Refusal final : public Sink {
 public:
  wire::Status roster(const std::string&, const wire::Roster&) override { return wire::Error{"no"}; }
};

TEST(Sink, IsToldOfNoRosterThatOneBeforeItRefused) {
  class Listener final : public Sink {
   public:
    wire::Status roster(const std::string&, const wire::Roster&) override { return ++rosters, wire::ok(); }
    void absence(const Absence& absence) override { reasons.push_back(absence.detail); }
    int rosters = 0;
    std::vector<std::string> reasons;
  };
  std::mt19937_64 random(1);
  timeline::Timeline timeline;
  Ingest ingest(timeline);
  Listener before, after;
  Refusal refusal;
  for (Sink* sink : std::initializer_list<Sink*>{&before, &refusal, &after}) ingest.add(*sink);
  const RandomNode node("a", 0, 10, 10, random);
  ingest.accept(wire::decode_in_place(node.frames().front()), Nanoseconds{}, wire::Direction::kReceived);
  EXPECT_EQ(before.rosters, 1);
  EXPECT_EQ(after.rosters, 0);
  EXPECT_EQ(after.reasons, std::vector<std::string>{"no"});
  EXPECT_EQ(ingest.stats().bad, 1u);
}

}  // namespace
}  // namespace idlewave::ingest
