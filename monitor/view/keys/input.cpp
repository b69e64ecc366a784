#include "monitor/view/keys/input.h"

#include <fmt/format.h>

#include <limits>

#include "probe/words/quantity.h"
#include "probe/words/text.h"
#include "probe/words/whole.h"

namespace idlewave::view::keys {

namespace {

using wire::Nanoseconds;
using wire::Rank;
using wire::Step;

/// Beyond it sums of session times would no longer fit.
constexpr Nanoseconds kFarthest = std::chrono::seconds(1'000'000'000);

/// Removes `prefix` from the front of `text`.
bool take(std::string_view& text, std::string_view prefix) {
  if (!text.starts_with(prefix)) return false;
  text.remove_prefix(prefix.size());
  return true;
}

}  // namespace

wire::Result<Place> parse_place(std::string_view given, Rank ranks) {
  std::string_view text = words::trimmed(given);
  if (take(text, "rank")) {
    const auto rank = words::parse_whole<Rank>(text, 0, ranks - 1);
    if (!rank) return wire::Error{fmt::format("there are ranks 0 to {}", ranks - 1)};
    return Place(std::in_place_type<Rank>, *rank);
  }
  if (take(text, "step")) {
    const auto step = words::parse_whole<Step>(text, 0, std::numeric_limits<Step>::max());
    if (!step) return wire::Error{"a step is a whole number from 0: step 400"};
    return Place(std::in_place_type<Step>, *step);
  }
  const auto time = words::parse_duration(text);
  if (!time || *time > kFarthest) return wire::Error{"go to a time, rank or step: 3.2s, rank 12, step 400"};
  return Place(*time);
}

}  // namespace idlewave::view::keys
