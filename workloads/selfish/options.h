#pragma once
// The command line of iw-selfish.

#include <cstdint>
#include <optional>
#include <string>
#include <variant>

#include "probe/wire/result.h"
#include "probe/wire/vocabulary.h"

namespace idlewave::selfish {

struct Options {
  wire::Nanoseconds duration = std::chrono::seconds{5};
  std::uint64_t most_detours = 1'000'000;  ///< Of a rank.
  int times_shortest = 9;                  ///< The threshold, unless it is given.
  std::optional<wire::Nanoseconds> threshold;
  bool pin = true;
  std::string trace;  ///< Path; empty: none. With several ranks one for each, with its number behind.
  bool json = false;
};

/// What `--help` or `--version` prints.
struct Text {
  std::string text;
};

/// Error: the first argument that can't be used, and what could.
wire::Result<std::variant<Options, Text>> parse_options(int argc, const char* const* argv);

}  // namespace idlewave::selfish
