#include "monitor/analysis/partners/exchange.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace idlewave::analysis::partners {
namespace {

/// Of a post: what depends on it is not known either, for nothing is later.
constexpr double kUnknown = std::numeric_limits<double>::infinity();
constexpr double kNobody = -std::numeric_limits<double>::infinity();

/// Neighbouring ranks, round the ring.
struct Row {
  Rank ranks = 0;  ///< Of the program.
  Rank first = 0;
  std::span<const double> posts;  ///< When they have done what others wait for.

  Rank width() const { return Rank(posts.size()); }
  /// Asked for one by one, where a partner may not be in the row.
  double post(Rank place, Rank offset, bool ring) const {
    const Rank rank = (first + place) % ranks;
    const Rank other = steps::rank_at(rank, offset, ranks, ring);
    if (other < 0) return kNobody;
    const Rank its = (other - first + ranks) % ranks;
    return its < width() ? posts[std::size_t(its)] : kUnknown;
  }
};

/// Makes `last` of each place the post of the rank at this offset, if that is later.
void look_at(const Row& row, Rank offset, bool ring, std::span<double> last) {
  const auto one_by_one = [&](Rank from, Rank to) {
    for (Rank place = from; place < to; ++place)
      last[std::size_t(place)] = std::max(last[std::size_t(place)], row.post(place, offset, ring));
  };
  const auto all_at_once = [&](Rank from, Rank to) {
    for (Rank place = from; place < to; ++place)
      last[std::size_t(place)] = std::max(last[std::size_t(place)], row.posts[std::size_t(place + offset)]);
  };
  const Rank width = row.width();
  const Rank from = std::clamp(-offset, 0, width), to = std::clamp(width - offset, from, width);
  // In a chain the last rank and the first are beside each other in the row alone.
  const Rank seam = ring ? width : std::min(width, row.ranks - row.first);
  const Rank cut = std::clamp(seam - std::max(offset, 0), from, to);
  const Rank goes_on = std::clamp(seam - std::min(offset, 0), cut, to);
  one_by_one(0, from);
  all_at_once(from, cut);
  one_by_one(cut, goes_on);
  all_at_once(goes_on, to);
  one_by_one(to, width);
}

/// Makes of who is `last` among a place's partners the end of its wait. Without a branch, so that places are gone through
/// several at once: most of the time of a search is spent here.
void wait_for_last(std::span<const double> posts, bool rendezvous, double transfer, std::span<double> last) {
  const auto each = [&](auto begins) {
    for (std::size_t place = 0; place < last.size(); ++place) {
      const double own = posts[place], its = last[place];
      last[place] = std::max(own, begins(own, its) + (its == kNobody ? 0 : transfer));
    }
  };
  if (rendezvous)
    each([](double own, double its) { return std::max(own, its); });
  else
    each([](double, double its) { return its; });
}

std::vector<Rank> offsets_of(const Exchange& exchange, std::span<const Rank> distances) {
  std::vector<Rank> offsets;
  for (const Rank distance : distances) {
    offsets.push_back(-distance);
    if (exchange.rendezvous) offsets.push_back(distance);
  }
  return offsets;
}

/// Calls `tell` with rank, step, how long the rank waited by the exchange, and how much longer it did.
template <class Tell>
void compare_waits(const steps::CommonSteps& steps, const Exchange& exchange, Tell tell) {
  const std::size_t ranks = steps.ranks.size();
  std::vector<double> posts(ranks);
  EndPredictor predictor(exchange);
  for (std::size_t k = 0; k < steps.steps(); ++k) {
    const Nanoseconds zero = steps.ranks[0][k].post;
    for (std::size_t i = 0; i < ranks; ++i) posts[i] = double((steps.ranks[i][k].post - zero).count());
    const auto ends = predictor.ends(posts);
    for (std::size_t i = 0; i < ranks; ++i) {
      const Nanoseconds end{std::llround(ends[i])};
      tell(i, k, end + zero - steps.ranks[i][k].post, steps.ranks[i][k].end - zero - end);
    }
  }
}

}  // namespace

EndPredictor::EndPredictor(const Exchange& exchange)
    : ring_(exchange.ring), rendezvous_(exchange.rendezvous), transfer_(double(exchange.transfer.count())) {
  if (!exchange.split) stages_.push_back(offsets_of(exchange, exchange.distances));
  for (std::size_t i = 0; exchange.split && i < exchange.distances.size(); ++i)
    stages_.push_back(offsets_of(exchange, {&exchange.distances[i], 1}));
}

