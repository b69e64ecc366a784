#include "workloads/distributed/exchange.h"

#include <idlewave/probe.h>

#include <algorithm>
#include <utility>

#include "workloads/distributed/patience.h"
#include "workloads/sparse/kernel.h"

namespace idlewave::distributed {

using sparse::Bounds;
using sparse::Halo;

namespace {

/// That of a thread's share is kElements and its number.
enum Tag { kMoment, kElements };

}  // namespace

Exchange::Exchange(const Halo& halo, const Bounds& bounds, const ranks::Group& ranks, int pattern, int width)
    : ranks_(ranks), pattern_(pattern), width_(width), sources_(halo.sources) {
  ask_owners(halo, bounds);
  buffer_.resize(sent_elements_.size() * std::size_t(width_));
  for (const Halo::Source& source : sources_) from_.push_back(source.rank);
  for (const Target& target : targets_) to_.push_back(target.rank);
}

void Exchange::ask_owners(const Halo& halo, const Bounds& bounds) {
  std::vector<int> needed(static_cast<std::size_t>(ranks_.size)), asked(needed.size());
  for (const Halo::Source& source : sources_) needed[std::size_t(source.rank)] = source.count;
  MPI_Alltoall(needed.data(), 1, MPI_INT, asked.data(), 1, MPI_INT, ranks_.ranks);
  std::size_t first = 0;
  for (int rank = 0; rank < ranks_.size; ++rank) {
    const int count = asked[std::size_t(rank)];
    if (count > 0) targets_.push_back({rank, std::exchange(first, first + std::size_t(count)), count});
  }
  sent_elements_.resize(first);
  std::vector<std::int32_t> wanted;  // places among the owner's elements
  for (const Halo::Source& source : sources_)
    for (std::int32_t i = source.first; i < source.first + source.count; ++i)
      wanted.push_back(static_cast<std::int32_t>(halo.columns[std::size_t(i)] - bounds[std::size_t(source.rank)]));
  for (const Target& target : targets_)
    MPI_Irecv(sent_elements_.data() + target.first, target.count, MPI_INT32_T, target.rank, kElements, ranks_.ranks,
              &requests_.front().emplace_back());
  for (const Halo::Source& source : sources_)
    MPI_Isend(wanted.data() + source.first, source.count, MPI_INT32_T, source.rank, kElements, ranks_.ranks,
              &requests_.front().emplace_back());
  wait(false);
}

Exchange::Share Exchange::share_of(int elements, int thread) const {
  const auto [begin, end] = sparse::share_of(std::size_t(elements), thread, int(requests_.size()));
  return {std::ptrdiff_t(begin) * width_, int(end - begin) * width_};
}

void Exchange::post_receives(double* halo, int thread) {
  std::vector<MPI_Request>& requests = requests_[std::size_t(thread)];
  for (const Halo::Source& source : sources_) {
    const auto [begin, count] = share_of(source.count, thread);
    if (count > 0)
      MPI_Irecv(halo + std::ptrdiff_t(source.first) * width_ + begin, count, MPI_DOUBLE, source.rank,
                kElements + thread, ranks_.ranks, &requests.emplace_back());
  }
  if (!told_ || thread > 0) return;
  for (std::size_t i = 0; i < told_->size(); ++i)
    MPI_Irecv(&(*told_)[i], 1, MPI_INT64_T, sources_[i].rank, kMoment, ranks_.ranks, &requests.emplace_back());
}

void Exchange::gather(const double* own, std::size_t begin, std::size_t end) {
  const auto width = static_cast<std::size_t>(width_);
  if (width == 1) {
    for (std::size_t i = begin; i < end; ++i) buffer_[i] = own[sent_elements_[i]];
    return;
  }
  for (std::size_t i = begin; i < end; ++i)
    std::copy_n(own + std::size_t(sent_elements_[i]) * width, width, buffer_.data() + i * width);
}

void Exchange::post_sends(wire::Nanoseconds done, int thread) {
  std::vector<MPI_Request>& requests = requests_[std::size_t(thread)];
  if (thread == 0) own_done_ = done;
  for (const Target& target : targets_) {
    const auto [begin, count] = share_of(target.count, thread);
    if (count > 0)
      MPI_Isend(buffer_.data() + std::ptrdiff_t(target.first) * width_ + begin, count, MPI_DOUBLE, target.rank,
                kElements + thread, ranks_.ranks, &requests.emplace_back());
    if (told_ && thread == 0)
      MPI_Isend(&own_done_, 1, MPI_INT64_T, target.rank, kMoment, ranks_.ranks, &requests.emplace_back());
  }
}

wire::Nanoseconds Exchange::last_done() const {
  return told_ && !told_->empty() ? std::ranges::max(*told_) : wire::Nanoseconds{};
}

void Exchange::tell_probe() const {
  idlewave_partners(pattern_, from_.data(), static_cast<int>(from_.size()), to_.data(), static_cast<int>(to_.size()),
                    0);
}

void Exchange::wait(bool asleep, int thread) {
  std::vector<MPI_Request>& requests = requests_[std::size_t(thread)];
  if (!asleep) MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
  for (const Patience patience; !is_done(thread);) patience.sleep();
}

bool Exchange::is_done(int thread) {
  std::vector<MPI_Request>& requests = requests_[std::size_t(thread)];
  int done = 0;
  MPI_Testall(static_cast<int>(requests.size()), requests.data(), &done, MPI_STATUSES_IGNORE);
  if (done) requests.clear();
  return done != 0;
}

}  // namespace idlewave::distributed
