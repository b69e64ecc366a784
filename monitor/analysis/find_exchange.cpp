#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <set>

#include "monitor/analysis/exchange.h"
#include "monitor/analysis/least_squares.h"

namespace idlewave::analysis {
namespace {

/// So many rows tell what a message takes.
constexpr std::size_t kRowsForTransfer = 32;
/// Partners are looked for up to this distance, and not farther than half round.
constexpr Rank kFarthest = 12;
constexpr std::size_t kMostDistances = 6;
/// Of a search that goes on.
constexpr std::size_t kMostStarts = 4;
constexpr int kMostRounds = 8;
constexpr double kLeastGain = 0.02;
/// So much of a difference goes with what is worth another distance, and with rules that are less simple.
constexpr double kWorthIt = 0.1, kWorthRules = 0.3;
/// Without partners ends are off by so much more.
constexpr double kExplains = 0.7;
/// Of the time by which others are later than a rank: what it may ignore of its partner's.
constexpr double kIgnored = 0.2;

class Fit {
 public:
  explicit Fit(const StepSample& sample) : sample_(sample), alone_(off_alone()) {
    for (const bool ring : {true, false}) find_possible(ring);
  }

  Exchange best() {
    for (const bool split : {false, true})
      for (const bool rendezvous : {false, true})
        for (const bool ring : {true, false}) consider({.ring = ring, .rendezvous = rendezvous, .split = split});
    if (!is_told()) search_on();
    if (!has_found()) return {.distances = {-1, 1}, .transfer = transfer_in({.distances = {-1, 1}})};
    best_.certain = true;
    tidy();
    return best_;
  }

  Nanoseconds transfer_in(const Exchange& exchange) const { return timed(exchange).transfer; }

 private:
  static constexpr double kAny = std::numeric_limits<double>::infinity();

  /// What a message takes, and by how much ends are off then, if by less than `most`; else that is infinity.
  struct Timed {
    Nanoseconds transfer{};
    double off = 0;
  };
  /// What waits lasted beyond what they last if messages take no time, shared out among as many messages as may follow
  /// one another: of some such times the one by which the ends are nearest.
  Timed timed(Exchange exchange, double most = kAny) const {
    exchange.transfer = {};
    std::vector<double> beyond = beyond_of(exchange);
    Timed best{{}, off_by(exchange, most)};
    std::set<Nanoseconds> tried{best.transfer};
    const std::size_t messages = exchange.split ? exchange.distances.size() : 1;
    for (const double quantile : {0.1, 0.5, 0.9}) {
      if (beyond.empty()) break;
      const auto at = beyond.begin() + std::ptrdiff_t(quantile * double(beyond.size() - 1));
      std::ranges::nth_element(beyond, at);
      for (std::size_t in_a_row = 1; in_a_row <= messages; ++in_a_row) {
        exchange.transfer = Nanoseconds(std::llround(*at / double(in_a_row)));
        if (!tried.insert(exchange.transfer).second) continue;
        if (const double its = off_by(exchange, std::min(most, best.off)); its < best.off)
          best = {exchange.transfer, its};
      }
    }
    return best;
  }

  /// Of waits of some rows: by how much longer they lasted.
  std::vector<double> beyond_of(const Exchange& exchange) const {
    std::vector<double> beyond;
    EndPredictor predictor(exchange);
    const std::size_t stride = std::max<std::size_t>(1, sample_.rows() / kRowsForTransfer);
    for (std::size_t row = 0; row < sample_.rows(); row += stride) {
      const auto ends = predictor.ends(sample_, row), seen = sample_.ends(row), posts = sample_.posts(row);
      for (std::size_t i = 0; i < ends.size(); ++i)
        if (seen[i] > posts[i] + kRounding && std::isfinite(ends[i]))
          beyond.push_back(std::max(0.0, seen[i] - ends[i]));
    }
    return beyond;
  }

  /// Each wait lasts as long as any other.
  double off_alone() const {
    std::vector<double> waits;
    for (std::size_t row = 0; row < sample_.rows(); ++row)
      for (std::size_t i = 0; i < sample_.width(); ++i)
        if (const double wait = sample_.ends(row)[i] - sample_.posts(row)[i]; !std::isnan(wait)) waits.push_back(wait);
    if (waits.empty()) return 0;
    const double usual = median(waits);
    double sum = 0;
    for (const double wait : waits) sum += std::abs(wait - usual);
    return sum / double(waits.size());
  }

