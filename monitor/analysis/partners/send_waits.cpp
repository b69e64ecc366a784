#include "monitor/analysis/partners/send_waits.h"

#include <algorithm>
#include <cstddef>
#include <span>
#include <utility>
#include <vector>

#include "monitor/analysis/partners/declared_partners.h"
#include "monitor/analysis/partners/stretches.h"
#include "monitor/analysis/steps/step_course.h"
#include "monitor/analysis/steps/step_history.h"

namespace idlewave::analysis::partners {
namespace {

using timeline::Category;
using timeline::Lane;
using timeline::StepRecord;
using timeline::Timeline;
using wire::Nanoseconds;
using wire::Rank;
using wire::Step;

/// Of sends; programs with more are not looked at.
constexpr std::size_t kMostSendKinds = 16;
/// Of a run, in which they are looked for.
constexpr std::size_t kPartsAsked = 8;
constexpr std::size_t kMostLooks = 8'192, kFewestOfRank = 32;
constexpr Rank kRanksLookedAt = 256;
/// Those behind which it is looked, and so many steps.
constexpr std::ptrdiff_t kDelaysAsked = 16;
constexpr Step kStepsBehind = 3;
/// Steps of a rank that nobody was late for, before it is known how long these go on.
constexpr std::size_t kFewestOrdinary = 8;
/// Of those: what so many don't exceed is ordinary.
constexpr double kOrdinary = 0.9;
/// Where fewer of those would be over before that receiver came, nothing is told by those that are not.
constexpr double kFewestOver = 0.5;
/// Of its lateness: who goes on so soon behind that receiver went on with it.
constexpr double kSoonBehind = 0.25;
/// Steps that are needed, and what share of them has to agree.
constexpr double kEnoughSteps = 8, kShareThatAgrees = 0.75;
/// What it costs to look at a step of a rank.
constexpr std::uint64_t kLooksAtStep = 300;

/// Who waits for whom if sends of these kinds wait.
std::shared_ptr<const RankPartners> partners_if(const Timeline& timeline, SendRules rules) {
  return RankPartners::declared_in(SaidWaits(timeline, std::move(rules)));
}

std::set<SendKind> kinds_in(const SaidWaits& said) {
  const Timeline& timeline = said.timeline();
  std::vector<Step> parts{timeline.latest_step()};
  for (const StretchOfSteps& stretch : stretches_of(timeline.partner_changes(), kPartsAsked))
    parts.push_back(stretch.first - 1);
  std::set<SendKind> kinds;
  for (Rank rank = 0; rank < timeline.ranks() && kinds.size() <= kMostSendKinds; ++rank)
    for (const Step step : parts) kinds.merge(said.uncertain_kinds(rank, step));
  return kinds;
}

}  // namespace

/// A step that lasts until then if the sends of a kind wait.
struct SendSearch::LateReceiver {
  std::size_t kind = 0;
  Nanoseconds late{};    ///< Behind all others.
  Nanoseconds behind{};  ///< From there on it went on; below 0: it had ended before.
  Nanoseconds clock_error{};
};

/// Steps of one rank, by who was the last to come.
struct SendSearch::StepsSeen {
  std::vector<Nanoseconds>
      ordinary;  ///< One whom it waits for in either case, or itself: how long it went on from there.
  std::vector<LateReceiver> late;
};

/// Of one kind; each step as many times as that receiver was later than it had to be.
class SendSearch::Votes {
 public:
  /// `over`: the share of its steps that would be over before, if the sends did not wait.
  void add(const LateReceiver& seen, double times, double over, Nanoseconds ordinary) {
    const bool is_soon =
        seen.behind <= ordinary || double(seen.behind.count()) <= kSoonBehind * double(seen.late.count());
    expected_ += times * over;
    if (seen.behind < -seen.clock_error)
      went_on_ += times;
    else
      (is_soon ? waited_ : stayed_) += times;
  }
  std::optional<bool> wait() const {
    if (expected_ < kEnoughSteps) return std::nullopt;
    if (went_on_ >= kShareThatAgrees * expected_) return false;
    const bool few_went_on = went_on_ <= (1 - kShareThatAgrees) * expected_;
    return few_went_on && waited_ >= kShareThatAgrees * (waited_ + stayed_) ? std::optional(true) : std::nullopt;
  }

 private:
  double expected_ = 0, went_on_ = 0;
  double waited_ = 0, stayed_ = 0;  ///< Until that receiver came; and for something else behind that.
};

class SendSearch::Look {
 public:
  Look(const Timeline& timeline, const std::set<SendKind>& kinds)
      : timeline_(timeline), kinds_(kinds.begin(), kinds.end()) {}

  bool advance(LookBudget& budget) {
    while (!is_done() && !budget.is_spent()) {
      if (doing_ == Doing::kComposes)
        compose_next(budget);
      else
        ask_next_rank(budget);
    }
    return !is_done();
  }
  bool is_done() const { return doing_ == Doing::kIsDone; }
  const SendRules& rules() const { return rules_; }

