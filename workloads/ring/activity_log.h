#pragma once
// When a rank was inside its work, kept by the program itself: what idlewave shows can be checked against it.

#include <vector>

#include "workloads/ranks/noise.h"

namespace idlewave::ring {

using wire::Nanoseconds;

using ranks::Span;

/// The spans of work of one rank, in order of time.
class ActivityLog {
 public:
  void add(Span work) { spans_.push_back(work); }
  Nanoseconds total() const;
  Nanoseconds total_within(Span window) const;

 private:
  std::vector<Span> spans_;
};

}  // namespace idlewave::ring
