#include "workloads/heat/shared_pages.h"

#include <algorithm>
#include <new>

namespace idlewave::heat {
namespace {

std::size_t pages_of_each(std::size_t doubles, int size) {
  const std::size_t pages = (doubles + kPage - 1) / kPage, ranks = std::size_t(size);
  return (pages + ranks - 1) / ranks;
}

/// Zero, and there only where it is touched.
double* allocated(std::size_t doubles) {
  void* memory = std::calloc(doubles, sizeof(double));
  if (memory == nullptr) throw std::bad_alloc();
  return static_cast<double*>(memory);
}

template <class With>
void for_each_page(const Span& part, With with) {
  for (std::size_t page = part.begin / kPage; page * kPage < part.end; ++page) with(page);
}

}  // namespace

Span SharedPages::home_of(std::size_t doubles, const ranks::Group& ranks) {
  const std::size_t all = (doubles + kPage - 1) / kPage * kPage, of_each = pages_of_each(doubles, ranks.size) * kPage;
  const std::size_t begin = std::min(all, std::size_t(ranks.rank) * of_each);
  return {begin, std::min(all, begin + of_each)};
}

SharedPages::SharedPages(std::size_t doubles, const ranks::Group& ranks)
    : ranks_(ranks),
      pages_of_home_(pages_of_each(doubles, ranks.size)),
      memory_(allocated((doubles + kPage - 1) / kPage * kPage)),
      table_(doubles, home_of(doubles, ranks)) {
  // One process has all pages at home, and Open MPI 4.1 makes no window for it.
  if (ranks.size == 1) return;
  const Span home = home_of(doubles, ranks);
  MPI_Win_create(data() + home.begin, MPI_Aint((home.end - home.begin) * sizeof(double)), sizeof(double), MPI_INFO_NULL,
                 ranks.ranks, &window_);
  MPI_Win_lock_all(MPI_MODE_NOCHECK, window_);
}

SharedPages::~SharedPages() {
  if (window_ == MPI_WIN_NULL) return;
  MPI_Win_unlock_all(window_);
  MPI_Win_free(&window_);
}

MPI_Aint SharedPages::place_at_home(std::size_t at) const {
  return MPI_Aint(at - std::size_t(owner_of(at / kPage)) * pages_of_home_ * kPage);
}

/// As a fault would: what needs the page waits for it.
void SharedPages::fetch(std::size_t page) {
  const std::size_t at = page * kPage;
  MPI_Get(data() + at, kPage, MPI_DOUBLE, owner_of(page), place_at_home(at), kPage, MPI_DOUBLE, window_);
  MPI_Win_flush(owner_of(page), window_);
  table_.fetched(page);
  ++traffic_.messages, traffic_.bytes += std::int64_t(kPage * sizeof(double));
}

void SharedPages::will_read(const Span& part) {
  for_each_page(part, [&](std::size_t page) {
    if (!table_.holds(page)) fetch(page);
  });
}

/// A write is a read first, so that the page is right where it is not written to (rabenseifner-2007, "Real consistency
/// protocol is more complicated").
void SharedPages::will_write(const Span& part) {
  will_read(part);
  for_each_page(part, [&](std::size_t page) { table_.prepare_change(page, data()); });
}

void SharedPages::put_changes(std::size_t page) {
  table_.for_each_change(page, data(), [&](const Span& change) {
    const int count = int(change.end - change.begin);
    MPI_Put(data() + change.begin, count, MPI_DOUBLE, owner_of(page), place_at_home(change.begin), count, MPI_DOUBLE,
            window_);
    ++traffic_.messages, traffic_.bytes += std::int64_t(std::size_t(count) * sizeof(double));
  });
}

void SharedPages::barrier() {
  if (window_ == MPI_WIN_NULL) return;
  for (std::size_t page = 0; page < table_.pages(); ++page) put_changes(page);
  MPI_Win_flush_all(window_);
  // Nobody has the sum before all have come, with their changes at home.
  std::vector<std::uint16_t> writers(table_.pages());
  MPI_Allreduce(table_.changed().data(), writers.data(), int(writers.size()), MPI_UINT16_T, MPI_SUM, ranks_.ranks);
  MPI_Win_sync(window_);
  table_.take_notices(writers);
}

}  // namespace idlewave::heat