 private:
  enum class Doing : std::uint8_t { kComposes, kAsksRanks, kIsDone };

  /// If no sends wait, if all do, and if those of each kind do.
  void compose_next(LookBudget& budget) {
    budget.spend(RankPartners::kLooksToCompose * std::uint64_t(timeline_.ranks()));
    if (!if_none_wait_) {
      if_none_wait_ = partners_if(timeline_, {.others = false});
      if (!if_none_wait_) doing_ = Doing::kIsDone;
    } else if (!if_all_wait_) {
      if_all_wait_ = partners_if(timeline_, {.others = true});
      if (!if_all_wait_) doing_ = Doing::kIsDone;
      if (kinds_.size() == 1) if_one_waits_ = {if_all_wait_};
    } else {
      const SendKind kind = kinds_[if_one_waits_.size()];
      if_one_waits_.push_back(partners_if(timeline_, {.wait = {{kind, true}}, .others = false}));
    }
    if (is_done() || if_one_waits_.size() < kinds_.size()) return;
    find_delays();
    doing_ = Doing::kAsksRanks;
  }

  void ask_next_rank(LookBudget& budget) {
    const Rank ranks = timeline_.ranks(), stride = std::max<Rank>(1, ranks / kRanksLookedAt);
    while (next_ < ranks && next_ % stride != 0 && !behind_delays_.contains(next_)) ++next_;
    if (next_ < ranks) return ask(next_++, budget);
    count();
    for (std::size_t kind = 0; kind < kinds_.size(); ++kind)
      if (const auto wait = votes_[kind].wait()) rules_.wait[kinds_[kind]] = *wait;
    doing_ = Doing::kIsDone;
  }

  /// In a long run few of the steps behind them are among those that are looked at.
  void find_delays() {
    const auto& delays = timeline_.delays();
    for (auto delay = delays.end() - std::min(kDelaysAsked, std::ssize(delays)); delay != delays.end(); ++delay)
      for (Step step = delay->step; step < delay->step + kStepsBehind; ++step)
        for (const Rank offset : if_all_wait_->waiters(delay->rank, step))
          behind_delays_[rank_at(delay->rank, offset)].push_back({step, delay->begin});
  }

  void ask(Rank rank, LookBudget& budget) {
    const Lane* lane = timeline_.lane(rank);
    if (!lane) return;
    StepsSeen& seen = by_rank_.emplace_back();
    const std::set<std::size_t> places = places_to_look_at(rank, *lane);
    budget.spend(kLooksAtStep * places.size());
    for (const std::size_t place : places) look_at(rank, *lane, lane->steps()[place], seen);
    std::ranges::sort(seen.ordinary);
    of_all_.insert(of_all_.end(), seen.ordinary.begin(), seen.ordinary.end());
  }

  std::set<std::size_t> places_to_look_at(Rank rank, const Lane& lane) const {
    const std::size_t steps = lane.steps().size(), ranks = std::size_t(std::min(timeline_.ranks(), kRanksLookedAt));
    const std::size_t looks = std::min(steps, std::max(kFewestOfRank, kMostLooks / ranks));
    std::set<std::size_t> places;
    for (std::size_t i = 0; i < looks; ++i) places.insert(places.end(), i * steps / looks);
    if (const auto behind = behind_delays_.find(rank); behind != behind_delays_.end())
      for (const auto& [step, at] : behind->second)
        if (const auto record = lane.step(step, at))
          places.insert(lane.steps_begun_before(record->begin + Nanoseconds{1}) - 1);
    return places;
  }

  void look_at(Rank rank, const Lane& lane, const StepRecord& record, StepsSeen& seen) const {
    const steps::StepCourse mine = steps::course_of(lane, record);
    if (!mine.over || !if_all_wait_->are_known_of(rank, record.step) || if_all_wait_->has_collectives(record.step))
      return;
    Rank last = rank;
    Nanoseconds latest = mine.post, before = Nanoseconds::min();
    for (const Rank offset : if_all_wait_->awaited(rank, record.step)) {
      const auto its = steps::step_course(timeline_, rank_at(rank, offset), record.step, record.begin);
      if (!its || !(its->over || its->waited() > Nanoseconds{0})) return;
      before = std::max(before, std::min(latest, its->post));
      if (its->post > latest) latest = its->post, last = rank_at(rank, offset);
    }
    if (last == rank || awaits(*if_none_wait_, rank, record.step, last))
      return seen.ordinary.push_back(mine.end - latest);
    if (const auto late = late_receiver(rank, record, last, {.late = latest - before, .behind = mine.end - latest}))
      seen.late.push_back(*late);
  }

