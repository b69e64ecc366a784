#include "monitor/analysis/causes/cause_sums.h"

#include <algorithm>

namespace idlewave::analysis::causes {
namespace {

void add_to(std::vector<Culprit>& culprits, Rank rank, const Cost& cost) {
  auto found = std::ranges::find(culprits, rank, &Culprit::rank);
  if (found == culprits.end()) found = culprits.insert(found, Culprit{rank, {}});
  found->cost.direct += cost.direct, found->cost.far += cost.far;
  // Who was found once will be found again, and soon.
  if (found != culprits.begin()) std::iter_swap(found, std::prev(found));
}

}  // namespace

void CauseSums::add(Rank rank, Rank cause, Nanoseconds length, bool direct) {
  RankCauses& mine = of(rank);
  switch (cause) {
    case kBandwidth: mine.bandwidth += length; return;
    case kTransfer: mine.transfer += length; return;
    case kUnknownCause: mine.unknown += length; return;
    default: break;
  }
  if (cause == rank) {
    mine.itself += length;
    return;
  }
  const Cost cost{.direct = direct ? length : Nanoseconds{0}, .far = direct ? Nanoseconds{0} : length};
  add_to(mine.by, cause, cost);
  Cost& costs = of(cause).costs;
  costs.direct += cost.direct, costs.far += cost.far;
}

void CauseSums::add_end(Rank rank, partners::WaitsFor what, Nanoseconds length) {
  Ended& ended = of(rank).ended;
  switch (what) {
    case partners::WaitsFor::kItsMessage: ended.by_message += length; return;
    case partners::WaitsFor::kItsReceive: ended.by_receive += length; return;
    case partners::WaitsFor::kBoth: ended.by_either += length; return;
    case partners::WaitsFor::kThroughOthers: ended.through += length; return;
    case partners::WaitsFor::kNotSaid: return;
  }
}

Causes CauseSums::within(const timeline::Timeline& timeline, Window window) const {
  Causes causes{.window = window, .ranks = ranks_};
  for (Rank rank = 0; rank < Rank(ranks_.size()); ++rank) {
    const timeline::Lane* lane = timeline.lane(rank);
    const bool is_heard = lane && lane->events() > 0;
    if (!is_heard && !ranks_.may_have_changed(std::size_t(rank))) continue;
    RankCauses& mine = causes.ranks.of(std::size_t(rank));
    const Nanoseconds in_steps = lane ? Nanoseconds(lane->sums_of_steps(window.from, window.to).wait) : Nanoseconds{0};
    const Nanoseconds waited = std::max(mine.waited, in_steps);
    mine.unknown += waited - mine.waited;
    mine.waited = waited;
    std::ranges::sort(mine.by, [](const Culprit& a, const Culprit& b) {
      return a.cost.sum() != b.cost.sum() ? a.cost.sum() > b.cost.sum() : a.rank < b.rank;
    });
  }
  return causes;
}

}  // namespace idlewave::analysis::causes
