#include "monitor/analysis/exchange.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace idlewave::analysis {
namespace {

/// Nanoseconds: times are rounded, and what is nearer is equal.
constexpr double kRounding = 4;

constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();

/// Neighbouring ranks, round the ring.
struct Row {
  Rank ranks = 0;  ///< Of the program.
  Rank first = 0;
  std::span<const double> posts;

  Rank rank(std::size_t place) const {
    const Rank rank = first + Rank(place);
    return rank < ranks ? rank : rank - ranks;
  }
  /// -infinity where there is none, not a number where it is not in the row.
  double post(Rank rank, Rank offset, bool ring) const {
    const Rank other = rank_at(rank, offset, ranks, ring);
    if (other < 0) return -std::numeric_limits<double>::infinity();
    const auto its = std::size_t(other >= first ? other - first : other - first + ranks);
    return its < posts.size() ? posts[its] : kUnknown;
  }
};

/// One stage: everybody waits for the ranks at these offsets.
void wait_for(std::span<const Rank> offsets, const Exchange& exchange, const Row& row, std::span<double> ends) {
  const double transfer = double(exchange.transfer.count());
  for (std::size_t place = 0; place < row.posts.size(); ++place) {
    const double own = row.posts[place];
    const Rank rank = row.rank(place);
    double last = -std::numeric_limits<double>::infinity();
    for (const Rank offset : offsets) {
      const double post = row.post(rank, offset, exchange.ring);
      last = post > last || std::isnan(post) ? post : last;
      if (std::isnan(last)) break;
    }
    const bool alone = last == -std::numeric_limits<double>::infinity();
    const double both = exchange.rendezvous ? std::max(own, last) : last;
    ends[place] = alone ? own : std::isnan(last) || std::isnan(own) ? kUnknown : std::max(own, both + transfer);
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

}  // namespace

namespace {

void predict(const Exchange& exchange, Row row, std::span<double> ends) {
  if (!exchange.split) return wait_for(offsets_of(exchange, exchange.distances), exchange, row, ends);
  std::vector<double> now(row.posts.begin(), row.posts.end());
  std::ranges::copy(row.posts, ends.begin());
  row.posts = now;
  for (const Rank& distance : exchange.distances) {
    wait_for(offsets_of(exchange, {&distance, 1}), exchange, row, ends);
    std::ranges::copy(ends, now.begin());
  }
}

}  // namespace

void predict_ends(const Exchange& exchange, std::span<const double> posts, std::span<double> ends) {
  predict(exchange, {Rank(posts.size()), 0, posts}, ends);
}

void predict_ends(const Exchange& exchange, const StepSample& sample, std::size_t row, std::span<double> ends) {
  predict(exchange, {sample.ranks(), sample.rank(row, 0), sample.posts(row)}, ends);
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
