// Rounds of a sequence: how many of them are a step, since a loop over partners may be within the steps.

#include <algorithm>

#include "probe/mpi/habits/step_finder.h"

namespace idlewave::mpi::habits {

/// Of sequences, the latest run left out, since it may go on; of calls where one place is the sequence. What was before the
/// first of them, as work that is done once, is none of the loop's.
std::uint32_t StepFinder::known_rounds(std::uint32_t period) const {
  if (period == 1) return std::min(calls_in_row_ - 1, kKnownCalls);
  const auto known = static_cast<std::uint32_t>(std::min<std::uint64_t>(remembered_, kHistory));
  std::uint32_t runs = 1 + period;
  while (runs < known && latest(runs).slot == latest(runs - period).slot) ++runs;
  return (runs - 1) / period - 1;
}

const StepFinder::About& StepFinder::told_of(std::uint32_t period, std::uint32_t place,
                                             std::uint32_t rounds_ago) const {
  if (period == 1) return row_[(calls_in_row_ - 1 - rounds_ago) % kKnownCalls];
  return latest(1 + place + rounds_ago * period).about;
}

bool StepFinder::meets_all(std::uint32_t period) const {
  for (std::uint32_t place = 0; place < period; ++place)
    if (told_of(period, place, 0).with == kWithAll) return true;
  return false;
}

/// After so many of the latest sequences their partners have come again, each time.
bool StepFinder::come_round(std::uint32_t period, std::uint32_t rounds, std::uint32_t sequences) const {
  for (std::uint32_t round = 0; round + rounds < sequences; ++round)
    for (std::uint32_t place = 0; place < period; ++place)
      if (told_of(period, place, round).with != told_of(period, place, round + rounds).with) return false;
  return true;
}

/// At a place of the sequence, in each of so many.
bool StepFinder::meets_somebody_always(std::uint32_t period, std::uint32_t rounds) const {
  for (std::uint32_t place = 0; place < period; ++place) {
    const std::uint32_t with = told_of(period, place, 0).with;
    std::uint32_t times = 0;
    while (times < rounds && told_of(period, place, times).with == with) ++times;
    if (with != 0 && times == rounds) return true;
  }
  return false;
}

/// At a place of the sequence, in two of so many.
bool StepFinder::meets_somebody_again(std::uint32_t period, std::uint32_t rounds) const {
  for (std::uint32_t place = 0; place < period; ++place)
    for (std::uint32_t round = 1; round < rounds; ++round)
      for (std::uint32_t before = 0; before < round; ++before) {
        const std::uint32_t with = told_of(period, place, round).with;
        if (with != 0 && with == told_of(period, place, before).with) return true;
      }
  return false;
}

/// In which of so many sequences. Of a round what it works at least counts: the rest is others' use of its core.
StepFinder::Works StepFinder::works_in(std::uint32_t period, std::uint32_t rounds, std::uint32_t times) const {
  constexpr int kMuchMore = 4;
  wire::Nanoseconds most{}, next{};
  for (std::uint32_t round = 0; round < rounds; ++round) {
    auto least = wire::Nanoseconds::max();
    for (std::uint32_t time = 0; time < times; ++time) {
      wire::Nanoseconds work{};
      for (std::uint32_t place = 0; place < period; ++place) work += told_of(period, place, round + time * rounds).work;
      least = std::min(least, work);
    }
    next = std::max(next, std::min(most, least));
    most = std::max(most, least);
  }
  if (most < kWork) return Works::kInNone;
  return next < kWork || kMuchMore * next < most ? Works::kInOne : Works::kInSeveral;
}

/// It has come round so many times.
bool StepFinder::is_loop_over_partners(std::uint32_t period, std::uint32_t rounds, std::uint32_t times) const {
  if (meets_somebody_always(period, rounds)) return false;
  const Works works = works_in(period, rounds, times);
  return works == Works::kInOne || (works == Works::kInNone && !meets_somebody_again(period, rounds));
}

/// Exchanges one after the other are no steps: the rank works before the first of them alone.
bool StepFinder::works_between(std::uint32_t period) const {
  const std::uint32_t rounds = std::min(known_rounds(period) + 1, kKnownCalls);
  return period * kTimes >= kFewestPlaces || works_in(period, rounds, 1) != Works::kInOne;
}

/// How many sequences make a step. Nothing: that can't be said yet.
std::optional<std::uint32_t> StepFinder::rounds_of(std::uint32_t period, Seen seen) const {
  if (meets_all(period)) return 1;
  const std::uint32_t known = known_rounds(period);
  const std::uint32_t fewest = seen == Seen::kWithin ? 0 : (kFewestPlaces - 1) / period;
  for (std::uint32_t rounds = 1; rounds <= kMostRounds; ++rounds) {
    // Within a loop the same one may come several times running. What belongs to a round is known of the latest when the next
    // begins, and of calls of one place when it is over.
    const std::uint32_t believed = std::max(std::min(kTimes * rounds - (period > 1), kKnownCalls), fewest);
    if (believed > known) break;
    if (!come_round(period, rounds, believed)) continue;
    if (seen == Seen::kWithin) {
      if (rounds == 1 && !works_between(period)) break;
      return is_loop_over_partners(period, rounds, believed / rounds) ? rounds : 1;
    }
    // Of few rounds more are looked at, since how long a rank works in each hangs on who else uses its core.
    const std::uint32_t enough = std::min(kFewestPlaces, kHistory / period - 2);  // for which there is room
    const std::uint32_t looked_at = rounds == 1 ? believed : std::max(believed, enough);
    if (looked_at > known) break;
    return is_loop_over_partners(period, rounds, looked_at / rounds) ? rounds : 1;
  }
  const bool has_no_room = (known + 2) * period >= kHistory;
  return known >= kKnownCalls || has_no_room ? std::optional(1u) : std::nullopt;
}

}  // namespace idlewave::mpi::habits
