#include "monitor/view/screen/help.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "monitor/view/keys/bindings.h"
#include "monitor/view/paint/text.h"

namespace idlewave::view::screen {

namespace {

using paint::Ink;

constexpr int kHelpKeyColumns = 10;
constexpr int kHelpColumns = 39;
constexpr int kFewRows = 10;

bool is_offered(const keys::Binding& binding, const SessionInfo& session) {
  return binding.is_offered == nullptr || binding.is_offered(session);
}

struct HelpLine {
  std::string key, does;
};

/// Where there is no room for them side by side, what a key does stands below it.
std::vector<HelpLine> help_lines(const SessionInfo& session, int columns) {
  std::vector<HelpLine> lines;
  for (const keys::Binding& binding : keys::bindings()) {
    if (!is_offered(binding, session)) continue;
    lines.push_back({std::string(binding.shown), columns < kHelpColumns ? "" : std::string(binding.does)});
    if (columns >= kHelpColumns) continue;
    for (std::string& line : paint::wrapped(binding.does, std::max(columns - 3, 1)))
      lines.push_back({"", std::move(line)});
  }
  return lines;
}

}  // namespace

void draw_key_line(paint::Canvas& canvas, int y, const SessionInfo& session) {
  if (y < 0) return;
  int x = 1;
  for (const keys::Binding& binding : keys::bindings()) {
    if (!is_offered(binding, session)) continue;
    const std::string_view key = std::string_view(binding.shown).substr(0, binding.shown.find(' '));
    const int columns = paint::columns_of(key) + 1 + paint::columns_of(binding.brief);
    if (binding.brief.empty() || x + columns >= canvas.size().columns) continue;
    x = canvas.text(x, y, key, Ink::kKeyHint, Ink::kDefault, true);
    x = canvas.text(x + 1, y, binding.brief, Ink::kDim) + 2;
  }
}

void draw_help(paint::Canvas& canvas, const State& state, const SessionInfo& session) {
  const paint::Size size = canvas.size();
  const auto all = help_lines(session, size.columns);
  const int count = static_cast<int>(all.size());
  canvas.fill(0, 0, size.columns, size.rows, paint::Cell{});
  const int across = std::clamp((size.columns - 1) / kHelpColumns, 1, 3);
  const int down = (count + across - 1) / across;
  const auto marks = paint::wrapped(
      "on the map: ◆ a delay begins · ╲ ╱ the front of its wave · × a front ends, a rank is lost · ! missing or "
      "refused · ≈ noise · ▾ your mark",
      size.columns - 2);
  const int lines = static_cast<int>(marks.size());
  const bool is_full = size.rows < kFewRows || down + lines + 2 > size.rows;
  const int top = is_full ? 1 : 2, room = std::max(size.rows - 2 * top + 1, 1);
  const std::string title = std::string("keys · ") + (down > room ? "↑↓ more · " : "") + "any other key closes this";
  canvas.text(1, 0, paint::shortened(title, size.columns - 2), Ink::kTitle, Ink::kDefault, true);
  const int first = std::clamp(state.help_scroll, 0, std::max(down - room, 0));
  for (int i = 0; i < count; ++i) {
    const HelpLine& line = all[static_cast<std::size_t>(i)];
    const int y = i % down - first, x = 1 + i / down * kHelpColumns;
    if (y < 0 || y >= room) continue;
    canvas.text(x, y + top, line.key, Ink::kKeyHint, Ink::kDefault, true);
    const int text = x + (size.columns < kHelpColumns ? 1 : kHelpKeyColumns);
    canvas.text(text, y + top, paint::shortened(line.does, size.columns - text - 1), Ink::kText);
  }
  const int y = std::max(top + down, std::min(down + 3, size.rows - lines));
  for (int i = 0; i < lines; ++i) canvas.text(1, y + i, marks[static_cast<std::size_t>(i)], Ink::kDim);
}

}  // namespace idlewave::view::screen
