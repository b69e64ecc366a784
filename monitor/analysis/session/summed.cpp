#include "monitor/analysis/session/summed.h"

#include <fmt/format.h>

#include "monitor/analysis/plural.h"

namespace idlewave::analysis::session {

SummedPhases find_summed(const timeline::Timeline& timeline) {
  SummedPhases all;
  if (timeline.phases_summed() == 0) return all;
  for (wire::Rank rank = 0; rank < timeline.ranks(); ++rank) {
    const timeline::Lane* lane = timeline.lane(rank);
    if (lane == nullptr || lane->summed().phases == 0) continue;
    all.phases += lane->summed().phases;
    all.time += lane->summed().time;
    ++all.ranks;
  }
  return all;
}

std::string to_words(const SummedPhases& summed) {
  if (summed.phases == 0) return {};
  return fmt::format("{} of {}, {:.3g} s of their time, {} told as sums", plural(summed.phases, "short phase"),
                     plural(std::uint64_t(summed.ranks), "rank"), double(summed.time.count()) * 1e-9,
                     summed.phases == 1 ? "is" : "are");
}

}  // namespace idlewave::analysis::session
