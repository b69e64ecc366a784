// What a rank tells of phases too short to be told one by one, against what happened: random lives, whose agent looks
// when it comes to it.

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <map>
#include <optional>
#include <random>
#include <set>
#include <vector>

#include "probe/agent/run_reader.h"
#include "probe/client/ring_writer.h"
#include "tests/any_seed.h"
#include "tests/probe/node.h"

namespace idlewave {
namespace {

using agent::RunReader;
using client::RingWriter;
using client::RunSum;
using test::describe;
using test::Segment;
using wire::Event;
using wire::EventKind;
using wire::Nanoseconds;
using wire::Phase;
using Sums = std::array<std::int64_t, wire::kPhaseLimit>;

constexpr std::uint32_t kRing = 1 << 14;
constexpr std::int64_t kSweep = 36'000'000;
constexpr std::int64_t ms(std::int64_t n) { return n * 1'000'000; }

/// A rank and its agent, on a clock that the test turns.
class Rank {
 public:
  explicit Rank(std::uint32_t ring_events = kRing) : segment_(1, ring_events) {
    ring_.attach(segment_.slot(), segment_.ring(), ring_events);
    say(EventKind::kStart, 0, Phase::kNone);
  }

  void pass(std::int64_t ns) { now_ += ns; }
  void say(EventKind kind, std::uint64_t value, Phase phase) {
    const Event event{Nanoseconds(now_), value, kind, phase};
    life_.push_back(event);
    kind == EventKind::kStop ? ring_.push_last(event, phase_) : void(ring_.push(event, phase_));
    phase_ = phase;
  }
  void enter(Phase phase) { say(EventKind::kSwitch, 0, phase); }
  void step(std::uint64_t number) { say(EventKind::kStep, number, phase_); }

  void drain() {
    for (const Event& event : segment_.drain()) reader_.take(event, told_);
  }
  /// What lies in the slot, if it is next.
  void look() {
    shm::Run run;
    if (!segment_.slot().run.get(run) || run.position != segment_.slot().tail.load()) return;
    reader_.take(run, told_);
  }
  void replace_agent() { reader_ = {}; }

  std::int64_t now() const { return now_; }
  Phase phase() const { return phase_; }
  const std::vector<Event>& life() const { return life_; }
  const std::vector<Event>& told() const { return told_; }

