#pragma once
// Every key outside of forms, in one table: it is what dispatches them, and what `?` and the key line show.

#include <span>
#include <string_view>
#include <vector>

#include "monitor/view/layout.h"
#include "monitor/view/update.h"

namespace idlewave::view {

/// One key press on its way.
struct Turn {
  State& state;
  std::vector<Effect>& effects;
  const Key& key;
  const Model& model;
  const Layout& layout;

  void say(std::string text, Tone tone = Tone::kPlain) { state.message = {.text = std::move(text), .tone = tone}; }
};

struct Binding {
  std::vector<Key> keys;
  std::string_view shown;  ///< "q"
  std::string_view does;   ///< "quit, ending what was started"
  std::string_view brief;  ///< For the key line: "quit". Empty: not there.
  void (*act)(Turn&);
};

/// In the order of `?`.
std::span<const Binding> bindings();

/// Null for a key without a meaning.
const Binding* binding_of(const Key& key);

}  // namespace idlewave::view
