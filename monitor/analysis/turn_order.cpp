#include "monitor/analysis/turn_order.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "monitor/analysis/step_parts.h"

namespace idlewave::analysis {
namespace {

using timeline::Category;
using timeline::Lane;
using timeline::Timeline;
using wire::Nanoseconds;
using wire::Rank;
using wire::Step;

constexpr std::size_t kStepsAsked = 16, kOfLatest = 128;
constexpr Rank kRanksAsked = 64;
constexpr double kMostBeforeWork = 0.25;

struct Waited {
  Nanoseconds in_all{}, before_work{};
  std::size_t steps = 0, that_wait_first = 0;  ///< Of ranks, however short their calls are.
};

void add(Waited& waited, const Lane& lane, const StepCourse& course, Nanoseconds tolerance) {
  Nanoseconds yet{}, worked{};
  bool waits = false, works_behind = false;
  lane.for_each_phase(course.begin, course.end, [&](Nanoseconds begin, Nanoseconds end, wire::Phase phase) {
    const Nanoseconds length = std::min(end, course.end) - std::max(begin, course.begin);
    const int category = timeline::category_of(phase);
    if (category == int(Category::kWait)) yet += length, waited.in_all += length;
    waits = waits || (phase == wire::Phase::kWait && begin >= course.begin);
    if (category != int(Category::kCompute) && category != int(Category::kDelay)) return void(worked = {});
    worked += length;
    if (worked <= tolerance) return;
    waited.before_work += std::exchange(yet, {});
    works_behind = works_behind || waits;
  });
  ++waited.steps;
  waited.that_wait_first += works_behind;
}

/// The first and the last one are among them: at the ends of a chain ranks do other things.
std::vector<Rank> some_ranks(Rank ranks) {
  std::vector<Rank> some;
  for (Rank i = 0; i < std::min(kRanksAsked, ranks); ++i)
    some.push_back(ranks <= kRanksAsked ? i : Rank(std::int64_t{i} * (ranks - 1) / (kRanksAsked - 1)));
  return some;
}

std::vector<Step> some_steps(const Lane& lane) {
  const auto steps = lane.steps();
  const std::size_t latest = std::min(steps.size(), kOfLatest), each = std::max<std::size_t>(1, latest / kStepsAsked);
  std::vector<Step> some;
  for (std::size_t back = 1; back <= latest; back += each) some.push_back(steps[steps.size() - back].step);
  return some;
}

bool waits_before_work(const Timeline& timeline, const Partners& partners, Nanoseconds tolerance) {
  const Lane* middle = timeline.ranks() > 0 ? timeline.lane(timeline.ranks() / 2) : nullptr;
  if (!middle || partners.source != PartnerSource::kDeclared || !partners.of_ranks || partners.unlike_counts)
    return false;
  const std::vector<Rank> ranks = some_ranks(timeline.ranks());
  for (const Rank rank : ranks)
    if (const Lane* lane = timeline.lane(rank); lane && lane->summed().phases > 0) return false;
  Waited waited;
  std::size_t whole = 0, parted = 0;
  for (const Step step : some_steps(*middle)) {
    if (partners.of_ranks->has_collectives(step)) return false;
    std::vector<RankCourse> courses;
    for (const Rank rank : ranks) {
      const Lane* lane = timeline.lane(rank);
      const auto record = lane ? lane->step(step) : std::nullopt;
      if (!record || record->end == Nanoseconds{0} || record->begin < lane->events_from()) continue;
      courses.push_back({rank, course_of(*lane, *record)});
      add(waited, *lane, courses.back().course, tolerance);
    }
    const bool has_parts = partners.has_several_waits(step) && !parts_of(timeline, courses, tolerance).empty();
    ++(has_parts ? parted : whole);
  }
  const auto is_much = [](double part, double all) { return part > kMostBeforeWork * all; };
  return whole > parted && (is_much(double(waited.before_work.count()), double(waited.in_all.count())) ||
                            is_much(double(waited.that_wait_first), double(waited.steps)));
}

/// How long it works before it first waits.
Nanoseconds worked_first(const Lane& lane, const timeline::StepRecord& record) {
  Nanoseconds worked{};
  bool has_called = false;
  lane.for_each_phase(record.begin, record.end, [&](Nanoseconds begin, Nanoseconds end, wire::Phase phase) {
    const int category = timeline::category_of(phase);
    has_called = has_called || (category == int(Category::kWait) && begin >= record.begin);
    if (!has_called && (category == int(Category::kCompute) || category == int(Category::kDelay)))
      worked += std::min(end, record.end) - std::max(begin, record.begin);
  });
  return worked;
}

bool calls_first(const Lane& lane, Nanoseconds tolerance) {
  const auto steps = lane.steps();
  std::size_t first = 0, asked = 0;
  for (std::size_t back = 1; back <= std::min(steps.size(), kStepsAsked); ++back) {
    const timeline::StepRecord record = steps[steps.size() - back];
    if (record.end == Nanoseconds{0} || record.begin < lane.events_from()) continue;
    ++asked;
    first += worked_first(lane, record) < tolerance;
  }
  return 2 * first > asked;
}

/// In the latest step.
bool some_wait_for_each_other(const Timeline& timeline, const Partners& partners) {
  const Step step = timeline.latest_step();
  bool found = false;
  for (const Rank rank : some_ranks(timeline.ranks()))
    partners.for_each_directly(rank, step, timeline.ranks(), [&](Rank other, Rank, WaitsFor) {
      partners.for_each_directly(other, step, timeline.ranks(),
                                 [&](Rank back, Rank, WaitsFor) { found = found || back == rank; });
    });
  return found;
}

}  // namespace

TurnOrder turn_order(const Timeline& timeline, const Partners& partners, Nanoseconds tolerance) {
  TurnOrder order{.waits_before_work = waits_before_work(timeline, partners, tolerance), .wait_first = nullptr};
  if (!order.waits_before_work || some_wait_for_each_other(timeline, partners)) return order;
  std::vector<bool> ranks;
  for (Rank rank = 0; rank < timeline.ranks(); ++rank) {
    const Lane* lane = timeline.lane(rank);
    ranks.push_back(lane && calls_first(*lane, tolerance));
  }
  order.wait_first = std::make_shared<const std::vector<bool>>(std::move(ranks));
  return order;
}

}  // namespace idlewave::analysis
