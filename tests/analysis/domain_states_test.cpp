#include "monitor/analysis/domains/domain_states.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <set>
#include <utility>

#include "monitor/analysis/domains/concurrency.h"
#include "tests/analysis/ring_model.h"
#include "tests/analysis/simulated_session.h"
#include "tests/any_seed.h"
#include "tests/timeline/builders.h"
#include "tests/workloads/exact_run.h"

namespace idlewave::analysis {
namespace {

using support::Scenario;
using test::ms;
using test::RandomQuietScenarios;
using test::RingModel;
using test::SimulatedSession;

domains::DomainStates followed(const timeline::Timeline& timeline) {
  domains::DomainStates states;
  states.follow(timeline);
  return states;
}

domains::DomainState state_at(const timeline::Timeline& timeline, int domain, Nanoseconds at) {
  const domains::DomainStates states = followed(timeline);
  const domains::StateChange* change = states.at(domain, at);
  return change ? change->state : domains::DomainState::kUnknown;
}

/// physics.md: 40 ranks in a ring, saturation at 5, a delay of 1.2 s on rank 5 at step 5.
Scenario reference_case(Rank ranks_per_domain) {
  Scenario scenario;
  scenario.machine = {
      .ranks = 40, .ranks_per_domain = ranks_per_domain, .core_bandwidth = 10e9, .domain_bandwidth = 50e9};
  scenario.program = {.steps = 200, .kernel = support::Kernel::kMemory, .volume = 50'000'000};
  scenario.delays = {{5, 5, ms(1200)}};
  return scenario;
}

TEST(DomainStates, OfTheReferenceCaseAreLockstepWhereItWasHitAndComputationalWavesElsewhere) {
  const SimulatedSession session(reference_case(10));
  EXPECT_EQ(state_at(session.timeline(), 0, ms(2900)), domains::DomainState::kLockstep);
  for (const int other : {1, 2, 3})
    EXPECT_EQ(state_at(session.timeline(), other, ms(2900)), domains::DomainState::kComputational);
}

TEST(DomainStates, BelowTheSaturationPointAreLockstepBehindTheWave) {
  for (const Rank each : {3, 5}) {
    const SimulatedSession session(reference_case(each));
    const auto last = session.timeline().now() - ms(100);
    for (int domain = 0; domain < int(session.timeline().domains().size()); ++domain) {
      const bool alone = session.timeline().domains()[std::size_t(domain)].ranks.size() == 1;  // 40 is no multiple of 3
      EXPECT_EQ(state_at(session.timeline(), domain, last),
                alone ? domains::DomainState::kAlone : domains::DomainState::kLockstep)
          << each << " " << domain;
    }
  }
}

TEST(DomainStates, TellOfAnIdleWaveWhileItIsInside) {
  RingModel model;
  model.delays = {{5, 20, ms(300)}};
  model.run();
  timeline::Timeline timeline;
  model.fill(timeline, ms(350));
  EXPECT_EQ(state_at(timeline, 0, ms(350)), domains::DomainState::kDisturbed);
  EXPECT_EQ(state_at(timeline, 2, ms(350)), domains::DomainState::kLockstep);
}

/// As ranks do that share cores: in three of a hundred steps of the program some rank is off its core for milliseconds, so
/// that of seven looks six see one that was. That it is so at half of the latest 16 looks, which take 4 s, is nearly certain
/// once there have been 24.
TEST(DomainStates, TellApartAnIdleWaveAndRanksThatAreHeldUpAgainAndAgain) {
  const unsigned seed = any_seed();
  std::mt19937 random(seed);
  RingModel model{.ranks = 6, .steps = 30000, .collective_every = 1, .work = ms(0.3), .ranks_per_domain = 6};
  model.more_work = [&](Rank, int) {
    std::uniform_int_distribution often(0, 200);
    std::uniform_real_distribution length(1.0, 6.0);
    return often(random) == 0 ? ms(length(random)) : ms(0);
  };
  model.delays = {{2, 25000, ms(1000)}, {4, 28000, ms(1000)}};
  model.run();
  timeline::Timeline timeline;
  model.fill(timeline);
  const auto begin_of = [&](const RingModel::Delay& delay) {
    return Nanoseconds(std::int64_t(model.times[std::size_t(delay.step)][std::size_t(delay.rank)].begin));
  };
  const Nanoseconds delayed = begin_of(model.delays[0]);
  const domains::DomainStates states = followed(timeline);
  for (const domains::StateChange& change : states.changes(0)) {
    EXPECT_TRUE(change.state != domains::DomainState::kDisturbed || change.at < ms(6000) || change.at > delayed)
        << "at " << change.at.count() << " ns, seed " << seed;
  }
  for (const RingModel::Delay& delay : model.delays)
    EXPECT_EQ(states.at(0, begin_of(delay) + ms(700))->state, domains::DomainState::kDisturbed) << "seed " << seed;
  EXPECT_NE(states.at(0, delayed + ms(2000))->state, domains::DomainState::kDisturbed) << "seed " << seed;
}

TEST(DomainStates, CallItNoWaveWhereRanksWaitAndOthersAreLost) {
  RingModel model;
  model.announced = false;
  model.delays = {{5, 20, ms(3000)}};
  model.run();
  timeline::Timeline timeline;
  model.fill(timeline, ms(245));
  timeline.append("n1", {wire::LaneId::Kind::kRank, 5},
                  std::vector<wire::Event>{{ms(245), 0, wire::EventKind::kLost, wire::Phase::kNone}});
  model.fill(timeline, ms(1000), ms(245));
  timeline.advance("n1", ms(1000));
  EXPECT_EQ(state_at(timeline, 0, ms(1000)), domains::DomainState::kBereft);
  EXPECT_EQ(state_at(timeline, 3, ms(1000)), domains::DomainState::kBereft);
  const domains::DomainStates states = followed(timeline);
  for (const domains::StateChange& change : states.changes(0))
    EXPECT_TRUE(change.state != domains::DomainState::kDisturbed || change.at < ms(245));
}

TEST(DomainStates, SayOfARankAloneNeitherThatItIsInLockstepNorThatItIsNot) {
  for (const double noise : {0., 3.}) {
    RingModel model;
    model.ranks = 4;
    model.ranks_per_domain = 1;
    model.noise_mean_ms = noise;
    model.run();
    timeline::Timeline timeline;
    model.fill(timeline);
    for (int domain = 0; domain < 4; ++domain)
      EXPECT_EQ(state_at(timeline, domain, ms(900)), domains::DomainState::kAlone) << noise;
  }
}

TEST(DomainStates, TellWhenAllRanksHaveStopped) {
  RingModel model;
  model.run();
  timeline::Timeline timeline;
  model.fill(timeline);
  timeline.advance("n1", ms(2000));
  EXPECT_EQ(state_at(timeline, 0, ms(900)), domains::DomainState::kLockstep);
  EXPECT_EQ(state_at(timeline, 0, ms(2000)), domains::DomainState::kNotActive);
}

TEST(DomainStates, AreNotKnownBeforeAnythingWasSeen) {
  RingModel model;
  model.run();
  timeline::Timeline timeline;
  timeline.apply_roster("n1", model.roster());
  EXPECT_EQ(state_at(timeline, 0, ms(1000)), domains::DomainState::kUnknown);
  model.fill(timeline, ms(30));
  EXPECT_EQ(state_at(timeline, 0, ms(1000)), domains::DomainState::kUnknown);
}

TEST(DomainStates, NameTheOneRankThatWorksLongerStepAfterStep) {
  RingModel model;
  model.noise_mean_ms = 0.3;
  model.more_work = [](Rank rank, int) { return rank == 23 ? ms(4) : ms(0); };
  model.steps = 300;
  model.run();
  timeline::Timeline timeline;
  model.fill(timeline);
  const domains::DomainStates states = followed(timeline);
  ASSERT_NE(states.at(2, ms(3000)), nullptr);
  EXPECT_EQ(states.at(2, ms(3000))->state, domains::DomainState::kStraggler);
  EXPECT_EQ(states.at(2, ms(3000))->straggler, 23);
  for (const int other : {0, 1, 3})
    EXPECT_NE(states.at(other, ms(3000))->state, domains::DomainState::kStraggler) << other;
}

TEST(DomainStates, CallNobodyAStragglerWhereHalfOfTheRanksWorkLonger) {
  RingModel model;
  model.more_work = [](Rank rank, int) { return rank >= 20 && rank < 25 ? ms(4) : ms(0); };
  model.steps = 300;
  model.run();
  timeline::Timeline timeline;
  model.fill(timeline);
  EXPECT_NE(state_at(timeline, 2, ms(3000)), domains::DomainState::kStraggler);
}

/// A recording may say that it lasted for years.
TEST(DomainStates, PassQuicklyOverTimeInWhichNothingHappens) {
  RingModel model;
  model.run();
  timeline::Timeline timeline;
  model.fill(timeline, ms(900));
  const Nanoseconds year = std::chrono::hours(24 * 365);
  model.run_again(timeline, year);
  const domains::DomainStates states = followed(timeline);
  EXPECT_EQ(states.at(0, ms(800))->state, domains::DomainState::kLockstep);
  EXPECT_EQ(states.at(0, year + ms(900))->state, domains::DomainState::kLockstep);
}

TEST(DomainStates, LookAtStepsOfMonthsNoMoreOftenThanAtThoseOfMinutes) {
  RingModel model;
  model.work = std::chrono::hours(1000);
  model.steps = 30;
  model.run();
  timeline::Timeline timeline;
  model.fill(timeline);
  const domains::DomainStates states = followed(timeline);
  EXPECT_LT(states.looks(), 100u * 30);
  EXPECT_EQ(states.at(2, 20 * model.work)->state, domains::DomainState::kLockstep);
}

/// What is not known yet at one moment must not be passed over.
TEST(DomainStates, SayTheSameOfLongStepsWhetherFollowedAllAlongOrAtTheEnd) {
  RingModel model;
  model.work = std::chrono::minutes(10);
  model.steps = 30;
  model.delays = {{5, 20, std::chrono::hours(1)}};
  model.run();
  timeline::Timeline whole;
  model.fill(whole);
  const domains::DomainStates at_the_end = followed(whole);
  domains::DomainStates all_along;
  timeline::Timeline so_far;
  Nanoseconds before{};
  for (Nanoseconds now = std::chrono::seconds(7); now < whole.now(); now += std::chrono::seconds(97)) {
    model.fill(so_far, now, before);
    all_along.follow(so_far);
    before = now;
  }
  for (int domain = 0; domain < 4; ++domain) {
    const auto expected = at_the_end.changes(domain), told = all_along.changes(domain);
    for (std::size_t i = 0; i < std::min(expected.size(), told.size()); ++i) {
      EXPECT_EQ(told[i].at, expected[i].at) << domain << " " << i;
      EXPECT_EQ(told[i].state, expected[i].state) << domain << " " << i;
    }
    EXPECT_GE(told.size() + 1, expected.size()) << domain;
  }
}

/// Sessions of every kind in which nobody is delayed.
struct Verdicts {
  double minutes = 0;  ///< Of domains.
  int domains = 0;
  int changes = 0;  ///< After the first word of each domain.
  int returns = 0;  ///< To a word that the domain had had before.
};

/// In a step that went on in the two seconds before `at` a rank of the domain has waited for so long.
bool has_waited(const timeline::Timeline& timeline, const timeline::Domain& domain, Nanoseconds at,
                Nanoseconds length) {
  for (const Rank rank : domain.ranks) {
    const timeline::Lane& lane = *timeline.lane(rank);
    for (const timeline::StepRecord step : lane.steps()) {
      const Nanoseconds end = step.end > step.begin ? std::min(step.end, at) : at;
      const bool is_near = step.begin < at && end > at - std::chrono::seconds(2);
      if (is_near && lane.time_in(timeline::Category::kWait, step.begin, end) >= length) return true;
    }
  }
  return false;
}

/// Where all wait for one side only, what noise has made late runs round a ring for ever, and grows: an idle wave.
void add(Verdicts& told, const timeline::Timeline& timeline, bool may_wave, Nanoseconds step) {
  const domains::DomainStates states = followed(timeline);
  for (int domain = 0; domain < int(timeline.domains().size()); ++domain) {
    told.minutes += std::chrono::duration<double>(timeline.now()).count() / 60;
    ++told.domains;
    std::set<domains::DomainState> had;
    auto last = domains::DomainState::kUnknown;
    for (const domains::StateChange& change : states.changes(domain)) {
      if (change.state == domains::DomainState::kDisturbed) {
        EXPECT_TRUE(has_waited(timeline, timeline.domains()[std::size_t(domain)], change.at, 2 * step)) << domain;
      }
      const bool tells_of_ranks =
          change.state != domains::DomainState::kNotActive && change.state != domains::DomainState::kDisturbed;
      if (!tells_of_ranks || std::exchange(last, change.state) == change.state) continue;
      told.changes += !had.empty();
      told.returns += !had.insert(change.state).second;
      EXPECT_TRUE(may_wave || change.state != domains::DomainState::kComputational) << domain;
    }
  }
}

struct AllTold {
  Verdicts contended;  ///< Memory-bound above the saturation point.
  Verdicts others;
};

AllTold told_of(unsigned seed, double noise) {
  RandomQuietScenarios random(seed);
  AllTold told;
  for (int i = 0; i < 40; ++i) {
    const Scenario scenario = random.next(noise, 20);
    const SimulatedSession session(scenario);
    const bool may_wave =
        scenario.program.kernel == support::Kernel::kMemory &&
        domains::saturation_point(session.timeline().domains()[0].info) < scenario.machine.ranks_per_domain;
    add(may_wave ? told.contended : told.others, session.timeline(), may_wave, scenario.program.time);
  }
  for (const auto& [name, of] : {std::pair("contended", told.contended), {"not contended", told.others}})
    fmt::print("noise {:.0f} %, {}: {} domains, {:.1f} domain-minutes, {:.2f} changes and {:.2f} returns a minute\n",
               noise * 100, name, of.domains, of.minutes, of.changes / of.minutes, of.returns / of.minutes);
  return told;
}

/// As virtual sockets show it whose ranks wake late from their work.
RingModel late_to_say(const tests::ExactRun& run, double mean_lateness, unsigned seed) {
  RingModel model;
  model.steps = int(run.step_start.front().size());
  model.times.assign(std::size_t(model.steps), std::vector<RingModel::Times>(std::size_t(model.ranks)));
  std::mt19937 random(seed);
  std::exponential_distribution<double> lateness(1 / (mean_lateness * 1e9));
  for (std::size_t rank = 0; rank < run.work.size(); ++rank) {
    for (std::size_t step = 0; step < run.work[rank].size(); ++step) {
      const bool is_last = step + 1 == run.work[rank].size();
      const double end = is_last ? run.finish[rank] : run.step_start[rank][step + 1];
      const tests::WorkSpan& work = run.work[rank][step];
      model.times[step][rank] = {.begin = run.step_start[rank][step] * 1e9,
                                 .delay_end = work.from * 1e9,
                                 .work_end = std::min(work.to * 1e9 + lateness(random), end * 1e9),
                                 .wait_end = end * 1e9};
    }
  }
  return model;
}

/// The reference case in steps of 60 ms.
tests::ExactRun reference_run() {
  return tests::simulate({.bandwidth = [](int active) { return std::min(active * 10e9, 50e9); },
                          .volume = 300e6,
                          .steps = 300,
                          .communication = {},
                          .delays = {{5, 5, ms(2000)}},
                          .noise = {},
                          .noise_in_time = {}});
}

/// How late a rank is to say that its work is done varies as much as anything else in a wave that has settled.
TEST(DomainStates, TakeNoComputationalWaveBackWhereRanksAreLateToSayThatTheyAreDone) {
  const unsigned seed = any_seed();
  const tests::ExactRun run = reference_run();
  for (unsigned draw = 0; draw < 12; ++draw) {
    const double lateness = 0.002 * (1 + draw % 4);
    timeline::Timeline timeline;
    late_to_say(run, lateness, seed + draw).fill(timeline);
    const domains::DomainStates states = followed(timeline);
    for (const int domain : {1, 2, 3}) {
      const auto changes = states.changes(domain);
      const auto wave = std::ranges::find(changes, domains::DomainState::kComputational, &domains::StateChange::state);
      ASSERT_NE(wave, changes.end()) << "socket " << domain << ", lateness " << lateness << ", seed " << seed;
      for (const domains::StateChange& change : std::span(wave + 1, changes.end()))
        EXPECT_EQ(change.state, domains::DomainState::kNotActive)
            << to_words(change.state) << " at " << change.at.count() << " ns, socket " << domain << ", lateness "
            << lateness << ", seed " << seed;
    }
  }
}

/// A contended program that noise moves comes out of lockstep, and may fall back into it. Measured: docs/report.md.
TEST(DomainStates, AreToldOnceWhereNothingChanges) {
  const unsigned seed = any_seed();
  for (const double noise : {0.0, 0.01, 0.02, 0.05, 0.1}) {
    const AllTold told = told_of(seed, noise);
    EXPECT_LT(told.others.returns, 2 + told.others.minutes / 4) << "seed " << seed;
    EXPECT_LT(told.contended.returns, 2 + 3 * told.contended.minutes) << "seed " << seed;
  }
}

}  // namespace
}  // namespace idlewave::analysis
