#pragma once
// Files in which the kernel says one thing.

#include <cstdint>
#include <optional>
#include <string>

namespace idlewave::sampler {

/// How a file begins, or why it can't be read (an error number). What the kernel says in one is short.
struct Content {
  std::string text;
  int error = 0;
};
Content read_start(const std::string& path);

std::string first_line(const std::string& text);
/// Nothing if there is anything else in it.
std::optional<std::uint64_t> whole_number(const std::string& text);
/// The number in its first line, if it is one.
std::optional<std::uint64_t> read_number(const std::string& path);

}  // namespace idlewave::sampler
