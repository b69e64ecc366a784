#include "monitor/view/text_panels.h"

#include <fmt/format.h>

#include <algorithm>

#include "monitor/view/bindings.h"
#include "monitor/view/figures.h"
#include "monitor/view/forms.h"
#include "monitor/view/text.h"

namespace idlewave::view {

namespace {

constexpr int kMostDialogueLines = 3;
constexpr int kHelpKeyColumns = 10;
constexpr int kHelpColumns = 39;

Ink ink_of(const analysis::Remark& remark) {
  switch (remark.kind) {
    case analysis::Remark::Kind::kDelay: return Ink::kDelay;
    case analysis::Remark::Kind::kLoss: return Ink::kWarning;
    default: return Ink::kText;
  }
}

Ink ink_of(Tone tone) {
  switch (tone) {
    case Tone::kGood: return Ink::kGood;
    case Tone::kWarning: return Ink::kWarning;
    case Tone::kError: return Ink::kError;
    case Tone::kPlain: break;
  }
  return Ink::kStrong;
}

void clear_row(Canvas& canvas, int y) { canvas.fill(0, y, canvas.size().columns, 1, Cell{}); }

/// Words on the last rows, above whatever was there.
void draw_at_bottom(Canvas& canvas, const std::string& words, Ink ink) {
  const auto lines = wrapped(words, std::max(canvas.size().columns - 2, 1));
  const int shown = std::min({static_cast<int>(lines.size()), kMostDialogueLines, canvas.size().rows});
  for (int i = 0; i < shown; ++i) {
    const int y = canvas.size().rows - shown + i;
    clear_row(canvas, y);
    canvas.text(canvas.size().columns > 2 ? 1 : 0, y, lines[static_cast<std::size_t>(i)], ink, Ink::kDefault, true);
  }
}

/// The last `columns` columns of a text.
std::string ending(std::string_view utf8, int columns) {
  for (int extra = columns_of(utf8) - columns; extra > 0; --extra) take_code_point(utf8);
  return std::string(utf8);
}

void draw_input(Canvas& canvas, const Form& form, const FormWords& words) {
  const int y = canvas.size().rows - 1, columns = canvas.size().columns;
  clear_row(canvas, y);
  const int input = static_cast<int>(form.text.size()) + 1;
  int x = canvas.text(columns > 40 ? 1 : 0, y, ending(words.prompt, std::max(columns - input - 1, 0)), Ink::kStrong,
                      Ink::kDefault, true);
  for (const char c : ending(form.text, columns - 1)) {
    canvas.put(x++, y,
               {.glyph = static_cast<char32_t>(c), .fg = Ink::kCursor, .bold = true, .reverse = form.untouched});
  }
  canvas.put(x++, y, {.glyph = U'_', .fg = Ink::kCursor, .bold = true});
  const Ink ink = form.complaint.empty() ? Ink::kDim : Ink::kWarning;
  const bool needs_y = form.kind == FormKind::kQuit;
  const std::string keys = !form.complaint.empty() ? "" : needs_y ? "Esc cancels" : "Enter goes on, Esc cancels";
  if (x + 3 + columns_of(words.hint) <= columns) {
    x = canvas.text(x + 2, y, words.hint, ink);
    if (x + 3 + columns_of(keys) <= columns) canvas.text(x + 3, y, keys, Ink::kDim);
  } else if (y > 0 && !words.hint.empty()) {
    clear_row(canvas, y - 1);
    canvas.text(columns > 40 ? 1 : 0, y - 1, shortened(words.hint, columns - 1), ink);
  }
}

}  // namespace

void draw_events(Canvas& canvas, const Layout& layout, const State& state, const Model& model) {
  const Box& box = layout.events;
  if (box.empty()) return;
  const int count = static_cast<int>(model.remarks.size());
  const int end = std::max(count - state.events_back, std::min(count, 1));
  const int first = std::max(end - box.height, 0);
  for (int i = first; i < end; ++i) {
    const analysis::Remark& remark = model.remarks[static_cast<std::size_t>(i)];
    const int y = box.y + i - first;
    const std::string at = to_moment(remark.at, std::chrono::milliseconds(10));
    canvas.text(box.x, y, fmt::format("{:>9}", at), Ink::kDim);
    const int x = box.x + std::max(columns_of(at), 9) + 2;
    canvas.text(x, y, shortened(remark.text, box.x + box.width - x), ink_of(remark));
  }
  if (state.focus == Panel::kEvents) canvas.text(0, box.y, "▸", Ink::kCursor);
}

void draw_lesson(Canvas& canvas, const Layout& layout, const State& state, const Model& model) {
  const Box& box = layout.lesson;
  if (box.empty()) return;
  const auto lines = lesson_lines(state, model, {box.width, box.height});
  Ink ink = Ink::kLesson;
  for (int i = 0; i < static_cast<int>(lines.size()); ++i) {
    std::string_view rest = lines[static_cast<std::size_t>(i)];
    for (int x = box.x; !rest.empty(); ++x) {
      const char32_t glyph = take_code_point(rest);
      if (glyph == U'▸') ink = Ink::kKeyHint;
      canvas.put(x, box.y + i, {.glyph = glyph, .fg = ink, .bold = ink == Ink::kKeyHint});
    }
  }
  if (state.focus == Panel::kLesson) canvas.text(0, box.y, "▸", Ink::kCursor);
}

void draw_key_line(Canvas& canvas, int y) {
  if (y < 0) return;
  int x = 1;
  for (const Binding& binding : bindings()) {
    const std::string_view key = binding.shown.substr(0, binding.shown.find(' '));
    const int columns = columns_of(key) + 1 + columns_of(binding.brief);
    if (binding.brief.empty() || x + columns >= canvas.size().columns) continue;
    x = canvas.text(x, y, key, Ink::kKeyHint, Ink::kDefault, true);
    x = canvas.text(x + 1, y, binding.brief, Ink::kDim) + 2;
  }
}

void draw_dialogue(Canvas& canvas, const State& state, const Model& model) {
  if (!state.form) {
    if (!state.message.text.empty() && model.timeline.now() < state.message.until)
      draw_at_bottom(canvas, state.message.text, ink_of(state.message.tone));
    return;
  }
  const FormWords words = words_of(*state.form, model);
  if (state.form->kind == FormKind::kConfirm) return draw_at_bottom(canvas, words.prompt, Ink::kWarning);
  draw_input(canvas, *state.form, words);
}

void draw_help(Canvas& canvas, const State& state) {
  const auto all = bindings();
  const int count = static_cast<int>(all.size());
  const Size size = canvas.size();
  canvas.fill(0, 0, size.columns, size.rows, Cell{});
  canvas.text(1, 0, shortened("keys · any other key closes this", size.columns - 2), Ink::kTitle, Ink::kDefault, true);
  const int across = std::clamp((size.columns - 1) / kHelpColumns, 1, 3);
  const int down = (count + across - 1) / across;
  const int room = std::max(size.rows - 3, 1);
  const int first = std::clamp(state.help_scroll, 0, std::max(down - room, 0));
  for (int i = 0; i < count; ++i) {
    const int y = i % down - first, x = 1 + i / down * kHelpColumns;
    if (y < 0 || y >= room) continue;
    canvas.text(x, y + 2, all[static_cast<std::size_t>(i)].shown, Ink::kKeyHint, Ink::kDefault, true);
    canvas.text(x + kHelpKeyColumns, y + 2,
                shortened(all[static_cast<std::size_t>(i)].does, size.columns - x - kHelpKeyColumns - 1), Ink::kText);
  }
  const auto marks = wrapped("on the map: ◆ a delay begins · × a front or a rank ends · ! events lost · ▾ your mark",
                             size.columns - 2);
  for (std::size_t i = 0; i < marks.size(); ++i) canvas.text(1, down + 3 + static_cast<int>(i), marks[i], Ink::kDim);
}

}  // namespace idlewave::view