  bool has_found() const { return alone_ > kRounding && off_ < kExplains * alone_ && !best_.distances.empty(); }

  double off_by(const Exchange& exchange, double most = kAny) const { return mean_difference(sample_, exchange, most); }

  /// What is off by less is better, by what it is worth.
  static double worth_less(double off, double worth) { return (1 - worth) * off - kRounding; }
  static bool is_better(double off, double than, double worth = kWorthIt) { return off < worth_less(than, worth); }

  /// Simpler ones come first: where one of them leaves nothing to be told the others are not looked at.
  bool is_told() const { return has_found() && off_ <= kRounding; }

  void consider(const Exchange& rules) {
    if (is_told()) return;
    const Exchange exchange = grown(rules);
    const double off = off_by(exchange);
    if (exchange.split && !exchange.distances.empty()) starts_.push_back({exchange, off});
    take(exchange, off);
  }

  void take(const Exchange& exchange, double off) {
    if (best_.distances.empty() || is_better(off, off_, kWorthRules)) best_ = exchange, off_ = off;
  }

  /// Whom a rank never leaves behind: what it ignores of a partner's being late is little.
  void find_possible(bool ring) {
    const Rank ranks = sample_.ranks();
    const Rank farthest = std::min<Rank>(kFarthest, ring ? ranks / 2 : ranks - 1);
    auto& possible = possible_[ring];
    for (Rank offset = -farthest; offset <= farthest; ++offset) {
      if (offset != 0 && ignored(offset, ring) <= kIgnored) possible.push_back(-offset);
    }
    std::ranges::sort(possible, {}, [](Rank distance) { return std::pair(std::abs(distance), distance < 0); });
  }

  double ignored(Rank offset, bool ring) const {
    double late = 0, ignored = 0;
    for (std::size_t row = 0; row < sample_.rows(); ++row) {
      const auto posts = sample_.posts(row), ends = sample_.ends(row);
      for (std::size_t i = 0; i < posts.size(); ++i) {
        const Rank other = rank_at(sample_.rank(row, i), offset, sample_.ranks(), ring);
        const std::ptrdiff_t place = other < 0 ? -1 : sample_.place(row, other);
        if (place < 0 || !(posts[std::size_t(place)] > posts[i]) || std::isnan(ends[i])) continue;
        late += posts[std::size_t(place)] - posts[i];
        ignored += std::max(0.0, posts[std::size_t(place)] - ends[i]);
      }
    }
    return late > 0 ? ignored / late : 0;
  }

  /// Distance by distance, as long as another is worth it.
  Exchange grown(Exchange exchange) {
    double off = off_by(exchange);
    while (exchange.distances.size() < kMostDistances) {
      const auto [more, better] = with_another(exchange, worth_less(off, kWorthIt));
      if (more.distances.size() == exchange.distances.size()) break;
      exchange = more, off = better;
    }
    return exchange;
  }

  /// If ends are nearer then: with what its messages take.
  bool take_time(Exchange& exchange, double& off) const {
    const Timed its = timed(exchange, off);
    if (!(its.off < off)) return false;
    exchange.transfer = its.transfer, off = its.off;
    return true;
  }

  /// The best of those by which ends are off by less; else what is given.
  std::pair<Exchange, double> with_another(const Exchange& exchange, double off) const {
    Exchange best = exchange;
    for (const Rank distance : possible_[exchange.ring]) {
      if (std::ranges::find(exchange.distances, distance) != exchange.distances.end()) continue;
      const std::size_t places = exchange.split ? exchange.distances.size() + 1 : 1;
      for (std::size_t place = 0; place < places; ++place) {
        Exchange more = exchange;
        more.distances.insert(more.distances.begin() + std::ptrdiff_t(place), distance);
        if (take_time(more, off)) best = std::move(more);
      }
    }
    return {best, off};
  }

  /// With split waits distances do not add up one by one: from where that has led, whatever change is best, as long as
  /// there is one.
  void search_on() {
    std::ranges::sort(starts_, {}, &Start::off);
    for (std::size_t i = 0; i < std::min(kMostStarts, starts_.size()) && !is_told(); ++i) {
      auto [exchange, off] = starts_[i];
      for (int round = 0; round < kMostRounds && off > kRounding; ++round) {
        const auto [other, its] = changed(exchange, off);
        if (!is_better(its, off, kLeastGain)) break;
        exchange = other, off = its;
      }
      take(exchange, off);
    }
  }

