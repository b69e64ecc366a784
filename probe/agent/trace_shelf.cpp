#include "probe/agent/trace_shelf.h"

#include <algorithm>

namespace idlewave::agent {

/// In the order of their places; some may be empty.
std::vector<TraceShelf::Place> TraceShelf::gaps() const {
  std::vector<Place> taken;
  for (const auto& lent : lent_)
    if (const Loan loan = lent.lock()) taken.push_back(*loan);
  std::ranges::sort(taken, {}, &Place::first);
  taken.push_back({shm::kTraceRoom, 0});
  std::vector<Place> gaps;
  std::uint32_t end = 0;
  for (const Place& place : taken) {
    gaps.push_back({end, place.first - end});
    end = place.first + place.count;
  }
  return gaps;
}

std::uint32_t TraceShelf::free() const { return std::ranges::max(gaps(), {}, &Place::count).count; }

TraceShelf::Loan TraceShelf::put(const std::vector<wire::Detour>& detours) {
  std::erase_if(lent_, [](const auto& lent) { return lent.expired(); });
  const std::vector<Place> gaps = this->gaps();
  const auto gap = std::ranges::find_if(gaps, [&](const Place& each) { return each.count >= detours.size(); });
  if (gap == gaps.end()) return nullptr;
  const Place place{gap->first, static_cast<std::uint32_t>(detours.size())};
  for (std::uint32_t i = 0; i < place.count; ++i)
    shm::put_detour(room_, place.first + i, {detours[i].start.count(), detours[i].duration.count()});
  Loan loan = std::make_shared<const Place>(place);
  lent_.push_back(loan);
  return loan;
}

}  // namespace idlewave::agent
