#include "monitor/timeline/thread_log.h"

#include <algorithm>
#include <iterator>

namespace idlewave::timeline {
namespace {

/// Nobody has more; what says so is no program of threads.
constexpr std::uint64_t kMostThreads = 1u << 20;

}  // namespace

double ThreadLog::work_of(int active, const Times& times) {
  const auto computed = double(times[std::size_t(Category::kCompute)]);
  const double did_not = double(times[std::size_t(Category::kWait)]) + double(times[std::size_t(Category::kDelay)]);
  return active * computed + std::max(active - 1, 0) * did_not;
}

void ThreadLog::change(std::uint64_t active, Nanoseconds at, const Times& times, std::uint32_t limit) {
  double worked = 0;
  if (!empty()) {
    Times since{};
    for (std::size_t c = 0; c < since.size(); ++c) since[c] = times[c] - times_[c];
    worked = changes_.back().worked + work_of(changes_.back().active, since);
  }
  changes_.push_back({at, int(std::min(active, kMostThreads)), worked});
  times_ = times;
  most_ = std::max(most_, changes_.back().active);
  keep(limit);
}

void ThreadLog::keep(std::uint32_t limit) {
  while (changes_.size() > limit) changes_.pop_front();
}

const ThreadLog::Change& ThreadLog::latest(Nanoseconds at) const {
  const auto after = std::ranges::upper_bound(changes_, at, {}, &Change::at);
  return after == changes_.begin() ? changes_.front() : *std::prev(after);
}

}  // namespace idlewave::timeline
