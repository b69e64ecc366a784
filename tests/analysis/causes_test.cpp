// Who made whom wait, held against the slow simulation: a judge that knows who waited for whom, and walks each chain of
// waits back on its own.

#include "monitor/analysis/causes.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gmock/gmock.h>

#include <cstdlib>
#include <map>
#include <random>
#include <set>

#include "tests/analysis/said_waits.h"
#include "tests/any_seed.h"
#include "tests/workloads/exact_run.h"

namespace idlewave::analysis {
namespace {

using support::Protocol;
using support::Topology;
using support::WaitFlavour;
using ::testing::IsEmpty;
using tests::ExactProgram;
using tests::ExactRun;
using wire::EventKind;
using wire::Phase;

constexpr Window kWholeRun{Nanoseconds{0}, Nanoseconds::max()};

Nanoseconds ms(double value) { return Nanoseconds(std::llround(value * 1e6)); }

/// One step of one rank, in its parts: held before the work, noise behind it, and waiting until the end.
struct Times {
  Nanoseconds begin{}, work_begin{}, work_end{}, post{}, end{};
  Nanoseconds own() const { return post - begin; }
};
struct Table {
  std::vector<std::vector<Times>> ranks;  ///< [rank][step]
  Rank ranks_per_domain = 8;
  double core_bandwidth = 0, saturated_bandwidth = 0;
  Nanoseconds alone{};  ///< What the work of a step takes a rank that shares its bandwidth with nobody; 0: core-bound.

  Rank size() const { return Rank(ranks.size()); }
  const Times& at(Rank rank, int step) const { return ranks[std::size_t(rank)][std::size_t(step)]; }
};

/// Without the last step, whose end the simulation does not tell.
Table table_of(const ExactProgram& program, const ExactRun& run) {
  Table table{.ranks = std::vector<std::vector<Times>>(std::size_t(program.ranks)),
              .ranks_per_domain = program.ranks_per_domain};
  if (program.bandwidth) {
    table.core_bandwidth = program.bandwidth(1);
    table.saturated_bandwidth = program.bandwidth(1000);
    table.alone = ms(1e3 * program.volume / program.bandwidth(1));
  }
  for (Rank rank = 0; rank < program.ranks; ++rank) {
    const auto& starts = run.step_start[std::size_t(rank)];
    for (int step = 0; step + 1 < program.steps; ++step) {
      const auto& work = run.work[std::size_t(rank)][std::size_t(step)];
      const double noise = program.noise ? program.noise(rank, step) : 0;
      const Nanoseconds end = ms(1e3 * starts[std::size_t(step) + 1]);
      table.ranks[std::size_t(rank)].push_back({.begin = ms(1e3 * starts[std::size_t(step)]),
                                                .work_begin = ms(1e3 * work.from),
                                                .work_end = std::min(end, ms(1e3 * work.to)),
                                                .post = std::min(end, ms(1e3 * (work.to + noise))),
                                                .end = end});
    }
  }
  return table;
}

std::vector<wire::Event> events_of(const Table& table, Rank rank) {
  std::vector<wire::Event> events{{table.at(rank, 0).begin, 0, EventKind::kStart, Phase::kNone}};
  Phase phase = Phase::kNone;
  std::uint64_t step = 0;
  for (const Times& t : table.ranks[std::size_t(rank)]) {
    events.push_back({t.begin, step++, EventKind::kStep, phase});
    if (t.work_begin > t.begin) {
      events.push_back({t.begin, 7, EventKind::kDelayBegin, Phase::kDelay});
      events.push_back({t.work_begin, 7, EventKind::kDelayEnd, phase});
    }
    events.push_back(
        {t.work_begin, 0, phase == Phase::kNone ? EventKind::kEnter : EventKind::kSwitch, Phase::kCompute});
    if (t.post > t.work_end) events.push_back({t.work_end, 0, EventKind::kSwitch, Phase::kNoise});
    events.push_back({t.post, 0, EventKind::kSwitch, Phase::kWait});
    phase = Phase::kWait;
  }
  events.push_back({table.ranks[std::size_t(rank)].back().end, 0, EventKind::kStop, Phase::kNone});
  return events;
}

wire::Roster roster_of(const Table& table) {
  wire::Roster roster;
  roster.world_size = table.size();
  for (Rank rank = 0; rank < table.size(); ++rank)
    roster.ranks.push_back({rank, 1000 + rank, rank / table.ranks_per_domain});
  for (int domain = 0; domain <= (table.size() - 1) / table.ranks_per_domain; ++domain) {
    wire::DomainInfo info;
    info.id = domain;
    info.label = fmt::format("socket {}", domain);
    info.core_bandwidth = table.core_bandwidth;
    info.saturated_bandwidth = table.saturated_bandwidth;
    roster.domains.push_back(info);
  }
  return roster;
}

using EventsOfRanks = std::vector<std::vector<wire::Event>>;

EventsOfRanks events_of(const Table& table) {
  EventsOfRanks events;
  for (Rank rank = 0; rank < table.size(); ++rank) events.push_back(events_of(table, rank));
  return events;
}

timeline::Timeline timeline_of(const Table& table, const EventsOfRanks& events, const wire::Roster& roster) {
  timeline::Timeline timeline;
  EXPECT_TRUE(timeline.apply_roster("n1", roster));
  timeline.begin_at("n1", Nanoseconds{0});
  Nanoseconds last{};
  for (Rank rank = 0; rank < table.size(); ++rank) {
    const auto& its = events[std::size_t(rank)];
    if (its.empty()) continue;
    last = std::max(last, its.back().time);
    timeline.append("n1", {wire::LaneId::Kind::kRank, rank}, its);
  }
  timeline.advance("n1", last);
  return timeline;
}

timeline::Timeline timeline_of(const Table& table, const EventsOfRanks& events) {
  return timeline_of(table, events, roster_of(table));
}

timeline::Timeline timeline_of(const Table& table) { return timeline_of(table, events_of(table)); }

// --- the judge ---

/// Whose own part, in a step, ends the wait of each rank.
class WaitRules {
 public:
  WaitRules(const support::Communication& communication, const Table& table) : c_(communication), table_(table) {}

