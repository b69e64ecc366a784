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
  ++site.long_pauses;
  const wire::Nanoseconds used{used_before_ < 0 ? -1 : processor_time_() - used_before_};
  if (used >= wire::Nanoseconds{0}) {
    if (site.looked_at == UINT16_MAX) site.looked_at /= 2, site.asleep /= 2;
    const bool is_asleep = 2 * used < pause && used < kMostUsed;
    ++site.looked_at;
    site.asleep += is_asleep;
    if (is_asleep) site.longest_asleep = std::max(site.longest_asleep, pause);
    site.wants_look = site.looked_at < kLooks;
    return is_asleep && !site.is_in_passing() ? Pause::kIdle : Pause::kBusy;
  }
  site.wants_look = site.looked_at < kLooks || pause > site.longest_asleep || std::has_single_bit(site.long_pauses);
  const bool is_like_others = pause <= (site.was_ever_busy() ? 2 : 32) * site.longest_asleep;
  return is_like_others && site.sleeps() && !site.is_in_passing() ? Pause::kIdle : Pause::kUnknown;
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
