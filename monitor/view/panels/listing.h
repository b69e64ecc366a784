#pragma once
// A table in a panel that is there only while it has the focus: a headline, the names of the columns, lines to scroll.

#include <string>
#include <string_view>
#include <vector>

#include "monitor/view/layout/layout.h"
#include "monitor/view/paint/canvas.h"

namespace idlewave::view::panels {

/// Where there is no room for all, the last are left out.
struct Column {
  std::string name;
  int width = 0;
  bool left = false;  ///< Else its texts end where the column does.
};

struct ListingLine {
  std::vector<std::string> cells;  ///< As many as there are columns.
  bool is_marked = false;          ///< It concerns the rank under the cursor.
};

/// What such a table shows. All are asked of what the screen is drawn from.
struct Listing {
  PanelKey key;
  std::string_view name;
  /// Variants, of which the longest that fits is shown. Without lines it stands alone.
  std::vector<std::string> (*headline)(const Model&);
  std::vector<Column> (*columns)(const State&);
  int (*lines)(const Model&);
  ListingLine (*line)(const State&, const Model&, std::size_t);
};

int wish_of(const Listing& listing, const State& state, const Model& model, const layout::Room& room);
void draw(const Listing& listing, paint::Canvas& canvas, const layout::Box& box, const State& state,
          const Model& model);
void scroll(const Listing& listing, State& state, const Model& model, int lines);

/// Its entry in the table of panels.
template <const Listing& kListing>
layout::Panel listing_panel() {
  return {.key = kListing.key,
          .name = kListing.name,
          .region = layout::Region::kBottom,
          .region_if_wide = layout::Region::kBottom,
          .takes_spare_rows = false,
          .wish = [](const State& state, const Model& model,
                     const layout::Room& room) { return wish_of(kListing, state, model, room); },
          .draw = [](paint::Canvas& canvas, const layout::Layout& layout, const State& state, const Model& model,
                     const Look&) { draw(kListing, canvas, layout.box_of(kListing.key), state, model); },
          .scroll = [](State& state, const Model& model, int lines) { scroll(kListing, state, model, lines); }};
}

}  // namespace idlewave::view::panels
