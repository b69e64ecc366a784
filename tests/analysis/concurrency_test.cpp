// Contention taken off again: on whatever curve ranks shared their bandwidth, alone each would have moved its volume at
// b(1). The simulator knows volume and curve, and tells the times.

#include "monitor/analysis/domains/concurrency.h"

#include <gmock/gmock.h>

#include "monitor/analysis/domains/contention.h"
#include "monitor/analysis/domains/sharing.h"
#include "tests/analysis/simulated_session.h"
#include "tests/any_seed.h"

namespace idlewave::analysis {
namespace {

using support::Scenario;
using test::RandomQuietScenarios;
using test::SimulatedSession;

/// Rises, by less and less or by jumps, and may fall behind its largest; nowhere near min(n b(1), b_sat).
std::vector<double> random_curve(RandomQuietScenarios& random, Rank ranks) {
  std::vector<double> curve{10e9};
  for (Rank active = 2; active <= ranks; ++active) curve.push_back(curve.back() + random.real(-1e9, 6e9));
  return curve;
}

/// One rank is held, so that its domain goes through all numbers of active ranks. Without noise: of a step that is held by a
/// delay and by noise it is not told when between them its work was.
Scenario random_program(RandomQuietScenarios& random) {
  Scenario scenario = random.next(0, 1);
  scenario.program.kernel = support::Kernel::kMemory;
  scenario.program.steps = 60;
  scenario.machine.curve = random_curve(random, scenario.machine.ranks_per_domain);
  scenario.machine.core_bandwidth = scenario.machine.domain_bandwidth = 0;
  const double alone = double(scenario.program.volume) / scenario.machine.curve.front();
  scenario.delays = {{random.whole(0, scenario.machine.ranks - 1), 8, Nanoseconds(std::int64_t(alone * 20e9))}};
  return scenario;
}

/// Of steps that ended before any rank came to its last one.
template <class Visit>
void for_each_course(const timeline::Timeline& timeline, Visit visit) {
  Nanoseconds until = Nanoseconds::max();
  for (Rank rank = 0; rank < timeline.ranks(); ++rank)
    until = std::min(until, timeline.lane(rank)->steps().back().begin);
  for (Rank rank = 0; rank < timeline.ranks(); ++rank)
    for (const timeline::StepRecord& record : timeline.lane(rank)->steps())
      if (const steps::StepCourse course = steps::course_of(*timeline.lane(rank), record);
          course.over && course.post < until)
        visit(rank, course);
}

TEST(ConcurrencyTruth, IsThatOfTheCurve) {
  const unsigned seed = any_seed();
  RandomQuietScenarios random(seed);
  int looked = 0;
  for (int i = 0; i < 12 && !HasFailure(); ++i) {
    const Scenario scenario = random_program(random);
    const SimulatedSession session(scenario);
    const timeline::Timeline& timeline = session.timeline();
    const double alone = 1e9 * double(scenario.program.volume) / scenario.machine.curve.front();
    const domains::Contention contention(timeline);
    domains::Sharing sharing(timeline, {Nanoseconds{0}, Nanoseconds::max()});
    for (std::size_t domain = 0; domain < timeline.domains().size(); ++domain) sharing.look_at(domain);
    for_each_course(timeline, [&](Rank rank, const steps::StepCourse& course) {
      // Each moment was rounded to a nanosecond.
      const double rounding = 2 + double(scenario.machine.ranks_per_domain);
      EXPECT_NEAR(double((course.work() - sharing.slowed(rank, course.begin)).count()), alone, rounding)
          << "rank " << rank << " at " << course.begin.count() << ", seed " << seed;
      if (!contention.matters_to(rank)) return;
      EXPECT_NEAR(contention.alone(rank, course), alone, rounding)
          << "rank " << rank << " at " << course.begin.count() << ", seed " << seed;
      ++looked;
    });
  }
  EXPECT_GT(looked, 0) << "seed " << seed;
}

}  // namespace
}  // namespace idlewave::analysis
