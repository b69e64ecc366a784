// Whom a rank's waits depend on, as it is learnt from messages: judged by slow and obvious accounts of the same.

#include "probe/mpi/habits/wait_learner.h"

#include <gmock/gmock.h>

#include <cstdlib>
#include <map>
#include <memory>
#include <numeric>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "probe/mpi/eager_limits.h"
#include "probe/mpi/request_table.h"
#include "tests/any_seed.h"

namespace idlewave::mpi::habits {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using wire::Rank;

constexpr std::uint32_t kRendezvous = shm::PartnerBook::kRendezvous, kCollective = shm::PartnerBook::kCollective,
                        kUncertain = shm::PartnerBook::kUncertain;

struct Wait {
  std::set<Rank> from, to;
  std::uint32_t flags = 0;
  friend bool operator==(const Wait&, const Wait&) = default;
};
using Waits = std::vector<Wait>;

void PrintTo(const Wait& wait, std::ostream* out) {
  *out << "from " << testing::PrintToString(wait.from) << " to " << testing::PrintToString(wait.to) << " flags "
       << wait.flags;
}

/// What a rank does: a partner that it waits for or has sent to, or something that goes out.
struct Act {
  enum Kind { kPost, kSend, kWait, kMeet, kStart, kFinish } kind = kPost;
  Partner partner = {};
  Rank group = 0;  ///< kMeet, and of one that is started and waited for: of the ranks 0 to this one; 0: all.
};
using Acts = std::vector<Act>;

Act receives(Rank from) { return {Act::kWait, {from, Side::kFrom}}; }
Act sends(Rank to) { return {Act::kSend, {to, Side::kTo}}; }
Act sends_and_waits(Rank to) { return {Act::kWait, {to, Side::kToWaiting}}; }
Act sends_and_may_wait(Rank to) { return {Act::kWait, {to, Side::kToPerhaps}}; }
constexpr Act kPost{};

/// By the words of the headers: each wait is all that is waited for between two posts, with what was sent before.
Waits waits_of(const Acts& acts) {
  Waits waits;
  Wait now;
  std::set<Rank> eager, perhaps;
  bool has_waited = false;
  const auto end_wait = [&] {
    has_waited = false;
    if (!std::ranges::includes(now.from, perhaps)) now.flags = kUncertain;
    perhaps.clear();
    if (now.to.empty()) now.to = eager;
    eager.clear();
    const auto most = now.flags == kCollective && now.from.empty() ? 1 : StepHabit::kMostTimes;
    if (!(now == Wait()) && std::ranges::count(waits, now) < most) waits.push_back(now);
    now = {};
  };
  for (const Act& act : acts) {
    if (act.kind == Act::kPost && has_waited) end_wait();
    if (act.kind == Act::kSend) eager.insert(act.partner.rank);
    if (act.kind == Act::kWait) {
      has_waited = true;
      const bool comes = act.partner.side == Side::kFrom;
      (comes ? now.from : now.to).insert(act.partner.rank);
      if (!comes) now.flags |= kRendezvous;
      if (act.partner.side != Side::kToPerhaps) continue;
      perhaps.insert(act.partner.rank);
      now.flags |= kUncertain;
    }
    if (act.kind != Act::kMeet) continue;
    end_wait();
    now.flags = kCollective;
    for (Rank rank = 0; rank < act.group; ++rank) now.from.insert(rank);
    end_wait();
  }
  end_wait();
  return waits;
}

/// A rank that learns, and remembers what was told of its latest step.
class Learner {
 public:
  void act(const Act& act) {
    switch (act.kind) {
      case Act::kPost: return learner_->post();
      case Act::kSend: return learner_->send(act.partner.rank);
      case Act::kWait: return learner_->wait(act.partner);
      case Act::kMeet: return learner_->wait_for_group(key_of(act.group), [&] { return find(act.group); });
      case Act::kStart: return start(act.group);
      case Act::kFinish: return learner_->wait_for_started_group(key_of(act.group));
    }
  }
  void step(const Acts& acts) {
    for (const Act& each : acts) act(each);
    told_.clear();
    is_said_ = false;
    learner_->end_step(next_++, [&](int number, std::span<const Rank> from, std::span<const Rank> to, auto flags) {
      is_said_ = number >= 0;
      withdrawn_ = number < 0;
      if (number >= 0) told_.push_back({{from.begin(), from.end()}, {to.begin(), to.end()}, flags});
    });
  }
  void steps(int count, const Acts& acts) {
    for (int i = 0; i < count; ++i) step(acts);
  }
  void count_anew() {
    learner_->forget_steps();
    next_ = 0;
  }
  const Waits& told() const { return told_; }
  bool is_said() const { return is_said_; }
  bool is_withdrawn() const { return withdrawn_; }
  bool has_long_steps() const { return learner_->has_long_steps(); }
  std::int64_t next() const { return next_; }
  WaitLearner& learner() { return *learner_; }

