#pragma once
// One key press on its way: what it may look at, and what it may change.

#include <string>
#include <utility>
#include <vector>

#include "monitor/view/effects.h"
#include "monitor/view/key.h"
#include "monitor/view/layout/layout.h"
#include "monitor/view/model.h"
#include "monitor/view/state.h"

namespace idlewave::view::layout {

/// Lives as long as the call that handles the key.
struct Turn {
  State& state;
  std::vector<Effect>& effects;
  const Key& key;
  const Model& model;
  const Layout& layout;
  paint::Size size;
  const Look& look;

  void say(std::string text, Tone tone = Tone::kPlain) { state.message = {.text = std::move(text), .tone = tone}; }
};

}  // namespace idlewave::view::layout
