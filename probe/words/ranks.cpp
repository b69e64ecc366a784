#include "probe/words/ranks.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "probe/words/text.h"
#include "probe/words/whole.h"

namespace idlewave::words {
namespace {

using wire::Rank;
using wire::RankRange;

/// Nothing if it is no range of ranks below `ranks`.
std::optional<RankRange> range_of(std::string_view text, Rank ranks) {
  const auto dash = std::min(text.find('-'), text.size());
  const auto first = parse_whole<Rank>(text.substr(0, dash), 0, ranks - 1);
  if (!first) return std::nullopt;
  if (dash == text.size()) return RankRange{*first, *first + 1};
  const auto last = parse_whole<Rank>(text.substr(dash + 1), *first, ranks - 1);
  if (!last) return std::nullopt;
  return RankRange{*first, *last + 1};
}

std::vector<RankRange> joined(std::vector<RankRange> ranges) {
  std::ranges::sort(ranges, {}, &RankRange::first);
  std::vector<RankRange> out;
  for (const RankRange& range : ranges) {
    if (!out.empty() && range.first <= out.back().last) {
      out.back().last = std::max(out.back().last, range.last);
    } else {
      out.push_back(range);
    }
  }
  return out;
}

}  // namespace

wire::Result<std::vector<RankRange>> parse_ranks(std::string_view text, Rank ranks) {
  if (ranks == 0) return wire::Error{"there are no ranks yet"};
  std::vector<RankRange> ranges;
  for (const std::string_view part : split(text, ',')) {
    const auto range = range_of(part, ranks);
    if (!range) {
      return wire::Error{
          fmt::format("\"{}\" names no ranks; write ranks from 0 to {} and ranges from low to high, as in 5 or 0-9,20",
                      text, ranks - 1)};
    }
    ranges.push_back(*range);
  }
  return joined(std::move(ranges));
}

std::vector<Rank> each_of(std::span<const RankRange> ranges) {
  std::size_t count = 0;
  for (const RankRange& range : ranges) count += range.last - range.first;
  std::vector<Rank> ranks;
  ranks.reserve(count);
  for (const RankRange& range : ranges) {
    for (Rank rank = range.first; rank < range.last; ++rank) ranks.push_back(rank);
  }
  return ranks;
}

std::string to_words(std::span<const RankRange> ranges) {
  std::string text;
  for (const RankRange& range : ranges) {
    text += fmt::format("{}{}", text.empty() ? "" : ",", range.first);
    if (range.last - range.first > 1) text += fmt::format("-{}", range.last - 1);
  }
  return text;
}

}  // namespace idlewave::words
