// A noise trace that a rank plays: the holds that it tells, against the work that it tells.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <random>
#include <thread>
#include <utility>
#include <vector>

#include "probe/client/gate_keeper.h"
#include "probe/shm/run.h"
#include "tests/any_seed.h"
#include "tests/probe/stepping_rank.h"

namespace idlewave::client {
namespace {

using test::describe;
using testing::IsEmpty;
using wire::EventKind;
using wire::Nanoseconds;
using wire::Phase;

constexpr auto kTrace = static_cast<std::uint32_t>(wire::NoiseKind::kTrace);

struct Trace {
  std::vector<shm::TraceRoom::Detour> detours;
  std::int64_t length() const { return detours.back().start_ns + detours.back().duration_ns; }
  std::int64_t busy() const {
    std::int64_t sum = 0;
    for (const auto& detour : detours) sum += detour.duration_ns;
    return sum;
  }
};

/// Puts the trace at `first` of the rank's room, and gives the order, as an agent does.
shm::Noise play(const SteppingRank& rank, const Trace& trace, wire::CommandId id, std::uint32_t first = 0) {
  for (std::uint32_t i = 0; i < trace.detours.size(); ++i) shm::put_detour(rank.traces(), first + i, trace.detours[i]);
  const shm::PlayedTrace played{first, std::uint32_t(trace.detours.size()), trace.length(), trace.busy(), rank.now()};
  const shm::Noise noise{1, id, kTrace, 1, 0, 17 * id, played};
  shm::set_noise(rank.slot(), noise);
  return noise;
}

void spend(std::int64_t ns) {
  const Nanoseconds end = shm::monotonic_now() + Nanoseconds(ns);
  while (shm::monotonic_now() < end) {
  }
}

/// It leaves a rank some time for its work, as every trace does that an agent lets be played.
Trace random_trace(std::mt19937_64& random) {
  Trace trace;
  std::int64_t start = 0;
  for (auto i = 3 + random() % 20; i > 0; --i) {
    start += std::int64_t(random() % 150'000);
    trace.detours.push_back({start, std::int64_t(random() % 40'000)});
  }
  trace.detours.push_back({std::max(start, trace.busy()) + trace.busy() / 3 + 1000, 0});
  return trace;
}

/// What detours take that begin within [begin, end) and in the time that they take themselves, but not before `from`.
std::int64_t idle_of(const Trace& trace, std::int64_t start, std::int64_t begin, std::int64_t end, std::int64_t& from) {
  begin = std::max(begin, from);
  std::int64_t idle = 0;
  for (std::int64_t round = start - trace.length(); begin < end && round < end + idle; round += trace.length())
    for (const auto& detour : trace.detours)
      if (round + detour.start_ns >= begin && round + detour.start_ns < end + idle) idle += detour.duration_ns;
  if (begin < end) from = end + idle;
  return idle;
}

/// A hold that was told, and what had come due in the work that was told since the one before it.
struct Held {
  std::int64_t due = 0;
  std::int64_t took = 0;
};

/// Of what a rank told from the order on.
std::vector<Held> holds(const std::vector<Event>& told, const Trace& trace, const shm::Noise& noise, wire::Rank rank) {
  const double offset = Random(Random(noise.seed).next() ^ std::uint64_t(rank)).unit();
  const std::int64_t start = noise.trace.began_ns - std::int64_t(offset * double(trace.length()));
  std::vector<Held> out;
  std::int64_t due = 0, from = noise.trace.began_ns;
  for (std::size_t i = 0; i < told.size(); ++i) {
    if (i > 0 && told[i - 1].phase == Phase::kCompute)
      due += idle_of(trace, start, told[i - 1].time.count(), told[i].time.count(), from);
    if (told[i].kind == EventKind::kDelayBegin) out.push_back({std::exchange(due, 0), told[i].time.count()});
    if (told[i].kind == EventKind::kDelayEnd) out.back().took = told[i].time.count() - out.back().took;
  }
  return out;
}

/// Work, and waiting that is none; without steps, so that each piece of work is held up for the one before.
TEST(TraceNoise, HoldsARankForTheDetoursThatBeginInItsWork) {
  for (unsigned seed = any_seed(), end = seed + 20; seed != end; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    std::mt19937_64 random(seed);
    SteppingRank rank(wire::Rank(random() % 100));
    const Trace trace = random_trace(random);
    const shm::Noise noise = play(rank, trace, 9, std::uint32_t(random() % 1000));
    std::size_t held = 0, pieces = 0;
    for (; pieces < 60; ++pieces) {
      rank.begin_work();
      spend(std::int64_t(random() % 60'000));
      rank.wait();
      spend(std::int64_t(random() % 60'000));
    }
    rank.begin_work();
    for (const Held& each : holds(rank.told(), trace, noise, rank.slot().rank)) {
      EXPECT_GT(each.due, 0) << "hold " << held << " has no cause";
      EXPECT_GE(each.took, each.due) << "hold " << held;
      ++held;
    }
    EXPECT_GT(held, 0u);
  }
}

/// No work is passed over: what comes due is held for before the next.
TEST(TraceNoise, HoldsARankForAllOfThem) {
  for (unsigned seed = any_seed(), end = seed + 20; seed != end; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    std::mt19937_64 random(seed);
    SteppingRank rank;
    const Trace trace = random_trace(random);
    const shm::Noise noise = play(rank, trace, 9);
    const double offset = Random(Random(noise.seed).next()).unit();
    const std::int64_t start = noise.trace.began_ns - std::int64_t(offset * double(trace.length()));
    std::int64_t from = noise.trace.began_ns, due = 0;
    rank.begin_work();
    std::vector<Event> last = rank.told();
    for (int piece = 0; piece < 60; ++piece) {
      spend(std::int64_t(random() % 60'000));
      rank.wait();
      const Nanoseconds began = last.back().time;
      last = rank.told();
      due = idle_of(trace, start, began.count(), last.back().time.count(), from);
      rank.begin_work();
      last = rank.told();
      ASSERT_EQ(last.size(), due > 0 ? 3u : 1u) << "piece " << piece << ": " << due << " ns were due";
    }
  }
}

TEST(TraceNoise, CountsAllWorkOfAStepBeforeTheNext) {
  for (unsigned seed = any_seed(), end = seed + 20; seed != end; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    std::mt19937_64 random(seed);
    SteppingRank rank;
    const Trace trace = random_trace(random);
    const shm::Noise noise = play(rank, trace, 9);
    for (wire::Step step = 0; step < 20; ++step) {
      rank.tell_step(step);
      rank.begin_step(step);
      for (int piece = 0; piece < 3; ++piece) {
        rank.begin_work_in_step();
        spend(std::int64_t(random() % 40'000));
        rank.wait();
      }
    }
    rank.begin_step(20);
    const std::vector<Held> held = holds(rank.told(), trace, noise, 0);
    EXPECT_FALSE(held.empty());
    for (const Held& each : held) {
      EXPECT_GT(each.due, 0);
      EXPECT_GE(each.took, each.due);
    }
  }
}

TEST(TraceNoise, LeavesARankThatOnlyWaitsAlone) {
  SteppingRank rank;
  rank.begin_work();
  rank.wait();
  rank.told();
  play(rank, {{{0, 90'000}, {100'000, 0}}}, 9);
  for (int i = 0; i < 50; ++i) {
    rank.begin_step(wire::kNoStep);
    spend(20'000);
  }
  EXPECT_THAT(rank.told(), IsEmpty());
  EXPECT_TRUE(rank.is_called());
}

/// Phases that are told as sums are work all the same. A trace that takes half of the time, evenly.
TEST(TraceNoise, KnowsWorkThatIsToldInSums) {
  SteppingRank rank;
  play(rank, {{{0, 1000}, {2000, 0}}}, 9);
  std::int64_t worked = 0, held = 0;
  std::vector<Event> told;
  const auto keep = [&] {
    for (const Event& event : rank.told()) told.push_back(event);
  };
  for (int i = 0; i < 200'000; ++i) {
    rank.begin_work();
    rank.wait();
    if (i % 100 == 0) keep();
  }
  keep();
  bool has_sums = false;
  for (std::size_t i = 1; i < told.size(); ++i) {
    has_sums = has_sums || told[i].kind == shm::kRunTime;
    if (told[i].kind == shm::kRunTime && told[i].phase == Phase::kCompute) worked += std::int64_t(told[i].value);
    if (told[i].kind == EventKind::kDelayEnd) held += (told[i].time - told[i - 1].time).count();
  }
  EXPECT_TRUE(has_sums);
  EXPECT_GE(held, worked / 2) << "twice as much work as in the sums alone would be held up for so long";
}

TEST(TraceNoise, EndsWhenItIsCleared) {
  SteppingRank rank;
  play(rank, {{{0, 90'000}, {100'000, 0}}}, 9);
  rank.begin_work();
  spend(200'000);
  rank.wait();
  rank.begin_work();
  EXPECT_FALSE(hold_lengths(rank.told()).empty());
  spend(200'000);
  rank.wait();
  shm::set_noise(rank.slot(), {});
  rank.begin_work();
  EXPECT_EQ(describe(rank.told()), (std::vector<std::string>{"switch wait", "switch compute"}))
      << "what was due is not";
  EXPECT_FALSE(rank.is_called());
}

/// A trace that leaves a thousandth: ten milliseconds of work are held up for ten seconds.
TEST(TraceNoise, LetsGoOfARankThatIsHeldWhenItIsCleared) {
  SteppingRank rank;
  play(rank, {{{0, 1'998'000}, {2'000'000, 0}}}, 9);
  rank.begin_work();
  spend(10'000'000);
  rank.wait();
  rank.told();
  {
    const std::uint64_t told = rank.slot().head.load();
    const HeldRank held(rank);
    while (rank.slot().head.load() == told) std::this_thread::yield();
    shm::set_noise(rank.slot(), {});
  }
  EXPECT_EQ(describe(rank.told()), (std::vector<std::string>{"delay_begin 9 noise", "delay_end 9 wait"}));
  rank.begin_step(1);
  EXPECT_FALSE(rank.is_called());
}

TEST(TraceNoise, StaysWithinWhatOrdersMayHoldARankAltogether) {
  SteppingRank rank;
  rank.slot().held_ns.store(kHour - 50'000);
  play(rank, {{{0, 90'000}, {100'000, 0}}}, 9);
  while (rank.is_called()) {
    rank.begin_work();
    spend(300'000);
    rank.wait();
  }
  EXPECT_GE(rank.slot().held_ns.load(), kHour);
}

TEST(TraceNoise, GoesOnWhereARankHasToldMoreThanItsRingHolds) {
  SteppingRank rank;
  play(rank, {{{0, 900}, {1000, 0}}}, 9);
  for (int i = 0; i < (1 << 15); ++i) {
    rank.switch_to(Phase::kCompute);
    rank.switch_to(Phase::kWait);
    rank.told();
  }
  rank.begin_step(0);
  EXPECT_TRUE(rank.is_called());
}

/// As an agent puts one trace where another was: between the two the rank's order is replaced. A rank that has read from both
/// knows, and takes neither.
TEST(TraceRoom, IsNotTakenForAnotherTrace) {
  const SteppingRank rank;
  shm::Slot& slot = rank.slot();
  std::atomic<bool> done{false};
  std::thread agent([&] {
    for (std::uint32_t i = 1; i < 50'000; ++i) {
      shm::set_noise(slot, {});
      for (std::uint32_t place = 0; place < 4; ++place) shm::put_detour(rank.traces(), place, {i, i});
      shm::set_noise(slot, {1, i, kTrace, i, 0, i, {0, 4, i, i, i}});
    }
    done.store(true);
  });
  std::uint32_t generation = 0;
  shm::Noise noise;
  while (!done.load()) {
    if (!shm::read_noise(slot, generation, noise) || !noise.enabled) continue;
    ASSERT_EQ(noise.trace.length_ns, noise.command);
    ASSERT_EQ(noise.trace.began_ns, noise.command);
    shm::TraceRoom::Detour read[4];
    for (std::uint32_t place = 0; place < 4; ++place) read[place] = shm::detour_at(rank.traces(), place);
    if (shm::is_replaced(slot, generation)) continue;
    for (const auto& detour : read) {
      ASSERT_EQ(detour.start_ns, noise.command);
      ASSERT_EQ(detour.duration_ns, noise.command);
    }
  }
  agent.join();
}

}  // namespace
}  // namespace idlewave::client
