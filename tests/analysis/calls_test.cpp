#include "monitor/analysis/session/calls.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/timeline/builders.h"

namespace idlewave::analysis {
namespace {

using testing::ElementsAre;
using timeline::ms;
using timeline::Timeline;
using wire::FunctionSums;
using wire::Rank;
using wire::RankCalls;

/// Ranks `first` to `first` + 3 of eight, two to a domain.
wire::Roster node_of(Rank first) {
  wire::Roster roster;
  roster.world_size = 8;
  roster.domains = {{0, "socket 0"}, {1, "socket 1"}};
  for (Rank rank = first; rank < first + 4; ++rank) roster.ranks.push_back({rank, 100 + rank, (rank - first) / 2, 0});
  return roster;
}

class CallsTest : public testing::Test {
 protected:
  CallsTest() {
    EXPECT_TRUE(timeline_.apply_roster("a", node_of(0)));
    EXPECT_TRUE(timeline_.apply_roster("b", node_of(4)));
  }
  void tell(RankCalls calls) {
    calls.pid = 100 + calls.rank;
    timeline_.set_calls(calls.rank < 4 ? "a" : "b", calls);
  }

  Timeline timeline_;
};

TEST_F(CallsTest, AreNotKnownWhereNobodyTellsThem) {
  EXPECT_TRUE(session::functions_by_time(timeline_).empty());
  EXPECT_EQ(session::find_matrix(timeline_), std::nullopt);
}

TEST_F(CallsTest, AreNotTakenFromANodeThatHasNotThatRank) {
  RankCalls calls{.rank = 5, .functions = {{"MPI_Send", 1, 1, 0, ms(1), ms(1)}}};
  timeline_.set_calls("a", calls);
  timeline_.set_calls("nobody", calls);
  EXPECT_TRUE(timeline_.calls().empty());
}

TEST_F(CallsTest, AddUpByFunctionTheOneThatTookMostTimeFirst) {
  tell({.rank = 0, .functions = {{"MPI_Send", 2, 20, 0, ms(2), ms(2)}, {"MPI_Wait", 1, 0, 1, ms(5), ms(5)}}});
  tell({.rank = 4, .functions = {{"MPI_Wait", 3, 0, 3, ms(10), ms(9)}, {"MPI_Send", 2, 0, 2, ms(3), ms(1)}}});
  const auto uses = session::functions_by_time(timeline_);
  ASSERT_EQ(uses.size(), 2u);
  EXPECT_EQ(uses[0].name, "MPI_Wait");
  EXPECT_EQ(uses[0].ranks, 2u);
  EXPECT_EQ(uses[0].calls, 4u);
  EXPECT_DOUBLE_EQ(uses[0].time_s, 0.015);
  EXPECT_DOUBLE_EQ(uses[0].share, 0.75);
  EXPECT_DOUBLE_EQ(uses[0].mean_s(), 0.015 / 4);
  EXPECT_EQ(uses[0].longest, ms(9));
  EXPECT_EQ(uses[0].longest_rank, 4);
  EXPECT_EQ(uses[0].bytes, std::nullopt) << "no call tells its size";
  EXPECT_EQ(uses[1].bytes, 20u);
  EXPECT_EQ(uses[1].unsized, 2u);
}

TEST_F(CallsTest, AreMarkedWhereTheyCrossDomainsAndNodes) {
  tell({.rank = 0,
        .functions = {{"MPI_Put", 1, 0, 1, ms(0), ms(0)}, {"MPI_Start", 1, 0, 1, ms(0), ms(0)}},
        .pairs = {{0, 1, 1}, {1, 1, 10}, {2, 2, 200}, {7, 3, 3000}},
        .other_messages = 4,
        .other_bytes = 40'000});
  const auto matrix = session::find_matrix(timeline_);
  ASSERT_NE(matrix, std::nullopt);
  std::vector<std::pair<Rank, std::string>> seen;
  for (const session::PairUse& pair : matrix->pairs) seen.emplace_back(pair.to, to_words(pair.crosses));
  EXPECT_THAT(seen,
              ElementsAre(std::pair(7, "nodes"), std::pair(2, "domains"), std::pair(1, "none"), std::pair(0, "none")));
  EXPECT_EQ(matrix->all.messages, 11u);
  EXPECT_EQ(matrix->all.bytes, 43'211u);
  EXPECT_EQ(matrix->across_domains.bytes, 200u);
  EXPECT_EQ(matrix->across_nodes.bytes, 3000u);
  EXPECT_EQ(matrix->others.messages, 4u);
  EXPECT_EQ(matrix->unplaced.messages, 0u);
  EXPECT_THAT(matrix->not_counted, ElementsAre("MPI_Put"));
}

TEST_F(CallsTest, AreNotAllKnownWhereThreadsMaySendBesideTheRank) {
  const auto may_send = [this] { return session::find_matrix(timeline_)->threads_may_send; };
  const auto thread_tells = [this](const std::vector<wire::Event>& events) {
    timeline_.append("a", wire::ThreadId{0, 1}, events);
    timeline_.advance("a", ms(100));
  };
  const FunctionSums sized = {"MPI_Send", 2, 8, 0, ms(1), ms(1)}, unsized = {"MPI_Send", 3, 8, 1, ms(1), ms(1)};
  timeline_.append("a", timeline::rank_lane(0), std::vector{timeline::start(ms(0))});
  tell({.rank = 0, .functions = {unsized}});
  EXPECT_FALSE(may_send()) << "its own call has failed";
  thread_tells({timeline::start(ms(1)), timeline::enter(ms(1), wire::Phase::kCompute)});
  EXPECT_FALSE(may_send()) << "the thread has only worked";
  thread_tells({timeline::enter(ms(110), wire::Phase::kWait), timeline::enter(ms(120), wire::Phase::kNone)});
  timeline_.advance("a", ms(200));
  EXPECT_TRUE(may_send());
  tell({.rank = 0, .functions = {sized}});
  EXPECT_FALSE(may_send()) << "it has waited alone";
  tell({.rank = 0, .functions = {sized}, .unseen = 4});
  EXPECT_TRUE(may_send());
}

TEST_F(CallsTest, HaveNoPlaceWhereTheReceiversIsNotKnown) {
  Timeline half;
  ASSERT_TRUE(half.apply_roster("a", node_of(0)));
  half.set_calls("a", {.rank = 0, .pid = 100, .pairs = {{7, 3, 30}}});
  const auto matrix = session::find_matrix(half);
  ASSERT_NE(matrix, std::nullopt);
  EXPECT_EQ(matrix->pairs[0].crosses, session::Crossing::kUnknown);
  EXPECT_EQ(matrix->unplaced.bytes, 30u);
}

TEST_F(CallsTest, AreLookedAtAgainAfterTwoSecondsOfTheSessionWhereTheyAreNew) {
  const wire::Event begin{.time = ms(0), .kind = wire::EventKind::kEnter, .phase = wire::Phase::kCompute};
  timeline_.append("a", {wire::LaneId::Kind::kRank, 0}, {&begin, 1});
  session::MpiUseFinder finder;
  EXPECT_EQ(finder.observe(timeline_), nullptr);
  tell({.rank = 0, .functions = {{"MPI_Send", 1, 8, 0, ms(1), ms(1)}}, .pairs = {{1, 1, 8}}});
  const auto first = finder.observe(timeline_);
  ASSERT_NE(first, nullptr);
  EXPECT_EQ(std::tuple(first->functions.size(), first->matrix.pairs.size(), first->ranks), std::tuple(1u, 1u, 1u));
  tell({.rank = 4, .functions = {{"MPI_Recv", 1, 8, 0, ms(1), ms(1)}}});
  timeline_.advance("a", ms(1900));
  EXPECT_EQ(finder.observe(timeline_), first);
  timeline_.advance("a", ms(2100));
  const auto second = finder.observe(timeline_);
  EXPECT_EQ(std::tuple(second->functions.size(), second->ranks), std::tuple(2u, 2u));
  EXPECT_EQ(first->functions.size(), 1u);
  timeline_.advance("a", ms(9000));
  EXPECT_EQ(finder.observe(timeline_), second) << "nothing is new";
}

}  // namespace
}  // namespace idlewave::analysis
