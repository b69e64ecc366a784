#pragma once
// Words of the command line of `inject`.

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "probe/wire/frame.h"
#include "probe/wire/result.h"

namespace idlewave::cli {

/// What `inject` was told, before it is one command.
struct InjectWords {
  std::vector<wire::Rank> ranks;
  std::optional<wire::DelayOrder> delay;
  std::optional<wire::NoiseOrder> noise;
  wire::Step at_step = wire::kNoStep;
  std::int32_t in_steps = 0;
  bool clear = false;
};

wire::Result<std::vector<wire::Rank>> ranks_in(std::string_view text);
/// For so long, at once.
wire::Result<wire::DelayOrder> delay_in(std::string_view text);

/// Refuses the command line (arguments::refuse) where the words contradict each other, or one is missing.
wire::Command command_of(const InjectWords& words);

}  // namespace idlewave::cli
