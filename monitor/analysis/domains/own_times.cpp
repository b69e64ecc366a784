#include "monitor/analysis/domains/own_times.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <tuple>

#include "monitor/analysis/domains/service.h"
#include "monitor/theory/contention.h"
#include "monitor/theory/distributions.h"

namespace idlewave::analysis::domains {
namespace {

/// Of the work: less is none.
constexpr double kSilent = 1e-4;
/// A distribution with more parameters has to be nearer by so much.
constexpr double kBetter = 0.8;
/// Of the most noise: times are rounded, and what is nearer is equal.
constexpr double kNear = 1e-4;
constexpr std::size_t kMostLooked = 20'000;

Bandwidth bandwidth_of(const steps::Work::Memory& memory) {
  return [&memory](int active) {
    if (!memory.curve.empty()) return memory.curve[std::min(std::size_t(active), memory.curve.size()) - 1];
    return theory::domain_bandwidth(double(active), memory.core_bandwidth, memory.saturated_bandwidth);
  };
}

/// A rank of a domain begins its work, or begins to wait.
struct WorkTurn {
  Nanoseconds at{};
  bool posts = false;
  std::size_t rank = 0, step = 0;
  /// Of the work nothing is known but when it ends.
  bool unknown = false;
};

/// One domain from change to change. Ranks are counted from its first one.
class Domain {
 public:
  /// Nothing changes before `zero`: it is counted from there, so that rounding does not depend on when in the session
  /// that is.
  Domain(std::size_t ranks, const steps::Work::Memory& memory, Nanoseconds zero, Before before)
      : service_(ranks, bandwidth_of(memory)),
        work_(memory.volume / bandwidth_of(memory)(1) * 1e9),
        zero_(zero),
        before_(before),
        done_(ranks) {}

  /// Where the change is a post: how much later that is than the work was done.
  Nanoseconds take(const WorkTurn& change) {
    const auto at = double((change.at - zero_).count());
    go_to(at);
    if (change.posts) return Nanoseconds(std::llround(beyond(change, at)));
    if (!change.unknown)
      service_.begin(change.rank, work_);
    else if (before_ == Before::kAtWork)
      service_.begin(change.rank, std::numeric_limits<double>::infinity());
    return {};
  }

 private:
  void go_to(double at) {
    while (service_.next_end() <= at) {
      const double end = service_.next_end();
      for (const std::size_t rank : service_.end_next()) done_[rank] = end;
    }
    service_.advance(at);
  }
  /// What is left of the work would take longer in the company of this moment.
  double beyond(const WorkTurn& change, double at) {
    if (!service_.is_at_work(change.rank)) return change.unknown ? 0 : at - done_[change.rank];
    const double speed = service_.speed(), left = service_.stop(change.rank);
    return change.unknown ? 0 : -left / speed;
  }