  /// The rank whose post ended the wait, and when that was; itself where it did not wait. By going through the rounds of
  /// the step.
  std::pair<Rank, Nanoseconds> last(Rank rank, int step) const {
    std::vector<std::pair<Nanoseconds, Rank>> done;
    for (Rank each = 0; each < table_.size(); ++each) done.emplace_back(table_.at(each, step).post, -each);
    const std::size_t rounds = c_.wait == WaitFlavour::kSplit ? c_.distances.size() : 1;
    for (std::size_t round = 0; round < rounds; ++round) done = after(done, round);
    return {-done[std::size_t(rank)].second, done[std::size_t(rank)].first};
  }

  /// Ranks whose part of the step is needed for the end of this rank's.
  std::vector<Rank> offsets() const {
    std::set<Rank> needed{0};
    const std::size_t rounds = c_.wait == WaitFlavour::kSplit ? c_.distances.size() : 1;
    for (std::size_t round = 0; round < rounds; ++round) {
      std::set<Rank> more = needed;
      for (const Rank hop : hops(round))
        for (const Rank before : needed) more.insert(before + hop);
      needed = more;
    }
    needed.erase(0);
    return {needed.begin(), needed.end()};
  }

 private:
  std::vector<Rank> hops(std::size_t round) const {
    std::vector<Rank> hops;
    for (std::size_t i = 0; i < c_.distances.size(); ++i) {
      if (c_.wait == WaitFlavour::kSplit && i != round) continue;
      hops.push_back(-c_.distances[i]);
      if (c_.protocol == Protocol::kRendezvous) hops.push_back(c_.distances[i]);
    }
    return hops;
  }

  /// Of those that come at the same moment the lowest rank counts: ranks are negative here, so the largest pair.
  std::vector<std::pair<Nanoseconds, Rank>> after(const std::vector<std::pair<Nanoseconds, Rank>>& done,
                                                  std::size_t round) const {
    auto next = done;
    for (Rank rank = 0; rank < table_.size(); ++rank) {
      auto& mine = next[std::size_t(rank)];
      for (const Rank hop : hops(round)) {
        Rank other = rank + hop;
        if (c_.topology == Topology::kRing) other = (other + table_.size()) % table_.size();
        if (other < 0 || other >= table_.size() || other == rank) continue;
        const auto& its = done[std::size_t(other)];
        const bool moves = its.first > mine.first || (its.first == mine.first && mine.second != -rank);
        if (moves) mine = std::max(mine, its);
      }
    }
    return next;
  }

