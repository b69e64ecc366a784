#include "monitor/view/map/noises.h"

#include "monitor/view/paint/figures.h"
#include "probe/words/noise.h"

namespace idlewave::view::map {

std::vector<Noise> noises(const timeline::Timeline& timeline) {
  std::vector<Noise> out;
  for (const timeline::CommandRecord& record : timeline.commands()) {
    const auto* order = std::get_if<wire::NoiseOrder>(&record.command.order);
    if (order == nullptr || !(record.accepted || record.in_effect)) continue;
    Noise noise{.words = "noise " + words::to_words(*order),
                .from = record.in_effect ? record.began() : record.sent.session_time()};
    if (!record.command.ranks.empty()) {
      noise.words += " in ranks " + paint::ranks_in_words(record.command.ranks);
      noise.rank = record.command.ranks.front();
    }
    if (record.over) noise.to = record.ended();
    out.push_back(std::move(noise));
  }
  return out;
}

}  // namespace idlewave::view::map
