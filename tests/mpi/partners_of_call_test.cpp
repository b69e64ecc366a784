// With whom a call was, put together partner by partner.

#include "probe/mpi/partners_of_call.h"

#include <gtest/gtest.h>

#include <initializer_list>

namespace idlewave::mpi {
namespace {

using wire::CallPartners;
using enum CallPartners::Kind;

Partner from(wire::Rank rank) { return {rank, Side::kFrom}; }

CallPartners of(std::initializer_list<Partner> partners) {
  PartnersOfCall call;
  for (const Partner& each : partners) call.wait_for(each);
  return call.take();
}

TEST(PartnersOfCall, SaysWhomAWaitWasFor) {
  EXPECT_EQ(of({}), CallPartners{kNobody});
  EXPECT_EQ(of({{0, Side::kNobody}}), CallPartners{kNobody});
  EXPECT_EQ(of({from(7)}), (CallPartners{kFrom, 7}));
  EXPECT_EQ(of({from(7), from(7), from(0)}), (CallPartners{kFromTwo, 7, 0}));
  EXPECT_EQ(of({{3, Side::kToWaiting}}), (CallPartners{kToWaiting, 3}));
}

TEST(PartnersOfCall, SaysOfReceiversNothingWhereItWaitedForSendersToo) {
  EXPECT_EQ(of({{3, Side::kToWaiting}, from(7)}), (CallPartners{kFrom, 7}));
}

/// By how much the number of each is higher than that of the rank which says it.
CallPartners several(std::initializer_list<int> by) {
  CallPartners said{.kind = kFromSeveral};
  for (const int each : by) said.senders |= std::uint64_t{1} << (CallPartners::kReach + each);
  return said;
}

TEST(PartnersOfCall, SaysWhichRanksAroundSentSomething) {
  PartnersOfCall call(30);
  for (int turn = 0; turn < 2; ++turn) {
    for (const wire::Rank rank : {31, 29, 52, 8, 31, 52}) call.wait_for(from(rank));
    EXPECT_EQ(call.take(), several({1, -1, 22, -22}));
  }
  for (const wire::Rank rank : {31, 29, 52, 53}) call.wait_for(from(rank));
  EXPECT_EQ(call.take(), CallPartners{});
  call.send_to(5);
  for (const wire::Rank rank : {31, 29, 28}) call.wait_for(from(rank));
  EXPECT_EQ(call.take(), CallPartners{});
  for (const wire::Rank rank : {31, 29, 28}) call.wait_for(from(rank));
  call.wait_for({});
  EXPECT_EQ(call.take(), CallPartners{});
}

TEST(PartnersOfCall, SaysNothingOfSomebodyWhoIsNotKnown) {
  EXPECT_EQ(of({from(1), {}}), CallPartners{});
  EXPECT_EQ(of({{0, Side::kGroup}}), CallPartners{});
}

TEST(PartnersOfCall, SaysToWhomSomethingWentOut) {
  PartnersOfCall call;
  call.send_to(5);
  EXPECT_EQ(call.take(), (CallPartners{kSent, 5}));
  call.send_to(5);
  call.wait_for({5, Side::kToPerhaps});
  EXPECT_EQ(call.take(), (CallPartners{kSent, 5}));
  call.send_to(5);
  call.wait_for(from(4));
  EXPECT_EQ(call.take(), (CallPartners{kSentAndReceived, 5, 4}));
  call.send_to(5);
  call.send_to(6);
  EXPECT_EQ(call.take(), CallPartners{});
}

TEST(PartnersOfCall, KnowsNothingOfTheCallBefore) {
  PartnersOfCall call;
  call.wait_for({});
  call.take();
  call.wait_for_all();
  EXPECT_EQ(call.take(), CallPartners{kAll});
  EXPECT_EQ(call.take(), CallPartners{kNobody});
}

TEST(CallPartners, AreAValueOfAnEvent) {
  for (const CallPartners each :
       {CallPartners{}, CallPartners{kAll}, CallPartners{kFrom, wire::kMaxRanks - 1},
        CallPartners{kFromTwo, 1, wire::kMaxRanks - 1}, several({1, 2, -1}), several({-22, 0, 22})}) {
    EXPECT_EQ(CallPartners::of(each.value()), each);
    EXPECT_LE(each.value(), wire::kMaxEventValue);
  }
}

}  // namespace
}  // namespace idlewave::mpi
