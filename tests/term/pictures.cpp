#include "pictures.h"

#include <string>

namespace idlewave::term {
namespace {

using view::paint::Canvas;
using view::paint::Cell;
using view::paint::Ink;

constexpr int kPanel = 30;

int below(Random& random, int limit) { return std::uniform_int_distribution(0, limit - 1)(random); }

Ink wait_ink(int rank, int time) {
  const int share = (time + 3 * rank + 40000) % 40;
  return share < 8 ? static_cast<Ink>(static_cast<int>(Ink::kWait0) + share) : Ink::kCompute;
}

void shift_rows_left(Canvas& picture, int top, int bottom, int by) {
  for (int y = top; y < bottom; ++y)
    for (int x = 0; x + by < picture.size().columns; ++x) picture.put(x, y, picture.at(x + by, y));
}

}  // namespace

Cell random_cell(Random& random, bool unicode) {
  static constexpr char32_t kGlyphs[] = {U' ', U' ', U' ', U'a', U'Z', U'~', U'"', U'7',
                                         U'▀', U'▄', U'█', U'░', U'┊', U'é', U'→', U'●'};
  return {.glyph = kGlyphs[below(random, unicode ? 16 : 8)],
          .fg = static_cast<Ink>(below(random, view::paint::kInks)),
          .bg = below(random, 2) == 0 ? Ink::kDefault : static_cast<Ink>(below(random, view::paint::kInks)),
          .bold = below(random, 8) == 0,
          .reverse = below(random, 16) == 0};
}

Canvas random_picture(Random& random, view::paint::Size size, bool unicode) {
  Canvas picture(size);
  for (int y = 0; y < size.rows; ++y)
    for (int x = 0; x < size.columns;) {
      const Cell cell = random_cell(random, unicode);
      const int run = below(random, 4) == 0 ? below(random, size.columns) + 1 : 1;  // real screens have long runs
      picture.fill(x, y, run, 1, cell);
      x += run;
    }
  return picture;
}

Canvas changed(Random& random, const Canvas& picture, bool unicode) {
  Canvas next = picture;
  const auto [columns, rows] = picture.size();
  if (below(random, 3) == 0) shift_rows_left(next, below(random, rows), rows, 1 + below(random, 4));
  for (int i = below(random, 100); i >= 0; --i)
    next.put(below(random, columns), below(random, rows), random_cell(random, unicode));
  return next;
}

Canvas heat_map(view::paint::Size size, int newest) {
  Canvas picture(size);
  picture.text(0, 0, " idlewave  memory-bound   40 ranks", Ink::kTitle);
  for (int y = 1; y < size.rows; ++y) {
    const int width = size.columns - kPanel;
    for (int x = 0; x < width; ++x) {
      const int time = newest - (width - 1 - x);
      picture.put(x, y, {.glyph = U'▀', .fg = wait_ink(2 * y, time), .bg = wait_ink(2 * y + 1, time)});
    }
    picture.text(width, y, "│ active    9.9 of 10", Ink::kDim);
  }
  return picture;
}

}  // namespace idlewave::term
