#include "probe/mpi/habits/step_finder.h"

#include <algorithm>
#include <tuple>
#include <utility>

namespace idlewave::mpi::habits {

wire::Step StepFinder::leave_other(CallSite site, const About& about) {
  if (!is_settled() && are_depths_in_vain()) [[unlikely]] {
    site.place -= site.frame * depth_;
    go_by_addresses();
  }
  if (stands_for_anchor(site)) {
    const wire::Step step = leave_anchor();
    // If the anchor itself comes next, this was one more call.
    if (run_length_ == 1 && has_others_) run_ = -1;
    return step;
  }
  const wire::Step begun = end_run_before(site.place);
  if (noted_ == wire::kNoStep && found_ != next_) note_alternatives();
  const std::uint32_t slot = count(site);
  if (about.with == kWithAll && slot != kPlaces) {
    places_[slot].site = site;
    places_[slot].meets_all = true;
    if (are_steps_meetings(slot)) return adopt_meetings(places_[slot]);
  }
  if (is_settled()) {
    if (since_anchor_ >= others_ && slot != kPlaces && comes_without_anchor(slot)) [[unlikely]]
      return end_steps_elsewhere(slot);
    if (++since_anchor_ < patience_) return begun;
    remembered_ = unsearched_ = 0;
    forget_whole();
  }
  if (slot == kPlaces) return wire::kNoStep;
  const bool is_new = remember(slot, site, about, true);
  if (looks_within_ > 0) return search_within(is_new);
  const std::uint32_t times = times_of_loop();
  ++unsearched_;
  if (is_new) {
    // What has to come 64 times anyway need not be looked for at every call.
    if (times != kTimes && unsearched_ <= kTimesOfAnother) return wire::kNoStep;
    unsearched_ = 0;
    return search(times);
  }
  const std::uint32_t in_a_row = site.ends_requests() ? kMostRequests : std::max(kFewestPlaces, times);
  return latest(0).times < in_a_row ? wire::kNoStep : adopt_if_clear({.slot = slot}, 1, Seen::kAlone);
}

wire::Step StepFinder::remember_start(const CallSite& site, const About& about) {
  const wire::Step begun = end_run_before(site.place);
  const std::uint32_t slot = count(site);
  if (slot != kPlaces) remember(slot, site, about, false);
  return begun;
}

/// In the middle of a row of the anchor's too.
bool StepFinder::stands_for_anchor(const CallSite& site) {
  if (site.call != anchor_.call || site.frame != anchor_.frame || anchor_.place == 0) return false;
  if (since_anchor_ < others_ && run_ <= 0) return false;
  const std::uintptr_t distance = std::min(site.place - anchor_.place, anchor_.place - site.place);
  if (distance >= kOneFunction) return false;
  const std::uint32_t slot = number_of(site);
  return slot == kPlaces || places_[slot].in_cycle != cycles_;
}

/// Its slot; kPlaces: there is no room for another place.
std::uint32_t StepFinder::count(const CallSite& site) {
  const std::uint32_t slot = number_of(site);
  if (slot != kPlaces) count_at(slot);
  return slot;
}

std::uint32_t StepFinder::number_of(const CallSite& site) {
  std::uint32_t slot = home_of(site.place);
  while (places_[slot].site.place != 0 && places_[slot].site.place != site.place) slot = (slot + 1) % kPlaces;
  if (places_[slot].site.place == site.place) return slot;
  if (places_known_ + 1 >= kPlaces) return kPlaces;  // One stays free, so that every look ends.
  places_[slot].site = site;
  places_[slot].seen_as = static_cast<std::uint16_t>(places_known_++);
  return slot;
}

void StepFinder::take_for(std::uintptr_t place, std::uintptr_t other) {
  if (anchor_.place == place) anchor_.place = other;
  const std::uint32_t from = number_of({.place = place}), to = number_of({.place = other});
  if (from == kPlaces || to == kPlaces) return;
  places_[to].site = places_[from].site;
  places_[to].site.place = other;
  places_[to].waits = places_[from].waits;
  places_[to].in_cycle = places_[from].in_cycle;
  places_[to].in_round = places_[from].in_round;
  places_[to].seen_as = std::min(places_[to].seen_as, places_[from].seen_as);
  places_[to].ever.times += std::exchange(places_[from].ever.times, 0);
  places_[to].ever.runs += std::exchange(places_[from].ever.runs, 0);
  for (Run& run : history_)
    if (run.slot == from) run.slot = static_cast<std::uint16_t>(to);
}

/// Whether it is another place than the one before.
bool StepFinder::remember(std::uint32_t slot, const CallSite& site, const About& about, bool waits) {
  places_[slot].site = site;
  places_[slot].waits = waits;
  const bool is_new = remembered_ == 0 || latest(0).slot != slot;
  if (is_new) {
    calls_in_row_ = 0;
    history_[remembered_++ % kHistory] = {static_cast<std::uint16_t>(slot), 1, false, about};
    first_in_row_ = about.with;
  } else {
    Run& run = history_[(remembered_ - 1) % kHistory];
    run.times += run.times < UINT16_MAX;
    run.comes_round = run.comes_round || (about.with == first_in_row_ && about.with != 0 && about.with != kWithAll);
    if (run.about.with != kWithAll) run.about.with = run.about.with * 31 + about.with;
    run.about.work += about.work;
  }
  row_[calls_in_row_++ % kKnownCalls] = about;
  return is_new;
}

wire::Step StepFinder::search(std::uint32_t times) {
  const std::uint32_t found = period(times, kFewestPlaces);
  const Row row = found > 0 ? row_of(found) : Row();
  if (row.slot == kPlaces) return wire::kNoStep;
  if (found == whole_ || !rounds_of(found, Seen::kAlone) || !holds_loop(found))
    return adopt_if_clear(row, found, Seen::kAlone);
  whole_ = found;
  looks_within_ = 2 * found;
  return wire::kNoStep;
}

/// In the latest two of such sequences something came so often that it may be a loop.
bool StepFinder::holds_loop(std::uint32_t whole) const {
  for (std::uint32_t back = 1; back <= whole; ++back) {
    const Run& run = latest(back);
    if (run.comes_round && run.times > kTimes && !places_[run.slot].site.ends_requests()) return true;
  }
  for (std::uint32_t period = 2; period <= whole / kTimes; ++period)
    if (holds_loop_of(period, 2 * whole)) return true;
  return false;
}

bool StepFinder::holds_loop_of(std::uint32_t period, std::uint32_t runs) const {
  std::uint32_t alike = 0;
  for (std::uint32_t back = 1; back + period < runs; ++back) {
    const Run &run = latest(back), &before = latest(back + period);
    alike = run.slot == before.slot && run.about.with == before.about.with ? alike + 1 : 0;
    const std::uint32_t enough = (kTimes - 1) * period;
    if (alike > enough || (alike == enough && run.about.with == kWithAll)) return true;
  }
  return false;
}

/// Whether the calls that come now are a loop within the sequence that was found.
wire::Step StepFinder::search_within(bool is_new) {
  looks_within_ -= is_new;
  const std::uint32_t found = is_new ? period(kTimes, 0) : 1;
  if (found == 0 || found >= whole_) return wire::kNoStep;
  const CallSite& site = places_[latest(0).slot].site;
  if (found == 1 && site.ends_requests()) return wire::kNoStep;
  const Row row = found == 1 ? Row{.slot = latest(0).slot} : row_of(found);
  return row.slot == kPlaces ? wire::kNoStep : adopt_if_clear(row, found, Seen::kWithin);
}

void StepFinder::forget_whole() { whole_ = looks_within_ = 0; }

/// Of the shortest sequence that the latest runs repeat so often, or whose loops have come so often by that; 0: none.
std::uint32_t StepFinder::period(std::uint32_t times, std::uint32_t fewest) {
  const auto known = static_cast<std::uint32_t>(std::min<std::uint64_t>(remembered_, kHistory));
  const std::uint32_t longest = std::min(kLongest, known / kTimes);
  std::uint32_t of_shorter = 0;
  for (std::uint32_t period = 2; period <= longest; ++period) {
    if (kTimes * period <= of_shorter || !repeats(period, kTimes * period)) continue;
    const std::uint32_t enough = times == kTimes ? kTimes : std::max(kTimes, times / times_of_one(period));
    const std::uint32_t runs = std::max(std::min(enough, kHistory / period) * period, fewest);
    if (runs <= known && repeats(period, runs)) return period;
    // What is made of it several times has not come more often.
    of_shorter = kTimes * period;
    while (of_shorter < known && latest(of_shorter).slot == latest(of_shorter - period).slot) ++of_shorter;
  }
  return 0;
}

/// How often a sequence comes to the waiting place that it comes to most, at least 1; a row in which a rank waits for its
/// requests is once.
std::uint32_t StepFinder::times_of_one(std::uint32_t period) {
  for (std::uint32_t back = period; back < 2 * period; ++back) places_[latest(back).slot].times_in_sequence = 0;
  std::uint32_t most = 1;
  for (std::uint32_t back = period; back < 2 * period; ++back) {
    const Run& run = latest(back);
    Place& place = places_[run.slot];
    if (!place.waits) continue;
    const std::uint32_t times = place.times_in_sequence + (place.site.ends_requests() ? 1u : run.times);
    place.times_in_sequence = static_cast<std::uint16_t>(std::min<std::uint32_t>(times, UINT16_MAX));
    most = std::max(most, times);
  }
  return most;
}

bool StepFinder::repeats(std::uint32_t period, std::uint32_t runs) const {
  for (std::uint32_t back = 0; back < runs - period; ++back) {
    if (latest(back).slot != latest(back + period).slot) return false;
  }
  return true;
}

/// Of the waiting place that was new last, of those that the sequence comes to once; one that it leaves equally often in a row
/// each time before others, and before these one that is no loop by itself. Where it comes to each several times, of one of these.
StepFinder::Row StepFinder::row_of(std::uint32_t period) const {
  Row best;
  std::tuple<bool, bool, std::uint32_t> merits_of_best;
  for (std::uint32_t back = 0; back < period; ++back) {
    const std::uint32_t slot = latest(back).slot;
    if (!places_[slot].waits || visits_of(slot, period) != 1) continue;
    const std::tuple merits(!latest(back + period).comes_round, is_left_equally_often(slot, period),
                            places_[slot].seen_as);
    if (best.slot != kPlaces && merits < merits_of_best) continue;
    best = {slot, back, back};
    merits_of_best = merits;
  }
  if (best.slot == kPlaces) best = only_row_of(period);
  return best.slot != kPlaces ? best : row_of_several(period);
}

StepFinder::Row StepFinder::row_of_several(std::uint32_t period) const {
  Row best;
  for (std::uint32_t back = 0; back < period; ++back) {
    const std::uint32_t slot = latest(back).slot;
    const bool is_newer = best.slot == kPlaces || places_[slot].seen_as > places_[best.slot].seen_as;
    if (!is_newer || !places_[slot].waits || !is_left_equally_often(slot, period)) continue;
    const Row row = widest_row_of(slot, period);
    if (is_apart(row, period)) best = row;
  }
  return best;
}

/// Each row, where the rank waits at one place alone, for its requests: that others lie between is what it starts, which is another
/// thing at a corner than amid the ranks.
StepFinder::Row StepFinder::only_row_of(std::uint32_t period) const {
  Row only;
  for (std::uint32_t back = 0; back < period; ++back) {
    const std::uint32_t slot = latest(back).slot;
    if (!places_[slot].waits || slot == only.slot) continue;
    if (only.slot != kPlaces || !places_[slot].site.ends_requests()) return {};
    only = {slot, back, back};
  }
  return only;
}

std::uint32_t StepFinder::visits_of(std::uint32_t slot, std::uint32_t period) const {
  std::uint32_t visits = 0;
  for (std::uint32_t back = 0; back < period; ++back) visits += latest(back).slot == slot;
  return visits;
}

/// Between two of the place's visits lies most of the sequence: the row ends with the first of them, and the next one begins
/// with the second. Of several such, where what the rank has called first lies between them, so that ranks agree.
StepFinder::Row StepFinder::widest_row_of(std::uint32_t slot, std::uint32_t period) const {
  Row best;
  std::uint32_t widest = 0, earliest = 0;
  for (std::uint32_t first = 0; first < period; ++first) {
    if (latest(first).slot != slot) continue;
    std::uint32_t last = first + 1, seen_as = UINT32_MAX;
    for (; latest(last).slot != slot; ++last)
      seen_as = std::min<std::uint32_t>(seen_as, places_[latest(last).slot].seen_as);
    const std::uint32_t width = last - first;
    if (width < widest || (width == widest && seen_as >= earliest)) continue;
    best = {slot, first, last % period, visits_of(slot, period)};
    widest = width;
    earliest = seen_as;
  }
  return best;
}

/// Something lies outside the row that does not lie in it, and there is room for what does.
bool StepFinder::is_apart(const Row& row, std::uint32_t period) const {
  std::uint32_t places_in_row = 0;
  bool is_apart = false;
  for (std::uint32_t back = 0; back < period; ++back) {
    bool is_in_row = row.has(back, period), is_new = true;
    for (std::uint32_t other = 0; other < period; ++other) {
      if (latest(other).slot != latest(back).slot || !row.has(other, period)) continue;
      is_in_row = true;
      is_new = is_new && other >= back;
    }
    places_in_row += is_in_row && is_new;
    is_apart = is_apart || !is_in_row;
  }
  return is_apart && places_in_row <= kMostInRow;
}

/// What may be otherwise in the next sequence is not, whatever it was in the latest.
bool StepFinder::is_left_equally_often(std::uint32_t slot, std::uint32_t period) const {
  return !places_[slot].site.ends_some_requests() && shortest_run(slot, period) == longest_run(slot, period);
}

/// The latest run may go on.
std::uint32_t StepFinder::shortest_run(std::uint32_t slot, std::uint32_t period) const {
  std::uint32_t shortest = UINT16_MAX;
  for (std::uint32_t back = 1; back < (kTimes - 1) * period; ++back)
    if (latest(back).slot == slot) shortest = std::min<std::uint32_t>(shortest, latest(back).times);
  return shortest;
}

std::uint32_t StepFinder::longest_run(std::uint32_t slot, std::uint32_t period) const {
  std::uint32_t longest = 0;
  for (std::uint32_t back = 1; back < (kTimes - 1) * period; ++back)
    if (latest(back).slot == slot) longest = std::max<std::uint32_t>(longest, latest(back).times);
  return longest;
}

/// Since a place was left last, in the latest sequence or the one before.
std::uint32_t StepFinder::waits_since(std::uint32_t slot, std::uint32_t period) const {
  std::uint32_t waits = 0;
  for (std::uint32_t back = 0; back < period && latest(back).slot != slot; ++back)
    if (places_[latest(back).slot].waits) waits += latest(back).times;
  return waits;
}

wire::Step StepFinder::adopt_if_clear(const Row& row, std::uint32_t period, Seen seen) {
  const std::optional<std::uint32_t> rounds = rounds_of(period, seen);
  if (!rounds) return wire::kNoStep;
  if (is_too_early(row, period, *rounds)) {
    if (seen == Seen::kWithin) looks_within_ = 2 * whole_;
    return wire::kNoStep;
  }
  if (seen == Seen::kAlone && *rounds > 1 && !has_come(period, times_of_loop() * *rounds)) return wire::kNoStep;
  return adopt(row, period, *rounds);
}

/// A sequence, running; or as often as there is room for.
bool StepFinder::has_come(std::uint32_t period, std::uint32_t times) const {
  if (period == 1) return latest(0).times >= times;
  const std::uint32_t runs = std::min(times, kHistory / period) * period;
  return runs <= remembered_ && repeats(period, runs);
}

/// Other ranks, which may have been in no loop before, would be behind in their numbers: as soon as this one has come as often
/// as the short loop before, that does not matter.
bool StepFinder::is_too_early(const Row& row, std::uint32_t period, std::uint32_t rounds) const {
  const Count& ever = places_[row.slot].ever;
  const wire::Step come = (period == 1 ? ever.times : ever.runs / row.visits) / rounds;
  return next_ > 0 && is_short(next_) && come <= next_;
}

/// The number of the step that begins now.
wire::Step StepFinder::adopt(const Row& row, std::uint32_t period, std::uint32_t rounds) {
  ++cycles_;
  for (std::uint32_t back = 0; back < std::max(whole_, period); ++back) places_[latest(back).slot].in_cycle = cycles_;
  forget_whole();
  period_ = period;
  end_steps_with(row);
  rounds_ = rounds;
  const Place& anchor = places_[row.slot];
  const bool is_left_now = latest(0).slot == row.slot;
  since_anchor_ = waits_since(row.slot, period);
  run_ = row.visits > 1 ? left_in_row(row, period) - is_left_now : 0;
  const std::uint32_t ever = rows_before(row, anchor.ever), lately = rows_before(row, anchor.lately);
  // Other ranks may have been in no loop before, where it was short. No number comes again.
  const bool was_short = is_short(next_) && next_ <= wire::Step{ever / rounds};
  before_ = was_short ? 0 : next_;
  round_ = (was_short ? ever : lately) % rounds;
  next_ = before_ + (was_short ? ever : lately) / rounds;
  find_alternatives();
  return is_left_now ? leave_anchor() : wire::kNoStep;
}

/// The latest run may go on, so waits are those of the sequence before.
void StepFinder::end_steps_with(const Row& row) {
  others_ = in_row_count_ = 0;
  std::uint32_t waits = 0;
  for (std::uint32_t back = 0; back < period_; ++back) {
    const Place& place = places_[latest(back).slot];
    if (latest(back).slot == row.slot) continue;
    const std::uint32_t its_waits = place.waits ? latest(back + period_).times : 0;
    waits += its_waits;
    if (!row.has(back, period_))
      others_ += its_waits;
    else if (std::ranges::find(in_row(), place.site.place) == in_row().end())
      in_row_[in_row_count_++] = place.site.place;
  }
  const Place& anchor = places_[row.slot];
  anchor_ = anchor.site;
  ends_with_meeting_ = anchor.meets_all;
  has_others_ = period_ > 1;
  keeps_row_ = has_others_ && anchor_.ends_requests();
  const std::uint32_t shortest = row.visits * (has_others_ ? shortest_run(row.slot, period_) : 1);
  const bool is_any = keeps_row_ && !is_left_equally_often(row.slot, period_);
  run_length_ = is_any ? kAnyLength : static_cast<std::int32_t>(shortest);
  patience_ = 2 * (waits + shortest) + kTimesOfAnother;
  passing_ = patience_ - 1;
}

bool StepFinder::are_steps_meetings(std::uint32_t slot) {
  if (is_settled() && ends_with_meeting_) {
    meetings_.forget();
    return false;
  }
  const bool may_soon_know = is_settled() || times_of_loop() != kTimes;
  return meetings_.meet(slot, may_soon_know ? std::nullopt : std::optional(remembered_));
}

/// Whatever loops this rank has come to. All count alike from the first meeting there, and those that had counted something else
/// before count anew.
wire::Step StepFinder::adopt_meetings(const Place& place) {
  constexpr std::uint32_t kPatience = 64;  // times the longest that it was to the next
  forget_whole();
  ++cycles_;
  anchor_ = place.site;
  ends_with_meeting_ = true;
  has_others_ = true;
  keeps_row_ = false;
  in_row_count_ = 0;
  others_ = UINT32_MAX;
  run_ = 0;
  run_length_ = 1;
  rounds_ = 1;
  round_ = 0;
  patience_ = std::max(kPatience * std::min(meetings_.longest(), UINT32_MAX / kPatience), kTimesOfAnother);
  passing_ = patience_ - 1;
  next_ = wire::Step{place.ever.times} - 1;
  return leave_anchor();
}

/// How often the place was left in the row that goes on.
std::int32_t StepFinder::left_in_row(const Row& row, std::uint32_t period) const {
  std::int32_t left = 0;
  for (std::uint32_t back = 0; row.has(0, period) && back <= row.first; ++back)
    if (latest(back).slot == row.slot) left += latest(back).times;
  return left;
}

/// Without the one that goes on.
std::uint32_t StepFinder::rows_before(const Row& row, const Count& count) const {
  const bool is_left_now = latest(0).slot == row.slot;
  if (row.visits == 1) return (run_length_ == 1 && !keeps_row_ ? count.times : count.runs) - is_left_now;
  const std::uint32_t left_now = static_cast<std::uint32_t>(run_) + is_left_now;
  return (count.times - std::min(count.times, left_now)) / static_cast<std::uint32_t>(run_length_);
}

}  // namespace idlewave::mpi::habits
