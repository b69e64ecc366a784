#include "monitor/analysis/partners/partner_source.h"

#include <utility>
#include <vector>

#include "monitor/analysis/partners/send_waits.h"
#include "monitor/analysis/partners/turn_order.h"
#include "monitor/analysis/steps/step_history.h"

namespace idlewave::analysis::partners {

PartnerSearch::PartnerSearch(const timeline::Timeline& timeline, std::span<const steps::LateMoment> moments,
                             wire::Nanoseconds typical_step)
    : timeline_(timeline), tolerance_(steps::least_work(typical_step)) {
  const SaidWaits said = with_sends_told(timeline);
  rules_ = said.rules();
  who_ = who_declares(said);
  if (who_ == WhoDeclares::kAll) said_ = RankPartners::declared_in(said);
  if (!said_) inference_.emplace(timeline, moments, typical_step);
}

bool PartnerSearch::advance(LookBudget& budget) {
  if (said_) return false;
  if (inference_->advance(budget)) return true;
  if (who_ == WhoDeclares::kSome) {
    std::vector<StepWaits> others = inference_->waits();
    others.resize(std::size_t(timeline_.ranks()));
    said_ = RankPartners::declared_in({timeline_, rules_}, others);
  }
  return false;
}

Partners PartnerSearch::found() const {
  if (!said_) {
    Partners inferred = inference_->partners();
    inferred.left_out = who_ != WhoDeclares::kNobody;
    inferred.unlike_counts = find_unlike_counts(timeline_);
    return inferred;
  }
  Partners said{.offsets = said_->offsets(),
                .ring = said_->is_ring(),
                .collective = said_->are_collective(),
                .source = who_ == WhoDeclares::kAll ? PartnerSource::kDeclared : PartnerSource::kPartlyDeclared,
                .unlike_counts = find_unlike_counts(timeline_),
                .of_ranks = said_};
  const TurnOrder order = turn_order(timeline_, said, tolerance_);
  said.by_turns = order.by_turns;
  said.wait_first = order.wait_first;
  return said;
}

}  // namespace idlewave::analysis::partners
