#include "monitor/analysis/program/ghost.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "monitor/analysis/domains/own_times.h"

namespace idlewave::analysis::program {
namespace {

using timeline::Lane;
using timeline::Timeline;

/// Of a step: what is nearer is the same.
constexpr double kWorthNaming = 0.01, kSame = 0.01;
/// A step in a window costs less than a microsecond; a lesson some hundred times as much as its steps.
constexpr std::int64_t kMostRankSteps = 50'000, kMostToLearnFrom = 20'000, kLeastSteps = 8;
constexpr Nanoseconds kLearnPeriod = std::chrono::seconds(5);
/// What was learnt longer ago says nothing of now.
constexpr Nanoseconds kLearntLately = 4 * kLearnPeriod;

/// Of domains that share their bandwidth: what does not depend on what went on before the first of the steps, nor behind
/// the last.
void add_shared_work(Ghost& ghost) {
  const ProgramModel& model = ghost.model;
  const std::size_t ranks = ghost.departures.size(), each = std::size_t(model.ranks_per_domain);
  std::vector<Window> known;
  std::vector<Nanoseconds> from;
  for (std::size_t first = 0; first < ranks; first += each) {
    known.push_back(ghost.steps.all_of(first, std::min(first + each, ranks)));
    from.push_back(known.back().from);
  }
  const auto beyond = [&](domains::Before before) {
    return domains::beyond_work(ghost.steps, model.work, model.ranks_per_domain, from, before);
  };
  const domains::OwnNoise in_company = beyond(domains::Before::kAtWork), alone = beyond(domains::Before::kIdle);
  const Nanoseconds near{std::llround(kSame * double(ghost.step.count()))};
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    const Window& all = known[rank / each];
    for (std::size_t k = 0; k < ghost.steps.steps(); ++k) {
      const steps::RankStep& step = ghost.steps.ranks[rank][k];
      const Nanoseconds least = in_company[rank][k], most = alone[rank][k];
      if (step.begin >= all.from && step.post <= all.to && std::chrono::abs(most - least) <= near)
        ghost.departures[rank][k].at_work = (least + most) / 2;
    }
  }
}

void add_work(Ghost& ghost) {
  if (ghost.model.work.memory) return add_shared_work(ghost);
  const domains::OwnNoise beyond = domains::beyond_work(ghost.steps, ghost.model.work, ghost.model.ranks_per_domain);
  for (std::size_t rank = 0; rank < beyond.size(); ++rank)
    for (std::size_t k = 0; k < beyond[rank].size(); ++k) ghost.departures[rank][k].at_work = beyond[rank][k];
}

void add_waiting(Ghost& ghost) {
  const partners::WaitTimes beyond = partners::beyond_exchange(ghost.steps, ghost.model.exchange);
  for (std::size_t rank = 0; rank < beyond.size(); ++rank)
    for (std::size_t k = 0; k < beyond[rank].size(); ++k) ghost.departures[rank][k].waiting = beyond[rank][k];
}

Nanoseconds mean_step(const steps::CommonSteps& steps) {
  Nanoseconds sum{};
  for (const auto& rank : steps.ranks) sum += (rank.back().end - rank.front().begin) / std::int64_t(steps.steps());
  return std::max(Nanoseconds{1}, sum / std::int64_t(steps.ranks.size()));
}

/// The latest steps before `to`, so many that all ranks together have `most` of them.
Nanoseconds begin_of_latest(const Timeline& timeline, Nanoseconds to, std::int64_t most) {
  const auto each = std::size_t(std::max(kLeastSteps, most / std::max<std::int64_t>(timeline.ranks(), 1)));
  Nanoseconds from = to;
  for (Rank rank = 0; rank < timeline.ranks(); ++rank) {
    const Lane* lane = timeline.lane(rank);
    const std::size_t begun = lane == nullptr ? 0 : lane->steps_begun_before(to);
    if (begun > 0)
      from = std::min(from, (*(lane->steps().begin() + std::ptrdiff_t(begun - std::min(begun, each)))).begin);
  }
  return from;
}

/// Every so often, and in the beginning whenever the session has become twice as long.
Nanoseconds round_before(Nanoseconds moment) {
  if (moment >= kLearnPeriod) return moment / kLearnPeriod * kLearnPeriod;
  Nanoseconds round = kLearnPeriod;
  while (round > moment) round /= 2;
  return round;
}

Nanoseconds magnitude(const Departure& departure) {
  return std::max(std::chrono::abs(departure.at_work.value_or(Nanoseconds{0})), std::chrono::abs(departure.waiting));
}

}  // namespace

