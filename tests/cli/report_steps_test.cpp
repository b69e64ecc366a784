// What a report says where steps of ranks don't go together, or none were found.

#include <gmock/gmock.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "monitor/cli/reporting/report.h"
#include "tests/analysis/ring_model.h"

namespace idlewave::cli {
namespace {

using test::ms;
using test::RingModel;
using testing::HasSubstr;
using testing::Not;

/// Rank 3 counts an inner loop that comes thrice in each step of the others.
TEST(ReportOfSteps, SaysThatRanksCountDifferentlyInPlaceOfWhatItSaysOfSteps) {
  RingModel model;
  model.steps = 400;
  model.delays = {{5, 20, ms(300)}};
  model.run();
  wire::Roster roster = model.roster();
  roster.patterns = {{false, false, {-1, 1}, {}}};
  roster.cycles = {{{{0}}}};
  for (wire::RankInfo& rank : roster.ranks) rank.cycle = 1;
  timeline::Timeline timeline;
  timeline.apply_roster("n1", roster);
  for (wire::Rank rank = 0; rank < model.ranks; ++rank) {
    auto events = model.events_of(rank);
    for (wire::Event& event : events)
      if (rank == 3 && event.kind == wire::EventKind::kStep) event.value *= 3;
    timeline.append("n1", {wire::LaneId::Kind::kRank, rank}, events);
    timeline.advance("n1", events.back().time);
    wire::FunctionSums reduce{"MPI_Allreduce", 100, 800, 0, ms(1), ms(1)}, send{"MPI_Send", 200, 1600, 0, ms(1), ms(1)};
    timeline.set_calls("n1", {.rank = rank, .pid = 100, .functions = {reduce, send}});
  }
  const auto report = nlohmann::json::parse(reporting::report_json(timeline, {0.5, 0.95}));
  EXPECT_TRUE(report["steps"].is_null());
  for (const auto& domain : report["domains"]) EXPECT_TRUE(domain["state"].is_null() && domain["states"].empty());
  EXPECT_EQ(report["steps_differ"]["rank"], 3);
  EXPECT_TRUE(report["waves"].empty());
  EXPECT_TRUE(report["step_time"][1]["mean_s"].is_null());
  for (const auto& rank : report["causes"]["ranks"])
    EXPECT_EQ(rank["waited_ns"], rank["not_attributable_ns"]["unknown"]);
  const std::string text = reporting::report_text(timeline, {0.5, 0.95});
  EXPECT_THAT(text, HasSubstr("ranks count steps differently: when rank 3 began step"));
  EXPECT_THAT(text, HasSubstr("\nwho made others wait is mostly not known\n"));
  EXPECT_THAT(text, Not(HasSubstr("idle waves")));
  EXPECT_THAT(text, Not(HasSubstr("lockstep")));
  EXPECT_THAT(text, HasSubstr("\neach rank has called MPI_Allreduce 100 times: --step-at MPI_Allreduce makes"));
}

TEST(ReportOfSteps, NamesACallThatMayBeAStepOnlyWhereAllRanksMakeItEquallyOftenAndNoneIsFound) {
  RingModel model;
  model.ranks = 4;
  model.run();
  const auto text_of = [&](std::uint64_t of_last, bool has_steps) {
    timeline::Timeline timeline;
    timeline.apply_roster("n1", model.roster());
    for (wire::Rank rank = 0; rank < model.ranks; ++rank) {
      auto events = model.events_of(rank);
      if (!has_steps) std::erase_if(events, [](const auto& event) { return event.kind == wire::EventKind::kStep; });
      timeline.append("n1", {wire::LaneId::Kind::kRank, rank}, events);
      const std::uint64_t times = rank == 3 ? of_last : 100;
      timeline.set_calls("n1", {.rank = rank,
                                .pid = 100,
                                .functions = {{"MPI_Allreduce", times, 800, 0, ms(1), ms(1)},
                                              {"MPI_Barrier", 2, 0, 2, ms(1), ms(1)},
                                              {"MPI_Waitall", 500, 0, 500, ms(1), ms(1)}}});
    }
    return reporting::report_text(timeline, {0.5, 0.95});
  };
  EXPECT_THAT(text_of(100, false), HasSubstr("each rank has called MPI_Allreduce 100 times: --step-at"));
  EXPECT_THAT(text_of(99, false), Not(HasSubstr("--step-at")));
  EXPECT_THAT(text_of(100, true), Not(HasSubstr("--step-at")));
}

/// In a session of minutes it said "at 1.00 min", which no axis shows and g does not find.
TEST(ReportOfSteps, SaysWhenAWaveBeganAsTheScreenDoes) {
  RingModel quiet, late;
  late.delays = {{5, 20, ms(300)}};
  quiet.run();
  late.run();
  timeline::Timeline timeline;
  quiet.fill(timeline);
  late.run_again(timeline, ms(60'000));
  EXPECT_THAT(reporting::report_text(timeline, {}), HasSubstr("  from rank 5, step 20, at 60.20 s, delay 300 ms\n"));
}

/// All waited for messages at once, as when a network stands still: the sockets had "idle wave inside", above "no idle waves".
TEST(ReportOfSteps, SaysThatWhoWasIdleWaitedForNobodyThatWasLate) {
  RingModel model;
  model.steps = 200;
  model.run();
  timeline::Timeline timeline;
  timeline.apply_roster("n1", model.roster());
  wire::Nanoseconds last{};
  for (wire::Rank rank = 0; rank < model.ranks; ++rank) {
    auto events = model.events_of(rank);
    bool is_behind = false;
    for (wire::Event& event : events) {
      is_behind = is_behind || (event.kind == wire::EventKind::kStep && event.value == 121);
      if (is_behind) event.time += ms(100);
      last = std::max(last, event.time);
    }
    timeline.append("n1", {wire::LaneId::Kind::kRank, rank}, events);
  }
  timeline.advance("n1", last);
  EXPECT_THAT(reporting::report_text(timeline, {0, 1}),
              HasSubstr("\nno idle waves that a late rank began: who was idle"));
}

}  // namespace
}  // namespace idlewave::cli
