#include "monitor/analysis/exchange.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace idlewave::analysis {
namespace {

/// Nanoseconds: times are rounded, and what is nearer is equal.
constexpr double kRounding = 4;

/// Of a post: what depends on it is not known either, for nothing is later.
constexpr double kUnknown = std::numeric_limits<double>::infinity();
constexpr double kNobody = -std::numeric_limits<double>::infinity();

/// Neighbouring ranks, round the ring.
struct Row {
  Rank ranks = 0;  ///< Of the program.
  Rank first = 0;
  std::span<const double> posts;

  Rank width() const { return Rank(posts.size()); }
  /// Asked for one by one, where a partner may not be in the row.
  double post(Rank place, Rank offset, bool ring) const {
    const Rank rank = (first + place) % ranks;
    const Rank other = rank_at(rank, offset, ranks, ring);
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

/// One stage: everybody waits for the ranks at these offsets.
void wait_for(std::span<const Rank> offsets, const Exchange& exchange, const Row& row, std::span<double> ends) {
  const double transfer = double(exchange.transfer.count());
  std::ranges::fill(ends, kNobody);
  for (const Rank offset : offsets) look_at(row, offset, exchange.ring, ends);
  for (std::size_t place = 0; place < ends.size(); ++place) {
    const double own = row.posts[place], last = ends[place];
    const double both = exchange.rendezvous ? std::max(own, last) : last;
    ends[place] = last == kNobody ? own : std::max(own, both + transfer);
  }
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
void compare_waits(const CommonSteps& steps, const Exchange& exchange, Tell tell) {
  const std::size_t ranks = steps.ranks.size();
  std::vector<double> posts(ranks), ends(ranks);
  for (std::size_t k = 0; k < steps.steps(); ++k) {
    const Nanoseconds zero = steps.ranks[0][k].post;
    for (std::size_t i = 0; i < ranks; ++i) posts[i] = double((steps.ranks[i][k].post - zero).count());
    predict_ends(exchange, posts, ends);
    for (std::size_t i = 0; i < ranks; ++i) {
      const Nanoseconds end{std::llround(ends[i])};
      tell(i, k, end + zero - steps.ranks[i][k].post, steps.ranks[i][k].end - zero - end);
    }
  }
}

void predict(const Exchange& exchange, const Row& row, std::span<double> ends) {
  if (!exchange.split) return wait_for(offsets_of(exchange, exchange.distances), exchange, row, ends);
  std::vector<double> now(row.posts.begin(), row.posts.end());
  std::ranges::copy(row.posts, ends.begin());
  for (const Rank& distance : exchange.distances) {
    wait_for(offsets_of(exchange, {&distance, 1}), exchange, {row.ranks, row.first, now}, ends);
    std::ranges::copy(ends, now.begin());
  }
}

}  // namespace

void predict_ends(const Exchange& exchange, std::span<const double> posts, std::span<double> ends) {
  predict(exchange, {Rank(posts.size()), 0, posts}, ends);
}

void predict_ends(const Exchange& exchange, const StepSample& sample, std::size_t row, std::span<double> ends) {
  std::vector<double> posts;
  for (const double post : sample.posts(row)) posts.push_back(std::isnan(post) ? kUnknown : post);
  predict(exchange, {sample.ranks(), sample.rank(row, 0), posts}, ends);
  std::ranges::replace(ends, kUnknown, std::numeric_limits<double>::quiet_NaN());
}

LateMessages late_messages(const CommonSteps& steps, const Exchange& exchange) {
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
  found.late.assign(steps.ranks.size(), std::vector<Nanoseconds>(steps.steps()));
  compare_waits(steps, found.exchange, [&](std::size_t rank, std::size_t k, Nanoseconds, Nanoseconds longer) {
    if (double(longer.count()) > kRounding) found.late[rank][k] = longer;
  });
  return found;
}

Unexplained unexplained_waits(const CommonSteps& steps, const Exchange& exchange) {
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

}  // namespace idlewave::analysis
