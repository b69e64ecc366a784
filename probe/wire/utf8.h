#pragma once
// UTF-8 from programs, hosts, files and people, read without trust.

#include <optional>
#include <string>
#include <string_view>

namespace idlewave::wire {

/// Removes the first code point and returns it. Where none begins (malformed, overlong, a surrogate), nothing is
/// returned, and as many bytes are removed as belong together. `utf8` must not be empty.
std::optional<char32_t> take_code_point(std::string_view& utf8);

void append_utf8(std::string& out, char32_t code_point);

}  // namespace idlewave::wire
