#include "monitor/analysis/partner_source.h"

#include <utility>
#include <vector>

namespace idlewave::analysis {
namespace {

/// Of a cycle: so many steps with a collective, as where partners are inferred.
constexpr double kCollective = 0.9;

}  // namespace

Partners partners_in(const timeline::Timeline& timeline, std::span<const LateMoment> moments,
                     wire::Nanoseconds typical_step) {
  const WhoDeclares who = who_declares(timeline);
  std::vector<StepWaits> others;
  if (who == WhoDeclares::kSome) others = infer_waits(timeline, moments, typical_step);
  auto said = RankPartners::declared_in(timeline, others);
  if (!said) return infer_partners(timeline, moments, typical_step);
  return {.offsets = said->offsets(),
          .ring = said->is_ring(),
          .collective = said->collective_share() > kCollective,
          .source = who == WhoDeclares::kAll ? PartnerSource::kDeclared : PartnerSource::kPartlyDeclared,
          .of_ranks = std::move(said)};
}

}  // namespace idlewave::analysis