  /// Nothing where several kinds would make it wait, or only some of them together; or where it can't be told.
  std::optional<LateReceiver> late_receiver(Rank rank, const StepRecord& record, Rank last, LateReceiver seen) const {
    const auto clock_error = timeline_.clock_error(rank, last);
    if (!clock_error || seen.late <= least_ + *clock_error) return std::nullopt;
    seen.clock_error = *clock_error;
    std::size_t kinds = 0;
    for (std::size_t kind = 0; kind < kinds_.size(); ++kind)
      if (if_one_waits_[kind] && awaits(*if_one_waits_[kind], rank, record.step, last)) seen.kind = kind, ++kinds;
    const bool tells = kinds == 1 && works_first(rank, record) && works_first(last, record);
    return tells ? std::optional(seen) : std::nullopt;
  }

  /// All of the step is known, and whatever may wait in it, however short, comes behind its work: else a receiver may have
  /// been there long before it had done its part.
  bool works_first(Rank rank, const StepRecord& at) const {
    const Lane& lane = *timeline_.lane(rank);
    const auto record = lane.step(at.step, at.begin);
    if (!record || record->begin < lane.events_from() || !steps::is_known(lane, *record)) return false;
    const steps::StepCourse course = steps::course_of(lane, *record);
    Nanoseconds worked{};
    bool waits = false;
    lane.for_each_phase(course.begin, course.end, [&](Nanoseconds begin, Nanoseconds end, wire::Phase phase) {
      const int category = timeline::category_of(phase);
      const bool works = category == int(Category::kCompute) || category == int(Category::kDelay);
      waits = waits || (phase == wire::Phase::kWait && begin >= course.begin);
      if (waits && works) worked += std::min(end, course.end) - std::max(begin, course.begin);
    });
    return worked <= least_;
  }

  bool awaits(const RankPartners& partners, Rank rank, Step step, Rank other) const {
    return std::ranges::any_of(partners.awaited(rank, step), [&](Rank o) { return rank_at(rank, o) == other; });
  }
  Rank rank_at(Rank rank, Rank offset) const {
    const Rank ranks = timeline_.ranks();
    return (rank + offset % ranks + ranks) % ranks;
  }

  /// A rank whose receiver has been late from the first steps on goes on as all do.
  void count() {
    if (of_all_.size() < kFewestOrdinary) return;
    std::ranges::sort(of_all_);
    for (const StepsSeen& seen : by_rank_)
      for (const LateReceiver& late : seen.late)
        count(late, seen.ordinary.size() < kFewestOrdinary ? of_all_ : seen.ordinary);
  }

  void count(const LateReceiver& seen, std::span<const Nanoseconds> ordinary) {
    const Nanoseconds unsure = least_ + seen.clock_error;
    const Nanoseconds goes_on = ordinary[std::size_t(kOrdinary * double(ordinary.size()))];
    const auto before = std::ranges::lower_bound(ordinary, seen.late - unsure) - ordinary.begin();
    const double over = double(before) / double(ordinary.size());
    if (over < kFewestOver) return;
    const double least = double((2 * goes_on + unsure).count());
    const double times = std::clamp(double(seen.late.count()) / std::max(1.0, least), 1.0, kEnoughSteps);
    votes_[seen.kind].add(seen, times, over, goes_on + unsure);
  }

  const Timeline& timeline_;
  const std::vector<SendKind> kinds_;
  Doing doing_ = Doing::kComposes;
  Rank next_ = 0;  ///< That may be asked.
  SendRules rules_;
  std::shared_ptr<const RankPartners> if_none_wait_, if_all_wait_;
  std::vector<std::shared_ptr<const RankPartners>> if_one_waits_;
  const Nanoseconds least_ = steps::least_work(steps::typical_step_length(timeline_));
  std::map<Rank, std::vector<std::pair<Step, Nanoseconds>>> behind_delays_;  ///< Steps, and when they went on.
  std::vector<StepsSeen> by_rank_;
  std::vector<Nanoseconds> of_all_;  ///< How long ordinary steps of all of them went on.
  std::vector<Votes> votes_ = std::vector<Votes>(kinds_.size());
};

SendSearch::SendSearch(const Timeline& timeline) {
  const SaidWaits raw(timeline);
  if (!raw.has_uncertain()) return;
  const std::set<SendKind> kinds = kinds_in(raw);
  if (!kinds.empty() && kinds.size() <= kMostSendKinds) look_ = std::make_unique<Look>(timeline, kinds);
}
SendSearch::SendSearch(SendSearch&&) noexcept = default;
SendSearch::~SendSearch() = default;

bool SendSearch::is_done() const { return !look_ || look_->is_done(); }
bool SendSearch::advance(LookBudget& budget) { return look_ && look_->advance(budget); }
SendRules SendSearch::rules() const { return look_ ? look_->rules() : SendRules{}; }

SaidWaits with_sends_told(const Timeline& timeline) {
  SendSearch search(timeline);
  LookBudget unlimited;
  search.advance(unlimited);
  return {timeline, search.rules()};
}

}  // namespace idlewave::analysis::partners
