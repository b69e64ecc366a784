// What Messages does where the library sends of its own accord: for windows, and in collectives of neighbours.

#include <algorithm>

#include "probe/mpi/messages.h"

namespace idlewave::mpi {
namespace {

/// Of the thread that reports.
constinit Windows windows;

}  // namespace

std::optional<habits::WaitLearner::Group> Messages::find_neighbours(Handles::Key comm, Part part) const {
  static wire::Rank ranks[shm::kPatternRanks];
  bool all_are_sources = false;
  const int count = handles.sources_of(comm, ranks, all_are_sources);
  if (count < 0 || (part == Part::kFromNeighboursPerhaps && !all_are_sources)) return std::nullopt;
  std::sort(ranks, ranks + count);
  const auto* const end = std::unique(ranks, ranks + count);
  return habits::WaitLearner::Group{std::span(ranks, static_cast<std::size_t>(end - ranks)), 0};
}

std::optional<habits::WaitLearner::Group> Messages::find_group_of_window(Handles::Key window) const {
  static wire::Rank ranks[shm::kPatternRanks];
  const int count = handles.world_ranks_of_window(window, ranks);
  if (count <= 0) return std::nullopt;
  const std::size_t others = count == world_size_ ? 0 : static_cast<std::size_t>(count);
  return habits::WaitLearner::Group{std::span(ranks, others), shm::PartnerBook::kCollective};
}

void Messages::fence(Handles::Key window) {
  learner_.post();
  say_unknown();
  learner_.wait_for_group(key_of(window, Part::kFence), [&] { return find_group_of_window(window); });
}

/// A message without data to each.
void Messages::tell_group(const Windows::Group& group) {
  learner_.post();
  for (const wire::Rank rank : group.ranks()) learner_.send(rank);
}
/// For one from each.
void Messages::wait_for_group(const Windows::Group& group) {
  if (!group.is_known()) return wait_unknown();
  for (const wire::Rank rank : group.ranks()) note({rank, Side::kFrom});
}

void Messages::open_window(Handles::Key window, Handles::Key origins) {
  Windows::Group& group = windows.of(window).origins;
  group.set(origins);
  tell_group(group);
}
void Messages::start_access(Handles::Key window, Handles::Key targets) { windows.of(window).targets.set(targets); }
/// Whether MPI_Win_start waits until all targets have opened their windows, or only this does, makes no difference.
void Messages::complete_access(Handles::Key window) {
  const Windows::Group& group = windows.of(window).targets;
  wait_for_group(group);
  tell_group(group);
}
void Messages::close_window(Handles::Key window) { wait_for_group(windows.of(window).origins); }

}  // namespace idlewave::mpi
