#include "monitor/analysis/partners/exchange_search.h"

#include <algorithm>
#include <cstdlib>
#include <utility>

namespace idlewave::analysis::partners {
namespace {

/// Partners are looked for up to this distance, and not farther than half round.
constexpr Rank kFarthest = 12;
constexpr std::size_t kMostDistances = 6;
/// More waits than these are not put in order.
constexpr std::size_t kMostReordered = 4;
/// Of a search that goes on.
constexpr std::size_t kMostStarts = 4;
constexpr int kMostRounds = 8;
constexpr double kLeastGain = 0.02;
/// So much of a difference goes with what is worth another distance, and with rules that are less simple.
constexpr double kWorthIt = 0.1, kWorthRules = 0.3;
/// Without partners ends are off by so much more.
constexpr double kExplains = 0.7;
/// Where times tell all there is to be told.
constexpr double kMuchNearer = 0.5;
/// Of the time by which others are later than a rank: what it may ignore of its partner's.
constexpr double kIgnored = 0.2;

/// Simple ones first.
constexpr std::size_t kRules = 8, kRulesOfOneWay = 2;
Exchange rules(std::size_t number) {
  return {.ring = number % 2 == 0, .rendezvous = number / 2 % 2 == 1, .split = number / 4 == 1};
}

/// What is off by less is better, by what it is worth.
double worth_less(double off, double worth) { return (1 - worth) * off - kRounding; }
bool is_better(double off, double than, double worth = kWorthIt) { return off < worth_less(than, worth); }

bool has(const Exchange& exchange, Rank distance) {
  return std::ranges::find(exchange.distances, distance) != exchange.distances.end();
}

Exchange with(Exchange exchange, std::size_t place, Rank distance) {
  exchange.distances.insert(exchange.distances.begin() + std::ptrdiff_t(place), distance);
  return exchange;
}

Exchange without(Exchange exchange, std::size_t place) {
  exchange.distances.erase(exchange.distances.begin() + std::ptrdiff_t(place));
  return exchange;
}

/// Of two waits, one after the other, the sum may explain more by itself than each of them does.
Exchange in_two(Exchange exchange, std::size_t place, Rank first) {
  const Rank second = exchange.distances[place] - first;
  if (first == 0 || second == 0 || first == second || has(exchange, first) || has(exchange, second)) return exchange;
  exchange.distances[place] = first;
  return with(std::move(exchange), place + 1, second);
}

}  // namespace

ExchangeSearch::ExchangeSearch(steps::StepSample sample)
    : sample_(std::move(sample)), alone_(fit_.off_alone()), offset_(-farthest(true)) {}

bool ExchangeSearch::advance(LookBudget& budget) {
  while (!is_done() && !budget.is_spent()) {
    const std::uint64_t before = fit_.looks();
    step();
    budget.spend(fit_.looks() - before);
  }
  return !is_done();
}

void ExchangeSearch::step() {
  const bool goes_on = contest_.next < contest_.candidates.size();
  switch (doing_) {
    case Doing::kAsksWhoIsIgnored: return ask_next_offset();
    case Doing::kGrows: return goes_on ? try_next_candidate() : end_growth();
    case Doing::kChanges: return goes_on ? try_next_candidate() : end_round();
    case Doing::kDrops: return drop();
    case Doing::kReorders: return try_next_order();
    case Doing::kIsDone: return;
  }
}

Rank ExchangeSearch::farthest(bool ring) const {
  return std::min<Rank>(kFarthest, ring ? sample_.ranks() / 2 : sample_.ranks() - 1);
}

bool ExchangeSearch::has_found() const {
  return alone_ > kRounding && best_.off < kExplains * alone_ && !best_.exchange.distances.empty();
}

/// Nothing is left to be told.
bool ExchangeSearch::is_told() const { return has_found() && best_.off <= kRounding; }

void ExchangeSearch::take(const Fitted& fitted) {
  if (best_.exchange.distances.empty() || is_better(fitted.off, best_.off, kWorthRules)) best_ = fitted;
}

void ExchangeSearch::hold_contest(Doing doing, std::vector<Exchange> candidates, double off) {
  doing_ = doing;
  contest_ = {.candidates = std::move(candidates), .next = 0, .best = {here_.exchange, off}, .is_won = false};
}

/// With what its messages take.
void ExchangeSearch::try_next_candidate() {
  Exchange& candidate = contest_.candidates[contest_.next++];
  const ExchangeFit::Timed its = fit_.timed(candidate, contest_.best.off);
  if (!(its.off < contest_.best.off)) return;
  candidate.transfer = its.transfer;
  contest_.best = {std::move(candidate), its.off};
  contest_.is_won = true;
}

/// Whom a rank never leaves behind: what it ignores of a partner's being late is little.
void ExchangeSearch::ask_next_offset() {
  auto& possible = possible_[asks_of_ring_];
  if (offset_ <= farthest(asks_of_ring_)) {
    if (offset_ != 0 && fit_.ignored(offset_, asks_of_ring_) <= kIgnored) possible.push_back(-offset_);
    ++offset_;
    return;
  }
  std::ranges::sort(possible, {}, [](Rank distance) { return std::pair(std::abs(distance), distance < 0); });
  if (!asks_of_ring_) return begin_rules();
  asks_of_ring_ = false;
  offset_ = -farthest(false);
}

/// Where some rules leave nothing to be told others are not looked at.
void ExchangeSearch::begin_rules() {
  if (rules_ == (sample_.works_first() ? kRules : kRulesOfOneWay) || is_told()) return begin_changes();
  here_.exchange = rules(rules_);
  here_.off = fit_.off_by(here_.exchange);
  look_for_another_distance();
}

void ExchangeSearch::look_for_another_distance() {
  hold_contest(Doing::kGrows, with_another_distance(here_.exchange), worth_less(here_.off, kWorthIt));
}

void ExchangeSearch::end_growth() {
  if (!contest_.is_won) return end_rules();
  here_ = std::move(contest_.best);
  look_for_another_distance();
}

void ExchangeSearch::end_rules() {
  if (here_.exchange.split && !here_.exchange.distances.empty()) starts_.push_back(here_);
  take(here_);
  ++rules_;
  begin_rules();
}

std::vector<Exchange> ExchangeSearch::with_another_distance(const Exchange& exchange) const {
  std::vector<Exchange> candidates;
  if (exchange.distances.size() == kMostDistances) return candidates;
  const std::size_t places = exchange.split ? exchange.distances.size() + 1 : 1;
  for (const Rank distance : possible_[exchange.ring])
    for (std::size_t place = 0; place < places && !has(exchange, distance); ++place)
      candidates.push_back(with(exchange, place, distance));
  return candidates;
}

/// With split waits distances do not add up one by one: from where that has led, whatever change is best, as long as there
/// is one.
void ExchangeSearch::begin_changes() {
  std::ranges::sort(starts_, {}, &Fitted::off);
  begin_start();
}

void ExchangeSearch::begin_start() {
  if (start_ == std::min(kMostStarts, starts_.size()) || is_told()) return conclude();
  here_ = starts_[start_];
  round_ = 0;
  begin_round();
}

void ExchangeSearch::begin_round() {
  if (round_ == kMostRounds || here_.off <= kRounding) return end_start();
  hold_contest(Doing::kChanges, changes_of(here_.exchange), here_.off);
}

void ExchangeSearch::end_round() {
  Fitted other = std::move(contest_.best);
  other.exchange.transfer = fit_.refined_transfer(other.exchange, other.off);
  other.off = fit_.off_by(other.exchange);
  if (!is_better(other.off, here_.off, kLeastGain)) return end_start();
  here_ = std::move(other);
  ++round_;
  begin_round();
}

void ExchangeSearch::end_start() {
  take(here_);
  ++start_;
  begin_start();
}

/// All that differ in one distance, or in the order of two.
std::vector<Exchange> ExchangeSearch::changes_of(const Exchange& exchange) const {
  std::vector<Exchange> changes;
  const std::size_t size = exchange.distances.size();
  for (std::size_t i = 0; i < size; ++i) {
    for (std::size_t j = i + 1; j < size; ++j) {
      auto& distances = changes.emplace_back(exchange).distances;
      std::swap(distances[i], distances[j]);
    }
  }
  for (std::size_t i = 0; i < size && size < kMostDistances; ++i)
    for (const Rank distance : possible_[exchange.ring]) changes.push_back(in_two(exchange, i, distance));
  add_other_distances(exchange, changes);
  return changes;
}

/// In the place of another one, and beside them all.
void ExchangeSearch::add_other_distances(const Exchange& exchange, std::vector<Exchange>& changes) const {
  const std::size_t size = exchange.distances.size();
  for (const Rank distance : possible_[exchange.ring]) {
    if (has(exchange, distance)) continue;
    for (std::size_t i = 0; i <= size; ++i) {
      if (i < size) changes.emplace_back(exchange).distances[i] = distance;
      if (size < kMostDistances) changes.push_back(with(exchange, i, distance));
    }
  }
}

void ExchangeSearch::conclude() {
  doing_ = has_found() ? Doing::kDrops : Doing::kIsDone;
  if (!is_done()) return;
  best_.exchange = {.distances = {-1, 1}};
  best_.exchange.transfer = fit_.timed(best_.exchange).transfer;
}

/// Of thousands of ranks one alone may tell whether there are ends, and that in one step: in the mean of all that is no more
/// than rounding.
void ExchangeSearch::ask_for_ends() {
  if (!is_told()) return;
  Exchange other = best_.exchange;
  other.ring = !other.ring;
  if (const double off = fit_.off_by(other); off < kMuchNearer * best_.off) best_ = {std::move(other), off};
}

void ExchangeSearch::drop() {
  ask_for_ends();
  best_.exchange.certain = true;
  for (std::size_t i = 0; i < best_.exchange.distances.size() && best_.exchange.distances.size() > 1;) {
    const Exchange less = without(best_.exchange, i);
    const double off = fit_.off_by(less);
    if (is_better(best_.off, off))
      ++i;
    else
      best_ = {less, off}, i = 0;
  }
  tidy();
}

void ExchangeSearch::tidy() {
  Exchange& best = best_.exchange;
  doing_ = Doing::kIsDone;
  if (best.split && best.distances.size() > 1) {
    order_ = best;
    std::ranges::sort(order_.distances);
    if (best.distances.size() <= kMostReordered) doing_ = Doing::kReorders;
    return;
  }
  best.split = false;
  if (best.rendezvous) add_receivers();
  std::ranges::sort(best.distances);
}

void ExchangeSearch::add_receivers() {
  Exchange& best = best_.exchange;
  const std::vector<Rank> senders = best.distances;
  for (const Rank distance : senders)
    if (!has(best, -distance) && 2 * distance != sample_.ranks()) best.distances.push_back(-distance);
}

void ExchangeSearch::try_next_order() {
  order_.transfer = fit_.timed(order_).transfer;
  if (const double off = fit_.off_by(order_); off + kRounding < best_.off) best_ = {order_, off};
  if (!std::next_permutation(order_.distances.begin(), order_.distances.end())) doing_ = Doing::kIsDone;
}

Exchange find_exchange(const steps::StepSample& sample) {
  ExchangeSearch search(sample);
  LookBudget unlimited;
  search.advance(unlimited);
  return search.found();
}

}  // namespace idlewave::analysis::partners
