#include "monitor/view/keys/update.h"

#include <algorithm>

#include "monitor/view/keys/bindings.h"
#include "monitor/view/keys/forms.h"
#include "monitor/view/panels/lesson_page.h"
#include "monitor/view/panels/panels.h"

namespace idlewave::view::keys {

namespace {

void key_in_help(State& state, const Key& key) {
  switch (key.code) {
    case KeyCode::kDown: ++state.help_scroll; break;
    case KeyCode::kUp: state.help_scroll = std::max(state.help_scroll - 1, 0); break;
    default: state.help = false; break;
  }
}

/// Keys that move in the page of the lesson while it covers the screen. True if that is all that the key does.
bool key_in_lesson(State& state, const Key& key, const Model& model, paint::Size size) {
  const int page = std::max(size.rows - 2, 1);
  const auto scroll = [&](int lines) { panels::scroll_lesson(state, model, size, lines); };
  switch (key.code) {
    case KeyCode::kDown: return scroll(1), true;
    case KeyCode::kUp: return scroll(-1), true;
    case KeyCode::kPageDown: return scroll(page), true;
    case KeyCode::kPageUp: return scroll(-page), true;
    case KeyCode::kEscape: return state.lesson_open = false, true;
    case KeyCode::kEnter:
    case KeyCode::kBackspace: return state.scrolled[panels::kLessonKey] = 0, false;
    default: break;
  }
  // All other keys are for what the page covers; `L` closes by itself.
  if (key != key_of(U'L')) state.lesson_open = false;
  return false;
}

}  // namespace

Update update(State state, const Key& key, const Model& model, paint::Size size, const Look& look) {
  Update out{.state = std::move(state), .effects = {}};
  if (key.code == KeyCode::kResize) return out;
  if (out.state.help) {
    key_in_help(out.state, key);
    return out;
  }
  if (out.state.lesson_open && !out.state.form && key_in_lesson(out.state, key, model, size)) return out;
  const layout::Layout layout = layout::lay_out(panels::all_panels(), out.state, model, size, look);
  layout::Turn turn{out.state, out.effects, key, model, layout, size, look};
  out.state.message = {};
  if (out.state.form) {
    key_in_form(turn);
  } else if (const Binding* binding = binding_of(key)) {
    binding->act(turn);
  }
  return out;
}

}  // namespace idlewave::view::keys
