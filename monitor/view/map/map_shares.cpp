#include "monitor/view/map/map_shares.h"

#include <algorithm>
#include <cstdlib>
#include <vector>

namespace idlewave::view::map {

namespace {

using timeline::kCategories;
using timeline::Lane;
using timeline::LaneState;
using timeline::Shares;
using timeline::StepRecord;
using timeline::Timeline;
using timeline::Times;

constexpr int kColumnsOfALongStep = 3;
constexpr std::int64_t kMostCellsByStep = 100'000;
constexpr std::int64_t kMostStepsAsked = 60'000;
constexpr std::int64_t kMostStepsFound = 35'000;  ///< One by one, by their numbers.
/// Beyond it what a record does not account for may be a hole, and the lane is asked.
constexpr int kUnaccounted = 100;

/// Time in each category of a step that has ended. Their sum is less than its length where events are missing.
Times times_of(const Lane& lane, const StepRecord& record) {
  const Nanoseconds rest = record.end - record.begin - record.compute - record.wait - record.communicate - record.delay;
  if (std::abs(rest.count()) * kUnaccounted > (record.end - record.begin).count())
    return lane.times(record.begin, record.end);
  return {record.compute.count(), (record.wait + record.communicate).count(), record.delay.count(),
          std::max<std::int64_t>(rest.count(), 0), 0};
}

void add(Shares& sum, const Times& times, double weight) {
  for (std::size_t c = 0; c < kCategories; ++c) sum.of[c] += static_cast<float>(static_cast<double>(times[c]) * weight);
}

/// One rank's columns: where its short steps fill one, it holds their shares.
class ShortSteps {
 public:
  ShortSteps(const layout::TimeWindow& window, int columns, Nanoseconds until)
      : window_(window),
        until_(until),
        shares_(static_cast<std::size_t>(columns)),
        covered_(static_cast<std::size_t>(columns)) {}

  void put_into(std::span<Shares> columns, const Lane& lane) {
    std::fill(shares_.begin(), shares_.end(), Shares{});
    std::fill(covered_.begin(), covered_.end(), 0);
    add_steps(lane);
    for (std::size_t x = 0; x < columns.size(); ++x)
      if (covered_[x] == window_.column.count()) columns[x] = shares_[x];
  }

 private:
  void add_steps(const Lane& lane) {
    const Nanoseconds end = window_.begin_of(static_cast<int>(shares_.size()));
    lane.for_each_step(window_.from(), end, [&](const StepRecord& record) {
      const Nanoseconds length = record.end - record.begin;
      if (record.end <= window_.from() || record.end > until_ || length <= Nanoseconds{0}) return;
      if (length < kColumnsOfALongStep * window_.column) add_step(lane, record, length);
    });
  }

  void add_step(const Lane& lane, const StepRecord& record, Nanoseconds length) {
    const Times times = times_of(lane, record);
    const double per_column = 1 / (static_cast<double>(length.count()) * static_cast<double>(window_.column.count()));
    const auto last = std::min<std::int64_t>(window_.x_of(record.end - Nanoseconds(1)),
                                             static_cast<std::int64_t>(shares_.size()) - 1);
    for (auto x = std::max<std::int64_t>(window_.x_of(record.begin), 0); x <= last; ++x) {
      const Nanoseconds from = std::max(record.begin, window_.begin_of(static_cast<int>(x)));
      const Nanoseconds to = std::min(record.end, window_.begin_of(static_cast<int>(x) + 1));
      add(shares_[static_cast<std::size_t>(x)], times, static_cast<double>((to - from).count()) * per_column);
      covered_[static_cast<std::size_t>(x)] += (to - from).count();
    }
  }

