// What a node told before its clock was understood is told as if the clock had been known from the beginning.

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <iterator>
#include <map>
#include <sstream>

#include "tests/any_seed.h"
#include "tests/timeline/builders.h"

namespace idlewave::timeline {
namespace {

using Act = std::function<void(Timeline&)>;
using Offsets = std::map<std::string, Nanoseconds>;

constexpr Rank kRanksOfANode = 10;
constexpr wire::CommandId kCommands = 4;

/// Everything that three nodes, each by its own clock, tell in a session, in the order in which it comes.
class RandomSession {
 public:
  explicit RandomSession(std::mt19937_64& random) : random_(random) {
    for (wire::CommandId id = 1; id <= kCommands; ++id) order(id);
    for (Rank rank = 0; rank < Rank(nodes().size()) * kRanksOfANode; ++rank) live(node_of(rank), rank);
    for (std::size_t domain = 0; domain < nodes().size(); ++domain) measure(nodes()[domain], wire::DomainId(domain));
    for (const std::string& node : nodes())
      for (int i = 0; i < 20; ++i) tell_of(node, some_time());
    shuffle();
  }

  static const std::vector<std::string>& nodes() {
    static const std::vector<std::string> names{"a", "b", "c"};
    return names;
  }
  Offsets random_offsets() const {
    Offsets offsets;
    for (const std::string& node : nodes()) offsets[node] = us(std::int64_t(random_() % 4'000'000)) - ms(2000);
    return offsets;
  }

  /// Session time 0 is a moment of a clock without offset, whatever is learnt of others.
  Timeline begun(std::uint64_t budget) const {
    Timeline timeline(budget);
    const Rank world = Rank(nodes().size()) * kRanksOfANode;
    for (std::size_t i = 0; i < nodes().size(); ++i)
      timeline.apply_roster(nodes()[i], roster(Rank(i) * kRanksOfANode, Rank(i + 1) * kRanksOfANode, world));
    timeline.begin_at("a", ms(0));
    return timeline;
  }
  const std::vector<Act>& acts() const { return acts_; }

 private:
  static const std::string& node_of(Rank rank) { return nodes()[std::size_t(rank / kRanksOfANode)]; }
  Nanoseconds some_time() const { return us(std::int64_t(random_() % 1'000'000)); }

