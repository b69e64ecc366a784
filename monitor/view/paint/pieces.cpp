#include "monitor/view/paint/pieces.h"

#include <algorithm>
#include <numeric>

#include "monitor/view/paint/text.h"

namespace idlewave::view::paint {

namespace {

constexpr int kGap = 2;

int columns_needed(const std::vector<Piece>& pieces) {
  int columns = 0;
  for (const Piece& piece : pieces) columns += columns_of(piece.text) + kGap;
  return std::max(columns - kGap, 0);
}

/// Indices of pieces, the heaviest first.
std::vector<std::size_t> by_weight(const std::vector<Piece>& pieces) {
  std::vector<std::size_t> order(pieces.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return pieces[a].weight > pieces[b].weight; });
  return order;
}

}  // namespace

Fit fit(std::vector<Piece> pieces, int columns) {
  std::erase_if(pieces, [](const Piece& piece) { return piece.text.empty(); });
  std::vector<bool> taken(pieces.size());
  int room = columns + kGap;
  for (const std::size_t i : by_weight(pieces)) {
    const int needed = columns_of(pieces[i].text) + kGap;
    taken[i] = needed <= room;
    if (taken[i]) room -= needed;
  }
  Fit out;
  for (std::size_t i = 0; i < pieces.size(); ++i) (taken[i] ? out.shown : out.left_out).push_back(std::move(pieces[i]));
  return out;
}

void draw_pieces(Canvas& canvas, int x, int y, int columns, const std::vector<Piece>& shown, Ink bg) {
  std::vector<Piece> right;
  std::copy_if(shown.begin(), shown.end(), std::back_inserter(right), [](const Piece& p) { return p.right; });
  int right_x = x + columns - columns_needed(right);
  for (const Piece& piece : shown) {
    int& at = piece.right ? right_x : x;
    const int end = canvas.text(at, y, piece.text, piece.ink, bg, piece.bold);
    if (piece.reverse) canvas.reverse(at, y, end - at);
    at = end + kGap;
  }
}

std::string longest_fitting(const std::vector<std::string>& variants, int columns) {
  std::string best;
  for (const std::string& variant : variants) {
    if (columns_of(variant) <= columns && columns_of(variant) > columns_of(best)) best = variant;
  }
  return best;
}

}  // namespace idlewave::view::paint
