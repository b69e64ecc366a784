#pragma once
// A key becomes the next state, and what is to be done outside. Pure.

#include <vector>

#include "monitor/view/effects.h"
#include "monitor/view/key.h"
#include "monitor/view/look.h"
#include "monitor/view/model.h"
#include "monitor/view/paint/canvas.h"
#include "monitor/view/state.h"

namespace idlewave::view::keys {

struct Update {
  State state;
  std::vector<Effect> effects;  ///< In the order in which they are to be done.
};

/// `size` and `look` are those that the picture was drawn with: a click means what was seen there.
Update update(State state, const Key& key, const Model& model, paint::Size size, const Look& look);

}  // namespace idlewave::view::keys
