#include "monitor/analysis/domains/threads.h"

#include <algorithm>
#include <numeric>
#include <vector>

namespace idlewave::analysis::domains {

using timeline::Category;
using timeline::Lane;
using timeline::ThreadTimes;
using timeline::Timeline;

namespace {

double of(const timeline::Times& times, Category category) { return double(times[std::size_t(category)]); }

/// Calls visit(number, lane) for each thread of the rank that has told something.
template <class Visit>
void for_each_thread(const Timeline& timeline, Rank rank, Visit visit) {
  for (int thread = 1; thread <= timeline.threads(rank); ++thread) {
    const Lane* lane = timeline.lane(wire::ThreadId{rank, thread});
    if (lane && lane->events() > 0) visit(thread, *lane);
  }
}

/// From when on threads of the rank have lanes.
Nanoseconds first_thread(const Timeline& timeline, Rank rank) {
  Nanoseconds first = Nanoseconds::max();
  for_each_thread(timeline, rank, [&](int, const Lane& lane) { first = std::min(first, lane.first()); });
  return first;
}

/// Of a rank that tells of no number of threads: of the one that reports.
ThreadTimes times_of_one(const Lane& lane, Window window) {
  const timeline::Times times = lane.times(window.from, window.to);
  const double computed = of(times, Category::kCompute), called = of(times, Category::kWait);
  return {.most = 1, .known = computed + called + of(times, Category::kDelay), .worked = computed, .called = called};
}

/// Those with a lane beside the others: a team whose threads have lanes is told by them alone.
std::optional<ThreadTimes> times_of(const Timeline& timeline, Rank rank, Window window) {
  const Lane* lane = timeline.lane(rank);
  if (lane == nullptr) return std::nullopt;
  auto told = lane->thread_times(window.from, window.to);
  const Nanoseconds first = first_thread(timeline, rank);
  if (first == Nanoseconds::max()) return told;
  const Window known{told ? window.from : std::max(window.from, first), window.to};
  if (!told) told = known.length() > Nanoseconds{0} ? times_of_one(*lane, known) : ThreadTimes{.most = 1};
  for_each_thread(timeline, rank, [&](int, const Lane& its) {
    ++told->most;
    if (known.length() <= Nanoseconds{0}) return;
    const timeline::Times times = its.times(known.from, known.to);
    told->worked += of(times, Category::kCompute);
    told->called += of(times, Category::kWait);
  });
  return told;
}

}  // namespace

std::vector<ThreadLaneTimes> thread_lane_times(const Timeline& timeline, Window window) {
  std::vector<ThreadLaneTimes> all;
  if (!timeline.has_threads()) return all;
  for (Rank rank = 0; rank < timeline.ranks(); ++rank) {
    for_each_thread(timeline, rank, [&](int thread, const Lane& lane) {
      const timeline::Times times = lane.times(window.from, window.to);
      const auto in = [&](Category category) { return Nanoseconds(times[std::size_t(category)]); };
      all.push_back({{rank, thread}, in(Category::kCompute), in(Category::kWait), in(Category::kOther)});
    });
  }
  return all;
}

std::optional<ThreadUse> thread_use(const Timeline& timeline, std::span<const Rank> ranks, Window window) {
  ThreadUse use;
  for (const Rank rank : ranks) {
    const auto times = times_of(timeline, rank, window);
    if (!times || times->known <= 0) continue;
    ++use.ranks;
    use.most += times->most;
    use.working += times->worked / times->known;
    use.calling += times->called / times->known;
    use.asleep += times->slept() / times->known;
  }
  return use.ranks > 0 ? std::optional(use) : std::nullopt;
}

std::optional<ThreadUse> thread_use(const Timeline& timeline, Window window) {
  std::vector<Rank> all(std::size_t(timeline.ranks()));
  std::iota(all.begin(), all.end(), Rank{0});
  return thread_use(timeline, all, window);
}

}  // namespace idlewave::analysis::domains
