#include "workloads/kernels/stream.h"

#include <algorithm>
#include <cassert>
#include <cmath>

namespace idlewave::kernels {

support::Kernel kernel_of(StreamKind kind) {
  switch (kind) {
    case StreamKind::kTriad: return support::Kernel::kTriad;
    case StreamKind::kTriadNt: return support::Kernel::kTriadNt;
    case StreamKind::kSlowTriad: return support::Kernel::kSlowTriad;
  }
  return support::Kernel::kTriad;
}

std::optional<StreamKind> stream_of(support::Kernel kernel) {
  switch (kernel) {
    case support::Kernel::kTriad: return StreamKind::kTriad;
    case support::Kernel::kTriadNt: return StreamKind::kTriadNt;
    case support::Kernel::kSlowTriad: return StreamKind::kSlowTriad;
    case support::Kernel::kMemory:
    case support::Kernel::kCore:
    case support::Kernel::kDivide: break;
  }
  return std::nullopt;
}

std::size_t bytes_per_iteration(StreamKind kind) {
  constexpr std::size_t kWithWriteAllocate = 2;
  const std::size_t written = kind == StreamKind::kTriadNt && kHasNonTemporalStores ? 1 : kWithWriteAllocate;
  const std::size_t read = kind == StreamKind::kSlowTriad ? 3 : 2;
  return (read + written) * sizeof(double);
}

std::size_t memory_of(StreamKind kind, std::size_t elements) {
  return (kind == StreamKind::kSlowTriad ? 4 : 3) * sizeof(double) * elements;
}

void triad(std::span<double> a, std::span<const double> b, std::span<const double> c, double s) {
  for (std::size_t i = 0; i < a.size(); ++i) a[i] = b[i] + s * c[i];
}

void slow_triad(std::span<double> a, std::span<const double> b, std::span<const double> c, std::span<const double> d) {
  for (std::size_t i = 0; i < a.size(); ++i) a[i] = b[i] + std::cos(c[i] / d[i]);
}

Stream::Stream(StreamKind kind, std::size_t elements)
    : kind_(kind),
      a_(elements, 0.0),
      b_(elements, 1.0),
      c_(elements, 2.0),
      d_(kind == StreamKind::kSlowTriad ? elements : 0, 3.0) {
  assert(elements > 0);
}

void Stream::move(std::uint64_t bytes) {
  for (std::size_t left = bytes / bytes_per_iteration(kind_); left > 0;) {
    const std::size_t end = position_ + std::min(left, a_.size() - position_);
    run(position_, end);
    left -= end - position_;
    position_ = end % a_.size();
  }
}

void Stream::run(std::size_t begin, std::size_t end) {
  const auto part = [&](std::vector<double>& array) { return std::span{array}.subspan(begin, end - begin); };
  switch (kind_) {
    case StreamKind::kTriad: return triad(part(a_), part(b_), part(c_), kScale);
    case StreamKind::kTriadNt: return triad_nt(part(a_), part(b_), part(c_), kScale);
    case StreamKind::kSlowTriad: return slow_triad(part(a_), part(b_), part(c_), part(d_));
  }
}

}  // namespace idlewave::kernels
