#include "monitor/term/input_decoder.h"

#include <array>
#include <charconv>
#include <optional>

namespace idlewave::term {
namespace {

using view::Key;
using view::KeyCode;

constexpr char kEsc = '\x1b';
/// Longer than anything a terminal sends; noise may not grow without bound.
constexpr std::size_t kLongestSequence = 64;

/// One decoded piece: how many bytes it took (0: more are needed) and the key, if it is one that we know.
struct Piece {
  std::size_t length = 0;
  std::optional<Key> key;
};

Key control_key(char byte) {
  switch (byte) {
    case '\r':
    case '\n': return view::key_of(KeyCode::kEnter);
    case '\t': return view::key_of(KeyCode::kTab);
    case '\b':
    case '\x7f': return view::key_of(KeyCode::kBackspace);
    default:
      return Key{.character = static_cast<char32_t>(byte == 0    ? U' '
                                                    : byte <= 26 ? byte + 'a' - 1
                                                                 : byte + '@'),
                 .control = true};
  }
}

/// RFC 3629. A byte that can't begin or go on is skipped alone.
Piece utf8_piece(std::string_view bytes) {
  const auto first = static_cast<unsigned char>(bytes[0]);
  const std::size_t length = first >= 0xF0 && first < 0xF5 ? 4 : first >= 0xE0 ? 3 : first >= 0xC2 ? 2 : 1;
  if (length == 1 || first >= 0xF5) return {1, {}};
  char32_t character = first & (0xFFU >> (length + 1));
  for (std::size_t i = 1; i < length; ++i) {
    if (i == bytes.size()) return {};
    const auto next = static_cast<unsigned char>(bytes[i]);
    if ((next & 0xC0) != 0x80) return {1, {}};
    character = character << 6 | (next & 0x3F);
  }
  constexpr std::array<char32_t, 5> kSmallest{0, 0, 0x80, 0x800, 0x10000};
  const bool surrogate = character >= 0xD800 && character <= 0xDFFF;
  if (character < kSmallest[length] || character > 0x10FFFF || surrogate) return {length, {}};
  return {length, view::key_of(character)};
}

std::optional<KeyCode> cursor_key(char final) {
  switch (final) {
    case 'A': return KeyCode::kUp;
    case 'B': return KeyCode::kDown;
    case 'C': return KeyCode::kRight;
    case 'D': return KeyCode::kLeft;
    case 'H': return KeyCode::kHome;
    case 'F': return KeyCode::kEnd;
    case 'M': return KeyCode::kEnter;  // SS3 M: Enter of the key pad
    case 'Z': return KeyCode::kBackTab;
    default: return {};
  }
}

std::optional<KeyCode> editing_key(int number) {
  switch (number) {
    case 1:
    case 7: return KeyCode::kHome;
    case 3: return KeyCode::kDelete;
    case 4:
    case 8: return KeyCode::kEnd;
    case 5: return KeyCode::kPageUp;
    case 6: return KeyCode::kPageDown;
    default: return {};
  }
}

/// Up to three numbers, separated by ';'; a missing one is 0.
std::array<int, 3> numbers_of(std::string_view parameters) {
  std::array<int, 3> numbers{};
  const char* at = parameters.data();
  const char* end = at + parameters.size();
  for (int& number : numbers) {
    at = std::from_chars(at, end, number).ptr;
    if (at == end || *at != ';') break;
    ++at;
  }
  return numbers;
}

/// xterm's SGR mouse report (mode 1006): CSI < button ; column ; row, M for a press.
std::optional<Key> mouse_key(std::string_view parameters, char final) {
  const auto [button, column, row] = numbers_of(parameters.substr(1));
  constexpr int kModifiers = 4 + 8 + 16;  // shift, alt, control
  if (final != 'M' || column < 1 || row < 1) return {};
  const auto at = [&, x = column - 1, y = row - 1](KeyCode code) { return Key{.code = code, .x = x, .y = y}; };
  switch (button & ~kModifiers) {
    case 0: return at(KeyCode::kMousePress);
    case 64: return at(KeyCode::kWheelUp);
    case 65: return at(KeyCode::kWheelDown);
    default: return {};
  }
}

std::optional<Key> csi_key(std::string_view parameters, char final) {
  if (!parameters.empty() && parameters[0] == '<') return mouse_key(parameters, final);
  const auto [number, modifiers, unused] = numbers_of(parameters);
  const std::optional<KeyCode> code = final == '~'   ? editing_key(number)
                                      : final == 'M' ? std::nullopt
                                                     : cursor_key(final);
  if (!code) return {};
  constexpr int kControl = 4;
  return Key{.code = *code, .control = modifiers > 1 && ((modifiers - 1) & kControl) != 0};
}

bool within(char byte, char first, char last) { return byte >= first && byte <= last; }

/// `bytes` begin with CSI, ESC [.
Piece csi_piece(std::string_view bytes) {
  std::size_t end = 2;
  // Linux console: F1 is ESC [ [ A
  if (bytes.size() > end && bytes[end] == '[') return bytes.size() > 3 ? Piece{4, {}} : Piece{};
  while (end < bytes.size() && within(bytes[end], ' ', '?')) ++end;
  if (end > kLongestSequence) return {end, {}};
  if (end == bytes.size()) return {};
  if (!within(bytes[end], '@', '~')) return {end, {}};
  return {end + 1, csi_key(bytes.substr(2, end - 2), bytes[end])};
}

/// `bytes` begin with SS3, ESC O: cursor keys in application mode.
Piece ss3_piece(std::string_view bytes) {
  if (bytes.size() < 3) return {};
  if (!within(bytes[2], '@', '~')) return {2, {}};
  const std::optional<KeyCode> code = cursor_key(bytes[2]);
  return {3, code ? std::optional(view::key_of(*code)) : std::nullopt};
}

Piece escape_piece(std::string_view bytes) {
  if (bytes.size() == 1) return {};
  if (bytes[1] == '[') return csi_piece(bytes);
  if (bytes[1] == 'O') return ss3_piece(bytes);
  return {1, view::key_of(KeyCode::kEscape)};
}

Piece next_piece(std::string_view bytes) {
  const char first = bytes[0];
  if (first == kEsc) return escape_piece(bytes);
  if (within(first, '\0', '\x1f') || first == '\x7f') return {1, control_key(first)};
  if (static_cast<unsigned char>(first) < 0x80) return {1, view::key_of(static_cast<char32_t>(first))};
  return utf8_piece(bytes);
}

}  // namespace

std::vector<Key> InputDecoder::feed(std::string_view bytes) {
  pending_ += bytes;
  std::vector<Key> keys;
  std::size_t used = 0;
  while (used < pending_.size()) {
    const Piece piece = next_piece(std::string_view(pending_).substr(used));
    if (piece.length == 0) break;
    if (piece.key) keys.push_back(*piece.key);
    used += piece.length;
  }
  pending_.erase(0, used);
  return keys;
}

std::vector<Key> InputDecoder::settle() {
  std::vector<Key> keys;
  // nobody types more in that time
  const bool typed = pending_.size() <= 2 && !pending_.empty() && pending_[0] == kEsc;
  if (typed) keys.push_back(view::key_of(KeyCode::kEscape));
  if (typed && pending_.size() == 2) keys.push_back(view::key_of(static_cast<char32_t>(pending_[1])));
  pending_.clear();
  return keys;
}

}  // namespace idlewave::term
