#include "monitor/view/map/rhythm.h"

#include <algorithm>
#include <vector>

namespace idlewave::view::map {

namespace {

constexpr int kRanksAsked = 32;
constexpr int kStepsEach = 64;
constexpr std::size_t kFewestSteps = 8;
/// Lengths closer than this share of one are the same. On a screen of four columns a step and two hundred columns it
/// shifts the steps by one column in a quarter of the screen.
constexpr int kSame = 64;

std::int64_t distance(Nanoseconds a, Nanoseconds b) { return std::abs((a - b).count()); }

void add_lengths(const timeline::Lane& lane, analysis::Window window, std::vector<std::int64_t>& lengths) {
  const auto steps = lane.steps();
  std::size_t begun = lane.steps_begun_before(window.to + Nanoseconds{1});
  for (int taken = 0; begun > 0 && taken < kStepsEach; ++taken) {
    const timeline::StepRecord record = steps[--begun];
    if (record.begin < window.from) return;
    if (record.end > record.begin && record.end <= window.to) lengths.push_back((record.end - record.begin).count());
  }
}

}  // namespace

Nanoseconds rhythm_in(const timeline::Timeline& timeline, analysis::Window window) {
  std::vector<std::int64_t> lengths;
  const wire::Rank apart = std::max(timeline.ranks() / kRanksAsked, 1);
  for (wire::Rank rank = 0; rank < timeline.ranks(); rank += apart) {
    if (const timeline::Lane* lane = timeline.lane(rank)) add_lengths(*lane, window, lengths);
  }
  if (lengths.size() < kFewestSteps) return Nanoseconds{0};
  const auto middle = lengths.begin() + static_cast<std::ptrdiff_t>(lengths.size() / 2);
  std::nth_element(lengths.begin(), middle, lengths.end());
  double sum = 0;
  std::size_t alike = 0;
  for (const std::int64_t length : lengths) {
    if (std::abs(length - *middle) * 4 > *middle) continue;
    sum += static_cast<double>(length);
    ++alike;
  }
  if (alike * 4 < lengths.size() * 3) return Nanoseconds{0};
  return Nanoseconds(static_cast<std::int64_t>(sum / static_cast<double>(alike)));
}

void Rhythm::observe(Nanoseconds step) {
  if (step <= Nanoseconds{0}) return;
  const bool settled = distance(step, seen_) * kSame < step.count();
  seen_ = step;
  if (settled && distance(step, step_) * kSame > step.count()) step_ = step;
}

}  // namespace idlewave::view::map
