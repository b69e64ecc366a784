#pragma once
// From where it is known who waits for whom: ranks say it, or it is inferred.

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "monitor/analysis/partners/partner_inference.h"
#include "monitor/analysis/partners/send_waits.h"

namespace idlewave::analysis::partners {

/// As ranks say, and where these don't know whether their sends wait, as the times tell that (send_waits.h). Of those who don't
/// say it, and of all where nobody does, as the times tell. What these tell is searched for some work at a time.
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
