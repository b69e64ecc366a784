#include "monitor/cli/inject_words.h"

#include "probe/arguments/command_line.h"
#include "probe/words/noise.h"
#include "probe/words/ranks.h"

namespace idlewave::cli {

wire::Result<std::vector<wire::Rank>> ranks_in(std::string_view text) {
  const auto ranges = words::parse_ranks(text);
  if (!ranges) return ranges.error();
  return words::each_of(*ranges);
}

wire::Result<wire::DelayOrder> delay_in(std::string_view text) {
  const auto duration = words::parse_hold(text);
  if (!duration) return duration.error();
  return wire::DelayOrder{.duration = *duration};
}

wire::Command command_of(const InjectWords& words) {
  if (int(words.delay.has_value()) + int(words.noise.has_value()) + int(words.clear) != 1) {
    arguments::refuse("inject", "say one of --delay TIME, --noise KIND or --clear");
  }
  if (words.in_steps > 0 && words.at_step != wire::kNoStep)
    arguments::refuse("--in-steps", "counts from now, --at-step from the beginning; say one of them");
  if (words.delay && words.ranks.empty()) arguments::refuse("--ranks", "a delay needs ranks, as in --ranks 5");
  wire::Command command;
  command.ranks = words.ranks;
  if (words.delay) command.order = wire::DelayOrder{words.delay->duration, words.at_step, words.in_steps};
  if (words.noise) command.order = *words.noise;
  if (words.clear) command.order = wire::ClearOrder{};
  return command;
}

}  // namespace idlewave::cli
