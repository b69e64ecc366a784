#pragma once
// Numbers that may have a fraction, as people write them: digits, perhaps a sign, a point, an exponent. No nan and no
// infinity.

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <limits>
#include <optional>
#include <string_view>

#include "probe/wire/result.h"
#include "probe/words/text.h"

namespace idlewave::words {

/// The one at the front of `text`, which loses it, and what is white behind it; nothing if there is none.
inline std::optional<double> take_number(std::string_view& text) {
  double number = 0;
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (status != std::errc{} || !std::isfinite(number)) return std::nullopt;
  text = trimmed(text.substr(std::size_t(end - text.data())));
  return number;
}

/// Error: what was written, and the numbers that are accepted.
inline wire::Result<double> parse_number(std::string_view given, double least = std::numeric_limits<double>::lowest(),
                                         double most = std::numeric_limits<double>::max()) {
  std::string_view text = trimmed(given);
  const auto number = take_number(text);
  if (number && text.empty() && *number >= least && *number <= most) return *number;
  const bool has_least = least != std::numeric_limits<double>::lowest();
  const bool has_most = most != std::numeric_limits<double>::max();
  if (has_most) return wire::Error{fmt::format("\"{}\" is not a number from {} to {}", given, least, most)};
  if (has_least) return wire::Error{fmt::format("\"{}\" is not a number from {} on", given, least)};
  return wire::Error{fmt::format("\"{}\" is not a number", given)};
}

}  // namespace idlewave::words
