#pragma once
// What the operator pressed, whatever terminal it came from.

#include <cstdint>

namespace idlewave::view {

enum class KeyCode : std::uint8_t {
  kCharacter,  ///< `character` holds it.
  kEnter,
  kEscape,
  kTab,
  kBackTab,
  kBackspace,
  kDelete,
  kUp,
  kDown,
  kLeft,
  kRight,
  kPageUp,
  kPageDown,
  kHome,
  kEnd,
  kMousePress,  ///< Left button, at (x, y).
  kWheelUp,
  kWheelDown,
  kResize,  ///< The terminal has a new size.
};

struct Key {
  KeyCode code = KeyCode::kCharacter;
  char32_t character = 0;
  int x = 0;  ///< Mouse: column and row, from 0.
  int y = 0;
  bool control = false;
  friend bool operator==(const Key&, const Key&) = default;
};

inline Key key_of(char32_t character) { return Key{.character = character}; }
inline Key key_of(KeyCode code) { return Key{.code = code}; }

}  // namespace idlewave::view
