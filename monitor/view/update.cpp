#include "monitor/view/update.h"

#include <algorithm>

#include "monitor/view/bindings.h"
#include "monitor/view/forms.h"
#include "monitor/view/panels.h"

namespace idlewave::view {

namespace {

void key_in_help(State& state, const Key& key) {
  switch (key.code) {
    case KeyCode::kDown: ++state.help_scroll; break;
    case KeyCode::kUp: state.help_scroll = std::max(state.help_scroll - 1, 0); break;
    default: state.help = false; break;
  }
}

}  // namespace

Update update(State state, const Key& key, const Model& model, Size size, const Look& look) {
  Update out{.state = std::move(state), .effects = {}};
  if (key.code == KeyCode::kResize) return out;
  if (out.state.help) {
    key_in_help(out.state, key);
    return out;
  }
  const Layout layout = lay_out(panels(), out.state, model, size, look);
  Turn turn{out.state, out.effects, key, model, layout};
  out.state.message = {};
  if (out.state.form) {
    key_in_form(turn);
  } else if (const Binding* binding = binding_of(key)) {
    binding->act(turn);
  }
  return out;
}

}  // namespace idlewave::view
