#include "probe/words/sides.h"

#include <fmt/format.h>

#include "probe/words/text.h"
#include "probe/words/whole.h"

namespace idlewave::words {
namespace {

wire::Error refuse(std::string_view text, const Sides& accepted) {
  return {fmt::format("\"{}\" is not of the form {}, {}{} whole numbers from {} to {}", text, accepted.example,
                      accepted.fewest < accepted.most ? "up to " : "", accepted.most, accepted.shortest,
                      accepted.longest)};
}

}  // namespace

wire::Result<std::vector<int>> parse_sides(std::string_view text, const Sides& accepted) {
  std::vector<int> sides;
  for (const std::string_view part : split(text, 'x')) {
    const auto side = parse_whole(part, accepted.shortest, accepted.longest);
    if (!side || sides.size() == accepted.most) return refuse(text, accepted);
    sides.push_back(*side);
  }
  if (sides.size() < accepted.fewest) return refuse(text, accepted);
  return sides;
}

}  // namespace idlewave::words
