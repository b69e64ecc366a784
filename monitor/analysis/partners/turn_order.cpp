#include "monitor/analysis/partners/turn_order.h"

#include <algorithm>
#include <map>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "monitor/analysis/steps/said_calls.h"
#include "monitor/analysis/steps/step_history.h"
#include "monitor/analysis/steps/step_parts.h"

namespace idlewave::analysis::partners {
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

/// Of its waiting, how much was for what partners did in their next steps, or in later parts of the same.
struct WaitedForNext {
  Nanoseconds for_next{}, in_all{};
  std::int64_t steps = 0;

  void add(const WaitedForNext& other) { for_next += other.for_next, in_all += other.in_all, steps += other.steps; }
  bool is_enough(Nanoseconds tolerance) const { return in_all > steps * tolerance; }
  bool is_much() const { return double(for_next.count()) > kMuch * double(in_all.count()); }
};

class Sample {
 public:
  void add(const Lane& lane, const steps::RankCourse& its, const WaitedForNext& waited, Nanoseconds tolerance);
  void add_step(bool has_parts) { ++(has_parts ? parted_ : whole_); }

  /// In a quarter of their steps, or of the time that they wait. Where most steps have parts they wait behind their work in
  /// each of these.
  bool ranks_wait_first() const {
    return whole_ > parted_ && (double(before_work_.count()) > kMuch * double(in_all_.count()) ||
                                double(that_wait_first_) > kMuch * double(steps_));
  }
  bool some_wait(Nanoseconds tolerance) const {
    return std::ranges::any_of(by_rank_, [&](const auto& each) { return each.second.is_enough(tolerance); });
  }
  /// Some rank does, as a master for whom all its workers wait: of all waiting that is little where they are many.
  bool some_wait_for_next(Nanoseconds tolerance) const {
    return std::ranges::any_of(
        by_rank_, [&](const auto& each) { return each.second.is_enough(tolerance) && each.second.is_much(); });
  }

 private:
  void add_order(const Lane& lane, const steps::StepCourse& course, Nanoseconds tolerance);

