// What is read of a step once and kept says what reading all of them anew says: in sessions with everything that may
// happen to a program and to what is known of it, told slice by slice.

#include "monitor/analysis/domains/rounds.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <limits>
#include <map>

#include "monitor/analysis/domains/concurrency.h"
#include "monitor/analysis/domains/domain_states.h"
#include "monitor/analysis/least_squares.h"
#include "tests/analysis/ring_model.h"
#include "tests/analysis/simulated_session.h"
#include "tests/any_seed.h"

namespace idlewave::analysis {
namespace {

using timeline::Timeline;
using wire::Event;
using wire::EventKind;

using Random = test::RandomQuietScenarios;

/// A program whose ranks may be slow or held, begin anew, leave out numbers, or die; on a node whose clock may be found to be
/// another, in more memory or less.
class MessySession {
 public:
  explicit MessySession(Random& random) : timeline_(std::uint64_t(random.whole(1, 3) == 1 ? 64'000'000 : 400'000)) {
    make_program(random);
    for (Rank rank = 0; rank < model_.ranks; ++rank) events_.push_back(model_.events_of(rank));
    if (random.whole(0, 1)) begin_anew(random);
    if (random.whole(0, 1)) leave_out(random);
    if (random.whole(0, 1)) kill(random);
    if (random.whole(0, 1)) offset_ = test::ms(random.real(-20, 20));
    slice_ = test::ms(random.real(5, 400));
  }

  const Timeline& timeline() const { return timeline_; }

  /// Calls look() after each slice.
  template <class Look>
  void play(Look look) {
    timeline_.apply_roster("n1", model_.roster());
    Nanoseconds last{};
    for (const auto& lane : events_) last = std::max(last, lane.back().time);
    std::vector<std::size_t> told(events_.size(), 0);
    for (Nanoseconds until = slice_; until < last + slice_; until += slice_) {
      for (std::size_t rank = 0; rank < events_.size(); ++rank) {
        const auto from = events_[rank].begin() + std::ptrdiff_t(told[rank]);
        const auto to = std::ranges::upper_bound(from, events_[rank].end(), until, {}, &Event::time);
        timeline_.append("n1", {wire::LaneId::Kind::kRank, Rank(rank)}, {from, to});
        told[rank] += std::size_t(to - from);
      }
      timeline_.advance("n1", std::min(until, last));
      if (until > last / 2) timeline_.set_clock_offset("n1", offset_);
      look();
    }
  }

 private:
  void make_program(Random& random) {
    model_.ranks_per_domain = random.whole(2, 9);
    model_.ranks = model_.ranks_per_domain * random.whole(1, 3) + 1;
    model_.work = test::ms(random.real(3, 60));
    model_.steps = int(test::ms(6000) / model_.work);
    model_.noise_mean_ms = random.whole(0, 2) * random.real(0, 5);
    model_.seed = unsigned(random.whole(1, 1 << 30));
    model_.ring = random.whole(0, 1);
    model_.rendezvous = random.whole(0, 1);
    for (int i = random.whole(0, 3); i > 0; --i)
      model_.delays.push_back(
          {random.whole(0, model_.ranks - 1), random.whole(1, model_.steps - 1), test::ms(random.real(10, 900))});
    const Rank slow = random.whole(0, 2 * model_.ranks);
    const Nanoseconds more = model_.work * random.whole(1, 6) / 10;
    model_.more_work = [=](Rank rank, int step) { return rank == slow && step % 97 > 12 ? more : Nanoseconds{0}; };
    model_.run();
  }
  /// Numbers of steps from some step on begin at 0 again.
  void begin_anew(Random& random) {
    const auto from = std::uint64_t(random.whole(1, model_.steps - 1));
    for (auto& lane : events_)
      for (Event& event : lane)
        if (event.kind == EventKind::kStep && event.value >= from) event.value -= from;
  }
  void leave_out(Random& random) {
    for (int i = 0; i < 5; ++i) {
      auto& lane = events_[std::size_t(random.whole(0, model_.ranks - 1))];
      lane.erase(lane.begin() + random.whole(1, int(lane.size()) - 2));
    }
  }
  void kill(Random& random) {
    auto& lane = events_[std::size_t(random.whole(0, model_.ranks - 1))];
    lane.resize(std::size_t(random.whole(2, int(lane.size()))));
    lane.back().kind = EventKind::kLost;
  }

  Timeline timeline_;
  test::RingModel model_;
  std::vector<std::vector<Event>> events_;
  Nanoseconds offset_{}, slice_{};
};

/// Of one rank at a moment: the steps of the program that it ran, by number.
using StepsByNumber = std::map<wire::Step, timeline::StepRecord>;

StepsByNumber steps_at(const timeline::Lane& lane, Nanoseconds at) {
  StepsByNumber steps;
  for (const timeline::StepRecord& record : lane.steps()) {
    if (record.begin > at) break;
    if (!steps.empty() && record.step <= steps.rbegin()->first) steps.clear();
    steps[record.step] = record;
  }
  return steps;
}

/// By member, newest round first.
std::vector<std::vector<timeline::StepRecord>> rounds_at(const domains::Members& members, Nanoseconds at) {
  std::vector<StepsByNumber> all;
  for (const timeline::Lane* lane : members.lanes) all.push_back(steps_at(*lane, at));
  std::vector<std::vector<timeline::StepRecord>> rounds;
  for (auto step = all.front().rbegin(); step != all.front().rend(); ++step) {
    if (step->first >= members.common || step->second.begin >= members.newest) continue;
    if (rounds.size() == 64 || (rounds.size() >= 12 && step->second.begin < at - std::chrono::seconds(2))) break;
    std::vector<timeline::StepRecord> row;
    for (const StepsByNumber& steps : all) {
      const auto its = steps.find(step->first);
      if (its != steps.end() && its->second.end > its->second.begin && its->second.end <= at)
        row.push_back(its->second);
    }
    if (row.size() < all.size()) break;
    rounds.push_back(std::move(row));
  }
  return rounds;
}

void expect_same(const domains::Rounds& rounds, const domains::Members& members, Nanoseconds at) {
  const auto slowly = rounds_at(members, at);
  ASSERT_EQ(rounds.size(), slowly.size()) << "at " << at.count();
  for (std::size_t i = 0; i < slowly.size(); ++i) {
    EXPECT_EQ(rounds[i].step, slowly[i].front().step);
    for (std::size_t member = 0; member < slowly[i].size(); ++member) {
      const timeline::StepRecord& record = slowly[i][member];
      const domains::MemberStep its{record.begin, record.end - record.begin, record.wait + record.communicate,
                                    record.delay};
      ASSERT_EQ(rounds.of(i)[member], its) << "round " << i << " of member " << member << " at " << at.count();
    }
  }
}

/// Signs by the definitions, from all that was done in the rounds.
domains::Signs signs_slowly(const domains::NewestRounds& rounds, const wire::DomainInfo& info, Nanoseconds typical) {
  domains::Signs signs;
  std::vector<double> spreads, took;
  std::vector<Window> work;
  double least_waits = 0;
  for (std::size_t i = 0; i < rounds.size(); ++i) {
    Nanoseconds first = Nanoseconds::max(), last = Nanoseconds::min(), least = Nanoseconds::max();
    for (const domains::MemberStep& step : rounds.of(i)) {
      first = std::min(first, step.begin), last = std::max(last, step.begin), least = std::min(least, step.waiting);
      work.push_back(step.work());
      took.push_back(double(step.work().length().count()));
    }
    spreads.push_back(double((last - first).count()) / double(typical.count()));
    least_waits += double(least.count());
  }
  signs.spread = median(spreads);
  Window window{Nanoseconds::min(), Nanoseconds::max()};
  for (const domains::MemberStep& step : rounds.of(rounds.size() - 1)) window.from = std::max(window.from, step.begin);
  for (const domains::MemberStep& step : rounds.of(0)) window.to = std::min(window.to, step.begin + step.length);
  const domains::Bandwidth bandwidth = domains::bandwidth_of(info);
  const domains::Concurrency concurrency(work, bandwidth);
  const auto members = double(rounds.members());
  if (window.length() > Nanoseconds{0}) {
    const domains::Progress progress = concurrency.within(window);
    signs.active = progress.rank_time / double(window.length().count());
    std::vector<double> inside, inside_alone;
    for (std::size_t i = 0; i < work.size(); ++i)
      if (work[i].from >= window.from && work[i].to <= window.to)
        inside.push_back(took[i]), inside_alone.push_back(concurrency.alone()[i]);
    const double together = progress.volume / (bandwidth(int(members)) * 1e-9),
                 saturation = domains::saturation_point(info);
    const double waits = double(window.length() / typical) * least_waits / double(rounds.size());
    if (inside.empty())
      signs.unshared = std::numeric_limits<double>::infinity();
    else if (variation(inside_alone) > 0.02)
      signs.unshared = variation(inside_alone) / variation(inside);
    if (members > saturation && together > 0 && signs.active < members * together / (together + waits))
      signs.relieved = (1 - progress.rank_time / members / together) / (1 - saturation / members);
  }
  std::vector<double> slowness;
  for (std::size_t member = 0; rounds.members() > 2 && member < rounds.members(); ++member) {
    std::vector<double> by_time, by_time_alone;
    for (std::size_t i = 0; i < rounds.size(); ++i) {
      const std::size_t row = i * rounds.members();
      const auto against_usual = [&](const std::vector<double>& of) {
        const double usual = median(
            std::vector<double>(of.begin() + std::ptrdiff_t(row), of.begin() + std::ptrdiff_t(row + rounds.members())));
        return usual > 0 ? of[row + member] / usual : 1;
      };
      by_time.push_back(against_usual(took)), by_time_alone.push_back(against_usual(concurrency.alone()));
    }
    slowness.push_back(std::min(median(by_time), median(by_time_alone)));
  }
  for (std::size_t member = 0; member < slowness.size(); ++member) {
    if (slowness[member] > signs.slowness) {
      signs.next_slowness = std::exchange(signs.slowness, slowness[member]);
      signs.slowest = int(member);
    } else {
      signs.next_slowness = std::max(signs.next_slowness, slowness[member]);
    }
  }
  return signs;
}

void expect_same_signs(const domains::NewestRounds& rounds, const wire::DomainInfo& info, domains::SignsRoom& room) {
  constexpr Nanoseconds kTypical = std::chrono::milliseconds(10);
  const domains::Signs slowly = signs_slowly(rounds, info, kTypical),
                       all = domains::find_signs(rounds, info, kTypical, {-1e9, 0}, room);
  EXPECT_EQ(all.spread, slowly.spread);
  EXPECT_EQ(all.active, slowly.active);
  EXPECT_EQ(all.relieved, slowly.relieved);
  EXPECT_EQ(all.unshared, slowly.unshared);
  EXPECT_EQ(all.slowest, slowly.slowest);
  EXPECT_EQ(all.slowness, slowly.slowness);
  EXPECT_EQ(all.next_slowness, slowly.next_slowness);
  const domains::LeastSigns least{.relieved = 0.25, .slowness = 1.1};
  const domains::Signs telling = domains::find_signs(rounds, info, kTypical, least, room);
  EXPECT_EQ(telling.relieved, slowly.relieved);
  EXPECT_EQ(telling.unshared, slowly.relieved > least.relieved ? slowly.unshared : 0);
  if (slowly.slowness > least.slowness) {
    EXPECT_EQ(telling.slowest, slowly.slowest);
    EXPECT_EQ(telling.slowness, slowly.slowness);
    EXPECT_EQ(telling.next_slowness, slowly.next_slowness);
  } else {
    EXPECT_LE(telling.slowness, least.slowness);
  }
}

TEST(Rounds, ThatAreKeptAreThoseThatReadingAnewFinds) {
  const unsigned seed = any_seed();
  Random random(seed);
  std::size_t rounds_seen = 0;
  for (int i = 0; i < 40 && !testing::Test::HasFailure(); ++i) {
    SCOPED_TRACE(fmt::format("session {} of seed {}", i, seed));
    MessySession session(random);
    std::vector<domains::Rounds> kept;
    domains::Members members;
    domains::Rounds::Room room;
    domains::SignsRoom signs_room;
    Nanoseconds at{};
    session.play([&] {
      at = std::max(at, session.timeline().now() - test::ms(random.whole(0, 3)));
      const auto& domains = session.timeline().domains();
      kept.resize(domains.size());
      for (std::size_t domain = 0; domain < domains.size(); ++domain) {
        members.find(session.timeline(), domains[domain].ranks, at);
        if (members.newest == Nanoseconds::min()) continue;
        kept[domain].read(members, at, room);
        expect_same(kept[domain], members, at);
        rounds_seen += kept[domain].size();
        for (const std::size_t newest : {kept[domain].size(), kept[domain].size() / 3})
          if (newest > 0) expect_same_signs({kept[domain], newest}, domains[domain].info, signs_room);
      }
    });
  }
  EXPECT_GT(rounds_seen, 10'000u) << "seed " << seed;
}

void expect_same_words(const domains::DomainStates& states, const domains::DomainStates& others, int domain) {
  const auto changes = states.changes(domain), same = others.changes(domain);
  ASSERT_EQ(changes.size(), same.size()) << "domain " << domain;
  for (std::size_t i = 0; i < changes.size(); ++i) {
    EXPECT_EQ(changes[i].at, same[i].at);
    EXPECT_EQ(changes[i].state, same[i].state);
    EXPECT_EQ(changes[i].straggler, same[i].straggler);
    EXPECT_EQ(changes[i].active, same[i].active);
  }
}

TEST(DomainStates, SayWhatTheySayWithoutRememberingWhatTheyRead) {
  const unsigned seed = any_seed();
  Random random(seed);
  int told = 0;
  for (int i = 0; i < 60 && !testing::Test::HasFailure(); ++i) {
    SCOPED_TRACE(fmt::format("session {} of seed {}", i, seed));
    MessySession session(random);
    domains::DomainStates remembering, forgetting(0);
    session.play([&] { remembering.follow(session.timeline()), forgetting.follow(session.timeline()); });
    for (int domain = 0; domain < int(session.timeline().domains().size()); ++domain) {
      expect_same_words(remembering, forgetting, domain);
      told += int(remembering.changes(domain).size());
    }
  }
  EXPECT_GT(told, 100) << "seed " << seed;
}

}  // namespace
}  // namespace idlewave::analysis
