#include "monitor/analysis/causes/ground_search.h"

#include <algorithm>

#include "monitor/analysis/partners/turn_order.h"
#include "monitor/analysis/steps/step_history.h"

namespace idlewave::analysis::causes {
namespace {

using timeline::Lane;
using timeline::Timeline;

constexpr std::ptrdiff_t kMostDelays = 2;
/// Where nobody was ever held, partners are told by the latest steps, in which ranks are late by what is usual.
constexpr std::size_t kOrdinarySteps = 128;
constexpr Rank kRanksLooked = 256;
constexpr std::size_t kDomainsAsked = 64;
/// PartnerInference takes a quarter of what is given to it for late.
constexpr int kStepsOfLateness = 4;
/// What it costs to ask a domain, for each of its ranks.
constexpr std::uint64_t kLooksPerRank = 20'000;

std::uint64_t cost_to_ask(const Timeline& timeline, Rank rank) {
  const int domain = timeline.domain_of(rank);
  return domain < 0 ? 1 : kLooksPerRank * timeline.domains()[std::size_t(domain)].ranks.size();
}

std::vector<steps::LateMoment> latest_delays(const Timeline& timeline) {
  std::vector<steps::LateMoment> moments;
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
      if (const steps::StepCourse course = steps::course_of(*lane, lane->steps()[k]); course.over)
        waits.push_back(course.waited());
  }
  if (waits.empty()) return Nanoseconds{0};
  std::ranges::sort(waits);
  const Nanoseconds least = waits[waits.size() / 10];
  const auto longer = std::size_t(std::ranges::upper_bound(waits, least) - waits.begin());
  if (longer == waits.size()) return Nanoseconds{0};
  const std::size_t quarter = waits.size() * 3 / 4;
  return waits[longer <= quarter ? quarter : (longer + waits.size()) / 2] - least;
}

/// The first of the latest steps of a rank in the middle; nothing where it has none.
std::optional<steps::LateMoment> ordinary_moment(const Timeline& timeline) {
  const Rank middle = timeline.ranks() / 2;
  const Lane* lane = timeline.ranks() > 0 ? timeline.lane(middle) : nullptr;
  if (!lane || lane->steps().empty()) return std::nullopt;
  const std::size_t steps = lane->steps().size();
  const timeline::StepRecord first = lane->steps()[steps - std::min(steps, kOrdinarySteps)];
  return steps::LateMoment{middle, first.step, first.begin};
}

/// On a domain in lockstep sharing can't be seen, so what one domain shows holds for all: of many domains those are asked in
/// which a rank was held, and some that lie far apart.
std::vector<Rank> ranks_to_ask(const Timeline& timeline) {
  std::vector<Rank> asked;
  for (const steps::LateMoment& delay : latest_delays(timeline)) asked.push_back(delay.rank);
  const auto& domains = timeline.domains();
  for (std::size_t i = 0; i < domains.size(); i += std::max<std::size_t>(1, domains.size() / kDomainsAsked))
    if (!domains[i].ranks.empty()) asked.push_back(domains[i].ranks.front());
  return asked;
}

}  // namespace

GroundSearch::GroundSearch(const Timeline& timeline) : timeline_(timeline) {
  ground_.typical_step = steps::typical_step_length(timeline);
  partners_.emplace(timeline, latest_delays(timeline), ground_.typical_step);
}

bool GroundSearch::advance(LookBudget& budget) {
  while (doing_ != Doing::kIsDone && !budget.is_spent()) {
    switch (doing_) {
      case Doing::kAsksWhoWaited:
        if (!partners_->advance(budget)) begin_ordinary();
        break;
      case Doing::kAsksWhoWaitsOrdinarily:
        if (!partners_->advance(budget)) begin_domains();
        break;
      case Doing::kAsksDomains: ask_next_domain(budget); break;
      case Doing::kIsDone: break;
    }
  }
  return doing_ != Doing::kIsDone;
}

void GroundSearch::begin_ordinary() {
  ground_.partners = partners_->found();
  const auto moment = ground_.partners.are_known() ? std::nullopt : ordinary_moment(timeline_);
  const Nanoseconds lateness = moment ? usual_lateness(timeline_) : Nanoseconds{0};
  if (lateness <= Nanoseconds{0}) return begin_domains();
  partners_.emplace(timeline_, std::span(&*moment, 1), kStepsOfLateness * lateness);
  doing_ = Doing::kAsksWhoWaitsOrdinarily;
}

void GroundSearch::begin_domains() {
  if (doing_ == Doing::kAsksWhoWaitsOrdinarily) ground_.partners = partners_->found();
  partners_.reset();
  if (const auto waits = partners::waits_said_by_calls(timeline_))
    ground_.partners.by_turns = true, ground_.typical_step /= *waits;
  contention_.emplace(timeline_);
  asked_ = ranks_to_ask(timeline_);
  doing_ = Doing::kAsksDomains;
}

void GroundSearch::ask_next_domain(LookBudget& budget) {
  if (ground_.shares_bandwidth || next_asked_ == asked_.size()) {
    doing_ = Doing::kIsDone;
    return;
  }
  const Rank rank = asked_[next_asked_++];
  ground_.shares_bandwidth = contention_->matters_to(rank);
  budget.spend(cost_to_ask(timeline_, rank));
}

CauseGround cause_ground(const Timeline& timeline) {
  GroundSearch search(timeline);
  LookBudget unlimited;
  search.advance(unlimited);
  return search.found();
}

}  // namespace idlewave::analysis::causes
