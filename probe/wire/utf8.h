#pragma once
// UTF-8 from programs, hosts, files and people, read without trust.

#include <optional>
#include <string>
#include <string_view>

namespace idlewave::wire {

/// Removes the first code point and returns it. Where none begins (malformed, overlong, a surrogate), nothing is
/// returned, and as many bytes are removed as belong together. `utf8` must not be empty.
std::optional<char32_t> take_code_point(std::string_view& utf8);

/// The same where its first byte is known not to be ASCII.
std::optional<char32_t> take_longer_code_point(std::string_view& utf8);

void append_utf8(std::string& out, char32_t code_point);

/// Here, since most of what a screen is made of is ASCII.
inline std::optional<char32_t> take_code_point(std::string_view& utf8) {
  const auto lead = static_cast<unsigned char>(utf8.front());
  if (lead >= 0x80) return take_longer_code_point(utf8);
  utf8.remove_prefix(1);
  return lead;
}

}  // namespace idlewave::wire
