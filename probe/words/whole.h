#pragma once
// Whole numbers as people write them: digits, and a sign where there may be one.

#include <fmt/format.h>

#include <charconv>
#include <string_view>

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

}  // namespace idlewave::words