 private:
  Segment segment_;
  RingWriter ring_;
  RunReader reader_;
  std::int64_t now_ = 1'000'000'000;
  Phase phase_ = Phase::kNone;
  std::vector<Event> life_, told_;
};

/// How a random program goes on for a while.
struct Habit {
  std::int64_t shortest, longest;  ///< Gap between events, ns.
  unsigned steps_in_1000, others_in_1000, long_in_1000;
  std::int64_t lasts;
};

std::int64_t between(std::mt19937_64& random, std::int64_t from, std::int64_t to) {
  return from + std::int64_t(random() % std::uint64_t(to - from + 1));
}

Habit new_habit(std::mt19937_64& random) {
  const auto one_of = [&](auto... choices) {
    const std::array all{choices...};
    return all[random() % all.size()];
  };
  const std::int64_t shortest = one_of(0, 20, 100, 1000, 20'000);
  return {shortest,
          shortest + one_of(30, 200, 3000, 60'000, 2'000'000),
          one_of(0u, 0u, 1u, 30u, 300u),
          one_of(0u, 0u, 1u, 50u),
          one_of(0u, 0u, 1u, 20u),
          between(random, 1, ms(60))};
}

/// A program, and its agent, which looks every 36 ms and is sometimes late by as much as `latest`.
class Life {
 public:
  Life(std::mt19937_64& random, std::int64_t latest) : random_(random), latest_(latest) {}

  void go_on(Rank& rank) {
    const Habit habit = new_habit(random_);
    const std::int64_t end = rank.now() + habit.lasts;
    for (int events = 0; events < 20'000 && rank.now() < end; ++events) {
      rank.pass(one_in(1000, habit.long_in_1000) ? between(random_, RunSum::kLongPhase, ms(3))
                                                 : between(random_, habit.shortest, habit.longest));
      while (rank.now() >= next_look_) look(rank);
      if (one_in(1000, habit.steps_in_1000))
        rank.step(step_++);
      else if (one_in(1000, habit.others_in_1000))
        say_something(rank);
      else
        rank.enter(Phase(between(random_, 0, 3)));
      if (one_in(5000, 1)) look_at_sums(rank);
    }
  }

 private:
  bool one_in(std::uint64_t of, std::uint64_t times) { return random_() % of < times; }
  void look(Rank& rank) {
    look_at_sums(rank);
    next_look_ += kSweep + (one_in(10, 1) ? between(random_, 0, latest_) : 0);
  }
  void look_at_sums(Rank& rank) {
    rank.drain();
    if (one_in(3, 2)) rank.look();
  }
  void say_something(Rank& rank) {
    switch (random_() % 5) {
      case 0: return rank.say(EventKind::kEnter, 0, Phase(between(random_, 0, 12)));
      case 1: return rank.say(EventKind::kLeave, 0, Phase(between(random_, 0, 12)));
      case 2: return rank.say(EventKind::kTraffic, random_() % 1000, rank.phase());
      case 3: return rank.say(EventKind::kThreads, random_() % 10, rank.phase());
      default: return rank.say(EventKind::kDelayBegin, 7, Phase::kDelay);
    }
  }

  std::mt19937_64& random_;
  std::int64_t latest_;
  std::int64_t next_look_ = 0;
  std::uint64_t step_ = 0;
};

/// By phase, in each interval between two moments.
std::vector<Sums> sums_between(const std::vector<Event>& events, const std::vector<std::int64_t>& moments) {
  std::vector<Sums> all(moments.size() - 1, Sums{});
  for (std::size_t i = 0, k = 0; i + 1 < events.size(); ++i) {
    const std::int64_t to = events[i + 1].time.count();
    std::int64_t from = events[i].time.count();
    while (k < all.size() && moments[k + 1] <= from) ++k;
    for (std::size_t j = k; j < all.size() && moments[j] < to; ++j)
      all[j][std::size_t(events[i].phase)] +=
          std::max<std::int64_t>(0, std::min(to, moments[j + 1]) - std::max(from, moments[j]));
  }
  return all;
}

bool is_step(const Event& event) { return event.kind == EventKind::kStep; }

/// The beginning, the steps that were told, and the end.
std::vector<std::int64_t> told_moments(const std::vector<Event>& told) {
  std::vector<std::int64_t> moments{told.front().time.count()};
  for (const Event& event : told)
    if (is_step(event) && event.time.count() > moments.back()) moments.push_back(event.time.count());
  if (told.back().time.count() > moments.back()) moments.push_back(told.back().time.count());
  return moments;
}

/// In which intervals something is lost.
std::vector<bool> holes_between(const std::vector<Event>& told, const std::vector<std::int64_t>& moments) {
  std::vector<bool> holes(moments.size() - 1, false);
  for (std::size_t i = 1, first = 0; i < told.size(); ++i) {
    while (first < holes.size() && moments[first + 1] < told[i - 1].time.count()) ++first;
    if (told[i].kind != EventKind::kDropped) continue;
    for (std::size_t j = first; j < holes.size() && moments[j] <= told[i].time.count(); ++j) holes[j] = true;
  }
  return holes;
}

/// What is told besides sums.
std::uint64_t phases_told(const std::vector<Event>& told) {
  std::uint64_t count = 0;
  bool in_run = false;
  for (const Event& event : told) {
    if (event.kind == EventKind::kSummed) in_run = event.value > 0, count += event.value;
    count += event.kind == EventKind::kSwitch && !in_run;
  }
  return count;
}

std::uint64_t number_of(const std::vector<Event>& events, EventKind kind) {
  return std::uint64_t(std::count_if(events.begin(), events.end(), [&](const Event& e) { return e.kind == kind; }));
}

std::uint64_t lost(const std::vector<Event>& told) {
  std::uint64_t sum = 0;
  for (const Event& event : told) sum += event.kind == EventKind::kDropped ? event.value : 0;
  return sum;
}

/// Neither phases nor steps.
std::vector<std::string> others(const std::vector<Event>& events) {
  std::vector<Event> kept;
  for (const Event& event : events)
    if (event.kind != EventKind::kSwitch && event.kind != EventKind::kSummed && !is_step(event)) kept.push_back(event);
  return describe(kept);
}

/// `deaths`: moments at which one agent took over from another.
void expect_exact_sums(const Rank& rank, const std::vector<std::int64_t>& deaths = {}) {
  const auto moments = told_moments(rank.told());
  const auto happened = sums_between(rank.life(), moments), told = sums_between(rank.told(), moments);
  const auto holes = holes_between(rank.told(), moments);
  const auto had_death = [&](std::size_t i) {
    return std::any_of(deaths.begin(), deaths.end(), [&](auto at) { return moments[i] <= at && at <= moments[i + 1]; });
  };
  for (std::size_t i = 0; i < told.size(); ++i) {
    if (holes[i] || had_death(i)) continue;
    for (std::size_t p = 0; p < told[i].size(); ++p)
      ASSERT_EQ(told[i][p], happened[i][p]) << "phase " << p << " between " << moments[i] << " and " << moments[i + 1];
  }
}

/// Of the step `i` of a life: when it must have been told, as something happens in it that is no short phase; nothing: it need not be.
std::optional<std::int64_t> told_at_the_latest(const std::vector<Event>& life, std::size_t i) {
  std::int64_t phase_began = life[i].time.count();
  for (++i; i < life.size() && !is_step(life[i]); ++i) {
    const std::int64_t at = life[i].time.count();
    if (at - phase_began >= RunSum::kLongPhase) return phase_began;
    if (life[i].kind != EventKind::kSwitch) return at;
    phase_began = at;
  }
  return std::nullopt;
}

/// When the step behind it begins, or the life ends.
std::int64_t end_of_step(const std::vector<Event>& life, std::size_t i) {
  const auto next = std::find_if(life.begin() + std::ptrdiff_t(i) + 1, life.end(), is_step);
  return next == life.end() ? life.back().time.count() : next->time.count();
}

/// Steps that are told are as they were, or are told behind the phases that were summed since; those that are not came soon
/// after another, and had short phases alone.
void expect_true_steps(const Rank& rank) {
  std::map<std::uint64_t, std::int64_t> told;
  for (const Event& event : rank.told())
    if (is_step(event)) told[event.value] = event.time.count();
  const std::vector<Event>& life = rank.life();
  std::optional<std::int64_t> before;
  for (std::size_t i = 0; i < life.size(); ++i) {
    if (!is_step(life[i])) continue;
    const std::int64_t began = life[i].time.count(), ended = end_of_step(life, i);
    const bool is_short = before && began - *before < RunSum::kShortStep;
    const auto latest = told_at_the_latest(life, i);
    const auto found = told.find(life[i].value);
    if (found == told.end()) {
      ASSERT_TRUE(is_short && !latest) << "step " << life[i].value;
    } else if (found->second != began) {
      ASSERT_TRUE(is_short && (latest || ended - began >= RunSum::kShortStep)) << "step " << life[i].value;
      ASSERT_GT(found->second, began) << "step " << life[i].value;
      ASSERT_LE(found->second, latest.value_or(ended)) << "step " << life[i].value;
    }
    before = began;
  }
}

/// Every phase that is long stands in what was told with its own beginning and end.
void expect_long_phases(const Rank& rank) {
  std::set<std::uint64_t> steps;
  for (const Event& event : rank.told())
    if (is_step(event)) steps.insert(event.value);
  std::vector<Event> life = rank.life();
  std::erase_if(life, [&](const Event& event) { return is_step(event) && !steps.contains(event.value); });
  std::size_t told = 0;
  for (std::size_t i = 0; i + 1 < life.size(); ++i) {
    if (life[i + 1].time.count() - life[i].time.count() < RunSum::kLongPhase) continue;
    while (told + 1 < rank.told().size() && rank.told()[told + 1].time <= life[i].time) ++told;
    ASSERT_EQ(rank.told()[told].time, life[i].time);
    ASSERT_EQ(rank.told()[told].phase, life[i].phase);
    ASSERT_EQ(rank.told()[told + 1].time, life[i + 1].time);
  }
}

void expect_short_runs(const Rank& rank) {
  std::optional<std::int64_t> begin;
  for (const Event& event : rank.told()) {
    if (event.kind != EventKind::kSummed) continue;
    ASSERT_LT(event.time.count() - begin.value_or(event.time.count()), RunSum::kLongestRun);
    begin = event.value > 0 ? std::optional(event.time.count()) : std::nullopt;
  }
}

/// Where steps are left out, sums say so.
void expect_sums_where_steps_are_left_out(const Rank& rank) {
  std::optional<std::uint64_t> before;
  bool has_sums = false;
  for (const Event& event : rank.told()) {
    has_sums = has_sums || (event.kind == EventKind::kSummed && event.value > 0);
    if (!is_step(event)) continue;
    ASSERT_TRUE(!before || event.value == *before + 1 || has_sums) << "step " << event.value;
    before = event.value;
    has_sums = false;
  }
}

class Runs : public testing::Test {
 protected:
  const std::uint64_t seed_ = any_seed();
  testing::ScopedTrace trace_{__FILE__, __LINE__, "seed " + std::to_string(seed_)};
  std::mt19937_64 random_{seed_};
};

TEST_F(Runs, OfAnyProgramAddUpToWhatHappened) {
  for (int program = 0; program < 60; ++program) {
    Rank rank;
    Life life(random_, ms(10));
    for (int habits = 0; habits < 12; ++habits) life.go_on(rank);
    rank.say(EventKind::kStop, 0, Phase::kNone);
    rank.drain();
    ASSERT_TRUE(test::times_never_decrease(rank.told()));
    ASSERT_EQ(number_of(rank.told(), EventKind::kDropped), 0u);
    ASSERT_EQ(phases_told(rank.told()), number_of(rank.life(), EventKind::kSwitch));
    ASSERT_EQ(others(rank.told()), others(rank.life()));
    ASSERT_NO_FATAL_FAILURE(expect_exact_sums(rank));
    ASSERT_NO_FATAL_FAILURE(expect_true_steps(rank));
    ASSERT_NO_FATAL_FAILURE(expect_sums_where_steps_are_left_out(rank));
    ASSERT_NO_FATAL_FAILURE(expect_long_phases(rank));
    ASSERT_NO_FATAL_FAILURE(expect_short_runs(rank));
  }
}

TEST_F(Runs, AddUpBesideWhatALateAgentHasLost) {
  for (int program = 0; program < 60; ++program) {
    Rank rank(RingWriter::kSmallestRing);
    Life life(random_, ms(2000));
    for (int habits = 0; habits < 20; ++habits) life.go_on(rank);
    rank.say(EventKind::kStop, 0, Phase::kNone);
    rank.drain();
    ASSERT_TRUE(test::times_never_decrease(rank.told()));
    ASSERT_NO_FATAL_FAILURE(expect_exact_sums(rank));
    const std::uint64_t told = phases_told(rank.told()) + others(rank.told()).size() +
                               number_of(rank.told(), EventKind::kStep) - number_of(rank.told(), EventKind::kDropped) +
                               lost(rank.told());
    ASSERT_LE(told, rank.life().size());
    ASSERT_GE(told + number_of(rank.life(), EventKind::kStep), rank.life().size());
  }
}

TEST_F(Runs, AddUpBehindAnotherAgent) {
  for (int program = 0; program < 30; ++program) {
    Rank rank;
    Life life(random_, ms(10));
    std::vector<std::int64_t> deaths;
    for (int habits = 0; habits < 8; ++habits) {
      life.go_on(rank);
      rank.replace_agent();
      deaths.push_back(rank.told().empty() ? rank.now() : rank.told().back().time.count());
    }
    rank.say(EventKind::kStop, 0, Phase::kNone);
    rank.drain();
    ASSERT_NO_FATAL_FAILURE(expect_exact_sums(rank, deaths));
  }
}

/// Phases of the same length.
void live_regularly(Rank& rank, std::int64_t gap, int events, std::int64_t look_every = kSweep) {
  std::int64_t next_look = rank.now() + look_every;
  for (int i = 0; i < events; ++i) {
    rank.pass(gap);
    rank.enter(i % 2 == 0 ? Phase::kCommunicate : Phase::kCompute);
    for (; rank.now() >= next_look; next_look += look_every) rank.drain();
  }
}

TEST(Pace, OfAHundredThousandEventsASecondIsToldOneByOne) {
  Rank rank;
  live_regularly(rank, RingWriter::kShortestGap, 20'000);
  EXPECT_EQ(number_of(rank.told(), EventKind::kSummed), 0u);
  EXPECT_GT(rank.told().size(), 15'000u);
}

TEST(Pace, ThatIsFasterIsSummed) {
  Rank rank;
  live_regularly(rank, RingWriter::kShortestGap - 1000, 20'000);
  EXPECT_GT(number_of(rank.told(), EventKind::kSummed), 0u);
  EXPECT_LT(rank.told().size(), 5'000u);
}

TEST(Pace, ThatSlowsDownIsToldOneByOneAgain) {
  Rank rank;
  live_regularly(rank, 50, 100'000);
  for (int i = 0; i < 5000; ++i) {
    rank.pass(i < 1000 ? 30'000 : 25'000);
    rank.enter(i % 2 == 0 ? Phase::kCommunicate : Phase::kCompute);
    if (i == 1000) rank.drain();
  }
  const std::size_t before = rank.told().size();
  rank.drain();
  EXPECT_EQ(rank.told().size() - before, 3999u);
}

TEST(Pace, OfThirtyMillionCallsASecondLosesNothingForSeconds) {
  Rank rank;
  live_regularly(rank, 16, 100'000'000 / 16, ms(90));
  EXPECT_EQ(number_of(rank.told(), EventKind::kDropped), 0u);
}

TEST(FillingRing, SumsWhatAnOrdinaryProgramDoes) {
  Rank rank;
  live_regularly(rank, 40'000, int(kRing * 2), ms(100'000));
  rank.drain();
  EXPECT_EQ(number_of(rank.told(), EventKind::kDropped), 0u);
  EXPECT_GT(number_of(rank.told(), EventKind::kSummed), 0u);
}

TEST(Sums, OfARankThatStaysSomewhereAreSeenInItsSlot) {
  Rank rank;
  live_regularly(rank, 50, 100'000);
  rank.drain();
  rank.pass(100);
  rank.enter(Phase::kWait);
  rank.look();
  EXPECT_EQ(rank.told().back().phase, Phase::kWait);
  EXPECT_EQ(rank.told().back().time.count(), rank.now());
  rank.pass(ms(500));
  rank.enter(Phase::kCompute);
  rank.drain();
  expect_exact_sums(rank);
  EXPECT_EQ(phases_told(rank.told()), number_of(rank.life(), EventKind::kSwitch));
}

std::vector<std::uint64_t> steps_told(const std::vector<Event>& told) {
  std::vector<std::uint64_t> steps;
  for (const Event& event : told)
    if (is_step(event)) steps.push_back(event.value);
  return steps;
}

/// Of a program that is summed: so many steps of 30 us.
void take_steps(Rank& rank, std::uint64_t from, std::uint64_t to) {
  for (std::uint64_t step = from; step < to; ++step) {
    rank.step(step);
    live_regularly(rank, 1000, 30);
  }
}

TEST(Steps, AreToldToTheLastOfAProgramThatEndsWithinARun) {
  Rank rank;
  live_regularly(rank, 1000, 5000);
  take_steps(rank, 0, 80);
  rank.say(EventKind::kStop, 0, Phase::kNone);
  rank.drain();
  EXPECT_LT(steps_told(rank.told()).size(), 20u);
  EXPECT_EQ(steps_told(rank.told()).back(), 79u);
}

TEST(Steps, ThatWaitForLongAreToldBeforeTheyDo) {
  Rank rank;
  live_regularly(rank, 1000, 5000);
  take_steps(rank, 0, 17);
  rank.enter(Phase::kWait);
  rank.pass(ms(10));
  rank.enter(Phase::kCompute);
  rank.drain();
  EXPECT_EQ(steps_told(rank.told()).back(), 16u);
}

TEST(Steps, OfWhichARankIsHeldAreToldBeforeThat) {
  Rank rank;
  live_regularly(rank, 1000, 5000);
  take_steps(rank, 0, 17);
  rank.step(17);
  rank.say(EventKind::kDelayBegin, 7, Phase::kDelay);
  rank.drain();
  ASSERT_EQ(steps_told(rank.told()).back(), 17u);
  EXPECT_EQ(rank.told()[rank.told().size() - 2].time.count(), rank.now());
}

TEST(Sums, ThatDoNotFillTheirTimeCountAsDropped) {
  RunReader reader;
  std::vector<Event> told;
  reader.take({Nanoseconds(100), 0, EventKind::kSwitch, Phase::kCompute}, told);
  reader.take({Nanoseconds(900), 500, shm::kRunTime, Phase::kCompute}, told);
  reader.take({Nanoseconds(900), 200, shm::kRunTime, Phase::kWait}, told);
  reader.take({Nanoseconds(900), 17, shm::kRunEnd, Phase::kWait}, told);
  EXPECT_EQ(describe(told), (std::vector<std::string>{"switch compute", "dropped 17 wait"}));
}

}  // namespace
}  // namespace idlewave
