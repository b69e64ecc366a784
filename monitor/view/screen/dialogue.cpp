#include "monitor/view/screen/dialogue.h"

#include <algorithm>

#include "monitor/view/keys/forms.h"
#include "monitor/view/paint/text.h"

namespace idlewave::view::screen {

namespace {

using paint::Ink;

constexpr int kMostDialogueLines = 3;
constexpr int kNarrow = 40;  // Columns, below which words may take all of the screen.

Ink ink_of(Tone tone) {
  switch (tone) {
    case Tone::kGood: return Ink::kGood;
    case Tone::kWarning: return Ink::kWarning;
    case Tone::kError: return Ink::kError;
    case Tone::kPlain: break;
  }
  return Ink::kStrong;
}

void clear_row(paint::Canvas& canvas, int y) { canvas.fill(0, y, canvas.size().columns, 1, paint::Cell{}); }

enum class Cut { kEnd, kBegin };  ///< Of words for which there is no room.

/// Words on the last of the first `rows` rows, above whatever was there.
void draw_above(paint::Canvas& canvas, int rows, const std::string& words, Ink ink, bool bold, Cut cut = Cut::kEnd) {
  const int columns = canvas.size().columns;
  const auto lines = paint::wrapped(words, std::max(columns - 2, 1));
  const int shown = std::min({static_cast<int>(lines.size()), columns < kNarrow ? rows : kMostDialogueLines, rows});
  const int first = cut == Cut::kBegin ? static_cast<int>(lines.size()) - shown : 0;
  for (int i = 0; i < shown; ++i) {
    const int y = rows - shown + i;
    clear_row(canvas, y);
    canvas.text(columns > 2 ? 1 : 0, y, lines[static_cast<std::size_t>(first + i)], ink, Ink::kDefault, bold);
  }
}

void draw_at_bottom(paint::Canvas& canvas, const std::string& words, Ink ink, Cut cut = Cut::kEnd) {
  draw_above(canvas, canvas.size().rows, words, ink, true, cut);
}

/// The last `columns` columns of a text.
std::string ending(std::string_view utf8, int columns) {
  for (int extra = paint::columns_of(utf8) - columns; extra > 0; --extra) paint::take_code_point(utf8);
  return std::string(utf8);
}

void draw_input(paint::Canvas& canvas, const Form& form, const keys::FormWords& words) {
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
  if (x + 3 + paint::columns_of(words.hint) <= columns) {
    x = canvas.text(x + 2, y, words.hint, ink);
    if (x + 3 + paint::columns_of(keys) <= columns) canvas.text(x + 3, y, keys, Ink::kDim);
  } else if (!words.hint.empty()) {
    draw_above(canvas, y, words.hint, ink, false);
  }
}

}  // namespace

void draw_dialogue(paint::Canvas& canvas, const State& state, const Model& model) {
  if (!state.form) {
    if (!state.message.text.empty() && model.timeline.now() < state.message.until)
      draw_at_bottom(canvas, state.message.text, ink_of(state.message.tone));
    return;
  }
  const keys::FormWords words = keys::words_of(*state.form, model);
  if (state.form->kind == FormKind::kConfirm)
    return draw_at_bottom(canvas, words.prompt, Ink::kWarning, Cut::kBegin);  // The keys stand at the end.
  draw_input(canvas, *state.form, words);
}

}  // namespace idlewave::view::screen
