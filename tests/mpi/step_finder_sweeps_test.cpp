// Steps of sweeps over a grid of ranks from its corners, as codes of radiation transport make them: hundreds of blocks of
// messages in each, of which every rank has others, until all meet. Which sweep a call belongs to is known as the program is
// made.

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <ostream>
#include <random>
#include <vector>

#include "tests/any_seed.h"
#include "tests/mpi/called_places.h"

namespace idlewave::mpi::habits {
namespace {

/// How a rank hears of the ranks before it in the direction of a sweep, and hands on to those behind.
enum class Handing {
  kOnePlace,   ///< A blocking receive and a nonblocking send in functions of the program's own, for all directions.
  kPlaceEach,  ///< A blocking receive and send for each axis.
  kAtOnce,     ///< From all corners at a time, as messages happen to come.
};
constexpr int kHandings = 3;
constexpr int kSweeps = 40;
constexpr int kKnown = 12;  ///< Sweeps, until the ranks agree.

struct Grid {
  int rows, columns;
};

class Transport {
 public:
  explicit Transport(unsigned seed) : dice_(seed) {
    constexpr Grid kGrids[] = {{2, 2}, {3, 2}, {3, 3}, {4, 3}, {4, 1}, {1, 9}, {12, 1}, {5, 2}};
    handing_ = Handing(up_to(kHandings) - 1);
    grid_ = kGrids[up_to(std::size(kGrids)) - 1];
    for (int octant = 0; octant < 8; ++octant) octants_.push_back(octant);
    std::ranges::shuffle(octants_, dice_);
    // Where a loop was found before, it takes 2048 places to see that there is none any more.
    set_up_ = int(up_to(handing_ == Handing::kAtOnce ? 15 : 20)) - 1;
    // Groups of energies that have converged are left out of later sweeps.
    for (int sweep = 0; sweep < kSweeps; ++sweep)
      blocks_.push_back(int(up_to(sweep < 6 ? 60 : 20)) + (sweep < 6 ? 30 : 4));
  }

  int ranks() const { return grid_.rows * grid_.columns; }
  Calls run(int rank) {
    Calls calls;
    std::mt19937 dice(dice_());
    for (int i = 0; i < set_up_; ++i) calls.push_back(call(kAllreduce, 0x900000, kNoIteration, kEverybody));
    for (int sweep = 0; sweep < kSweeps; ++sweep) {
      if (handing_ == Handing::kAtOnce)
        sweep_at_once(rank, sweep, dice, calls);
      else
        for (const int octant : octants_)
          for (int i = 0; i < blocks_[std::size_t(sweep)]; ++i) block(rank, octant, sweep, calls);
      calls.push_back(call(kAllreduce, kMeeting, sweep, kEverybody));
      if (sweep % 5 == 4) calls.push_back(call(kAllreduce, kOuter, sweep, kEverybody));
    }
    return calls;
  }
  bool is_end(const Called& called) const { return called.site.place == kMeeting; }
  friend std::ostream& operator<<(std::ostream& stream, const Transport& program) {
    return stream << "handing " << int(program.handing_) << ", grid " << program.grid_.rows << " x "
                  << program.grid_.columns << ", set-up " << program.set_up_;
  }

 private:
  static constexpr std::uintptr_t kMeeting = 0x2000000, kOuter = 0x2010000;

  struct Neighbours {
    std::array<int, 2> before, behind;  ///< On each axis; -1: nobody.
  };
  Neighbours neighbours_in(int rank, int octant) const {
    const int row = rank / grid_.columns, column = rank % grid_.columns;
    const auto at = [&](int r, int c) {
      return r < 0 || r >= grid_.rows || c < 0 || c >= grid_.columns ? -1 : r * grid_.columns + c;
    };
    const int down = octant & 1 ? 1 : -1, right = octant & 2 ? 1 : -1;
    return {{at(row - down, column), at(row, column - right)}, {at(row + down, column), at(row, column + right)}};
  }

