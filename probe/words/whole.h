#pragma once
// Whole numbers as people write them: digits, and a sign where there may be one.

#include <fmt/format.h>

#include <charconv>
#include <string_view>
#include <vector>

#include "probe/wire/result.h"
#include "probe/words/text.h"

namespace idlewave::words {

/// Error: what was written, and the numbers that are accepted.
template <class Integer>
wire::Result<Integer> parse_whole(std::string_view given, Integer least, Integer most) {
  const std::string_view text = trimmed(given);
  Integer value{};
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (status != std::errc{} || end != text.data() + text.size() || value < least || value > most) {
    return wire::Error{fmt::format("\"{}\" is not a whole number from {} to {}", given, least, most)};
  }
  return value;
}

/// Several, with commas between them: `1,3,10`. Error: the first that is not one.
template <class Integer>
wire::Result<std::vector<Integer>> parse_wholes(std::string_view given, Integer least, Integer most) {
  std::vector<Integer> values;
  for (const std::string_view part : split(given, ',')) {
    const auto value = parse_whole(part, least, most);
    if (!value) return value.error();
    values.push_back(*value);
  }
  return values;
}

}  // namespace idlewave::words
