// How far a wave comes, and who made others wait, as it follows from whom ranks say that they wait for.

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>
#include <numeric>
#include <random>
#include <string>

#include "monitor/analysis/causes/causes.h"
#include "monitor/analysis/waves/waves.h"
#include "tests/analysis/simulated_session.h"
#include "tests/any_seed.h"
#include "workloads/sim/core/wait_table.h"

namespace idlewave::analysis {
namespace {

using timeline::Timeline;
using wire::Rank;

/// Ranks that wait for whomever they like: who each receives from, and when each has posted and ended its steps.
struct Graph {
  static constexpr wire::Nanoseconds kWork = std::chrono::milliseconds(10);
  static constexpr int kSteps = 60, kDelayed = 20;

  using Senders = std::vector<std::vector<Rank>>;  ///< By receiver.

  Senders senders, senders_later;
  int turn = kSteps;  ///< The first step of senders_later.
  int every = 1;      ///< Of so many steps they wait in the first.
  /// Each rank exchanges with one after the other, in the order of ranks: who sends to a rank also receives from it.
  bool one_by_one = false;
  Rank held = 0;
  wire::Nanoseconds delay{};
  wire::Nanoseconds slow_to_go_on{};  ///< In that step, who receives from the held rank, once that is there.

  Rank ranks() const { return Rank(senders.size()); }
  const std::vector<Rank>& senders_to(Rank rank, int step) const {
    static const std::vector<Rank> kNobody;
    return step % every > 0 ? kNobody : (step < turn ? senders : senders_later)[std::size_t(rank)];
  }

  /// By rank, then step: when it begins.
  std::vector<std::vector<wire::Nanoseconds>> begins() const {
    std::vector<std::vector<wire::Nanoseconds>> begins(senders.size(), {wire::Nanoseconds{0}});
    for (int step = 0; step < kSteps; ++step) {
      if (one_by_one) {
        exchange_one_by_one(begins, step);
        continue;
      }
      for (Rank rank = 0; rank < ranks(); ++rank) {
        wire::Nanoseconds end = post(begins, rank, step);
        for (const Rank sender : senders_to(rank, step)) end = std::max(end, post(begins, sender, step));
        if (step == kDelayed && std::ranges::count(senders_to(rank, step), held) > 0) end += slow_to_go_on;
        begins[std::size_t(rank)].push_back(end);
      }
    }
    return begins;
  }

  /// The order of pairs by their lower and then their higher rank is that of each rank's own exchanges.
  void exchange_one_by_one(std::vector<std::vector<wire::Nanoseconds>>& begins, int step) const {
    std::vector<wire::Nanoseconds> now;
    for (Rank rank = 0; rank < ranks(); ++rank) now.push_back(post(begins, rank, step));
    for (std::size_t lower = 0; lower < senders.size(); ++lower)
      for (std::size_t higher = lower + 1; higher < senders.size(); ++higher)
        if (std::ranges::find(senders[lower], Rank(higher)) != senders[lower].end())
          now[lower] = now[higher] = std::max(now[lower], now[higher]);
    for (std::size_t rank = 0; rank < now.size(); ++rank) begins[rank].push_back(now[rank]);
  }

  wire::Nanoseconds post(const std::vector<std::vector<wire::Nanoseconds>>& begins, Rank rank, int step) const {
    return begins[std::size_t(rank)][std::size_t(step)] + own(rank, step);
  }

  /// Ranks are a little unlike one another, but always the same.
  wire::Nanoseconds own(Rank rank, int step) const {
    const bool is_held = rank == held && step == kDelayed;
    return kWork + std::chrono::microseconds(rank * 7 % 50) + (is_held ? delay : wire::Nanoseconds{0});
  }