  Nanoseconds in_all_{}, before_work_{};
  std::size_t steps_ = 0, that_wait_first_ = 0;  ///< Of ranks, however short their calls are.
  std::size_t whole_ = 0, parted_ = 0;
  std::map<Rank, WaitedForNext> by_rank_;
};

void Sample::add_order(const Lane& lane, const steps::StepCourse& course, Nanoseconds tolerance) {
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

/// The latest of what partners did while a wait lasted.
class PostsWhile {
 public:
  explicit PostsWhile(steps::CourseWait mine) : mine_(mine), in_this_(mine.begin) {}

  void take_in_this(Nanoseconds post) { take(in_this_, post); }
  void take_in_next(Nanoseconds post) { take(in_next_, post); }
  /// How long it lasted behind all that they did in this one, until one did its part of the next; 0: that did not end it.
  Nanoseconds for_next(Nanoseconds tolerance) const {
    const Nanoseconds waited = in_next_ - in_this_;
    const bool ended_it = mine_.end - in_next_ <= std::max(tolerance, waited / 8);
    return ended_it ? std::max(Nanoseconds{0}, waited) : Nanoseconds{0};
  }

 private:
  void take(Nanoseconds& latest, Nanoseconds post) const {
    if (post <= mine_.end) latest = std::max(latest, post);
  }
  steps::CourseWait mine_;
  Nanoseconds in_this_, in_next_{};
};

/// Evenly, of many.
std::vector<Rank> some_of(const std::vector<Rank>& all) {
  std::vector<Rank> some;
  const std::size_t each = std::max<std::size_t>(1, all.size() / kPartnersAsked);
  for (std::size_t i = 0; i < all.size(); i += each) some.push_back(all[i]);
  return some;
}

std::vector<Rank> direct_partners(const Timeline& timeline, const Partners& partners, Rank rank, Step step) {
  std::vector<Rank> all;
  partners.for_each_directly(rank, step, timeline.ranks(), [&](Rank other, Rank, WaitsFor) { all.push_back(other); });
  return all;
}

/// For whom it waits only because those whom it waits for do so as well.
std::vector<Rank> partners_behind(const Timeline& timeline, const Partners& partners, std::vector<Rank> direct,
                                  Rank rank, Step step) {
  std::vector<Rank> behind;
  std::ranges::sort(direct);
  partners.for_each_awaited(rank, step, timeline.ranks(), [&](Rank other, Rank) {
    if (!std::ranges::binary_search(direct, other)) behind.push_back(other);
  });
  return behind;
}

/// In its step, for what partners did in their next ones.
Nanoseconds waited_for_next_step(const Timeline& timeline, const Partners& partners, const steps::RankCourse& mine,
                                 Step step, Nanoseconds tolerance) {
  PostsWhile posts({mine.course.post, mine.course.end});
  const std::vector<Rank> direct = direct_partners(timeline, partners, mine.rank, step);
  for (const Rank other : some_of(direct)) {
    if (const auto its = steps::step_course(timeline, other, step, mine.course.begin)) {
      posts.take_in_this(its->post);
      // With which an exchange goes out that is started before the work.
      posts.take_in_this(steps::first_call(*timeline.lane(other), *its));
    }
    if (const auto its = steps::step_course(timeline, other, step + 1, mine.course.begin))
      posts.take_in_next(its->post);
  }
  for (const Rank other : some_of(partners_behind(timeline, partners, direct, mine.rank, step)))
    if (const auto its = steps::step_course(timeline, other, step, mine.course.begin)) posts.take_in_this(its->post);
  return posts.for_next(tolerance);
}

/// In the parts of its step, for what partners did in later parts, or with the first call of their next steps.
Nanoseconds waited_for_next_parts(const Timeline& timeline, const Partners& partners, const steps::RankCourse& mine,
                                  Step step, Nanoseconds tolerance) {
  const auto waits = steps::waits_in(*timeline.lane(mine.rank), mine.course, tolerance);
  if (!waits) return Nanoseconds{0};
  std::vector<PostsWhile> posts(waits->begin(), waits->end());
  for (const Rank other : some_of(direct_partners(timeline, partners, mine.rank, step))) {
    const Lane& lane = *timeline.lane(other);
    const auto its = steps::step_course(timeline, other, step, mine.course.begin);
    const auto its_waits = its ? steps::waits_in(lane, *its, tolerance) : std::nullopt;
    if (!its_waits || its_waits->size() != waits->size()) continue;
    const auto next = steps::step_course(timeline, other, step + 1, mine.course.begin);
    for (std::size_t part = 0; part < posts.size(); ++part) {
      posts[part].take_in_this((*its_waits)[part].begin);
      const auto after = std::ranges::upper_bound(*its_waits, (*waits)[part].end, {}, &steps::CourseWait::begin);
      if (after - its_waits->begin() > std::ptrdiff_t(part) + 1) posts[part].take_in_next(std::prev(after)->begin);
      if (next) posts[part].take_in_next(steps::first_call(lane, *next));
    }
  }
  Nanoseconds sum{};
  for (const PostsWhile& each : posts) sum += each.for_next(tolerance);
  return sum;
}

WaitedForNext waited_for_next(const Timeline& timeline, const Partners& partners, const steps::RankCourse& mine,
                              Step step, bool has_parts, Nanoseconds tolerance) {
  const auto waited = has_parts ? waited_for_next_parts : waited_for_next_step;
  return {waited(timeline, partners, mine, step, tolerance), mine.course.waited(), 1};
}

void Sample::add(const Lane& lane, const steps::RankCourse& its, const WaitedForNext& waited, Nanoseconds tolerance) {
  add_order(lane, its.course, tolerance);
  by_rank_[its.rank].add(waited);
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

/// Turns are asked for, and there may be such.
bool may_have_turns(const Timeline& timeline, const Partners& partners, std::span<const Rank> ranks) {
  if (partners.source == PartnerSource::kPartlyDeclared || !partners.of_ranks || partners.unlike_counts) return false;
  return std::ranges::none_of(ranks, [&](Rank rank) {
    const Lane* lane = timeline.lane(rank);
    return lane && lane->summed().phases > 0;
  });
}

/// Of those of `ranks` whose events of that step are kept.
std::vector<steps::RankCourse> courses_of(const Timeline& timeline, std::span<const Rank> ranks, Step step) {
  std::vector<steps::RankCourse> courses;
  for (const Rank rank : ranks) {
    const Lane* lane = timeline.lane(rank);
    const auto record = lane ? lane->step(step) : std::nullopt;
    if (!record || record->end == Nanoseconds{0} || record->begin < lane->events_from()) continue;
    courses.push_back({rank, steps::course_of(*lane, *record)});
  }
  return courses;
}

bool have_parts(const Timeline& timeline, const Partners& partners, std::span<const steps::RankCourse> courses,
                Step step, Nanoseconds tolerance) {
  return partners.has_several_waits(step) && !steps::parts_of(timeline, courses, tolerance).empty();
}

/// Nothing: there are collectives, of which turns know nothing.
std::optional<Sample> sample_of(const Timeline& timeline, const Partners& partners, std::span<const Rank> ranks,
                                std::span<const Step> steps, Nanoseconds tolerance) {
  Sample sample;
  for (const Step step : steps) {
    if (partners.of_ranks->has_collectives(step)) return std::nullopt;
    const std::vector<steps::RankCourse> courses = courses_of(timeline, ranks, step);
    const bool has_parts = have_parts(timeline, partners, courses, step, tolerance);
    for (const steps::RankCourse& its : courses)
      sample.add(*timeline.lane(its.rank), its, waited_for_next(timeline, partners, its, step, has_parts, tolerance),
                 tolerance);
    sample.add_step(has_parts);
  }
  return sample;
}

/// All ranks together, each in one step in which it waited long.
bool long_waits_are_for_next(const Timeline& timeline, const Partners& partners, std::span<const Rank> ranks,
                             Nanoseconds tolerance) {
  WaitedForNext all;
  for (const Rank rank : ranks) {
    const Lane* lane = timeline.lane(rank);
    const auto step = lane ? steps::step_of_long_wait(*lane) : std::nullopt;
    if (!step || partners.of_ranks->has_collectives(*step)) continue;
    std::vector<Rank> asked = some_of(direct_partners(timeline, partners, rank, *step));
    asked.insert(asked.begin(), rank);
    const std::vector<steps::RankCourse> courses = courses_of(timeline, asked, *step);
    if (courses.empty() || courses[0].rank != rank || courses[0].course.waited() <= tolerance) continue;
    const bool has_parts = have_parts(timeline, partners, courses, *step, tolerance);
    all.add(waited_for_next(timeline, partners, courses[0], *step, has_parts, tolerance));
  }
  return all.is_much();
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

/// Null where some wait for each other.
std::shared_ptr<const std::vector<bool>> who_waits_first(const Timeline& timeline, const Partners& partners,
                                                         Nanoseconds tolerance) {
  if (some_wait_for_each_other(timeline, partners)) return nullptr;
  std::vector<bool> that_do;
  for (Rank rank = 0; rank < timeline.ranks(); ++rank) {
    const Lane* lane = timeline.lane(rank);
    that_do.push_back(lane && calls_first(*lane, tolerance));
  }
  return std::make_shared<const std::vector<bool>>(std::move(that_do));
}

}  // namespace

TurnOrder turn_order(const Timeline& timeline, const Partners& partners, Nanoseconds tolerance) {
  const std::vector<Rank> ranks = some_ranks(timeline.ranks());
  const Lane* middle = timeline.ranks() > 0 ? timeline.lane(timeline.ranks() / 2) : nullptr;
  if (!middle || !may_have_turns(timeline, partners, ranks)) return {};
  const auto sample = sample_of(timeline, partners, ranks, some_steps(*middle), tolerance);
  if (!sample) return {};
  const bool wait_first = sample->ranks_wait_first();
  TurnOrder order{.by_turns = wait_first || sample->some_wait_for_next(tolerance), .wait_first = nullptr};
  if (!sample->some_wait(tolerance) && !order.by_turns)
    order.by_turns = long_waits_are_for_next(timeline, partners, ranks, tolerance);
  if (wait_first) order.wait_first = who_waits_first(timeline, partners, tolerance);
  return order;
}

TurnOrder found_turn_order(const Timeline& timeline, const Partners& partners, Nanoseconds tolerance) {
  return {.by_turns = true, .wait_first = who_waits_first(timeline, partners, tolerance)};
}

std::optional<int> waits_said_by_calls(const Timeline& timeline) {
  const Lane* middle = timeline.ranks() > 0 ? timeline.lane(timeline.ranks() / 2) : nullptr;
  if (!middle) return std::nullopt;
  Nanoseconds said{}, in_all{};
  std::size_t waits = 0, rank_steps = 0;
  steps::SaidCalls calls;
  const auto take = [&](Nanoseconds begin, Nanoseconds end, wire::Phase phase) {
    if (phase != wire::Phase::kWait) return;
    ++waits, in_all += end - begin;
    if (calls.of_call_until(end).kind != wire::CallPartners::Kind::kNotSaid) said += end - begin;
  };
  const std::vector<Rank> ranks = some_ranks(timeline.ranks());
  for (const Step step : some_steps(*middle))
    for (const auto& [rank, course] : courses_of(timeline, ranks, step)) {
      ++rank_steps;
      calls.read(*timeline.lane(rank), course.begin, course.end);
      timeline.lane(rank)->for_each_phase(course.begin, course.end, take);
    }
  if (said <= in_all / 2) return std::nullopt;
  return std::max(1, int(waits / rank_steps));
}

}  // namespace idlewave::analysis::partners
