#pragma once
// Parts of a run, and sizes of a screen.

#include <string>
#include <string_view>

#include "probe/wire/result.h"

namespace idlewave::words {

/// Part of a run, as fractions of its length: 0 <= from < to <= 1.
struct Fractions {
  double from = 0.5;
  double to = 0.95;
  friend bool operator==(const Fractions&, const Fractions&) = default;
};

wire::Result<Fractions> parse_window(std::string_view text);  ///< `0.6:0.9`
std::string to_words(const Fractions& window);                ///< What parse_window reads as the same.

struct ScreenSize {
  int columns = 0;
  int rows = 0;
  friend bool operator==(const ScreenSize&, const ScreenSize&) = default;
};

wire::Result<ScreenSize> parse_screen_size(std::string_view text);  ///< `160x48`, from 1x1 to 1000x1000
std::string to_words(const ScreenSize& size);                       ///< What parse_screen_size reads as the same.

}  // namespace idlewave::words
