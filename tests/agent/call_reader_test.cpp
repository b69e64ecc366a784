// What a rank has counted of its MPI calls, as its agent reads it.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <limits>
#include <memory>

#include "probe/agent/call_reader.h"
#include "tests/agent/parts.h"

namespace idlewave::agent {
namespace {

std::unique_ptr<shm::CallBook> book_of_two_functions() {
  auto book = std::make_unique<shm::CallBook>();
  std::strcpy(book->function[0].name, "MPI_Send");
  book->function[0].calls = 3;
  book->function[0].bytes = 30;
  book->function[0].time_ns = 500;
  book->function[0].longest_ns = 400;
  std::strcpy(book->function[1].name, "MPI_Recv");
  book->function[1].calls = book->function[1].unsized = 2;
  book->functions = 2;
  // Places are told by nothing but who has taken them.
  for (const auto& [place, to] : {std::pair(700, 1), std::pair(3, 5)}) {
    book->pair[place].messages = 1;
    book->pair[place].bytes = 10;
    book->pair[place].taken_by = to + 1;
  }
  book->other_messages = 1;
  book->other_bytes = 10;
  return book;
}

TEST(CallReader, ReadsWhatTheRankHasCounted) {
  const auto book = book_of_two_functions();
  CallReader reader;
  const wire::RankCalls expected{
      .rank = 4,
      .pid = 100,
      .functions = {{"MPI_Send", 3, 30, 0, ns(500), ns(400)}, {"MPI_Recv", 2, 0, 2, ns(0), ns(0)}},
      .pairs = {{1, 1, 10}, {5, 1, 10}},
      .other_messages = 1,
      .other_bytes = 10};
  EXPECT_EQ(reader.read_if_new(*book, 4, 100, 8), expected);
  EXPECT_EQ(reader.read_if_new(*book, 4, 100, 8), std::nullopt) << "nothing has been called since";
  book->function[1].calls = 3;
  EXPECT_NE(reader.read_if_new(*book, 4, 100, 8), std::nullopt);
  EXPECT_EQ(reader.read_if_new(*book, 4, 100, 8), std::nullopt);
  reader.forget();
  EXPECT_NE(reader.read_if_new(*book, 4, 100, 8), std::nullopt) << "somebody has not heard it";
}

TEST(CallReader, AddsUpWhatThreadsHaveSentToEachReceiver) {
  const auto book = book_of_two_functions();
  for (const auto& [place, to] : {std::pair(9, 5), std::pair(500, 0), std::pair(10, 7)}) {
    book->pair_by_threads[place].messages = to == 7 ? 0 : 4;
    book->pair_by_threads[place].bytes = to == 7 ? 0 : 100;
    book->pair_by_threads[place].taken_by = to + 1;
  }
  book->other_messages_by_threads = 2;
  book->other_bytes_by_threads = 5;
  CallReader reader;
  const auto read = reader.read_if_new(*book, 4, 100, 8);
  ASSERT_TRUE(read);
  EXPECT_EQ(read->pairs, (std::vector<wire::PairSums>{{0, 4, 100}, {1, 1, 10}, {5, 5, 110}}))
      << "of one whose place was only just taken there is nothing yet";
  EXPECT_EQ(read->other_messages, 3u);
  EXPECT_EQ(read->other_bytes, 15u);
}

TEST(CallReader, ReadsTheMessagesOfAProgramThatTellsOfNoCalls) {
  const auto book = std::make_unique<shm::CallBook>();
  book->pair[3].messages = 2;
  book->pair[3].bytes = 64;
  book->pair[3].taken_by = 6;
  CallReader reader;
  const wire::RankCalls expected{.rank = 4, .pid = 100, .pairs = {{5, 2, 64}}};
  EXPECT_EQ(reader.read_if_new(*book, 4, 100, 8), expected);
  EXPECT_EQ(reader.read_if_new(*book, 4, 100, 8), std::nullopt) << "nothing has been sent since";
  book->other_messages = 1;
  EXPECT_NE(reader.read_if_new(*book, 4, 100, 8), std::nullopt);
}

TEST(CallReader, AddsWhatOtherThreadsHaveCalled) {
  const auto book = book_of_two_functions();
  for (const auto& [place, name, calls] : {std::tuple(200, "MPI_Recv", 4), {7, "MPI_Wait", 5}}) {
    std::strcpy(book->by_threads[place].name, name);
    book->by_threads[place].calls = book->by_threads[place].unsized = std::uint64_t(calls);
    book->by_threads[place].time_ns = 100 * calls;
    book->by_threads[place].longest_ns = 90;
  }
  CallReader reader;
  const auto read = reader.read_if_new(*book, 4, 100, 8);
  ASSERT_TRUE(read);
  const std::vector<wire::FunctionSums> expected = {{"MPI_Send", 3, 30, 0, ns(500), ns(400)},
                                                    {"MPI_Recv", 6, 0, 6, ns(400), ns(90)},
                                                    {"MPI_Wait", 5, 0, 5, ns(500), ns(90)}};
  EXPECT_EQ(read->functions, expected);
  book->by_threads[7].calls = 6;
  EXPECT_NE(reader.read_if_new(*book, 4, 100, 8), std::nullopt);
}

TEST(CallReader, ReadsTheCallsThatNobodyHasSeen) {
  const auto book = std::make_unique<shm::CallBook>();
  book->unseen_calls = 7;
  CallReader reader;
  const wire::RankCalls expected{.rank = 4, .pid = 100, .functions = {}, .pairs = {}, .unseen = 7};
  EXPECT_EQ(reader.read_if_new(*book, 4, 100, 8), expected);
  EXPECT_EQ(reader.read_if_new(*book, 4, 100, 8), std::nullopt) << "none has been made since";
  book->unseen_calls = 8;
  EXPECT_NE(reader.read_if_new(*book, 4, 100, 8), std::nullopt);
}

TEST(CallReader, SaysNothingOfARankWithoutCalls) {
  const auto book = std::make_unique<shm::CallBook>();
  EXPECT_EQ(CallReader().read_if_new(*book, 4, 100, 8), std::nullopt);
}

TEST(CallReader, TakesNoPlaceOrSizeFromWhatWasOverwritten) {
  const auto book = book_of_two_functions();
  std::memset(book->function[0].name, 'x', sizeof book->function[0].name);
  book->function[0].time_ns = std::numeric_limits<std::int64_t>::min();
  book->pair[9].taken_by = std::numeric_limits<std::int32_t>::min();
  book->pair[10].taken_by = 9;  // A program of eight ranks has no rank 8.
  book->pair[11].taken_by = 6;  // Rank 5 once more.
  book->functions = ~0u;
  const auto calls = CallReader().read_if_new(*book, 4, 100, 8);
  ASSERT_NE(calls, std::nullopt);
  EXPECT_EQ(calls->functions.size(), shm::kCallFunctions);
  EXPECT_EQ(calls->functions[0].name.size(), std::size_t(shm::kCallNameLimit));
  EXPECT_EQ(calls->functions[0].time, ns(0));
  EXPECT_EQ(calls->pairs.size(), 2u);
  const wire::Frame frame{"s", "n", 1, wire::Events{ns(0), {}, {*calls}}};
  const auto back = wire::decode(wire::encode(frame));
  ASSERT_TRUE(back) << back.error().message;
  EXPECT_EQ(*back, frame);
}

}  // namespace
}  // namespace idlewave::agent
