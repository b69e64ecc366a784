#pragma once
// What the picture may be made of. Told to the view by whoever knows the terminal; the view itself asks nothing.

namespace idlewave::view {

enum class ColourDepth { kNone, kEight, kIndexed256 };

struct Look {
  ColourDepth colours = ColourDepth::kIndexed256;
  bool unicode = true;  ///< Else ASCII alone.
  /// The terminal can delete characters with the background colour (bce): scroll smoothly. Else in jumps.
  bool cheap_scroll = false;
  friend bool operator==(const Look&, const Look&) = default;
};

}  // namespace idlewave::view
