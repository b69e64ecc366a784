#include "probe/mpi/habits/polling.h"

#include <algorithm>
#include <bit>

namespace idlewave::mpi::habits {

/// One that stands where another belongs takes its place.
Polling::Site& Polling::site_of(std::uintptr_t place) {
  Site& site = sites_[(place * 0x9e3779b97f4a7c15u) >> 32 & (kSites - 1)];
  if (site.place != place) site = {.place = place, .counts_as = place};
  return site;
}

bool Polling::ask_again(wire::Nanoseconds now) {
  const Pause pause = judge(now - left_at_);
  Site& site = *site_;
  if (site.idle + site.busy >= kManyPauses) site.idle /= 2, site.busy /= 2;
  site.idle += pause == Pause::kIdle;
  site.busy += pause == Pause::kBusy;
  return pause == Pause::kIdle;
}

Polling::Pause Polling::judge(wire::Nanoseconds pause) {
  Site& site = *site_;
  if (pause <= kNothing) {
    site.wants_look = false;
    return Pause::kIdle;
  }
  const std::size_t length = length_of(pause);
  LongPauses& alike = site.long_pauses[length];
  ++alike.seen;
  const wire::Nanoseconds used{used_before_ < 0 ? -1 : processor_time_() - used_before_};
  const bool is_looked_at = used >= wire::Nanoseconds{0};
  const bool is_asleep = is_looked_at ? 2 * used < pause && used < kMostUsed : site.is_like_sleep(length, pause);
  if (is_looked_at) alike.note(is_asleep);
  if (is_looked_at && is_asleep) site.longest_asleep = std::max(site.longest_asleep, pause);
  site.wants_look = alike.looked_at < kLooks || (!is_looked_at && std::has_single_bit(alike.seen));
  if (is_asleep && !site.is_in_passing()) return Pause::kIdle;
  return is_looked_at ? Pause::kBusy : Pause::kUnknown;
}

/// Each up to four times as long as those before.
std::size_t Polling::length_of(wire::Nanoseconds pause) {
  const auto times = static_cast<std::uint64_t>(pause / kNothing);
  return std::min<std::size_t>(kLengths - 1, (std::bit_width(times) - 1) / 2);
}

void Polling::LongPauses::note(bool is_asleep) {
  if (looked_at == UINT16_MAX) looked_at /= 2, asleep /= 2;
  ++looked_at;
  asleep += is_asleep;
}

/// A pause that nobody has looked at, by those that are as long, or the next shorter ones of which something is known. Those
/// in which it worked for a shorter time say nothing of longer ones, unless there are so many of them that these may be some
/// in which it has lost its core.
bool Polling::Site::is_like_sleep(std::size_t length, wire::Nanoseconds pause) const {
  while (length > 0 && !long_pauses[length].is_known()) --length;
  if (!long_pauses[length].sleeps()) return false;
  std::uint64_t shorter_work = 0, as_long = 0;
  bool was_ever_busy = false;
  for (std::size_t i = 0; i < kLengths; ++i) {
    if (i < length && !long_pauses[i].sleeps()) shorter_work += long_pauses[i].seen;
    if (i < length) continue;
    as_long += long_pauses[i].seen;
    was_ever_busy |= long_pauses[i].asleep < long_pauses[i].looked_at;
  }
  return shorter_work <= kMost * as_long && pause <= (was_ever_busy ? 2 : 32) * longest_asleep;
}

bool Polling::ask_in_vain(std::uintptr_t place, wire::Nanoseconds now) {
  Site& site = site_of(place);
  join(site);
  state_ = State::kInVain;
  site_ = &site;
  left_at_ = now;
  used_before_ = site.wants_look && !site.is_in_passing() ? processor_time_() : -1;
  return site.expects_idle();
}

std::uintptr_t Polling::finish(std::uintptr_t place) {
  Site& site = site_of(place);
  join(site);
  answer(site);
  if (site.never_counts || (site.waits_at == 0 && site.is_in_passing())) return 0;
  if (site.counts_since == 0) site.counts_since = ++counting_;
  return site.counts_as;
}

/// It follows the latest question with no other call between. Both count as what has counted longest, so that no place comes
/// up that seems to be new.
void Polling::join(Site& site) {
  if (state_ == State::kClosed || site_ == &site || site.waits_at != 0 || site_->waits_at != 0) return;
  Site& before = *site_;
  const bool is_older = site.counts_since != 0 && (before.counts_since == 0 || site.counts_since < before.counts_since);
  Site& taken = is_older ? before : site;
  const Site& kept = is_older ? site : before;
  taken.counts_as = kept.counts_as;
  taken.counts_since = kept.counts_since;
}

}  // namespace idlewave::mpi::habits
