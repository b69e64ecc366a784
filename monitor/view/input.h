#pragma once
// What is typed into forms, as values. Every error says what would be accepted.

#include <string_view>
#include <variant>
#include <vector>

#include "monitor/view/state.h"
#include "probe/wire/frame.h"
#include "probe/wire/result.h"

namespace idlewave::view {

/// "250ms", "1.2 s", "500 us", "2 min". More than 0, at most an hour.
wire::Result<Nanoseconds> parse_duration(std::string_view text);

/// "0-9,20" among `ranks` ranks: ascending, disjoint ranges. An empty text: no range.
wire::Result<std::vector<RankRange>> parse_ranks(std::string_view text, Rank ranks);

/// "exp:0.5ms" or "periodic:2.5ms@10Hz".
wire::Result<wire::NoiseOrder> parse_noise(std::string_view text);

/// Where to go: a session time, a rank, or a step.
using Place = std::variant<Nanoseconds, Rank, wire::Step>;
/// "3.2s", "rank 12", "step 400".
wire::Result<Place> parse_place(std::string_view text, Rank ranks);

}  // namespace idlewave::view
