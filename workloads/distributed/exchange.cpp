#include "workloads/distributed/exchange.h"

#include <idlewave/probe.h>

#include <algorithm>
#include <utility>

#include "workloads/distributed/patience.h"

namespace idlewave::distributed {

using sparse::Bounds;
using sparse::Halo;

namespace {

enum Tag { kElements, kMoment };

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
              &requests_.emplace_back());
  for (const Halo::Source& source : sources_)
    MPI_Isend(wanted.data() + source.first, source.count, MPI_INT32_T, source.rank, kElements, ranks_.ranks,
              &requests_.emplace_back());
  wait(false);
}

void Exchange::post_receives(double* halo) {
  for (const Halo::Source& source : sources_)
    MPI_Irecv(halo + std::ptrdiff_t(source.first) * width_, source.count * width_, MPI_DOUBLE, source.rank, kElements,
              ranks_.ranks, &requests_.emplace_back());
  for (std::size_t i = 0; told_ && i < told_->size(); ++i)
    MPI_Irecv(&(*told_)[i], 1, MPI_INT64_T, sources_[i].rank, kMoment, ranks_.ranks, &requests_.emplace_back());
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

void Exchange::post_sends(wire::Nanoseconds done) {
  own_done_ = done;
  for (const Target& target : targets_) {
    MPI_Isend(buffer_.data() + target.first * std::size_t(width_), target.count * width_, MPI_DOUBLE, target.rank,
              kElements, ranks_.ranks, &requests_.emplace_back());
    if (told_) MPI_Isend(&own_done_, 1, MPI_INT64_T, target.rank, kMoment, ranks_.ranks, &requests_.emplace_back());
  }
}

wire::Nanoseconds Exchange::last_done() const {
  return told_ && !told_->empty() ? std::ranges::max(*told_) : wire::Nanoseconds{};
}

void Exchange::tell_probe() const {
  idlewave_partners(pattern_, from_.data(), static_cast<int>(from_.size()), to_.data(), static_cast<int>(to_.size()),
                    0);
}

void Exchange::wait(bool asleep) {
  if (!asleep) MPI_Waitall(static_cast<int>(requests_.size()), requests_.data(), MPI_STATUSES_IGNORE);
  for (const Patience patience; !is_done();) patience.sleep();
}

bool Exchange::is_done() {
  int done = 0;
  MPI_Testall(static_cast<int>(requests_.size()), requests_.data(), &done, MPI_STATUSES_IGNORE);
  if (done) requests_.clear();
  return done != 0;
}

}  // namespace idlewave::distributed
