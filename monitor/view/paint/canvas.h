#pragma once
// A picture made of cells, each a glyph with meanings instead of colours. Written by view, read by term (which owns the
// colours), by golden tests and by exports. Plain values, no I/O.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace idlewave::view::paint {

/// What a piece of foreground or background means. Terminals decide how it looks.
enum class Ink : std::uint8_t {
  kDefault,  ///< The terminal's own foreground or background.
  kText,     ///< Ordinary text.
  kDim,      ///< Frames, units, things of second rank.
  kStrong,   ///< What must be read first.
  kTitle,    ///< Title line.
  kKeyHint,  ///< A key in a hint line.
  kCursor,   ///< The cell, rank or line that the operator is on.
  kWarning,  ///< Something was lost or is degraded.
  kError,    ///< Something failed.
  kGood,     ///< Live, recording, connected.
  kCompute,  ///< Calm.
  kWait0,
  kWait1,
  kWait2,
  kWait3,
  kWait4,
  kWait5,
  kWait6,
  kWait7,       ///< Share of waiting, from little to all. Lightness rises monotonically.
  kDelay,       ///< Injected or programmed delay.
  kOther,       ///< Running outside any phase.
  kNoData,      ///< Nothing is known.
  kActive,      ///< Bar of active processes.
  kSaturation,  ///< Mark of the saturation point.
  kBandwidth,   ///< Bar of bandwidth.
  kWaveMark,    ///< A wave's origin, front or end on the map.
  kLesson,      ///< The lesson's text.
};
inline constexpr int kInks = static_cast<int>(Ink::kLesson) + 1;

struct Cell {
  char32_t glyph = U' ';
  Ink fg = Ink::kDefault;
  Ink bg = Ink::kDefault;
  bool bold = false;
  bool reverse = false;
  friend bool operator==(const Cell&, const Cell&) = default;
};

struct Size {
  int columns = 80;
  int rows = 24;
  friend bool operator==(const Size&, const Size&) = default;
};

/// Writes outside the picture are ignored, so that a caller need not clip.
class Canvas {
 public:
  explicit Canvas(Size size);
  Size size() const { return size_; }
  const Cell& at(int x, int y) const;
  void put(int x, int y, const Cell& cell);
  /// Text from (x, y) to the right, clipped at `max_columns` (-1: the edge). UTF-8; each code point takes one column.
  /// Returns the next x.
  int text(int x, int y, std::string_view utf8, Ink fg, Ink bg = Ink::kDefault, bool bold = false,
           int max_columns = -1);
  void fill(int x, int y, int width, int height, const Cell& cell);
  void reverse(int x, int y, int width);  ///< Exchanges foreground and background of what stands there.

  friend bool operator==(const Canvas&, const Canvas&) = default;

 private:
  Size size_;
  std::vector<Cell> cells_;  ///< Row by row.
};

/// The glyphs alone as UTF-8, one line per row, spaces at the end of a line removed, '\n' after each line.
std::string to_text(const Canvas& canvas);

}  // namespace idlewave::view::paint
