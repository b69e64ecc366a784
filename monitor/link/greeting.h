#pragma once
// The line that stands before all else on standard streams which lead to another machine: what it announces, the version
// of that, and fields, with tabs between. A login shell may print before it.

#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "probe/wire/result.h"

namespace idlewave::link {

/// What both sides know of such a line.
struct GreetingKind {
  std::string_view word;  ///< It stands first, with a tab behind it.
  std::string_view version;
  std::size_t fields;  ///< Behind the version.
};

struct GreetingLine {
  std::vector<std::string> fields;
  std::string noise;  ///< What came before it.
};

/// With a line feed. Whatever in a field a terminal would obey is written out.
std::string greeting_line(const GreetingKind& kind, std::initializer_list<std::string_view> fields);

/// In all that has come so far. Nothing: the line has yet to come. Error: another version, a terminal that stands between,
/// or other fields.
std::optional<wire::Result<GreetingLine>> find_greeting_line(const GreetingKind& kind, std::string_view text);

/// The line when it can't be understood, in the words of the errors above.
wire::Error damaged_greeting(std::string_view line);

/// What may come before the line, in bytes.
inline constexpr std::size_t kMostNoise = 64u << 10;

}  // namespace idlewave::link
