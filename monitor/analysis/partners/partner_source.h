#pragma once
// From where it is known who waits for whom: ranks say it, or it is inferred.

#include <memory>
#include <optional>
#include <span>

#include "monitor/analysis/partners/partner_inference.h"

namespace idlewave::analysis::partners {

/// As ranks say, and where these don't know whether their sends wait, as that was seen (send_waits.h). Of those who don't say
/// it, and of all where nobody does, as the times tell; that is searched for some work at a time, as PartnerInference does.
/// The timeline must outlive it; one thread.
class PartnerSearch {
 public:
  PartnerSearch(const timeline::Timeline& timeline, std::span<const steps::LateMoment> moments,
                wire::Nanoseconds typical_step);

  /// Until the budget is spent. False once it is done.
  bool advance(LookBudget& budget);
  /// When it is done.
  Partners found() const;

 private:
  const timeline::Timeline& timeline_;
  SendRules rules_;
  WhoDeclares who_;
  std::shared_ptr<const RankPartners> said_;
  std::optional<PartnerInference> inference_;
  wire::Nanoseconds tolerance_;
};

}  // namespace idlewave::analysis::partners