  void order(wire::CommandId id) {
    wire::Command command{id, {}, wire::DelayOrder{ms(1)}};
    if (id % 2 == 0) command.order = wire::NoiseOrder{};
    if (id != 1) command.ranks = {Rank(id), kRanksOfANode + Rank(id)};
    acts_.push_back([=](Timeline& timeline) { timeline.add_command(command, ms(id)); });
    for (const std::string& node : nodes())
      streams_[node + " answers"].push_back([=, at = some_time()](Timeline& timeline) {
        timeline.add_outcome(node, {command, at, true, ""});
      });
    if (random_() % 2 == 0)
      streams_["a answers"].push_back([=, at = some_time()](Timeline& timeline) {
        timeline.add_outcome("a", {{100 + id, command.ranks, wire::ClearOrder{}}, at, true, ""});
      });
  }
  void live(const std::string& node, Rank rank) {
    std::vector<Event> life = random_life(random_, 50 + random_() % 100, some_time(), 5e6);
    for (Event& event : life) {
      if (event.kind != EventKind::kSwitch || random_() % 4 != 0) continue;
      event.kind = random_() % 2 == 0 ? EventKind::kDelayBegin : EventKind::kDelayEnd;
      event.value = random_() % (kCommands + 1);
    }
    append(node, rank_lane(rank), life);
  }
  void measure(const std::string& node, wire::DomainId id) {
    std::vector<Event> samples{start(some_time())};
    while (samples.size() < 60)
      samples.push_back({samples.back().time + us(std::int64_t(random_() % 40'000)), random_() % 1000,
                         EventKind::kBandwidth, Phase::kNone});
    append(node, domain_lane(id), samples);
  }
  /// In pieces; some come twice, so that time goes back.
  void append(const std::string& node, wire::LaneId lane, const std::vector<Event>& events) {
    std::vector<Act>& stream = streams_[node + std::to_string(int(lane.kind)) + "." + std::to_string(lane.index)];
    for (std::size_t i = 0; i < events.size();) {
      const std::size_t length = std::min<std::size_t>(1 + random_() % 20, events.size() - i);
      const std::vector<Event> piece(events.begin() + std::ptrdiff_t(i), events.begin() + std::ptrdiff_t(i + length));
      i += length;
      for (int times = random_() % 20 == 0 ? 2 : 1; times > 0; --times)
        stream.push_back([=](Timeline& timeline) { timeline.append(node, lane, piece); });
    }
  }
  void tell_of(const std::string& node, Nanoseconds at) {
    std::vector<Act>& stream = streams_[node + " itself"];
    switch (random_() % 4) {
      case 0: return stream.push_back([=](Timeline& timeline) { timeline.advance(node, at); });
      case 1: return stream.push_back([=](Timeline& timeline) { timeline.interrupt(node, at); });
      case 2:
        return stream.push_back([=](Timeline& timeline) {
          timeline.append(node, rank_lane(77), std::vector{start(at), stop(at + ms(3))});
        });
      default:
        return stream.push_back([=](Timeline& timeline) {
          timeline.add_loss(
              {LossKind::kSequenceGap, node, -1, timeline.moment(node, at), timeline.moment(node, at + ms(7)), 2, {}});
        });
    }
  }
  /// What comes of one lane stays in its order.
  void shuffle() {
    while (!streams_.empty()) {
      const auto stream = std::next(streams_.begin(), std::ptrdiff_t(random_() % streams_.size()));
      acts_.push_back(std::move(stream->second.front()));
      stream->second.erase(stream->second.begin());
      if (stream->second.empty()) streams_.erase(stream);
    }
  }

  std::mt19937_64& random_;
  std::map<std::string, std::vector<Act>> streams_;
  std::vector<Act> acts_;
};

void set_offsets(Timeline& timeline, const Offsets& offsets) {
  for (const auto& [node, offset] : offsets) timeline.set_clock_offset(node, offset);
}

/// All that a timeline tells beside its pictures, one thing a line.
class Account {
 public:
  explicit Account(const Timeline& timeline) : timeline_(timeline) {
    text_ << "now " << timeline.now().count() << " begin " << timeline.begin().count() << '\n';
    for (const auto& node : timeline.nodes()) text_ << node.name << " told " << node.told_until.count() << '\n';
    for (Rank rank = 0; rank < timeline.ranks(); ++rank) tell_lane(rank, *timeline.lane(rank));
    for (int domain = 0; domain < int(timeline.domains().size()); ++domain)
      for (const Sample sample : timeline.samples(domain))
        text_ << "sample " << sample.begin.count() << ' ' << sample.end.count() << ' ' << sample.amount << '\n';
    for (const Delay& delay : timeline.delays())
      text_ << "delay " << delay.rank << ' ' << delay.step << ' ' << delay.begin.session_time().count() << ' '
            << delay.end.session_time().count() << ' ' << delay.ended << '\n';
    for (const Loss& loss : timeline.losses())
      text_ << name_of(loss.kind) << ' ' << loss.node << ' ' << loss.rank << ' ' << loss.from.session_time().count()
            << ' ' << loss.to.session_time().count() << ' ' << loss.count << '\n';
    for (const CommandRecord& record : timeline.commands()) tell_command(record);
  }
  std::string text() const { return text_.str(); }

 private:
  void tell_step(const char* how, const StepRecord& step) {
    text_ << how << ' ' << step.step << ' ' << step.begin.count() << ' ' << step.end.count() << ' '
          << step.compute.count() << ' ' << step.wait.count() << ' ' << step.communicate.count() << ' '
          << step.delay.count() << '\n';
  }
  void tell_lane(Rank rank, const Lane& lane) {
    if (lane.events() == 0) return;  // Of one for which there was no room, no time is known.
    text_ << "rank " << rank << ' ' << lane.first().count() << ' ' << lane.last().count() << ' '
          << lane.known_until().count() << ' ' << lane.events_from().count() << '\n';
    for (const StepRecord step : lane.steps()) {
      tell_step("step", step);
      tell_step("by number", *lane.step(step.step));
      tell_step("by time", *lane.step(step.step, step.begin));
      text_ << lane.steps_begun_before(step.begin) << " before\n";
    }
    lane.for_each_event(lane.events_from(), lane.last() + ms(1),
                        [&](const Event& event) { text_ << "event " << event.time.count() << '\n'; });
    if (lane.events_from() > lane.first()) return;  // Buckets are rough, and lie elsewhere.
    for (int i = 0; i < 10; ++i)
      for (const std::int64_t time : lane.times(timeline_.begin(), ms(200 * i))) text_ << time << '\n';
  }
  void tell_command(const CommandRecord& record) {
    text_ << "command " << record.command.id << ' ' << record.sent.session_time().count() << ' ' << record.in_effect
          << record.over << ' ' << record.released << ' ' << (record.in_effect ? record.began().count() : 0) << ' '
          << (record.over ? record.ended().count() : 0) << '\n';
  }

  const Timeline& timeline_;
  std::ostringstream text_;
};

/// The end of time where none has told anything.
Nanoseconds earliest_of_ranks(const Timeline& timeline) {
  Nanoseconds earliest = Nanoseconds::max();
  for (Rank rank = 0; rank < timeline.ranks(); ++rank)
    if (timeline.lane(rank)->events() > 0) earliest = std::min(earliest, timeline.lane(rank)->first());
  return earliest;
}

std::string first_difference(const std::string& left, const std::string& right) {
  std::istringstream lines(left), others(right);
  std::string line, other;
  while (std::getline(lines, line) && std::getline(others, other))
    if (line != other) return "\"" + line + "\", not \"" + other + "\"";
  return left.size() == right.size() ? "" : "one of them says more";
}

TEST(ClockOffset, CanBeLearntAtAnyTimeOfTheSession) {
  const std::uint64_t seed = any_seed();
  std::mt19937_64 random(seed);
  for (int round = 0; round < 60; ++round) {
    const RandomSession session(random);
    const std::uint64_t budget = round % 3 == 0 ? 100'000 : 64 << 20;
    const Offsets last = session.random_offsets();
    Timeline knew = session.begun(budget), learns = session.begun(budget);
    set_offsets(knew, last);
    for (const Act& act : session.acts()) {
      act(knew);
      if (random() % 3 == 0) set_offsets(learns, session.random_offsets());
      act(learns);
      // Whoever looks in between learns what holds then, and is not remembered.
      ASSERT_LE(learns.begin(), earliest_of_ranks(learns)) << "seed " << seed;
    }
    EXPECT_FALSE(knew.delays().empty() || knew.losses().empty() || knew.samples(2).empty()) << "seed " << seed;
    set_offsets(learns, last);
    ASSERT_EQ(first_difference(Account(learns).text(), Account(knew).text()), "")
        << "seed " << seed << ", round " << round;
  }
}

/// With what was told rewritten each time, a million changes would take hours.
TEST(ClockOffset, CostsNothingOfWhatIsKept) {
  Timeline timeline;
  timeline.apply_roster("n", roster(10));
  std::vector<Event> life{start(ms(0))};
  for (std::uint64_t k = 0; k < 100'000; ++k) {
    life.push_back(step(life.back().time + us(10), k));
    life.push_back({life.back().time, 0, EventKind::kDelayBegin, Phase::kDelay});
    life.push_back({life.back().time + us(1), 0, EventKind::kDelayEnd, Phase::kNone});
  }
  timeline.append("n", rank_lane(3), life);
  for (int i = 1; i <= 1'000'000; ++i) timeline.set_clock_offset("n", us(i));
  EXPECT_EQ(timeline.lane(3)->step(99'999)->begin, us(11 * 99'999 + 10) - ms(1000));
  EXPECT_EQ(timeline.delays().back().begin, us(11 * 99'999 + 10) - ms(1000));
}

}  // namespace
}  // namespace idlewave::timeline
