// Who made whom wait, held against the slow simulation: a judge that knows who waited for whom.

#include "monitor/analysis/causes/causes.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gmock/gmock.h>

#include <random>
#include <set>

#include "tests/analysis/cause_judge.h"
#include "tests/analysis/random_cause_programs.h"
#include "tests/analysis/said_waits.h"
#include "tests/any_seed.h"

namespace idlewave::analysis {
namespace {

using support::Protocol;
using support::Topology;
using support::WaitFlavour;
using test::EventsOfRanks;
using test::ground_of;
using test::ms;
using test::RandomCausePrograms;
using test::Table;
using test::table_of;
using test::told_waits;
using test::WaitRules;
using tests::ExactProgram;

constexpr Window kWholeRun{Nanoseconds{0}, Nanoseconds::max()};

std::string words_of(const ExactProgram& program) {
  const auto& c = program.communication;
  return fmt::format("{} ranks, {} steps, {}, distances {}, {}, {}, {} delays{}, messages of {} ns", program.ranks,
                     program.steps, c.topology == Topology::kRing ? "ring" : "chain", c.distances,
                     c.protocol == Protocol::kEager ? "eager" : "rendezvous",
                     c.wait == WaitFlavour::kAll ? "one wait" : "split", program.delays.size(),
                     program.noise ? ", noise" : "", c.time.count());
}

/// By whose post ended each wait, and in which way that one stands to the rank. Of those who come at the same moment one that
/// it waits for directly counts, and of these the lowest.
causes::Ended ended_of(const ExactProgram& program, const Table& table, const WaitRules& rules, Rank rank) {
  const auto& c = program.communication;
  const auto is_at = [&](Rank other, int sign) {
    return std::ranges::any_of(c.distances, [&](Rank distance) {
      const Rank there = rank + sign * distance;
      return there == other || (c.topology == Topology::kRing && (there - other) % table.size() == 0);
    });
  };
  causes::Ended ended;
  for (int step = 0; step < int(table.ranks[std::size_t(rank)].size()); ++step) {
    const test::Times& t = table.at(rank, step);
    const auto [last, at] = rules.last(rank, step);
    const Nanoseconds caused = last == rank ? Nanoseconds{0} : std::max(Nanoseconds{0}, std::min(at, t.end) - t.post);
    ended.messages += t.end - t.post - caused;
    if (last == rank) continue;
    const auto sends_then = [&](Rank other) { return is_at(other, -1); };
    const auto receives_then = [&](Rank other) { return c.protocol == Protocol::kRendezvous && is_at(other, +1); };
    Rank ended_it = last;
    for (Rank other = table.size() - 1; other >= 0; --other)
      if (other != rank && table.at(other, step).post == at && (sends_then(other) || receives_then(other)))
        ended_it = other;
    const bool sends = sends_then(ended_it), receives = receives_then(ended_it);
    (sends && receives ? ended.by_either
     : sends           ? ended.by_message
     : receives        ? ended.by_receive
                       : ended.through) += caused;
  }
  return ended;
}

void expect_truth(const ExactProgram& program, const Table& table, const timeline::Timeline& timeline,
                  const causes::Causes& causes) {
  const WaitRules rules(program.communication, table);
  test::expect_conserved(timeline, causes);
  test::expect_as_judged(
      table, causes, [&](Rank rank, int step) { return rules.last(rank, step); }, words_of(program));
}

TEST(CausesTruth, AreExactWherePartnersAreKnown) {
  RandomCausePrograms random(any_seed());
  for (int i = 0; i < 60 && !HasFailure(); ++i) {
    const ExactProgram program = random.next();
    const Table table = table_of(program, simulate(program));
    const timeline::Timeline timeline = timeline_of(table);
    const bool ring = program.communication.topology == Topology::kRing;
    const partners::Partners partners{WaitRules(program.communication, table).offsets(), ring};
    expect_truth(program, table, timeline, causes::find_causes(timeline, kWholeRun, ground_of(timeline, partners)));
  }
}

/// Of all ranks of a program that say whom they wait for.
void expect_exact(const ExactProgram& program, causes::Ended& all) {
  const Table table = table_of(program, simulate(program));
  wire::Roster roster = roster_of(table);
  test::say_waits(program.communication, roster);
  const timeline::Timeline timeline = timeline_of(table, events_of(table), roster);
  const causes::Causes causes = causes::find_causes(timeline, kWholeRun);
  const WaitRules rules(program.communication, table);
  for (Rank rank = 0; rank < table.size(); ++rank) {
    const causes::Ended truth = ended_of(program, table, rules, rank), &found = causes.ranks[std::size_t(rank)].ended;
    EXPECT_EQ(found, truth) << "rank " << rank << " of " << words_of(program);
    all.by_message += found.by_message, all.by_receive += found.by_receive, all.by_either += found.by_either,
        all.through += found.through, all.messages += found.messages;
  }
}

TEST(CausesTruth, SayWhatEndedEachWaitWhereRanksSayWhomTheyWaitFor) {
  RandomCausePrograms random(any_seed());
  causes::Ended all;
  const auto has_each = [&all] {
    return std::ranges::min({all.by_message, all.by_receive, all.by_either, all.through, all.messages}) >
           Nanoseconds{0};
  };
  // What is rare may not be among the first.
  for (int i = 0; (i < 120 || (i < 1200 && !has_each())) && !HasFailure(); ++i) expect_exact(random.next(), all);
  EXPECT_TRUE(has_each());
}

/// A wait for one through another ends when others may have begun their next steps: among these programs are some in which that
/// looked as if it had been for those.
TEST(CausesTruth, SayTheSameWhereOthersGoOnWhileARankWaitsThroughAPartner) {
  causes::Ended all;
  for (const unsigned seed : {22U, 39U}) {
    RandomCausePrograms random(seed);
    for (int i = 0; i < 120 && !HasFailure(); ++i) {
      const ExactProgram program = random.next();
      if (program.communication.wait == WaitFlavour::kSplit) expect_exact(program, all);
    }
  }
  EXPECT_GT(all.through, Nanoseconds{0});
}

/// As ranks say it who don't know whether their sends wait, but where that makes no difference.
void forget_protocol(wire::WaitPattern& pattern) {
  pattern.uncertain = !std::ranges::includes(pattern.from, pattern.to);
  pattern.rendezvous = pattern.rendezvous && !pattern.uncertain;
}

/// No cause has more than where the ranks know it.
void expect_no_other_cause(const causes::RankCauses& found, const causes::RankCauses& truth, const std::string& what) {
  for (const causes::Culprit& culprit : found.by) {
    const auto known = std::ranges::find(truth.by, culprit.rank, &causes::Culprit::rank);
    EXPECT_TRUE(known != truth.by.end() && culprit.cost.sum() <= known->cost.sum()) << culprit.rank << " in " << what;
  }
  EXPECT_LE(found.transfer, truth.transfer) << what;
  EXPECT_LE(found.itself, truth.itself) << what;
  EXPECT_LE(found.bandwidth, truth.bandwidth) << what;
}

/// What would be another cause if sends did the other thing is unknown, and nothing else is.
TEST(CausesTruth, AreNoOthersWhereNobodyKnowsWhetherSendsWait) {
  RandomCausePrograms random(any_seed());
  Nanoseconds waited{}, unknown{}, unknown_anyway{};
  for (int i = 0; i < 120 && !HasFailure(); ++i) {
    const ExactProgram program = random.next();
    const Table table = table_of(program, simulate(program));
    wire::Roster known = roster_of(table);
    test::say_waits(program.communication, known);
    wire::Roster open = known;
    for (wire::WaitPattern& pattern : open.patterns) forget_protocol(pattern);
    const timeline::Timeline knowing = timeline_of(table, events_of(table), known),
                             asking = timeline_of(table, events_of(table), open);
    const partners::SaidWaits said(asking, {});
    const auto of_ranks = partners::RankPartners::declared_in(said);
    ASSERT_TRUE(of_ranks);
    const partners::Partners partners{.offsets = of_ranks->offsets(),
                                      .ring = of_ranks->is_ring(),
                                      .source = partners::PartnerSource::kDeclared,
                                      .of_ranks = of_ranks};
    const causes::Causes truth = causes::find_causes(knowing, kWholeRun),
                         found = causes::find_causes(asking, kWholeRun, ground_of(asking, partners));
    test::expect_conserved(asking, found);
    for (std::size_t rank = 0; rank < found.ranks.size(); ++rank) {
      expect_no_other_cause(found.ranks[rank], truth.ranks[rank], words_of(program));
      waited += found.ranks[rank].waited, unknown += found.ranks[rank].unknown;
      unknown_anyway += truth.ranks[rank].unknown;
    }
  }
  fmt::print("{:.3f} of all waiting unknown, {:.3f} where it is known\n",
             double(unknown.count()) / double(waited.count()), double(unknown_anyway.count()) / double(waited.count()));
  EXPECT_LT(unknown, waited / 2);
}

/// A solver's exchanges, step after step; with each set of its iterations they begin anew.
struct ShiftingCycle {
  Rank ranks = 0;
  std::vector<std::vector<Rank>> exchanges;  ///< Of each step of the cycle, offsets to those that all receive from.
  std::vector<std::size_t> shifts;           ///< Of each step of the run: how far the cycle is shifted.