  const support::Communication& c_;
  const Table& table_;
};

/// What one rank waited, by cause; ranks below 0 are none.
using Blame = std::map<Rank, Cost>;
constexpr Rank kBandwidth = -1;
constexpr Rank kTransfer = -2;
constexpr Rank kUnknown = -3;

/// For each stretch of each wait, walks back from rank to rank until somebody was late by its own doing. Slow.
class Judge {
 public:
  using LastPost = std::function<std::pair<Rank, Nanoseconds>(Rank, int)>;
  Judge(const Table& table, const LastPost& last) : table_(table) {
    for (Rank rank = 0; rank < table.size(); ++rank) {
      auto& lasts = lasts_.emplace_back();
      for (std::size_t step = 0; step < table.ranks[std::size_t(rank)].size(); ++step)
        lasts.push_back(last(rank, int(step)));
    }
  }

  Blame blame(Rank rank) {
    blame_.clear();
    for (int step = 0; step < int(table_.ranks[std::size_t(rank)].size()); ++step) {
      blame_[kTransfer].far += transfer(rank, step);
      walk(rank, step, Nanoseconds{0}, caused(rank, step), 0);
    }
    return blame_;
  }

 private:
  Nanoseconds caused(Rank rank, int step) const {
    const Times& t = table_.at(rank, step);
    return std::max(Nanoseconds{0}, std::min(lasts_[std::size_t(rank)][std::size_t(step)].second, t.end) - t.post);
  }
  Nanoseconds transfer(Rank rank, int step) const {
    const Times& t = table_.at(rank, step);
    return t.end - t.post - caused(rank, step);
  }

  Nanoseconds shared(Rank rank, int step) const {
    const Times& t = table_.at(rank, step);
    return table_.alone > Nanoseconds{0} ? t.work_end - t.work_begin - table_.alone : Nanoseconds{0};
  }

  /// The stretch of the wait that lies from `depth` to `depth` + `length` before the post that ended it.
  void walk(Rank rank, int step, Nanoseconds depth, Nanoseconds length, int chain) {
    const Rank late = lasts_[std::size_t(rank)][std::size_t(step)].first;
    // Of whatever comes next on the way back: how much of it belongs to the stretch.
    const auto overlap = [&](Nanoseconds part) {
      const Nanoseconds inside = std::clamp(part - depth, Nanoseconds{0}, length);
      depth = std::max(Nanoseconds{0}, depth - part);
      length -= inside;
      return inside;
    };
    for (; length > Nanoseconds{0}; --step) {
      const Nanoseconds longer = std::max(Nanoseconds{0}, table_.at(late, step).own() - table_.at(rank, step).own());
      const Nanoseconds by_itself =
          std::clamp(longer - shared(late, step) + shared(rank, step), Nanoseconds{0}, longer);
      Cost& cost = blame_[late];
      (chain == 0 ? cost.direct : cost.far) += overlap(by_itself);
      blame_[kBandwidth].far += overlap(longer - by_itself);
      if (step == 0) break;
      const Nanoseconds slower = transfer(late, step - 1) - transfer(rank, step - 1);
      blame_[kTransfer].far += overlap(std::max(slower, Nanoseconds{0}));
      const Nanoseconds from = depth, inside = overlap(caused(late, step - 1));
      if (inside > Nanoseconds{0}) walk(late, step - 1, from, inside, chain + 1);
    }
    blame_[kUnknown].far += length;
  }

  const Table& table_;
  std::vector<std::vector<std::pair<Rank, Nanoseconds>>> lasts_;
  Blame blame_;
};

Blame blame_of(const RankCauses& causes, Rank rank) {
  Blame blame;
  for (const Culprit& culprit : causes.by) blame[culprit.rank] = culprit.cost;
  if (causes.itself > Nanoseconds{0}) blame[rank].far = causes.itself;
  blame[kBandwidth].far = causes.bandwidth;
  blame[kTransfer].far = causes.transfer;
  blame[kUnknown].far = causes.unknown;
  return blame;
}

std::string in_words(const Blame& blame) {
  std::string text;
  for (const auto& [rank, cost] : blame)
    if (cost.sum() > Nanoseconds{0}) text += fmt::format(" {}: {} + {},", rank, cost.direct.count(), cost.far.count());
  return text;
}

// --- random programs ---

class RandomPrograms {
 public:
  explicit RandomPrograms(unsigned seed) : random_(seed) {}

