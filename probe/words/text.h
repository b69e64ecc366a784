#pragma once
// Pieces that every word is taken apart with.

#include <string_view>
#include <vector>

namespace idlewave::words {

/// Without what is white at its ends, also of a line that ends as on Windows.
inline std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kSpaces = " \t\r";
  const auto first = text.find_first_not_of(kSpaces);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kSpaces) - first + 1);
}

/// One part more than there are separators.
inline std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (auto at = text.find(separator); at != std::string_view::npos; at = text.find(separator)) {
    parts.push_back(text.substr(0, at));
    text.remove_prefix(at + 1);
  }
  parts.push_back(text);
  return parts;
}

}  // namespace idlewave::words
