#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "probe/shm/layout.h"
#include "probe/wire/frame.h"

namespace idlewave::agent {

/// Numbers of the phases that programs name, one table for the node. Each rank numbers its names in the order in which
/// it defines them.
class PhaseNames {
 public:
  /// The node's number of a name; `category` itself when there is no number left.
  wire::Phase number_of(const std::string& name, wire::Phase category);
  const std::vector<wire::PhaseInfo>& all() const { return phases_; }

 private:
  std::vector<wire::PhaseInfo> phases_;
};

/// One rank's numbers turned into the node's.
class PhaseMap {
 public:
  wire::Phase translate(wire::Phase phase, const shm::Slot& slot, PhaseNames& names) {
    if (phase <= wire::Phase::kNoise) return phase;
    return translate_named(phase, slot, names);
  }

 private:
  wire::Phase translate_named(wire::Phase phase, const shm::Slot& slot, PhaseNames& names);

  std::array<wire::Phase, wire::kPhaseLimit> known_{};  ///< kNone: not looked up yet.
};

}  // namespace idlewave::agent