  ExactProgram next(bool memory = false) {
    ExactProgram program;
    program.ranks = whole(8, 40);
    program.ranks_per_domain = whole(4, 10);
    program.steps = whole(30, 80);
    double step = program.time = real(0.003, 0.03);
    if (memory) {
      const double saturated = real(2, program.ranks_per_domain) * 10e9;
      program.bandwidth = [saturated](int active) { return std::min(active * 10e9, saturated); };
      program.volume = real(20e6, 80e6);
      step = program.volume * program.ranks_per_domain / saturated;
    }
    auto& c = program.communication;
    static const std::vector<std::vector<Rank>> kDistances = {{-1, 1}, {1}, {-1}, {-2, -1, 1, 2}, {-2, 2}, {2}};
    c.distances = kDistances[std::size_t(whole(0, int(kDistances.size()) - 1))];
    c.topology = whole(0, 1) ? Topology::kRing : Topology::kChain;
    c.protocol = whole(0, 2) ? Protocol::kEager : Protocol::kRendezvous;
    // Where an edge cuts off one way to a partner and leaves another, no offset says so: only neighbours wait in turn.
    const bool neighbours = c.distances == std::vector<Rank>{-1, 1};
    c.wait = neighbours && whole(0, 1) ? WaitFlavour::kSplit : WaitFlavour::kAll;
    if (c.wait == WaitFlavour::kAll && whole(0, 2) == 0) c.time = ms(1e3 * step * real(0.01, 0.4));
    if (whole(0, 3) > 0) {
      program.noise = [mean = real(0.005, 0.1) * step, seed = random_()](int rank, int k) {
        std::minstd_rand random(unsigned(rank * 7919 + k * 104729 + 1) ^ unsigned(seed));
        random.discard(3);
        return std::exponential_distribution<>(1 / mean)(random);
      };
    }
    for (int delays = whole(0, 3); delays > 0; --delays)
      program.delays.push_back(
          {whole(0, program.ranks - 1), whole(5, program.steps - 5), ms(1e3 * step * real(0.5, 9))});
    return program;
  }

  int whole(int from, int to) { return std::uniform_int_distribution<>(from, to)(random_); }
  double real(double from, double to) { return std::uniform_real_distribution<>(from, to)(random_); }

