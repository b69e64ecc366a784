#pragma once
// The one place where a meaning becomes a colour. Pure.

#include <cstdint>

#include "monitor/view/look.h"
#include "monitor/view/paint/canvas.h"

namespace idlewave::term {

inline constexpr int kTerminalsOwn = -1;  ///< The terminal's own foreground or background.

/// How one cell is painted. Colours are indices of the 8 or 256 standard ones, or kTerminalsOwn.
struct Paint {
  int fg = kTerminalsOwn;
  int bg = kTerminalsOwn;
  bool bold = false;
  bool dim = false;
  bool underline = false;
  bool reverse = false;
  friend bool operator==(const Paint&, const Paint&) = default;
};

/// Without colours (kNone) meanings are told by attributes alone; glyphs have to do the rest.
Paint paint_of(const view::paint::Cell& cell, view::ColourDepth depth);

struct Rgb {
  std::uint8_t red = 0;
  std::uint8_t green = 0;
  std::uint8_t blue = 0;
  friend bool operator==(const Rgb&, const Rgb&) = default;
};

/// The colour that terminals show for index 0 to 255 unless their user chose another (xterm's table).
Rgb rgb_of(int index);

/// CIE 1976 lightness L*, 0 (black) to 100 (white), of an sRGB colour: IEC 61966-2-1 and CIE 15.
double lightness(Rgb colour);

}  // namespace idlewave::term
