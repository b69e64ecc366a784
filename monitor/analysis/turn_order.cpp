#include "monitor/analysis/turn_order.h"

#include <algorithm>
#include <map>
#include <optional>
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
constexpr double kMuch = 0.25;
/// Of many for whom a rank waits.
constexpr std::size_t kPartnersAsked = 64;

class Sample {
 public:
  void add(const Timeline& timeline, const Partners& partners, const RankCourse& its, Step step, Nanoseconds tolerance);

  /// In a quarter of their steps, or of the time that they wait.
  bool ranks_wait_first() const {
    return is_much(double(before_work_.count()), double(in_all_.count())) ||
           is_much(double(that_wait_first_), double(steps_));
  }
  /// Some rank does, as a master for whom all its workers wait: of all waiting that is little where they are many.
  bool some_wait_for_next_steps(Nanoseconds tolerance) const {
    return std::ranges::any_of(by_rank_, [&](const auto& each) {
      const OfRank& its = each.second;
      return its.in_all > its.steps * tolerance && is_much(double(its.for_next.count()), double(its.in_all.count()));
    });
  }

 private:
  struct OfRank {
    Nanoseconds for_next{}, in_all{};
    std::int64_t steps = 0;
  };
  static bool is_much(double part, double all) { return part > kMuch * all; }
  void add_order(const Lane& lane, const StepCourse& course, Nanoseconds tolerance);

  Nanoseconds in_all_{}, before_work_{};
  std::size_t steps_ = 0, that_wait_first_ = 0;  ///< Of ranks, however short their calls are.
  std::map<Rank, OfRank> by_rank_;
};

void Sample::add_order(const Lane& lane, const StepCourse& course, Nanoseconds tolerance) {
  Nanoseconds yet{}, worked{};
  bool waits = false, works_behind = false;
  lane.for_each_phase(course.begin, course.end, [&](Nanoseconds begin, Nanoseconds end, wire::Phase phase) {
    const Nanoseconds length = std::min(end, course.end) - std::max(begin, course.begin);
    const int category = timeline::category_of(phase);
    if (category == int(Category::kWait)) yet += length, in_all_ += length;
    waits = waits || (phase == wire::Phase::kWait && begin >= course.begin);
    if (category != int(Category::kCompute) && category != int(Category::kDelay)) return void(worked = {});
    worked += length;
    if (worked <= tolerance) return;
    before_work_ += std::exchange(yet, {});
    works_behind = works_behind || waits;
  });
  ++steps_;
  that_wait_first_ += works_behind;
}

/// How long it waited in its step, behind all that some of its partners did in this one, until one did its part of the next.
Nanoseconds for_next_step(const Timeline& timeline, const Partners& partners, const RankCourse& mine, Step step,
                          Nanoseconds tolerance) {
  std::vector<Rank> asked;
  partners.for_each_directly(mine.rank, step, timeline.ranks(),
                             [&](Rank other, Rank, WaitsFor) { asked.push_back(other); });
  const std::size_t each = std::max<std::size_t>(1, asked.size() / kPartnersAsked);
  Nanoseconds in_this = mine.course.post, in_next{};
  const auto take = [&](Nanoseconds& latest, Nanoseconds sent) {
    if (sent <= mine.course.end) latest = std::max(latest, sent);
  };
  for (std::size_t i = 0; i < asked.size(); i += each) {
    if (const auto its = step_course(timeline, asked[i], step, mine.course.begin)) {
      take(in_this, its->post);
      take(in_this, first_call(*timeline.lane(asked[i]),
                               *its));  // with which an exchange goes out that is started before the work
    }
    if (const auto its = step_course(timeline, asked[i], step + 1, mine.course.begin)) take(in_next, its->post);
  }
  const Nanoseconds waited = in_next - in_this;
  return mine.course.end - in_next > std::max(tolerance, waited / 8) ? Nanoseconds{0}
                                                                     : std::max(Nanoseconds{0}, waited);
}

void Sample::add(const Timeline& timeline, const Partners& partners, const RankCourse& its, Step step,
                 Nanoseconds tolerance) {
  add_order(*timeline.lane(its.rank), its.course, tolerance);
  OfRank& of_rank = by_rank_[its.rank];
  of_rank.for_next += for_next_step(timeline, partners, its, step, tolerance);
  of_rank.in_all += its.course.waited();
  ++of_rank.steps;
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

/// Nothing: turns are not asked for, or there are no such.
std::optional<Sample> sample_of(const Timeline& timeline, const Partners& partners, Nanoseconds tolerance) {
  const Lane* middle = timeline.ranks() > 0 ? timeline.lane(timeline.ranks() / 2) : nullptr;
  if (!middle || partners.source != PartnerSource::kDeclared || !partners.of_ranks || partners.unlike_counts)
    return std::nullopt;
  const std::vector<Rank> ranks = some_ranks(timeline.ranks());
  for (const Rank rank : ranks)
    if (const Lane* lane = timeline.lane(rank); lane && lane->summed().phases > 0) return std::nullopt;
  Sample sample;
  std::size_t whole = 0, parted = 0;
  for (const Step step : some_steps(*middle)) {
    if (partners.of_ranks->has_collectives(step)) return std::nullopt;
    std::vector<RankCourse> courses;
    for (const Rank rank : ranks) {
      const Lane* lane = timeline.lane(rank);
      const auto record = lane ? lane->step(step) : std::nullopt;
      if (!record || record->end == Nanoseconds{0} || record->begin < lane->events_from()) continue;
      courses.push_back({rank, course_of(*lane, *record)});
      sample.add(timeline, partners, courses.back(), step, tolerance);
    }
    const bool has_parts = partners.has_several_waits(step) && !parts_of(timeline, courses, tolerance).empty();
    ++(has_parts ? parted : whole);
  }
  return whole > parted ? std::optional(sample) : std::nullopt;
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
  const auto sample = sample_of(timeline, partners, tolerance);
  if (!sample) return {};
  const bool wait_first = sample->ranks_wait_first();
  TurnOrder order{.by_turns = wait_first || sample->some_wait_for_next_steps(tolerance), .wait_first = nullptr};
  if (!wait_first || some_wait_for_each_other(timeline, partners)) return order;
  std::vector<bool> ranks;
  for (Rank rank = 0; rank < timeline.ranks(); ++rank) {
    const Lane* lane = timeline.lane(rank);
    ranks.push_back(lane && calls_first(*lane, tolerance));
  }
  order.wait_first = std::make_shared<const std::vector<bool>>(std::move(ranks));
  return order;
}

}  // namespace idlewave::analysis
