#pragma once
// A table in a panel that is there only while it has the focus: a headline, the names of the columns, lines to scroll.

#include <string>
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

/// What stands above the lines.
inline constexpr int kListingHead = 2;

/// Rows that it would fill on a screen of that size; 0 on one that is too low for it.
int rows_of_listing(int lines, paint::Size screen);

/// `headline`: variants, of which the longest that fits is shown. Without lines it stands alone.
void draw_listing(paint::Canvas& canvas, const layout::Box& box, const std::vector<std::string>& headline,
                  const std::vector<Column>& columns, const std::vector<ListingLine>& lines);

}  // namespace idlewave::view::panels
