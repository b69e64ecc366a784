#include "probe/mpi/roles.h"

#include "probe/mpi/handles.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string_view>
#include <vector>

namespace idlewave::mpi {
namespace {

using enum Call;

/// The words that `rule` reads (probe/mpi/calls.txt); every call with that rule has to have them.
std::vector<std::string_view> words_of(Carries rule) {
  switch (rule) {
    case Carries::kNone: return {};
    case Carries::kMessage: return {"dest", "comm"};
    case Carries::kBlock: return {"count", "datatype"};
    case Carries::kReduced: return {"count", "datatype", "root"};
    case Carries::kRoot: return {"count", "datatype", "root", "comm"};
    case Carries::kGather: return {"sendcount", "sendtype", "recvcount", "recvtype", "root", "comm"};
    case Carries::kGatherv: return {"sendcount", "sendtype", "recvcounts", "recvtype", "root", "comm"};
    case Carries::kScatter: return {"sendcount", "sendtype", "root", "comm"};
    case Carries::kScatterv: return {"sendcounts", "sendtype", "root", "comm"};
    case Carries::kOwn: return {"recvcount", "recvtype"};
    case Carries::kOwnv: return {"recvcounts", "recvtype", "comm"};
    case Carries::kAll: return {"recvcount", "recvtype", "comm"};
    case Carries::kEach: return {"recvcount", "datatype", "comm"};
    case Carries::kEachv: return {"recvcounts", "datatype", "comm"};
    case Carries::kSent: return {"sendcount", "sendtype"};
    case Carries::kOrigin: return {"origin_count", "origin_datatype", "target_rank"};
    case Carries::kResult: return {"result_count", "result_datatype", "target_rank"};
  }
  return {};
}

TEST(Roles, AreThePlacesThatTheStandardsWordsStandAt) {
  EXPECT_EQ(place_of(kIsend, "buf"), 0);
  EXPECT_EQ(place_of(kIsend, "request"), 6);
  EXPECT_EQ(place_of(kIsend, "req"), -1);
  EXPECT_EQ(place_of(kWaitall, "array_of_requests"), 1);
  EXPECT_EQ(arguments_of(kIsend), 7);
  EXPECT_EQ(arguments_of(kBarrier), 1);
}

TEST(Roles, OfACallThatSendsAndReceivesAreToldApart) {
  const MessagePlaces sent = sent_by(kSendrecv), received = received_by(kSendrecv);
  EXPECT_EQ(sent.count, 1);
  EXPECT_EQ(sent.type, 2);
  EXPECT_EQ(sent.peer, 3);
  EXPECT_EQ(sent.tag, 4);
  EXPECT_EQ(received.count, 6);
  EXPECT_EQ(received.type, 7);
  EXPECT_EQ(received.peer, 8);
  EXPECT_EQ(received.tag, 9);
}

TEST(Roles, OfACallThatHasOneDirectionAreOfThatOne) {
  EXPECT_EQ(sent_by(kRecv).peer, -1);
  EXPECT_EQ(received_by(kRecv).peer, 3);
  EXPECT_EQ(received_by(kProbe).peer, 0);
  EXPECT_EQ(received_by(kProbe).count, -1);
  EXPECT_EQ(received_by(kSend).peer, -1);
}

TEST(Roles, HaveForEveryCallTheWordsThatItsBytesAreReadFrom) {
  for (std::size_t i = 0; i < calls().size(); ++i) {
    SCOPED_TRACE(calls()[i].name);
    const Call call{static_cast<std::uint16_t>(i)};
    for (const std::string_view word : words_of(kArguments[i].carries)) EXPECT_GE(place_of(call, word), 0) << word;
    if (kArguments[i].carries != Carries::kMessage) continue;
    EXPECT_GE(sent_by(call).count, 0);
    EXPECT_GE(sent_by(call).type, 0);
  }
}

TEST(Roles, AreReadAsTheirLanguageHasThem) {
  const std::int64_t large = 5'000'000'000;
  const int small = -7;
  const Word garbage_above = static_cast<Word>(0x7fff'ffff'0000'0000u | 42u);
  EXPECT_EQ(int_at<Form::kC>(garbage_above), 42);
  EXPECT_EQ(count_at<Form::kC>(garbage_above), 42);
  EXPECT_EQ(count_at<Form::kCLarge>(large), large);
  EXPECT_EQ(count_at<Form::kFortran>(reinterpret_cast<Word>(&small)), -7);
  EXPECT_EQ(count_at<Form::kFortranLarge>(reinterpret_cast<Word>(&large)), large);
  const int counts[] = {3, 4};
  const std::int64_t large_counts[] = {3, large};
  EXPECT_EQ(count_in<Form::kFortran>(reinterpret_cast<Word>(counts), 1), 4);
  EXPECT_EQ(count_in<Form::kCLarge>(reinterpret_cast<Word>(large_counts), 1), large);
}

TEST(HandleKeys, GiveTheHandleBackInItsLanguage) {
  const Word address = 0x7ffd'1234'5670, number = 0x44000000;
  for (const Word handle : {Word{0}, Word{1}, address, number, Word{0x8c000000}})
    EXPECT_EQ(Handles::Key(handle, Language::kC).handle(), handle);
  for (const Word handle : {Word{0}, Word{1}, number, Word{-1}, Word{static_cast<std::int32_t>(0x8c000000)}}) {
    const Handles::Key key(handle, Language::kFortran);
    EXPECT_EQ(key.handle(), handle);
    EXPECT_EQ(key.language(), Language::kFortran);
    EXPECT_FALSE(key.is_none());
    EXPECT_NE(key, Handles::Key(handle, Language::kC)) << "a number of one language is not that of the other";
  }
  EXPECT_EQ(Handles::Key(address, Language::kC).language(), Language::kC);
  EXPECT_TRUE(Handles::Key().is_none());
}

}  // namespace
}  // namespace idlewave::mpi
