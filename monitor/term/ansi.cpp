#include "monitor/term/ansi.h"

#include "monitor/term/glyphs.h"
#include "monitor/term/palette.h"

namespace idlewave::term {
namespace {

using view::ColourDepth;

/// `base` is 30 for foregrounds, 40 for backgrounds.
void append_colour(std::string& out, int base, int colour, ColourDepth depth) {
  if (colour == kTerminalsOwn) return;
  if (depth == ColourDepth::kEight)
    out += ";" + std::to_string(base + colour);
  else
    out += ";" + std::to_string(base + 8) + ";5;" + std::to_string(colour);
}

std::string select(const Paint& paint, ColourDepth depth) {
  std::string out = "\x1b[0";
  if (paint.bold) out += ";1";
  if (paint.dim) out += ";2";
  if (paint.underline) out += ";4";
  if (paint.reverse) out += ";7";
  append_colour(out, 30, paint.fg, depth);
  append_colour(out, 40, paint.bg, depth);
  return out + "m";
}

bool shows_nothing(const view::paint::Cell& cell, ColourDepth depth) {
  const Paint paint = paint_of(cell, depth);
  return cell.glyph == U' ' && paint.bg == kTerminalsOwn && !paint.reverse && !paint.underline;
}

void append_row(std::string& out, const view::paint::Canvas& canvas, int y, const view::Look& look) {
  int end = canvas.size().columns;
  while (end > 0 && shows_nothing(canvas.at(end - 1, y), look.colours)) --end;
  Paint current;
  for (int x = 0; x < end; ++x) {
    const view::paint::Cell& cell = canvas.at(x, y);
    const Paint paint = paint_of(cell, look.colours);
    if (paint != current) out += select(paint, look.colours);
    current = paint;
    append_utf8(out, printable(cell.glyph, look.unicode));
  }
  if (current != Paint{}) out += "\x1b[0m";
  out += '\n';
}

}  // namespace

std::string to_ansi(const view::paint::Canvas& canvas, const view::Look& look) {
  std::string out;
  for (int y = 0; y < canvas.size().rows; ++y) append_row(out, canvas, y, look);
  return out;
}

}  // namespace idlewave::term
