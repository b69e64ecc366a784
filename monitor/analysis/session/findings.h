#pragma once
// Everything that the screen says beside the picture, computed a few times a second; and what changed, in words.

#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "monitor/analysis/causes/causes.h"
#include "monitor/analysis/domains/activity.h"
#include "monitor/analysis/session/calls.h"
#include "monitor/analysis/session/efficiency.h"
#include "monitor/analysis/session/lost_ranks.h"
#include "monitor/analysis/session/missing.h"
#include "monitor/analysis/session/order.h"
#include "monitor/analysis/session/step_times.h"
#include "monitor/analysis/waves/waves.h"

namespace idlewave::analysis::session {

/// A sentence for the event list, with its place on the map.
struct Remark {
  enum class Kind : std::uint8_t { kDelay, kWave, kDomain, kLoss, kCommand, kRank };
  Kind kind = Kind::kDelay;
  Nanoseconds at{};
  Rank rank = -1;  ///< -1: of no single rank.
  wire::Step step = wire::kNoStep;
  std::string text;  ///< "idle wave from rank 5 reached rank 12 and met its other front"
};

struct Findings {
  Window window;
  std::vector<domains::DomainActivity> domains;
  StepTimes steps;
  Skew skew;
  std::optional<Order> order;      ///< At the window's end.
  std::vector<waves::Wave> waves;  ///< Of the whole session, as far as its detail is kept; oldest first.
  std::optional<Efficiency> efficiency;
  Missing missing;  ///< Were the session over now.
  std::vector<LostRank> lost_ranks;
  causes::Causes causes;  ///< As CauseFinder has them, so of a window of their own; empty where nobody asked it.
  causes::CauseGround
      ground;  ///< As it has learnt it by now; nobody is known to wait for anybody where it has not yet.
  /// As MpiUseFinder has it, so of the whole run so far, whatever the window; null where no rank has told.
  std::shared_ptr<const MpiUse> mpi;
};

/// `window`: for the averages; its end is the moment of which all is said. `waves` as found of the whole session: those that
/// had not begun then are left out. `states` has followed the session up to then.
Findings analyse(const timeline::Timeline& timeline, Window window, const domains::DomainStates& states,
                 std::vector<waves::Wave> waves);
/// Takes out what is said of steps, where those of the ranks don't go together.
void leave_out_steps(Findings& findings);

/// Turns findings over time into remarks. Owned by whoever calls analyse repeatedly; one thread.
class Narrator {
 public:
  /// Compares with what was told before and appends what is new, but for waves; of domains what `states` says up to `until`.
  void observe(const timeline::Timeline& timeline, const Findings& findings, const domains::DomainStates& states,
               Nanoseconds until);
  /// The same of waves.
  void observe_waves(std::span<const waves::Wave> waves);
  /// The same of steps that don't go together; once.
  void observe_counts(const std::optional<partners::UnlikeCounts>& counts);
  const std::vector<Remark>& remarks() const { return remarks_; }  ///< Oldest first; the last few hundred.

 private:
  void tell(Remark remark);
  void tell_delays(const timeline::Timeline& timeline);
  void tell_commands(const timeline::Timeline& timeline);
  void tell_losses(const timeline::Timeline& timeline);
  void tell_silence(const Missing& missing, Nanoseconds now);
  void tell_domains(const timeline::Timeline& timeline, const domains::DomainStates& states, Nanoseconds until);

  std::vector<Remark> remarks_;
  Nanoseconds domains_told_until_ = Nanoseconds::min();
  std::map<std::pair<Nanoseconds, Rank>, bool> delays_;  ///< By begin and rank: told of its end?
  std::map<std::pair<Nanoseconds, Rank>, bool> waves_;   ///< By start and origin: told of its end?
  std::set<wire::CommandId> commands_;                   ///< Refusals that were told.
  std::set<std::string> silent_;                         ///< Nodes that were told of.
  std::size_t losses_seen_ = 0;                          ///< Entries of Timeline::losses() when last looked at,
  bool counts_told_ = false;
  std::uint64_t losses_told_ = 0;  ///< and the sum of their counts.
};

}  // namespace idlewave::analysis::session
