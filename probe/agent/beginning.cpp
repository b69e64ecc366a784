#include "probe/agent/beginning.h"

#include <algorithm>
#include <chrono>

namespace idlewave::agent {

using wire::Nanoseconds;

namespace {

/// Of two readings of a clock through the wall clock, by who did not read both at one moment.
constexpr Nanoseconds kSame = std::chrono::milliseconds(1);
/// No session is older.
constexpr Nanoseconds kLongest{std::int64_t{1} << 58};

bool can_be(Nanoseconds at, Nanoseconds now) { return at <= now && at > now - kLongest; }

}  // namespace

Beginning::Beginning(shm::Header& header, Nanoseconds now) : header_(header), opened_(now) {
  const Nanoseconds kept(header.began_ns.load());
  const shm::Began known = header.began_known.load();
  if (known == shm::Began::kNotKnown || !can_be(kept, now)) return;
  at_ = kept;
  is_settled_ = known == shm::Began::kSettled;
}

bool Beginning::note_first(Nanoseconds event) {
  if (at_) return false;
  at_ = std::max(event, opened_);
  keep();
  return true;
}

bool Beginning::settle(std::int64_t began_wall, std::int64_t wall, Nanoseconds now) {
  const bool can_be_told = began_wall > 0 && began_wall <= wall && wall - began_wall < kLongest.count();
  if (is_settled_ || !can_be_told) return false;
  const Nanoseconds told = now - Nanoseconds(wall - began_wall);
  const bool is_news = !at_ || told > *at_ + kSame || told < *at_ - kSame;
  if (is_news) at_ = told;
  is_settled_ = true;
  keep();
  return is_news;
}

void Beginning::keep() {
  header_.began_ns.store(at_->count());
  header_.began_known.store(is_settled_ ? shm::Began::kSettled : shm::Began::kByAgent);
}

}  // namespace idlewave::agent
