#include "workloads/support/pause.h"

#include <sched.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>

namespace idlewave::support {
namespace {

/// struct sched_attr of sched_setattr(2), first version; glibc does not declare it.
struct SchedulingAttributes {
  std::uint32_t size = sizeof(SchedulingAttributes);
  std::uint32_t policy = 0;
  std::uint64_t flags = 0;
  std::int32_t nice = 0;
  std::uint32_t priority = 0;
  std::uint64_t runtime = 0;  ///< ns; for SCHED_OTHER the time slice
  std::uint64_t deadline = 0;
  std::uint64_t period = 0;
};
static_assert(sizeof(SchedulingAttributes) == 48);

}  // namespace

wire::Nanoseconds monotonic_now() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return std::chrono::seconds{now.tv_sec} + wire::Nanoseconds{now.tv_nsec};
}

void sleep_until(wire::Nanoseconds moment) {
  const auto seconds = std::chrono::floor<std::chrono::seconds>(moment);
  const timespec until{seconds.count(), (moment - seconds).count()};
  while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, nullptr) == EINTR) {
  }
}

void ask_for_prompt_wake_ups() {
  prctl(PR_SET_TIMERSLACK, 1UL, 0UL, 0UL, 0UL);
  SchedulingAttributes attributes;
  if (syscall(SYS_sched_getattr, 0, &attributes, sizeof attributes, 0U) != 0 || attributes.policy != SCHED_OTHER)
    return;
  attributes.runtime = 100'000;
  syscall(SYS_sched_setattr, 0, &attributes, 0U);
}

}  // namespace idlewave::support
