#include "monitor/analysis/partners/partner_source.h"

#include <vector>

#include "monitor/analysis/partners/turn_order.h"
#include "monitor/analysis/steps/step_history.h"

namespace idlewave::analysis::partners {
namespace {

void take(const TurnOrder& order, Partners& partners) {
  partners.by_turns = order.by_turns;
  partners.wait_first = order.wait_first;
}

}  // namespace

PartnerSearch::PartnerSearch(const timeline::Timeline& timeline, std::span<const steps::LateMoment> moments,
                             wire::Nanoseconds typical_step)
    : timeline_(timeline), moments_(moments.begin(), moments.end()), typical_step_(typical_step), sends_(timeline) {
  if (sends_.is_done()) hear();
}

void PartnerSearch::hear() {
  const SaidWaits said(timeline_, sends_.rules());
  who_ = who_declares(said);
  if (who_ == WhoDeclares::kAll) said_ = RankPartners::declared_in(said);
  if (!said_) inference_.emplace(timeline_, moments_, typical_step_);
}

bool PartnerSearch::advance(LookBudget& budget) {
  if (!said_ && !inference_) {
    const std::uint64_t to_hear = RankPartners::kLooksToCompose * std::uint64_t(timeline_.ranks());
    const bool were_told = sends_.is_done();
    if (sends_.advance(budget) || (!were_told && !budget.covers(to_hear))) return true;
    budget.spend(to_hear);
    hear();
  }
  if (!inference_) return false;
  if (inference_->advance(budget)) return true;
  if (who_ == WhoDeclares::kSome) {
    std::vector<StepWaits> others = inference_->waits();
    others.resize(std::size_t(timeline_.ranks()));
    said_ = RankPartners::declared_in({timeline_, sends_.rules()}, others);
  }
  return false;
}

Partners PartnerSearch::found() const {
  if (!said_) {
    Partners inferred = inference_->partners();
    inferred.left_out = who_ != WhoDeclares::kNobody;
    inferred.unlike_counts = find_unlike_counts(timeline_);
    if (inference_->are_by_turns())
      take(found_turn_order(timeline_, inferred, steps::least_work(typical_step_)), inferred);
    if (inference_->are_by_waits()) take(turn_order(timeline_, inferred, steps::least_work(typical_step_)), inferred);
    return inferred;
  }
  Partners said{.offsets = said_->offsets(),
                .ring = said_->is_ring(),
                .collective = said_->are_collective(),
                .source = who_ == WhoDeclares::kAll ? PartnerSource::kDeclared : PartnerSource::kPartlyDeclared,
                .unlike_counts = find_unlike_counts(timeline_),
                .of_ranks = said_};
  take(turn_order(timeline_, said, steps::least_work(typical_step_)), said);
  return said;
}

}  // namespace idlewave::analysis::partners
