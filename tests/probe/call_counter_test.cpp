#include "probe/client/call_counter.h"
#include "tests/any_seed.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <thread>
#include <utility>
#include <vector>

#include <map>
#include <memory>
#include <random>
#include <string>
#include <utility>

namespace idlewave::client {
namespace {

using shm::CallBook;

class CallCounterTest : public testing::Test {
 protected:
  CallCounterTest() { counter_.attach(*book_); }

  std::unique_ptr<CallBook> book_ = std::make_unique<CallBook>();
  CallCounter counter_;
};

TEST_F(CallCounterTest, SumsUpCallsByFunction) {
  CallBook::Function &sends = *counter_.add_function("MPI_Send"), &waits = *counter_.add_function("MPI_Wait");
  const auto count_call = [](CallBook::Function& function, std::int64_t time_ns, std::int64_t bytes) {
    CallCounter::count_call(function, bytes);
    CallCounter::count_time(function, time_ns);
  };
  count_call(sends, 30, 100);
  count_call(sends, 50, 0);
  count_call(waits, 7, CallCounter::kUnknownBytes);
  count_call(sends, 40, 11);
  ASSERT_EQ(book_->functions.load(), 2u);
  ASSERT_EQ(&sends, &book_->function[0]);
  EXPECT_STREQ(sends.name, "MPI_Send");
  EXPECT_EQ(sends.calls.load(), 3u);
  EXPECT_EQ(sends.bytes.load(), 111u);
  EXPECT_EQ(sends.unsized.load(), 0u);
  EXPECT_EQ(sends.time_ns.load(), 120);
  EXPECT_EQ(sends.longest_ns.load(), 50);
  EXPECT_EQ(waits.unsized.load(), 1u);
  EXPECT_EQ(waits.bytes.load(), 0u);
}

TEST_F(CallCounterTest, HasNoPlaceForMoreFunctionsThanTheBookHolds) {
  for (std::uint32_t i = 0; i < shm::kCallFunctions; ++i)
    ASSERT_EQ(counter_.add_function(("MPI_" + std::to_string(i)).c_str()), &book_->function[i]);
  EXPECT_EQ(counter_.add_function("MPI_Send"), nullptr);
  EXPECT_EQ(book_->functions.load(), shm::kCallFunctions);
}

TEST_F(CallCounterTest, CutsANameThatIsTooLong) {
  counter_.add_function(std::string(100, 'x').c_str());
  EXPECT_EQ(std::string(book_->function[0].name), std::string(shm::kCallNameLimit - 1, 'x'));
}

/// Against a map, with so many receivers that not all find room: none of their messages may get lost.
TEST_F(CallCounterTest, CountsEveryMessageForItsReceiverOrAmongTheOthers) {
  const std::uint64_t seed = any_seed();
  SCOPED_TRACE("IDLEWAVE_TEST_SEED=" + std::to_string(seed));
  std::mt19937_64 random(seed);
  const auto receivers = static_cast<wire::Rank>(1 + random() % 3000);
  std::map<wire::Rank, std::pair<std::uint64_t, std::uint64_t>> sent;
  std::pair<std::uint64_t, std::uint64_t> others;
  for (int i = 0; i < 20'000; ++i) {
    const auto to = static_cast<wire::Rank>(random() % static_cast<std::uint64_t>(receivers + 1)) - 1;
    const std::int64_t bytes = random() % 10 == 0 ? CallCounter::kUnknownBytes : std::int64_t(random() % 1000);
    counter_.count_message(to, bytes);
    const bool has_room = to >= 0 && (sent.contains(to) || sent.size() < shm::kCallPairsUsed);
    auto& [messages, sum] = has_room ? sent[to] : others;
    ++messages;
    if (bytes > 0) sum += std::uint64_t(bytes);
  }
  std::map<wire::Rank, std::pair<std::uint64_t, std::uint64_t>> found;
  for (const CallBook::Pair& pair : book_->pair)
    if (pair.taken_by != 0) {
      EXPECT_TRUE(found.insert({pair.taken_by - 1, {pair.messages, pair.bytes}}).second);
    }
  EXPECT_EQ(found, sent);
  EXPECT_EQ(book_->other_messages.load(), others.first);
  EXPECT_EQ(book_->other_bytes.load(), others.second);
}

TEST_F(CallCounterTest, EndsItsSearchWhateverStandsInTheMemoryThatOthersCanWrite) {
  for (CallBook::Pair& pair : book_->pair) pair.taken_by = 5'000'000;
  counter_.count_message(7, 30);
  EXPECT_EQ(book_->other_messages.load(), 1u);
  EXPECT_EQ(book_->other_bytes.load(), 30u);
}

/// The slow and obvious way beside it: each thread's own list. More receivers than there is room for go to the others.
TEST_F(CallCounterTest, LosesNoMessageOfThreadsThatSendAtTheSameTime) {
  const unsigned seed = any_seed();
  constexpr int kThreads = 6, kMessages = 20'000;
  for (const int receivers : {1, 40, 3000}) {
    auto book = std::make_unique<shm::CallBook>();
    std::vector<std::map<wire::Rank, std::pair<std::uint64_t, std::uint64_t>>> own(kThreads);
    std::vector<std::thread> threads;
    for (int t = 0; t < kThreads; ++t) {
      threads.emplace_back([&, t] {
        std::mt19937 random(seed + unsigned(t));
        for (int i = 0; i < kMessages; ++i) {
          const auto to = wire::Rank(random() % unsigned(receivers));
          const std::int64_t bytes = std::int64_t(random() % 1000) - 1;  // -1: not known
          count_message_of_thread(*book, to, bytes);
          auto& [messages, sum] = own[std::size_t(t)][to];
          ++messages, sum += std::uint64_t(std::max<std::int64_t>(bytes, 0));
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
    std::map<wire::Rank, std::pair<std::uint64_t, std::uint64_t>> truth;
    for (const auto& each : own)
      for (const auto& [to, sums] : each) truth[to].first += sums.first, truth[to].second += sums.second;
    std::uint64_t others = 0, bytes_to_others = 0;
    for (const auto& pair : book->pair_by_threads) {
      if (pair.taken_by == 0) continue;
      const auto known = truth.extract(pair.taken_by - 1);
      ASSERT_FALSE(known.empty()) << "a receiver has two places, or is none; of " << receivers;
      EXPECT_EQ(std::pair(pair.messages.load(), pair.bytes.load()), known.mapped());
    }
    for (const auto& [to, sums] : truth) others += sums.first, bytes_to_others += sums.second;
    EXPECT_EQ(book->other_messages_by_threads, others);
    EXPECT_EQ(book->other_bytes_by_threads, bytes_to_others);
    EXPECT_EQ(others == 0, receivers < 1000);
  }
}

}  // namespace
}  // namespace idlewave::client