 private:
  static std::uint64_t key_of(Rank group) { return std::uint64_t(group) + 1; }
  std::optional<WaitLearner::Group> find(Rank group) {
    ranks_.resize(std::size_t(group));
    std::iota(ranks_.begin(), ranks_.end(), 0);
    return WaitLearner::Group{ranks_, kCollective};
  }
  void start(Rank group) {
    learner_->post();
    learner_->learn_group(key_of(group), [&] { return find(group); });
  }

  std::unique_ptr<WaitLearner> learner_ = std::make_unique<WaitLearner>();
  std::int64_t next_ = 0;
  std::vector<Rank> ranks_;
  Waits told_;
  bool is_said_ = false, withdrawn_ = false;
};

TEST(WaitLearner, SaysWhatHasComeEightTimes) {
  Learner rank;
  rank.steps(7, {kPost, sends(4), receives(2)});
  EXPECT_FALSE(rank.is_said());
  rank.step({kPost, sends(4), receives(2)});
  EXPECT_THAT(rank.told(), ElementsAre(Wait{{2}, {4}}));
}

TEST(WaitLearner, TakesWaitsBetweenWhichNothingGoesOutForOne) {
  Learner rank;
  for (int i = 0; i < 8; ++i) rank.step({kPost, sends(4), receives(i % 2 ? 2 : 3), receives(i % 2 ? 3 : 2)});
  EXPECT_THAT(rank.told(), ElementsAre(Wait{{2, 3}, {4}}));
  rank.steps(8, {kPost, receives(2), kPost, receives(3)});
  EXPECT_THAT(rank.told(), ElementsAre(Wait{{2}, {}}, Wait{{3}, {}}));
}

TEST(WaitLearner, SaysAWaitThatComesTwiceInAStepTwice) {
  Learner rank;
  const Acts exchange = {kPost, sends(4), receives(2)}, collective = {{Act::kMeet}};
  Acts step;
  for (const Acts& part : {exchange, collective, exchange, collective})
    step.insert(step.end(), part.begin(), part.end());
  rank.steps(8, step);
  EXPECT_THAT(rank.told(), ElementsAre(Wait{{2}, {4}}, Wait{{}, {}, kCollective}, Wait{{2}, {4}}));
}

/// In whatever order it ends, and however many there are of a group.
TEST(WaitLearner, SaysACollectiveThatWasStartedBehindWhatElseIsWaitedFor) {
  const unsigned seed = any_seed();
  std::mt19937 random(seed);
  Learner rank;
  for (int i = 0; i < 100; ++i) {
    Acts step = {{Act::kStart, {}, 6}, {Act::kStart}, {Act::kStart, {}, 6}, kPost, sends(4)};
    Acts ends = {receives(2), receives(3), {Act::kFinish, {}, 6}, {Act::kFinish}, {Act::kFinish, {}, 6}};
    std::ranges::shuffle(ends, random);
    step.insert(step.end(), ends.begin(), ends.end());
    rank.step(step);
    if (i < 7) continue;
    ASSERT_THAT(rank.told(),
                ElementsAre(Wait{{2, 3}, {4}}, Wait{{0, 1, 2, 3, 4, 5}, {}, kCollective}, Wait{{}, {}, kCollective}))
        << "seed " << seed;
  }
}

TEST(WaitLearner, SaysACollectiveThatWasStartedInTheStepBefore) {
  Learner rank;
  rank.step({{Act::kStart}});
  rank.steps(8, {{Act::kFinish}, kPost, sends(4), receives(2), {Act::kStart}});
  EXPECT_THAT(rank.told(), ElementsAre(Wait{{}, {}, kCollective}, Wait{{2}, {4}}));
}

TEST(WaitLearner, SaysNothingOfAStepWithMoreGroupsThanItTakes) {
  Learner rank;
  Acts step;
  for (Rank group = 1; group < 11; ++group) step.push_back({Act::kStart, {}, group});
  for (Rank group = 1; group < 11; ++group) step.push_back({Act::kFinish, {}, group});
  rank.steps(20, step);
  EXPECT_FALSE(rank.is_said());
}

TEST(WaitLearner, SaysAWaitNoMoreThanEightTimes) {
  Learner rank;
  for (int i = 0; i < 20; ++i) {
    Acts step;
    for (int k = 0; k < 8 + i % 7; ++k) step.insert(step.end(), {kPost, receives(2)});
    rank.step(step);
  }
  EXPECT_THAT(rank.told(), testing::SizeIs(8));
}

TEST(WaitLearner, KnowsAStepOfWhichNotAllWaitsAreSaid) {
  Learner rank;
  Acts acts;
  for (int i = 0; i < StepHabit::kMostTimes; ++i) acts.insert(acts.end(), {kPost, receives(2)});
  rank.step(acts);
  EXPECT_FALSE(rank.has_long_steps());
  acts.insert(acts.end(), {kPost, receives(2)});
  rank.step(acts);
  EXPECT_TRUE(rank.has_long_steps());
  rank.steps(15, {kPost, receives(2)});
  EXPECT_TRUE(rank.has_long_steps());
  rank.step({kPost, receives(2)});
  EXPECT_FALSE(rank.has_long_steps());
}

TEST(WaitLearner, KnowsAStepWithManyWaitsForOthersEachTime) {
  Learner rank;
  Acts acts;
  for (Rank from = 0; from < 15; ++from) acts.insert(acts.end(), {kPost, receives(from)});
  rank.step(acts);
  EXPECT_FALSE(rank.has_long_steps());
  acts.insert(acts.end(), {kPost, receives(15)});
  rank.step(acts);
  EXPECT_TRUE(rank.has_long_steps());
}

/// Its waits for all are one.
TEST(WaitLearner, TakesAStepWithManyCollectivesForNoLongOne) {
  Learner rank;
  rank.step(Acts(40, Act{Act::kMeet}));
  EXPECT_FALSE(rank.has_long_steps());
}

TEST(WaitLearner, LeavesOutSendsThatDoNotWaitBesideThoseThatDo) {
  Learner rank;
  rank.steps(8, {kPost, sends(4), kPost, sends_and_waits(5), receives(2)});
  EXPECT_THAT(rank.told(), ElementsAre(Wait{{2}, {5}, kRendezvous}));
}

TEST(WaitLearner, SaysNothingOfStepsThatAreNotKnown) {
  Learner rank;
  for (int i = 0; i < 100; ++i) {
    rank.learner().wait_unknown();
    rank.step({receives(2)});
    ASSERT_FALSE(rank.is_said() || rank.is_withdrawn());
  }
}

/// Whether the send waits or not, the rank waits for that one.
TEST(WaitLearner, SaysAWaitWhoseSendsMayWaitForThoseItReceivesFrom) {
  constexpr std::uint32_t kPerhaps = kRendezvous | kUncertain;
  Learner rank;
  rank.steps(8, {kPost, sends_and_may_wait(4), receives(4), kPost, sends_and_may_wait(2), receives(3), receives(2)});
  EXPECT_THAT(rank.told(), ElementsAre(Wait{{4}, {4}, kPerhaps}, Wait{{2, 3}, {2}, kPerhaps}));
}

/// Whether it waits for them is left to whoever sees the times of both.
TEST(WaitLearner, SaysThatAStepMayWaitForOthersThanItReceivesFrom) {
  for (const Acts& acts : {Acts{kPost, sends_and_may_wait(4), receives(2)},
                           {kPost, sends_and_may_wait(4)},
                           {kPost, sends_and_may_wait(4), kPost, receives(4)},
                           {kPost, sends_and_may_wait(4), sends_and_waits(5), sends(6), receives(2), receives(4)},
                           {kPost, sends_and_may_wait(4), {Act::kMeet}},
                           {kPost, sends_and_may_wait(4), {Act::kMeet, {}, 6}}}) {
    Learner rank;
    rank.steps(20, acts);
    EXPECT_EQ(rank.told(), waits_of(acts));
    rank.steps(8, {kPost, sends_and_may_wait(4), receives(4)});
    EXPECT_THAT(rank.told(), ElementsAre(Wait{{4}, {4}, kRendezvous | kUncertain}));
  }
  Learner rank;
  rank.steps(8, {kPost, sends_and_may_wait(4), sends_and_waits(5), sends(6), receives(2)});
  EXPECT_THAT(rank.told(), ElementsAre(Wait{{2}, {4, 5}, kUncertain}));
}

TEST(WaitLearner, LeavesWhatItSaidWhereAStepIsAnotherNowAndThen) {
  Learner rank;
  for (int i = 0; i < 1000; ++i) {
    rank.step(i % 100 == 99 ? Acts{receives(7)} : Acts{receives(2)});
    if (i >= 8) {
      ASSERT_THAT(rank.told(), ElementsAre(Wait{{2}, {}})) << i;
    }
  }
}

TEST(WaitLearner, TakesBackWhatNoLongerHolds) {
  Learner rank;
  rank.steps(100, {receives(2)});
  for (int i = 0; i < 16; ++i) rank.step({receives(100 + i)});
  EXPECT_TRUE(rank.is_said());
  for (int i = 0; i < 16; ++i) rank.step({receives(200 + i)});
  EXPECT_FALSE(rank.is_said());
  EXPECT_TRUE(rank.is_withdrawn());
  rank.steps(8, {receives(2)});
  EXPECT_THAT(rank.told(), ElementsAre(Wait{{2}, {}}));
}

TEST(WaitLearner, LearnsAnewWhereStepsAreCountedAnew) {
  Learner rank;
  rank.steps(20, {receives(2)});
  rank.count_anew();
  rank.steps(7, {receives(3)});
  EXPECT_FALSE(rank.is_said());
  rank.step({receives(3)});
  EXPECT_THAT(rank.told(), ElementsAre(Wait{{3}, {}}));
}

TEST(WaitLearner, SaysNothingOfMorePartnersThanABookHolds) {
  Learner rank;
  Acts many;
  for (Rank other = 0; other <= Rank(shm::kPatternRanks); ++other) many.push_back(receives(other));
  rank.steps(20, many);
  EXPECT_FALSE(rank.is_said());
  many.pop_back();
  rank.steps(20, many);
  EXPECT_EQ(rank.told().at(0).from.size(), shm::kPatternRanks);
  rank.steps(20, {receives(5000)});  // The book is full.
  EXPECT_TRUE(rank.is_withdrawn());
  rank.steps(20, many);
  EXPECT_EQ(rank.told().at(0).from.size(), shm::kPatternRanks);
}

TEST(WaitLearner, SaysNothingOfPartnersThatAreOthersEachTime) {
  Learner rank;
  for (Rank i = 0; i < 10000; ++i) {
    rank.step({receives(i), kPost, receives(i + 1)});
    ASSERT_FALSE(rank.is_said());
  }
  rank.steps(8, {receives(2)});
  EXPECT_THAT(rank.told(), ElementsAre(Wait{{2}, {}}));
}

TEST(WaitLearner, SaysEveryStepOfARandomProgramAsItIs) {
  const unsigned seed = any_seed();
  SCOPED_TRACE("IDLEWAVE_TEST_SEED=" + std::to_string(seed));
  std::mt19937 dice(seed);
  const auto below = [&](int limit) { return Rank(dice() % unsigned(limit)); };
  const auto any_act = [&]() -> Act {
    switch (below(8)) {
      case 0: return kPost;
      case 1: return sends(below(9));
      case 2: return below(2) ? sends_and_waits(below(9)) : sends_and_may_wait(below(9));
      case 3: return {Act::kMeet, {}, below(3) ? 0 : 2 + below(3)};
      default: return receives(below(9));
    }
  };
  for (int program = 0; program < 100; ++program) {
    Learner rank;
    for (int part = 0; part < 3; ++part) {
      std::vector<Acts> cycle(std::size_t(1 + below(part == 1 ? 20 : 4)));
      for (Acts& acts : cycle) {
        acts.resize(std::size_t(below(8)));
        std::ranges::generate(acts, any_act);
      }
      const auto settled = std::max<std::int64_t>(8, 2 * std::ssize(cycle)) + rank.next();
      for (const auto end = rank.next() + 4 * std::ssize(cycle) + 20; rank.next() < end;) {
        const Acts& acts = cycle[std::size_t(rank.next()) % cycle.size()];
        const bool is_known = rank.next() + 1 >= settled;
        rank.step(acts);
        if (!is_known) continue;
        ASSERT_EQ(rank.told(), waits_of(acts))
            << "program " << program << ", part " << part << ", step " << rank.next();
        ASSERT_TRUE(rank.is_said() || waits_of(acts).empty());
      }
    }
  }
}

TEST(WaitLearner, SaysTheSameWhereTheOrderOfMessagesAndTheirNumberIsAnother) {
  const unsigned seed = any_seed();
  SCOPED_TRACE("IDLEWAVE_TEST_SEED=" + std::to_string(seed));
  std::mt19937 dice(seed);
  Learner rank;
  for (int i = 0; i < 200; ++i) {
    Acts acts;
    for (Rank other = 0; other < 6; ++other)
      for (unsigned message = 0; message <= dice() % 3; ++message) acts.push_back(receives(other));
    std::ranges::shuffle(acts, dice);
    rank.step(acts);
    if (i >= 7) {
      ASSERT_THAT(rank.told(), ElementsAre(Wait{{0, 1, 2, 3, 4, 5}, {}}));
    }
  }
}

TEST(RequestTable, KnowsWhatAMapKnows) {
  const unsigned seed = any_seed();
  SCOPED_TRACE("IDLEWAVE_TEST_SEED=" + std::to_string(seed));
  std::mt19937 dice(seed);
  const auto table = std::make_unique<RequestTable>();
  std::map<std::uint64_t, Rank> all;
  for (int i = 0; i < 200000; ++i) {
    // Few bits differ, as in addresses, and for a while there are too many.
    const std::uint64_t handle = 0x7f0000000000 + 64 * (dice() % (i % 60000 < 30000 ? 5000 : 20000));
    const auto known = all.find(handle);
    RequestTable::Request* const found = table->find(handle);
    ASSERT_EQ(found != nullptr, known != all.end()) << i;
    if (found != nullptr) {
      ASSERT_EQ(found->partner.rank, known->second);
    }
    if (dice() % 2) {
      const bool has_room = known != all.end() || all.size() < RequestTable::kMost;
      RequestTable::Request* const place = table->put(handle);
      ASSERT_EQ(place != nullptr, has_room);
      if (has_room) place->partner.rank = all[handle] = i;
    } else if (found != nullptr) {
      table->erase(found);
      all.erase(handle);
    }
    ASSERT_EQ(table->size(), all.size());
  }
}

TEST(EagerLimits, AreWhereSendsBeginToWait) {
  const auto limits = std::make_unique<EagerLimits>();
  const auto post = [&](Rank to, std::uint64_t bytes, bool complete) {
    const bool looked = limits->wants_to_see(to, bytes);
    if (looked) limits->saw(to, bytes, complete);
    return looked;
  };
  EXPECT_EQ(limits->of(1, 0), Protocol::kEager);
  EXPECT_EQ(limits->of(1, 256), Protocol::kEager);
  EXPECT_EQ(limits->of(1, 257), Protocol::kUnknown);
  EXPECT_EQ(limits->of(1, (4 << 20) - 1), Protocol::kUnknown);
  EXPECT_EQ(limits->of(1, 4 << 20), Protocol::kRendezvous);
  int looks = 0;
  for (int i = 0; i < 1000; ++i) looks += post(1, 8000, true) + post(1, 100000, false) + post(1, 100, true);
  EXPECT_EQ(limits->of(1, 8000), Protocol::kEager);
  EXPECT_EQ(limits->of(1, 100000), Protocol::kRendezvous);
  EXPECT_EQ(limits->of(2, 8000), Protocol::kUnknown);
  EXPECT_EQ(limits->of(1, 20000), Protocol::kUnknown);
  EXPECT_LT(looks, 2 * 16);
  EXPECT_FALSE(post(1, 4 << 20, false));
  EXPECT_TRUE(post(257, 8000, false));  // In the place of rank 1.
  EXPECT_EQ(limits->of(1, 8000), Protocol::kUnknown);
}

/// Of which the library's short way for small ones is not taken.
TEST(EagerLimits, OfSmallPersistentSendsAreLearntLikeThoseOfLargeOnes) {
  const auto limits = std::make_unique<EagerLimits>();
  for (const wire::Rank peer : {3, 4}) {
    for (int send = 0; send < 8; ++send) {
      EXPECT_EQ(limits->of(peer, 4, true), Protocol::kUnknown);
      ASSERT_TRUE(limits->wants_to_see(peer, 4, true));
      limits->saw(peer, 4, peer == 4);
    }
    EXPECT_FALSE(limits->wants_to_see(peer, 4)) << "nobody asks for others";
    EXPECT_EQ(limits->of(peer, 4), Protocol::kEager);
  }
  EXPECT_EQ(limits->of(3, 4, true), Protocol::kRendezvous);
  EXPECT_EQ(limits->of(4, 256, true), Protocol::kEager);
}

TEST(EagerLimits, TakeASendThatIsLateNowAndThenForEager) {
  const auto limits = std::make_unique<EagerLimits>();
  for (int i = 0; i < 9; ++i) limits->saw(3, 1000, i != 4);
  EXPECT_EQ(limits->of(3, 1000), Protocol::kEager);
  for (int i = 0; i < 9; ++i) limits->saw(4, 1000, i % 3 != 0);
  EXPECT_EQ(limits->of(4, 1000), Protocol::kRendezvous);
}

}  // namespace
}  // namespace idlewave::mpi::habits
