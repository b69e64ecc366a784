#pragma once
// What is learnt of a program before its waits are traced.

#include "monitor/analysis/partners/partners.h"

namespace idlewave::analysis::causes {

struct CauseGround {
  partners::Partners partners;
  bool shares_bandwidth = false;  ///< Work takes longer where others of the domain work as well.
  /// Where calls say with whom they were, what of it comes to each of a rank's waits.
  wire::Nanoseconds typical_step{};
};
/// In one go (ground_search.h): costs as PartnerInference and Contention, however long the session.
CauseGround cause_ground(const timeline::Timeline& timeline);

}  // namespace idlewave::analysis::causes
