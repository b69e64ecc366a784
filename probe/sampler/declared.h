#pragma once

#include <array>
#include <map>

#include "probe/sampler/source.h"

namespace idlewave::sampler {

/// The traffic that programs declare for their phases (kTraffic), spread over the time that the phases take.
///
/// How long a phase takes is not known before it ends, and what has been told can't be taken back. So while a phase
/// runs, its bytes are counted evenly over the time that the rank's last such phase took; what is left when it ends is
/// counted evenly over as long a time again. A program that repeats itself gets its bandwidth where it belongs, a phase
/// of many intervals never shows as one spike, and every byte counts once.
class Declared : public Source {
 public:
  wire::BandwidthSource kind() const override { return wire::BandwidthSource::kDeclared; }
  void place(wire::Rank rank, DomainId domain) override { ranks_[rank].domain = domain; }
  void observe(wire::Rank rank, const std::vector<wire::Event>& events) override;
  Standing standing(const Domain& domain, Nanoseconds now) override;
  void begin(DomainId domain, Nanoseconds now) override;
  std::optional<std::uint64_t> sample(DomainId domain, Nanoseconds now) override;

 private:
  /// Bytes to count evenly from `counted_at` until `until`.
  struct Debt {
    double bytes = 0;
    Nanoseconds counted_at{};
    Nanoseconds until{};
    double pay(Nanoseconds now);
  };
  struct RankTraffic {
    DomainId domain = wire::kNoDomain;
    bool has_declared = false;
    double counted = 0;  ///< Not told yet.
    wire::Phase phase = wire::Phase::kNone;
    Nanoseconds phase_began{};
    Debt running;  ///< Of the phase that runs.
    Debt ended;    ///< Of phases that have ended.
    /// Length of the last phase of each kind that declared; 0: none yet.
    std::array<Nanoseconds, wire::kPhaseLimit> usual{};

    void declare(Nanoseconds now, double bytes);
    void count(Nanoseconds now);
    void enter(Nanoseconds now, wire::Phase next);  ///< Ends the phase that runs.
    void leave();                                   ///< The rank is gone: all that is left counts now.
  };

  void observe(RankTraffic& traffic, const wire::Event& event);

  std::map<wire::Rank, RankTraffic> ranks_;
  std::map<DomainId, Nanoseconds> told_at_;
};

}  // namespace idlewave::sampler
