#include "monitor/analysis/own_times.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <span>

#include "monitor/theory/contention.h"
#include "monitor/theory/distributions.h"

namespace idlewave::analysis {
namespace {

/// Of the work: less is none.
constexpr double kSilent = 1e-4;
/// A distribution with more parameters has to be nearer by so much.
constexpr double kBetter = 0.8;
/// Of the most noise: times are rounded, and what is nearer is equal.
constexpr double kNear = 1e-4;
constexpr std::size_t kMostLooked = 20'000;

double bandwidth(const Work::Memory& memory, std::size_t active) {
  if (!memory.curve.empty()) return memory.curve[std::min(active, memory.curve.size()) - 1];
  return theory::domain_bandwidth(double(active), memory.core_bandwidth, memory.saturated_bandwidth);
}

/// A rank of a domain begins its work, or begins to wait.
struct Change {
  Nanoseconds at{};
  bool posts = false;
  std::size_t rank = 0, step = 0;
  /// Of its work nothing is known but when it ends.
  bool unknown = false;
};

/// One domain from change to change: S, the bytes that each active rank has been given.
class Domain {
 public:
  Domain(const Work::Memory& memory, OwnNoise& beyond) : memory_(memory), beyond_(beyond) {}

  void take(const Change& change) {
    advance(double(change.at.count()));
    if (change.posts) return post(change);
    const double volume = change.unknown ? std::numeric_limits<double>::infinity() : memory_.volume;
    active_.insert({service_ + volume, {change.rank, change.step}});
  }

 private:
  using Place = std::pair<std::size_t, std::size_t>;

  void advance(double to) {
    while (!active_.empty()) {
      const double speed = speed_of_each();
      const double done = now_ + (active_.begin()->first - service_) / speed;
      if (done > to) {
        service_ += (to - now_) * speed;
        break;
      }
      const auto [service, place] = *active_.begin();
      active_.erase(active_.begin());
      service_ = service, now_ = done;
      done_[place] = done;
    }
    now_ = to;
    if (active_.empty()) service_ = 0;
  }

  /// Bytes in a nanosecond.
  double speed_of_each() const { return bandwidth(memory_, active_.size()) / double(active_.size()) * 1e-9; }

  void post(const Change& change) {
    const Place place{change.rank, change.step};
    Nanoseconds& beyond = beyond_[change.rank][change.step];
    if (const auto done = done_.find(place); done != done_.end()) {
      beyond = Nanoseconds(std::llround(double(change.at.count()) - done->second));
      done_.erase(done);
      return;
    }
    const auto early = std::ranges::find(active_, place, &std::pair<double, Place>::second);
    if (early == active_.end()) return;
    if (!change.unknown) beyond = -Nanoseconds(std::llround((early->first - service_) / speed_of_each()));
    active_.erase(early);
  }

  const Work::Memory& memory_;
  OwnNoise& beyond_;
  double now_ = 0, service_ = 0;
  std::set<std::pair<double, Place>> active_;  ///< By the service at which they are done.
  std::map<Place, double> done_;               ///< When, of those that have not posted.
};

void find_in_domain(const CommonSteps& steps, const Work::Memory& memory, std::size_t first, std::size_t end,
                    Nanoseconds followed_from, OwnNoise& beyond) {
  std::vector<Change> changes;
  for (std::size_t rank = first; rank < end; ++rank) {
    for (std::size_t k = 0; k < steps.steps(); ++k) {
      const RankStep& step = steps.ranks[rank][k];
      const bool unknown = step.begin < followed_from;
      changes.push_back({step.begin + step.held, false, rank, k, unknown});
      changes.push_back({step.post, true, rank, k, unknown});
    }
  }
  std::ranges::stable_sort(changes, {}, [](const Change& change) { return std::pair(change.at, change.posts); });
  Domain domain(memory, beyond);
  for (const Change& change : changes) domain.take(change);
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

OwnNoise beyond_work(const CommonSteps& steps, const Work& work, Rank ranks_per_domain,
                     std::span<const Nanoseconds> followed_from) {
  OwnNoise beyond(steps.ranks.size(), std::vector<Nanoseconds>(steps.steps()));
  if (work.memory) {
    const auto each = std::size_t(ranks_per_domain);
    for (std::size_t first = 0; first < beyond.size(); first += each)
      find_in_domain(steps, *work.memory, first, std::min(first + each, beyond.size()),
                     followed_from.empty() ? Nanoseconds::min() : followed_from[first / each], beyond);
    return beyond;
  }
  for (std::size_t rank = 0; rank < beyond.size(); ++rank) {
    for (std::size_t k = 0; k < steps.steps(); ++k) {
      const RankStep& step = steps.ranks[rank][k];
      beyond[rank][k] = step.work() + step.noise - work.time;
    }
  }
  return beyond;
}

OwnNoise find_own_noise(const CommonSteps& steps, const Work& work, Rank ranks_per_domain) {
  OwnNoise noise = beyond_work(steps, work, ranks_per_domain);
  for (auto& rank : noise)
    for (Nanoseconds& each : rank) each = std::max(each, Nanoseconds{0});
  return noise;
}

NoiseModel fit_noise(const OwnNoise& noise, const Work& work) {
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

}  // namespace idlewave::analysis