  Timeline timeline(test::Says says, const std::vector<Rank>& silent) const {
    wire::Roster roster;
    roster.world_size = ranks();
    sim::core::WaitTable waits(ranks());
    for (Rank rank = 0; rank < ranks(); ++rank) roster.ranks.push_back({rank, 1, wire::kNoDomain, 0});
    if (turn < kSteps) follow(senders_later, waits);
    const std::vector<std::uint32_t> later = waits.follows();
    follow(senders, waits);
    if (says == test::Says::kPartners) sim::emitter::say_waits(waits, roster);
    for (const Rank rank : silent) roster.ranks[std::size_t(rank)].cycle = 0;
    Timeline timeline;
    EXPECT_TRUE(timeline.apply_roster("n1", roster));
    const auto all = begins();
    for (Rank rank = 0; rank < ranks(); ++rank)
      timeline.append("n1", {wire::LaneId::Kind::kRank, rank}, events_of(all, rank, later[std::size_t(rank)]));
    timeline.advance("n1", all.front().back());
    return timeline;
  }

  void follow(const Senders& all, sim::core::WaitTable& waits) const {
    for (Rank rank = 0; rank < ranks(); ++rank) {
      const std::vector<Rank>& its = all[std::size_t(rank)];
      std::vector<std::uint32_t> step;
      if (!one_by_one) step.push_back(waits.wait(rank, its, {}, false));
      for (std::size_t i = 0; one_by_one && i < its.size(); ++i)
        step.push_back(waits.wait(rank, std::span(its).subspan(i, 1), std::span(its).subspan(i, 1), false));
      std::vector<std::vector<std::uint32_t>> cycle{step};
      cycle.resize(std::size_t(every));
      waits.follow(rank, cycle);
    }
  }

  /// `later`: the cycle that it says to follow when the first of those steps ends.
  std::vector<wire::Event> events_of(const std::vector<std::vector<wire::Nanoseconds>>& begins, Rank rank,
                                     std::uint32_t later) const {
    using wire::EventKind, wire::Phase;
    std::vector<wire::Event> events{{{}, 0, EventKind::kStart, Phase::kNone}};
    for (int step = 0; step < kSteps; ++step) {
      const wire::Nanoseconds begin = begins[std::size_t(rank)][std::size_t(step)];
      if (step == turn + 1) events.push_back({begin, later, EventKind::kPartners, Phase::kWait});
      events.push_back({begin, std::uint64_t(step), EventKind::kStep, step > 0 ? Phase::kWait : Phase::kNone});
      events.push_back({begin, 0, step > 0 ? EventKind::kSwitch : EventKind::kEnter, Phase::kCompute});
      events.push_back({post(begins, rank, step), 0, EventKind::kSwitch, Phase::kWait});
    }
    events.push_back({begins[std::size_t(rank)].back(), 0, EventKind::kStop, Phase::kNone});
    return events;
  }

