#include "workloads/heat/page_table.h"

#include <bit>

namespace idlewave::heat {
namespace {

/// Bit by bit: what is no number is equal to itself.
bool is_same(double a, double b) { return std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b); }

}  // namespace

PageTable::PageTable(std::size_t doubles, const Span& home)
    : home_(home), holds_((doubles + kPage - 1) / kPage, true), changed_(holds_.size(), 0) {}

void PageTable::prepare_change(std::size_t page, const double* memory) {
  if (changed_[page]) return;
  changed_[page] = 1;
  if (is_at_home(page)) return;
  const double* begin = memory + page * kPage;
  twins_[page].assign(begin, begin + kPage);
}

void PageTable::for_each_change(std::size_t page, const double* memory,
                                const std::function<void(const Span&)>& with) const {
  const auto twin = twins_.find(page);
  if (twin == twins_.end()) return;
  const double* now = memory + page * kPage;
  const auto is_changed = [&](std::size_t i) { return !is_same(now[i], twin->second[i]); };
  for (std::size_t i = 0; i < kPage; ++i) {
    if (!is_changed(i)) continue;
    const std::size_t begin = i;
    while (i < kPage && is_changed(i)) ++i;
    with({page * kPage + begin, page * kPage + i});
  }
}

void PageTable::take_notices(const std::vector<std::uint16_t>& writers) {
  for (std::size_t page = 0; page < pages(); ++page)
    if (writers[page] > changed_[page] && !is_at_home(page)) holds_[page] = false;
  changed_.assign(pages(), 0);
  twins_.clear();
}

}  // namespace idlewave::heat
