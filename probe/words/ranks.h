#pragma once
// Ranks as people name them: `5`, `0-9,20`.

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "probe/wire/result.h"
#include "probe/wire/vocabulary.h"

namespace idlewave::words {

/// Ascending ranges with gaps between them, among the ranks below `ranks`. No rank at all is refused.
wire::Result<std::vector<wire::RankRange>> parse_ranks(std::string_view text, wire::Rank ranks = wire::kMaxRanks);

std::vector<wire::Rank> each_of(std::span<const wire::RankRange> ranges);

/// What parse_ranks reads as the same ranks.
std::string to_words(std::span<const wire::RankRange> ranges);

}  // namespace idlewave::words
