#pragma once
// Finds who waits for whom, from what ranks say or from their times.

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "monitor/analysis/partners/partner_inference.h"
#include "monitor/analysis/partners/send_waits.h"

namespace idlewave::analysis::partners {

/// Whom each rank waits for: as the rank says; where it does not, as the times tell. The times also tell whether sends wait
/// for their receivers where a rank does not know (send_waits.h). What times tell is searched for a piece at a time.
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
  /// What ranks say, when it is known whether their sends wait.
  void hear();

  const timeline::Timeline& timeline_;
  std::vector<steps::LateMoment> moments_;
  wire::Nanoseconds typical_step_;
  SendSearch sends_;
  WhoDeclares who_ = WhoDeclares::kNobody;
  std::shared_ptr<const RankPartners> said_;
  std::optional<PartnerInference> inference_;  ///< Nothing: all say it.
};

}  // namespace idlewave::analysis::partners