 private:
  std::mt19937 random_;
};

std::string words_of(const ExactProgram& program) {
  const auto& c = program.communication;
  return fmt::format("{} ranks, {} steps, {}, distances {}, {}, {}, {} delays{}, messages of {} ns", program.ranks,
                     program.steps, c.topology == Topology::kRing ? "ring" : "chain", c.distances,
                     c.protocol == Protocol::kEager ? "eager" : "rendezvous",
                     c.wait == WaitFlavour::kAll ? "one wait" : "split", program.delays.size(),
                     program.noise ? ", noise" : "", c.time.count());
}

CauseGround ground_of(const timeline::Timeline& timeline, Partners partners) {
  return {.partners = std::move(partners),
          .shares_bandwidth = cause_ground(timeline).shares_bandwidth,
          .typical_step = ms(10)};
}

Nanoseconds told_waits(const timeline::Timeline& timeline, Rank rank) {
  Nanoseconds waited{};
  if (const timeline::Lane* lane = timeline.lane(rank))
    for (const timeline::StepRecord& record : lane->steps())
      if (record.end != Nanoseconds{0}) waited += record.wait + record.communicate;
  return waited;
}

/// Everything that was waited is somebody's, or nobody's, and what ranks cost is what others waited for them.
void expect_conserved(const timeline::Timeline& timeline, const Causes& causes) {
  std::vector<Cost> costs(causes.ranks.size());
  ASSERT_EQ(Rank(causes.ranks.size()), timeline.ranks());
  for (Rank rank = 0; rank < timeline.ranks(); ++rank) {
    const RankCauses& mine = causes.ranks[std::size_t(rank)];
    EXPECT_EQ(mine.waited, told_waits(timeline, rank)) << "rank " << rank;
    EXPECT_EQ(mine.waited, mine.by_others().sum() + mine.itself + mine.bandwidth + mine.transfer + mine.unknown)
        << "rank " << rank;
    for (const Nanoseconds part : {mine.itself, mine.bandwidth, mine.transfer, mine.unknown})
      EXPECT_GE(part, Nanoseconds{0});
    EXPECT_LE(mine.ended.sum(), mine.waited) << "rank " << rank;
    for (const Culprit& culprit : mine.by) {
      EXPECT_NE(culprit.rank, rank);
      costs[std::size_t(culprit.rank)].direct += culprit.cost.direct;
      costs[std::size_t(culprit.rank)].far += culprit.cost.far;
    }
  }
  for (std::size_t rank = 0; rank < costs.size(); ++rank) EXPECT_EQ(causes.ranks[rank].costs, costs[rank]);
}

void expect_as_judged(const Table& table, const Causes& causes, const Judge::LastPost& last, const std::string& what) {
  Judge judge(table, last);
  for (Rank rank = 0; rank < table.size(); ++rank) {
    Blame truth = judge.blame(rank), found = blame_of(causes.ranks[std::size_t(rank)], rank);
    std::erase_if(truth, [](const auto& each) { return each.second.sum() == Nanoseconds{0}; });
    std::erase_if(found, [](const auto& each) { return each.second.sum() == Nanoseconds{0}; });
    EXPECT_EQ(found, truth) << what << "\nrank " << rank << "\nfound" << in_words(found) << "\ntruth"
                            << in_words(truth);
  }
}

/// Share of all waiting that the judge gives to another cause.
double share_given_to_others(const Table& table, const Causes& causes, const Judge::LastPost& last) {
  Judge judge(table, last);
  double other = 0, waited = 0;
  for (Rank rank = 0; rank < table.size(); ++rank) {
    const RankCauses& mine = causes.ranks[std::size_t(rank)];
    Blame both = blame_of(mine, rank);
    for (const auto& [cause, cost] : judge.blame(rank)) both[cause].direct -= cost.sum();
    for (const auto& [cause, cost] : both) other += 0.5 * std::abs(double(cost.sum().count()));
    waited += double(mine.waited.count());
  }
  return waited > 0 ? other / waited : 0;
}

/// By whose post ended each wait, and in which way that one stands to the rank. Of those who come at the same moment one that
/// it waits for directly counts, and of these the lowest.
Ended ended_of(const ExactProgram& program, const Table& table, const WaitRules& rules, Rank rank) {
  const auto& c = program.communication;
  const auto is_at = [&](Rank other, int sign) {
    return std::ranges::any_of(c.distances, [&](Rank distance) {
      const Rank there = rank + sign * distance;
      return there == other || (c.topology == Topology::kRing && (there - other) % table.size() == 0);
    });
  };
  Ended ended;
  for (int step = 0; step < int(table.ranks[std::size_t(rank)].size()); ++step) {
    const Times& t = table.at(rank, step);
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
                  const Causes& causes) {
  const WaitRules rules(program.communication, table);
  expect_conserved(timeline, causes);
  expect_as_judged(
      table, causes, [&](Rank rank, int step) { return rules.last(rank, step); }, words_of(program));
}

TEST(CausesTruth, AreExactWherePartnersAreKnown) {
  RandomPrograms random(any_seed());
  for (int i = 0; i < 60 && !HasFailure(); ++i) {
    const ExactProgram program = random.next();
    const Table table = table_of(program, simulate(program));
    const timeline::Timeline timeline = timeline_of(table);
    const bool ring = program.communication.topology == Topology::kRing;
    const Partners partners{WaitRules(program.communication, table).offsets(), ring};
    expect_truth(program, table, timeline, find_causes(timeline, kWholeRun, ground_of(timeline, partners)));
  }
}

TEST(CausesTruth, SayWhatEndedEachWaitWhereRanksSayWhomTheyWaitFor) {
  RandomPrograms random(any_seed());
  Ended all;
  for (int i = 0; i < 120 && !HasFailure(); ++i) {
    const ExactProgram program = random.next();
    const Table table = table_of(program, simulate(program));
    wire::Roster roster = roster_of(table);
    test::say_waits(program.communication, roster);
    const timeline::Timeline timeline = timeline_of(table, events_of(table), roster);
    const Causes causes = find_causes(timeline, kWholeRun);
    const WaitRules rules(program.communication, table);
    for (Rank rank = 0; rank < table.size(); ++rank) {
      const Ended truth = ended_of(program, table, rules, rank), &found = causes.ranks[std::size_t(rank)].ended;
      EXPECT_EQ(found, truth) << "rank " << rank << " of " << words_of(program);
      all.by_message += found.by_message, all.by_receive += found.by_receive, all.by_either += found.by_either,
          all.through += found.through, all.messages += found.messages;
    }
  }
  for (const Nanoseconds each : {all.by_message, all.by_receive, all.by_either, all.through, all.messages})
    EXPECT_GT(each, Nanoseconds{0});
}

/// To the nanosecond where the times tell who waits for whom. Else partners are found that are none, and a wait may end
/// with the post of one of these.
TEST(CausesTruth, AreExactWherePartnersAreInferredRight) {
  RandomPrograms random(any_seed());
  int programs = 0, right = 0, good = 0;
  while (programs < 80 && !HasFailure()) {
    const ExactProgram program = random.next();
    if (program.delays.empty() && !program.noise) continue;
    ++programs;
    const Table table = table_of(program, simulate(program));
    const timeline::Timeline timeline = timeline_of(table);
    const WaitRules rules(program.communication, table);
    const CauseGround ground = cause_ground(timeline);
    const Causes causes = find_causes(timeline, kWholeRun, ground);
    expect_conserved(timeline, causes);
    if (ground.partners.offsets == rules.offsets() &&
        ground.partners.ring == (program.communication.topology == Topology::kRing)) {
      ++right, ++good;
      expect_truth(program, table, timeline, causes);
      continue;
    }
    const auto last = [&](Rank rank, int step) { return rules.last(rank, step); };
    const double other = share_given_to_others(table, causes, last);
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
  RandomPrograms random(any_seed());
  int looked = 0, right = 0;
  Nanoseconds by_bandwidth{};
  while (looked < 20 && !HasFailure()) {
    const ExactProgram program = random.next(true);
    if (program.delays.empty()) continue;
    const Table table = table_of(program, simulate(program));
    const timeline::Timeline timeline = timeline_of(table);
    const WaitRules rules(program.communication, table);
    const bool ring = program.communication.topology == Topology::kRing;
    const CauseGround ground = ground_of(timeline, {rules.offsets(), ring});
    const Causes causes = find_causes(timeline, kWholeRun, ground);
    expect_conserved(timeline, causes);
    if (!ground.shares_bandwidth) continue;
    ++looked;
    const auto last = [&](Rank rank, int step) { return rules.last(rank, step); };
    const double other = share_given_to_others(table, causes, last);
    right += other < 0.02;
    if (other >= 0.02) fmt::print("{:.3f} to others: {}\n", other, words_of(program));
    for (const RankCauses& each : causes.ranks) by_bandwidth += each.bandwidth;
  }
  fmt::print("{} of {} programs, {} s for bandwidth\n", right, looked, double(by_bandwidth.count()) * 1e-9);
  EXPECT_GE(right, looked * 9 / 10);
  EXPECT_GT(by_bandwidth, Nanoseconds{0});
}

// --- what is known in closed form ---

ExactProgram ring_of(Rank ranks, int steps) {
  ExactProgram program;
  program.ranks = ranks;
  program.ranks_per_domain = 8;
  program.steps = steps;
  program.time = 0.010;
  program.communication.protocol = Protocol::kEager;
  return program;
}

/// Nobody computes longer than others, so each wait is the delay's: two ranks wait for the one that was held, all others
/// for those who did.
TEST(Causes, OfOneDelayAreTheRankThatWasHeld) {
  ExactProgram program = ring_of(21, 40);
  program.delays = {{4, 6, ms(70)}};
  const Table table = table_of(program, simulate(program));
  const Causes causes = find_causes(timeline_of(table), kWholeRun);
  EXPECT_EQ(causes.ranks[4].costs, (Cost{.direct = 2 * ms(70), .far = 18 * ms(70)}));
  EXPECT_EQ(causes.ranks[4].waited, Nanoseconds{0});
  for (Rank rank = 0; rank < 21; ++rank) {
    if (rank == 4) continue;
    const bool next_to_it = rank == 3 || rank == 5;
    const Cost cost = next_to_it ? Cost{ms(70), {}} : Cost{{}, ms(70)};
    EXPECT_EQ(causes.ranks[std::size_t(rank)].by, (std::vector<Culprit>{{4, cost}})) << rank;
  }
}

/// However far away: all others go at its pace.
TEST(Causes, OfAChainWithOneSlowRankAreThatRank) {
  ExactProgram program = ring_of(16, 60);
  program.communication.topology = Topology::kChain;
  program.noise = [](int rank, int) { return rank == 3 ? 0.002 : 0.0; };
  const Causes causes = find_causes(timeline_of(table_of(program, simulate(program))), kWholeRun);
  for (Rank rank = 0; rank < 16; ++rank) {
    const RankCauses& mine = causes.ranks[std::size_t(rank)];
    if (rank == 3) {
      EXPECT_THAT(mine.by, IsEmpty());
      continue;
    }
    ASSERT_EQ(mine.by.size(), 1u) << rank;
    EXPECT_EQ(mine.by[0].rank, 3);
    // It is reached one step later for each rank between, and then waits 2 ms in each step.
    EXPECT_EQ(mine.waited, (59 - std::abs(rank - 3) + 1) * ms(2)) << rank;
    EXPECT_EQ(mine.by[0].cost.sum(), mine.waited);
  }
}

/// Neighbours wait for each other, and in some steps all for the last one.
Table with_collectives(Rank ranks, int steps, int every, unsigned seed) {
  std::mt19937 random(seed);
  std::exponential_distribution<> noise(1 / 0.8);
  Table table{.ranks = std::vector<std::vector<Times>>(std::size_t(ranks))};
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
  RandomPrograms random(any_seed());
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
    const Causes causes = find_causes(timeline, kWholeRun, ground_of(timeline, {{-1, 1}, true}));
    expect_conserved(timeline, causes);
    expect_as_judged(table, causes, last, fmt::format("collective each {} steps", every));
  }
}

// --- what is not known ---

/// From `first` on, `count` events of a rank are lost.
void lose(std::vector<wire::Event>& events, std::size_t first, std::size_t count) {
  const std::size_t end = std::min(events.size(), first + count);
  if (first == 0 || first + 1 >= end) return;
  events[end - 1] = {events[end - 1].time, end - 1 - first, EventKind::kDropped, events[end - 1].phase};
  events.erase(events.begin() + std::ptrdiff_t(first), events.begin() + std::ptrdiff_t(end) - 1);
}

void begin_late(std::vector<wire::Event>& events, Nanoseconds at) {
  std::erase_if(events, [at](const wire::Event& event) { return event.time < at; });
  if (!events.empty()) events.front() = {events.front().time, 0, EventKind::kStart, Phase::kNone};
}

TEST(CausesTruth, AreConservedWhateverIsMissing) {
  RandomPrograms random(any_seed());
  for (int i = 0; i < 60 && !HasFailure(); ++i) {
    const ExactProgram program = random.next(random.whole(0, 3) == 0);
    const Table table = table_of(program, simulate(program));
    EventsOfRanks events = events_of(table);
    for (auto& its : events) {
      for (int holes = random.whole(0, 2); holes > 0; --holes)
        lose(its, std::size_t(random.whole(0, int(its.size()))), std::size_t(random.whole(2, 30)));
      if (random.whole(0, 5) == 0) its.resize(std::size_t(random.whole(0, int(its.size()))));
      if (random.whole(0, 9) == 0 && !its.empty()) its.back() = {its.back().time, 0, EventKind::kStop, Phase::kNone};
    }
    const Nanoseconds late = random.whole(0, 1) ? table.at(0, random.whole(0, 20)).begin : Nanoseconds{0};
    for (auto& its : events) begin_late(its, late);
    const timeline::Timeline timeline = timeline_of(table, events);
    expect_conserved(timeline, find_causes(timeline, kWholeRun));
  }
}

TEST(CausesTruth, OfWindowsAddUpToThoseOfTheRun) {
  RandomPrograms random(any_seed());
  const ExactProgram program = random.next();
  const timeline::Timeline timeline = timeline_of(table_of(program, simulate(program)));
  const double run = double(timeline.now().count());
  const Nanoseconds one(std::int64_t(run * random.real(0, 0.5))), two(std::int64_t(run * random.real(0.5, 1)));
  std::vector<Nanoseconds> waited(std::size_t(program.ranks));
  for (const Window window : {Window{Nanoseconds{0}, one}, Window{one, two}, Window{two, Nanoseconds::max()}}) {
    const Causes causes = find_causes(timeline, window);
    for (std::size_t rank = 0; rank < waited.size(); ++rank) waited[rank] += causes.ranks[rank].waited;
  }
  for (Rank rank = 0; rank < program.ranks; ++rank)
    EXPECT_EQ(waited[std::size_t(rank)], told_waits(timeline, rank)) << words_of(program);
}

/// Who was late is not known, so nobody is accused.
TEST(Causes, AreUnknownWhereAPartnersStepIsLost) {
  ExactProgram program = ring_of(12, 30);
  program.delays = {{4, 6, ms(70)}};
  const Table table = table_of(program, simulate(program));
  EventsOfRanks events = events_of(table);
  std::erase_if(events[4], [&](const wire::Event& event) { return event.time < table.at(4, 10).begin; });
  events[4].front() = {events[4].front().time, 0, EventKind::kStart, Phase::kNone};
  const timeline::Timeline timeline = timeline_of(table, events);
  const Causes causes = find_causes(timeline, kWholeRun, ground_of(timeline, {{-1, 1}, true}));
  expect_conserved(timeline, causes);
  for (const Rank rank : {3, 5}) {
    EXPECT_THAT(causes.ranks[std::size_t(rank)].by, IsEmpty());
    EXPECT_EQ(causes.ranks[std::size_t(rank)].unknown, ms(70));
  }
}

/// Its steps have other numbers than those of the others, so that it seems to do its part when they have gone on.
TEST(Causes, AreUnknownWhereAPartnerCountsOtherwise) {
  ExactProgram program = ring_of(12, 30);
  program.delays = {{4, 6, ms(70)}};
  const Table table = table_of(program, simulate(program));
  EventsOfRanks events = events_of(table);
  std::erase_if(events[4], [](const wire::Event& event) { return event.kind == EventKind::kStep && event.value == 6; });
  for (wire::Event& event : events[4])
    if (event.kind == EventKind::kStep && event.value > 6) event.value -= 1;
  const timeline::Timeline timeline = timeline_of(table, events);
  const Causes causes = find_causes(timeline, kWholeRun, ground_of(timeline, {{-1, 1}, true}));
  expect_conserved(timeline, causes);
  for (const Rank rank : {3, 5}) {
    EXPECT_THAT(causes.ranks[std::size_t(rank)].by, IsEmpty());
    EXPECT_GE(causes.ranks[std::size_t(rank)].unknown, ms(70));
    EXPECT_LT(causes.ranks[std::size_t(rank)].transfer, ms(1));
  }
}

/// Rank 4 does the second half of its work behind the first half of its wait, so that others may have waited for that.
TEST(Causes, AreUnknownWhereAPartnerWorksBetweenTwoWaits) {
  ExactProgram program = ring_of(12, 30);
  program.communication.time = ms(4);
  const Table table = table_of(program, simulate(program));
  EventsOfRanks events = events_of(table);
  std::vector<wire::Event> turned;
  for (const wire::Event& event : events[4]) {
    const bool waits = event.kind == EventKind::kSwitch && event.phase == Phase::kWait;
    if (waits) {
      turned.push_back({event.time - ms(5), 0, EventKind::kSwitch, Phase::kWait});
      turned.push_back({event.time - ms(3), 0, EventKind::kSwitch, Phase::kCompute});
      turned.push_back({event.time + ms(2), 0, EventKind::kSwitch, Phase::kWait});
    } else {
      turned.push_back(event);
    }
  }
  events[4] = turned;
  const timeline::Timeline timeline = timeline_of(table, events);
  const Causes causes = find_causes(timeline, kWholeRun, ground_of(timeline, {{-1, 1}, true}));
  expect_conserved(timeline, causes);
  for (const Rank rank : {3, 4, 5}) {
    EXPECT_EQ(causes.ranks[std::size_t(rank)].transfer, ms(0)) << rank;
    EXPECT_GE(causes.ranks[std::size_t(rank)].unknown, 29 * ms(4)) << rank;
  }
  EXPECT_EQ(causes.ranks[8].unknown, ms(0));
  EXPECT_GE(causes.ranks[8].transfer, 29 * ms(4));
}

TEST(CauseFinder, TellsALargeWindowInSeveralCalls) {
  ExactProgram program = ring_of(16, 60);
  program.noise = [](int rank, int) { return rank == 3 ? 0.002 : 0.0; };
  const Table small = table_of(program, simulate(program));
  Table table{.ranks = {}, .ranks_per_domain = 64};
  for (int copy = 0; copy < 160; ++copy) table.ranks.insert(table.ranks.end(), small.ranks.begin(), small.ranks.end());
  const timeline::Timeline timeline = timeline_of(table);
  CauseFinder finder(timeline);
  do finder.follow();
  while (finder.is_learning());
  EXPECT_THAT(finder.observe(kWholeRun).ranks, IsEmpty());
  while (finder.observe(kWholeRun).ranks.empty()) {
  }
  const Causes found = finder.observe(kWholeRun), whole = find_causes(timeline, kWholeRun);
  ASSERT_EQ(found.ranks.size(), whole.ranks.size());
  for (std::size_t rank = 0; rank < found.ranks.size(); ++rank) EXPECT_EQ(found.ranks[rank].by, whole.ranks[rank].by);
  expect_conserved(timeline, found);
}

}  // namespace
}  // namespace idlewave::analysis