  void block(int rank, int octant, int sweep, Calls& calls) const {
    const Neighbours with = neighbours_in(rank, octant);
    const bool is_one = handing_ == Handing::kOnePlace;
    const std::uintptr_t each = is_one ? 0 : 0x10000;
    for (std::size_t axis = 0; axis < 2; ++axis)
      if (with.before[axis] >= 0)
        calls.push_back(call(kRecv, 0x400000 + each * axis, sweep, peers_of(-1, with.before[axis])));
    if (is_one && (with.behind[0] >= 0 || with.behind[1] >= 0)) calls.push_back(call(kWaitall, 0x410000, sweep));
    const std::size_t first = calls.size();
    for (std::size_t axis = 0; axis < 2; ++axis)
      if (with.behind[axis] >= 0)
        calls.push_back(call(is_one ? kIsend : kSend, 0x500000 + each * axis, sweep, peers_of(with.behind[axis], -1)));
    if (first < calls.size()) calls[first].work = wire::Nanoseconds{100'000};
  }

  void sweep_at_once(int rank, int sweep, std::mt19937& dice, Calls& calls) const {
    std::array<int, 4> left;
    left.fill(2 * blocks_[std::size_t(sweep)]);
    const auto listen = [&](int corner) {
      for (const int before : neighbours_in(rank, corner).before)
        if (before >= 0) calls.push_back(call(kIrecv, 0x400000, sweep, peers_of(-1, before)));
    };
    for (int corner = 0; corner < 4; ++corner) listen(corner);
    while (std::ranges::any_of(left, [](int blocks) { return blocks > 0; })) {
      const auto corner = std::size_t(dice() % 4);
      if (left[corner] == 0) continue;
      for (int asked = int(dice() % 3); asked > 0; --asked) calls.push_back(call(kWaitsome, 0x410000, sweep));
      for (const int behind : neighbours_in(rank, int(corner)).behind)
        if (behind >= 0) calls.push_back(call(kIsend, 0x500000, sweep, peers_of(behind, -1)));
      if (--left[corner] > 0) listen(int(corner));
    }
  }

  std::size_t up_to(std::size_t most) { return std::uniform_int_distribution<std::size_t>(1, most)(dice_); }

  std::mt19937 dice_;
  Handing handing_{};
  Grid grid_{};
  std::vector<int> octants_, blocks_;
  int set_up_ = 0;
};

/// Which step has begun with the end of each sweep: none, or one that begins there.
std::vector<Step> at_ends(const Transport& program, const Calls& calls) {
  std::vector<Step> found;
  const std::vector<Seen> steps = steps_of(calls);
  auto next = steps.begin();
  for (std::size_t i = 0; i < calls.size(); ++i) {
    Step begun = wire::kNoStep;
    for (; next != steps.end() && next->call <= i; ++next)
      if (next->call == i) begun = next->step;
    if (program.is_end(calls[i])) found.push_back(begun);
  }
  return found;
}

TEST(StepFinder, ASweepFromAllCornersIsAStepOfAllRanks) {
  const unsigned first = any_seed();
  SCOPED_TRACE(testing::Message() << "seed " << first);
  for (unsigned seed = first; seed != first + 30; ++seed) {
    Transport program(seed);
    SCOPED_TRACE(testing::Message() << seed << ": " << program);
    for (int rank = 0; rank < program.ranks(); ++rank) {
      const Calls calls = program.run(rank);
      const std::vector<Step> ends = at_ends(program, calls);
      ASSERT_EQ(ends.size(), std::size_t(kSweeps));
      for (int sweep = kKnown; sweep < kSweeps; ++sweep)
        ASSERT_EQ(ends[std::size_t(sweep)], sweep) << "rank " << rank << ", sweep " << sweep;
      std::size_t behind = calls.size();
      while (!program.is_end(calls[behind - 1]) || calls[behind - 1].iteration >= kKnown) --behind;
      for (const Seen& seen : steps_of(calls)) {
        if (seen.call < behind) continue;
        ASSERT_TRUE(program.is_end(calls[seen.call])) << "rank " << rank;
      }
    }
  }
}

}  // namespace
}  // namespace idlewave::mpi::habits