  Service service_;
  double work_;  ///< By how long it would take alone, ns.
  Nanoseconds zero_;
  Before before_;
  std::vector<double> done_;  ///< When each rank's latest work was.
};

void find_in_domain(const steps::CommonSteps& steps, const steps::Work::Memory& memory, std::size_t first,
                    std::size_t end, Nanoseconds followed_from, Before before, OwnNoise& beyond) {
  std::vector<WorkTurn> changes;
  for (std::size_t rank = first; rank < end; ++rank) {
    for (std::size_t k = 0; k < steps.steps(); ++k) {
      const steps::RankStep& step = steps.ranks[rank][k];
      const bool unknown = step.begin < followed_from;
      changes.push_back({step.begin + step.held, false, rank - first, k, unknown});
      changes.push_back({step.post, true, rank - first, k, unknown});
    }
  }
  const auto in_order = [](const WorkTurn& change) { return std::tuple(change.at, change.step, change.posts); };
  std::ranges::sort(changes, {}, in_order);
  Domain domain(end - first, memory, changes.front().at, before);
  for (const WorkTurn& change : changes) {
    const Nanoseconds later = domain.take(change);
    if (change.posts) beyond[first + change.rank][change.step] = later;
  }
}

std::vector<double> some_of(const OwnNoise& noise) {
  const std::size_t all = noise.size() * noise.front().size(), stride = all / kMostLooked + 1;
  std::vector<double> values;
  for (std::size_t i = 0; i < all; i += stride)
    values.push_back(double(noise[i / noise.front().size()][i % noise.front().size()].count()));
  std::ranges::sort(values);
  return values;
}

/// Kolmogorov's distance: the largest difference between the shares of what is smaller.
template <class Cumulative>
double distance(std::span<const double> sorted, Cumulative cumulative) {
  const double near = kNear * sorted.back();
  double most = 0;
  for (std::size_t i = 0; i < sorted.size();) {
    std::size_t next = i;
    while (next < sorted.size() && sorted[next] == sorted[i]) ++next;
    const double n = double(sorted.size());
    most =
        std::max({most, double(next) / n - cumulative(sorted[i] + near), cumulative(sorted[i] - near) - double(i) / n});
    i = next;
  }
  return most;
}

}  // namespace

OwnNoise beyond_work(const steps::CommonSteps& steps, const steps::Work& work, Rank ranks_per_domain,
                     std::span<const Nanoseconds> followed_from, Before before) {
  OwnNoise beyond(steps.ranks.size(), std::vector<Nanoseconds>(steps.steps()));
  if (work.memory) {
    const auto each = std::size_t(ranks_per_domain);
    for (std::size_t first = 0; first < beyond.size(); first += each)
      find_in_domain(steps, *work.memory, first, std::min(first + each, beyond.size()),
                     followed_from.empty() ? Nanoseconds::min() : followed_from[first / each], before, beyond);
    return beyond;
  }
  for (std::size_t rank = 0; rank < beyond.size(); ++rank) {
    for (std::size_t k = 0; k < steps.steps(); ++k) {
      const steps::RankStep& step = steps.ranks[rank][k];
      beyond[rank][k] = step.work() + step.noise - work.time;
    }
  }
  return beyond;
}

OwnNoise find_own_noise(const steps::CommonSteps& steps, const steps::Work& work, Rank ranks_per_domain) {
  OwnNoise noise = beyond_work(steps, work, ranks_per_domain);
  for (auto& rank : noise)
    for (Nanoseconds& each : rank) each = std::max(each, Nanoseconds{0});
  return noise;
}

NoiseModel fit_noise(const OwnNoise& noise, const steps::Work& work) {
  const std::vector<double> values = some_of(noise);
  const double count = double(values.size());
  double sum = 0, squares = 0, largest = values.back();
  for (const double value : values) sum += value, squares += value * value;
  const double mean = sum / count, variance = squares / count - mean * mean;
  if (mean < kSilent * double(work.time.count()) || variance <= 0) return {};
  std::vector<NoiseModel> models;
  const auto add = [&](NoiseModel::Kind kind, double shape, auto cumulative) {
    models.push_back({kind, Nanoseconds(std::llround(mean)), shape, distance(values, cumulative)});
  };
  add(NoiseModel::Kind::kExponential, 1, [&](double x) { return x <= 0 ? 0 : 1 - std::exp(-x / mean); });
  add(NoiseModel::Kind::kUniform, 1, [&](double x) { return std::clamp(x / (2 * mean), 0.0, 1.0); });
  const double hit = mean / largest;
  add(NoiseModel::Kind::kRare, hit, [&](double x) { return x < 0 ? 0 : x < largest ? 1 - hit : 1; });
  const double shape = std::clamp(mean * mean / variance, 0.01, 1e6);
  add(NoiseModel::Kind::kGamma, shape, [&](double x) { return theory::gamma_cumulative(shape, x * shape / mean); });
  const auto simple = std::ranges::min_element(models.begin(), models.end() - 1, {}, &NoiseModel::distance);
  return models.back().distance < kBetter * simple->distance ? models.back() : *simple;
}

}  // namespace idlewave::analysis::domains
