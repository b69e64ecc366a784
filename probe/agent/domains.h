#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "probe/agent/meters.h"
#include "probe/agent/resident.h"
#include "probe/agent/topology.h"
#include "probe/sampler/sources.h"
#include "probe/wire/frame.h"
#include "probe/words/domain_curve.h"

namespace idlewave::agent {

/// The memory contention domains that ranks of this node run on: which rank is where, how much memory traffic each
/// domain has, from the best source there is for it, and what else its hardware tells. The agent's thread.
class Domains {
 public:
  /// `calibrated`: what the machine's domains can do where their ranks do not say.
  explicit Domains(const sampler::Places& places, std::optional<words::DomainCurve> calibrated = {})
      : sources_(sampler::sources_in_order(places)),
        others_(sampler::other_instruments(places)),
        calibrated_(std::move(calibrated)) {}

  /// Of ranks whose processes are gone: nothing is counted any more, and where they ran is what they said, or where they were
  /// when they joined.
  static Domains of_the_dead(std::optional<words::DomainCurve> calibrated) { return Domains(std::move(calibrated)); }

  /// Looks at the machine and starts what counts on it, so that this need not happen beside ranks that work already.
  void begin(wire::Nanoseconds now) { topology(now); }
  /// Where `resident` runs: as it said itself, else, once it had the time to say so, by the processors it is bound to.
  /// True if that changed.
  bool place(const Resident& resident, wire::Nanoseconds now);
  wire::DomainId of(wire::Rank rank) const;
  /// Another process joins as `rank`; where the one before it ran means nothing.
  void forget(wire::Rank rank) { places_.erase(rank); }
  /// What `rank` said, in order: declared traffic is among it.
  void observe(wire::Rank rank, const std::vector<wire::Event>& events);
  /// What the model of the rank's virtual socket says.
  void observe_model(const Resident& resident);
  /// Appends events of bandwidth and meters that are due. True if a domain's source or its note changed, or a meter is new.
  bool sample(wire::Nanoseconds now, EventFrames& frames);
  std::vector<wire::DomainInfo> describe() const;
  const std::vector<wire::MeterInfo>& meters() const { return meters_.all(); }

 private:
  explicit Domains(std::optional<words::DomainCurve> calibrated)
      : calibrated_(std::move(calibrated)), are_dead_(true) {}

  struct Domain {
    wire::DomainInfo info;
    bool is_virtual = false;
    sampler::ModelTotal model;  ///< The largest of its ranks in this sweep.
    const sampler::Source* from = nullptr;
    wire::Nanoseconds last{};  ///< Time of the last event on its lane.
  };
  struct Placement {
    wire::DomainId domain = wire::kNoDomain;
    bool guessed = false;  ///< The rank is bound to no one domain.
    bool virtual_socket = false;
    friend bool operator==(const Placement&, const Placement&) = default;
  };

  Placement find_place(const Resident& resident, wire::Nanoseconds now);
  const Topology& topology(wire::Nanoseconds now);
  std::string label_of(wire::DomainId id, bool is_virtual) const;
  sampler::Source* best_source(const Domain& domain, wire::Nanoseconds now, std::string& why_no_better);
  std::string guesses_in(const Domain& domain) const;
  wire::DomainInfo described(const Domain& domain) const;
  void tell(Domain& domain, wire::Nanoseconds now, EventFrames& frames);
  bool read_meters(wire::Nanoseconds now, EventFrames& frames);
  void rest_where_all_are_virtual();
  /// visit(instrument), of all.
  template <class Visit>
  void for_each_instrument(Visit visit) {
    for (const auto& source : sources_) visit(*source);
    for (const auto& other : others_) visit(*other);
  }

  std::vector<std::unique_ptr<sampler::Source>> sources_;  ///< The best first.
  std::vector<std::unique_ptr<sampler::Instrument>> others_;
  std::optional<words::DomainCurve> calibrated_;
  bool are_dead_ = false;  ///< Numbers of their processes are others'.
  Meters meters_;
  std::unique_ptr<Topology> topology_;
  bool are_met_ = false;  ///< Instruments know the machine, and count on it.
  std::map<wire::DomainId, Domain> domains_;
  std::map<wire::Rank, Placement> places_;
};

}  // namespace idlewave::agent
