// What a monitor is told of a simulation, judged by the slow simulation.

#include "workloads/sim/emitter/emitter.h"
#include "tests/any_seed.h"

#include <gmock/gmock.h>

#include "probe/wire/codec.h"
#include "tests/sim/contention/scenarios.h"
#include "workloads/sim/contention/simulation.h"
#include "workloads/sim/simulator.h"

namespace idlewave::tests {
namespace {

using namespace std::chrono_literals;
using wire::Event;
using wire::EventKind;
using wire::LaneId;
using wire::Nanoseconds;
using wire::Phase;

struct ToldFrame {
  Nanoseconds up_to{};
  std::size_t bytes = 0;
  std::vector<std::pair<LaneId, Event>> events;
};

struct Collector final : sim::emitter::Stream {
  void send(wire::Roster roster) override {
    EXPECT_TRUE(frames.empty()) << "the roster comes first";
    rosters.push_back(std::move(roster));
  }
  void send(wire::Events sent) override {
    const auto batches = decoder.decode(sent.blob);
    ASSERT_TRUE(batches) << batches.error().message;
    frames.push_back({sent.up_to, sent.blob.size(), {}});
    for (const wire::LaneBatch& batch : *batches) {
      for (const Event& event : batch.events) {
        frames.back().events.emplace_back(batch.lane, event);
        lanes[batch.lane].push_back(event);
      }
    }
  }
  const std::vector<Event>& of_rank(Rank rank) { return lanes[{LaneId::Kind::kRank, rank}]; }
  const std::vector<Event>& of_domain(int domain) { return lanes[{LaneId::Kind::kDomain, domain}]; }

