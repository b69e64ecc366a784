#include "probe/agent/phase_names.h"

#include <atomic>
#include <cstring>

namespace idlewave::agent {

using wire::Phase;

Phase PhaseNames::number_of(const std::string& name, Phase category) {
  for (const wire::PhaseInfo& known : phases_) {
    if (known.name == name && known.category == category) return known.phase;
  }
  const std::size_t number = wire::kFirstUserPhase + phases_.size();
  if (number >= wire::kPhaseLimit) return category;
  phases_.push_back({Phase(number), category, name});
  return Phase(number);
}

Phase PhaseMap::translate_named(Phase phase, const shm::Slot& slot, PhaseNames& names) {
  const auto index = std::size_t(phase);
  if (index < wire::kFirstUserPhase || index >= known_.size()) return Phase::kNone;
  if (known_[index] != Phase::kNone) return known_[index];
  const shm::UserPhase& defined = slot.user_phases[index];
  const std::uint32_t category =
      std::atomic_ref(const_cast<std::uint32_t&>(defined.category)).load(std::memory_order_acquire);
  if (category < std::uint32_t(Phase::kCompute) || category > std::uint32_t(Phase::kCommunicate)) return Phase::kNone;
  const std::string name(defined.name, strnlen(defined.name, sizeof defined.name));
  return known_[index] = names.number_of(name, Phase(category));
}

}  // namespace idlewave::agent