  /// Of two waits, one after the other, the sum may explain more by itself than each of them does.
  static Exchange in_two(Exchange exchange, std::size_t place, Rank first) {
    auto& distances = exchange.distances;
    const Rank second = distances[place] - first;
    const auto has = [&](Rank distance) { return std::ranges::find(distances, distance) != distances.end(); };
    if (first == 0 || second == 0 || first == second || has(first) || has(second)) return exchange;
    distances[place] = first;
    distances.insert(distances.begin() + std::ptrdiff_t(place) + 1, second);
    return exchange;
  }

  /// The best of all that differ in one distance, or in the order of two.
  std::pair<Exchange, double> changed(const Exchange& exchange, double off) {
    Exchange best = exchange;
    const auto look_at = [&](Exchange other) {
      if (take_time(other, off)) best = std::move(other);
    };
    const std::size_t size = exchange.distances.size();
    for (std::size_t i = 0; i < size; ++i) {
      for (std::size_t j = i + 1; j < size; ++j) {
        Exchange other = exchange;
        std::swap(other.distances[i], other.distances[j]);
        look_at(std::move(other));
      }
    }
    for (std::size_t i = 0; i < size && size < kMostDistances; ++i)
      for (const Rank distance : possible_[exchange.ring]) look_at(in_two(exchange, i, distance));
    for (const Rank distance : possible_[exchange.ring]) {
      if (std::ranges::find(exchange.distances, distance) != exchange.distances.end()) continue;
      for (std::size_t i = 0; i <= size; ++i) {
        Exchange other = exchange;
        if (i < size) other.distances[i] = distance, look_at(other);
        other.distances = exchange.distances;
        other.distances.insert(other.distances.begin() + std::ptrdiff_t(i), distance);
        if (size < kMostDistances) look_at(std::move(other));
      }
    }
    best.transfer = refined_transfer(best, off);
    return {best, off_by(best)};
  }

  /// From the one that there is, by halves of steps, to where ends are nearest.
  Nanoseconds refined_transfer(Exchange exchange, double off) const {
    Nanoseconds best = exchange.transfer;
    for (Nanoseconds step = best / 4; step > Nanoseconds{1}; step /= 2) {
      for (const Nanoseconds tried : {best - step, best + step}) {
        exchange.transfer = tried;
        if (const double its = off_by(exchange, off); its < off) best = tried, off = its;
      }
    }
    return best;
  }

  /// Without distances that others do the work of, and in the order that serves best.
  void tidy() {
    for (std::size_t i = 0; i < best_.distances.size() && best_.distances.size() > 1;) {
      Exchange less = best_;
      less.distances.erase(less.distances.begin() + std::ptrdiff_t(i));
      const double off = off_by(less);
      if (is_better(off_, off))
        ++i;
      else
        best_ = less, off_ = off, i = 0;
    }
    if (best_.split && best_.distances.size() > 1) return reorder();
    best_.split = false;
    if (best_.rendezvous) add_receivers();
    std::ranges::sort(best_.distances);
  }

  void reorder() {
    Exchange other = best_;
    std::ranges::sort(other.distances);
    if (other.distances.size() > 4) return;
    do {
      other.transfer = transfer_in(other);
      if (const double off = off_by(other); off + kRounding < off_) best_ = other, off_ = off;
    } while (std::next_permutation(other.distances.begin(), other.distances.end()));
  }

  void add_receivers() {
    const std::vector<Rank> senders = best_.distances;
    for (const Rank distance : senders)
      if (std::ranges::find(best_.distances, -distance) == best_.distances.end() && 2 * distance != sample_.ranks())
        best_.distances.push_back(-distance);
  }

  const StepSample& sample_;
  /// Nanoseconds by which ends are off if all waits last as long.
  double alone_;
  /// Distances, near ones first; by whether the ranks are a ring.
  std::vector<Rank> possible_[2];
  struct Start {
    Exchange exchange;
    double off = 0;
  };
  std::vector<Start> starts_;
  Exchange best_;
  double off_ = 0;
};

}  // namespace

Exchange find_exchange(const StepSample& sample) { return Fit(sample).best(); }

Exchange with_transfer(const StepSample& sample, Exchange exchange) {
  exchange.transfer = Fit(sample).transfer_in(exchange);
  return exchange;
}

}  // namespace idlewave::analysis
