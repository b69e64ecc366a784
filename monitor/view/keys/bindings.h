#pragma once
// Every key outside of forms, in one table: it is what dispatches them, and what `?` and the key line show.

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "monitor/view/layout/turn.h"

namespace idlewave::view::keys {

struct Binding {
  std::vector<Key> keys;
  std::string shown;       ///< "q"
  std::string does;        ///< "quit, ending what was started"
  std::string_view brief;  ///< For the key line: "quit". Empty: not there.
  void (*act)(layout::Turn&);
  /// Whether the key line and `?` name it: not where this session will never do it. Null: always.
  bool (*is_offered)(const SessionInfo&) = nullptr;
};

/// In the order of `?`.
std::span<const Binding> bindings();

/// Null for a key without a meaning.
const Binding* binding_of(const Key& key);

}  // namespace idlewave::view::keys
