#pragma once
// What causes are found by, learnt some work at a time.

#include <optional>
#include <vector>

#include "monitor/analysis/causes/cause_ground.h"
#include "monitor/analysis/domains/contention.h"
#include "monitor/analysis/partners/partner_source.h"

namespace idlewave::analysis::causes {

/// Partners are those of the steps that there were when it began; domains are asked as they come. Ranks and domains may not
/// join meanwhile: then what was begun is of no use. The timeline must outlive it; one thread.
class GroundSearch {
 public:
  explicit GroundSearch(const timeline::Timeline& timeline);

  /// Until the budget is spent. False once it is done.
  bool advance(LookBudget& budget);
  /// When it is done.
  const CauseGround& found() const { return ground_; }

 private:
  enum class Doing : std::uint8_t {
    kAsksWhoWaited,           ///< Whom ranks waited for when somebody was held; or they say it.
    kAsksWhoWaitsOrdinarily,  ///< Nobody was held, or that told nothing.
    kAsksDomains,             ///< Whether they share their bandwidth.
    kIsDone,
  };

  void begin_ordinary();
  void begin_domains();
  void ask_next_domain(LookBudget& budget);

  const timeline::Timeline& timeline_;
  CauseGround ground_;
  Doing doing_ = Doing::kAsksWhoWaited;
  std::optional<partners::PartnerSearch> partners_;
  std::optional<domains::Contention> contention_;
  std::vector<Rank> asked_;  ///< One of each domain.
  std::size_t next_asked_ = 0;
};

}  // namespace idlewave::analysis::causes
