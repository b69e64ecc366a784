#include "monitor/analysis/causes/causes.h"

#include <algorithm>

#include "monitor/analysis/causes/cause_tally.h"
#include "monitor/analysis/causes/ground_search.h"
#include "monitor/analysis/causes/turn_tally.h"

namespace idlewave::analysis::causes {
namespace {

using timeline::Timeline;

constexpr std::size_t kRankStepsPerCall = 20'000;
/// Of session time.
constexpr Nanoseconds kMomentPeriod = std::chrono::milliseconds(250);
constexpr wire::Step kStepsToLearn = 8;

Nanoseconds moment_before(Nanoseconds time) {
  return time == Nanoseconds::max() ? time : time / kMomentPeriod * kMomentPeriod;
}

Window window_before(Window window) {
  const Nanoseconds to = moment_before(window.to);
  return {std::max(Nanoseconds{0}, window.from - (window.to - to)), to};
}

std::unique_ptr<Tally> tally_of(const Timeline& timeline, Window window, const CauseGround& ground) {
  if (ground.partners.by_turns && !ground.shares_bandwidth)
    return std::make_unique<TurnTally>(timeline, window, ground);
  return std::make_unique<CauseTally>(timeline, window, ground);
}

}  // namespace

Causes find_causes(const Timeline& timeline, Window window) {
  return find_causes(timeline, window, cause_ground(timeline));
}

Causes find_causes(const Timeline& timeline, Window window, const CauseGround& ground) {
  const std::unique_ptr<Tally> tally = tally_of(timeline, window, ground);
  while (tally->advance(kRankStepsPerCall)) {
  }
  return tally->causes();
}

CauseFinder::CauseFinder(const Timeline& timeline, std::uint64_t looks_at_once)
    : timeline_(timeline), looks_at_once_(looks_at_once) {}
CauseFinder::~CauseFinder() = default;

bool CauseFinder::has_joined() const {
  return timeline_.ranks() != learnt_ranks_ || timeline_.domains().size() != learnt_domains_;
}

bool CauseFinder::has_grown() const {
  return timeline_.latest_step() < learnt_at_ ||
         timeline_.latest_step() >= learnt_at_ + std::max(kStepsToLearn, learnt_at_ / 4);
}

void CauseFinder::follow() {
  if (timeline_.empty()) return;
  if (has_joined() || (!search_ && has_grown())) begin_to_learn();
  if (!search_ || learn()) return;
  lessons_.push_back({moment_before(timeline_.now()), search_->found()});
  search_.reset();
}

void CauseFinder::begin_to_learn() {
  search_ = std::make_unique<GroundSearch>(timeline_);
  learnt_at_ = timeline_.latest_step();
  learnt_ranks_ = timeline_.ranks(), learnt_domains_ = timeline_.domains().size();
}

bool CauseFinder::learn() {
  LookBudget budget(looks_at_once_);
  return search_ && !has_joined() && search_->advance(budget);
}

const CauseGround* CauseFinder::ground_at(Nanoseconds moment) const {
  const auto after = std::ranges::upper_bound(lessons_, moment, {}, &Lesson::at);
  return after == lessons_.begin() ? nullptr : &std::prev(after)->ground;
}

const Causes& CauseFinder::observe(Window window) {
  if (!tally_) {
    window = window_before(window);
    const bool is_same = window.from == causes_.window.from && window.to == causes_.window.to;
    const CauseGround* ground = ground_at(window.to);
    if (!ground || (is_same && events_ == timeline_.events())) return causes_;
    tally_ = tally_of(timeline_, window, *ground);
    events_ = timeline_.events();
  }
  if (!tally_->advance(kRankStepsPerCall)) {
    causes_ = tally_->causes();
    tally_.reset();
  }
  return causes_;
}

}  // namespace idlewave::analysis::causes
