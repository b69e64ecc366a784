#include "monitor/analysis/causes.h"

#include <algorithm>

#include "monitor/analysis/cause_tally.h"
#include "monitor/analysis/contention.h"
#include "monitor/analysis/partner_source.h"
#include "monitor/analysis/step_history.h"

namespace idlewave::analysis {
namespace {

using timeline::Lane;
using timeline::Timeline;

constexpr std::size_t kRankStepsPerCall = 20'000;
/// Of session time.
constexpr Nanoseconds kMomentPeriod = std::chrono::milliseconds(250);
constexpr wire::Step kStepsToLearn = 8;
constexpr std::ptrdiff_t kMostDelays = 2;
/// Where nobody was ever held, partners are told by the latest steps, in which ranks are late by what is usual.
constexpr std::size_t kOrdinarySteps = 128;
constexpr Rank kRanksLooked = 256;
constexpr std::size_t kDomainsAsked = 64;
/// infer_partners takes a quarter of what is given to it for late.
constexpr int kStepsOfLateness = 4;

Nanoseconds moment_before(Nanoseconds time) {
  return time == Nanoseconds::max() ? time : time / kMomentPeriod * kMomentPeriod;
}

Window window_before(Window window) {
  const Nanoseconds to = moment_before(window.to);
  return {std::max(Nanoseconds{0}, window.from - (window.to - to)), to};
}

std::vector<LateMoment> latest_delays(const Timeline& timeline) {
  std::vector<LateMoment> moments;
  for (auto delay = timeline.delays().rbegin(); delay != timeline.delays().rend(); ++delay) {
    if (std::ssize(moments) == kMostDelays) break;
    if (delay->ended && delay->phase == wire::Phase::kDelay)
      moments.push_back({delay->rank, delay->step, delay->begin});
  }
  return moments;
}

/// What waits differ by: from the tenth that is shortest to the quarter that is longest; where fewer are longer at all, to
/// the middle one of those.
Nanoseconds usual_lateness(const Timeline& timeline) {
  std::vector<Nanoseconds> waits;
  const Rank stride = std::max<Rank>(1, timeline.ranks() / kRanksLooked);
  for (Rank rank = 0; rank < timeline.ranks(); rank += stride) {
    const Lane* lane = timeline.lane(rank);
    const std::size_t steps = lane ? lane->steps().size() : 0;
    for (std::size_t k = steps - std::min(steps, kOrdinarySteps); k < steps; ++k)
      if (const StepCourse course = course_of(*lane, lane->steps()[k]); course.over) waits.push_back(course.waited());
  }
  if (waits.empty()) return Nanoseconds{0};
  std::ranges::sort(waits);
  const Nanoseconds least = waits[waits.size() / 10];
  const auto longer = std::size_t(std::ranges::upper_bound(waits, least) - waits.begin());
  if (longer == waits.size()) return Nanoseconds{0};
  const std::size_t quarter = waits.size() * 3 / 4;
  return waits[longer <= quarter ? quarter : (longer + waits.size()) / 2] - least;
}

Partners partners_by_usual_lateness(const Timeline& timeline) {
  const Rank middle = timeline.ranks() / 2;
  const Lane* lane = timeline.ranks() > 0 ? timeline.lane(middle) : nullptr;
  const Nanoseconds lateness = usual_lateness(timeline);
  if (!lane || lane->steps().empty() || lateness <= Nanoseconds{0}) return {};
  const std::size_t steps = lane->steps().size();
  const timeline::StepRecord first = lane->steps()[steps - std::min(steps, kOrdinarySteps)];
  const LateMoment moment{middle, first.step, first.begin};
  return infer_partners(timeline, std::span(&moment, 1), kStepsOfLateness * lateness);
}

Partners partners_of(const Timeline& timeline, Nanoseconds typical_step) {
  Partners partners = partners_in(timeline, latest_delays(timeline), typical_step);
  return !partners.are_known() ? partners_by_usual_lateness(timeline) : partners;
}

/// On a domain in lockstep it can't be seen, so what one domain shows holds for all: of many domains those are asked in
/// which a rank was held, and some that lie far apart.
bool shares_bandwidth(const Timeline& timeline) {
  const Contention contention(timeline);
  for (const LateMoment& delay : latest_delays(timeline))
    if (contention.matters_to(delay.rank)) return true;
  const auto& domains = timeline.domains();
  for (std::size_t i = 0; i < domains.size(); i += std::max<std::size_t>(1, domains.size() / kDomainsAsked))
    if (!domains[i].ranks.empty() && contention.matters_to(domains[i].ranks.front())) return true;
  return false;
}

}  // namespace

Cost RankCauses::by_others() const {
  Cost sum;
  for (const Culprit& culprit : by) sum.direct += culprit.cost.direct, sum.far += culprit.cost.far;
  return sum;
}

CauseGround cause_ground(const Timeline& timeline) {
  const Nanoseconds typical = typical_step_length(timeline);
  return {.partners = partners_of(timeline, typical),
          .shares_bandwidth = shares_bandwidth(timeline),
          .typical_step = typical};
}

Causes find_causes(const Timeline& timeline, Window window) {
  return find_causes(timeline, window, cause_ground(timeline));
}

Causes find_causes(const Timeline& timeline, Window window, const CauseGround& ground) {
  CauseTally tally(timeline, window, ground);
  while (tally.advance(kRankStepsPerCall)) {
  }
  return tally.causes();
}

CauseFinder::CauseFinder(const Timeline& timeline) : timeline_(timeline) {}
CauseFinder::~CauseFinder() = default;

bool CauseFinder::has_grown() const {
  const bool joined = timeline_.ranks() != learnt_ranks_ || timeline_.domains().size() != learnt_domains_;
  return joined || timeline_.latest_step() >= learnt_at_ + std::max(kStepsToLearn, learnt_at_ / 4);
}

void CauseFinder::follow() {
  if (timeline_.empty() || (!lessons_.empty() && !has_grown())) return;
  lessons_.push_back({moment_before(timeline_.now()), cause_ground(timeline_)});
  learnt_at_ = timeline_.latest_step();
  learnt_ranks_ = timeline_.ranks(), learnt_domains_ = timeline_.domains().size();
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
    tally_ = std::make_unique<CauseTally>(timeline_, window, *ground);
    events_ = timeline_.events();
  }
  if (!tally_->advance(kRankStepsPerCall)) {
    causes_ = tally_->causes();
    tally_.reset();
  }
  return causes_;
}

}  // namespace idlewave::analysis
