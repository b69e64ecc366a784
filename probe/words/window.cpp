#include "probe/words/window.h"

#include <fmt/format.h>

#include <charconv>

#include "probe/words/sides.h"
#include "probe/words/text.h"

namespace idlewave::words {
namespace {

using wire::Error;
using wire::Result;

constexpr int kMostCells = 1000;

bool read(std::string_view part, double& out) {
  part = trimmed(part);
  const auto [end, status] = std::from_chars(part.data(), part.data() + part.size(), out);
  return status == std::errc{} && end == part.data() + part.size();
}

}  // namespace

Result<Fractions> parse_window(std::string_view text) {
  Fractions window;
  const auto parts = split(text, ':');
  const bool good = parts.size() == 2 && read(parts[0], window.from) && read(parts[1], window.to);
  if (good && window.from >= 0 && window.from < window.to && window.to <= 1) return window;
  return Error{fmt::format(
      "\"{}\" is not a part of the run; write FROM:TO, two fractions with 0 <= FROM < TO <= 1, as in 0.6:0.9", text)};
}

std::string to_words(const Fractions& window) { return fmt::format("{}:{}", window.from, window.to); }

Result<ScreenSize> parse_screen_size(std::string_view text) {
  const auto sides = parse_sides(text, {.fewest = 2, .most = 2, .longest = kMostCells, .example = "160x48"});
  if (sides) return ScreenSize{sides->front(), sides->back()};
  return Error{fmt::format("\"{}\" is not a size of a screen; write COLUMNSxROWS from 1x1 to {}x{}, as in 160x48", text,
                           kMostCells, kMostCells)};
}

std::string to_words(const ScreenSize& size) { return fmt::format("{}x{}", size.columns, size.rows); }

}  // namespace idlewave::words