  /// Ranks that end a step later, by a tenth of one, because of the delay.
  int truly_reached() const {
    Graph without = *this;
    without.delay = {};
    const auto late = begins(), usual = without.begins();
    int reached = 0;
    for (Rank rank = 0; rank < ranks(); ++rank)
      for (int step = 0; step <= kSteps; ++step)
        if (rank != held &&
            late[std::size_t(rank)][std::size_t(step)] >= usual[std::size_t(rank)][std::size_t(step)] + kWork / 10) {
          ++reached;
          break;
        }
    return reached;
  }
};

/// A part of them, at least one and not all.
std::vector<Rank> some_ranks(Rank ranks, std::mt19937& random) {
  std::vector<Rank> some(static_cast<std::size_t>(ranks));
  std::iota(some.begin(), some.end(), 0);
  std::ranges::shuffle(some, random);
  some.resize(1 + random() % std::size_t(ranks - 1));
  return some;
}

bool is_found(const Graph& graph, test::Says says, const std::vector<Rank>& silent = {}) {
  const Timeline timeline = graph.timeline(says, silent);
  for (const waves::Wave& wave : waves::find_waves(timeline, {Nanoseconds{0}, Nanoseconds::max()}))
    if (wave.origin_rank == graph.held && wave.origin_step == Graph::kDelayed)
      return wave.up.reach_ranks + wave.down.reach_ranks == graph.truly_reached();
  return graph.truly_reached() == 0;
}

TEST(DeclaredPartners, TellHowFarAWaveComesWhereEachRankWaitsForOthers) {
  const unsigned seed = any_seed();
  SCOPED_TRACE("IDLEWAVE_TEST_SEED=" + std::to_string(seed));
  std::mt19937 random(seed);
  constexpr int kPrograms = 60;
  int declared = 0, partly = 0, inferred = 0;
  for (int i = 0; i < kPrograms; ++i) {
    Graph graph;
    graph.senders.resize(10 + random() % 40);
    for (auto& senders : graph.senders)
      for (unsigned count = random() % 4; count > 0; --count) senders.push_back(Rank(random() % graph.senders.size()));
    graph.held = Rank(random() % graph.senders.size());
    graph.delay = Graph::kWork * (3 + random() % 20);
    declared += is_found(graph, test::Says::kPartners);
    partly += is_found(graph, test::Says::kPartners, some_ranks(graph.ranks(), random));
    inferred += is_found(graph, test::Says::kNothing);
  }
  std::printf("of %d programs %d told right with declared partners, %d with some, %d with inferred ones\n", kPrograms,
              declared, partly, inferred);
  EXPECT_GE(declared, kPrograms - 1);
  EXPECT_GE(partly, kPrograms - 6);
  EXPECT_GE(inferred, kPrograms - 6);
}

Graph::Senders random_senders(std::size_t ranks, std::mt19937& random) {
  Graph::Senders all(ranks);
  for (auto& senders : all)
    for (unsigned count = random() % 4; count > 0; --count) senders.push_back(Rank(random() % ranks));
  return all;
}

/// Of programs that `next` makes, with one rank held in each.
template <class Next>
void expect_told_right(Next next) {
  const unsigned seed = any_seed();
  SCOPED_TRACE("IDLEWAVE_TEST_SEED=" + std::to_string(seed));
  std::mt19937 random(seed);
  constexpr int kPrograms = 60;
  int right = 0;
  for (int i = 0; i < kPrograms; ++i) {
    Graph graph = next(random);
    graph.held = Rank(random() % graph.senders.size());
    graph.delay = Graph::kWork * (3 + random() % 20);
    right += is_found(graph, test::Says::kPartners);
  }
  std::printf("of %d programs %d told right\n", kPrograms, right);
  EXPECT_GE(right, kPrograms - 1);
}

/// Before the wave, while it runs, and where it has come to nobody for some steps; that it reaches who begins to wait for
/// it 24 steps later is not followed.
TEST(DeclaredPartners, TellHowFarAWaveComesInARunWhoseRanksWaitForOthersFromSomeStepOn) {
  expect_told_right([](std::mt19937& random) {
    Graph graph;
    graph.senders = random_senders(10 + random() % 40, random);
    graph.senders_later = random_senders(graph.senders.size(), random);
    graph.turn = 5 + int(random() % 35);
    return graph;
  });
}

/// As where others have their processors when the message comes: that it takes them a while once is no habit of theirs.
TEST(DeclaredPartners, TellHowFarAWaveComesToRanksThatAreSlowToGoOn) {
  expect_told_right([](std::mt19937& random) {
    Graph graph;
    graph.senders = random_senders(10 + random() % 40, random);
    graph.slow_to_go_on = Graph::kWork * (10 + random() % 30) / 100;
    return graph;
  });
}

/// Connected, and nearly a chain or not.
Graph random_neighbours(std::mt19937& random) {
  Graph graph;
  graph.senders.resize(5 + random() % 40);
  const auto link = [&](std::size_t a, std::size_t b) {
    if (a == b || std::ranges::find(graph.senders[a], Rank(b)) != graph.senders[a].end()) return;
    graph.senders[a].push_back(Rank(b));
    graph.senders[b].push_back(Rank(a));
  };
  const std::size_t near = 1 + random() % 4;
  for (std::size_t rank = 1; rank < graph.senders.size(); ++rank)
    link(rank, rank - 1 - random() % std::min(rank, near));
  for (std::size_t more = random() % 6; more > 0; --more)
    link(random() % graph.senders.size(), random() % graph.senders.size());
  for (auto& its : graph.senders) std::ranges::sort(its);
  return graph;
}

/// A rank hands on in the same step what has made it late before it came to the next one, and waits for others before.
TEST(DeclaredPartners, TellHowFarAWaveComesWhereEachRankHasItsOwnOrderOfPartners) {
  expect_told_right([](std::mt19937& random) {
    Graph graph = random_neighbours(random);
    graph.one_by_one = true;
    return graph;
  });
}

/// Of the waiting of these ranks, nanoseconds: what one of both gives to another cause than the other does.
double given_to_others(const causes::RankCauses& one, const causes::RankCauses& other) {
  std::map<Rank, double> difference;
  for (const causes::Culprit& culprit : one.by) difference[culprit.rank] += double(culprit.cost.sum().count());
  for (const causes::Culprit& culprit : other.by) difference[culprit.rank] -= double(culprit.cost.sum().count());
  double sum = std::abs(double((one.transfer - other.transfer).count())) +
               std::abs(double((one.unknown - other.unknown).count())) +
               std::abs(double((one.bandwidth - other.bandwidth).count())) +
               std::abs(double((one.itself - other.itself).count()));
  for (const auto& [rank, each] : difference) sum += std::abs(each);
  return sum / 2;
}

/// Who was late is told of a rank that says whom it waits for as where all ranks say it; where their own times tell it,
/// of the others too.
TEST(DeclaredPartners, OfSomeRanksTellWavesAndCausesAsThoseOfAll) {
  const unsigned seed = any_seed();
  SCOPED_TRACE("IDLEWAVE_TEST_SEED=" + std::to_string(seed));
  test::RandomQuietScenarios random(seed);
  std::mt19937 choice(seed);
  constexpr int kPrograms = 40;
  int waves = 0, same_waves = 0, good = 0;
  for (int i = 0; i < kPrograms; ++i) {
    support::Scenario scenario = random.next(random.whole(0, 1) * random.real(0, 0.05), 2);
    scenario.communication.wait = random.whole(0, 1) ? support::WaitFlavour::kSplit : support::WaitFlavour::kAll;
    const Nanoseconds step = Nanoseconds(std::chrono::seconds(2)) / scenario.program.steps;
    scenario.delays = {
        {Rank(random.whole(0, scenario.machine.ranks - 1)), scenario.program.steps / 3, step * random.whole(5, 20)}};
    const std::vector<Rank> silent = some_ranks(scenario.machine.ranks, choice);
    const test::SimulatedSession all(scenario, test::Says::kPartners), some(scenario, test::Says::kPartners, silent);
    const Window run{Nanoseconds{0}, Nanoseconds::max()};
    const causes::Causes of_all = causes::find_causes(all.timeline(), run),
                         of_some = causes::find_causes(some.timeline(), run);
    double waited = 0, other = 0;
    for (Rank rank = 0; rank < scenario.machine.ranks; ++rank) {
      if (std::ranges::find(silent, rank) != silent.end()) continue;
      const std::size_t place(rank);
      waited += double(of_all.ranks[place].waited.count());
      other += given_to_others(of_all.ranks[place], of_some.ranks[place]);
    }
    good += other <= 0.02 * waited;
    const auto expected = waves::find_waves(all.timeline(), run), found = waves::find_waves(some.timeline(), run);
    for (const waves::Wave& wave : expected) {
      ++waves;
      same_waves += std::ranges::any_of(found, [&](const waves::Wave& its) {
        return its.origin_rank == wave.origin_rank && its.origin_step == wave.origin_step &&
               its.up.reach_ranks == wave.up.reach_ranks && its.down.reach_ranks == wave.down.reach_ranks;
      });
    }
  }
  std::printf("of %d programs %d have the same causes, of %d waves %d reach as many\n", kPrograms, good, waves,
              same_waves);
  EXPECT_GE(good, kPrograms * 8 / 10);
  EXPECT_GE(same_waves, waves * 8 / 10);
}

/// Rank r waits for r without its lowest bit.
Graph binomial_tree(Rank ranks) {
  Graph graph;
  graph.senders.resize(std::size_t(ranks));
  for (Rank rank = 1; rank < ranks; ++rank) graph.senders[std::size_t(rank)] = {rank & (rank - 1)};
  graph.delay = 10 * Graph::kWork;
  return graph;
}

/// Each rank waits for one a row before it, and for one beside it.
Graph grid_of(Rank rows, Rank columns) {
  Graph graph;
  graph.senders.resize(std::size_t(rows * columns));
  for (Rank rank = 0; rank < rows * columns; ++rank) {
    if (rank >= columns) graph.senders[std::size_t(rank)].push_back(rank - columns);
    if (rank % columns > 0) graph.senders[std::size_t(rank)].push_back(rank - 1);
  }
  graph.delay = 10 * Graph::kWork;
  return graph;
}

TEST(DeclaredPartners, OfATreeMakeNoLineAlongWhichAWaveHasASpeed) {
  for (const bool says : {true, false}) {
    const Timeline timeline = binomial_tree(64).timeline(says ? test::Says::kPartners : test::Says::kNothing, {});
    const auto waves = waves::find_waves(timeline, {Nanoseconds{0}, Nanoseconds::max()});
    ASSERT_EQ(waves.size(), 1u);
    EXPECT_EQ(waves[0].up.reach_ranks + waves[0].down.reach_ranks, 63) << says;
    for (const waves::WaveDirection* direction : {&waves[0].up, &waves[0].down}) {
      EXPECT_FALSE(direction->theory || direction->leading.ranks_per_s || direction->leading.ranks_per_step) << says;
      EXPECT_EQ(waves::runs_along_no_line(*direction), direction->front.size() > 1) << says;
    }
  }
}

TEST(DeclaredPartners, OfAGridMakeALineAlongWhichAWaveComesARowAStep) {
  const Timeline timeline = grid_of(8, 6).timeline(test::Says::kPartners, {});
  const auto waves = waves::find_waves(timeline, {Nanoseconds{0}, Nanoseconds::max()});
  ASSERT_EQ(waves.size(), 1u);
  ASSERT_TRUE(waves[0].up.theory && waves[0].up.leading.ranks_per_step);
  EXPECT_EQ(waves[0].up.theory->ranks_per_step, 6);
  EXPECT_NEAR(waves[0].up.leading.ranks_per_step->value, 6, 0.1);
}

/// A front stands still in steps in which nobody waits: that is no reason for it to have no speed.
TEST(DeclaredPartners, WhoWaitInEveryThirdStepMakeALineOfARankInThree) {
  Graph graph;
  graph.senders.resize(12);
  for (Rank rank = 1; rank < 12; ++rank) graph.senders[std::size_t(rank)] = {rank - 1};
  graph.delay = 10 * Graph::kWork;
  graph.every = 3;
  const Timeline timeline = graph.timeline(test::Says::kPartners, {});
  const auto waves = waves::find_waves(timeline, {Nanoseconds{0}, Nanoseconds::max()});
  ASSERT_EQ(waves.size(), 1u);
  EXPECT_EQ(waves[0].up.front.size(), 11u);
  ASSERT_TRUE(waves[0].up.leading.ranks_per_step);
  EXPECT_NEAR(waves[0].up.leading.ranks_per_step->value, 1.0 / 3, 1e-9);
  EXPECT_FALSE(waves::runs_along_no_line(waves[0].up));
}

}  // namespace
}  // namespace idlewave::analysis
