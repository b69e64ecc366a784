// The stencil against its closed form, in parts and as a whole; ratios from figures.

#include "workloads/hybrid/slab.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <random>

#include "tests/any_seed.h"
#include "workloads/hybrid/figures.h"

namespace idlewave::hybrid {
namespace {

std::size_t plane_points(Slab& slab) { return std::size_t(slab.plane(1) - slab.plane(0)); }

TEST(Slab, BecomesWhatItMustInAnyNumberOfParts) {
  std::mt19937 random(any_seed());
  const auto whole = [&](int from, int to) { return std::uniform_int_distribution<>{from, to}(random); };
  for (int round = 0; round < 20; ++round) {
    const Box box{{whole(2, 12), whole(2, 9), whole(2, 9)}};
    const int parts = whole(1, box.size[0]);
    std::vector<Slab> slabs;
    for (int part = 0; part < parts; ++part) {
      const int first = box.size[0] * part / parts;
      slabs.emplace_back(box, first, box.size[0] * (part + 1) / parts - first);
    }
    for (int step = 0; step < 10; ++step) {
      for (std::size_t part = 1; part < slabs.size(); ++part) {
        Slab& below = slabs[part - 1];
        Slab& above = slabs[part];
        std::copy_n(above.plane(0), plane_points(above), below.plane(below.planes()));
        std::copy_n(below.plane(below.planes() - 1), plane_points(below), above.plane(-1));
      }
      for (Slab& slab : slabs) {
        const int middle = slab.lines() / 2;
        slab.update({middle, slab.lines()});
        slab.update({0, middle});
        slab.go_on();
      }
    }
    for (const Slab& slab : slabs) EXPECT_LT(slab.error(), 1e-12);
  }
}

TEST(Slab, IsWrongWithoutThePlaneOfItsNeighbour) {
  Slab slab({{4, 3, 3}}, 0, 2);
  slab.update({0, slab.lines()});
  slab.go_on();
  EXPECT_GT(slab.error(), 1);
}

TEST(Slab, IsWrongWithThatOfTheStepBefore) {
  const Box box{{4, 3, 3}};
  Slab slab(box, 0, 2), above(box, 2, 2);
  const std::size_t points = plane_points(slab);
  for (int step = 0; step < 2; ++step) {
    if (step == 0) std::copy_n(above.plane(0), points, slab.plane(2));
    const std::vector<double> stale(slab.plane(2), slab.plane(2) + points);
    slab.update({0, slab.lines()});
    slab.go_on();
    std::ranges::copy(stale, slab.plane(2));
    EXPECT_EQ(slab.error() > 0.1, step == 1);
  }
}

TEST(Slab, IsWrongWhereALineWasLeftOut) {
  Slab slab({{4, 3, 3}}, 0, 4);
  slab.update({1, slab.lines()});
  slab.go_on();
  EXPECT_GT(slab.error(), 0.01);
}

hybrid::Run run_of(const Way& way, double step, double communication) {
  return {way,
          {{step, communication, step - communication, 0, 0.8}, {step, communication, step - communication, 0, 0.8}}};
}

TEST(Ratio, IsThatOfTheTimesBesideTheory) {
  const std::vector<hybrid::Run> runs{run_of({Mode::kMasteronly, 0}, 10, 4), run_of({Mode::kFunneled, 1}, 8, 4),
                                      run_of({Mode::kMultiple, 3}, 8, 2)};
  EXPECT_FALSE(ratio_of(runs[0], runs, 8));
  EXPECT_FALSE(ratio_of(runs[1], {runs[1]}, 8));
  const auto ratio = ratio_of(runs[1], runs, 8);
  ASSERT_TRUE(ratio);
  EXPECT_DOUBLE_EQ(ratio->measured, 1.25);
  EXPECT_DOUBLE_EQ(ratio->theory, 1 / (1 - 0.4 - 0.48 + std::max(0.4, 0.48 * 8 / 7)));
  EXPECT_DOUBLE_EQ(ratio_of(runs[2], runs, 8)->theory, 1 / (1 - 0.4 - 0.48 + std::max(0.4 / 3, 0.48 * 8 / 5)));
}

}  // namespace
}  // namespace idlewave::hybrid
