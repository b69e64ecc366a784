#include "monitor/analysis/steps/step_sample.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>
#include <set>
#include <utility>

#include "monitor/analysis/steps/step_course.h"
#include "monitor/analysis/steps/step_history.h"

namespace idlewave::analysis::steps {
namespace {

using timeline::Lane;
using timeline::Timeline;

/// Of a whole run.
constexpr std::size_t kMostLooked = 10'000;
/// Ranks that may wait across the ends, and rows that are looked at for it.
constexpr std::size_t kNearEnds = 8, kRowsAcrossEnds = 3;
/// Of the most that one end is later than the other: it need not be seen better.
constexpr double kClear = 0.25;
/// Of all ranks: those that wait before their work, where it is looked at who waits for what is done behind.
constexpr double kWaitFirst = 0.25;
constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();

/// One of a rank; what goes on is known as far as it has come to.
struct Times {
  double post = kUnknown, done = kUnknown, end = kUnknown;
};

Times times_of(const Timeline& timeline, Rank rank, const StepOfSome& row) {
  const auto course = step_course(timeline, rank, row.step, row.at);
  if (!course || (!course->over && course->waited() <= Nanoseconds{0})) return {};
  const double post = double((course->post - row.at).count());
  return {post, post, course->over ? double((course->end - row.at).count()) : kUnknown};
}

template <class TimesOf>
void add_row(const StepOfSome& row, TimesOf times_of, StepSample& sample) {
  std::vector<double> posts(sample.width()), done(sample.width()), ends(sample.width());
  bool is_known = false;
  for (std::size_t i = 0; i < sample.width(); ++i) {
    const Times times = times_of((row.first + Rank(i)) % sample.ranks());
    posts[i] = times.post, done[i] = times.done, ends[i] = times.end;
    is_known = is_known || !std::isnan(times.end);
  }
  if (is_known) sample.add(row.first, posts, done, ends);
}

std::optional<AroundWork> around_work_in(const Timeline& timeline, Rank rank, const StepOfSome& row) {
  const auto course = step_course(timeline, rank, row.step, row.at);
  return course && course->over ? around_work(*timeline.lane(rank), *course) : std::nullopt;
}

/// By rank: in the step in which it waits longest it does so before its work.
std::vector<bool> who_waits_first(const Timeline& timeline, std::span<const StepOfSome> rows, Rank width) {
  struct Longest {
    Nanoseconds waited{};
    const StepOfSome* row = nullptr;
  };
  std::vector<Longest> longest(std::size_t(timeline.ranks()));
  for (const StepOfSome& row : rows)
    for (Rank i = 0; i < width; ++i) {
      const Rank rank = (row.first + i) % timeline.ranks();
      const auto course = step_course(timeline, rank, row.step, row.at);
      Longest& its = longest[std::size_t(rank)];
      if (course && course->over && course->waited() > its.waited) its = {course->waited(), &row};
    }
  std::vector<bool> waits_first(longest.size(), false);
  for (std::size_t rank = 0; rank < longest.size(); ++rank) {
    const auto around = longest[rank].row ? around_work_in(timeline, Rank(rank), *longest[rank].row) : std::nullopt;
    waits_first[rank] = around && around->waited_before > around->waited_behind;
  }
  return waits_first;
}

/// Some ranks from one on, round the ring, in one step.
struct Stretch {
  std::size_t first = 0, step = 0;
};

/// In each step together all ranks, one stretch across the ends; one of everybody where all are seen at once.
std::vector<Stretch> stretches_of(const CommonSteps& steps, std::size_t width) {
  const std::size_t ranks = steps.ranks.size();
  std::vector<Stretch> stretches;
  for (std::size_t k = 0; k < steps.steps(); ++k) {
    if (width == ranks) stretches.push_back({0, k});
    for (std::size_t first = ranks - width / 2; width < ranks && first < 2 * ranks - width / 2; first += width)
      stretches.push_back({first % ranks, k});
  }
  return stretches;
}

double spread_of(const CommonSteps& steps, Stretch stretch, std::size_t width) {
  Nanoseconds first = Nanoseconds::max(), last = Nanoseconds::min();
  for (std::size_t i = 0; i < width; ++i) {
    const Nanoseconds post = steps.ranks[(stretch.first + i) % steps.ranks.size()][stretch.step].post;
    first = std::min(first, post), last = std::max(last, post);
  }
  return double((last - first).count());
}

/// By how much in a step ranks near one end of all have posted later than those near the other, by the distance round the
/// ends, first the last ranks later and then the first: if these wait for those, that shows.
std::array<double, 2 * kNearEnds> lateness_across_ends(const CommonSteps& steps, std::size_t step) {
  std::array<double, 2 * kNearEnds> latest{};
  for (std::size_t distance = 1; distance <= kNearEnds; ++distance)
    for (std::size_t low = 0; low < distance; ++low) {
      const std::size_t high = steps.ranks.size() - distance + low;
      const double later = double((steps.ranks[high][step].post - steps.ranks[low][step].post).count());
      double& up = latest[2 * distance - 2];
      double& down = latest[2 * distance - 1];
      up = std::max(up, later), down = std::max(down, -later);
    }
  return latest;
}

/// Those stretches across the ends by which it is best told whether there are ends, whatever the distances; the shorter
/// ones count more, since fewer ranks tell of them.
std::vector<std::size_t> rows_across_ends(const CommonSteps& steps, std::span<const Stretch> stretches) {
  using Lateness = std::array<double, 2 * kNearEnds>;
  std::vector<std::pair<std::size_t, Lateness>> all;
  for (std::size_t i = 0; i < stretches.size(); ++i)
    if (stretches[i].first == stretches.front().first)
      all.emplace_back(i, lateness_across_ends(steps, stretches[i].step));
  Lateness best{}, known{};
  for (const auto& [row, lateness] : all)
    for (std::size_t k = 0; k < best.size(); ++k) best[k] = std::max(best[k], lateness[k]);
  const auto gain = [&](const auto& row) {
    double more = 0;
    for (std::size_t k = 0; k < known.size(); ++k)
      if (row.second[k] > known[k])
        more += (std::min(row.second[k] / best[k], kClear) - std::min(known[k] / best[k], kClear)) / double(k / 2 + 1);
    return more;
  };
  std::vector<std::size_t> rows;
  while (rows.size() < std::min(kRowsAcrossEnds, all.size())) {
    const auto next = std::ranges::max_element(all, {}, gain);
    rows.push_back(next->first);
    for (std::size_t k = 0; k < known.size(); ++k) known[k] = std::max(known[k], next->second[k]);
  }
  return rows;
}

}  // namespace

Rank rank_at(Rank rank, Rank offset, Rank ranks, bool ring) {
  const Rank other = rank + offset;
  if (other >= 0 && other < ranks) return other;
  const Rank round = ((other % ranks) + ranks) % ranks;
  return ring && round != rank ? round : -1;
}

StepSample StepSample::of(const CommonSteps& steps) {
  const std::size_t ranks = steps.ranks.size();
  const std::size_t width = ranks * kFewestRows > kMostLooked ? std::size_t(kMostRanks) : ranks;
  StepSample sample{Rank(ranks), width};
  const std::vector<Stretch> stretches = stretches_of(steps, width);
  std::vector<double> spreads;
  for (const Stretch& stretch : stretches) spreads.push_back(spread_of(steps, stretch, width));
  std::vector<double> posts(width), ends(width);
  std::vector<std::size_t> rows = rows_to_keep(spreads, most_rows(kMostLooked, width));
  if (width < ranks)
    for (const std::size_t row : rows_across_ends(steps, stretches))
      if (std::ranges::find(rows, row) == rows.end()) rows.push_back(row);
  for (const std::size_t row : rows) {
    const auto [first, k] = stretches[row];
    const Nanoseconds zero = steps.ranks[first][k].post;
    for (std::size_t i = 0; i < width; ++i) {
      const RankStep& step = steps.ranks[(first + i) % ranks][k];
      posts[i] = double((step.post - zero).count());
      ends[i] = double((step.end - zero).count());
    }
    sample.add(Rank(first), posts, ends);
  }
  return sample;
}

StepSample StepSample::about(const Timeline& timeline, std::span<const LateMoment> moments) {
  const Rank ranks = timeline.ranks(), width = std::min(ranks, kMostRanks);
  StepSample sample{ranks, std::size_t(width)};
  for (const StepOfSome& row : steps_about(timeline, moments, width))
    add_row(
        row, [&](Rank rank) { return times_of(timeline, rank, row); }, sample);
  sample.keep(most_rows(kMostLookedLive, std::size_t(width)));
  return sample;
}

std::optional<StepSample> StepSample::by_turns(const Timeline& timeline, std::span<const StepOfSome> rows) {
  const Rank ranks = timeline.ranks(), width = std::min(ranks, kMostRanks);
  const std::vector<bool> waits_first = who_waits_first(timeline, rows, width);
  if (double(std::ranges::count(waits_first, true)) < kWaitFirst * double(ranks)) return std::nullopt;
  StepSample sample{ranks, std::size_t(width), Order::kAsEachDoes};
  for (const StepOfSome& row : rows) {
    const auto times = [&](Rank rank) {
      if (!waits_first[std::size_t(rank)]) return times_of(timeline, rank, row);
      const auto around = around_work_in(timeline, rank, row);
      const auto time = [&](Nanoseconds at) { return double((at - row.at).count()); };
      return around ? Times{time(around->post), time(around->done), time(around->end)} : Times{};
    };
    add_row(row, times, sample);
  }
  sample.keep(most_rows(kMostLookedLive, std::size_t(width)));
  return sample;
}

void StepSample::add(Rank first, std::span<const double> posts, std::span<const double> done,
                     std::span<const double> ends) {
  firsts_.push_back(first);
  posts_.insert(posts_.end(), posts.begin(), posts.end());
  done_.insert(done_.end(), done.begin(), done.end());
  ends_.insert(ends_.end(), ends.begin(), ends.end());
}

std::ptrdiff_t StepSample::place(std::size_t row, Rank rank) const {
  const auto place = std::size_t((rank - firsts_[row] + ranks_) % ranks_);
  return place < width_ ? std::ptrdiff_t(place) : -1;
}

double StepSample::longest_wait(std::size_t row) const {
  double longest = 0;
  for (std::size_t i = 0; i < width_; ++i)
    if (const double wait = ends(row)[i] - posts(row)[i]; wait > longest) longest = wait;
  return longest;
}

double StepSample::spread(std::size_t row) const {
  if (!works_first()) return longest_wait(row);
  double first = std::numeric_limits<double>::max(), last = std::numeric_limits<double>::lowest();
  for (const double post : posts(row))
    if (!std::isnan(post)) first = std::min(first, post), last = std::max(last, post);
  return last - first;
}

void StepSample::keep(std::size_t most) {
  std::vector<double> spreads;
  for (std::size_t row = 0; row < rows(); ++row) spreads.push_back(spread(row));
  std::size_t to = 0;
  for (const std::size_t row : rows_to_keep(spreads, most)) copy_row(row, to++);
  cut(to);
}

void StepSample::copy_row(std::size_t from, std::size_t to) {
  if (from == to) return;
  firsts_[to] = firsts_[from];
  for (auto* figures : {&posts_, &done_, &ends_})
    std::copy_n(figures->begin() + std::ptrdiff_t(from * width_), width_,
                figures->begin() + std::ptrdiff_t(to * width_));
}

void StepSample::cut(std::size_t rows) {
  firsts_.resize(rows);
  for (auto* figures : {&posts_, &done_, &ends_}) figures->resize(rows * width_);
}

}  // namespace idlewave::analysis::steps