std::span<const double> EndPredictor::ends(std::span<const double> posts) {
  posts_.assign(posts.begin(), posts.end());
  done_.clear();
  return predict(Rank(posts.size()), 0);
}

std::span<const double> EndPredictor::ends(const steps::StepSample& sample, std::size_t row) {
  const auto take = [](std::span<const double> times, std::vector<double>& into) {
    into.resize(times.size());
    std::ranges::transform(times, into.begin(), [](double time) { return std::isnan(time) ? kUnknown : time; });
  };
  take(sample.posts(row), posts_);
  if (sample.works_first())
    done_.clear();
  else
    take(sample.done(row), done_);
  return predict(sample.ranks(), sample.rank(row, 0));
}

/// Who has gone through a stage begins to wait in the next.
std::span<const double> EndPredictor::predict(Rank ranks, Rank first) {
  for (std::size_t stage = 0; stage < stages_.size(); ++stage) {
    if (stage > 0) posts_.swap(ends_);
    ends_.assign(posts_.size(), kNobody);
    for (const Rank offset : stages_[stage])
      look_at({ranks, first, done_.empty() ? posts_ : done_}, offset, ring_, ends_);
    wait_for_last(posts_, rendezvous_, transfer_, ends_);
  }
  return stages_.empty() ? posts_ : ends_;
}

std::size_t EndPredictor::offsets() const {
  std::size_t sum = 0;
  for (const auto& stage : stages_) sum += stage.size();
  return sum;
}

WaitTimes beyond_exchange(const steps::CommonSteps& steps, const Exchange& exchange) {
  WaitTimes beyond(steps.ranks.size(), std::vector<Nanoseconds>(steps.steps()));
  compare_waits(steps, exchange,
                [&](std::size_t rank, std::size_t k, Nanoseconds, Nanoseconds longer) { beyond[rank][k] = longer; });
  return beyond;
}

LateMessages late_messages(const steps::CommonSteps& steps, const Exchange& exchange) {
  constexpr std::size_t kLeastOf = 20;
  LateMessages found{exchange, {}};
  std::vector<Nanoseconds> beyond;
  compare_waits(steps, exchange, [&](std::size_t, std::size_t, Nanoseconds waits, Nanoseconds longer) {
    if (waits > exchange.transfer) beyond.push_back(longer);
  });
  if (!beyond.empty()) {
    const auto least = beyond.begin() + std::ptrdiff_t(beyond.size() / kLeastOf);
    std::ranges::nth_element(beyond, least);
    found.exchange.transfer = std::max(Nanoseconds{0}, exchange.transfer + std::min(Nanoseconds{0}, *least));
  }
  found.late = beyond_exchange(steps, found.exchange);
  for (auto& rank : found.late)
    for (Nanoseconds& each : rank)
      if (double(each.count()) <= kRounding) each = {};
  return found;
}

Unexplained unexplained_waits(const steps::CommonSteps& steps, const Exchange& exchange) {
  constexpr std::size_t kMostNamed = 8, kMostKept = 4096;
  constexpr double kWorthNaming = 0.01;
  std::vector<Unexplained::Wait> waits;
  double all = 0, unexplained = 0;
  const auto cut = [&] {
    const auto named = waits.begin() + std::ptrdiff_t(std::min(kMostNamed, waits.size()));
    std::partial_sort(waits.begin(), named, waits.end(),
                      [](const auto& a, const auto& b) { return std::abs(a.time.count()) > std::abs(b.time.count()); });
    waits.erase(named, waits.end());
  };
  compare_waits(steps, exchange, [&](std::size_t rank, std::size_t k, Nanoseconds, Nanoseconds longer) {
    all += double(steps.ranks[rank][k].end.count() - steps.ranks[rank][k].post.count());
    unexplained += std::abs(double(longer.count()));
    waits.push_back({Rank(rank), k, longer});
    if (waits.size() >= kMostKept) cut();
  });
  cut();
  std::erase_if(waits, [&](const auto& wait) {
    return wait.time == Nanoseconds{0} || std::abs(double(wait.time.count())) < kWorthNaming * unexplained;
  });
  return {all > 0 ? unexplained / all : 0, std::move(waits)};
}

}  // namespace idlewave::analysis::partners
