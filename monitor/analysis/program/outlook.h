#pragma once
// What a delay would do to a program, before anybody orders it: what afzal-2020, eq. 2, needs to know.

#include "monitor/analysis/domains/activity.h"
#include "monitor/timeline/timeline.h"

namespace idlewave::analysis::causes {

struct CauseGround;

}  // namespace idlewave::analysis::causes

namespace idlewave::analysis::program {

/// How a wave's fronts would run. Of the program as it is now, without a wave.
struct Outlook {
  /// sigma d: ranks that a front comes on in a step. 0: nobody waits that way.
  int up = 0;
  int down = 0;
  bool ring = true;
  /// All wait for all in each step.
  bool collective = false;
  /// Else nobody was seen to wait for anybody, and neighbours on a ring are assumed.
  bool known = false;
  /// Seconds that a step takes ahead of a wave: mean of those that are no wave's. 0: none has ended yet.
  double step = 0;
  /// The same at the trailing edge, where nobody waits for others, and no more share a domain than its bandwidth suffices
  /// for. 0: not to be told, since a domain that is in step drives others that share memory and are not.
  double step_behind = 0;

  friend bool operator==(const Outlook&, const Outlook&) = default;
};

/// By the latest steps of all ranks; `domains` of about the same time, `ground` as far as it has been learnt.
Outlook outlook(const timeline::Timeline& timeline, std::span<const domains::DomainActivity> domains,
                const causes::CauseGround& ground);

}  // namespace idlewave::analysis::program