Ghost ghost_of(ProgramModel model, steps::CommonSteps steps) {
  Ghost ghost{.model = std::move(model), .steps = std::move(steps), .departures = {}, .step = {}};
  ghost.departures.assign(ghost.steps.ranks.size(), std::vector<Departure>(ghost.steps.steps()));
  ghost.step = mean_step(ghost.steps);
  add_work(ghost);
  add_waiting(ghost);
  return ghost;
}

DepartureSums sum_of(const Ghost& ghost, std::size_t largest) {
  DepartureSums sums{.at_work = std::vector<Nanoseconds>(ghost.departures.size()),
                     .waiting = std::vector<Nanoseconds>(ghost.departures.size()),
                     .largest = {}};
  double all = 0;
  const auto larger = [](const LargestDeparture& a, const LargestDeparture& b) {
    return magnitude(a.departure) > magnitude(b.departure);
  };
  for (std::size_t rank = 0; rank < ghost.departures.size(); ++rank) {
    for (std::size_t k = 0; k < ghost.departures[rank].size(); ++k) {
      const Departure& departure = ghost.departures[rank][k];
      const Nanoseconds at_work = departure.at_work.value_or(Nanoseconds{0});
      sums.at_work[rank] += at_work, sums.waiting[rank] += departure.waiting;
      all += std::abs(double(at_work.count())) + std::abs(double(departure.waiting.count()));
      if (double(magnitude(departure).count()) < kWorthNaming * double(ghost.step.count())) continue;
      sums.largest.push_back({Rank(rank), k, departure});
      std::ranges::push_heap(sums.largest, larger);
      if (sums.largest.size() <= largest) continue;
      std::ranges::pop_heap(sums.largest, larger);
      sums.largest.pop_back();
    }
  }
  std::ranges::sort_heap(sums.largest, larger);
  sums.share = all / (double(ghost.step.count()) * double(ghost.steps.steps()) * double(ghost.departures.size()));
  return sums;
}

/// Error: there is nothing to learn from.
wire::Status GhostFinder::begin_lesson(Nanoseconds until) {
  if (model_ && learnt_at_ == until) return wire::ok();
  auto steps = steps::common_steps(timeline_, {begin_of_latest(timeline_, until, kMostToLearnFrom), until});
  if (!steps) return steps.error();
  lesson_.emplace(timeline_, std::move(*steps));
  lesson_until_ = until;
  return wire::ok();
}

void GhostFinder::learn(LookBudget budget) {
  if (!lesson_ || lesson_->advance(budget)) return;
  model_ = lesson_->found(), learnt_at_ = lesson_until_;
  lesson_.reset();
  is_new_ = true;
}

/// Of the last round, or of all there is where that was before the first steps. A lesson that outlasts its round is gone on
/// with.
wire::Status GhostFinder::learn_for(Nanoseconds moment, LookBudget budget) {
  const auto is_of_late = [&](Nanoseconds learnt) { return learnt <= moment && learnt > moment - kLearntLately; };
  if (model_ && !is_of_late(learnt_at_)) model_.reset();
  if (lesson_ && !is_of_late(lesson_until_)) lesson_.reset();
  if (!lesson_ && !begin_lesson(round_before(moment)))
    if (const auto begun = begin_lesson(moment); !begun) return begun;
  learn(budget);
  return wire::ok();
}

wire::Result<Ghost> GhostFinder::find(Window window, LookBudget budget) {
  if (const auto sound = check_clocks(timeline_); !sound) return sound.error();
  if (const auto learnt = learn_for(window.to, budget); !learnt) return learnt.error();
  if (!model_) return wire::Error{"it is not known yet what the program does: whom its ranks wait for is looked for"};
  window.from = std::max(window.from, begin_of_latest(timeline_, window.to, kMostRankSteps));
  auto steps = steps::common_steps(timeline_, window);
  if (!steps) return steps.error();
  return ghost_of(*model_, std::move(*steps));
}

const wire::Result<Ghost>& GhostFinder::observe(Window window, LookBudget budget) {
  const bool is_same = window.from == window_.from && window.to == window_.to && events_ == timeline_.events();
  if (is_same && !is_learning() && !is_new_) return ghost_;
  window_ = window, events_ = timeline_.events(), is_new_ = false;
  ghost_ = find(window, budget);
  return ghost_;
}

}  // namespace idlewave::analysis::program
