#include "monitor/analysis/steps/wait_sample.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <map>
#include <optional>
#include <utility>

#include "monitor/analysis/steps/step_course.h"
#include "monitor/analysis/steps/step_parts.h"

namespace idlewave::analysis::steps {
namespace {

using timeline::Timeline;
using wire::Nanoseconds;
using wire::Rank;
using wire::Step;

constexpr double kNotKnown = std::numeric_limits<double>::quiet_NaN();
constexpr std::size_t kMostWaits = 8;
/// A microsecond (LookBudget).
constexpr std::uint64_t kLooksToReadStep = 600;
/// Rows of which those are taken in which ranks wait longest, for each that is taken.
constexpr std::size_t kRowsForOne = 4;
constexpr Nanoseconds kNoPost = Nanoseconds::min();

struct StepOfRank {
  std::vector<CourseWait> waits;
  Nanoseconds begin{}, end{};
};

/// What a rank did in steps, each read once.
class StepReader {
 public:
  StepReader(const Timeline& timeline, Rank rank, Nanoseconds tolerance)
      : timeline_(timeline), rank_(rank), tolerance_(tolerance) {}

  const std::optional<StepOfRank>& at(Step step, Nanoseconds moment) {
    const auto [place, is_new] = read_.try_emplace({step, moment});
    if (is_new) place->second = read(step, moment);
    return place->second;
  }

 private:
  std::optional<StepOfRank> read(Step step, Nanoseconds moment) const {
    const auto course = step_course(timeline_, rank_, step, moment);
    if (!course || !course->over) return std::nullopt;
    auto waits = waits_in(*timeline_.lane(rank_), *course, tolerance_);
    return waits ? std::optional(StepOfRank{std::move(*waits), course->begin, course->end}) : std::nullopt;
  }

  const Timeline& timeline_;
  Rank rank_;
  Nanoseconds tolerance_;
  std::map<std::pair<Step, Nanoseconds>, std::optional<StepOfRank>> read_;
};

/// That most steps have.
std::size_t usual_waits(StepReader& reader, std::span<const StepOfSome> rows) {
  std::array<std::size_t, kMostWaits + 1> steps_with{};
  for (const StepOfSome& row : rows)
    if (const auto& step = reader.at(row.step, row.at); step && step->waits.size() <= kMostWaits)
      ++steps_with[step->waits.size()];
  return std::size_t(std::ranges::max_element(steps_with) - steps_with.begin());
}

/// Where each wait begins and where the step ends, as far as the rank has worked just before; `with_first`: the first one anyway.
std::vector<Nanoseconds> posts_of(const StepOfRank& step, const std::optional<StepOfRank>& before,
                                  Nanoseconds tolerance, bool with_first) {
  std::vector<Nanoseconds> posts;
  Nanoseconds waited_until = before && !before->waits.empty() ? before->waits.back().end : step.begin;
  for (const CourseWait& wait : step.waits) {
    const bool counts = wait.begin > waited_until + tolerance || (with_first && posts.empty());
    posts.push_back(counts ? wait.begin : kNoPost);
    waited_until = wait.end;
  }
  posts.push_back(step.end > waited_until + tolerance ? step.end : kNoPost);
  return posts;
}

Step latest_of_all(const Timeline& timeline) {
  Step latest = std::numeric_limits<Step>::max();
  for (Rank rank = 0; rank < timeline.ranks(); ++rank) {
    const timeline::Lane* lane = timeline.lane(rank);
    latest = std::min(latest, lane && !lane->steps().empty() ? lane->steps().back().step : wire::kNoStep);
  }
  return latest;
}

double longest_wait(const Timeline& timeline, const StepOfSome& row) {
  Nanoseconds longest{};
  for (Rank rank = 0; rank < timeline.ranks(); ++rank)
    if (const auto course = step_course(timeline, rank, row.step, row.at))
      longest = std::max(longest, course->waited());
  return double(longest.count());
}

}  // namespace

WaitSample::WaitSample(const Timeline& timeline, std::vector<StepOfSome> rows, Nanoseconds tolerance)
    : timeline_(timeline), rows_(std::move(rows)), tolerance_(tolerance) {}

void WaitSample::read_next_rank() {
  StepReader reader(timeline_, Rank(of_ranks_.size()), tolerance_);
  const std::size_t waits = usual_waits(reader, rows_);
  const Column unknown(rows_.size(), kNotKnown);
  OfRank& its = of_ranks_.emplace_back();
  its.begins.assign(waits, unknown);
  its.ends.assign(waits, unknown);
  its.posts.resize(waits + 1);
  for (auto& columns : its.posts) columns.fill(unknown);
  for (std::size_t row = 0; row < rows_.size(); ++row) {
    const auto& [first, step, at] = rows_[row];
    const auto time = [&](Nanoseconds of) { return double((of - at).count()); };
    for (int later = -kFarthest; later <= kFarthest; ++later) {
      const auto& its_step = reader.at(step + later, at);
      if (!its_step || its_step->waits.size() != waits) continue;
      const std::vector<Nanoseconds> posts =
          posts_of(*its_step, reader.at(step + later - 1, at), tolerance_, later <= 0);
      for (std::size_t i = 0; i <= waits; ++i)
        if (posts[i] != kNoPost) its.posts[i][std::size_t(later + kFarthest)][row] = time(posts[i]);
      for (std::size_t i = 0; i < waits && later == 0; ++i)
        its.begins[i][row] = time(its_step->waits[i].begin), its.ends[i][row] = time(its_step->waits[i].end);
    }
  }
}

std::uint64_t WaitSample::looks_to_read() const { return kLooksToReadStep * (2 * kFarthest + 2) * rows_.size(); }

std::vector<StepOfSome> rows_to_look_at(const Timeline& timeline, std::span<const StepOfSome> rows) {
  const Step latest = latest_of_all(timeline);
  std::vector<StepOfSome> over;
  std::ranges::copy_if(rows, std::back_inserter(over),
                       [&](const StepOfSome& row) { return row.step + WaitSample::kFarthest < latest; });
  const std::size_t most = most_rows(kMostLookedLive, std::size_t(timeline.ranks()));
  const std::size_t asked = std::min(over.size(), kRowsForOne * most);
  std::vector<StepOfSome> some;
  std::vector<double> waits;
  for (std::size_t k = 0; k < asked; ++k) {
    some.push_back(over[k * over.size() / asked]);
    waits.push_back(longest_wait(timeline, some.back()));
  }
  std::vector<StepOfSome> kept;
  for (const std::size_t row : rows_to_keep(waits, most)) kept.push_back(some[row]);
  return kept;
}

}  // namespace idlewave::analysis::steps
