#pragma once
// Since when a rank whose work is waiting could have gone on, where a machine of few cores lets it run later.

#include <algorithm>

#include "workloads/kernels/virtual_socket.h"
#include "workloads/support/pause.h"

namespace idlewave::kernels {

/// Of calls in which a rank is held on purpose, by a delay of its own or by an operator: that is not lateness.
template <class Call>
wire::Nanoseconds time_of(Call call) {
  const wire::Nanoseconds begin = support::monotonic_now();
  call();
  return support::monotonic_now() - begin;
}

/// What may be taken for a late wake-up: a part of the work, so that a step stays a step.
inline wire::Nanoseconds most_late(wire::Nanoseconds work_alone) {
  return std::min(work_alone / 2, VirtualSocket::kMostLate);
}

/// The moment that it could have begun at, unless it is later than its machine makes it.
inline wire::Nanoseconds ready_for(wire::Nanoseconds most_late, wire::Nanoseconds could_begin) {
  const wire::Nanoseconds now = support::monotonic_now();
  return could_begin > now || now - could_begin > most_late ? now : could_begin;
}

}  // namespace idlewave::kernels