  wire::EventDecoder decoder;
  std::vector<wire::Roster> rosters;
  std::vector<ToldFrame> frames;
  std::map<LaneId, std::vector<Event>> lanes;
};

using Commands = std::map<std::pair<Rank, Step>, wire::CommandId>;

struct Telling {
  std::shared_ptr<const sim::core::PhaseNoise> noise;
  Commands commands;                                   ///< Whose the scenario's delays are.
  std::function<double()> slice = [] { return 1e9; };  ///< As a live run goes: so far, then a flush, and so on.
};

Scenario without(Scenario scenario, const Commands& commands) {
  std::erase_if(scenario.delays, [&](const support::Delay& delay) {
    return commands.contains({delay.rank, delay.step});
  });
  return scenario;
}

/// Those of the scenario that are commands; of one rank and step together, as a scenario has them.
void order_delays(const Scenario& scenario, const Commands& commands, sim::contention::Simulation& simulation) {
  for (const auto& [where, command] : commands) {
    Nanoseconds duration{0};
    for (const support::Delay& delay : scenario.delays) {
      if (delay.rank == where.first && delay.step == where.second) duration += delay.duration;
    }
    ASSERT_TRUE(simulation.order_delay(where.first, where.second, duration, command));
  }
}

void tell(const Scenario& scenario, const Telling& telling, Collector& collector) {
  const auto model = sim::core::model_of(scenario);
  ASSERT_TRUE(model) << model.error().message;
  sim::emitter::Emitter emitter(scenario, *model, sim::waits_of(scenario, *model), "test", collector);
  auto simulation = sim::contention::Simulation::create(without(scenario, telling.commands), emitter, telling.noise);
  ASSERT_TRUE(simulation) << simulation.error().message;
  order_delays(scenario, telling.commands, *simulation);
  double reached = telling.slice();
  for (simulation->advance_until(reached); !simulation->finished(); simulation->advance_until(reached)) {
    emitter.flush(reached);
    reached += telling.slice();
  }
  emitter.finish(simulation->time());
}

/// Some of the scenario's delays have been ordered.
Commands some_ordered(RandomScenarios& random, const Scenario& scenario) {
  Commands commands;
  for (const support::Delay& delay : scenario.delays) {
    if (random.one_in(2)) commands[{delay.rank, delay.step}] = static_cast<wire::CommandId>(random.whole(1, 1'000'000));
  }
  return commands;
}

/// A random run, told in one go as for a file or in slices as to monitors.
struct Told {
  explicit Told(RandomScenarios& random) : scenario(random.next()) {
    if (random.one_in(2)) telling.noise = std::make_shared<HashedNoise>(random.real(0, 0.02));
    telling.commands = some_ordered(random, scenario);
    if (random.one_in(2))
      telling.slice = [&random] { return random.one_in(5) ? random.real(0, 2) : random.real(0, 0.05); };
    tell(scenario, telling, collector);
  }
  Scenario scenario;
  Telling telling;
  Collector collector;
};

/// Calls check(told) for many random runs; says which one it was if that fails.
template <class Check>
void for_random_runs(int runs, Check check) {
  const unsigned seed = any_seed();
  std::printf("seed %u\n", seed);
  RandomScenarios random(seed);
  for (int number = 0; number < runs && !testing::Test::HasFailure(); ++number) {
    SCOPED_TRACE(testing::Message() << "seed " << seed << ", run " << number);
    Told told(random);
    check(told);
  }
}

TEST(Emitter, SendsARosterOfAllRanksAndDomainsFirst) {
  Scenario scenario = reference_scenario();
  scenario.machine.ranks = 37;
  Collector collector;
  tell(scenario, {}, collector);
  ASSERT_EQ(collector.rosters.size(), 1u);
  const wire::Roster& roster = collector.rosters.front();
  EXPECT_EQ(roster.world_size, 37);
  EXPECT_EQ(roster.agent_pid, 0);
  EXPECT_EQ(roster.program, "test");
  ASSERT_EQ(roster.ranks.size(), 37u);
  for (Rank rank = 0; rank < 37; ++rank)
    EXPECT_EQ(roster.ranks[std::size_t(rank)], (wire::RankInfo{rank, 0, rank / 10, 1}));
  EXPECT_EQ(roster.cycles.size(), 1u) << "all ranks of a ring wait alike";
  ASSERT_EQ(roster.domains.size(), 4u);
  for (int id = 0; id < 4; ++id) {
    const wire::DomainInfo& domain = roster.domains[std::size_t(id)];
    EXPECT_EQ(domain.id, id);
    EXPECT_EQ(domain.core_bandwidth, 10e9);
    EXPECT_EQ(domain.saturated_bandwidth, 50e9);
    EXPECT_EQ(domain.source, wire::BandwidthSource::kVirtual);
  }
}

TEST(Emitter, TakesTheBandwidthsOfTheRosterFromACurve) {
  Scenario scenario = reference_scenario();
  scenario.machine.core_bandwidth = scenario.machine.domain_bandwidth = 0;
  scenario.machine.curve = {12e9, 31e9, 30e9};
  Collector collector;
  tell(scenario, {}, collector);
  EXPECT_EQ(collector.rosters.at(0).domains.at(0).core_bandwidth, 12e9);
  EXPECT_EQ(collector.rosters.at(0).domains.at(0).saturated_bandwidth, 31e9);
  std::vector<double> curve(10, 30e9);
  curve[0] = 12e9, curve[1] = 31e9;
  EXPECT_EQ(collector.rosters.at(0).domains.at(3).curve, curve);
}

TEST(Emitter, SaysNothingOfBandwidthWhereTheProgramIsCoreBound) {
  Scenario scenario = reference_scenario();
  scenario.program = {.steps = 20, .kernel = support::Kernel::kCore, .time = std::chrono::milliseconds(10)};
  Collector collector;
  tell(scenario, {}, collector);
  EXPECT_EQ(collector.rosters.at(0).domains.at(0).source, wire::BandwidthSource::kNone);
  EXPECT_TRUE(collector.of_domain(0).empty());
}

TEST(Emitter, KeepsTheOrderOfTimeInEachLane) {
  for_random_runs(300, [](Told& told) {
    for (const auto& [lane, events] : told.collector.lanes) {
      for (std::size_t i = 1; i < events.size(); ++i) ASSERT_LE(events[i - 1].time, events[i].time) << lane.index;
    }
  });
}

TEST(Emitter, SendsNothingLaterThanItHasPromised) {
  for_random_runs(300, [](Told& told) {
    Nanoseconds before{0};
    for (const ToldFrame& frame : told.collector.frames) {
      ASSERT_LE(before, frame.up_to);
      for (const auto& [lane, event] : frame.events) {
        ASSERT_GE(event.time, before);
        ASSERT_LE(event.time, frame.up_to);
      }
      before = frame.up_to;
    }
    for (const auto& [lane, event] : told.collector.frames.back().events) ASSERT_LT(event.time, before);
  });
}

TEST(Emitter, BeginsEachRankWithAStartAndEndsItWithAStop) {
  for_random_runs(300, [](Told& told) {
    for (Rank rank = 0; rank < told.scenario.machine.ranks; ++rank) {
      const std::vector<Event>& events = told.collector.of_rank(rank);
      ASSERT_GE(events.size(), 2u);
      ASSERT_EQ(events.front(), (Event{Nanoseconds(0), 0, EventKind::kStart, Phase::kNone}));
      ASSERT_EQ(events.back().kind, EventKind::kStop);
      ASSERT_EQ(events.back().phase, Phase::kNone);
      for (std::size_t i = 1; i + 1 < events.size(); ++i) {
        ASSERT_NE(events[i].kind, EventKind::kStart);
        ASSERT_NE(events[i].kind, EventKind::kStop);
      }
    }
  });
}

bool is_held(Phase phase) { return phase == Phase::kDelay || phase == Phase::kNoise; }

/// The rules of wire::EventKind, where `before` goes on until `event`.
void follows_the_rules(const Event& event, Phase before) {
  switch (event.kind) {
    case EventKind::kStep: ASSERT_EQ(event.phase, before); break;
    case EventKind::kSwitch:
      ASSERT_FALSE(is_held(before));
      ASSERT_TRUE(event.phase == Phase::kCompute || event.phase == Phase::kWait);
      break;
    case EventKind::kDelayBegin:
      ASSERT_FALSE(is_held(before));
      ASSERT_TRUE(is_held(event.phase));
      break;
    case EventKind::kDelayEnd:
      ASSERT_TRUE(is_held(before));
      ASSERT_EQ(event.phase, before == Phase::kDelay ? Phase::kCompute : Phase::kWait);
      break;
    case EventKind::kStop: ASSERT_EQ(event.phase, Phase::kNone); break;
    default: FAIL() << "kind " << int(event.kind) << " of a rank";
  }
}

TEST(Emitter, SaysWithEachEventWhatGoesOnAfterIt) {
  for_random_runs(300, [](Told& told) {
    for (Rank rank = 0; rank < told.scenario.machine.ranks; ++rank) {
      const std::vector<Event>& events = told.collector.of_rank(rank);
      for (std::size_t i = 1; i < events.size(); ++i) {
        SCOPED_TRACE(testing::Message() << "rank " << rank << ", event " << i);
        ASSERT_NO_FATAL_FAILURE(follows_the_rules(events[i], events[i - 1].phase));
      }
    }
  });
}

/// What the events of a rank say of its steps, in seconds.
struct Story {
  explicit Story(const std::vector<Event>& events) {
    Phase before = Phase::kNone;
    for (const Event& event : events) {
      const double time = static_cast<double>(event.time.count()) * 1e-9;
      if (event.kind == EventKind::kStep) starts.emplace_back(event.value, time);
      if (before == Phase::kCompute && event.phase != Phase::kCompute) work.back().to = time;
      if (before != Phase::kCompute && event.phase == Phase::kCompute) work.push_back({time, time});
      before = event.phase;
    }
  }
  std::vector<std::pair<std::uint64_t, double>> starts;
  std::vector<WorkSpan> work;
};

TEST(Emitter, LosesNothingOfAnyStep) {
  for_random_runs(300, [](Told& told) {
    const ExactRun exact = simulate(exact_program(told.scenario, told.telling.noise.get()));
    const double tolerance = 1e-9 * exact.makespan + 1e-9;
    for (Rank rank = 0; rank < told.scenario.machine.ranks; ++rank) {
      const Story story(told.collector.of_rank(rank));
      const auto steps = static_cast<std::size_t>(told.scenario.program.steps), i = static_cast<std::size_t>(rank);
      ASSERT_EQ(story.starts.size(), steps) << "rank " << rank;
      ASSERT_EQ(story.work.size(), steps) << "rank " << rank;
      for (std::size_t step = 0; step < steps; ++step) {
        ASSERT_EQ(story.starts[step].first, step);
        ASSERT_NEAR(story.starts[step].second, exact.step_start[i][step], tolerance)
            << "rank " << rank << ", step " << step;
        ASSERT_NEAR(story.work[step].from, exact.work[i][step].from, tolerance) << "rank " << rank << ", step " << step;
        ASSERT_NEAR(story.work[step].to, exact.work[i][step].to, tolerance) << "rank " << rank << ", step " << step;
      }
    }
  });
}

/// Step and command of each delay of a rank.
using Holds = std::multiset<std::pair<Step, wire::CommandId>>;

Holds delays_begun(const std::vector<Event>& events) {
  Holds holds;
  Step step = wire::kNoStep;
  for (const Event& event : events) {
    if (event.kind == EventKind::kStep) step = static_cast<Step>(event.value);
    if (event.kind == EventKind::kDelayBegin && event.phase == Phase::kDelay) {
      holds.insert({step, static_cast<wire::CommandId>(event.value)});
    }
  }
  return holds;
}

Holds expected_holds(const Told& told, Rank rank) {
  std::map<Step, Nanoseconds> durations;
  for (const support::Delay& delay : told.scenario.delays) {
    if (delay.rank == rank) durations[delay.step] += delay.duration;
  }
  Holds holds;
  for (const auto& [step, duration] : durations) {
    const auto found = told.telling.commands.find({rank, step});
    if (duration.count() > 0) holds.insert({step, found == told.telling.commands.end() ? 0 : found->second});
  }
  return holds;
}

TEST(Emitter, TellsWhoseEachDelayIs) {
  for_random_runs(300, [](Told& told) {
    for (Rank rank = 0; rank < told.scenario.machine.ranks; ++rank) {
      ASSERT_EQ(delays_begun(told.collector.of_rank(rank)), expected_holds(told, rank)) << "rank " << rank;
    }
  });
}

TEST(Emitter, SaysWhomRanksWaitForInItsRosterAndByNoEvent) {
  Scenario scenario = reference_scenario();
  scenario.machine.ranks = 10'000;
  scenario.communication.topology = support::Topology::kChain;
  scenario.program.steps = 2;
  scenario.delays.clear();
  const auto model = sim::core::model_of(scenario);
  Collector collector;
  sim::emitter::Emitter emitter(scenario, *model, sim::waits_of(scenario, *model), "test", collector);
  emitter.finish(0);
  const wire::Roster& roster = collector.rosters.at(0);
  EXPECT_EQ(roster.patterns.size(), 3u) << "of both ends, and of those between";
  EXPECT_EQ(roster.cycles.size(), 3u);
  EXPECT_EQ(roster.patterns[roster.cycles[roster.ranks[5].cycle - 1].steps[0][0]].from, (std::vector<Rank>{-1, 1}));
  EXPECT_EQ(roster.patterns[roster.cycles[roster.ranks[0].cycle - 1].steps[0][0]].from, std::vector<Rank>{1});
  for (const Event& event : collector.of_rank(5)) EXPECT_NE(event.kind, EventKind::kPartners);
}

TEST(Emitter, TellsTwoDelaysBeforeOneStepAsTwo) {
  Scenario scenario = reference_scenario();
  scenario.delays = {{5, 7, 100ms}};
  Collector collector;
  const auto model = sim::core::model_of(scenario);
  sim::emitter::Emitter emitter(scenario, *model, sim::core::WaitTable(model->ranks), "test", collector);
  auto simulation = sim::contention::Simulation::create(scenario, emitter);
  ASSERT_TRUE(simulation->order_delay(5, 7, 200ms, 11));
  ASSERT_TRUE(simulation->order_delay(5, 7, 300ms, 12));
  simulation->advance_until(1e9);
  emitter.finish(simulation->time());
  std::vector<std::pair<EventKind, std::uint64_t>> holds;
  std::vector<Nanoseconds> times;
  for (const Event& event : collector.of_rank(5)) {
    if (event.kind != EventKind::kDelayBegin && event.kind != EventKind::kDelayEnd) continue;
    holds.emplace_back(event.kind, event.value);
    times.push_back(event.time);
  }
  const auto began = EventKind::kDelayBegin, ended = EventKind::kDelayEnd;
  EXPECT_THAT(holds,
              testing::ElementsAre(testing::Pair(began, 0), testing::Pair(ended, 0), testing::Pair(began, 11),
                                   testing::Pair(ended, 11), testing::Pair(began, 12), testing::Pair(ended, 12)));
  ASSERT_EQ(times.size(), 6u);
  EXPECT_EQ(times[1] - times[0], 100ms);
  EXPECT_EQ(times[3] - times[2], 200ms);
  EXPECT_EQ(times[5] - times[4], 300ms);
  EXPECT_EQ(times[1], times[2]);
  EXPECT_EQ(times[3], times[4]);
}

TEST(Emitter, EndsEachHoldUnderTheNumberUnderWhichItBegan) {
  for_random_runs(300, [](Told& told) {
    for (Rank rank = 0; rank < told.scenario.machine.ranks; ++rank) {
      std::optional<std::uint64_t> held_by;
      Phase held = Phase::kNone;
      for (const Event& event : told.collector.of_rank(rank)) {
        if (event.kind == EventKind::kDelayBegin) {
          held_by = event.value, held = event.phase;
          ASSERT_TRUE(held == Phase::kDelay || *held_by == 0) << "rank " << rank;
        } else if (event.kind == EventKind::kDelayEnd) {
          ASSERT_EQ(held_by, std::optional<std::uint64_t>(event.value)) << "rank " << rank;
          held_by.reset();
        }
      }
      ASSERT_FALSE(held_by) << "rank " << rank;
    }
  });
}

TEST(Emitter, CountsEveryByteThatADomainMoves) {
  for_random_runs(300, [](Told& told) {
    if (told.scenario.program.kernel != support::Kernel::kMemory) return;
    const support::Machine& machine = told.scenario.machine;
    for (int domain = 0; domain * machine.ranks_per_domain < machine.ranks; ++domain) {
      const std::vector<Event>& samples = told.collector.of_domain(domain);
      ASSERT_FALSE(samples.empty());
      ASSERT_EQ(samples.front().kind, EventKind::kStart);
      double bytes = 0;
      for (std::size_t i = 1; i < samples.size(); ++i) {
        ASSERT_EQ(samples[i].kind, EventKind::kBandwidth);
        ASSERT_LT(samples[i - 1].time, samples[i].time);
        bytes += static_cast<double>(samples[i].value);
      }
      const int ranks = std::min(machine.ranks_per_domain, machine.ranks - domain * machine.ranks_per_domain);
      const double expected =
          static_cast<double>(told.scenario.program.volume) * ranks * static_cast<double>(told.scenario.program.steps);
      ASSERT_NEAR(bytes / expected, 1, 1e-6) << "domain " << domain;
    }
  });
}

TEST(Emitter, SendsAFrameForEachTenthOfASecond) {
  Collector collector;
  tell(reference_scenario(), {}, collector);
  const std::vector<ToldFrame>& frames = collector.frames;
  ASSERT_EQ(frames.size(), 32u);  // of 3.181 s
  for (std::size_t i = 0; i < 31; ++i) {
    EXPECT_NEAR(static_cast<double>(frames[i].up_to.count()) * 1e-9, 0.1 * static_cast<double>(i + 1), 1e-6);
  }
}

TEST(Emitter, SamplesBandwidthFiveTimesASecond) {
  Scenario scenario = reference_scenario();
  scenario.program = {.steps = 1, .volume = 50'000'000'000};
  scenario.delays.clear();
  Collector collector;
  tell(scenario, {.slice = [] { return 0.03; }}, collector);
  const std::vector<Event>& samples = collector.of_domain(0);
  ASSERT_EQ(samples.size(), 51u);
  for (std::size_t i = 1; i < samples.size(); ++i) EXPECT_NEAR(static_cast<double>(samples[i].value), 10e9, 2) << i;
}

/// Steps of 20 hours are few frames, in which every byte is told.
TEST(Emitter, SendsNothingForTheTimeInWhichNothingHappens) {
  Scenario scenario = reference_scenario();
  scenario.program = {.steps = 3, .volume = 360'000'000'000'000};
  scenario.delays.clear();
  Collector collector;
  tell(scenario, {}, collector);
  EXPECT_LT(collector.frames.size(), 40u);
  const std::vector<Event>& samples = collector.of_domain(0);
  EXPECT_LT(samples.size(), 400u);
  double bytes = 0;
  for (const Event& sample : samples) bytes += static_cast<double>(sample.value);
  EXPECT_NEAR(bytes / (3 * 360e12 * scenario.machine.ranks_per_domain), 1, 1e-6);
}

TEST(Emitter, DividesWhatIsTooMuchForOneFrame) {
  Scenario scenario = reference_scenario();
  scenario.machine.ranks = 200'000;
  scenario.program = {.steps = 10, .kernel = support::Kernel::kCore, .time = std::chrono::milliseconds(1)};
  scenario.delays.clear();
  Collector collector;
  tell(scenario, {}, collector);
  std::size_t events = 0;
  for (const ToldFrame& frame : collector.frames) {
    EXPECT_LT(frame.bytes + 4096, wire::kMaxFrameBytes);
    events += frame.events.size();
  }
  EXPECT_EQ(events, 200'000u * (2 + 10 * 3));
}

}  // namespace
}  // namespace idlewave::tests
