#include "probe/outlet/given_noise.h"

#include <utility>

namespace idlewave::outlet {

void GivenNoise::note(const wire::Command& command) {
  const auto* noise = std::get_if<wire::NoiseOrder>(&command.order);
  const auto* clear = std::get_if<wire::ClearOrder>(&command.order);
  if (noise == nullptr && clear == nullptr) return;
  std::erase_if(standing_, [&](const wire::Command& before) {
    if (clear != nullptr && clear->noise_of != 0) return before.id == clear->noise_of;
    return command.ranks.empty() || command.ranks == before.ranks;
  });
  if (noise != nullptr && noise->ends_with_giver) standing_.push_back(wire::without_detours(command));
}

std::vector<wire::Command> GivenNoise::take_endings() {
  std::vector<wire::Command> endings = std::exchange(standing_, {});
  for (wire::Command& ending : endings) {
    ending.order = wire::ClearOrder{ending.id};
    ending.id |= wire::kEndsNoise;
  }
  return endings;
}

}  // namespace idlewave::outlet
