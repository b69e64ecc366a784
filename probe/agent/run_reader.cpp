#include "probe/agent/run_reader.h"

#include <algorithm>

namespace idlewave::agent {

using shm::Run;
using wire::Event;
using wire::EventKind;
using wire::Nanoseconds;

void RunReader::take(const Event& event, std::vector<Event>& out) {
  if (event.kind == shm::kRunTime) {
    if (coming_.used() == shm::kRunPhases) return;  // A rank that overwrites its ring.
    coming_.ns[coming_.used()] = std::int64_t(event.value);
    return coming_.add(event.phase);
  }
  if (event.kind == shm::kRunEnd) {
    coming_.end_ns = event.time.count();
    coming_.count = event.value;
    coming_.go_on_with(event.phase);
    tell(coming_, out);
    return go_on_from(event.time);
  }
  if (was_told(event)) return;
  out.push_back(event);
  go_on_from(event.time);
}

/// A run of few phases comes from the ring one by one, also when it was told as far as it had come.
bool RunReader::was_told(const Event& event) {
  return event.kind == EventKind::kSwitch && passed_ < told_.count && (++passed_, true);
}

void RunReader::go_on_from(Nanoseconds time) {
  begin_ = time;
  told_ = {};
  coming_ = {};
  passed_ = 0;
}

void RunReader::take(const Run& run, std::vector<Event>& out) {
  if (!begin_ || run.count <= told_.count || !fits(run)) return;
  tell(run, out);
  told_ = run;
}

std::optional<Nanoseconds> RunReader::told_until() const {
  return told_.count > 0 ? Nanoseconds(told_.end_ns) : begin_;
}

bool RunReader::fits(const Run& run) const {
  if (!begin_ || run.used() > shm::kRunPhases || run.count < told_.count || run.used() < told_.used()) return false;
  std::int64_t left = run.end_ns - told_until()->count();
  for (std::uint32_t i = 0; i < run.used(); ++i) {
    const bool is_another = i < told_.used() && run.phase(i) != told_.phase(i);
    if (is_another || run.ns[i] < told_.ns[i] || run.ns[i] - told_.ns[i] > left) return false;
    left -= run.ns[i] - told_.ns[i];
  }
  return left == 0;
}

void RunReader::tell(const Run& run, std::vector<Event>& out) {
  const std::uint64_t count = std::min(run.count - std::min(run.count, told_.count), wire::kMaxEventValue);
  const Nanoseconds end(run.end_ns);
  if (!fits(run)) return out.push_back({end, std::max<std::uint64_t>(count, 1), EventKind::kDropped, run.current()});
  if (count == 0) return;
  const Nanoseconds begin = *told_until();
  Event event{begin, count, EventKind::kSummed, run.current()};
  for (std::uint32_t i = 0; i < run.used(); ++i) {
    const Nanoseconds more(run.ns[i] - told_.ns[i]);
    if (more.count() == 0 && (i > 0 || begin < end)) continue;
    event.phase = run.phase(i);
    out.push_back(event);
    event = {event.time + more, 0, EventKind::kSwitch, run.current()};
  }
  out.push_back({end, 0, EventKind::kSummed, run.current()});
}

}  // namespace idlewave::agent
