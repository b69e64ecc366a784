#include "monitor/analysis/domains/concurrency.h"

#include <algorithm>
#include <array>
#include <numeric>

#include "monitor/theory/contention.h"

namespace idlewave::analysis::domains {
namespace {

/// A rank begins or ends to work.
struct Change {
  Nanoseconds at{};
  std::uint32_t span = 0;
  int by = 0;
};

/// Digit by digit, least first: there are thousands of them in a few seconds, and this takes a third of the time of
/// comparing them.
void sort_by_time(std::vector<Change>& changes) {
  constexpr int kDigit = 11;
  constexpr std::uint64_t kDigits = 1 << kDigit;
  if (changes.size() < kDigits / 16) {
    std::ranges::sort(changes, {}, &Change::at);
    return;
  }
  const auto [first, last] = std::ranges::minmax(changes, {}, &Change::at);
  const auto since_first = [first = first.at](const Change& change) {
    return std::uint64_t(change.at.count()) - std::uint64_t(first.count());
  };
  std::vector<Change> sorted(changes.size());
  for (int shift = 0; shift < 64 && since_first(last) >> shift > 0; shift += kDigit) {
    const auto digit = [&](const Change& change) { return since_first(change) >> shift & (kDigits - 1); };
    std::array<std::uint32_t, kDigits> places{};
    for (const Change& change : changes) ++places[digit(change)];
    std::exclusive_scan(places.begin(), places.end(), places.begin(), std::uint32_t{0});
    for (const Change& change : changes) sorted[places[digit(change)]++] = change;
    changes.swap(sorted);
  }
}

std::vector<Change> changes_of(std::span<const Window> work) {
  std::vector<Change> changes;
  changes.reserve(2 * work.size());
  for (std::uint32_t span = 0; span < work.size(); ++span) {
    if (work[span].from >= work[span].to) continue;
    changes.push_back({work[span].from, span, +1});
    changes.push_back({work[span].to, span, -1});
  }
  sort_by_time(changes);
  return changes;
}

/// Calls visit(change, what was done up to there, what is done in a nanosecond from there on), oldest change first.
template <class Visit>
void integrate(std::span<const Window> work, const Bandwidth& bandwidth, Visit visit) {
  Rates rates(bandwidth);
  Progress done;
  int active = 0;
  Nanoseconds since{};
  for (const Change& change : changes_of(work)) {
    done = done.later_by(double((change.at - since).count()), rates.of(active));
    since = change.at;
    active += change.by;
    visit(change, done, rates.of(active));
  }
}

}  // namespace

Progress Rates::rate(int active) const {
  if (active == 0) return {};
  const double together = bandwidth_ ? bandwidth_(active) * 1e-9 : active;
  return {.rank_time = double(active), .volume = together, .alone = together / active / core_};
}

Bandwidth bandwidth_of(const wire::DomainInfo& info) {
  if (!info.curve.empty() && info.curve.front() > 0)
    return [curve = info.curve](int active) { return curve[std::min(std::size_t(active), curve.size()) - 1]; };
  if (info.core_bandwidth <= 0 || info.saturated_bandwidth <= 0) return {};
  return [core = info.core_bandwidth, full = info.saturated_bandwidth](int active) {
    return theory::domain_bandwidth(active, core, full);
  };
}

double saturation_point(const wire::DomainInfo& info) {
  return info.curve.empty() ? theory::saturation_point(info.core_bandwidth, info.saturated_bandwidth)
                            : theory::saturation_point(info.curve);
}

Window work_of(const steps::StepCourse& course) {
  const Nanoseconds work = course.work();
  return course.held > work ? Window{course.post - work, course.post} : Window{course.begin, course.begin + work};
}

std::vector<Window> work_in(const timeline::Timeline& timeline, std::span<const Rank> ranks, Window window,
                            Nanoseconds at) {
  std::vector<Window> all;
  for (const Rank rank : ranks) {
    const timeline::Lane* lane = timeline.lane(rank);
    if (!lane) continue;
    lane->for_each_step(window.from, window.to, [&](const timeline::StepRecord& record) {
      const Window work = work_of(steps::course_at(*lane, record, at));
      all.push_back({std::max(work.from, window.from), std::min(work.to, window.to)});
    });
  }
  return all;
}

Concurrency::Concurrency(std::span<const Window> work, const Bandwidth& bandwidth) : alone_(work.size()) {
  levels_.reserve(2 * work.size());
  integrate(work, bandwidth, [&](const Change& change, const Progress& done, const Progress& rate) {
    alone_[change.span] -= change.by * done.alone;
    if (levels_.empty() || levels_.back().from < change.at) levels_.push_back({.from = change.at, .done = done});
    levels_.back().rate = rate;
  });
}

Progress Concurrency::up_to(Nanoseconds time) const {
  const auto after = std::ranges::upper_bound(levels_, time, {}, &Level::from);
  if (after == levels_.begin()) return {};
  const Level& level = *std::prev(after);
  return level.done.later_by(double((time - level.from).count()), level.rate);
}

std::vector<double> times_alone(std::span<const Window> work, const Bandwidth& bandwidth) {
  std::vector<double> alone(work.size());
  integrate(work, bandwidth, [&](const Change& change, const Progress& done, const Progress&) {
    alone[change.span] -= change.by * done.alone;
  });
  return alone;
}

}  // namespace idlewave::analysis::domains
