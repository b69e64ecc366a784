#include "monitor/cli/memory_size.h"

#include <fmt/format.h>

#include "probe/words/quantity.h"

namespace idlewave::cli {
namespace {

/// With less the figures of a session of some dozen ranks are lost as soon as they come, and it seems that nobody reported.
constexpr std::uint64_t kLeastMemory = 1'000'000;

}  // namespace

wire::Result<std::uint64_t> parse_memory(std::string_view text) {
  const auto bytes = words::parse_bytes(text);
  if (bytes && *bytes < kLeastMemory)
    return wire::Error{fmt::format("{} is too little to remember a session: at least 1 MB", text)};
  return bytes;
}

}  // namespace idlewave::cli
