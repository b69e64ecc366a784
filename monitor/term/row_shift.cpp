#include "monitor/term/row_shift.h"

#include <optional>

namespace idlewave::term {
namespace {

using view::paint::Canvas;

constexpr int kMostColumns = 8;  ///< A faster scroll than that is a jump, and drawn as one.
/// What the two dozen bytes of a shift would write: cells that change cost five bytes each and more.
constexpr int kCellsOfAShift = 5;

/// The part of row y that changes, as a shift by nothing.
std::optional<RowShift> changed_part(const Canvas& before, const Canvas& after, int y) {
  int left = 0;
  int right = before.size().columns;
  while (left < right && before.at(left, y) == after.at(left, y)) ++left;
  while (right > left && before.at(right - 1, y) == after.at(right - 1, y)) --right;
  if (left == right) return {};
  return RowShift{.y = y, .left = left, .right = right, .by = 0};
}

/// Cells that would still have to be written after the shift.
int cells_left_over(const Canvas& before, const Canvas& after, const RowShift& shift) {
  int cells = shift.by;
  for (int x = shift.left; x < shift.right - shift.by; ++x)
    cells += before.at(x + shift.by, shift.y) != after.at(x, shift.y) ? 1 : 0;
  return cells;
}

int cells_saved(const Canvas& before, const Canvas& after, const RowShift& part, int by) {
  if (part.right - part.left <= by) return 0;
  RowShift shift = part;
  shift.by = by;
  return cells_left_over(before, after, part) - cells_left_over(before, after, shift) - kCellsOfAShift;
}

std::string move_to(int x, int y) { return "\x1b[" + std::to_string(y + 1) + ';' + std::to_string(x + 1) + 'H'; }

}  // namespace

std::vector<RowShift> find_shifts(const Canvas& before, const Canvas& after) {
  std::vector<RowShift> parts;
  for (int y = 0; y < before.size().rows; ++y)
    if (const auto part = changed_part(before, after, y)) parts.push_back(*part);
  std::vector<RowShift> best;
  int best_saved = 0;
  for (int by = 1; by <= kMostColumns; ++by) {
    std::vector<RowShift> shifts;
    int saved = 0;
    for (const RowShift& part : parts) {
      const int here = cells_saved(before, after, part, by);
      if (here <= 0) continue;
      saved += here;
      shifts.push_back({part.y, part.left, part.right, by});
    }
    if (saved > best_saved) best = std::move(shifts), best_saved = saved;
  }
  return best;
}

std::string shift_sequence(const std::vector<RowShift>& shifts) {
  if (shifts.empty()) return "";
  std::string out =
      "\x1b"
      "7\x1b[m";
  for (const RowShift& shift : shifts) {
    const std::string by = shift.by == 1 ? "" : std::to_string(shift.by);
    out += move_to(shift.left, shift.y) + "\x1b[" + by + 'P' + move_to(shift.right - shift.by, shift.y) + "\x1b[" + by +
           '@';
  }
  return out +
         "\x1b"
         "8";
}

}  // namespace idlewave::term
