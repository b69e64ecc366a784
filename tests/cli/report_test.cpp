#include "monitor/cli/reporting/report.h"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>
#include <random>

#include "tests/analysis/ring_model.h"
#include "tests/any_seed.h"

namespace idlewave::cli {
namespace {

using test::ms;
using test::RingModel;

nlohmann::json report_of(const RingModel& model) {
  timeline::Timeline timeline;
  model.fill(timeline);
  return nlohmann::json::parse(reporting::report_json(timeline, {0.5, 0.95}));
}

std::string text_where_all_say(const RingModel& model, const wire::WaitPattern& pattern) {
  wire::Roster roster = model.roster();
  roster.patterns = {pattern};
  roster.cycles = {{{{0}}}};
  for (wire::RankInfo& rank : roster.ranks) rank.cycle = 1;
  timeline::Timeline timeline;
  model.fill(timeline);
  EXPECT_TRUE(timeline.apply_roster("n1", roster));
  return reporting::report_text(timeline, {0.5, 0.95});
}

TEST(Report, HasTheKeysThatOtherProgramsRead) {
  RingModel model;
  model.delays = {{5, 20, ms(300)}};
  model.run();
  const auto report = report_of(model);
  for (const char* key : {"ranks", "steps", "duration_s", "events", "dropped", "domains", "waves", "wavefront",
                          "step_time", "efficiency", "partners", "causes", "commands"}) {
    EXPECT_TRUE(report.contains(key)) << key;
  }
  EXPECT_EQ(report["ranks"], 40);
  EXPECT_EQ(report["steps"], 100);
  EXPECT_TRUE(report["steps_differ"].is_null());
  EXPECT_EQ(report["domains"].size(), 4u);
  EXPECT_EQ(report["domains"][1]["ranks"], 10);
  EXPECT_EQ(report["domains"][1]["saturation_point"], 5);
  EXPECT_EQ(report["domains"][1]["bandwidth_source"], "virtual");
  EXPECT_EQ(report["step_time"].size(), 4u);
}

TEST(Report, TellsWhatMetersCounted) {
  RingModel model;
  model.run();
  timeline::Timeline timeline;
  model.fill(timeline);
  wire::Roster roster = model.roster();
  roster.meters = {{1, "package power", "W", "RAPL"}, {1, "CPI", "", "LIKWID FLOPS_DP"}};
  ASSERT_TRUE(timeline.apply_roster("n1", roster));
  const auto told = [](double at, std::uint64_t value) {
    return wire::Event{ms(at), value, value == 0 ? wire::EventKind::kStart : wire::EventKind::kBandwidth,
                       wire::Phase::kNone};
  };
  // 40 W for a quarter of a second, then 80 W: longer than the program takes
  std::vector<wire::Event> events{told(0, 0), told(250, 10'000'000)};
  for (int i = 1; i <= 10; ++i) events.push_back(told(250 + 1000 * i, 80'000'000));
  timeline.append_meter("n1", 0, events);
  const auto domains = nlohmann::json::parse(reporting::report_json(timeline, {0.5, 0.95}))["domains"];
  EXPECT_EQ(domains[0]["meters"], nlohmann::json::array());
  const auto power = domains[1]["meters"].at(0), cpi = domains[1]["meters"].at(1);
  EXPECT_EQ(power["name"], "package power");
  EXPECT_EQ(power["unit"], "W");
  EXPECT_EQ(power["source"], "RAPL");
  EXPECT_NEAR(power["mean"].get<double>(), 80, 1e-9);
  EXPECT_NEAR(power["energy_j"].get<double>(), 810, 1e-9);
  EXPECT_NEAR(power["energy_of_s"].get<double>(), 10.25, 1e-9);
  EXPECT_EQ(cpi["unit"], "");
  EXPECT_TRUE(cpi["mean"].is_null());
  EXPECT_FALSE(cpi.contains("energy_j"));
  const std::string text = reporting::report_text(timeline, {0.5, 0.95});
  EXPECT_THAT(text, testing::HasSubstr("    package power: 80 W in the mean, 810 J in 10.3 s of the session (RAPL)\n"
                                       "    CPI: not known (LIKWID FLOPS_DP)\n"));
}

TEST(Report, TellsOfTheWaveInBothDirections) {
  RingModel model;
  model.delays = {{5, 20, ms(300)}};
  model.run();
  const auto wave = report_of(model)["waves"].at(0);
  EXPECT_EQ(wave["origin_rank"], 5);
  EXPECT_EQ(wave["origin_step"], 20);
  EXPECT_NEAR(wave["delay_s"].get<double>(), 0.3, 1e-9);
  for (const char* direction : {"up", "down"}) {
    EXPECT_EQ(wave[direction]["end"], "annihilated") << direction;
    EXPECT_NEAR(wave[direction]["ranks_per_step"].get<double>(), 1, 0.05) << direction;
    for (const char* key : {"speed_ranks_per_s", "decay_s_per_rank", "reach_ranks"})
      EXPECT_TRUE(wave[direction].contains(key)) << key;
  }
}

std::string first_line_where_steps_are(wire::Step first, wire::Step last, wire::StepSource source) {
  wire::Roster roster;
  roster.world_size = 1;
  roster.ranks = {{0, 100, wire::kNoDomain, 0, source}};
  timeline::Timeline timeline;
  EXPECT_TRUE(timeline.apply_roster("n1", roster));
  std::vector<wire::Event> events;
  for (wire::Step step = first; step <= last; ++step)
    events.push_back({ms(step - first), std::uint64_t(step), wire::EventKind::kStep, wire::Phase::kNone});
  timeline.append("n1", {wire::LaneId::Kind::kRank, 0}, events);
  timeline.advance("n1", ms(1000));
  const std::string text = reporting::report_text(timeline, {0.5, 0.95});
  return text.substr(0, text.find('\n'));
}

TEST(Report, NamesTheStepsOfAProgramThatDoesNotCountFromZero) {
  const auto own = wire::StepSource::kProgram;
  EXPECT_THAT(first_line_where_steps_are(0, 39, own), testing::StartsWith("1 rank, 40 steps, "));
  EXPECT_THAT(first_line_where_steps_are(1, 40, own), testing::StartsWith("1 rank, steps 1 to 40, "));
  EXPECT_THAT(first_line_where_steps_are(1000, 1000, own), testing::StartsWith("1 rank, step 1000, "));
  EXPECT_THAT(first_line_where_steps_are(4, 39, wire::StepSource::kFound), testing::StartsWith("1 rank, 40 steps, "))
      << "the first four are not shown, and count";
}

TEST(Report, WritesLargeSpeedsWithoutAnExponent) {
  RingModel model;
  model.work = std::chrono::microseconds(43);
  model.noise_mean_ms = 0.002;
  model.delays = {{5, 20, ms(3)}};
  model.run();
  timeline::Timeline timeline;
  model.fill(timeline);
  const std::string text = reporting::report_text(timeline, {0.5, 0.95});
  EXPECT_THAT(text, testing::ContainsRegex("at [^,]* ranks/step, [12][0-9][0-9]00 (± [0-9]* )?ranks/s \\(in theory "
                                           "2[0-9][0-9]00"));
  EXPECT_THAT(text, testing::Not(testing::HasSubstr("e+0")));
}

/// Of two ranks of which one is on a socket, and nobody knows where the other one is.
TEST(Report, DoesNotTakeAMessageForANearOneWhereItIsNotKnownHowFarItWent) {
  wire::Roster roster;
  roster.world_size = 3;
  roster.domains = {{0, "socket 0"}};
  roster.ranks = {{0, 100, 0, 0}, {1, 101, 0, 0}, {2, 102, wire::kNoDomain, 0}};
  timeline::Timeline timeline;
  ASSERT_TRUE(timeline.apply_roster("n1", roster));
  timeline.set_calls("n1", {.rank = 0, .pid = 100, .pairs = {{1, 2, 10}, {2, 3, 30}}});
  EXPECT_THAT(
      reporting::report_text(timeline, {0.5, 0.95}),
      testing::HasSubstr("5 messages from rank to rank, 40 B: 0 % to another socket of the node, 0 % to another "
                         "node, 75 % between places not known\n"));
}

/// In two of a hundred of these the front grows.
TEST(Report, TellsNoTimeBelowNothing) {
  const unsigned seed = any_seed();
  std::mt19937 random(seed);
  bool has_grown = false;
  for (int i = 0; i < 800; ++i) {
    RingModel model;
    model.ranks = 20;
    model.steps = 6;
    model.distances = {1, 2};
    model.rendezvous = true;
    model.noise_mean_ms = 1;
    model.seed = unsigned(random());
    model.delays = {{3, 0, ms(200)}, {10, 1, ms(200)}, {7, 1, ms(2)}};
    model.run();
    const std::string text =
        text_where_all_say(model, {.rendezvous = true, .collective = false, .from = {-2, -1}, .to = {1, 2}});
    EXPECT_THAT(text, testing::Not(testing::ContainsRegex(" -[0-9.]+ (ns|us|ms|s) "))) << "seed " << seed;
    has_grown |= text.find("; gains ") != std::string::npos;
  }
  EXPECT_TRUE(has_grown) << "seed " << seed;
}

/// There is no other front to meet.
TEST(Report, SaysOfAWaveInOneDirectionThatItCameRoundTheRing) {
  for (const int ranks : {2, 3, 8, 40}) {
    for (const int distance : {-1, 1}) {
      RingModel model;
      model.ranks = ranks;
      model.distances = {distance};
      model.delays = {{1, 20, ms(300)}};
      model.run();
      const std::string text =
          text_where_all_say(model, {.rendezvous = false, .collective = false, .from = {-distance}, .to = {distance}});
      EXPECT_THAT(text, testing::HasSubstr("; came round the ring to its origin\n")) << ranks << ' ' << distance;
      EXPECT_THAT(text, testing::Not(testing::HasSubstr("front"))) << ranks << ' ' << distance;
    }
  }
}

/// All forty ranks go at the pace of the one that was held; two of them waited for it, the others for these.
TEST(Report, TellsWhoMadeOthersWait) {
  RingModel model;
  model.delays = {{5, 20, ms(300)}};
  model.run();
  const auto causes = report_of(model)["causes"];
  EXPECT_EQ(causes["waits_for_offsets"], (std::vector<int>{-1, 1}));
  ASSERT_EQ(causes["ranks"].size(), 40u);
  EXPECT_EQ(causes["ranks"][5]["costs_ns"]["direct"], 600'000'000);
  EXPECT_EQ(causes["ranks"][5]["costs_ns"]["far"], 37 * 300'000'000ll);
  EXPECT_EQ(causes["ranks"][5]["waited_ns"], 0);
  const auto& victim = causes["ranks"][9];
  EXPECT_EQ(victim["waited_ns"], 300'000'000);
  ASSERT_EQ(victim["by"].size(), 1u);
  EXPECT_EQ(victim["by"][0]["rank"], 5);
  EXPECT_EQ(victim["by"][0]["far_ns"], 300'000'000);
  EXPECT_EQ(victim["not_attributable_ns"]["unknown"], 0);
  timeline::Timeline timeline;
  model.fill(timeline);
  EXPECT_THAT(reporting::report_text(timeline, {0.5, 0.95}),
              testing::HasSubstr("rank 5          11.7 s      600 ms      11.1 s\n"));
}

TEST(Report, SaysSinceWhenWavesAreToldOfVeryMany) {
  RingModel model{.ranks = 4, .steps = 600};
  for (int step = 0; step < model.steps; ++step) model.delays.push_back({step % 4, step, ms(50)});
  model.run();
  timeline::Timeline timeline;
  model.fill(timeline);
  const auto report = nlohmann::json::parse(reporting::report_json(timeline, {}));
  EXPECT_NEAR(report["waves_from_s"].get<double>(), model.times[88][0].begin * 1e-9, 1e-3);
  EXPECT_THAT(reporting::report_text(timeline, {}), testing::HasSubstr("there were more than are followed"));
  model.delays.resize(511);
  model.run();
  timeline::Timeline fewer;
  model.fill(fewer);
  EXPECT_FALSE(nlohmann::json::parse(reporting::report_json(fewer, {})).contains("waves_from_s"));
}

TEST(Report, SaysFromWherePartnersAreKnown) {
  RingModel model;
  model.run();
  EXPECT_TRUE(report_of(model)["partners"].is_null()) << "nobody was late, and nobody said anything";
  model.delays = {{5, 20, ms(300)}};
  model.run();
  timeline::Timeline timeline;
  model.fill(timeline);
  EXPECT_EQ(nlohmann::json::parse(reporting::report_json(timeline, {}))["partners"], "inferred");
  EXPECT_THAT(
      reporting::report_text(timeline, {}),
      testing::HasSubstr("ranks wait for the ranks at a distance of -1, +1, round the ring, as the times tell"));
  wire::Roster roster = model.roster();
  roster.patterns = {{.rendezvous = false, .collective = false, .from = {-3, 1}, .to = {}}};
  roster.cycles = {{{{0}}}};
  for (wire::RankInfo& info : roster.ranks) info.cycle = 1;
  ASSERT_TRUE(timeline.apply_roster("n1", roster));
  const auto declared = nlohmann::json::parse(reporting::report_json(timeline, {}));
  EXPECT_EQ(declared["partners"], "declared");
  EXPECT_EQ(declared["causes"]["waits_for_offsets"], (std::vector<int>{-3, 1}));
  EXPECT_THAT(reporting::report_text(timeline, {}),
              testing::HasSubstr("-3, +1, round the ring, as they say themselves"));
}

TEST(Report, SaysOfARankAloneThatItWaitsForNobody) {
  RingModel model;
  model.ranks = 1;
  model.run();
  wire::Roster roster = model.roster();
  roster.patterns = {{.rendezvous = false, .collective = true, .from = {}, .to = {}}};
  roster.cycles = {{{{0}}}};
  roster.ranks[0].cycle = 1;
  timeline::Timeline timeline;
  model.fill(timeline);
  ASSERT_TRUE(timeline.apply_roster("n1", roster));
  EXPECT_THAT(reporting::report_text(timeline, {}),
              testing::HasSubstr("\nranks wait for nobody, as they say themselves"));
}

TEST(Report, SaysThatRanksWaitForAllInSomeSteps) {
  RingModel model;
  model.run();
  wire::Roster roster = model.roster();
  roster.patterns = {{.rendezvous = false, .collective = true, .from = {}, .to = {}},
                     {.rendezvous = false, .collective = false, .from = {-1, 1}, .to = {}}};
  for (wire::RankInfo& info : roster.ranks) info.cycle = 1;
  const auto told = [&](wire::WaitCycle cycle) {
    roster.cycles = {std::move(cycle)};
    timeline::Timeline timeline;
    model.fill(timeline);
    EXPECT_TRUE(timeline.apply_roster("n1", roster));
    return reporting::report_text(timeline, {});
  };
  EXPECT_THAT(told({{{0}, {}}}), testing::HasSubstr("\nranks wait for all others in some of their steps, as they"));
  EXPECT_THAT(told({{{0}, {1}, {1}}}), testing::HasSubstr("-1, +1, round the ring, in some steps for all others, as"));
  EXPECT_THAT(told({{{0}}}), testing::HasSubstr("\nranks wait for all others, as"));
}

/// 4 ms of work, 3 ms outside any phase, 2 ms of waiting.
TEST(Report, NamesAllThatAStepIsMadeOf) {
  using wire::EventKind, wire::Phase;
  std::vector<wire::Event> events{{ms(0), 0, EventKind::kStart, Phase::kNone}};
  for (int step = 0; step < 100; ++step) {
    events.push_back({ms(9 * step), std::uint64_t(step), EventKind::kStep, Phase::kNone});
    events.push_back({ms(9 * step), 0, EventKind::kEnter, Phase::kCompute});
    events.push_back({ms(9 * step + 4), 0, EventKind::kLeave, Phase::kNone});
    events.push_back({ms(9 * step + 7), 0, EventKind::kEnter, Phase::kWait});
    events.push_back({ms(9 * step + 9), 0, EventKind::kLeave, Phase::kNone});
  }
  events.push_back({ms(900), 0, EventKind::kStop, Phase::kNone});
  RingModel model;
  model.ranks = 1;
  timeline::Timeline timeline;
  timeline.apply_roster("n1", model.roster());
  timeline.append("n1", {wire::LaneId::Kind::kRank, 0}, events);
  timeline.advance("n1", ms(900));
  EXPECT_THAT(reporting::report_text(timeline, {0, 1}),
              testing::HasSubstr("step 9 ms = compute 4 ms + wait 2 ms (22 %) + delay 0 s + other 3 ms\n"));
}

TEST(Report, CountsOneCallAsOne) {
  timeline::Timeline timeline;
  timeline.apply_roster("n1", RingModel().roster());
  timeline.set_calls("n1",
                     {.rank = 0,
                      .pid = 1000,
                      .functions = {{"MPI_Barrier", 1, 0, 1, ms(1), ms(1)}, {"MPI_Wait", 2, 0, 2, ms(1), ms(1)}}});
  const std::string text = reporting::report_text(timeline, {});
  EXPECT_THAT(text, testing::HasSubstr(" 1 call,  mean "));
  EXPECT_THAT(text, testing::HasSubstr(" 2 calls, mean "));
}

TEST(Report, SaysThatNobodyWaited) {
  RingModel model;
  model.steps = 10;
  model.run();
  EXPECT_TRUE(report_of(model)["causes"]["ranks"].empty());
  timeline::Timeline timeline;
  model.fill(timeline);
  EXPECT_THAT(reporting::report_text(timeline, {0.5, 0.95}), testing::HasSubstr("no rank waited\n"));
}

TEST(Report, SaysThatWhatWasWaitedOutsideOfStepsIsNotAttributed) {
  RingModel model;
  model.steps = 10;
  model.more_work = [](wire::Rank rank, int) { return rank == 0 ? ms(1) : ms(0); };
  model.is_untold = [](int) { return true; };
  model.run();
  timeline::Timeline timeline;
  model.fill(timeline);
  const std::string text = reporting::report_text(timeline, {});
  EXPECT_THAT(text, testing::ContainsRegex("not known: of [0-9]+ ms that ranks waited nothing was in a step\n"));
  EXPECT_THAT(text, testing::Not(testing::HasSubstr("no rank waited")));
}

/// The live edge of one that does nothing any more goes on until its agent ends.
TEST(Report, IsAsLongAsItsRanksWereThere) {
  RingModel model;
  model.steps = 10;
  model.run();
  timeline::Timeline timeline;
  model.fill(timeline);
  timeline.advance("n1", ms(5000));
  EXPECT_DOUBLE_EQ(nlohmann::json::parse(reporting::report_json(timeline, {}))["duration_s"], 0.1);
  EXPECT_THAT(reporting::report_text(timeline, {}), testing::HasSubstr("10 steps, 100 ms, "));
}

TEST(Report, HasNoDigitsOfATimeBelowItsNanoseconds) {
  RingModel model;
  model.steps = 10;
  model.work = ms(5750);
  model.run();
  timeline::Timeline timeline;
  model.fill(timeline);
  EXPECT_THAT(reporting::report_json(timeline, {}), testing::HasSubstr("\"duration_s\": 57.5,"));
}

TEST(Report, TellsWhenACommandTookEffect) {
  RingModel model;
  model.delays = {{5, 20, ms(300)}};
  model.run();
  wire::Outcome outcome;
  outcome.command = {7, {5}, wire::DelayOrder{ms(300), 20}};
  outcome.accepted = true;
  outcome.time = ms(150);
  timeline::Timeline timeline;
  timeline.apply_roster("n1", model.roster());
  timeline.add_outcome("n1", outcome);
  model.fill(timeline);
  const auto command = nlohmann::json::parse(reporting::report_json(timeline, {0, 1}))["commands"].at(0);
  EXPECT_EQ(command["kind"], "delay");
  EXPECT_EQ(command["outcome"], "accepted");
  EXPECT_EQ(command["ranks"], std::vector<int>{5});
  EXPECT_NEAR(command["took_effect_s"].get<double>(), 0.2, 1e-9);
  EXPECT_EQ(command["at_step"], 20);
  EXPECT_FALSE(command.contains("in_steps"));
}

TEST(Report, TellsFromWhenOnStepsWereCounted) {
  timeline::Timeline timeline;
  timeline.add_outcome("n1", {{7, {5}, wire::DelayOrder{ms(300), wire::kNoStep, 4}}, ms(150), true, ""});
  const auto command = nlohmann::json::parse(reporting::report_json(timeline, {0, 1}))["commands"].at(0);
  EXPECT_EQ(command["in_steps"], 4);
  EXPECT_FALSE(command.contains("at_step"));
}

TEST(Report, OfAnEmptyTimelineIsStillAnObject) {
  timeline::Timeline timeline;
  const auto report = nlohmann::json::parse(reporting::report_json(timeline, {}));
  EXPECT_EQ(report["events"], 0);
  EXPECT_TRUE(report["domains"].empty() && report["step_time"].empty());
  EXPECT_TRUE(report["complete"] == false && report["missing"]["nobody"] == true);
  EXPECT_TRUE(report["window_s"].is_null() && report["causes"]["ring"].is_null());
}

TEST(Report, SaysNullForWhatIsNotKnown) {
  timeline::Timeline timeline;
  timeline.apply_roster("n1", RingModel().roster());
  const auto report = nlohmann::json::parse(reporting::report_json(timeline, {}));
  EXPECT_TRUE(report["duration_s"].is_null());
  for (const char* key : {"parallel", "load_balance", "communication"})
    EXPECT_TRUE(report["efficiency"][key].is_null()) << key;
  EXPECT_TRUE(report["step_time"].empty());
  for (const char* key : {"active_mean", "bandwidth_gbs"}) EXPECT_TRUE(report["domains"][0][key].is_null()) << key;
}

TEST(Report, SaysNullForTheSpeedOfAFrontThatReachedNobody) {
  RingModel model;
  model.ranks = 4;
  model.ring = false;
  model.distances = {1};
  model.delays = {{3, 20, ms(300)}};
  model.run();
  const auto up = report_of(model)["waves"].at(0)["up"];
  EXPECT_EQ(up["reach_ranks"], 0);
  for (const char* key : {"speed_ranks_per_s", "ranks_per_step", "decay_s_per_rank"})
    EXPECT_TRUE(up[key].is_null()) << key;
}

TEST(Report, NamesWhatIsMissingAndPutsItAmongTheLosses) {
  RingModel model;
  model.run();
  timeline::Timeline timeline;
  model.fill(timeline, ms(600));
  timeline.add_loss({timeline::LossKind::kSequenceGap, "n1", -1, ms(100), ms(200), 3, {}});
  const auto report = nlohmann::json::parse(reporting::report_json(timeline, {}));
  EXPECT_EQ(report["complete"], false);
  EXPECT_EQ(report["missing"]["nodes"][0]["node"], "n1");
  EXPECT_NEAR(report["missing"]["nodes"][0]["heard_until_s"].get<double>(), 0.59, 1e-6);
  EXPECT_EQ(report["missing"]["intervals"][0]["what"], "sequence_gap");
  EXPECT_NEAR(report["missing"]["intervals"][0]["to_s"].get<double>(), 0.2, 1e-9);
  EXPECT_EQ(report["losses"].at(1)["kind"], "node_silent");
  EXPECT_THAT(reporting::report_text(timeline, {}), testing::HasSubstr("\nINCOMPLETE: node n1 not heard after 0.59 s"));
}

TEST(Report, IsCompleteOnceTheNodeHasSaidEnd) {
  RingModel model;
  model.run();
  timeline::Timeline timeline;
  model.fill(timeline);
  timeline.mark_ended("n1");
  const auto report = nlohmann::json::parse(reporting::report_json(timeline, {}));
  EXPECT_EQ(report["complete"], true);
  EXPECT_EQ(report["missing"]["nobody"], false);
  EXPECT_TRUE(report["missing"]["nodes"].empty());
  EXPECT_THAT(reporting::report_text(timeline, {}), testing::Not(testing::HasSubstr("INCOMPLETE")));
}

TEST(Report, NamesARankThatWasLostThoughNothingIsMissing) {
  timeline::Timeline timeline;
  wire::Roster roster;
  roster.world_size = 1;
  roster.ranks = {{0, 100, wire::kNoDomain}};
  ASSERT_TRUE(timeline.apply_roster("n1", roster));
  timeline.append("n1", {wire::LaneId::Kind::kRank, 0},
                  std::vector<wire::Event>{{ms(0), 0, wire::EventKind::kStart, wire::Phase::kNone},
                                           {ms(3250), 0, wire::EventKind::kLost, wire::Phase::kNone}});
  timeline.mark_ended("n1");
  const auto report = nlohmann::json::parse(reporting::report_json(timeline, {}));
  EXPECT_EQ(report["complete"], true);
  EXPECT_EQ(report["lost_ranks"], nlohmann::json::parse(R"([{"rank": 0, "at_s": 3.25}])"));
  EXPECT_EQ(report["losses"].at(0)["kind"], "rank_lost");
  EXPECT_THAT(reporting::report_text(timeline, {}), testing::HasSubstr("\nLOST: rank 0 at 3.25 s, whose process"));
}

/// Its averages are those of the program alone, and the text and the JSON say the same share.
TEST(Report, TakesTheTimeAfterTheLastStopForNobodys) {
  RingModel model;
  model.delays = {{5, 20, ms(300)}};
  model.run();
  timeline::Timeline alone, slept;
  model.fill(alone);
  model.fill(slept);
  slept.advance("n1", ms(60'000));
  const auto of = [](const timeline::Timeline& timeline) {
    return nlohmann::json::parse(reporting::report_json(timeline, {0.5, 0.95}));
  };
  for (const char* key : {"window_s", "efficiency", "step_time", "domains"})
    EXPECT_EQ(of(slept)[key], of(alone)[key]) << key;
  const double parallel = of(slept)["efficiency"]["parallel"];
  EXPECT_THAT(reporting::report_text(slept, {0.5, 0.95}),
              testing::HasSubstr("parallel efficiency " + std::to_string(std::lround(parallel * 100)) + " %"));
}

}  // namespace
}  // namespace idlewave::cli
