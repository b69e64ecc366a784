#pragma once
// What goes where, and what is left out as the screen shrinks.

#include "monitor/view/canvas.h"
#include "monitor/view/look.h"
#include "monitor/view/model.h"
#include "monitor/view/rank_rows.h"
#include "monitor/view/state.h"
#include "monitor/view/time_window.h"

namespace idlewave::view {

struct Box {
  int x = 0;
  int y = 0;
  int width = 0;
  int height = 0;
  bool empty() const { return width <= 0 || height <= 0; }
  bool holds(int px, int py) const { return px >= x && py >= y && px < x + width && py < y + height; }
  friend bool operator==(const Box&, const Box&) = default;
};

/// How the sockets are told, most room first.
enum class SocketForm { kSpacious, kRoomy, kCompact, kLines, kSum };
/// Lines that one socket takes; 1 for kLines, 0 for kSum, whose one line is for all.
int lines_per_socket(SocketForm form);

inline constexpr int kAbsent = -1;

struct Layout {
  bool tiny = false;    ///< Below 20x5: one line of text, nothing else is set.
  int title = kAbsent;  ///< Rows.
  int axis = kAbsent;
  int legend = kAbsent;
  int rule = kAbsent;
  int step = kAbsent;
  int keys = kAbsent;
  Box labels;  ///< Rank axis, left of the map.
  Box map;     ///< Cells alone.
  Box sockets;
  SocketForm socket_form = SocketForm::kSum;
  Box events;
  Box lesson;
  RankRows rows;
  TimeWindow window;

  bool shows(Panel panel) const;
};

Layout lay_out(const State& state, const Model& model, Size size, const Look& look);

/// The lesson's page as it stands on the screen: heading and text, then the key and the figure, which outlive the
/// text's end. Empty without a lesson.
std::vector<std::string> lesson_lines(const State& state, const Model& model, Size room);

}  // namespace idlewave::view