  const std::vector<Rank>& exchange_in(int step) const {
    return exchanges[(std::size_t(step) + shifts[std::size_t(step)]) % exchanges.size()];
  }
  template <class F>
  void for_each_sender(Rank rank, int step, F tell) const {
    for (const Rank offset : exchange_in(step)) tell((rank + offset + ranks) % ranks);
  }
};

ShiftingCycle any_shifting_cycle(RandomCausePrograms& random) {
  ShiftingCycle cycle{.ranks = Rank(random.whole(6, 12)), .exchanges = {}, .shifts = {}};
  static const std::vector<std::vector<Rank>> kOffsets = {{-1, 1}, {1}, {-1}, {-2, 2}, {2}, {-2, 1}, {-1, 2}};
  for (int length = random.whole(2, 11); length > 0; --length)
    cycle.exchanges.push_back(kOffsets[std::size_t(random.whole(0, int(kOffsets.size()) - 1))]);
  std::size_t shift = 0;
  for (int sets = random.whole(20, 60); sets > 0; --sets, ++shift)
    cycle.shifts.insert(cycle.shifts.end(), std::size_t(random.whole(12, 40)), shift);
  return cycle;
}

Table run(const ShiftingCycle& cycle, RandomCausePrograms& random) {
  Table table{.ranks = std::vector<std::vector<test::Times>>(std::size_t(cycle.ranks))};
  std::vector<Nanoseconds> begin(std::size_t(cycle.ranks), Nanoseconds{0});
  for (int step = 0; step < int(cycle.shifts.size()); ++step) {
    std::vector<Nanoseconds> posts;
    for (const Nanoseconds at : begin)
      posts.push_back(at + ms(10 + random.real(0, 1) + (random.whole(0, 19) == 0 ? random.real(2, 20) : 0)));
    for (Rank rank = 0; rank < cycle.ranks; ++rank) {
      const auto i = std::size_t(rank);
      Nanoseconds end = posts[i];
      cycle.for_each_sender(rank, step, [&](Rank other) { end = std::max(end, posts[std::size_t(other)]); });
      table.ranks[i].push_back(
          {.begin = begin[i], .work_begin = begin[i], .work_end = posts[i], .post = posts[i], .end = end});
      begin[i] = end;
    }
  }
  return table;
}

/// With what ranks say where the cycle begins anew: the same steps, at other places.
timeline::Timeline timeline_of(const ShiftingCycle& cycle, const Table& table) {
  const auto length = std::uint32_t(cycle.exchanges.size());
  wire::Roster roster = roster_of(table);
  for (std::uint32_t shift = 0; shift < length; ++shift) {
    roster.patterns.push_back({false, false, cycle.exchanges[shift], {}});
    auto& steps = roster.cycles.emplace_back().steps;
    for (std::uint32_t step = 0; step < length; ++step) steps.push_back({(step + shift) % length});
  }
  EventsOfRanks events = events_of(table);
  for (auto& its : events) {
    std::vector<wire::Event> all;
    for (const wire::Event& event : its) {
      all.push_back(event);
      if (event.kind != wire::EventKind::kStep) continue;
      const std::size_t step = event.value, shift = cycle.shifts[step];
      if (step == 0 || cycle.shifts[step - 1] != shift)
        all.push_back({event.time, 1 + shift % length, wire::EventKind::kPartners, wire::Phase::kNone});
    }
    its = std::move(all);
  }
  return test::timeline_of(table, events, roster);
}

TEST(CausesTruth, AreExactHoweverOftenACycleOfExchangesBeginsAnew) {
  RandomCausePrograms random(any_seed());
  for (int i = 0; i < 10 && !HasFailure(); ++i) {
    const ShiftingCycle cycle = any_shifting_cycle(random);
    const Table table = run(cycle, random);
    const auto last = [&](Rank rank, int step) {
      std::pair latest(rank, table.at(rank, step).post);
      cycle.for_each_sender(rank, step, [&](Rank other) {
        if (const Nanoseconds post = table.at(other, step).post; post > latest.second) latest = {other, post};
      });
      return latest;
    };
    const timeline::Timeline timeline = timeline_of(cycle, table);
    const causes::Causes causes = causes::find_causes(timeline, kWholeRun);
    test::expect_conserved(timeline, causes);
    test::expect_as_judged(
        table, causes, last,
        fmt::format("{} ranks, cycle of {}, {} steps", cycle.ranks, cycle.exchanges.size(), cycle.shifts.size()));
  }
}

/// Times may tell it of some ranks and not of others.
bool is_told_of_each(const partners::Partners& found, const partners::Partners& truth, Rank ranks, wire::Step step) {
  const auto awaited = [&](const partners::Partners& partners, Rank rank) {
    std::set<Rank> all;
    partners.for_each_awaited(rank, step, ranks, [&](Rank other, Rank) { all.insert(other); });
    return all;
  };
  for (Rank rank = 0; rank < ranks; ++rank)
    if (awaited(found, rank) != awaited(truth, rank)) return false;
  return true;
}

/// To the nanosecond where the times tell who waits for whom. Else partners are found that are none, and a wait may end
/// with the post of one of these.
TEST(CausesTruth, AreExactWherePartnersAreInferredRight) {
  RandomCausePrograms random(any_seed());
  int programs = 0, right = 0, good = 0;
  while (programs < 80 && !HasFailure()) {
    const ExactProgram program = random.next();
    if (program.delays.empty() && !program.noise) continue;
    ++programs;
    const Table table = table_of(program, simulate(program));
    const timeline::Timeline timeline = timeline_of(table);
    const WaitRules rules(program.communication, table);
    const causes::CauseGround ground = causes::cause_ground(timeline);
    const causes::Causes causes = causes::find_causes(timeline, kWholeRun, ground);
    test::expect_conserved(timeline, causes);
    const partners::Partners truth{.offsets = rules.offsets(),
                                   .ring = program.communication.topology == Topology::kRing};
    if (ground.partners.offsets == truth.offsets && ground.partners.ring == truth.ring &&
        is_told_of_each(ground.partners, truth, program.ranks, program.steps / 2)) {
      ++right, ++good;
      expect_truth(program, table, timeline, causes);
      continue;
    }
    const auto last = [&](Rank rank, int step) { return rules.last(rank, step); };
    const double other = test::share_given_to_others(table, causes, last);
    good += other < 0.05;
    if (other >= 0.05)
      fmt::print("{:.2f} to others by {}, {}: {}\n", other, ground.partners.offsets,
                 ground.partners.ring ? "ring" : "chain", words_of(program));
  }
  fmt::print("of {} programs {} tell who waits for whom; {} are right to a twentieth of all waiting\n", programs, right,
             good);
  EXPECT_GE(right, programs / 2);
  EXPECT_GE(good, programs * 9 / 10);
}

/// Nearly: a record does not say whether a rank was held before or behind its work, and what others did in the last step
/// was not told.
TEST(CausesTruth, TellSharedBandwidthFromWhoWorkedLonger) {
  RandomCausePrograms random(any_seed());
  int looked = 0, right = 0;
  Nanoseconds by_bandwidth{};
  while (looked < 20 && !HasFailure()) {
    const ExactProgram program = random.next(true);
    if (program.delays.empty()) continue;
    const Table table = table_of(program, simulate(program));
    const timeline::Timeline timeline = timeline_of(table);
    const WaitRules rules(program.communication, table);
    const bool ring = program.communication.topology == Topology::kRing;
    const causes::CauseGround ground = ground_of(timeline, {rules.offsets(), ring});
    const causes::Causes causes = causes::find_causes(timeline, kWholeRun, ground);
    test::expect_conserved(timeline, causes);
    if (!ground.shares_bandwidth) continue;
    ++looked;
    const auto last = [&](Rank rank, int step) { return rules.last(rank, step); };
    const double other = test::share_given_to_others(table, causes, last);
    right += other < 0.02;
    if (other >= 0.02) fmt::print("{:.3f} to others: {}\n", other, words_of(program));
    for (const causes::RankCauses& each : causes.ranks) by_bandwidth += each.bandwidth;
  }
  fmt::print("{} of {} programs, {} s for bandwidth\n", right, looked, double(by_bandwidth.count()) * 1e-9);
  EXPECT_GE(right, looked * 9 / 10);
  EXPECT_GT(by_bandwidth, Nanoseconds{0});
}

/// Neighbours wait for each other, and in some steps all for the last one.
Table with_collectives(Rank ranks, int steps, int every, unsigned seed) {
  std::mt19937 random(seed);
  std::exponential_distribution<> noise(1 / 0.8);
  Table table{.ranks = std::vector<std::vector<test::Times>>(std::size_t(ranks))};
  std::vector<Nanoseconds> begin(std::size_t(ranks), Nanoseconds{0});
  for (int step = 0; step < steps; ++step) {
    std::vector<Nanoseconds> posts;
    for (Rank rank = 0; rank < ranks; ++rank) posts.push_back(begin[std::size_t(rank)] + ms(10 + noise(random)));
    for (Rank rank = 0; rank < ranks; ++rank) {
      const auto i = std::size_t(rank);
      Nanoseconds end =
          std::max({posts[i], posts[(i + 1) % posts.size()], posts[(i + posts.size() - 1) % posts.size()]});
      if (step % every == every - 1) end = *std::ranges::max_element(posts);
      table.ranks[i].push_back(
          {.begin = begin[i], .work_begin = begin[i], .work_end = posts[i], .post = posts[i], .end = end});
      begin[i] = end;
    }
  }
  return table;
}

TEST(CausesTruth, OfACollectiveAreWhoeverCameLast) {
  RandomCausePrograms random(any_seed());
  for (const int every : {1, 4, 9}) {
    const Table table = with_collectives(random.whole(24, 40), 60, every, unsigned(random.whole(1, 1 << 30)));
    support::Communication neighbours;
    neighbours.protocol = Protocol::kEager;
    const WaitRules rules(neighbours, table);
    const auto last = [&](Rank rank, int step) {
      if (step % every != every - 1) return rules.last(rank, step);
      Rank latest = 0;
      for (Rank other = 1; other < table.size(); ++other)
        if (table.at(other, step).post > table.at(latest, step).post) latest = other;
      return std::pair(latest, table.at(latest, step).post);
    };
    const timeline::Timeline timeline = timeline_of(table);
    const causes::Causes causes = causes::find_causes(timeline, kWholeRun, ground_of(timeline, {{-1, 1}, true}));
    test::expect_conserved(timeline, causes);
    test::expect_as_judged(table, causes, last, fmt::format("collective each {} steps", every));
  }
}

/// From `first` on, `count` events of a rank are lost.
void lose(std::vector<wire::Event>& events, std::size_t first, std::size_t count) {
  const std::size_t end = std::min(events.size(), first + count);
  if (first == 0 || first + 1 >= end) return;
  events[end - 1] = {events[end - 1].time, end - 1 - first, wire::EventKind::kDropped, events[end - 1].phase};
  events.erase(events.begin() + std::ptrdiff_t(first), events.begin() + std::ptrdiff_t(end) - 1);
}

void begin_late(std::vector<wire::Event>& events, Nanoseconds at) {
  std::erase_if(events, [at](const wire::Event& event) { return event.time < at; });
  if (!events.empty()) events.front() = {events.front().time, 0, wire::EventKind::kStart, wire::Phase::kNone};
}

TEST(CausesTruth, AreConservedWhateverIsMissing) {
  RandomCausePrograms random(any_seed());
  for (int i = 0; i < 60 && !HasFailure(); ++i) {
    const ExactProgram program = random.next(random.whole(0, 3) == 0);
    const Table table = table_of(program, simulate(program));
    EventsOfRanks events = events_of(table);
    for (auto& its : events) {
      for (int holes = random.whole(0, 2); holes > 0; --holes)
        lose(its, std::size_t(random.whole(0, int(its.size()))), std::size_t(random.whole(2, 30)));
      if (random.whole(0, 5) == 0) its.resize(std::size_t(random.whole(0, int(its.size()))));
      if (random.whole(0, 9) == 0 && !its.empty())
        its.back() = {its.back().time, 0, wire::EventKind::kStop, wire::Phase::kNone};
    }
    const Nanoseconds late = random.whole(0, 1) ? table.at(0, random.whole(0, 20)).begin : Nanoseconds{0};
    for (auto& its : events) begin_late(its, late);
    const timeline::Timeline timeline = timeline_of(table, events);
    test::expect_conserved(timeline, causes::find_causes(timeline, kWholeRun));
  }
}

TEST(CausesTruth, OfWindowsAddUpToThoseOfTheRun) {
  RandomCausePrograms random(any_seed());
  const ExactProgram program = random.next();
  const timeline::Timeline timeline = timeline_of(table_of(program, simulate(program)));
  const double run = double(timeline.now().count());
  const Nanoseconds one(std::int64_t(run * random.real(0, 0.5))), two(std::int64_t(run * random.real(0.5, 1)));
  std::vector<Nanoseconds> waited(std::size_t(program.ranks));
  for (const Window window : {Window{Nanoseconds{0}, one}, Window{one, two}, Window{two, Nanoseconds::max()}}) {
    const causes::Causes causes = causes::find_causes(timeline, window);
    for (std::size_t rank = 0; rank < waited.size(); ++rank) waited[rank] += causes.ranks[rank].waited;
  }
  for (Rank rank = 0; rank < program.ranks; ++rank)
    EXPECT_EQ(waited[std::size_t(rank)], told_waits(timeline, rank)) << words_of(program);
}

}  // namespace
}  // namespace idlewave::analysis
