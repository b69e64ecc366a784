#include "monitor/analysis/session/lost_ranks.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace idlewave::analysis::session {
namespace {

using wire::seconds;

}  // namespace

std::vector<LostRank> find_lost_ranks(const timeline::Timeline& timeline) {
  // The list of losses forgets its oldest entries, and a lane knows only of the last process of its rank.
  std::vector<LostRank> lost;
  std::set<wire::Rank> told;
  for (wire::Rank rank = 0; rank < timeline.ranks(); ++rank) {
    const timeline::Lane* lane = timeline.lane(rank);
    if (lane == nullptr || lane->state() != timeline::LaneState::kLost) continue;
    lost.push_back({lane->last(), rank});
    told.insert(rank);
  }
  const auto& losses = timeline.losses();
  for (auto loss = losses.rbegin(); loss != losses.rend(); ++loss) {
    if (loss->kind == timeline::LossKind::kRankLost && told.erase(loss->rank) == 0)
      lost.push_back({loss->from, loss->rank});
  }
  std::ranges::sort(lost);
  return lost;
}

std::string to_words(const std::vector<LostRank>& lost) {
  if (lost.empty()) return {};
  const std::string text = fmt::format("rank {} at {:.2f} s", lost.front().rank, seconds(lost.front().at));
  if (lost.size() == 1) return text + ", whose process ended without saying so";
  return text + fmt::format(" and {} more until {:.2f} s, whose processes ended without saying so", lost.size() - 1,
                            seconds(lost.back().at));
}

}  // namespace idlewave::analysis::session