  const layout::TimeWindow& window_;
  Nanoseconds until_;
  std::vector<Shares> shares_;
  std::vector<std::int64_t> covered_;  ///< Nanoseconds of each column.
};

std::int64_t ranks_of(std::span<const RankRange> rows) {
  std::int64_t ranks = 0;
  for (const RankRange& row : rows) ranks += row.last - row.first;
  return ranks;
}

/// Of the first rank that has any; the others step with it.
std::int64_t steps_within(const Timeline& timeline, std::span<const RankRange> rows, Nanoseconds from, Nanoseconds to) {
  for (const RankRange& row : rows) {
    for (Rank rank = row.first; rank < row.last; ++rank) {
      const Lane* lane = timeline.lane(rank);
      if (lane == nullptr || lane->steps().empty()) continue;
      return static_cast<std::int64_t>(lane->steps_begun_before(to) - lane->steps_begun_before(from));
    }
  }
  return 0;
}

void shares_by_step(const Timeline& timeline, std::span<const RankRange> rows, const layout::TimeWindow& window,
                    int columns, Nanoseconds until, std::span<Shares> out) {
  std::vector<RankRange> single;
  for (const RankRange& row : rows)
    for (Rank rank = row.first; rank < row.last; ++rank) single.push_back({rank, rank + 1});
  const auto width = static_cast<std::size_t>(columns);
  std::vector<Shares> each(single.size() * width);
  timeline.picture(single, window.from(), window.begin_of(columns), columns, each);
  ShortSteps steps(window, columns, until);
  std::size_t next = 0;
  for (std::size_t row = 0; row < rows.size(); ++row) {
    const std::span<Shares> sum = out.subspan(row * width, width);
    std::fill(sum.begin(), sum.end(), Shares{});
    const float weight = 1 / static_cast<float>(std::max(rows[row].last - rows[row].first, 1));
    for (Rank rank = rows[row].first; rank < rows[row].last; ++rank, ++next) {
      const std::span<Shares> own = std::span(each).subspan(next * width, width);
      if (const Lane* lane = timeline.lane(rank)) steps.put_into(own, *lane);
      for (std::size_t x = 0; x < width; ++x)
        for (std::size_t c = 0; c < kCategories; ++c) sum[x].of[c] += own[x].of[c] * weight;
    }
  }
}

/// One row's column of steps, summed over ranks `apart` from each other and as many steps.
class StepColumn {
 public:
  StepColumn(const Timeline& timeline, Nanoseconds until) : timeline_(timeline), until_(until) {}

  void add(Rank rank, wire::Step step) {
    const Lane* lane = timeline_.lane(rank);
    if (lane == nullptr || lane->steps().empty()) return;
    const auto record = lane->step(step, until_);
    if (!record) return add_missing(*lane, step);
    if (record->begin >= until_) return;
    out_.begun = true;
    const bool over = record->end > Nanoseconds{0} && record->end <= until_;
    const Nanoseconds end = over ? record->end : std::min(until_, std::max(lane->known_until(), record->begin));
    const Times times = over ? times_of(*lane, *record) : lane->times(record->begin, end);
    for (std::size_t c = 0; c < kCategories; ++c) sums_[c] += static_cast<double>(times[c]);
    length_ += static_cast<double>((end - record->begin).count());
  }

  StepShares finish() {
    for (std::size_t c = 0; c < kCategories && length_ > 0; ++c)
      out_.shares.of[c] = static_cast<float>(sums_[c] / length_);
    return out_;
  }

 private:
  /// Before the first that is kept, or after the end of a rank that was lost.
  void add_missing(const Lane& lane, wire::Step step) {
    const bool later = step > lane.steps().back().step;
    if (!later || lane.state() == LaneState::kLost) out_.begun = true;
  }

  const Timeline& timeline_;
  Nanoseconds until_;
  StepShares out_;
  std::array<double, kCategories> sums_{};
  double length_ = 0;
};

int divided_up(std::int64_t a, std::int64_t b) { return static_cast<int>((a + b - 1) / b); }

}  // namespace

void shares_over_time(const Timeline& timeline, std::span<const RankRange> rows, const layout::TimeWindow& window,
                      int columns, Nanoseconds until, std::span<Shares> out) {
  const std::int64_t ranks = ranks_of(rows);
  const std::int64_t steps = steps_within(timeline, rows, window.from(), window.begin_of(columns));
  if (ranks * columns <= kMostCellsByStep && ranks * steps <= kMostStepsAsked)
    return shares_by_step(timeline, rows, window, columns, until, out);
  timeline.picture(rows, window.from(), window.begin_of(columns), columns, out);
}

StepSample sample_of(std::span<const RankRange> rows, const layout::StepWindow& window) {
  const std::int64_t all = ranks_of(rows) * window.columns * window.per_column;
  const std::int64_t excess = std::max<std::int64_t>(divided_up(all, kMostStepsFound), 1);
  const auto steps_apart = static_cast<int>(std::min<std::int64_t>(excess, window.per_column));
  return {steps_apart, divided_up(excess, steps_apart)};
}

void shares_over_steps(const Timeline& timeline, std::span<const RankRange> rows, const layout::StepWindow& window,
                       Nanoseconds until, std::span<StepShares> out) {
  const wire::Step newest = layout::latest_step_at(timeline, until);
  const auto [steps_apart, ranks_apart] = sample_of(rows, window);
  for (std::size_t row = 0; row < rows.size(); ++row) {
    for (int x = 0; x < window.columns; ++x) {
      StepColumn column(timeline, until);
      const wire::Step end = std::min(window.begin_of(x + 1), newest + 1);
      for (wire::Step step = window.begin_of(x); step < end; step += steps_apart)
        for (Rank rank = rows[row].first; rank < rows[row].last; rank += ranks_apart) column.add(rank, step);
      out[row * static_cast<std::size_t>(window.columns) + static_cast<std::size_t>(x)] = column.finish();
    }
  }
}

}  // namespace idlewave::view::map
