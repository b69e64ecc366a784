#include <gmock/gmock.h>

#include "monitor/analysis/session/findings.h"
#include "tests/analysis/ring_model.h"

namespace idlewave::analysis {
namespace {

using test::ms;
using test::RingModel;
using testing::AllOf;
using testing::Contains;
using testing::Field;

std::vector<std::string> texts(const session::Narrator& narrator) {
  std::vector<std::string> result;
  for (const session::Remark& remark : narrator.remarks()) result.push_back(remark.text);
  return result;
}

void look(session::Narrator& narrator, const timeline::Timeline& timeline) {
  domains::DomainStates states;
  states.follow(timeline);
  const std::vector<waves::Wave> waves = waves::find_waves(timeline, {Nanoseconds{0}, Nanoseconds::max()});
  narrator.observe_waves(waves);
  narrator.observe(timeline, session::analyse(timeline, {ms(0), timeline.now()}, states, waves), states,
                   timeline.now());
}

/// Observes the session four times a second, as the monitor does.
session::Narrator narrate(RingModel model, timeline::Timeline& timeline) {
  model.run();
  model.fill(timeline);
  session::Narrator narrator;
  for (int i = 0; i < 4; ++i) look(narrator, timeline);
  return narrator;
}

TEST(Narrator, TellsOfADelayOnceWhenItBeginsAndOnceWhenItIsOver) {
  RingModel model;
  model.delays = {{5, 20, ms(300)}};
  timeline::Timeline timeline;
  const auto said = texts(narrate(model, timeline));
  EXPECT_EQ(std::count(said.begin(), said.end(), "delay began on rank 5, step 20"), 1);
  EXPECT_EQ(std::count(said.begin(), said.end(), "delay of 300 ms on rank 5 is over"), 1);
}

/// Told of a noise ordered by 7, and then by `also`, whose giver leaves.
std::vector<std::string> told_when_the_giver_leaves(bool accepted, std::optional<wire::Command> also = {}) {
  RingModel model;
  model.run();
  timeline::Timeline timeline;
  model.fill(timeline);
  timeline.add_outcome("n1", {{7, {}, wire::NoiseOrder{}}, ms(100), accepted, accepted ? "" : "injection is off"});
  if (also) timeline.add_outcome("n1", {*also, ms(150), true, ""});
  timeline.add_outcome("n1", {{7 | wire::kEndsNoise, {}, wire::ClearOrder{7}}, ms(200), true, ""});
  session::Narrator narrator;
  for (int i = 0; i < 3; ++i) look(narrator, timeline);
  return texts(narrator);
}

TEST(Narrator, TellsOnceThatNoiseIsOverSinceWhoOrderedItHasLeft) {
  const auto is_told = testing::Eq("noise is over: who ordered it has left");
  EXPECT_THAT(told_when_the_giver_leaves(true), Contains(is_told).Times(1));
  EXPECT_THAT(told_when_the_giver_leaves(false), Contains(is_told).Times(0)) << "there was none";
  EXPECT_THAT(told_when_the_giver_leaves(true, wire::Command{8, {}, wire::NoiseOrder{}}), Contains(is_told).Times(0))
      << "it had been replaced";
  EXPECT_THAT(told_when_the_giver_leaves(true, wire::Command{8, {}, wire::ClearOrder{}}), Contains(is_told).Times(0))
      << "it was over already";
}

TEST(Narrator, TellsHowAWaveEnded) {
  RingModel model;
  model.delays = {{5, 20, ms(300)}};
  timeline::Timeline timeline;
  EXPECT_THAT(texts(narrate(model, timeline)),
              Contains("idle wave from rank 5: 20 ranks up, 19 down, its fronts met at rank 26"));
}

TEST(Narrator, TellsWhatMadeAWaveThatNobodyAnnounced) {
  RingModel model;
  model.delays = {{5, 20, ms(300)}};
  model.announced = false;
  timeline::Timeline timeline;
  EXPECT_THAT(texts(narrate(model, timeline)), Contains("idle wave from rank 5, which computed 300 ms longer: "
                                                        "20 ranks up, 19 down, its fronts met at rank 26"));
}

TEST(Narrator, TellsOfAFewSocketsOneByOneAndOfManyAtOnce) {
  for (const Rank ranks : {40, 80}) {
    RingModel model;
    model.ranks = ranks;
    timeline::Timeline timeline;
    const auto said = texts(narrate(model, timeline));
    const auto is_told = testing::HasSubstr("in lockstep: 10.0 of 10 active");
    EXPECT_THAT(said, Contains(is_told).Times(ranks == 40 ? 4 : 1));
    if (ranks == 80) {
      EXPECT_THAT(said, Contains(testing::HasSubstr("socket 0 and 7 others run in lockstep")));
    }
  }
}

/// Nobody runs any more: the last that is said of sockets is how they ran, as on the panel and in a report.
TEST(Narrator, TellsOfSocketsThatAreNoLongerActiveWhileOthersRun) {
  for (const bool all_end : {true, false}) {
    RingModel model;
    model.run();
    timeline::Timeline timeline;
    timeline.apply_roster("n1", model.roster());
    for (Rank rank = 0; rank < model.ranks; ++rank) {
      std::vector<wire::Event> events = model.events_of(rank);
      if (!all_end && rank >= 30) events.pop_back();
      timeline.append("n1", {wire::LaneId::Kind::kRank, rank}, events);
    }
    timeline.advance("n1", ms(2000));
    session::Narrator narrator;
    look(narrator, timeline);
    const auto ended = testing::HasSubstr("no longer active");
    EXPECT_THAT(texts(narrator), Contains(ended).Times(all_end ? 0 : 3));
  }
}

/// What becomes of a rank alone on its socket, its waves tell; a line of the list without words is none.
TEST(Narrator, TellsNothingWithoutWords) {
  RingModel model;
  model.ranks = 16;
  model.steps = 400;
  model.ranks_per_domain = 1;
  model.delays = {{3, 200, ms(100)}};
  model.run();
  timeline::Timeline timeline;
  model.fill(timeline);
  domains::DomainStates states;
  states.follow(timeline);
  const auto alone = [](const domains::StateChange& change) { return change.state == domains::DomainState::kAlone; };
  ASSERT_TRUE(std::ranges::any_of(states.changes(8), alone));
  session::Narrator narrator;
  look(narrator, timeline);
  EXPECT_THAT(texts(narrator), testing::Each(testing::Not(testing::IsEmpty())));
}

TEST(Narrator, TellsWhenANodeFallsSilentAndWhenItIsHeardAgain) {
  timeline::Timeline timeline;
  RingModel model;
  model.run();
  model.fill(timeline, ms(400));
  wire::Roster elsewhere;
  elsewhere.world_size = 41;
  elsewhere.ranks = {{40, 1, wire::kNoDomain}};
  timeline.apply_roster("n2", elsewhere);
  timeline.advance("n2", ms(9000));
  session::Narrator narrator;
  look(narrator, timeline);
  look(narrator, timeline);
  const auto said = texts(narrator);
  EXPECT_EQ(std::ranges::count(said, "node n1 fell silent"), 1);
  EXPECT_EQ(std::ranges::count(said, "node n1 is heard again"), 0);
  timeline.advance("n1", ms(9000));
  look(narrator, timeline);
  EXPECT_THAT(texts(narrator), Contains("node n1 is heard again"));
}

TEST(Narrator, TellsOfARankThatWasLost) {
  RingModel model;
  timeline::Timeline timeline;
  model.run();
  model.fill(timeline, ms(300));
  timeline.add_loss({timeline::LossKind::kRankLost, "n1", 12, ms(300), ms(300), 1, ""});
  session::Narrator narrator;
  look(narrator, timeline);
  EXPECT_THAT(narrator.remarks(), Contains(AllOf(Field(&session::Remark::kind, session::Remark::Kind::kRank),
                                                 Field(&session::Remark::rank, 12))));
}

TEST(Narrator, TellsWhoWasLostFirstHoweverManyFollow) {
  RingModel model;
  timeline::Timeline timeline;
  model.run();
  model.fill(timeline, ms(300));
  for (const Rank rank : {12, 3, 0})
    timeline.add_loss({timeline::LossKind::kRankLost, "n1", rank, ms(320 - rank), ms(320 - rank), 1, ""});
  for (Rank rank = 13; rank < 40; ++rank)
    timeline.add_loss({timeline::LossKind::kRankLost, "n1", rank, ms(400), ms(400), 1, ""});
  session::Narrator narrator;
  look(narrator, timeline);
  EXPECT_THAT(texts(narrator),
              Contains("lost: rank 12 at 0.31 s and 29 more until 0.40 s, whose processes ended without saying so"));
}

TEST(Narrator, RemarksAreInOrderOfTime) {
  RingModel model;
  model.delays = {{5, 20, ms(300)}, {25, 40, ms(200)}};
  timeline::Timeline timeline;
  const session::Narrator narrator = narrate(model, timeline);
  EXPECT_TRUE(std::is_sorted(narrator.remarks().begin(), narrator.remarks().end(),
                             [](const auto& a, const auto& b) { return a.at < b.at; }));
}

}  // namespace
}  // namespace idlewave::analysis
