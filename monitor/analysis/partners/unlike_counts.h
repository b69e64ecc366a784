#pragma once
// Ranks that count their steps unlike others, so that steps of the same number do not belong together: where each rank
// finds the steps of a program by itself, one may count an inner loop and others the outer one.

#include <optional>
#include <string>

#include "monitor/timeline/timeline.h"

namespace idlewave::analysis::partners {

/// A rank that was farther ahead of another one than it can be where they count alike.
struct UnlikeCounts {
  wire::Nanoseconds at{};  ///< When `rank` began `step`.
  wire::Rank rank = 0;
  wire::Step step = wire::kNoStep;
  wire::Rank behind = 0;
  wire::Step its_step = wire::kNoStep;  ///< That `behind` had come to by then, at most.
  bool is_awaited = false;              ///< `rank` has said that it waits for `behind`.
  bool has_met = false;          ///< Both take part in collectives of all, as often as `rank` begins steps or more.
  std::size_t may_be_ahead = 0;  ///< By so many steps it can be where they count alike.
};

/// Who says that it waits for another within each cycle of steps (declared_partners.h) is ahead of it by no more than a
/// cycle, however late anybody is. Of those who don't say it the first is ahead of the last by no more steps than there are
/// ranks, if they wait for one another at all; it is left at that unless it also counts four times as many, as there may
/// be one that sends, waits for nobody, and is faster. So is one that tells of no step any more, whatever anybody says, where
/// all have called some collective as often as the first has begun a step. Nothing where no rank is farther ahead for most of
/// its steps. These are looked at here and there, as are ranks where they are more than some thousand, and whom a rank waits
/// for where that are many.
std::optional<UnlikeCounts> find_unlike_counts(const timeline::Timeline& timeline);

/// The same of these two ranks, whatever they say now of whom they wait for: where that changes all the time, they would be found
/// at one look, and not at the next.
std::optional<UnlikeCounts> still_unlike(const timeline::Timeline& timeline, const UnlikeCounts& before);

/// "ranks count steps differently: when rank 0 began step 412, rank 1, which it waits for, had come to step 51: ..."
std::string to_words(const UnlikeCounts& counts);

}  // namespace idlewave::analysis::partners
