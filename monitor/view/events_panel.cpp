#include "monitor/view/events_panel.h"

#include <fmt/format.h>

#include <algorithm>

#include "monitor/view/figures.h"
#include "monitor/view/layout.h"
#include "monitor/view/text.h"

namespace idlewave::view {

namespace {

constexpr PanelKey kKey = U'3';

Ink ink_of(const analysis::Remark& remark) {
  switch (remark.kind) {
    case analysis::Remark::Kind::kDelay: return Ink::kDelay;
    case analysis::Remark::Kind::kLoss: return Ink::kWarning;
    case analysis::Remark::Kind::kRank: return Ink::kError;
    default: return Ink::kText;
  }
}

int wish(const State&, const Model&, const Room& room) {
  const int rows = room.size.rows;
  return rows >= 40 ? 5 : rows >= 30 ? 3 : rows >= 24 ? 1 : 0;
}

/// State::scrolled counts remarks back from the newest.
void draw(Canvas& canvas, const Layout& layout, const State& state, const Model& model, const Look&) {
  const Box box = layout.box_of(kKey);
  const int count = static_cast<int>(model.remarks.size());
  const int end = std::max(count - state.scrolled_by(kKey), std::min(count, 1));
  const int first = std::max(end - box.height, 0);
  for (int i = first; i < end; ++i) {
    const analysis::Remark& remark = model.remarks[static_cast<std::size_t>(i)];
    const int y = box.y + i - first;
    const std::string at = to_moment(remark.at, std::chrono::milliseconds(10));
    canvas.text(box.x, y, fmt::format("{:>9}", at), Ink::kDim);
    const int x = box.x + std::max(columns_of(at), 9) + 2;
    canvas.text(x, y, shortened(remark.text, box.x + box.width - x), ink_of(remark));
  }
}

void scroll(State& state, const Model& model, int lines) {
  const int oldest = std::max(static_cast<int>(model.remarks.size()) - 1, 0);
  state.scrolled[kKey] = std::clamp(state.scrolled_by(kKey) - lines, 0, oldest);
}

}  // namespace

Panel events_panel() {
  return {.key = kKey,
          .name = "events",
          .region = Region::kBottom,
          .region_if_wide = Region::kBottom,
          .takes_spare_rows = true,
          .wish = wish,
          .draw = draw,
          .scroll = scroll};
}

}  // namespace idlewave::view
