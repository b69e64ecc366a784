#include "monitor/analysis/partner_source.h"

#include <utility>

namespace idlewave::analysis {
namespace {

/// Of a cycle: so many steps with a collective, as in PartnerSearch.
constexpr double kCollective = 0.9;

}  // namespace

Partners partners_in(const timeline::Timeline& timeline, std::span<const LateMoment> moments,
                     wire::Nanoseconds typical_step) {
  auto declared = DeclaredPartners::of(timeline);
  if (!declared) return infer_partners(timeline, moments, typical_step);
  return {.offsets = declared->offsets(),
          .ring = declared->is_ring(),
          .collective = declared->collective_share() > kCollective,
          .declared = std::move(declared)};
}

}  // namespace idlewave::analysis
