// How the ranks of a node share its cores.

#include "workloads/sim/sweep/cores.h"

#include <gmock/gmock.h>

namespace idlewave::sim::sweep {
namespace {

using testing::ElementsAre;

cpu_set_t cores(int first, int last) {
  cpu_set_t set;
  CPU_ZERO(&set);
  for (int core = first; core <= last; ++core) CPU_SET(core, &set);
  return set;
}

std::vector<int> shares(std::vector<cpu_set_t> usable) { return share_cores(usable); }

TEST(SharedCores, AreAllOfAProcessThatIsAlone) { EXPECT_THAT(shares({cores(0, 15)}), ElementsAre(16)); }

TEST(SharedCores, AreThoseToWhichAProcessIsBound) {
  EXPECT_THAT(shares({cores(0, 3), cores(4, 9)}), ElementsAre(4, 6));
}

TEST(SharedCores, AreDividedAmongProcessesThatAreNotBoundWithoutARest) {
  EXPECT_THAT(shares({cores(0, 7), cores(0, 7), cores(0, 7)}), ElementsAre(3, 3, 2));
}

TEST(SharedCores, LeaveAProcessThatMayUseFewItsOwn) {
  EXPECT_THAT(shares({cores(0, 0), cores(0, 3)}), ElementsAre(1, 3));
}

TEST(SharedCores, AreOneForEachOfTooManyProcesses) {
  EXPECT_THAT(shares({cores(0, 1), cores(0, 1), cores(0, 1)}), ElementsAre(1, 1, 1));
}

TEST(UsableCores, AreAtLeastOne) {
  const cpu_set_t usable = usable_cores();
  EXPECT_GE(CPU_COUNT(&usable), 1);
}

}  // namespace
}  // namespace idlewave::sim::sweep
